//! Phone numbers of digits and usual punctuation that are certainly valid: written in E.164 and hashed. Every other text
//! is left to the columnar rules in Python (`columnar/phone_numbers.py`), whose tables of states are read here.
#![forbid(unsafe_code)]

use crate::columns::{trim, Texts, PENDING, VALID};
use crate::sha256::Hasher;

/// A region that has no phone numbers, or none at all was named; other negative starts were not compiled yet.
const NO_REGION: i32 = -1;

const WIDTH: usize = 16; // places of a row of `following`
const MAX_WRITTEN: usize = 100; // bytes
const MIN_DIGITS: usize = 3;
const MAX_DIGITS: usize = 20;
const CODE_DIGITS: usize = 3;
const RUN: usize = 5; // equal digits at the end are perhaps the whole number
const TWO_NUMBERS: usize = 14; // digits; from here on a slash may divide two numbers
const TWO_GROUPS: usize = 16; // and a space from here on
const MAX_COUNT: usize = 10; // digits that may be counted up or down
const MAX_HEAD: usize = 4; // plus sign and calling code

/// The compiled numbering plans, as `columnar/phone_tables.py` has them, and what else the columnar rules know.
pub struct Plans<'a> {
    pub following: &'a [i32],
    pub readings: &'a [i32],
    /// Where numbers begin that are read as one region dials, by the number of the region in this column.
    pub national: &'a [i32],
    /// And behind a plus, by calling code.
    pub international: &'a [i32],
    /// The calling code by the first three digits, 0: none.
    pub calling_codes: &'a [i16],
    /// The code of each outcome, and which outcome says that an international prefix came first.
    pub outcomes: &'a [i8],
    pub dialled: usize,
    /// Which first two digits begin a count.
    pub counts: &'a [u8],
    /// Whether to write the plus, and to decide numbers that came without one.
    pub writes_plus: bool,
    pub decides_national: bool,
}

/// How one text was written.
struct Written {
    digits: [u8; MAX_DIGITS],
    count: usize,
    has_plus: bool,
    has_zeros: bool,
}

/// What a state says of the digits that end in it, and how many of them were passed over before.
struct Reading {
    outcome: usize,
    dropped: usize,
    calling_code: usize,
}

/// Decides each of `texts`, whose regions are `regions`: VALID with its hash, `empty`, or PENDING.
pub fn decide(texts: &Texts, regions: &[i32], plans: &Plans, empty: i8, codes: &mut [i8], mut hasher: Hasher) {
    for (row, text) in texts.iter().enumerate() {
        let text = trim(text);
        codes[row] = if text.is_empty() {
            empty
        } else if let Some(written) = read_digits(text) {
            match plans.read(&written, regions[row]) {
                Some(reading) => {
                    plans.add(&mut hasher, row, &written, &reading);
                    VALID
                }
                None => PENDING,
            }
        } else {
            PENDING
        };
    }
    hasher.finish();
}

/// The digits of `text`, if it is nothing but these and punctuation, and is one number beyond doubt.
fn read_digits(text: &[u8]) -> Option<Written> {
    if text.len() > MAX_WRITTEN {
        return None;
    }
    let (mut digits, mut count) = ([0; MAX_DIGITS], 0);
    let (mut pluses, mut has_slash, mut has_space, mut has_dot) = (0, false, false, false);
    for &byte in text {
        match byte {
            b'0'..=b'9' if count < MAX_DIGITS => {
                digits[count] = byte - b'0';
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
    let is_doubtful = may_be_two || has_dot && is_rounded(text) || count < RUN || ends_in_run(&digits[..count]);
    // Two zeros with something between them are not 00 to the definition.
    let is_apart = !has_plus && !has_zeros && digits[..2] == [0, 0];
    (is_read && !is_doubtful && !is_apart).then_some(Written { digits, count, has_plus, has_zeros })
}

/// Whether a spreadsheet may have written `text` with decimal places.
fn is_rounded(text: &[u8]) -> bool {
    text.iter().rfind(|&&byte| byte != b'0') == Some(&b'.')
}

fn ends_in_run(digits: &[u8]) -> bool {
    let last = &digits[digits.len() - RUN..];
    last.iter().all(|digit| *digit == last[0])
}

impl Plans<'_> {
    /// What the digits are, if that is a valid number and no placeholder.
    fn read(&self, written: &Written, region: i32) -> Option<Reading> {
        let digits = &written.digits[..written.count];
        if written.count <= MAX_COUNT && self.counts[usize::from(digits[0] * 10 + digits[1])] != 0 {
            return None;
        }
        let reading = if written.has_plus {
            self.read_behind(digits, 0)?
        } else if self.decides_national {
            self.read_dialled(digits, region, written.has_zeros)?
        } else {
            return None;
        };
        (self.outcomes[reading.outcome] == VALID).then_some(reading)
    }

    /// What digits are that somebody in `region` dials, None where that is left.
    fn read_dialled(&self, digits: &[u8], region: i32, has_zeros: bool) -> Option<Reading> {
        let start = self.national[region as usize];
        if start == NO_REGION {
            return if has_zeros { self.read_behind(digits, 2) } else { None };
        }
        let reading = self.run(start, digits)?;
        if reading.outcome == self.dialled {
            return self.read_behind(digits, reading.dropped);
        }
        // What begins with 00 and is refused is read as if there was a plus.
        if has_zeros && self.outcomes[reading.outcome] > VALID {
            return self.read_behind(digits, 2);
        }
        Some(reading)
    }

    /// What digits are behind the first `passed`, where a calling code begins.
    fn read_behind(&self, digits: &[u8], passed: usize) -> Option<Reading> {
        let behind = &digits[passed..];
        let head = behind.first_chunk::<CODE_DIGITS>()?.iter().fold(0, |head, &digit| head * 10 + usize::from(digit));
        let code = self.calling_codes[head];
        let start = if code > 0 { self.international[code as usize] } else { NO_REGION };
        let reading = self.run(start, behind)?;
        Some(Reading { dropped: reading.dropped + passed, ..reading })
    }

    fn run(&self, start: i32, digits: &[u8]) -> Option<Reading> {
        let mut state = usize::try_from(start).ok()?;
        for &digit in digits {
            state = self.following[state + usize::from(digit)] as usize;
        }
        let reading = self.readings[state / WIDTH] as usize;
        Some(Reading { outcome: reading & 0xff, dropped: reading >> 8 & 0xff, calling_code: reading >> 16 })
    }

    fn add(&self, hasher: &mut Hasher, row: usize, written: &Written, reading: &Reading) {
        let mut text = [0; MAX_HEAD + MAX_DIGITS];
        let mut begin = MAX_HEAD;
        let mut code = reading.calling_code;
        while code > 0 {
            begin -= 1;
            text[begin] = b'0' + (code % 10) as u8;
            code /= 10;
        }
        if self.writes_plus {
            begin -= 1;
            text[begin] = b'+';
        }
        let significant = &written.digits[reading.dropped..written.count];
        for (byte, digit) in text[MAX_HEAD..].iter_mut().zip(significant) {
            *byte = b'0' + digit;
        }
        hasher.add(row, &text[begin..MAX_HEAD + significant.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_from_one_number_only() {
        for (text, count) in [("+49 (30) 123-4567", 11), ("(+1) 415.555.0132", 11), ("0049 30 1234568", 13)] {
            assert_eq!(read_digits(text.as_bytes()).map(|written| written.count), Some(count), "{text}");
        }
        for text in [
            "12",
            "1234",
            "49+301234567",
            "++49301234567",
            "0 049301234567",
            "4155550132.0",
            "41555501320.00",
            "030-55555",
            "0301234567/0301234568",
            "030 12345678 030 12345",
            "tel:0301234567",
            "123456789012345678901",
        ] {
            assert!(read_digits(text.as_bytes()).is_none(), "{text}");
        }
    }
}
