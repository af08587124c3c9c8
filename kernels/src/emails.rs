//! Addresses that are plain at first sight, lowered, trimmed and hashed, and what is certainly none. Every other text is
//! left to the columnar rules in Python, which know all the forms (`columnar/emails.py`).
#![forbid(unsafe_code)]

use crate::classes::{class_of, is_atom, CLASSES, DIGIT, HYPHEN, LETTER};
use crate::columns::{is_visible, trim, Reasons, Texts, PENDING, VALID};
use crate::doubts::Doubts;
use crate::international::{self, Letters};
use crate::sha256::Hasher;

/// Up to here no part of an address can be too long, and no text is a hash.
const MAX_PLAIN: usize = 63;

/// Where in an address the reading stands.
const LOCAL_BEGINS: u8 = 0; // at the front, or behind a dot of the local part
const IN_LOCAL: u8 = 1;
const LABEL_BEGINS: u8 = 2; // behind the at sign or a hyphen
const IN_LABEL: u8 = 3; // in the first label, or in one that is not letters only
const TOP_BEGINS: u8 = 4; // behind a dot of the domain
const TOP_LETTER: u8 = 5; // behind one letter of a label that may be the top
const IN_TOP: u8 = 6; // behind more letters of it
const REFUSED: u8 = 7;
const STATES: usize = 8;
const STATE_BITS: u8 = 6; // so that a state is how far its own bits stand in a word

#[rustfmt::skip]
const NEXT: [[u8; CLASSES]; STATES] = [
    // other  letter      digit     hyphen        dot           at            atom
    [REFUSED, IN_LOCAL,   IN_LOCAL, IN_LOCAL,     REFUSED,      REFUSED,      IN_LOCAL], // LOCAL_BEGINS
    [REFUSED, IN_LOCAL,   IN_LOCAL, IN_LOCAL,     LOCAL_BEGINS, LABEL_BEGINS, IN_LOCAL], // IN_LOCAL
    [REFUSED, IN_LABEL,   IN_LABEL, REFUSED,      REFUSED,      REFUSED,      REFUSED],  // LABEL_BEGINS
    [REFUSED, IN_LABEL,   IN_LABEL, LABEL_BEGINS, TOP_BEGINS,   REFUSED,      REFUSED],  // IN_LABEL
    [REFUSED, TOP_LETTER, IN_LABEL, REFUSED,      REFUSED,      REFUSED,      REFUSED],  // TOP_BEGINS
    [REFUSED, IN_TOP,     IN_LABEL, LABEL_BEGINS, TOP_BEGINS,   REFUSED,      REFUSED],  // TOP_LETTER
    [REFUSED, IN_TOP,     IN_LABEL, LABEL_BEGINS, TOP_BEGINS,   REFUSED,      REFUSED],  // IN_TOP
    [REFUSED, REFUSED,    REFUSED,  REFUSED,      REFUSED,      REFUSED,      REFUSED],  // REFUSED
];

/// For each byte, where it leads from every state: one shift is a step.
const fn steps() -> [u64; 256] {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < steps.len() {
        let class = class_of(byte as u8) as usize;
        let mut state = 0;
        while state < STATES {
            steps[byte] |= ((NEXT[state][class] * STATE_BITS) as u64) << (state as u8 * STATE_BITS);
            state += 1;
        }
        byte += 1;
    }
    steps
}

static STEP: [u64; 256] = steps();

/// Decides each of `texts`: VALID with its hash, a reason, or PENDING.
pub fn decide(
    texts: &Texts,
    doubts: &Doubts,
    letters: &Letters,
    reasons: &Reasons,
    codes: &mut [i8],
    mut hasher: Hasher,
) {
    let ends = doubts.special_ends();
    let mut buffer = [0; MAX_PLAIN];
    for (row, text) in texts.iter().enumerate() {
        let text = trim(text);
        codes[row] = if text.is_empty() {
            reasons.empty
        } else if text.len() > MAX_PLAIN {
            PENDING
        } else {
            let lowered = &mut buffer[..text.len()];
            lowered.copy_from_slice(text);
            lowered.make_ascii_lowercase();
            if !is_plain(lowered) {
                match international(lowered, letters, doubts) {
                    Some(address) => {
                        hasher.add(row, &address);
                        VALID
                    }
                    None => refuse(lowered, doubts, reasons),
                }
            } else if is_placeholder(lowered, doubts) {
                reasons.placeholder
            } else if doubts.is_special(lowered, ends) {
                PENDING
            } else {
                hasher.add(row, lowered);
                VALID
            }
        };
    }
    hasher.finish();
}

fn international(lowered: &[u8], letters: &Letters, doubts: &Doubts) -> Option<Vec<u8>> {
    if lowered.is_ascii() {
        return None;
    }
    international::normalized(lowered, letters, doubts)
}

/// Why `text`, which is no plain address, is none; PENDING unless that is certain. In the order of the rules.
fn refuse(text: &[u8], doubts: &Doubts, reasons: &Reasons) -> i8 {
    if !is_visible(text) {
        return PENDING;
    }
    if doubts.words.has(text) {
        return reasons.placeholder;
    }
    if text.contains(&b'<') || text.starts_with(b"mailto:") {
        return PENDING;
    }
    let mut parts = text.split(|&byte| byte == b'@');
    let (Some(local), Some(domain), None) = (parts.next(), parts.next(), parts.next()) else {
        return reasons.invalid_syntax;
    };
    if local.is_empty() || domain.is_empty() {
        return reasons.invalid_syntax;
    }
    if doubts.nobody.has(local) {
        return reasons.placeholder;
    }
    let is_doubled = domain.starts_with(local);
    let is_special = doubts.is_special(text, u32::MAX);
    if is_doubled || is_special || has(domain, b"--") || is_dot_atom(local) && is_domain(domain) {
        return PENDING;
    }
    reasons.invalid_syntax
}

fn is_dot_atom(local: &[u8]) -> bool {
    local.split(|&byte| byte == b'.').all(|atom| !atom.is_empty() && atom.iter().all(|&byte| is_atom(byte)))
}

/// Whether `domain` has two labels or more, of letters, digits and inner hyphens, the last of which ends in a letter.
fn is_domain(domain: &[u8]) -> bool {
    domain.contains(&b'.')
        && domain.last().is_some_and(u8::is_ascii_lowercase)
        && domain.split(|&byte| byte == b'.').all(|label| {
            !label.starts_with(b"-")
                && !label.ends_with(b"-")
                && !label.is_empty()
                && label.iter().all(|&byte| matches!(class_of(byte), LETTER | DIGIT | HYPHEN))
        })
}

/// Whether `text` is atoms with single dots, an at sign, and a domain of labels with single hyphens under letters.
fn is_plain(text: &[u8]) -> bool {
    let begin = u64::from(LOCAL_BEGINS * STATE_BITS);
    let end = text.iter().fold(begin, |state, &byte| STEP[usize::from(byte)] >> (state & 63));
    end & 63 == u64::from(IN_TOP * STATE_BITS)
}

/// Whether the plain `address` is nobody's: `word@word.top`, or a local part that says so.
fn is_placeholder(address: &[u8], doubts: &Doubts) -> bool {
    let Some(at) = address.iter().position(|&byte| byte == b'@') else { return false };
    let (local, domain) = (&address[..at], &address[at + 1..]);
    let tops = domain.strip_prefix(local).and_then(|behind| behind.strip_prefix(b"."));
    let is_doubled = tops.is_some_and(|tops| tops.iter().filter(|&&byte| byte == b'.').count() < 2);
    is_doubled && doubts.doubled.has(local) || local.starts_with(b"n") && doubts.nobody.has(local)
}

fn has(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: [&str; 4] = ["a@b.cd", "a.b+c@x-y.z9.com", "o'neil@mail.example", "a@1.b.co-op.cd"];
    const NOT_PLAIN: [&str; 22] = [
        "",
        "@",
        "a@",
        "@b.cd",
        "a@b",
        "a@b.c",
        "a@b.c1",
        ".a@b.cd",
        "a.@b.cd",
        "a..b@c.de",
        "a@b..cd",
        "a@-b.cd",
        "a@b-.cd",
        "a@b--c.de",
        "a@.cd",
        "a b@c.de",
        "a@b@c.de",
        "A@b.cd",
        "a@b_c.de",
        "a@b.cd ",
        "\u{e9}@b.cd",
        "a@b.cd.",
    ];

    #[test]
    fn only_plain_addresses_are_plain() {
        for text in PLAIN {
            assert!(is_plain(text.as_bytes()), "{text}");
        }
        for text in NOT_PLAIN {
            assert!(!is_plain(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn domains_may_have_other_forms_than_plain_ones() {
        for domain in ["b.cd", "b-c--d.e1f", "1.2.c"] {
            assert!(is_domain(domain.as_bytes()), "{domain}");
        }
        for text in ["b", "b.", ".b.cd", "b..cd", "-b.cd", "b-.cd", "b_.cd", "b.c1", "b.cd-"] {
            assert!(!is_domain(text.as_bytes()), "{text}");
        }
    }
}
