//! Numbers behind what spreadsheets and programs put around them, or in signs that stand for those of ASCII.
#![forbid(unsafe_code)]

use crate::columns::Reasons;
use crate::digits::{read_digits, Written, MAX_WRITTEN};
use crate::signs::Signs;

/// The digits of `text`, as the definition reads it; Err with its reason, or with None where that is not certain.
pub fn read_marked(text: &[u8], signs: &Signs, reasons: &Reasons) -> Result<Written, Option<i8>> {
    let trimmed = signs.trim(text).ok_or(None)?;
    if trimmed.is_empty() {
        return Err(Some(reasons.empty));
    }
    if signs.hides(trimmed) {
        return Err(Some(reasons.invisible_character));
    }
    if trimmed.chars().take(MAX_WRITTEN + 1).count() > MAX_WRITTEN {
        return Err(Some(reasons.invalid_syntax));
    }
    // All words for a missing value that are not ASCII are a single sign; a formula or a rounded number has its own reason.
    let may_be_other =
        trimmed.chars().nth(1).is_none() || trimmed.starts_with('=') || signs.ends_in_decimal_zero(trimmed);
    if !may_be_other && signs.has_foreign(trimmed) {
        return Err(Some(reasons.invalid_syntax));
    }
    let mut room = [0; MAX_WRITTEN];
    let plain = signs.plain(unmarked(trimmed, signs), &mut room).ok_or(None)?;
    read_digits(without_scheme(plain)).ok_or(None)
}

/// `text` without one apostrophe in front, or the `="…"` around it.
pub fn unmarked<'t>(text: &'t str, signs: &Signs) -> &'t str {
    let quoted = text.strip_prefix("=\"").and_then(|rest| rest.strip_suffix('"'));
    match quoted.filter(|inner| !inner.contains('"')) {
        Some(inner) => signs.trim_both(inner),
        None => text.strip_prefix('\'').map_or(text, |rest| signs.trim_start(rest)),
    }
}

/// `text` without `tel:` in front.
fn without_scheme(text: &[u8]) -> &[u8] {
    match text.split_at_checked(4) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(b"tel:") => {
            &rest[rest.iter().position(|&byte| byte != b' ').unwrap_or(rest.len())..]
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signs::tests::table;

    const REASONS: Reasons = Reasons {
        empty: 1,
        placeholder: 2,
        invalid_syntax: 3,
        not_possible: 4,
        no_country: 5,
        invisible_character: 6,
        too_long: 7,
        excel_mangled: 8,
    };

    fn digits_of(text: &str) -> Result<String, Option<i8>> {
        let written = read_marked(text.as_bytes(), &Signs(&table()), &REASONS)?;
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
            "=\"+12015550123\"",
            "=\"\u{a0}tel:+12015550123 \"",
            "+1\u{2011}201\u{2013}555\u{a0}0123",
            "+\u{661}\u{662}\u{660}15550123",
        ] {
            assert_eq!(digits_of(text).as_deref(), Ok("12015550123"), "{text:?}");
        }
    }

    #[test]
    fn what_is_none_or_not_certain_is_told() {
        for (text, reason) in [
            ("\u{200b}\u{a0}", Some(1)),
            ("201\u{ad}5550123", Some(6)),
            ("''2015550123", None),
            ("tel:'2015550123", None),
            ("tel:tel:2015550123", None),
            ("=\"201\"5550123\"", None),
            ("=2015550123", None),
            ("201\n5550123", None),
            ("tel:", None),
            ("\u{e9}2015550123", Some(3)),
            ("\u{2026}", None),
            ("=\u{e9}", None),
            ("\u{e9}1.0", None),
        ] {
            assert_eq!(digits_of(text), Err(reason), "{text:?}");
        }
        assert_eq!(digits_of(&format!("'2015550123{}", "-".repeat(90))), Err(Some(3)));
    }
}
