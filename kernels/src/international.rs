//! Internationalised addresses of certain letters: those that stay what they are, wherever they stand. Which letters
//! these are is told (`columnar/international.py` and `domains.py`); every other address is left.
#![forbid(unsafe_code)]

use crate::classes::is_atom;
use crate::doubts::Doubts;
use crate::punycode;
use crate::signs::Signs;

pub const MAX_LOCAL: usize = 64; // characters
pub const MAX_LABEL: usize = 63;
pub const MAX_ADDRESS: usize = 254; // bytes, and so for the parts

/// What characters are to an address. One bit a letter, by code point: certain in a local part, and in a domain.
pub struct Letters<'a> {
    pub signs: Signs<'a>,
    pub local: &'a [u8],
    pub domain: &'a [u8],
}

/// The address that `lowered` is to be hashed as; None where that is not certain.
pub fn normalized(lowered: &[u8], letters: &Letters, doubts: &Doubts) -> Option<Vec<u8>> {
    let (local, domain) = std::str::from_utf8(lowered).ok()?.split_once('@')?;
    let is_certain = lowered.len() <= MAX_ADDRESS
        && local.chars().count() <= MAX_LOCAL
        && local.split('.').all(|atom| is_certain_atom(atom, letters))
        && !doubts.nobody.has(local.as_bytes())
        && !doubts.doubled.has(local.as_bytes())
        && has_plain_top(domain);
    if !is_certain {
        return None;
    }
    let mut address = Vec::with_capacity(2 * lowered.len());
    address.extend_from_slice(local.as_bytes());
    let mut mark = b'@';
    for label in domain.split('.') {
        if !is_certain_label(label, letters) {
            return None;
        }
        address.push(mark);
        let begin = address.len();
        if label.is_ascii() {
            address.extend_from_slice(label.as_bytes());
        } else {
            punycode::encode(label, &mut address);
        }
        if address.len() - begin > MAX_LABEL {
            return None;
        }
        mark = b'.';
    }
    // Domains for special use are listed as they stand in the name system.
    (address.len() <= MAX_ADDRESS && !doubts.is_special(&address, u32::MAX)).then_some(address)
}

fn is_certain_atom(atom: &str, letters: &Letters) -> bool {
    !atom.is_empty()
        && atom.chars().all(|letter| match u8::try_from(letter) {
            Ok(byte) if byte.is_ascii() => is_atom(byte),
            _ => has(letters.local, letter),
        })
}

/// Whether `label` is letters and digits with single hyphens between them.
pub fn is_certain_label(label: &str, letters: &Letters) -> bool {
    label.split('-').all(|part| {
        !part.is_empty()
            && part.chars().all(|letter| {
                letter.is_ascii_lowercase()
                    || letter.is_ascii_digit()
                    || has(letters.domain, letter) && has(letters.local, letter)
            })
    })
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

    fn of(text: &str) -> Option<String> {
        let mut local = [0; 128];
        for letter in "\u{fc}\u{df}\u{e9}".chars() {
            local[letter as usize / 8] |= 1 << (letter as usize % 8);
        }
        let mut domain = local;
        domain['\u{df}' as usize / 8] &= !(1 << ('\u{df}' as usize % 8));
        let none = || Texts { offsets: &[], data: b"" };
        let nobody = Texts { offsets: &[0, 6], data: b"nobody" };
        let special_use = Texts { offsets: &[0, 4, 15], data: b"testxn--9ca.com" };
        let doubts = Doubts { words: none(), nobody, doubled: none(), special_use };
        let letters = Letters { signs: Signs(&[]), local: &local, domain: &domain };
        normalized(text.as_bytes(), &letters, &doubts).map(|address| String::from_utf8(address).unwrap())
    }

    #[test]
    fn certain_letters_stay_and_domains_are_encoded() {
        for (text, expected) in [
            ("j\u{fc}rgen@larchpost.example", "j\u{fc}rgen@larchpost.example"),
            ("a@b\u{fc}cher.example", "a@xn--bcher-kva.example"),
            ("\u{df}.b@x-\u{e9}.b\u{fc}.example", "\u{df}.b@xn--x--cja.xn--b-eha.example"),
        ] {
            assert_eq!(of(text).as_deref(), Some(expected), "{text}");
        }
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
            "a@\u{fc}.test",
            "a@\u{e9}.com",
            "a@b.\u{e9}.com",
            "a@b@\u{fc}.example",
            "a b@\u{fc}.example",
            "a@\u{fc}_.example",
            "\u{fc}",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
