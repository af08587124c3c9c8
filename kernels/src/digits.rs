//! The digits of a phone number, and how they were written.
#![forbid(unsafe_code)]

const MAX_WRITTEN: usize = 100; // bytes
const MIN_DIGITS: usize = 3;
pub const MAX_DIGITS: usize = 20;
const RUN: usize = 5; // equal digits at the end are perhaps the whole number
const TWO_NUMBERS: usize = 14; // digits; from here on a slash may divide two numbers
const TWO_GROUPS: usize = 16; // and a space from here on

/// The digits of one text as ASCII, and how they were written.
pub struct Written {
    pub digits: [u8; MAX_DIGITS],
    pub count: usize,
    pub has_plus: bool,
    pub has_zeros: bool,
    /// More than one number, or one that a spreadsheet rounded, or with something between two zeros in front.
    pub is_doubtful: bool,
}

/// The digits of `text`, if it is nothing but these and punctuation.
pub fn read_digits(text: &[u8]) -> Option<Written> {
    if text.len() > MAX_WRITTEN {
        return None;
    }
    let (mut digits, mut count) = ([0; MAX_DIGITS], 0);
    let (mut pluses, mut has_slash, mut has_space, mut has_dot) = (0, false, false, false);
    for &byte in text {
        match byte {
            b'0'..=b'9' if count < MAX_DIGITS => {
                digits[count] = byte;
                count += 1;
            }
            b'-' | b'(' | b')' | b'[' | b']' => {}
            b' ' => has_space = true,
            b'/' => has_slash = true,
            b'.' => has_dot = true,
            b'+' => pluses += 1,
            _ => return None,
        }
    }
    let front = text.strip_prefix(b"(").unwrap_or(text);
    let (has_plus, has_zeros) = (front.starts_with(b"+"), front.starts_with(b"00"));
    let is_read = pluses == usize::from(has_plus) && (count >= MIN_DIGITS || count == 2 && text.len() == 2);
    let may_be_two = has_slash && count >= TWO_NUMBERS || has_space && count >= TWO_GROUPS;
    // Two zeros with something between them are not 00 to the definition.
    let is_apart = !has_plus && !has_zeros && digits[..2] == *b"00";
    let is_doubtful = may_be_two || is_apart || has_dot && is_rounded(text);
    is_read.then_some(Written { digits, count, has_plus, has_zeros, is_doubtful })
}

/// Whether a spreadsheet may have written `text` with decimal places.
fn is_rounded(text: &[u8]) -> bool {
    text.iter().rfind(|&&byte| byte != b'0') == Some(&b'.')
}

pub fn ends_in_run(digits: &[u8]) -> bool {
    digits.len() >= RUN && are_equal(&digits[digits.len() - RUN..])
}

pub fn are_equal(digits: &[u8]) -> bool {
    digits.iter().all(|digit| *digit == digits[0])
}

pub fn pair_of(digits: &[u8]) -> usize {
    value_of(digits[0]) * 10 + value_of(digits[1])
}

pub fn value_of(digit: u8) -> usize {
    usize::from(digit - b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_among_punctuation() {
        for (text, digits) in [
            ("+49 (30) 123-4567", "49301234567"),
            ("(+1) 415.555.0132", "14155550132"),
            ("0049/30 [1234568]", "0049301234568"),
            ("12", "12"),
        ] {
            let written = read_digits(text.as_bytes()).expect(text);
            assert_eq!(&written.digits[..written.count], digits.as_bytes());
            assert!(!written.is_doubtful, "{text}");
        }
        for text in ["1", "1 2", "49+301234567", "++49301234567", "tel:0301234567", "123456789012345678901"] {
            assert!(read_digits(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn what_may_be_no_single_number_is_doubtful() {
        for text in
            ["0 049301234567", "4155550132.0", "41555501320.00", "0301234567/0301234568", "030 12345678 030 12345"]
        {
            assert!(read_digits(text.as_bytes()).expect(text).is_doubtful, "{text}");
        }
    }
}
