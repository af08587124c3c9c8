//! Texts that are no single phone number by their form: those of spreadsheets, extensions, two numbers in a cell. They are
//! in signs of ASCII, and nothing stands around them.
#![forbid(unsafe_code)]

use crate::columns::Reasons;
use crate::digits::{behind, MAX_PLUSES};

const WHOLE_DIGITS: usize = 7; // of each number, where there are two, and before an extension
const MAX_DIGITS: usize = 15; // of one number, whose groups may be long
const MAX_EXTENSION: usize = 6; // digits
const SHORTEST_ROUNDED: usize = 5; // digits before several zeros
const MAX_ROUNDED: usize = 6; // zeros
const GROUP: usize = 3; // digits between thousands separators
const LEAST_GROUPS: usize = 3;
const EXTENSIONS: [&[u8]; 6] = [b"x", b"ext", b"extn", b"extension", b"#", b";ext="];

/// The reason that `number` has by its form, in the order of the definition; None where it may be a number.
pub fn refuse(number: &[u8], reasons: &Reasons) -> Option<i8> {
    if is_mangled(number) {
        Some(reasons.excel_mangled)
    } else if is_extended(number) {
        Some(reasons.extension)
    } else if !is_written(number) || holds_two(number) {
        Some(reasons.invalid_syntax)
    } else {
        None
    }
}

/// Whether a spreadsheet has rounded or hidden `number`, or divided its thousands.
pub fn is_mangled(number: &[u8]) -> bool {
    let unsigned = number.strip_prefix(b"+").or_else(|| number.strip_prefix(b"-")).unwrap_or(number);
    number.starts_with(b"=")
        || is_powered(unsigned)
        || is_rounded(unsigned)
        || matches!(number, [.., b'0'..=b'9', b'.' | b',', b'0'])
        || number.len() > 1 && number.iter().all(|&byte| byte == b'#')
        || is_grouped(number)
}

/// As 4.15E+10.
fn is_powered(number: &[u8]) -> bool {
    let (whole, behind) = split_digits(number);
    let behind = match behind {
        [b'.' | b',', places @ ..] => split_digits(places).1,
        _ => behind,
    };
    let [b'e' | b'E', power @ ..] = behind else { return false };
    let power = power.strip_prefix(b"+").or_else(|| power.strip_prefix(b"-")).unwrap_or(power);
    !whole.is_empty() && !power.is_empty() && split_digits(power).1.is_empty()
}

/// As 4155550132.00.
fn is_rounded(number: &[u8]) -> bool {
    let (whole, behind) = split_digits(number);
    let [b'.' | b',', zeros @ ..] = behind else { return false };
    whole.len() >= SHORTEST_ROUNDED
        && (1..=MAX_ROUNDED).contains(&zeros.len())
        && zeros.iter().all(|&zero| zero == b'0')
}

/// As 4,155,550,132.
fn is_grouped(number: &[u8]) -> bool {
    let mut groups = number.split(|&byte| byte == b',');
    let first = groups.next().unwrap_or(&[]);
    (1..=GROUP).contains(&first.len())
        && first[0] != b'0'
        && first.iter().all(u8::is_ascii_digit)
        && groups.clone().count() + 1 >= LEAST_GROUPS
        && groups.all(|group| group.len() == GROUP && group.iter().all(u8::is_ascii_digit))
}

/// Whether `number` is a whole one and the way to one of several telephones.
fn is_extended(number: &[u8]) -> bool {
    let last = number.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=MAX_EXTENSION).contains(&last) {
        return false;
    }
    let before = &number[..number.len() - last];
    let end = before.iter().rposition(|byte| !b" .:".contains(byte)).map_or(0, |place| place + 1);
    let called = &before[..end];
    EXTENSIONS.iter().any(|name| {
        called.len() >= name.len() && {
            let (whole, own) = called.split_at(called.len() - name.len());
            own.eq_ignore_ascii_case(name) && is_written(whole) && count_digits(whole) >= WHOLE_DIGITS
        }
    })
}

/// Whether `number` is digits and punctuation, with pluses in front only.
fn is_written(number: &[u8]) -> bool {
    let front = behind(number, b"([ ");
    let pluses = front.iter().take(MAX_PLUSES).take_while(|&&byte| byte == b'+').count();
    let rest = &front[pluses..];
    (!rest.is_empty() || pluses == 0 && !number.is_empty())
        && rest.iter().all(|byte| byte.is_ascii_digit() || b"-/()[].~ ".contains(byte))
}

/// Whether two whole numbers stand in one cell.
fn holds_two(number: &[u8]) -> bool {
    let wholes =
        |divider| number.split(|&byte| byte == divider).filter(|part| count_digits(part) >= WHOLE_DIGITS).count();
    wholes(b'/') > 1 || count_digits(number) > MAX_DIGITS && wholes(b' ') > 1
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().filter(|byte| byte.is_ascii_digit()).count()
}

/// The digits in front of `text`, and what is behind them.
fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REASONS: Reasons = Reasons::numbered();

    #[test]
    fn forms_of_no_number_have_their_reason() {
        for (texts, reason) in [
            (
                &["4.15E+10", "4,e9", "-1e-7", "41555.0", "+41555.000000", "a1.0", "##", "=A1", "4,155,550", "1 2,0"][..],
                Some(REASONS.excel_mangled),
            ),
            (
                &["+1 415-555-0132 x1", "(0415) 555013 EXT. 123456", "4155550 extn:.7", "4155550#1", "4155550;ext=12"]
                    [..],
                Some(REASONS.extension),
            ),
            (
                &["415555013a", "1,2", "+1+2", "+++1", "415555 x1", "4155550 x1234567", "#", "+", "4155550/4155551"][..],
                Some(REASONS.invalid_syntax),
            ),
            (
                &["4155550132 4155550133", "01,555,013", "4155,550,132", "4.1E", "e9", "4e9 "][..],
                Some(REASONS.invalid_syntax),
            ),
            (&["+1 (415) 555-0132", "4155.0000000", "[++1", "(", "4155550 4155551", "1~2", "4155.00"][..], None),
        ] {
            for text in texts {
                assert_eq!(refuse(text.as_bytes(), &REASONS), reason, "{text}");
            }
        }
    }
}
