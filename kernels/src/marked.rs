//! Numbers behind what spreadsheets and programs put around them, or in signs that stand for those of ASCII.
#![forbid(unsafe_code)]

use crate::columns::{Reasons, Words, PENDING};
use crate::digits::{behind, read_written, Written, MAX_WRITTEN};
use crate::forms;
use crate::short::read_alone;
use crate::signs::{Signs, BREAK};

const MAX_WORD: usize = 24; // bytes, and more than any word has
const HASH_DIGITS: usize = 64;
const SCHEMES: [&[u8]; 2] = [b"tel:", b"p:"];

/// The digits of the trimmed `text`, as the definition reads it; Err with its reason, or with PENDING where that is not
/// certain. `words` stand for a missing value.
pub fn read_marked(text: &[u8], words: &Words, signs: &Signs, reasons: &Reasons) -> Result<Written, i8> {
    // Most are marked by nothing but a scheme.
    if let Some(written) = behind_scheme(text).and_then(read_alone) {
        return refuse_at_once(text, words, reasons).map_or(Ok(written), Err);
    }
    let trimmed = signs.trim(text).ok_or(PENDING)?;
    if trimmed.is_empty() {
        return Err(reasons.empty);
    }
    if let Some(reason) = refuse_at_once(trimmed.as_bytes(), words, reasons) {
        return Err(reason);
    }
    let mut room = [0; MAX_WRITTEN];
    let survey = signs.survey(trimmed, &mut room);
    if survey.hides() {
        return Err(reasons.invisible_character);
    }
    if survey.is_longer {
        return Err(reasons.invalid_syntax);
    }
    // A formula, behind whatever comes off, or a rounded number has its own reason.
    if survey.has_foreign() && !survey.signs.contains(&b'=') && !survey.ends_in_decimal_zero() {
        return Err(reasons.invalid_syntax);
    }
    let number = without_scheme(survey.unmarked().ok_or(PENDING)?);
    let found = read_alone(number).or_else(|| read_written(number));
    match found {
        // phonenumbers takes no dash of Unicode between a tilde and an extension.
        Some(written) if written.extension > 0 && !trimmed.is_ascii() && has_dash_behind_tilde(number) => Err(PENDING),
        Some(written) if written.is_day => Err(reasons.invalid_syntax),
        Some(written) if !written.is_doubtful && !written.is_short => Ok(written),
        // The definition takes no dash of Unicode for a sign of a spreadsheet's number.
        _ if !trimmed.is_ascii() && number.contains(&b'-') && forms::is_mangled(number) => Err(PENDING),
        _ => forms::refuse(number, reasons).map_or(found.ok_or(PENDING), Err),
    }
}

fn has_dash_behind_tilde(number: &[u8]) -> bool {
    number.iter().skip_while(|&&sign| sign != b'~').any(|&sign| sign == b'-')
}

/// Why `text` is of no kind: a word for a missing value, or a hash. Of other letters than those of ASCII no such word has
/// one that has another case.
fn refuse_at_once(text: &[u8], words: &Words, reasons: &Reasons) -> Option<i8> {
    if text.len() == HASH_DIGITS && text.iter().all(u8::is_ascii_hexdigit) {
        return Some(reasons.already_hashed);
    }
    let (first, last) = text.first().zip(text.last())?;
    if !words.may_have(first.to_ascii_lowercase(), last.to_ascii_lowercase()) {
        return None;
    }
    let mut room = [0; MAX_WORD];
    let lowered = room.get_mut(..text.len())?;
    lowered.copy_from_slice(text);
    lowered.make_ascii_lowercase();
    words.has(lowered).then_some(reasons.placeholder)
}

/// `text` without one apostrophe in front, or the `="…"` around it.
pub fn unmarked<'t>(text: &'t str, signs: &Signs) -> &'t str {
    let quoted = text.strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
    match quoted.filter(|inner| !inner.contains('"')) {
        Some(inner) => signs.trim_both(inner),
        None => text.strip_prefix('\'').map_or(text, |rest| signs.trim_start(rest)),
    }
}

/// `text` without `tel:` or `p:` in front.
fn without_scheme(text: &[u8]) -> &[u8] {
    behind_scheme(text).map_or(text, |rest| behind(rest, &[b' ', BREAK]))
}

/// All behind `tel:` or `p:` in front of `text`; None without either.
fn behind_scheme(text: &[u8]) -> Option<&[u8]> {
    SCHEMES.iter().find_map(|scheme| {
        let (front, rest) = text.split_at_checked(scheme.len())?;
        front.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Texts;
    use crate::signs::tests::table;

    const REASONS: Reasons = Reasons::numbered();

    fn digits_of(text: &str) -> Result<String, i8> {
        let words = Words::new(Texts { offsets: &[0, 3, 6], data: b"n/a\xe2\x80\xa6" });
        let written = read_marked(text.as_bytes(), &words, &Signs(&table()), &REASONS)?;
        Ok(String::from_utf8(written.digits[..written.count].to_vec()).unwrap())
    }

    #[test]
    fn marks_around_a_number_come_off() {
        for text in [
            "\u{feff}+12015550123\u{200b}",
            "tel:+1-201-555-0123",
            "TEL: +1 201 555 0123",
            "'+12015550123",
            "' tel:+12015550123",
            "p:+12015550123",
            "'P: +1 201 555 0123",
            "=\"+12015550123\"",
            "tel:\n+12015550123",
            "=\"\u{a0}tel:+12015550123 \"",
            "+1\u{2011}201\u{2013}555\u{a0}0123",
            "+\u{661}\u{662}\u{660}15550123",
            "+1\u{2013}20155501~23\u{a0}",
        ] {
            assert_eq!(digits_of(text).as_deref(), Ok("12015550123"), "{text:?}");
        }
    }

    #[test]
    fn values_that_are_invalid_or_uncertain_have_their_code() {
        let hash = "0a".repeat(32);
        for (text, reason) in [
            ("\u{200b}\u{a0}", REASONS.empty),
            ("201\u{ad}5550123", REASONS.invisible_character),
            ("\u{200b}N/A", REASONS.placeholder),
            (&hash, REASONS.already_hashed),
            ("''2015550123", REASONS.invalid_syntax),
            ("tel:'2015550123", REASONS.invalid_syntax),
            ("tel:tel:2015550123", REASONS.invalid_syntax),
            ("p:tel:2015550123", REASONS.invalid_syntax),
            ("p2015550123", REASONS.invalid_syntax),
            ("=\"201\"5550123\"", REASONS.excel_mangled),
            ("=2015550123", REASONS.excel_mangled),
            ("\u{661}\u{662}\u{660}15550123.0", REASONS.excel_mangled),
            ("'2015550123 x1", REASONS.extension),
            ("\u{2013}2015550123.00", PENDING),
            ("2015550~\u{2013}123", PENDING),
            ("2015550~\u{2013}123~", PENDING),
            ("2.0", REASONS.excel_mangled),
            ("201\n5550123", REASONS.invalid_syntax),
            ("+12015550123\r\n+12015550124", REASONS.invalid_syntax),
            ("=2015550123\n2015550124", REASONS.excel_mangled),
            ("2015550123\n2015550124.0", REASONS.excel_mangled),
            ("2015550123\nx1", REASONS.invalid_syntax),
            ("tel:", REASONS.invalid_syntax),
            ("'31\u{2010}12\u{2010}1980", REASONS.invalid_syntax),
            ("31\u{ff0f}12\u{ff0f}80", REASONS.invalid_syntax),
            ("\u{e9}2015550123", REASONS.invalid_syntax),
            ("\u{2026}", REASONS.placeholder),
            ("\u{e9}", REASONS.invalid_syntax),
            ("\u{17f}", PENDING),
            ("=\u{e9}", PENDING),
            ("'=\u{e9}", PENDING),
            ("tel:=\u{e9}", PENDING),
            ("\u{e9}1.0", PENDING),
        ] {
            assert_eq!(digits_of(text), Err(reason), "{text:?}");
        }
        assert_eq!(digits_of(&format!("'2015550123{}", "-".repeat(90))), Err(REASONS.invalid_syntax));
    }
}
