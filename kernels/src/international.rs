//! Internationalised addresses of certain letters: those that stay what they are, wherever they stand. Which letters
//! these are is told (`records/columns/international.py` and `domains.py`); every other address is left.
#![forbid(unsafe_code)]

use crate::ascii::is_plain_domain;
use crate::characters::Characters;
use crate::classes::{self, class_of_code, DIGIT, LETTER};
use crate::columns::{Reasons, PENDING};
use crate::doubts::{is_masked, Doubts};
use crate::folding::Folding;
use crate::lowered::Lowered;
use crate::punycode;
use crate::signs::Signs;

pub const MAX_LOCAL: usize = 64; // characters
pub const MAX_LABEL: usize = 63;
pub const MAX_ADDRESS: usize = 254; // bytes, and so for the parts

/// The classes of characters in an address.
pub struct Letters<'a> {
    pub signs: Signs<'a>,
    pub folding: Folding<'a>,
    /// By code point: what it is in a label, in the bits below; 0 where that is not certain.
    pub domain: &'a [u8],
}

const CERTAIN: u8 = 1;
const HYPHEN: u8 = 1 << 1;
/// It is not the first, and from right to left not behind a hyphen, with which no such label ends (RFC 5893, section 2).
const MARK: u8 = 1 << 2;
/// It is written from left to right, or from right to left.
const LEFT: u8 = 1 << 3;
const RIGHT: u8 = 1 << 4;
/// NFC leaves it as it is, whatever stands beside it.
const STAYS: u8 = 1 << 5;
/// No domain has it, whatever stands beside it. What NFKC makes of it has dots, if at all, at the end.
const REFUSED: u8 = 1 << 6;
/// It has no direction of its own, and may not be the last of a label from right to left.
const NEUTRAL: u8 = 1 << 7;
/// It is not certain what becomes of it, and no label in the form of the name system stands for it.
const UNENCODED: u8 = NEUTRAL;

/// Signs of ASCII as wide as Chinese characters, and their capitals.
const FULL_WIDTH: std::ops::RangeInclusive<u32> = 0xff01..=0xff5e;
const CAPITALS: std::ops::RangeInclusive<u32> = 0xff21..=0xff3a;
const FULL_STOP: u32 = 0x3002;
const HALF_WIDTH_STOP: u32 = 0xff61;
/// Dots that stand inside a label, beside certain letters.
const MIDDLE_DOT: u32 = 0xb7;
const KATAKANA_DOT: u32 = 0x30fb;

impl Letters<'_> {
    fn in_label(&self, code: u32) -> u8 {
        self.domain.get(code as usize).copied().unwrap_or(0)
    }

    /// Whether the code point is that of a letter which is certain wherever it stands in a label of such letters, of those
    /// of ASCII and digits.
    pub fn is_plain_in_label(&self, code: u32) -> bool {
        self.in_label(code) == CERTAIN | LEFT | STAYS
    }

    /// Whether no label in the form of the name system stands for the code point.
    pub fn is_unencoded(&self, code: u32) -> bool {
        let class = self.domain.get(code as usize).copied().unwrap_or(UNENCODED);
        class & (CERTAIN | UNENCODED) == UNENCODED || class & REFUSED != 0
    }

    /// What is known of all code points of a domain.
    pub fn survey(&self, codes: &[u32]) -> Survey {
        let (mut all, mut any) = (STAYS | CERTAIN, 0);
        for &code in codes {
            let class = if code < 0x80 { STAYS | CERTAIN } else { self.in_label(code) };
            let is_refused = class & REFUSED;
            any |= is_refused;
            all &= class | (is_refused / REFUSED * (STAYS | CERTAIN));
        }
        Survey { stays: all & STAYS != 0, are_known: all & CERTAIN != 0, are_refused: any != 0 }
    }

    /// Whether the label of `codes` is written in two directions, or begins with a mark.
    pub fn is_disordered(&self, codes: &[u32]) -> bool {
        let any = codes.iter().fold(0, |any, &code| any | self.in_label(code));
        begins_with_mark(codes, self) || !is_of_one_direction(codes, any, LEFT, self)
    }

    /// Whether a letter from right to left is among `codes`.
    pub fn is_from_right(&self, codes: &[u32]) -> bool {
        codes.iter().fold(0, |any, &code| any | self.in_label(code)) & RIGHT != 0
    }

    /// Whether the known label of `codes` begins with a character of no direction, as none does in a domain that has labels
    /// from right to left.
    pub fn begins_undirected(&self, codes: &[u32]) -> bool {
        codes.first().is_some_and(|&code| self.in_label(code) & (LEFT | RIGHT) == 0)
    }

    /// Whether the certain label of `codes` is one in a domain that has labels from right to left, too: these make other
    /// demands of all its labels (RFC 5893, section 2).
    pub fn stands_beside_right(&self, codes: &[u32]) -> bool {
        if codes.iter().any(is_inner_dot) {
            return false;
        }
        let begins_left = codes.first().is_some_and(|&code| self.in_label(code) & LEFT != 0);
        let any = codes.iter().fold(0, |any, &code| any | self.in_label(code));
        let last = codes.iter().rev().map(|&code| self.in_label(code)).find(|one| one & MARK == 0);
        let ends_left = last.is_some_and(|one| one & (HYPHEN | NEUTRAL) == 0);
        any & RIGHT != 0 || begins_left && ends_left
    }

    /// Whether the label of `codes` is one as it stands, in NFC; None where that is not certain.
    pub fn is_label(&self, codes: &[u32]) -> Option<bool> {
        if is_certain_label(codes, CERTAIN | STAYS, self) {
            return Some(true);
        }
        if !self.survey(codes).are_known {
            return None;
        }
        if has_wrong_signs(codes) || self.is_disordered(codes) || !self.stays(codes)? {
            return Some(false);
        }
        is_certain_label(codes, CERTAIN, self).then_some(true)
    }

    /// Whether NFC leaves `codes`, letters that are known in domains, as they are.
    fn stays(&self, codes: &[u32]) -> Option<bool> {
        let mut folded = String::with_capacity(MAX_ADDRESS);
        self.folding.fold(codes, &mut folded)?;
        Some(folded.chars().map(u32::from).eq(codes.iter().copied()))
    }
}

/// Whether NFC leaves a domain as it is, whether it is known of all its code points whether domains have them, and whether
/// these have not one of them.
pub struct Survey {
    pub stays: bool,
    pub are_known: bool,
    pub are_refused: bool,
}

/// Where parts of an address are written, one address after the other.
pub struct Room {
    pub characters: Characters,
    local: String,
    pub domain: String,
    mapped: Vec<u32>,
    address: Vec<u8>,
}

impl Room {
    pub fn new() -> Self {
        Self {
            characters: Characters::new(),
            local: String::new(),
            domain: String::new(),
            mapped: Vec::new(),
            address: Vec::new(),
        }
    }
}

/// The address that `lowered` is to be hashed as, or why it is none; PENDING where that is not certain.
///
/// `ends` are those of domains for special use.
pub fn normalized<'r>(
    lowered: &Lowered,
    letters: &Letters,
    doubts: &Doubts,
    ends: u32,
    reasons: &Reasons,
    room: &'r mut Room,
) -> Result<&'r [u8], i8> {
    let longest = write(lowered, letters, doubts, ends, room).ok_or(PENDING)?;
    let address = &room.address;
    // Domains for special use are listed as they stand in the name system.
    let is_special = doubts.is_special(address, ends);
    if is_special && doubts.has_special_top(address) {
        return Err(reasons.special_use_domain);
    }
    match (longest > MAX_LABEL || address.len() > MAX_ADDRESS, is_special) {
        (true, _) => Err(reasons.too_long),
        (false, true) => Err(PENDING),
        (false, false) => Ok(address),
    }
}

/// Writes the address that `lowered` stands for, as far as it is certain that it is one, and gives the size of its longest
/// label if one is too long, or a greater one than that.
fn write(lowered: &Lowered, letters: &Letters, doubts: &Doubts, ends: u32, room: &mut Room) -> Option<usize> {
    let size = lowered.text.len();
    let at = lowered.at().filter(|&at| size <= MAX_ADDRESS && lowered.has_local(at))?;
    let (local, domain) = (&lowered.text[..at], &lowered.text[at + 1..]);
    let local = if lowered.is_ascii_in(0..at) {
        (at <= MAX_LOCAL).then_some(local)?
    } else if is_certain_local(lowered.read(0..at, &mut room.characters)?, &letters.folding, &mut room.local)? {
        local
    } else {
        room.local.as_bytes()
    };
    if doubts.is_no_address(local) || lowered.has_asterisk() && is_masked(local) {
        return None;
    }
    room.address.clear();
    room.address.extend_from_slice(local);
    if lowered.is_ascii_in(at + 1..size) {
        let is_plain = lowered.has_plain_domain(at) && !is_doubtful(local, domain, doubts);
        return is_plain.then(|| push_plain(domain, &mut room.address));
    }
    let codes = lowered.read(at + 1..size, &mut room.characters)?;
    if !is_doubtful(local, domain, doubts) {
        let longest = push_domain(codes, CERTAIN | STAYS, letters, &mut room.address);
        if longest.is_some() {
            return longest;
        }
    }
    if letters.survey(codes).stays {
        return None;
    }
    if is_wide(codes) && !is_doubtful(local, domain, doubts) {
        room.address.truncate(local.len());
        return push_wide(codes, &mut room.address);
    }
    let is_lowered = codes.iter().all(|&code| code < 0x80 || letters.folding.stays(code));
    if !is_lowered {
        letters.folding.fold(codes, &mut room.domain)?;
    }
    if is_doubtful(local, if is_lowered { domain } else { room.domain.as_bytes() }, doubts) {
        return None;
    }
    room.address.truncate(local.len());
    if !is_lowered {
        let lowered = room.characters.read(room.domain.as_bytes())?;
        let longest = push_domain(lowered, CERTAIN, letters, &mut room.address);
        if longest.is_some() {
            return longest;
        }
        room.address.truncate(local.len());
    }
    let longest = push_mapped(letters, room)?;
    // These the definition judges before letters are mapped.
    let is_limited = longest > MAX_LABEL || room.address.len() > MAX_ADDRESS;
    (!is_limited && !doubts.is_special(&room.address, ends)).then_some(longest)
}

/// As `push_domain`, of the domain that was read last, in lower case, with those letters in place of its own that it has in
/// the name system.
fn push_mapped(letters: &Letters, room: &mut Room) -> Option<usize> {
    let begin = room.address.len();
    map(room.characters.last(), letters, &mut room.mapped)?;
    let longest = push_domain(&room.mapped, CERTAIN | STAYS, letters, &mut room.address);
    if longest.is_some() {
        return longest;
    }
    room.address.truncate(begin);
    letters.folding.fold(&room.mapped, &mut room.domain)?;
    push_domain(room.characters.read(room.domain.as_bytes())?, CERTAIN, letters, &mut room.address)
}

/// Writes to `mapped` the domain of `lowered` code points with those in their place that a domain has (Unicode Technical
/// Standard 46, section 4); None where that is not certain, or a label is too long before.
fn map(lowered: &[u32], letters: &Letters, mapped: &mut Vec<u32>) -> Option<()> {
    mapped.clear();
    for &code in lowered {
        if code < 0x80 || letters.in_label(code) & CERTAIN != 0 {
            mapped.push(code);
        } else {
            let count = mapped.len();
            mapped.extend(letters.folding.mapped(code));
            (mapped.len() > count).then_some(())?;
        }
    }
    (!is_too_long(lowered)).then_some(())
}

/// Whether `local` may be no person's at the `domain`, or the address too long.
fn is_doubtful(local: &[u8], domain: &[u8], doubts: &Doubts) -> bool {
    let is_doubled = local.first() == domain.first() && domain.starts_with(local) && doubts.doubled.has(local);
    is_doubled || local.len() + 1 + domain.len() > MAX_ADDRESS
}

/// Whether the local part of `codes`, which has no signs that none has, stays as it is; otherwise that for which it stands
/// is in `room`. None where its letters are not certain, or it is too long.
fn is_certain_local(codes: &[u32], folding: &Folding, room: &mut String) -> Option<bool> {
    let stays = codes.iter().fold(true, |stay, &code| stay & (code < 0x80 || folding.stays(code)));
    let (count, first) = if stays {
        (codes.len(), char::from_u32(*codes.first()?)?)
    } else {
        folding.fold(codes, room)?;
        (room.chars().count(), room.chars().next()?)
    };
    (count <= MAX_LOCAL && !folding.is_mark(first)).then_some(stays)
}

/// Appends an at sign and the plain `domain`, and gives the size of its longest label if one is too long, or a greater one.
fn push_plain(domain: &[u8], address: &mut Vec<u8>) -> usize {
    address.push(b'@');
    address.extend_from_slice(domain);
    if domain.len() <= MAX_LABEL {
        return domain.len();
    }
    domain.split(|&byte| byte == b'.').map(<[u8]>::len).max().unwrap_or(0)
}

/// Appends an at sign and the domain of `codes` as it stands in the name system, and gives the size of its longest label;
/// None where it has not two labels or more that are certain, with all bits of `needed`, or digits at the top.
fn push_domain(codes: &[u32], needed: u8, letters: &Letters, address: &mut Vec<u8>) -> Option<usize> {
    let (mut mark, mut longest) = (b'@', 0);
    let labels = || codes.split(|&code| code == u32::from(b'.'));
    let top = labels().next_back()?;
    // The last digit of a number in a label of other letters is less than punycode's MOST, and so a letter.
    let is_top = !is_ascii(top) || top.len() > 1 && top.iter().all(|&code| class_of_code(code) == LETTER);
    if !is_top || top.len() == codes.len() {
        return None;
    }
    if letters.is_from_right(codes) && !labels().all(|label| letters.stands_beside_right(label)) {
        return None;
    }
    for label in labels() {
        if !is_certain_label(label, needed, letters) {
            return None;
        }
        address.push(mark);
        let begin = address.len();
        if is_ascii(label) {
            address.extend(label.iter().map(|&code| code as u8));
        } else if punycode::encode(label, address).is_none() {
            longest = usize::MAX;
        }
        longest = longest.max(address.len() - begin);
        mark = b'.';
    }
    Some(longest)
}

/// Whether all of `codes` stand for signs of ASCII in a domain (Unicode Technical Standard 46, section 5).
fn is_wide(codes: &[u32]) -> bool {
    codes.iter().all(|&code| matches!(code, 0..=0x7f | FULL_STOP | HALF_WIDTH_STOP) || FULL_WIDTH.contains(&code))
}

/// As `push_domain`, of a domain in signs that stand for those of ASCII, none of whose labels is too long before.
fn push_wide(codes: &[u32], address: &mut Vec<u8>) -> Option<usize> {
    let lowered = |&code: &u32| if CAPITALS.contains(&code) { code + 0x20 } else { code };
    if is_too_long(&codes.iter().map(lowered).collect::<Vec<_>>()) {
        return None;
    }
    let narrow = codes.iter().map(|&code| match code {
        FULL_STOP | HALF_WIDTH_STOP => b'.',
        0x80.. => ((code - FULL_WIDTH.start() + 0x21) as u8).to_ascii_lowercase(),
        _ => code as u8,
    });
    let narrow: Vec<u8> = narrow.collect();
    is_plain_domain(&narrow).then(|| push_plain(&narrow, address))
}

/// Whether a label of the domain of `codes`, or all of it, is too long as it stands in the name system.
pub fn is_too_long(codes: &[u32]) -> bool {
    let labels = || codes.split(|&code| code == u32::from(b'.'));
    let bound = |label| if is_ascii(label) { label.len() } else { punycode::bound(label) };
    if labels().all(|label| bound(label) <= MAX_LABEL)
        && labels().map(|label| bound(label) + 1).sum::<usize>() < MAX_ADDRESS
    {
        return false;
    }
    let (mut all, mut encoded) = (0, Vec::new());
    labels().any(|label| {
        encoded.clear();
        let is_written = is_ascii(label) || punycode::encode(label, &mut encoded).is_some();
        let size = encoded.len().max(label.len());
        all += size + 1;
        !is_written || size > MAX_LABEL || all >= MAX_ADDRESS
    })
}

/// Whether all of `codes` are, looked at together: where another one stands cannot be foreseen.
pub fn is_ascii(codes: &[u32]) -> bool {
    codes.iter().fold(0, |all, code| all | code) < 0x80
}

/// Whether the label of `codes` is certain, each code point with all bits of `needed`, but for dots inside that stand where
/// they may.
fn is_certain_label(codes: &[u32], needed: u8, letters: &Letters) -> bool {
    is_certain_without_dots(codes, needed, letters)
        || codes.iter().any(is_inner_dot) && {
            let others: Vec<u32> = codes.iter().filter(|code| !is_inner_dot(code)).copied().collect();
            stand_dots(codes) && !letters.is_from_right(&others) && is_certain_without_dots(&others, needed, letters)
        }
}

fn is_inner_dot(code: &u32) -> bool {
    matches!(*code, MIDDLE_DOT | KATAKANA_DOT)
}

/// Whether a middle dot stands between two l, and one of Katakana with letters of Japanese (RFC 5892, appendix A.3, A.7).
fn stand_dots(codes: &[u32]) -> bool {
    let is_l = |place: usize| codes.get(place) == Some(&u32::from(b'l'));
    let is_japanese =
        |code: &u32| matches!(code, 0x3041..=0x3096 | 0x30a1..=0x30fa | 0x3400..=0x4db5 | 0x4e00..=0x9fa5);
    codes.iter().enumerate().all(|(place, &code)| match code {
        MIDDLE_DOT => place > 0 && is_l(place - 1) && is_l(place + 1),
        KATAKANA_DOT => codes.iter().any(is_japanese),
        _ => true,
    })
}

/// Whether the label of `codes` is certain letters, marks and digits with single hyphens between them, each with all bits of
/// `needed`.
fn is_certain_without_dots(codes: &[u32], needed: u8, letters: &Letters) -> bool {
    let (mut all, mut any, mut doubled, mut hyphened, mut before) = (needed, 0, 0, 0, HYPHEN);
    for &code in codes {
        let one = letters.in_label(code);
        doubled |= before & one & HYPHEN;
        hyphened |= before << 1 & one & MARK;
        (all, any, before) = (all & one, any | one, one);
    }
    let is_whole = all == needed && doubled | before & HYPHEN == 0;
    is_whole
        && !begins_with_mark(codes, letters)
        && is_of_one_direction(codes, any, LEFT | NEUTRAL, letters)
        && any & RIGHT & hyphened << 2 == 0
}

fn begins_with_mark(codes: &[u32], letters: &Letters) -> bool {
    codes.first().is_some_and(|&code| letters.in_label(code) & MARK != 0)
}

/// Whether a label of `codes`, which have `any` bits, is written in one direction (RFC 5893, section 2): from right to left it
/// begins with such a letter, and has none of the `others`.
fn is_of_one_direction(codes: &[u32], any: u8, others: u8, letters: &Letters) -> bool {
    let begins_right = || codes.first().is_some_and(|&code| letters.in_label(code) & RIGHT != 0);
    any & RIGHT == 0 || any & others == 0 && begins_right()
}

/// Whether a label has signs where none may stand, whatever its letters are.
pub fn has_wrong_signs(label: &[u32]) -> bool {
    let is_hyphen = |code: &u32| *code == u32::from(b'-');
    let is_of_names = |code: &u32| *code > 0x7f || matches!(class_of_code(*code), LETTER | DIGIT | classes::HYPHEN);
    let is_doubled = label.get(2..4).is_some_and(|both| both.iter().all(is_hyphen));
    !label.iter().all(is_of_names)
        || label.first().is_none_or(is_hyphen)
        || label.last().is_none_or(is_hyphen)
        || is_doubled && !(is_ascii(label) && label.starts_with(&[b'x'.into(), b'n'.into()]))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::columns::{Texts, Words};
    use crate::folding;

    const REASONS: Reasons = Reasons::numbered();

    /// What a few characters are in a label.
    pub fn labels() -> Vec<u8> {
        let mut domain = vec![0; 0x2700];
        for letter in "\u{fc}\u{e9}abcdefghijklmnopqrstuvwxyz".chars() {
            domain[letter as usize] = CERTAIN | LEFT | STAYS;
        }
        for letter in "\u{5d0}\u{5d1}".chars() {
            domain[letter as usize] = CERTAIN | RIGHT | STAYS;
        }
        domain['\u{e31}' as usize] = CERTAIN | MARK | STAYS;
        domain['\u{2b9}' as usize] = CERTAIN | NEUTRAL | STAYS;
        domain['\u{2665}' as usize] = REFUSED;
        domain[usize::from(b'1')] = CERTAIN | STAYS;
        domain[usize::from(b'-')] = CERTAIN | HYPHEN | STAYS;
        domain
    }

    #[test]
    fn labels_are_in_the_order_of_their_letters() {
        let (domain, (kinds, folds)) = (labels(), folding::tests::tables());
        let folding = Folding { kinds: &kinds, folds: &folds };
        let letters = Letters { signs: Signs(&[]), folding, domain: &domain };
        for (label, is_certain) in [
            ("\u{fc}\u{e31}", true),
            ("b-\u{e31}", true),
            ("\u{e31}\u{fc}", false),
            ("\u{5d0}1-\u{5d1}", true),
            ("\u{5d0}\u{e31}1", true),
            ("\u{5d0}-\u{e31}", false),
            ("1\u{5d0}", false),
            ("\u{5d0}b", false),
            ("b\u{5d0}", false),
            ("b\u{2b9}", true),
            ("\u{5d0}\u{2b9}", false),
            ("b\u{2665}", false),
            ("-b", false),
            ("b-", false),
            ("", false),
        ] {
            let codes: Vec<u32> = label.chars().map(u32::from).collect();
            assert_eq!(is_certain_label(&codes, CERTAIN, &letters), is_certain, "{label}");
        }
    }

    #[test]
    fn domains_have_other_letters_in_place_of_some() {
        for (text, expected) in [
            ("a@o\u{fb03}ce.example", "a@office.example"),
            ("a@\u{fc}\u{fb03}.example", "a@xn--ffi-goa.example"),
            ("a@b\u{dc}cher\u{3002}example", "a@xn--bcher-kva.example"),
            ("a@\u{fb03}\u{3002}e\u{301}\u{fc}", "a@ffi.xn--9ca2b"),
        ] {
            assert_eq!(of(text).as_deref(), Ok(expected), "{text}");
        }
        let long = "\u{fb03}".repeat(22);
        for text in ["a@o\u{fb03}ce", "a@\u{fb03}-.b.example", "a@\u{fb03}\u{e8}.example", "a@\u{fb03}\u{3002}test"] {
            assert_eq!(of(text), Err(PENDING), "{text}");
        }
        assert_eq!(of(&format!("a@{long}.example")), Err(PENDING));
    }

    #[test]
    fn wide_domains_stand_for_those_of_ascii() {
        for (text, expected) in [
            ("a@\u{ff42}\u{ff23}.example", "a@bc.example"),
            ("a@b\u{3002}example", "a@b.example"),
            ("\u{fc}@b\u{ff0d}c\u{ff61}example", "\u{fc}@b-c.example"),
        ] {
            assert_eq!(of(text).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(of("a@b\u{ff3f}c.example"), Err(PENDING));
        assert_eq!(of("a@b\u{ff0e}test"), Err(REASONS.special_use_domain));
        assert_eq!(of(&format!("a@{}.example", "\u{ff42}".repeat(60))), Err(PENDING));
    }

    fn of(text: &str) -> Result<String, i8> {
        let domain = labels();
        let (kinds, folds) = folding::tests::tables();
        let none = || Texts { offsets: &[], data: b"" };
        let no_addresses = Texts { offsets: &[0, 6], data: b"nobody" };
        let special_use = Texts { offsets: &[0, 4, 15], data: b"testxn--9ca.com" };
        let doubts = Doubts { words: Words::new(none()), no_addresses, doubled: none(), carriers: none(), special_use };
        let folding = Folding { kinds: &kinds, folds: &folds };
        let letters = Letters { signs: Signs(&[]), folding, domain: &domain };
        normalized(
            &Lowered::long(text.as_bytes()),
            &letters,
            &doubts,
            doubts.special_ends(),
            &REASONS,
            &mut Room::new(),
        )
        .map(|address| String::from_utf8(address.to_vec()).unwrap())
    }

    #[test]
    fn certain_letters_stay_and_domains_are_encoded() {
        for (text, expected) in [
            ("j\u{fc}rgen@larchpost.example", "j\u{fc}rgen@larchpost.example"),
            ("a@b\u{fc}cher.example", "a@xn--bcher-kva.example"),
            ("\u{dc}.e\u{301}@larchpost.example", "\u{fc}.\u{e9}@larchpost.example"),
            ("\u{130}b.i\u{307}@larchpost.example", "i\u{307}b.i\u{307}@larchpost.example"),
            ("\u{e19}\u{e31}.\u{e32}\u{e38}\u{e48}@b.example", "\u{e19}\u{e31}.\u{e32}\u{e38}\u{e48}@b.example"),
            ("a@b\u{dc}cher.example", "a@xn--bcher-kva.example"),
            ("\u{e32}\u{e48}\u{e38}@b.example", "\u{e32}\u{e38}\u{e48}@b.example"),
            ("i\u{307}\u{e48}@b.example", "i\u{e48}\u{307}@b.example"),
            ("\u{df}.b@x-\u{e9}.b\u{fc}.example", "\u{df}.b@xn--x--cja.xn--b-eha.example"),
            ("a@b.\u{fc}\u{e9}", "a@b.xn--9ca1b"),
            ("a@\u{fc}.\u{fc}", "a@xn--tda.xn--tda"),
            ("a@b.\u{fc}1", "a@b.xn--1-dha"),
        ] {
            assert_eq!(of(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn domains_for_special_use_and_long_ones_have_their_reasons() {
        let long = "\u{fc}".repeat(60);
        assert_eq!(of(&format!("a@{long}.example")), Err(REASONS.too_long));
        assert_eq!(of(&format!("a@b.{long}")), Err(REASONS.too_long));
        assert_eq!(of(&format!("a@{long}.test")), Err(REASONS.special_use_domain));
        assert_eq!(of("a@\u{fc}.test"), Err(REASONS.special_use_domain));
        assert_eq!(of("a..b@\u{fc}.test"), Err(PENDING));
    }

    #[test]
    fn uncertain_addresses_are_left() {
        for text in [
            "\u{e8}@larchpost.example",
            "a@\u{df}.example",
            "a@\u{fc}",
            "a@\u{fc}.e",
            "a@.\u{fc}.example",
            "@\u{fc}.example",
            "a@\u{fc}..example",
            "a@-\u{fc}.example",
            "a@\u{fc}-.example",
            "a@x--\u{fc}.example",
            "a..b@\u{fc}.example",
            "nobody@\u{fc}.example",
            "a@\u{e9}.com",
            "a@b.\u{e9}.com",
            "a@b@\u{fc}.example",
            "a b@\u{fc}.example",
            "a@\u{fc}_.example",
            "\u{fc}",
            "\u{e31}a@b.example",
            "a\u{301}@b.example",
            "a@\u{130}.example",
        ] {
            assert_eq!(of(text), Err(PENDING), "{text}");
        }
    }
}
