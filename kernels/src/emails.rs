//! Addresses that are plain at first sight, lowered, trimmed and hashed, and what is certainly none. Every other text is
//! left to the definition in Python, which knows all the forms (`identifiers/email.py`).
#![forbid(unsafe_code)]

use crate::ascii::{has_display_name, is_domain, is_plain};
use crate::classes::is_atom;
use crate::columns::{is_visible, trim, Reasons, Texts, PENDING, VALID};
use crate::doubts::{is_masked, is_masked_whole, Doubts};
use crate::foreign;
use crate::international::{self, Letters, Room, MAX_ADDRESS, MAX_LABEL, MAX_LOCAL};
use crate::lowered::Lowered;
use crate::marked;
use crate::outline::Outline;
use crate::punycode;
use crate::sha256::Hasher;
use crate::signs::Signs;

/// Up to here no part of an address can be too long, and no text is a hash.
const MAX_SHORT: usize = 63;
const HASH_DIGITS: usize = 64;

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
    let (mut buffer, mut room) = (Vec::new(), Room::new());
    for (row, text) in texts.iter().enumerate() {
        let text = match trimmed(text, letters).ok_or(PENDING).and_then(|text| match text {
            [] => Err(reasons.empty),
            _ => unmarked(text, doubts, letters, reasons),
        }) {
            Ok(text) => text,
            Err(code) => {
                codes[row] = code;
                continue;
            }
        };
        codes[row] = match Outline::of(text, texts.data) {
            Some(outline) => match outline.at_of_plain() {
                Some(at) => {
                    let code = judge_plain(outline.text(), at, doubts, ends, reasons);
                    if code == VALID {
                        hasher.add_block(row, &outline.block, outline.size);
                    }
                    code
                }
                None => {
                    let lowered = Lowered::short(&outline);
                    decide_other(&lowered, doubts, ends, letters, reasons, &mut room, |address| {
                        hasher.add(row, address)
                    })
                }
            },
            None => {
                buffer.clear();
                buffer.extend_from_slice(text);
                buffer.make_ascii_lowercase();
                decide_long(&buffer, doubts, ends, letters, reasons, &mut room, |address| hasher.add(row, address))
            }
        };
    }
    hasher.finish();
}

/// `text` without white space and invisible marks at its ends; None where it is not known what these are.
fn trimmed<'t>(text: &'t [u8], letters: &Letters) -> Option<&'t [u8]> {
    let text = trim(text);
    if text.first().is_none_or(u8::is_ascii) && text.last().is_none_or(u8::is_ascii) {
        return Some(text);
    }
    letters.signs.trim_ends(text)
}

/// The trimmed `text` without the marks of a spreadsheet or a list; a code where there are some, and no address behind them.
fn unmarked<'t>(text: &'t [u8], doubts: &Doubts, letters: &Letters, reasons: &Reasons) -> Result<&'t [u8], i8> {
    if !matches!(text[0], b'\'' | b'=' | b'"') && !matches!(text.last(), Some(b',' | b';')) {
        return Ok(text);
    }
    let signs = &letters.signs;
    let marked = signs.read(text).ok_or(PENDING)?;
    let mut lowered = text.to_vec();
    lowered.make_ascii_lowercase();
    if doubts.words.has(&lowered) {
        return Err(reasons.placeholder);
    }
    if signs.hides(marked) {
        return Err(reasons.invisible_character);
    }
    let address = alone(marked, signs);
    if address.starts_with('=') {
        return Err(reasons.excel_mangled);
    }
    if address.contains('@') {
        Ok(address.as_bytes())
    } else {
        Err(reasons.invalid_syntax)
    }
}

/// `text` without commas and semicolons behind it, and then without quotes around it, or marks of a spreadsheet.
fn alone<'t>(text: &'t str, signs: &Signs) -> &'t str {
    let bare = if text.ends_with([',', ';']) {
        text.trim_end_matches(|character| matches!(character, ',' | ';') || signs.is_break(character))
    } else {
        text
    };
    for quote in ['\'', '"'] {
        if let Some(inner) = bare.strip_prefix(quote).and_then(|behind| behind.strip_suffix(quote)) {
            return signs.trim_both(inner);
        }
    }
    marked::unmarked(bare, signs)
}

/// The code of a plain address that is not long, whose at sign stands `at` its place.
fn judge_plain(address: &[u8], at: usize, doubts: &Doubts, ends: u32, reasons: &Reasons) -> i8 {
    if is_placeholder(address, at, doubts) {
        return reasons.placeholder;
    }
    refuse_special(address, doubts, ends, reasons).unwrap_or(VALID)
}

/// Decides one long text in lower case; `add` takes the address when it is VALID.
fn decide_long(
    lowered: &[u8],
    doubts: &Doubts,
    ends: u32,
    letters: &Letters,
    reasons: &Reasons,
    room: &mut Room,
    add: impl FnOnce(&[u8]),
) -> i8 {
    let at = lowered.iter().position(|&byte| byte == b'@');
    let Some(at) = at.filter(|_| is_plain(lowered)) else {
        return decide_other(&Lowered::long(lowered), doubts, ends, letters, reasons, room, add);
    };
    if is_placeholder(lowered, at, doubts) {
        return reasons.placeholder;
    }
    if is_too_long(lowered) {
        return reasons.too_long;
    }
    let code = match refuse_special(lowered, doubts, ends, reasons) {
        Some(code) => code,
        None if has_long_label(&lowered[at + 1..]) => reasons.too_long,
        None => VALID,
    };
    if code == VALID {
        add(lowered);
    }
    code
}

/// As `decide_long`, of a text that is no plain address.
fn decide_other(
    lowered: &Lowered,
    doubts: &Doubts,
    ends: u32,
    letters: &Letters,
    reasons: &Reasons,
    room: &mut Room,
    add: impl FnOnce(&[u8]),
) -> i8 {
    if !lowered.is_ascii() {
        match international::normalized(lowered, letters, doubts, ends, reasons, room) {
            Ok(address) => {
                add(address);
                return VALID;
            }
            Err(PENDING) => (),
            Err(code) => return code,
        }
    }
    let code = refuse(lowered, doubts, ends, letters, reasons, room);
    if code == VALID {
        add(lowered.text);
    }
    code
}

/// Whether an address is too long, or its local part.
fn is_too_long(address: &[u8]) -> bool {
    if address.len() <= MAX_SHORT {
        return false;
    }
    let local = address.split(|&byte| byte == b'@').next().unwrap_or(&[]);
    local.len() > MAX_LOCAL || address.len() > MAX_ADDRESS
}

fn has_long_label(domain: &[u8]) -> bool {
    domain.len() > MAX_LABEL && domain.split(|&byte| byte == b'.').any(|label| label.len() > MAX_LABEL)
}

/// The reason for a domain for special use: that of its top is certain, one of several labels is left.
fn refuse_special(address: &[u8], doubts: &Doubts, ends: u32, reasons: &Reasons) -> Option<i8> {
    if !doubts.is_special(address, ends) {
        return None;
    }
    Some(if doubts.has_special_top(address) { reasons.special_use_domain } else { PENDING })
}

/// Why a text, which is no plain address, is none, in the order of the rules: PENDING unless that is certain, and VALID for
/// an address whose domain has one of the rarer forms.
fn refuse(lowered: &Lowered, doubts: &Doubts, ends: u32, letters: &Letters, reasons: &Reasons, room: &mut Room) -> i8 {
    let text = lowered.text;
    if !lowered.is_ascii() || !is_visible(text) {
        return foreign::refuse(lowered, doubts, letters, room, reasons);
    }
    if doubts.words.has(text) {
        return reasons.placeholder;
    }
    if text.len() == HASH_DIGITS && text.iter().all(u8::is_ascii_hexdigit) {
        return reasons.already_hashed;
    }
    if has_display_name(text) {
        return reasons.display_name;
    }
    let Some((local, domain)) = lowered.parts() else { return reasons.invalid_syntax };
    let is_masked = lowered.has_asterisk() && is_masked(local);
    if doubts.is_no_address(local) || is_masked || is_doubled(local, domain, doubts) {
        return reasons.placeholder;
    }
    if is_too_long(text) {
        return reasons.too_long;
    }
    if !lowered.has_local(local.len()) {
        let is_of_carrier = is_local_of_carrier(local) && doubts.carriers.has(domain);
        return if is_of_carrier { VALID } else { reasons.invalid_syntax };
    }
    refuse_special(text, doubts, ends, reasons).unwrap_or_else(|| judge_domain(domain, letters, reasons))
}

/// The verdict on an address whose local part is right and whose `domain` has no plain form.
fn judge_domain(domain: &[u8], letters: &Letters, reasons: &Reasons) -> i8 {
    if has_long_label(domain) {
        return reasons.too_long;
    }
    if !is_domain(domain) {
        return reasons.invalid_syntax;
    }
    let (mut is_certain, mut is_from_right) = (true, false);
    let labels = || domain.split(|&byte| byte == b'.');
    for label in labels().filter(|label| label.get(2..4) == Some(b"--")) {
        if !label.starts_with(b"xn") {
            return reasons.invalid_syntax;
        }
        match meaning(label, letters) {
            Some(Encoded::Plain) => (),
            Some(Encoded::Other(codes)) => is_from_right |= letters.is_from_right(&codes),
            Some(Encoded::Nothing) => return reasons.invalid_syntax,
            None => is_certain = false,
        }
    }
    if is_certain && (!is_from_right || labels().all(|label| stands_beside_right(label, letters))) {
        VALID
    } else {
        PENDING
    }
}

/// The meaning of a label in the form of the name system.
enum Encoded {
    /// No label.
    Nothing,
    /// Letters that are certain wherever they stand, from left to right.
    Plain,
    /// The code points of another label that is certain.
    Other(Vec<u32>),
}

/// The meaning of `label`, which has of ASCII letters, digits and hyphens only; None where that is not certain.
fn meaning(label: &[u8], letters: &Letters) -> Option<Encoded> {
    let Some((basic, digits)) = punycode::parts(label) else { return Some(Encoded::Nothing) };
    let mut hyphens = basic.iter().rev().fold(0u64, |hyphens, &byte| hyphens << 1 | u64::from(byte == b'-'));
    let (mut are_plain, mut are_refused, mut count) = (true, false, basic.len());
    let is_whole = punycode::decode(basic.len(), digits, |letter, place| {
        let behind = hyphens & u64::MAX << place;
        hyphens += behind; // each of them one place on
        are_plain &= letters.is_plain_in_label(letter);
        are_refused |= letters.is_unencoded(letter);
        count += 1;
    });
    if !is_whole || are_refused {
        return Some(Encoded::Nothing);
    }
    if are_plain && hyphens & (hyphens << 1 | 1) == 0 && hyphens >> (count - 1) == 0 {
        return Some(Encoded::Plain);
    }
    let codes = decoded(basic, digits);
    Some(if letters.is_label(&codes)? { Encoded::Other(codes) } else { Encoded::Nothing })
}

/// Whether the certain `label` is one in a domain that has labels from right to left, too.
fn stands_beside_right(label: &[u8], letters: &Letters) -> bool {
    match punycode::parts(label) {
        Some((basic, digits)) => letters.stands_beside_right(&decoded(basic, digits)),
        None => label.first().is_some_and(u8::is_ascii_lowercase),
    }
}

/// The code points that an encoded label stands for.
fn decoded(basic: &[u8], digits: &[u8]) -> Vec<u32> {
    let mut codes = Vec::with_capacity(MAX_LABEL);
    codes.extend(basic.iter().map(|&byte| u32::from(byte)));
    punycode::decode(basic.len(), digits, |letter, place| codes.insert(place as usize, letter));
    codes
}

fn is_local_of_carrier(local: &[u8]) -> bool {
    !local.starts_with(b".") && local.iter().all(|&byte| byte == b'.' || is_atom(byte))
}

/// Whether the plain `address` is a placeholder: `word@word.top`, masked, or by its local part, which ends `at` its place.
fn is_placeholder(address: &[u8], at: usize, doubts: &Doubts) -> bool {
    let (local, domain) = (&address[..at], &address[at + 1..]);
    is_doubled(local, domain, doubts) || doubts.is_no_address(local) || is_masked_whole(address)
}

/// Whether `domain` is one of some words, which is the `local` part, too, with one or two labels behind it.
fn is_doubled(local: &[u8], domain: &[u8], doubts: &Doubts) -> bool {
    let tops = domain.strip_prefix(local).and_then(|behind| behind.strip_prefix(b"."));
    let are_tops = tops.is_some_and(|tops| {
        let mut labels = tops.split(|&byte| byte == b'.');
        labels.clone().count() <= 2 && labels.all(|label| !label.is_empty() && !label.iter().any(is_space))
    });
    are_tops && doubts.doubled.has(local)
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
