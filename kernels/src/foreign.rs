//! Why a text that has other characters than those of ASCII is no address, where that is certain.
#![forbid(unsafe_code)]

use crate::ascii::{self, has_display_name};
use crate::columns::{Reasons, PENDING};
use crate::doubts::{is_masked, Doubts};
use crate::international::{has_wrong_signs, is_ascii, is_too_long, Letters, Room, MAX_ADDRESS, MAX_LOCAL};
use crate::lowered::Lowered;

/// No text with so many bytes is one that Unicode's normal form brings below MAX_ADDRESS.
const MOST_SHRUNK: usize = 16 * MAX_ADDRESS;
/// And so many characters may become of one.
const MOST_GROWN: usize = 4;
/// The one letter beyond ASCII that is one of ASCII in lower case.
const KELVIN: char = '\u{212a}';
/// The combining stroke, which makes other signs of `<` and `>`.
const STROKE: char = '\u{338}';

/// Why `text` is no address, in the order of the rules: PENDING unless that is certain. Its ASCII is in lower case; it has
/// other characters, or invisible ones.
pub fn refuse(lowered: &Lowered, doubts: &Doubts, letters: &Letters, room: &mut Room, reasons: &Reasons) -> i8 {
    let (text, parts) = (lowered.text, lowered.parts());
    let Some(seen) = survey(lowered, letters, room) else { return PENDING };
    if seen.hides {
        return reasons.invisible_character;
    }
    if parts.is_none() && doubts.words.has(text) {
        return reasons.placeholder; // no such word has an at sign
    }
    let has_brackets = text.iter().fold(false, |any, byte| any | matches!(byte, b'<' | b'>'));
    if lowered.is_ascii() || seen.has_kelvin || seen.has_stroke && has_brackets {
        return PENDING;
    }
    if (has_brackets || text[0] == b'm') && has_display_name(text) {
        return reasons.display_name;
    }
    let Some((local, domain)) = parts else { return reasons.invalid_syntax };
    let may_be_doubled = domain.starts_with(local) && doubts.doubled.has(local);
    if lowered.has_asterisk() && is_masked(local) {
        return reasons.placeholder;
    }
    if doubts.is_no_address(local) || may_be_doubled {
        return PENDING;
    }
    if text.len() > MOST_SHRUNK {
        return reasons.too_long;
    }
    if may_be_too_long(local, domain) {
        return PENDING;
    }
    let is_no_local = !lowered.has_local(local.len()) || is_no_name(room.characters.last(), letters);
    if is_no_local || is_no_domain(domain, doubts, letters, room).unwrap_or(false) {
        reasons.invalid_syntax
    } else {
        PENDING
    }
}

/// The other letters of a text than those of ASCII, as far as they decide alone.
struct Seen {
    hides: bool,
    has_kelvin: bool,
    has_stroke: bool,
}

/// Looks at all of a text, whose code points are in `room` behind it if it is short; None where it has none.
fn survey(lowered: &Lowered, letters: &Letters, room: &mut Room) -> Option<Seen> {
    let has = |codes: &[u32], letter: char| codes.iter().fold(false, |any, &code| any | (code == u32::from(letter)));
    if let Some(codes) = lowered.read(0..lowered.text.len(), &mut room.characters) {
        let hides = letters.signs.hide(codes)?;
        return Some(Seen { hides, has_kelvin: has(codes, KELVIN), has_stroke: has(codes, STROKE) });
    }
    let text = letters.signs.read(lowered.text)?;
    let hides = letters.signs.hides(text);
    Some(Seen { hides, has_kelvin: text.contains(KELVIN), has_stroke: text.contains(STROKE) })
}

/// Whether Unicode's normal form may make more of the parts of an address than there may be.
fn may_be_too_long(local: &[u8], domain: &[u8]) -> bool {
    // Of two bytes at least is a character that may grow.
    if local.len() <= MAX_LOCAL / (MOST_GROWN / 2) && (local.len() + domain.len()) * MOST_GROWN < MAX_ADDRESS {
        return false;
    }
    let grown = |byte: &u8| if byte.is_ascii() { 1 } else { MOST_GROWN };
    let begins_letter = |byte: &&u8| !matches!(byte, 0x80..=0xbf); // the others go on with one
    let most_letters: usize = local.iter().filter(begins_letter).map(grown).sum();
    let most_bytes: usize = local.iter().chain(domain).map(grown).sum();
    most_letters > MAX_LOCAL || most_bytes >= MAX_ADDRESS
}

/// Whether no local part has the sign: that of a decoder or a mask for a lost letter, or a quotation mark.
#[rustfmt::skip]
fn is_no_letter(sign: char) -> bool {
    matches!(
        sign,
        '\u{fffd}' | '…' | '•' | '∗' | '∙' | '■' | '▪' | '●' | '█' | '＊' | '«' | '»' | '‘'..='‟' | '‹' | '›'
    )
}

/// Whether letters of the address of `codes` show that its local part is none.
fn is_no_name(codes: &[u32], letters: &Letters) -> bool {
    let mut local = codes.iter().take_while(|&&code| code != u32::from(b'@')).map_while(|&code| char::from_u32(code));
    local.clone().next().is_some_and(|first| letters.folding.is_mark(first)) || local.any(is_no_letter)
}

/// Whether the definition gives `domain` no better reason than that it is none. None, as `false`, where that is not certain.
/// The code points of its address are in `room`.
fn is_no_domain(domain: &[u8], doubts: &Doubts, letters: &Letters, room: &mut Room) -> Option<bool> {
    let mut codes = room.characters.last().splitn(2, |&code| code == u32::from(b'@')).nth(1)?;
    let mut seen = letters.survey(codes);
    if !seen.stays {
        letters.folding.fold(codes, &mut room.domain)?;
        codes = room.characters.read(room.domain.as_bytes())?;
        seen = letters.survey(codes);
    }
    if !seen.are_known || doubts.may_have_special_top(domain) || is_too_long(codes) {
        return None;
    }
    let labels = || codes.split(|&code| code == u32::from(b'.'));
    let top = labels().next_back()?;
    let is_no_top = || top.len() == codes.len() || is_ascii(top) && !is_top(top);
    let is_from_right = letters.is_from_right(codes);
    let is_no_label = |label: &[u32]| {
        has_wrong_signs(label) || letters.is_disordered(label) || is_from_right && letters.begins_undirected(label)
    };
    Some(seen.are_refused || is_no_top() || labels().any(is_no_label))
}

/// Whether the label of ASCII may be the last one.
fn is_top(label: &[u32]) -> bool {
    let signs: Vec<u8> = label.iter().map(|&code| code as u8).collect();
    ascii::is_top(&signs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{Texts, Words};
    use crate::folding::{self, Folding};
    use crate::international::tests::labels;
    use crate::signs::{tests::table, Signs};

    const REASONS: Reasons = Reasons::numbered();

    fn of(text: &str) -> i8 {
        let (signs, domain, (kinds, folds)) = (table(), labels(), folding::tests::tables());
        let none = || Texts { offsets: &[], data: b"" };
        let no_addresses = Texts { offsets: &[0, 6], data: b"nomail" };
        let special_use = Texts { offsets: &[0, 4], data: b"test" };
        let doubts = Doubts { words: Words::new(none()), no_addresses, doubled: none(), carriers: none(), special_use };
        let folding = Folding { kinds: &kinds, folds: &folds };
        let letters = Letters { signs: Signs(&signs), folding, domain: &domain };
        refuse(&Lowered::long(text.as_bytes()), &doubts, &letters, &mut Room::new(), &REASONS)
    }

    #[test]
    fn texts_that_are_certainly_no_address_have_their_reason() {
        for (text, reason) in [
            ("j\u{fc}rgen", REASONS.invalid_syntax),
            ("j\u{fc}rgen b@larchpost.example", REASONS.invalid_syntax),
            ("j\u{fc}rgen..b@larchpost.example", REASONS.invalid_syntax),
            ("j\u{fffd}rgen@larchpost.example", REASONS.invalid_syntax),
            ("j•••@larchpost.example", REASONS.invalid_syntax),
            ("“ada@larchpost.example", REASONS.invalid_syntax),
            ("j**@b\u{fc}cher.example", REASONS.placeholder),
            ("j\u{fc}**@b", REASONS.placeholder),
            ("j\u{fc}rgen@larchpost", REASONS.invalid_syntax),
            ("j\u{fc}rgen@larchpost..example", REASONS.invalid_syntax),
            ("j\u{fc}rgen@my_larch.example", REASONS.invalid_syntax),
            ("a@b\u{fc}cher,example", REASONS.invalid_syntax),
            ("a@b\u{dc}cher..example", REASONS.invalid_syntax),
            ("a@b\u{fc}--c.example1", REASONS.invalid_syntax),
            ("a@b\u{fc}.c0m", REASONS.invalid_syntax),
            ("a@b\u{2665}.example", REASONS.invalid_syntax),
            ("a@1b.\u{5d0}\u{5d1}", REASONS.invalid_syntax),
            ("a@b\u{2665}.test", PENDING),
            ("a@b\u{2665}test", PENDING),
            ("a@b.example\u{2665}", REASONS.invalid_syntax),
            ("a@b\u{e8}..example", PENDING),
            ("a@b\u{fc}.example", PENDING),
            ("nomail@b\u{fc}..example", PENDING),
            ("a@b\u{338}<.example", PENDING),
            ("b\u{fc} <a@b.example>", REASONS.display_name),
            ("a\u{200b}@b\u{fc}", REASONS.invisible_character),
        ] {
            assert_eq!(of(text), reason, "{text}");
        }
        assert_eq!(of(&format!("a@{}..example", "\u{fc}".repeat(60))), PENDING);
    }
}
