//! The digits of a phone number, and how they were written.
#![forbid(unsafe_code)]

pub const MAX_WRITTEN: usize = 100; // signs
pub const MAX_PLUSES: usize = 2; // in front; both are one to the definition
pub const MIN_DIGITS: usize = 3; // of a number, but for two with nothing between
pub const MAX_DIGITS: usize = 30; // far beyond any number with all that is dialled before it
pub const ROOM: usize = 32; // for digits; of texts with more it holds the last ones, which no caller reads
pub const TWO_NUMBERS: usize = 14; // digits; from here on a slash may divide two numbers
pub const TWO_GROUPS: usize = 16; // and a space from here on
const MAX_EXTENSION: usize = 9; // digits behind a tilde
pub const DIGITS_OF_DAY: std::ops::RangeInclusive<usize> = 4..=8;

/// Stands behind the digits.
pub const NO_DIGIT: u8 = b'?';

/// The digits of one text as ASCII (the first `count`), and how they were written.
#[derive(Clone, Copy)]
pub struct Written {
    pub digits: [u8; ROOM],
    pub count: usize,
    pub has_plus: bool,
    pub has_zeros: bool,
    /// More than one number, or one that a spreadsheet rounded.
    pub is_doubtful: bool,
    pub is_day: bool,
    /// How many digits at the end are an extension to phonenumbers.
    pub extension: usize,
    /// Fewer digits than phonenumbers takes for a number.
    pub is_short: bool,
}

impl Written {
    /// No digit, and nothing to tell.
    pub const NOTHING: Self = Self {
        digits: [NO_DIGIT; ROOM],
        count: 0,
        has_plus: false,
        has_zeros: false,
        is_doubtful: false,
        is_day: false,
        extension: 0,
        is_short: false,
    };
}

/// The class of a byte in a number, as bits: a digit, a sign that may stand in one, a sign that tells something of it.
const DIGIT: u8 = 1;
const PLUS: u8 = 1 << 1;
const SPACE: u8 = 1 << 2;
const SLASH: u8 = 1 << 3;
const DOT: u8 = 1 << 4;
const TILDE: u8 = 1 << 5;
const OTHER: u8 = 1 << 7;

const fn classes() -> [u8; 256] {
    let mut classes = [OTHER; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'-' | b'(' | b')' | b'[' | b']' => 0,
            b'+' => PLUS,
            b' ' => SPACE,
            b'/' => SLASH,
            b'.' => DOT,
            b'~' => TILDE,
            _ => OTHER,
        };
        byte += 1;
    }
    classes
}

static CLASS: [u8; 256] = classes();

/// The digits of `text`, if it is nothing but these and punctuation, and may be a number.
pub fn read_digits(text: &[u8]) -> Option<Written> {
    read_written(text).filter(|written| !written.is_short)
}

/// The same of a text that may be too short for a number.
pub fn read_written(text: &[u8]) -> Option<Written> {
    // Whatever is around a number stands in front or behind it.
    let is_other = |sign: Option<&u8>| sign.is_some_and(|&byte| CLASS[usize::from(byte)] == OTHER);
    if text.len() > MAX_WRITTEN || is_other(text.first()) || is_other(text.last()) {
        return None;
    }
    let (mut digits, mut count, mut pluses, mut seen) = ([0; ROOM], 0, 0, 0);
    // Without a branch: which sign comes next is what a processor guesses wrong.
    for &byte in text {
        let class = CLASS[usize::from(byte)];
        digits[count % ROOM] = byte;
        count += usize::from(class & DIGIT);
        pluses += usize::from(class & PLUS != 0);
        seen |= class;
    }
    digits.iter_mut().skip(count).for_each(|place| *place = NO_DIGIT);
    let front = behind(text, b"([ ");
    let own_pluses = front.iter().take(MAX_PLUSES).take_while(|&&byte| byte == b'+').count();
    // Two zeros with something between them, or behind a square bracket, are not 00 to the definition.
    let (has_plus, has_zeros) = (own_pluses > 0, behind(text, b"( ").starts_with(b"00"));
    let is_read = seen & OTHER == 0 && pluses == own_pluses && count <= MAX_DIGITS;
    let is_short = count < MIN_DIGITS && (has_plus || !is_pair(from_digit_to_digit(text)));
    let may_be_two = seen & SLASH != 0 && count >= TWO_NUMBERS || seen & SPACE != 0 && count >= TWO_GROUPS;
    let is_doubtful = may_be_two || seen & DOT != 0 && is_rounded(text);
    let is_day = DIGITS_OF_DAY.contains(&count) && is_day(text);
    let extension = if seen & TILDE != 0 { extension_of(text, has_plus) } else { 0 };
    is_read.then_some(Written { digits, count, has_plus, has_zeros, is_doubtful, is_day, extension, is_short })
}

/// How many digits stand behind a tilde that begins an extension to phonenumbers: nine at most, at the end, and before it
/// what it takes for a number.
fn extension_of(text: &[u8], has_plus: bool) -> usize {
    let number = from_digit_to_digit(text);
    let Some(tilde) = number.iter().rposition(|&byte| byte == b'~') else { return 0 };
    let (before, called) = (&number[..tilde], &number[tilde + 1..]);
    let called = behind(called.strip_prefix(b".").unwrap_or(called), b" -");
    if called.len() > MAX_EXTENSION || !called.iter().all(u8::is_ascii_digit) {
        return 0;
    }
    let is_number = before.iter().filter(|byte| byte.is_ascii_digit()).count() >= MIN_DIGITS
        || !has_plus && is_pair(before.trim_ascii_end());
    if is_number {
        called.len()
    } else {
        0
    }
}

/// `text` without what stands before the first digit and behind the last one.
fn from_digit_to_digit(text: &[u8]) -> &[u8] {
    let begin = text.iter().position(u8::is_ascii_digit).unwrap_or(text.len());
    let end = text.iter().rposition(u8::is_ascii_digit).map_or(begin, |last| last + 1);
    &text[begin..end]
}

/// Whether `number` is two digits and nothing between: phonenumbers takes these, too.
fn is_pair(number: &[u8]) -> bool {
    matches!(number, [b'0'..=b'9', b'0'..=b'9'])
}

/// `text` from where none of `signs` stands any more.
pub fn behind<'t>(text: &'t [u8], signs: &[u8]) -> &'t [u8] {
    let begin = text.iter().position(|byte| !signs.contains(byte)).unwrap_or(text.len());
    &text[begin..]
}

/// Whether `text` is a day such as 31.12.1980, 12/31/80 or 1980-12-31, of 1900 to 2029.
pub fn is_day(text: &[u8]) -> bool {
    let whole = text.strip_suffix(b".").unwrap_or(text);
    let Some((first, rest)) = number_before_divider(whole) else { return false };
    let Some((second, third)) = number_before_divider(rest) else { return false };
    let (Some(first), Some(second), Some(last)) = (number_of(first), number_of(second), number_of(third)) else {
        return false;
    };
    let is_day_of = |day: (usize, usize), month: (usize, usize)| {
        day.1 < 3 && month.1 < 3 && (1..=31).contains(&day.0) && (1..=12).contains(&month.0)
    };
    let is_year = |number: (usize, usize)| (1900..=2029).contains(&number.0);
    // Two digits are a year behind slashes alone, and where nothing else stands.
    let is_short_year = || last.1 == 2 && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'/'));
    (is_year(last) || is_short_year()) && (is_day_of(first, second) || is_day_of(second, first))
        || is_year(first) && is_day_of(last, second)
}

/// All before the first divider of `text`, and all behind it and one space.
fn number_before_divider(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| b"./-".contains(byte))?;
    let rest = &text[end + 1..];
    Some((&text[..end], rest.strip_prefix(b" ").unwrap_or(rest)))
}

/// The value of `text` of at most four digits, and how many these are.
fn number_of(text: &[u8]) -> Option<(usize, usize)> {
    let is_number = matches!(text.len(), 1..=4) && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| (text.iter().fold(0, |value, &digit| value * 10 + value_of(digit)), text.len()))
}

/// Whether a spreadsheet may have written `text` with decimal places.
fn is_rounded(text: &[u8]) -> bool {
    text.iter().rfind(|&&byte| byte != b'0') == Some(&b'.')
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
            ("(12) ", "12"),
            ("++49 30 1234567", "49301234567"),
            ("[ +49 30 1234567", "49301234567"),
            ("0 049301234567", "0049301234567"),
        ] {
            let written = read_digits(text.as_bytes()).expect(text);
            assert_eq!(&written.digits[..written.count], digits.as_bytes());
            assert!(written.digits[written.count..].iter().all(|&sign| sign == NO_DIGIT), "{text}");
            assert!(!written.is_doubtful, "{text}");
        }
        for text in ["1", "1 2", "49+301234567", "+++49301234567", "tel:0301234567", "1234567890123456789012345678901"]
        {
            assert!(read_digits(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn a_day_is_recognised_by_its_form() {
        for text in [
            "31.12.1980",
            "01/01/1900",
            "1980-12-31",
            "2029-01-01",
            "31.12/1980",
            "31-12-1980",
            "12/31/1980",
            "1/5/1980",
            "1980.12.31",
            "1980/1/5",
            "31. 12. 1980",
            "1980. 12. 31.",
            "12/31/80",
            "1/5/00",
        ] {
            assert!(is_day(text.as_bytes()), "{text}");
        }
        for text in [
            "32.12.1980",
            "00.12.1980",
            "31.13.1980",
            "13.13.1980",
            "31.00.1980",
            "0.1.1980",
            "31.12.1899",
            "2030-01-01",
            "1980-31-12",
            "31.12.80",
            "31/12-80",
            "31/12/80.",
            "31/12/ 80",
            "31/12/8",
            "31/13/80",
            "031.12.1980",
            "31.012.1980",
            "31.12.01980",
            "1980-1231",
            "1980-12-31-",
            "31.12.1980..",
            "31 .12.1980",
            "31.  12.1980",
            "31 12 1980",
            "+1.12.1980",
            "1980-(2-31",
            "..",
        ] {
            assert!(!is_day(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_tilde_begins_an_extension_of_a_number() {
        for (text, extension) in [
            ("+49 30 123~4567", Some(4)),
            ("030~123~.- 4567)", Some(4)),
            ("030~123456789", Some(9)),
            ("030~1234567890", Some(0)),
            ("030~1234 567", Some(0)),
            ("~0301234567~", Some(0)),
            ("+~491234567", Some(0)),
            ("(03 ~1234567", Some(7)),
            ("03)~1234567", Some(0)),
            ("0 3~1234567", Some(0)),
            ("3~1234567", Some(0)),
            ("+44~1234567", Some(0)),
            ("+449~1234567", Some(7)),
            ("030-1234567", Some(0)),
        ] {
            assert_eq!(read_digits(text.as_bytes()).map(|written| written.extension), extension, "{text}");
        }
    }

    #[test]
    fn two_digits_are_a_number_when_nothing_stands_between() {
        for (text, is_short) in
            [("12", false), ("-(12)", false), ("1-2", true), ("+12", true), ("+-12", true), ("1", true), ("--", true)]
        {
            assert_eq!(read_written(text.as_bytes()).expect(text).is_short, is_short, "{text}");
        }
    }

    #[test]
    fn two_zeros_in_front_are_a_prefix_when_nothing_stands_between() {
        for (text, has_zeros) in
            [("0049", true), ("(00)49", true), ("( 0049", true), ("0 049", false), ("[0049", false), ("+0049", false)]
        {
            assert_eq!(read_digits(text.as_bytes()).expect(text).has_zeros, has_zeros, "{text}");
        }
    }

    #[test]
    fn a_text_that_may_hold_several_numbers_is_doubtful() {
        for text in ["4155550132.0", "41555501320.00", "0301234567/0301234568", "030 12345678 030 12345"] {
            assert!(read_digits(text.as_bytes()).expect(text).is_doubtful, "{text}");
        }
    }
}
