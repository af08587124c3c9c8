//! Internationalised addresses of certain letters: those that stay what they are, wherever they stand. Which letters
//! these are is told (`columnar/international.py` and `domains.py`); every other address is left.
#![forbid(unsafe_code)]

use crate::classes::is_atom;
use crate::columns::{Reasons, PENDING};
use crate::doubts::Doubts;
use crate::punycode;
use crate::signs::Signs;
use std::borrow::Cow;

pub const MAX_LOCAL: usize = 64; // characters
pub const MAX_LABEL: usize = 63;
pub const MAX_ADDRESS: usize = 254; // bytes, and so for the parts

/// A letter that is certain in a local part.
const LETTER: u8 = 1;
/// One that is not in front. Greater numbers are marks, each with its canonical combining class.
const MARK: u8 = 2;
/// It stands for two characters, of which NFC makes no single one.
const DOTTED_I: char = '\u{130}';
const DOTTED_I_LOWERED: &str = "i\u{307}";
const DOTTED_I_CLASS: u8 = 230; // of the second of them
const BITS: u32 = 21; // of a code point

/// The classes of characters in an address.
pub struct Letters<'a> {
    pub signs: Signs<'a>,
    /// By code point: what it is in a local part.
    pub local: &'a [u8],
    /// One bit a letter, by code point: certain in a domain.
    pub domain: &'a [u8],
    /// Two characters, the second one 0 for none, and the letter that becomes of them, each of BITS; they ascend.
    pub folds: &'a [i64],
}

impl Letters<'_> {
    fn local(&self, letter: char) -> u8 {
        self.local.get(letter as usize).copied().unwrap_or(0)
    }

    /// Whether `letter` is a mark that joins others, and never the first.
    pub fn is_mark(&self, letter: char) -> bool {
        self.local(letter) >= MARK
    }

    fn fold(&self, first: char, second: char) -> Option<char> {
        let key = i64::from(u32::from(first)) << BITS | i64::from(u32::from(second));
        let place = self.folds.partition_point(|fold| fold >> BITS < key);
        let fold = self.folds.get(place).filter(|fold| **fold >> BITS == key)?;
        char::from_u32((fold & ((1 << BITS) - 1)) as u32)
    }

    /// `text`, in lower case as far as it is ASCII, with small letters for capitals, and one for a letter and its mark.
    fn folded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let stays = |letter: char| letter.is_ascii() || self.local(letter) == LETTER;
        if text.chars().all(stays) {
            return Cow::Borrowed(text);
        }
        let mut folded = String::with_capacity(text.len());
        for letter in text.chars() {
            // A certain letter is no capital, and no mark that NFC joins to another one.
            if stays(letter) {
                folded.push(letter);
                continue;
            }
            match folded.chars().next_back().and_then(|before| self.fold(before, letter)) {
                Some(joined) => {
                    folded.pop();
                    folded.push(joined);
                }
                None => folded.push(self.fold(letter, '\0').unwrap_or(letter)),
            }
        }
        Cow::Owned(folded)
    }
}

/// The address that `lowered` is to be hashed as, or why it is none; PENDING where that is not certain.
///
/// `ends` are those of domains for special use.
pub fn normalized(
    lowered: &[u8],
    letters: &Letters,
    doubts: &Doubts,
    ends: u32,
    reasons: &Reasons,
) -> Result<Vec<u8>, i8> {
    if lowered.len() > MAX_ADDRESS {
        return Err(PENDING);
    }
    let text = std::str::from_utf8(lowered).map_err(|_| PENDING)?;
    let folded = letters.folded(text);
    let (local, domain) = folded.split_once('@').ok_or(PENDING)?;
    let written = if local.contains(DOTTED_I) {
        Cow::Owned(local.replace(DOTTED_I, DOTTED_I_LOWERED))
    } else {
        Cow::Borrowed(local)
    };
    let is_certain = written.chars().count() <= MAX_LOCAL
        && written.len() + 1 + domain.len() <= MAX_ADDRESS
        && local.chars().next().is_some_and(|first| !letters.is_mark(first))
        && local.split('.').all(|atom| is_certain_atom(atom, letters))
        && !(local.starts_with('n') && doubts.no_addresses.has(local.as_bytes()))
        && !(domain.starts_with(local) && doubts.doubled.has(local.as_bytes()))
        && has_plain_top(domain)
        && domain.split('.').all(|label| is_certain_label(label.chars(), letters));
    if !is_certain {
        return Err(PENDING);
    }
    let mut address = Vec::with_capacity(2 * lowered.len());
    address.extend_from_slice(written.as_bytes());
    let is_too_long = push_domain(domain, &mut address) > MAX_LABEL || address.len() > MAX_ADDRESS;
    // Domains for special use are listed as they stand in the name system.
    let is_special = doubts.is_special(&address, ends);
    if is_special && doubts.has_special_top(&address) {
        return Err(reasons.special_use_domain);
    }
    match (is_too_long, is_special) {
        (true, _) => Err(reasons.too_long),
        (false, true) => Err(PENDING),
        (false, false) => Ok(address),
    }
}

/// Appends an at sign and `domain` as it stands in the name system, and gives the size of its longest label.
fn push_domain(domain: &str, address: &mut Vec<u8>) -> usize {
    let (mut mark, mut longest) = (b'@', 0);
    for label in domain.split('.') {
        address.push(mark);
        let begin = address.len();
        if label.is_ascii() {
            address.extend_from_slice(label.as_bytes());
        } else if punycode::encode(label.chars(), address).is_none() {
            longest = usize::MAX;
        }
        longest = longest.max(address.len() - begin);
        mark = b'.';
    }
    longest
}

/// Whether `atom` is of certain characters, with marks in their canonical order.
fn is_certain_atom(atom: &str, letters: &Letters) -> bool {
    let mut before = LETTER;
    !atom.is_empty()
        && atom.chars().all(|letter| {
            let kind = match u8::try_from(letter) {
                Ok(byte) if byte.is_ascii() => u8::from(is_atom(byte)),
                _ => letters.local(letter),
            };
            let is_in_order = kind <= MARK || before <= MARK || before <= kind;
            before = if letter == DOTTED_I { DOTTED_I_CLASS } else { kind };
            kind != 0 && is_in_order
        })
}

/// Whether `label` is letters and digits with single hyphens between them.
pub fn is_certain_label(mut label: impl Iterator<Item = char>, letters: &Letters) -> bool {
    let mut follows_letter = false;
    let is_certain = label.all(|letter| {
        if letter == '-' {
            return std::mem::take(&mut follows_letter);
        }
        follows_letter = true;
        letter.is_ascii_lowercase()
            || letter.is_ascii_digit()
            || has(letters.domain, letter) && letters.local(letter) == LETTER
    });
    is_certain && follows_letter
}

/// Whether two or more letters of ASCII stand behind the last of one or more dots.
fn has_plain_top(domain: &str) -> bool {
    domain.rsplit_once('.').is_some_and(|(_, top)| top.len() > 1 && top.bytes().all(|byte| byte.is_ascii_lowercase()))
}

fn has(letters: &[u8], letter: char) -> bool {
    let code = u32::from(letter) as usize;
    letters.get(code / 8).is_some_and(|bits| bits >> (code % 8) & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Texts;

    const REASONS: Reasons = Reasons::numbered();

    fn of(text: &str) -> Result<String, i8> {
        let (mut local, mut domain) = ([0; 0xe80], [0; 0x80]);
        for letter in "\u{fc}\u{df}\u{e9}\u{130}\u{e19}\u{e32}".chars() {
            local[letter as usize] = LETTER;
        }
        for letter in "\u{fc}\u{e9}".chars() {
            domain[letter as usize / 8] |= 1 << (letter as usize % 8);
        }
        for (mark, class) in [('\u{e31}', MARK), ('\u{e38}', 103), ('\u{e48}', 107)] {
            local[mark as usize] = class;
        }
        let fold = |first: char, second: char, one: char| (first as i64) << 42 | (second as i64) << 21 | one as i64;
        let folds = [fold('e', '\u{301}', '\u{e9}'), fold('i', '\u{307}', '\u{130}'), fold('\u{dc}', '\0', '\u{fc}')];
        let none = || Texts { offsets: &[], data: b"" };
        let no_addresses = Texts { offsets: &[0, 6], data: b"nobody" };
        let special_use = Texts { offsets: &[0, 4, 15], data: b"testxn--9ca.com" };
        let doubts = Doubts { words: none(), no_addresses, doubled: none(), carriers: none(), special_use };
        let letters = Letters { signs: Signs(&[]), local: &local, domain: &domain, folds: &folds };
        normalized(text.as_bytes(), &letters, &doubts, doubts.special_ends(), &REASONS)
            .map(|address| String::from_utf8(address).unwrap())
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
            "\u{e32}\u{e48}\u{e38}@b.example",
            "i\u{307}\u{e48}@b.example",
            "a\u{301}@b.example",
            "a@\u{130}.example",
        ] {
            assert_eq!(of(text), Err(PENDING), "{text}");
        }
    }
}
