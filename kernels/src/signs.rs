//! The signs that may surround a value, and those that stand for signs of ASCII: in a table made of the definition's
//! lists (`records/columns/checks.py`), one byte a code point of the first planes.
#![forbid(unsafe_code)]

/// White space that comes off at the ends, and is no sign inside.
pub const BREAK: u8 = 1;
/// An invisible mark: it comes off at the ends, and is refused inside.
const MARK: u8 = 2;
/// A control character: refused wherever it stands.
const CONTROL: u8 = 3;
/// No sign of ASCII, and yet one that a pattern of the definition may take.
const DOUBT: u8 = 4;
/// From here on a byte of the table is the sign of ASCII that is meant.
const FIRST_SIGN: u8 = b' ';

const BASIC_PLANE: usize = 1 << 16;
/// Marks all of them.
const TAGS: std::ops::RangeInclusive<u32> = 0xe0000..=0xe0fff;

/// The table. Of what stands beyond it, tags are marks, and all others no signs.
pub struct Signs<'a>(pub &'a [u8]);

impl Signs<'_> {
    fn of(&self, character: char) -> Option<u8> {
        match character {
            _ if TAGS.contains(&u32::from(character)) => Some(MARK),
            _ => self.0.get(character as usize).copied(),
        }
    }

    /// Whether `character` is white space.
    pub fn is_break(&self, character: char) -> bool {
        matches!(self.of(character), Some(BREAK | b' '))
    }

    fn is_trimmed(&self, character: char) -> bool {
        matches!(self.of(character), Some(BREAK | MARK | b' '))
    }

    /// `text` without white space and invisible marks at its ends; None where it is not known what these are.
    pub fn trim<'t>(&self, text: &'t [u8]) -> Option<&'t str> {
        self.read(text).map(|text| text.trim_matches(|character| self.is_trimmed(character)))
    }

    /// The same, of a text of which no other characters are looked at: whether these are UTF-8 is left.
    pub fn trim_ends<'t>(&self, mut text: &'t [u8]) -> Option<&'t [u8]> {
        if self.0.len() < BASIC_PLANE {
            return None;
        }
        while let Some(size) = text.first().map(|&byte| size_of_character(byte)) {
            let character = std::str::from_utf8(text.get(..size)?).ok()?;
            if !self.is_trimmed(character.chars().next()?) {
                break;
            }
            text = &text[size..];
        }
        while let Some(begin) = text.iter().rposition(|byte| !matches!(byte, 0x80..=0xbf)) {
            let character = std::str::from_utf8(&text[begin..]).ok()?;
            if !self.is_trimmed(character.chars().next()?) {
                break;
            }
            text = &text[..begin];
        }
        Some(text)
    }

    /// `text`, if there is a table and it is UTF-8.
    pub fn read<'t>(&self, text: &'t [u8]) -> Option<&'t str> {
        std::str::from_utf8(text).ok().filter(|_| self.0.len() >= BASIC_PLANE)
    }

    /// Whether the trimmed `text` has an invisible character.
    pub fn hides(&self, text: &str) -> bool {
        text.chars().any(|character| matches!(self.of(character), Some(MARK | CONTROL)))
    }

    /// The same of `codes`; None without a table.
    pub fn hide(&self, codes: &[u32]) -> Option<bool> {
        let hides = |&code: &u32| match self.0.get(code as usize) {
            Some(&sign) => matches!(sign, MARK | CONTROL),
            None => TAGS.contains(&code),
        };
        (self.0.len() >= BASIC_PLANE).then(|| codes.iter().any(hides))
    }

    /// The signs that the characters of `text` stand for, as many as fit into `room`, and the classes of all of them.
    pub fn survey<'r>(&self, text: &str, room: &'r mut [u8]) -> Survey<'r> {
        let (mut count, mut seen) = (0, 0);
        for character in text.chars() {
            let sign = self.of(character).unwrap_or(DOUBT);
            if let Some(place) = room.get_mut(count) {
                *place = sign;
            }
            seen |= 1u8 << sign.min(DOUBT + 1);
            count += 1;
        }
        Survey { signs: &room[..count.min(room.len())], is_longer: count > room.len(), seen }
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

/// The bytes of the character that `first` begins.
fn size_of_character(first: u8) -> usize {
    match first {
        ..0xc0 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
    }
}

/// The signs of a text: of each character that of ASCII which is meant, or a lesser byte where it is none.
pub struct Survey<'r> {
    pub signs: &'r [u8],
    /// Whether there are more characters than signs.
    pub is_longer: bool,
    /// A bit for each lesser byte that is in the text.
    seen: u8,
}

impl<'r> Survey<'r> {
    /// Whether an invisible character is in the text, which is trimmed.
    pub fn hides(&self) -> bool {
        self.seen & (1 << MARK | 1 << CONTROL) != 0
    }

    /// Whether a character of the text, which has no sign of ASCII for it, is in no number and in no word.
    pub fn has_foreign(&self) -> bool {
        self.seen & (1 | 1 << DOUBT) == 1
    }

    /// Whether the text ends in a decimal place that is zero, in digits of any script.
    pub fn ends_in_decimal_zero(&self) -> bool {
        matches!(self.signs, [.., b'.' | b',', b'0'])
    }

    /// The signs without one apostrophe in front, or the `="…"` around them; None where a character stands for none and
    /// is no white space.
    pub fn unmarked(&self) -> Option<&'r [u8]> {
        let quoted = self.signs.strip_prefix(b"=\"").and_then(|rest| rest.strip_suffix(b"\""));
        let inner = match quoted.filter(|inner| !inner.contains(&b'"')) {
            Some(inner) => trim_end(trim_start(inner)),
            None => self.signs.strip_prefix(b"'").map_or(self.signs, trim_start),
        };
        inner.iter().all(|&sign| sign >= FIRST_SIGN || sign == BREAK).then_some(inner)
    }
}

fn trim_start(mut signs: &[u8]) -> &[u8] {
    while let [BREAK | b' ', rest @ ..] = signs {
        signs = rest;
    }
    signs
}

fn trim_end(mut signs: &[u8]) -> &[u8] {
    while let [rest @ .., BREAK | b' '] = signs {
        signs = rest;
    }
    signs
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
            assert_eq!(signs.trim_ends(text.as_bytes()), Some(trimmed.as_bytes()));
        }
        for text in [&b"\xff"[..], b"\xe2\x80", b"a\x80", b"\x80", b"a\xe2\x80"] {
            assert_eq!(signs.trim(text), None);
            assert_eq!(signs.trim_ends(text), None);
        }
        assert_eq!(signs.trim_ends("\u{feff}a".as_bytes()).zip(Signs(&[]).trim_ends(b"a")), None);
    }

    #[test]
    fn invisible_characters_inside_are_seen() {
        let mut table = table();
        table.resize(0x1d176, MARK);
        for (text, hides) in
            [("a\u{ad}b", true), ("a\u{1d175}b", true), ("a\u{e0061}b", true), ("a\0", true), ("a\u{a0}b\n", false)]
        {
            let codes: Vec<u32> = text.chars().map(u32::from).collect();
            assert_eq!(Signs(&table).hides(text), hides, "{text:?}");
            assert_eq!(Signs(&table).hide(&codes), Some(hides), "{text:?}");
        }
    }

    #[test]
    fn foreign_characters_are_in_no_number() {
        let table = table();
        for (text, has_foreign) in
            [("1\u{e9}", true), ("1\u{a0}2", false), ("\u{e9}\u{17f}", false), ("\u{1f600}", false)]
        {
            assert_eq!(Signs(&table).survey(text, &mut [0; 4]).has_foreign(), has_foreign, "{text:?}");
        }
        for (text, ends_so) in [("1.\u{660}", true), ("1,0", true), ("10", false), ("1.1", false), ("0", false)] {
            assert_eq!(Signs(&table).survey(text, &mut [0; 4]).ends_in_decimal_zero(), ends_so, "{text:?}");
        }
    }

    #[test]
    fn signs_are_those_of_ascii_that_are_meant() {
        let table = table();
        let mut room = [0; 8];
        for (text, plain) in [
            ("\u{661}\u{2011}2\u{a0}", Some("1-2 ")),
            ("1\n2", Some("1\u{1}2")),
            ("\u{e9}", None),
            ("123456789", Some("12345678")),
        ] {
            let survey = Signs(&table).survey(text, &mut room);
            assert_eq!(survey.unmarked(), plain.map(str::as_bytes), "{text:?}");
            assert_eq!(survey.is_longer, text.len() == 9, "{text:?}");
        }
    }
}
