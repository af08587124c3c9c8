//! A short text in lower case as one block, and where its signs stand: a bit of a word for each byte. So a plain address is
//! known without a loop, whose end cannot be foreseen.

use crate::classes::{class_of, ATOM, DIGIT, HYPHEN, LETTER};
use crate::letters::{beginnings, bits, Block, BLOCK};
use std::ops::Range;

/// The longest text, in bytes. No part of an address that is not longer is too long.
pub const MOST_BYTES: usize = BLOCK - 1;

pub struct Outline {
    /// The text, and zeros behind it.
    pub block: Block,
    pub size: usize,
    ats: u64,
    dots: u64,
    hyphens: u64,
    asterisks: u64,
    /// Those of ASCII.
    letters: u64,
    /// Letters and digits.
    names: u64,
    /// Signs of ASCII that may stand between the dots of a local part.
    atoms: u64,
    /// Bytes beyond ASCII.
    foreign: u64,
}

impl Outline {
    /// That of `text`, a part of `data`, in lower case; None for a longer one than MOST_BYTES.
    #[inline(always)]
    pub fn of(text: &[u8], data: &[u8]) -> Option<Self> {
        if text.len() > MOST_BYTES {
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        if x86::has_instructions() {
            // SAFETY: the processor has them.
            return Some(unsafe { x86::of(text, data) });
        }
        Some(Self::of_portably(text, data))
    }

    fn of_portably(text: &[u8], data: &[u8]) -> Self {
        let mut block = front(text, data);
        block.make_ascii_lowercase();
        let places = |is_meant: fn(u8) -> bool| {
            block.iter().rev().fold(0, |places, &byte| places << 1 | u64::from(is_meant(byte)))
        };
        Self {
            ats: bits(&block, b'@'),
            dots: bits(&block, b'.'),
            hyphens: bits(&block, b'-'),
            asterisks: bits(&block, b'*'),
            letters: places(|byte| class_of(byte) == LETTER),
            names: places(|byte| matches!(class_of(byte), LETTER | DIGIT)),
            atoms: places(is_atom),
            foreign: places(|byte| !byte.is_ascii()),
            block,
            size: text.len(),
        }
    }

    pub fn text(&self) -> &[u8] {
        &self.block[..self.size]
    }

    /// Where the first at sign stands.
    pub fn at(&self) -> Option<usize> {
        (self.ats != 0).then(|| self.ats.trailing_zeros() as usize)
    }

    pub fn has_one_at(&self) -> bool {
        self.ats.is_power_of_two()
    }

    pub fn has_asterisk(&self) -> bool {
        self.asterisks != 0
    }

    pub fn is_ascii(&self, part: Range<usize>) -> bool {
        self.foreign & bits_of(part) == 0
    }

    /// The places in `part` at which characters begin.
    pub fn beginnings(&self, part: Range<usize>) -> u64 {
        beginnings(&self.block) & bits_of(part)
    }

    /// Where the at sign stands of a plain address, a local part without asterisks at a plain domain; None for every other
    /// text.
    pub fn at_of_plain(&self) -> Option<usize> {
        let at = self.at()?;
        let is_plain = (self.foreign | self.asterisks == 0) & self.has_local(at) & self.has_plain_domain(at);
        is_plain.then_some(at)
    }

    /// Whether atoms, of ASCII or not, with single dots between them stand before `at`.
    pub fn has_local(&self, at: usize) -> bool {
        let local = bits_of(0..at);
        let borders = self.dots & local | 1 << at;
        let wrong = (local & !(self.atoms | self.foreign | borders)) | (borders & (borders << 1 | 1));
        wrong == 0
    }

    /// Whether two labels or more with single hyphens stand behind `at`, the last of which is two letters or more.
    pub fn has_plain_domain(&self, at: usize) -> bool {
        let domain = bits_of(at + 1..self.size);
        let (dots, hyphens) = (self.dots & domain, self.hyphens & domain);
        let borders = dots | 1 << at;
        let top = domain & !(u64::MAX >> borders.leading_zeros());
        let wrong = (domain & !(self.names | dots | hyphens))
            | (borders & borders << 1)
            | (hyphens & ((hyphens | borders) << 1 | borders >> 1))
            | (top & !self.letters);
        (wrong == 0) & (dots != 0) & (top & top.wrapping_sub(1) != 0)
    }
}

/// The bits of the bytes in `part` of a text.
fn bits_of(part: Range<usize>) -> u64 {
    (1 << part.end) - (1 << part.start)
}

const fn is_atom(byte: u8) -> bool {
    matches!(class_of(byte), LETTER | DIGIT | HYPHEN | ATOM)
}

/// A block of `text`, a part of `data`, and of zeros behind it.
#[inline(always)]
fn front(text: &[u8], data: &[u8]) -> Block {
    let begin = (text.as_ptr() as usize).wrapping_sub(data.as_ptr() as usize);
    let Some(block) = data.get(begin..).and_then(<[u8]>::first_chunk::<BLOCK>) else {
        let mut block = [0; BLOCK];
        block[..text.len()].copy_from_slice(text);
        return block;
    };
    // So many bytes are copied sooner than as many as there are.
    let (mut block, size) = (*block, text.len() as u8);
    for (place, byte) in (0..).zip(&mut block) {
        *byte &= if place < size { 0xff } else { 0 };
    }
    block
}

/// The same with instructions that look up 32 bytes at a time.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{front, is_atom, Outline};
    use std::arch::x86_64::*;

    const HALF: usize = 32;
    const ROWS: usize = 8;
    type Table = [u8; 16];

    /// By the last half of a byte, the first halves with which it is an atom: a bit for each of them.
    const ATOMS: Table = {
        let (mut rows, mut byte) = ([0; 16], 0);
        while byte < 16 * ROWS {
            if is_atom(byte as u8) {
                rows[byte % 16] |= 1 << (byte / 16);
            }
            byte += 1;
        }
        rows
    };
    /// The bit of each first half. There is none for those of bytes beyond ASCII.
    const ROW_BITS: Table = [1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 0, 0, 0, 0, 0, 0, 0, 0];

    pub fn has_instructions() -> bool {
        std::is_x86_feature_detected!("avx2")
    }

    /// The processor must have the instructions that are named.
    #[target_feature(enable = "avx2")]
    pub unsafe fn of(text: &[u8], data: &[u8]) -> Outline {
        let (block, size) = (front(text, data), text.len());
        let [ats, dots, hyphens, asterisks, letters, names, atoms, foreign] = [0; 8];
        let mut outline = Outline { block, size, ats, dots, hyphens, asterisks, letters, names, atoms, foreign };
        for (number, half) in outline.block.as_chunks_mut::<HALF>().0.iter_mut().enumerate() {
            // SAFETY: a half has 32 bytes, which need no alignment.
            let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            let lowered = _mm256_or_si256(bytes, _mm256_and_si256(within(bytes, b'A', b'Z'), all(b'a' - b'A')));
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), lowered) };
            let letters = within(lowered, b'a', b'z');
            let names = _mm256_or_si256(letters, within(lowered, b'0', b'9'));
            let row = _mm256_and_si256(_mm256_srli_epi16(lowered, 4), all(0x0f));
            let row_bit = looked_up(&ROW_BITS, row);
            let atoms = _mm256_and_si256(looked_up(&ATOMS, lowered), row_bit);
            let places = |bytes| u64::from(_mm256_movemask_epi8(bytes) as u32) << (number * HALF);
            outline.ats |= places(_mm256_cmpeq_epi8(lowered, all(b'@')));
            outline.dots |= places(_mm256_cmpeq_epi8(lowered, all(b'.')));
            outline.hyphens |= places(_mm256_cmpeq_epi8(lowered, all(b'-')));
            outline.asterisks |= places(_mm256_cmpeq_epi8(lowered, all(b'*')));
            outline.letters |= places(letters);
            outline.names |= places(names);
            outline.atoms |= places(_mm256_cmpgt_epi8(_mm256_min_epu8(atoms, all(1)), all(0)));
            outline.foreign |= places(lowered);
        }
        outline
    }

    /// All bits of each byte from `first` to `last`, which are ASCII.
    #[target_feature(enable = "avx2")]
    fn within(bytes: __m256i, first: u8, last: u8) -> __m256i {
        _mm256_and_si256(_mm256_cmpgt_epi8(bytes, all(first - 1)), _mm256_cmpgt_epi8(all(last + 1), bytes))
    }

    /// By the last half of each byte; zero for those beyond ASCII.
    #[target_feature(enable = "avx2")]
    fn looked_up(table: &Table, at: __m256i) -> __m256i {
        // SAFETY: there are 16 bytes, which need no alignment.
        let table = unsafe { _mm_loadu_si128(table.as_ptr().cast()) };
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), at)
    }

    #[target_feature(enable = "avx2")]
    fn all(byte: u8) -> __m256i {
        _mm256_set1_epi8(byte as i8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ascii::{
        is_plain,
        tests::{NOT_PLAIN, PLAIN},
    };

    fn at_of_plain(text: &[u8]) -> Option<usize> {
        Outline::of(text, text).unwrap().at_of_plain()
    }

    #[test]
    fn only_plain_addresses_have_the_place_of_their_sign() {
        for text in PLAIN {
            assert_eq!(at_of_plain(text.as_bytes()), text.find('@'), "{text}");
        }
        for text in NOT_PLAIN {
            let lowered = Outline::of(text.as_bytes(), &[]).unwrap();
            assert_eq!(lowered.at_of_plain(), (text == "A@b.cd").then_some(1), "{text}");
        }
    }

    #[test]
    fn texts_at_random_are_plain_where_they_are_read_so() {
        let (mut seed, mut plain) = (5u64, 0);
        for round in 0..200_000 {
            let mut next = |count: usize| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) as usize % count
            };
            let mut text: Vec<u8> = (0..next(7)).map(|_| b"ab1.-_@*"[next(8)]).collect();
            text.push(b'@');
            text.extend((0..next(8)).map(|_| b"ab1.-ba.@"[next(9)]));
            text.extend(&b".example"[..[0, 3, 8][round % 3]]);
            plain += usize::from(at_of_plain(&text).is_some());
            assert_eq!(at_of_plain(&text).is_some(), is_plain(&text), "{text:?}");
        }
        assert!(plain > 1_000);
    }

    #[test]
    fn bytes_have_their_classes_either_way_wherever_the_text_stands() {
        let data: Vec<u8> = (0..=255).chain(b' '..=b'z').collect();
        for begin in 0..data.len() {
            for size in [0, 1, 31, 32, 33, 62, 63] {
                let text = &data[begin..data.len().min(begin + size)];
                let (one, other) = (Outline::of(text, &data).unwrap(), Outline::of_portably(text, &data));
                assert_eq!(one.text(), text.to_ascii_lowercase());
                assert_eq!(
                    (one.block, one.ats, one.dots, one.hyphens),
                    (other.block, other.ats, other.dots, other.hyphens)
                );
                assert_eq!((one.letters, one.names, one.atoms), (other.letters, other.names, other.atoms));
                assert_eq!((one.asterisks, one.foreign), (other.asterisks, other.foreign));
            }
        }
        assert!(Outline::of(&data[..64], &data).is_none());
    }
}
