//! What stands around a value, and which signs stand for those of ASCII: told by a table that is made of the definition's
//! lists (`columnar/signs.py`), one byte a code point of the first planes.
#![forbid(unsafe_code)]

/// White space that comes off at the ends, and is no sign inside.
const BREAK: u8 = 1;
/// An invisible mark: it comes off at the ends, and is refused inside.
const MARK: u8 = 2;
/// A control character: refused wherever it stands.
const CONTROL: u8 = 3;
/// No sign of ASCII, and yet one that a pattern of the definition may take.
const DOUBT: u8 = 4;
/// From here on a byte of the table is the sign of ASCII that is meant.
const FIRST_SIGN: u8 = b' ';

const BASIC_PLANE: usize = 1 << 16;

/// The table. Of what stands beyond it, tags are marks, and all others no signs.
pub struct Signs<'a>(pub &'a [u8]);

impl Signs<'_> {
    fn of(&self, character: char) -> Option<u8> {
        match character {
            '\u{e0000}'..='\u{e0fff}' => Some(MARK),
            _ => self.0.get(character as usize).copied(),
        }
    }

    fn is_trimmed(&self, character: char) -> bool {
        matches!(self.of(character), Some(BREAK | MARK | b' '))
    }

    /// `text` without white space and invisible marks at its ends; None where it is not known what these are.
    pub fn trim<'t>(&self, text: &'t [u8]) -> Option<&'t str> {
        self.read(text).map(|text| text.trim_matches(|character| self.is_trimmed(character)))
    }

    /// `text`, if there is a table and it is UTF-8.
    pub fn read<'t>(&self, text: &'t [u8]) -> Option<&'t str> {
        std::str::from_utf8(text).ok().filter(|_| self.0.len() >= BASIC_PLANE)
    }

    /// Whether the trimmed `text` has an invisible character.
    pub fn hides(&self, text: &str) -> bool {
        text.chars().any(|character| matches!(self.of(character), Some(MARK | CONTROL)))
    }

    /// `text` in signs of ASCII at the front of `room`; None where a character stands for none, or room is wanting.
    pub fn plain<'r>(&self, text: &str, room: &'r mut [u8]) -> Option<&'r [u8]> {
        let mut count = 0;
        for character in text.chars() {
            let sign = self.of(character).filter(|&sign| sign >= FIRST_SIGN)?;
            *room.get_mut(count)? = sign;
            count += 1;
        }
        Some(&room[..count])
    }

    /// Whether a character of `text`, which has no sign of ASCII for it, is in no number and in no word.
    pub fn has_foreign(&self, text: &str) -> bool {
        let mut is_foreign = false;
        for character in text.chars() {
            match self.of(character) {
                Some(0) => is_foreign = true,
                None | Some(DOUBT) => return false,
                _ => (),
            }
        }
        is_foreign
    }

    /// Whether `text` ends in a decimal place that is zero, in digits of any script.
    pub fn ends_in_decimal_zero(&self, text: &str) -> bool {
        let mut last = text.chars().rev();
        let is_zero = last.next().and_then(|character| self.of(character)) == Some(b'0');
        is_zero && matches!(last.next(), Some('.' | ','))
    }

    /// `text` without white space at its front, or at both ends.
    pub fn trim_start<'t>(&self, text: &'t str) -> &'t str {
        text.trim_start_matches(|character| self.is_trimmed(character))
    }

    /// As `trim_start`, at both ends.
    pub fn trim_both<'t>(&self, text: &'t str) -> &'t str {
        text.trim_matches(|character| self.is_trimmed(character))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A few characters of the table that the package gives.
    pub fn table() -> Vec<u8> {
        let mut table = vec![0; 1 << 16];
        for sign in b' '..=b'~' {
            table[usize::from(sign)] = sign;
        }
        for (characters, meaning) in [
            ("\t\n\r\u{85}\u{2028}", BREAK),
            ("\u{ad}\u{200b}\u{202a}\u{feff}", MARK),
            ("\0\u{7f}", CONTROL),
            ("\u{a0}\u{3000}", b' '),
            ("\u{2011}\u{2013}", b'-'),
            ("\u{17f}", DOUBT),
        ] {
            for character in characters.chars() {
                table[character as usize] = meaning;
            }
        }
        for (value, digit) in (b'0'..=b'9').enumerate() {
            table[0x660 + value] = digit;
        }
        table
    }

    #[test]
    fn white_space_and_marks_come_off_at_the_ends() {
        let table = table();
        let signs = Signs(&table);
        for (text, trimmed) in [
            ("\u{feff}\u{a0}a b\u{200b}\n", "a b"),
            ("\u{200b} ", ""),
            ("\0a", "\0a"),
            ("\u{1f600}\u{feff}", "\u{1f600}"),
            ("a\u{e0001}", "a"),
        ] {
            assert_eq!(signs.trim(text.as_bytes()), Some(trimmed));
        }
        assert_eq!(signs.trim(b"\xff"), None);
    }

    #[test]
    fn invisible_characters_inside_are_seen() {
        let table = table();
        for (text, hides) in [("a\u{ad}b", true), ("a\u{e0061}b", true), ("a\0", true), ("a\u{a0}b\n", false)] {
            assert_eq!(Signs(&table).hides(text), hides, "{text:?}");
        }
    }

    #[test]
    fn foreign_characters_are_in_no_number() {
        let table = table();
        for (text, has_foreign) in
            [("1\u{e9}", true), ("1\u{a0}2", false), ("\u{e9}\u{17f}", false), ("\u{1f600}", false)]
        {
            assert_eq!(Signs(&table).has_foreign(text), has_foreign, "{text:?}");
        }
        for (text, ends_so) in [("1.\u{660}", true), ("1,0", true), ("10", false), ("1.1", false), ("0", false)] {
            assert_eq!(Signs(&table).ends_in_decimal_zero(text), ends_so, "{text:?}");
        }
    }

    #[test]
    fn signs_are_those_of_ascii_that_are_meant() {
        let table = table();
        let mut room = [0; 8];
        for (text, plain) in
            [("\u{661}\u{2011}2\u{a0}", Some("1-2 ")), ("1\n", None), ("\u{e9}", None), ("123456789", None)]
        {
            assert_eq!(Signs(&table).plain(text, &mut room), plain.map(str::as_bytes), "{text:?}");
        }
    }
}
