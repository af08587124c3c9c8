//! Internationalised addresses of certain letters: those that stay what they are, wherever they stand. Which letters
//! these are is told (`columnar/international.py` and `domains.py`); every other address is left.
#![forbid(unsafe_code)]

use crate::classes::is_atom;
use crate::columns::{Reasons, PENDING};
use crate::doubts::Doubts;
use crate::folding::Folding;
use crate::punycode;
use crate::signs::Signs;

pub const MAX_LOCAL: usize = 64; // characters
pub const MAX_LABEL: usize = 63;
pub const MAX_ADDRESS: usize = 254; // bytes, and so for the parts

/// What characters are to an address.
pub struct Letters<'a> {
    pub signs: Signs<'a>,
    pub folding: Folding<'a>,
    /// One bit a letter, by code point: certain in a domain.
    pub domain: &'a [u8],
}

impl Letters<'_> {
    fn is_certain_in_domain(&self, letter: char) -> bool {
        let code = u32::from(letter) as usize;
        self.domain.get(code / 8).is_some_and(|bits| bits >> (code % 8) & 1 != 0) && self.folding.is_letter(letter)
    }
}

/// Where parts of an address are written, one address after the other.
#[derive(Default)]
pub struct Room {
    local: String,
    domain: String,
    address: Vec<u8>,
}

/// The address that `lowered` is to be hashed as, or why it is none; PENDING where that is not certain.
///
/// `ends` are those of domains for special use.
pub fn normalized<'r>(
    lowered: &'r [u8],
    letters: &Letters,
    doubts: &Doubts,
    ends: u32,
    reasons: &Reasons,
    room: &'r mut Room,
) -> Result<&'r [u8], i8> {
    if lowered.len() > MAX_ADDRESS {
        return Err(PENDING);
    }
    let text = std::str::from_utf8(lowered).map_err(|_| PENDING)?;
    let (local, domain) = text.split_once('@').ok_or(PENDING)?;
    let local = certain_local(local, &letters.folding, &mut room.local).ok_or(PENDING)?;
    let mut longest = write(local, domain, letters, doubts, &mut room.address);
    if longest.is_none() {
        letters.folding.fold(domain, &mut room.domain).ok_or(PENDING)?;
        longest = write(local, &room.domain, letters, doubts, &mut room.address);
    }
    let longest = longest.ok_or(PENDING)?;
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

/// Writes the address of both parts, as far as it is certain that it is one, and gives the size of its longest label.
fn write(local: &str, domain: &str, letters: &Letters, doubts: &Doubts, address: &mut Vec<u8>) -> Option<usize> {
    let is_placeholder = local.starts_with('n') && doubts.nobody.has(local.as_bytes())
        || domain.starts_with(local) && doubts.doubled.has(local.as_bytes());
    if is_placeholder || local.len() + 1 + domain.len() > MAX_ADDRESS {
        return None;
    }
    address.clear();
    address.extend_from_slice(local.as_bytes());
    push_domain(domain, letters, address)
}

/// The local part that `local` stands for, if it is one of certain characters and not too long.
fn certain_local<'t>(local: &'t str, folding: &Folding, room: &'t mut String) -> Option<&'t str> {
    let (mut count, mut follows_dot, mut stays) = (0, true, true);
    for letter in local.chars() {
        count += 1;
        match u8::try_from(letter).ok().filter(u8::is_ascii) {
            Some(b'.') if follows_dot => return None,
            Some(b'.') => {
                follows_dot = true;
                continue;
            }
            Some(byte) if !is_atom(byte) => return None,
            Some(_) => {}
            None => stays &= folding.stays(letter),
        }
        follows_dot = false;
    }
    if follows_dot {
        return None;
    }
    let local = if stays {
        local
    } else {
        folding.fold(local, room)?;
        count = room.chars().count();
        room
    };
    let begins_right = local.chars().next().is_some_and(|first| !folding.is_mark(first));
    (count <= MAX_LOCAL && begins_right).then_some(local)
}

/// Appends an at sign and `domain` as it stands in the name system, and gives the size of its longest label; None where
/// it has not two labels or more that are certain, with letters of ASCII at the top.
fn push_domain(domain: &str, letters: &Letters, address: &mut Vec<u8>) -> Option<usize> {
    let (mut mark, mut longest) = (b'@', 0);
    for label in domain.split('.') {
        address.push(mark);
        let begin = address.len();
        let mut certainty = Certainty::default();
        let mut letters = label.chars().inspect(|&letter| certainty.see(letter, letters));
        if label.is_ascii() {
            letters.by_ref().for_each(drop);
            address.extend_from_slice(label.as_bytes());
        } else if punycode::encode(&mut letters, address).is_none() {
            letters.by_ref().for_each(drop);
            longest = usize::MAX;
        }
        if !certainty.holds() {
            return None;
        }
        longest = longest.max(address.len() - begin);
        mark = b'.';
    }
    has_plain_top(domain).then_some(longest)
}

/// Whether a label is letters and digits with single hyphens between them.
#[derive(Default)]
struct Certainty {
    is_doubtful: bool,
    follows_letter: bool,
}

impl Certainty {
    fn see(&mut self, letter: char, letters: &Letters) {
        if letter == '-' {
            self.is_doubtful |= !self.follows_letter;
            self.follows_letter = false;
            return;
        }
        self.follows_letter = true;
        let is_certain = letter.is_ascii_lowercase() || letter.is_ascii_digit() || letters.is_certain_in_domain(letter);
        self.is_doubtful |= !is_certain;
    }

    fn holds(&self) -> bool {
        self.follows_letter && !self.is_doubtful
    }
}

/// Whether `label` is certain letters and digits with single hyphens between them.
pub fn is_certain_label(label: impl Iterator<Item = char>, letters: &Letters) -> bool {
    let mut certainty = Certainty::default();
    label.for_each(|letter| certainty.see(letter, letters));
    certainty.holds()
}

/// Whether two or more letters of ASCII stand behind the last of one or more dots.
fn has_plain_top(domain: &str) -> bool {
    domain.rsplit_once('.').is_some_and(|(_, top)| top.len() > 1 && top.bytes().all(|byte| byte.is_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Texts;
    use crate::folding;

    const REASONS: Reasons = Reasons::numbered();

    fn of(text: &str) -> Result<String, i8> {
        let mut domain = [0; 0x80];
        for letter in "\u{fc}\u{e9}".chars() {
            domain[letter as usize / 8] |= 1 << (letter as usize % 8);
        }
        let (kinds, folds) = folding::tests::tables();
        let none = || Texts { offsets: &[], data: b"" };
        let nobody = Texts { offsets: &[0, 6], data: b"nobody" };
        let special_use = Texts { offsets: &[0, 4, 15], data: b"testxn--9ca.com" };
        let doubts = Doubts { words: none(), nobody, doubled: none(), carriers: none(), special_use };
        let folding = Folding { kinds: &kinds, folds: &folds };
        let letters = Letters { signs: Signs(&[]), folding, domain: &domain };
        normalized(text.as_bytes(), &letters, &doubts, doubts.special_ends(), &REASONS, &mut Room::default())
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
        ] {
            assert_eq!(of(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn domains_for_special_use_and_long_ones_have_their_reasons() {
        let long = "\u{fc}".repeat(60);
        assert_eq!(of(&format!("a@{long}.example")), Err(REASONS.too_long));
        assert_eq!(of(&format!("a@{long}.test")), Err(REASONS.special_use_domain));
        assert_eq!(of("a@\u{fc}.test"), Err(REASONS.special_use_domain));
        assert_eq!(of("a..b@\u{fc}.test"), Err(PENDING));
    }

    #[test]
    fn what_is_not_certain_is_left() {
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
