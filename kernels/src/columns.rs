//! A column of texts as Arrow holds it, and what is decided of its values.
#![forbid(unsafe_code)]

use crate::utf8::is_utf8;

/// The decision on a value, as `records/columns/arrays.py` and `checks.py` number it: reasons are greater than VALID.
pub const VALID: i8 = 0;
pub const UNDECIDED: i8 = -1;
pub const PENDING: i8 = -2;

/// The codes of the reasons that are given here.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reasons {
    pub empty: i8,
    pub placeholder: i8,
    pub invalid_syntax: i8,
    pub not_possible: i8,
    pub no_country: i8,
    pub invisible_character: i8,
    pub too_long: i8,
    pub excel_mangled: i8,
    pub already_hashed: i8,
    pub extension: i8,
    pub display_name: i8,
    pub special_use_domain: i8,
}

#[cfg(test)]
impl Reasons {
    /// A number for each.
    pub const fn numbered() -> Self {
        Self {
            empty: 1,
            placeholder: 2,
            invalid_syntax: 3,
            not_possible: 4,
            no_country: 5,
            invisible_character: 6,
            too_long: 7,
            excel_mangled: 8,
            already_hashed: 9,
            extension: 10,
            display_name: 11,
            special_use_domain: 12,
        }
    }
}

/// Texts one behind the other in `data`; `offsets` are one more than there are texts.
pub struct Texts<'a> {
    pub offsets: &'a [i32],
    pub data: &'a [u8],
}

impl<'a> Texts<'a> {
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The text at `place`. Offsets that do not ascend, or point outside, are a panic.
    pub fn at(&self, place: usize) -> &'a [u8] {
        &self.data[self.offsets[place] as usize..self.offsets[place + 1] as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        (0..self.len()).map(|place| self.at(place))
    }

    /// The bytes from the text at `place` on, of which it may have fewer; None where not so many are left.
    pub fn window<const SIZE: usize>(&self, place: usize) -> Option<&'a [u8; SIZE]> {
        self.data[self.offsets[place] as usize..].first_chunk()
    }

    /// The bytes of the longest text; None where one is not UTF-8, or where they do not stand one behind the other.
    pub fn longest_in_utf8(&self) -> Option<usize> {
        let begins = |at: usize| self.data.get(at).map_or(at == self.data.len(), |&byte| byte & 0xc0 != 0x80);
        if !is_utf8(self.data) {
            return None;
        }
        let mut longest = 0;
        for ends in self.offsets.windows(2) {
            let (begin, end) = (usize::try_from(ends[0]).ok()?, usize::try_from(ends[1]).ok()?);
            if !begins(begin) || !begins(end) {
                return None;
            }
            longest = longest.max(end.checked_sub(begin)?);
        }
        Some(longest)
    }

    /// Whether `text` is one of these texts, which ascend.
    pub fn has(&self, text: &[u8]) -> bool {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.at(middle).cmp(text) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }
}

/// Texts that are looked for among many others, most of which begin or end otherwise.
pub struct Words<'a> {
    texts: Texts<'a>,
    ends: [u8; 256],
}

const BEGINS: u8 = 1;
const ENDS: u8 = 2;

impl<'a> Words<'a> {
    /// `texts` ascend.
    pub fn new(texts: Texts<'a>) -> Self {
        let mut ends = [0; 256];
        for (first, last) in texts.iter().filter_map(|text| text.first().zip(text.last())) {
            ends[usize::from(*first)] |= BEGINS;
            ends[usize::from(*last)] |= ENDS;
        }
        Self { texts, ends }
    }

    /// Whether `text` is one of them.
    pub fn has(&self, text: &[u8]) -> bool {
        match (text.first(), text.last()) {
            (Some(&first), Some(&last)) => self.may_have(first, last) && self.texts.has(text),
            _ => self.texts.has(text),
        }
    }

    /// Whether one of them begins with `first`, and one ends in `last`.
    pub fn may_have(&self, first: u8, last: u8) -> bool {
        let may_be = |byte: u8, place: u8| self.ends[usize::from(byte)] & place != 0;
        may_be(first, BEGINS) && may_be(last, ENDS)
    }
}

/// `text` without the white space of ASCII at its ends.
pub fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t'..=b'\r', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'..=b'\r'] = text {
        text = rest;
    }
    text
}

/// Whether `text` is ASCII without control characters, white space apart: what the rules look at first.
pub fn is_visible(text: &[u8]) -> bool {
    text.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t'..=b'\r'))
}

/// Moves the digests of the values that are VALID to the front, and gives how many they are.
pub fn keep_valid(codes: &[i8], digests: &mut [u8], digest_bytes: usize) -> usize {
    let mut kept = 0;
    for row in codes.iter().enumerate().filter_map(|(row, code)| (*code == VALID).then_some(row)) {
        if row > kept {
            digests.copy_within(row * digest_bytes..(row + 1) * digest_bytes, kept * digest_bytes);
        }
        kept += 1;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_digests_come_to_the_front() {
        let mut digests = *b"aabbccdd";
        assert_eq!(keep_valid(&[VALID, PENDING, VALID, VALID], &mut digests, 2), 3);
        assert_eq!(digests[..6], *b"aaccdd");
    }

    #[test]
    fn texts_of_utf8_have_a_longest_one() {
        let data = "a\u{e9}bcd".as_bytes();
        for (offsets, longest) in [(&[0, 1, 3, 6][..], Some(3)), (&[], Some(0)), (&[0, 3, 3], Some(3))] {
            assert_eq!(Texts { offsets, data }.longest_in_utf8(), longest, "{offsets:?}");
        }
        for offsets in [[0, 2, 6], [0, 1, 7], [3, 1, 6], [-1, 0, 6], [0, 6, 2]] {
            assert_eq!(Texts { offsets: &offsets, data }.longest_in_utf8(), None, "{offsets:?}");
        }
        assert_eq!(Texts { offsets: &[0, 1], data: b"\xff" }.longest_in_utf8(), None);
    }

    #[test]
    fn windows_begin_where_texts_do() {
        let texts = Texts { offsets: &[0, 1, 4, 4], data: b"abbbc" };
        assert_eq!((texts.window(0), texts.window(1)), (Some(b"abbb"), Some(b"bbbc")));
        assert_eq!(texts.window::<4>(2), None);
    }

    #[test]
    fn words_are_found_among_those_that_ascend() {
        let words = Texts { offsets: &[0, 1, 3, 6], data: b"abbccc" };
        for (text, is_there) in [("a", true), ("bb", true), ("ccc", true), ("", false), ("b", false), ("d", false)] {
            assert_eq!(words.has(text.as_bytes()), is_there, "{text}");
        }
        assert!(!Texts { offsets: &[], data: b"" }.has(b"a"));
    }

    #[test]
    fn words_have_ends_of_their_own() {
        let words = || Texts { offsets: &[0, 0, 1, 3, 6], data: b"abbcdc" };
        for text in ["", "a", "bb", "cdc", "c", "b", "bc", "abb", "cbc", "ccc", "ab", "\u{e9}"] {
            assert_eq!(Words::new(words()).has(text.as_bytes()), words().has(text.as_bytes()), "{text}");
        }
        assert!(!Words::new(Texts { offsets: &[], data: b"" }).has(b""));
    }

    #[test]
    fn only_white_space_of_ascii_is_trimmed() {
        assert_eq!(trim(b" \t\n\x0b\x0c\ra b\r "), b"a b");
        assert_eq!(trim(b" \x1c"), b"\x1c");
        assert_eq!(trim(b"  "), b"");
    }
}
