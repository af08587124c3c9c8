//! The forms of an address and of its parts in ASCII. Other characters may stand in a local part.
#![forbid(unsafe_code)]

use crate::classes::{class_of, class_of_code, is_atom, CLASSES, DIGIT, DOT, HYPHEN, LETTER, OTHER};

/// Where in an address the reading stands.
const LOCAL_BEGINS: u8 = 0; // at the front, or behind a dot of the local part
const IN_LOCAL: u8 = 1;
const LABEL_BEGINS: u8 = 2; // behind the at sign
const IN_LABEL: u8 = 3; // in the first label, or in one that is not letters only
const TOP_BEGINS: u8 = 4; // behind a dot of the domain
const TOP_LETTER: u8 = 5; // behind one letter of a label that may be the top
const IN_TOP: u8 = 6; // behind more letters of it
const REFUSED: u8 = 7;
const HYPHENED: u8 = 8; // behind a hyphen of a label
const DOUBLED: u8 = 9; // behind two in a row, wherever in the domain
const STATES: usize = 10;
const STATE_BITS: u8 = 6; // so that a state is how far its own bits stand in a word

#[rustfmt::skip]
const NEXT: [[u8; CLASSES]; STATES] = [
    // other  letter      digit     hyphen    dot           at            atom
    [REFUSED, IN_LOCAL,   IN_LOCAL, IN_LOCAL, REFUSED,      REFUSED,      IN_LOCAL], // LOCAL_BEGINS
    [REFUSED, IN_LOCAL,   IN_LOCAL, IN_LOCAL, LOCAL_BEGINS, LABEL_BEGINS, IN_LOCAL], // IN_LOCAL
    [REFUSED, IN_LABEL,   IN_LABEL, REFUSED,  REFUSED,      REFUSED,      REFUSED],  // LABEL_BEGINS
    [REFUSED, IN_LABEL,   IN_LABEL, HYPHENED, TOP_BEGINS,   REFUSED,      REFUSED],  // IN_LABEL
    [REFUSED, TOP_LETTER, IN_LABEL, REFUSED,  REFUSED,      REFUSED,      REFUSED],  // TOP_BEGINS
    [REFUSED, IN_TOP,     IN_LABEL, HYPHENED, TOP_BEGINS,   REFUSED,      REFUSED],  // TOP_LETTER
    [REFUSED, IN_TOP,     IN_LABEL, HYPHENED, TOP_BEGINS,   REFUSED,      REFUSED],  // IN_TOP
    [REFUSED, REFUSED,    REFUSED,  REFUSED,  REFUSED,      REFUSED,      REFUSED],  // REFUSED
    [REFUSED, IN_LABEL,   IN_LABEL, DOUBLED,  REFUSED,      REFUSED,      REFUSED],  // HYPHENED
    [REFUSED, DOUBLED,    DOUBLED,  DOUBLED,  DOUBLED,      REFUSED,      REFUSED],  // DOUBLED
];

/// For each byte, where it leads from every state: one shift is a step.
const fn steps() -> [u64; 256] {
    let mut steps = [0; 256];
    let mut byte = 0;
    while byte < steps.len() {
        // An asterisk may be part of a mask, which is looked for in texts that are not plain.
        let class = if byte as u8 == b'*' { OTHER } else { class_of(byte as u8) } as usize;
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

/// Whether `local` is atoms, of ASCII or not, with single dots between them.
pub fn is_local(local: &[u8]) -> bool {
    let (mut is_right, mut follows_dot) = (true, true);
    for &byte in local {
        let is_dot = byte == b'.';
        is_right &= (is_dot & !follows_dot) | is_atom(byte) | !byte.is_ascii();
        follows_dot = is_dot;
    }
    is_right && !follows_dot
}

/// Whether `domain` has two labels or more, of letters, digits and inner hyphens, the last of which is letters only, two at
/// least, or in the form of the name system.
pub fn is_domain(domain: &[u8]) -> bool {
    let (mut is_right, mut follows_dot, mut follows_sign) = (true, true, false);
    for &byte in domain {
        let class = class_of_code(byte.into());
        let (is_dot, is_sign) = (class == DOT, matches!(class, LETTER | DIGIT));
        is_right &= is_sign | (class == HYPHEN) & !follows_dot | is_dot & follows_sign;
        (follows_dot, follows_sign) = (is_dot, is_sign);
    }
    is_right && domain.iter().rposition(|&byte| byte == b'.').is_some_and(|dot| is_top(&domain[dot + 1..]))
}

/// Whether the label of ASCII, which has no wrong signs, may be the last one.
pub fn is_top(label: &[u8]) -> bool {
    let is_letters = label.iter().all(u8::is_ascii_lowercase);
    label.len() > 1 && (is_letters || label.starts_with(b"xn--") && label.last().is_some_and(u8::is_ascii_lowercase))
}

/// Whether `domain` is labels with single hyphens under two letters or more.
pub fn is_plain_domain(domain: &[u8]) -> bool {
    end_of(domain, LABEL_BEGINS) == IN_TOP
}

/// Whether `text` is a plain address.
pub fn is_plain(text: &[u8]) -> bool {
    end_of(text, LOCAL_BEGINS) == IN_TOP
}

/// Where the reading of `text` ends that begins at `begin`.
fn end_of(text: &[u8], begin: u8) -> u8 {
    let begin = u64::from(begin * STATE_BITS);
    let end = text.iter().fold(begin, |state, &byte| STEP[usize::from(byte)] >> (state & 63));
    (end & 63) as u8 / STATE_BITS
}

/// Whether an address stands in brackets at the end, or behind `mailto:`.
pub fn has_display_name(text: &[u8]) -> bool {
    let opened = text.iter().position(|&byte| byte == b'<');
    let inner = opened.and_then(|place| text[place + 1..].strip_suffix(b">"));
    match inner.filter(|inner| !inner.iter().any(|byte| b"<>".contains(byte))) {
        Some(inner) => inner.contains(&b'@'),
        None => text.strip_prefix(b"mailto:").is_some_and(|behind| behind.contains(&b'@')),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const PLAIN: [&str; 4] = ["a@b.cd", "a.b+c@x-y.z9.com", "o'neil@mail.example", "a@1.b.co-op.cd"];
    pub const NOT_PLAIN: [&str; 23] = [
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
        "a*b@c.de",
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
        for domain in ["b.cd", "b-c--d.ef", "1.2.cd", "b.xn--p1ai"] {
            assert!(is_domain(domain.as_bytes()), "{domain}");
        }
        for text in [
            "b", "b.", ".b.cd", "b..cd", "-b.cd", "b-.cd", "b_.cd", "b.c1", "b.cd-", "b.c", "b.c0m", "b.c-m",
            "b.xn--c1",
        ] {
            assert!(!is_domain(text.as_bytes()), "{text}");
        }
    }
}
