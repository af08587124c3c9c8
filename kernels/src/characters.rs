//! Short texts of UTF-8 as code points. Which characters have how many bytes cannot be foreseen in letters of any script:
//! so none is asked, and each is read as if it had all of them.
#![forbid(unsafe_code)]

use crate::letters::{beginnings, note, Block, BLOCK};
use std::ops::Range;

/// The longest text that is read, in bytes.
pub const MOST_BYTES: usize = 4 * BLOCK;
const WIDEST: usize = 4; // bytes of a character

/// Code points of one text after another.
pub struct Characters {
    codes: [u32; MOST_BYTES],
    /// Of the last text: its bytes, and where its characters begin. Behind them stands what is left of another one.
    bytes: [u8; MOST_BYTES + BLOCK],
    places: [u32; MOST_BYTES + BLOCK],
    count: usize,
}

impl Characters {
    pub fn new() -> Self {
        Self { codes: [0; MOST_BYTES], bytes: [0; MOST_BYTES + BLOCK], places: [0; MOST_BYTES + BLOCK], count: 0 }
    }

    /// Those of `text`; None for a longer one than MOST_BYTES, and for what is not UTF-8. Some may be no characters: of
    /// surrogates, and beyond the last one.
    pub fn read(&mut self, text: &[u8]) -> Option<&[u32]> {
        let Self { bytes, places, .. } = self;
        bytes.get_mut(..text.len()).filter(|bytes| bytes.len() <= MOST_BYTES)?.copy_from_slice(text);
        bytes[text.len()..][..BLOCK].fill(0);
        let mut count = 0;
        for (number, block) in bytes.as_chunks::<BLOCK>().0[..text.len().div_ceil(BLOCK)].iter().enumerate() {
            let room = places[count..].first_chunk_mut()?;
            count += note(beginnings(block), (number * BLOCK) as u32, room);
        }
        // Behind the text are zeros, each of which begins one.
        let count = count - (text.len().next_multiple_of(BLOCK) - text.len());
        self.decode(count, 0..text.len())
    }

    /// The same of a `part` of a text at the front of `block`, in which characters begin at the places of some bits.
    pub fn read_short(&mut self, block: &Block, beginnings: u64, part: Range<usize>) -> Option<&[u32]> {
        *self.bytes.first_chunk_mut()? = *block;
        let count = note(beginnings, 0, self.places.first_chunk_mut()?);
        self.decode(count, part)
    }

    /// The `count` characters that begin at the noted places in `part` of the bytes; None where these are not all of it.
    fn decode(&mut self, count: usize, part: Range<usize>) -> Option<&[u32]> {
        let Self { codes, bytes, places, .. } = self;
        places[count] = part.end as u32;
        let mut wrong = u32::from(places[0] != part.start as u32);
        for (code, ends) in codes.iter_mut().zip(places[..=count].windows(2)) {
            let at = ends[0] as usize % MOST_BYTES;
            let of: [u8; WIDEST] = std::array::from_fn(|place| bytes[at + place]);
            let form = &FORMS[usize::from(of[0] >> 3)];
            // The last bits of each byte, then of both halves, one behind the other.
            let bits = u32::from_be_bytes(of) & form.bits;
            let halves = bits & 0x003f_003f | (bits & 0x7f00_3f00) >> 2;
            *code = (halves & 0xfff | halves >> 4 & 0x01ff_f000) >> form.shift;
            wrong |= ((ends[1] - ends[0]) ^ form.bytes) | code.wrapping_sub(form.least) >> 31;
        }
        self.count = count;
        (wrong == 0).then_some(self.last())
    }

    /// Those of the last text that was read.
    pub fn last(&self) -> &[u32] {
        &self.codes[..self.count]
    }
}

/// How characters of one size are written.
struct Form {
    bytes: u32,
    /// Those that tell which it is.
    bits: u32,
    shift: u32,
    least: u32,
}

/// By the first five bits.
static FORMS: [Form; 32] = {
    let mut forms = [const { Form { bytes: 0, bits: 0, shift: 0, least: 0 } }; 32];
    let mut begin = 0;
    while begin < forms.len() {
        forms[begin] = match begin {
            0b00000..=0b01111 => Form { bytes: 1, bits: 0x7f00_0000, shift: 18, least: 0 },
            0b11000..=0b11011 => Form { bytes: 2, bits: 0x1f3f_0000, shift: 12, least: 0x80 },
            0b11100..=0b11101 => Form { bytes: 3, bits: 0x0f3f_3f00, shift: 6, least: 0x800 },
            0b11110 => Form { bytes: 4, bits: 0x073f_3f3f, shift: 0, least: 0x1_0000 },
            _ => Form { bytes: 0, bits: 0, shift: 0, least: 0 }, // nothing begins so
        };
        begin += 1;
    }
    forms
};

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Option<Vec<u32>> {
        let codes = Characters::new().read(text)?.to_vec();
        codes.iter().all(|&code| char::from_u32(code).is_some()).then_some(codes)
    }

    fn standards_own(text: &[u8]) -> Option<Vec<u32>> {
        std::str::from_utf8(text).ok().map(|text| text.chars().map(u32::from).collect())
    }

    #[test]
    fn every_character_is_read() {
        for first in (0..=0x10_ffff).step_by(50) {
            let text: String = (first..first + 50).filter_map(char::from_u32).collect();
            let codes: Vec<u32> = text.chars().map(u32::from).collect();
            assert_eq!(read(text.as_bytes()), Some(codes));
        }
    }

    #[test]
    fn bytes_at_random_are_read_as_the_standard_library_reads_them() {
        let bytes = [0x00, 0x61, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc3, 0xdf];
        let bytes = [&bytes[..], &[0xe0, 0xe4, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xf7, 0xf8, 0xff]].concat();
        let (mut seed, mut whole) = (3u64, 0);
        for round in 0..80_000 {
            let mut next = |count: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) as usize % count
            };
            let mut text = vec![b'a'; [0, 60, 126, 200][round % 4]];
            text.extend((0..next(6)).map(|_| bytes[next(bytes.len())]));
            whole += usize::from(std::str::from_utf8(&text).is_ok());
            assert_eq!(read(&text), standards_own(&text), "{text:x?}");
        }
        assert!(whole > 10_000);
    }

    #[test]
    fn no_longer_text_is_read() {
        for size in [0, 1, 63, 64, 65, 255, 256, 257, 300, 9_999] {
            let text = "a".repeat(size);
            assert_eq!(read(text.as_bytes()).is_some(), size <= MOST_BYTES, "{size}");
        }
    }
}
