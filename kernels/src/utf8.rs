//! Whether whole columns are UTF-8, a block at a time: the standard library reads letters that are not ASCII one by one.
//!
//! Two bytes side by side tell almost all that may be wrong (Unicode, section 3.9, table 3-7), and half a byte of each is
//! looked up; where two bytes more belong to a character, the first of three or four tells. The method is that of
//! J. Keiser and D. Lemire, "Validating UTF-8 in less than one instruction per byte" (2021).

/// Whether `bytes` are UTF-8.
pub fn is_utf8(bytes: &[u8]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has these instructions.
        return unsafe { x86::is_utf8(bytes) };
    }
    std::str::from_utf8(bytes).is_ok()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    const BLOCK: usize = 32;
    type Halves = [u8; 16];

    // The faults, each a bit: of two bytes they are those that both halves of the first and the first half of the second have.
    const TOO_SHORT: u8 = 1 << 0; // a first byte, and none that goes on
    const TOO_LONG: u8 = 1 << 1; // ASCII, and one that goes on
    const OVERLONG_3: u8 = 1 << 2; // three bytes for a character of two
    const TOO_LARGE: u8 = 1 << 3; // beyond the last code point
    const SURROGATE: u8 = 1 << 4;
    const OVERLONG_2: u8 = 1 << 5;
    const TOO_LARGE_OR_OVERLONG_4: u8 = 1 << 6;
    const TWO_GO_ON: u8 = 1 << 7; // no fault behind the first of three or four bytes
    const ANY: u8 = TOO_SHORT | TOO_LONG | TWO_GO_ON;

    const FIRST_HIGH: Halves = halves(&[
        (0x0, 0x7, TOO_LONG),
        (0x8, 0xb, TWO_GO_ON),
        (0xc, 0xc, TOO_SHORT | OVERLONG_2),
        (0xd, 0xd, TOO_SHORT),
        (0xe, 0xe, TOO_SHORT | OVERLONG_3 | SURROGATE),
        (0xf, 0xf, TOO_SHORT | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4),
    ]);
    const FIRST_LOW: Halves = halves(&[
        (0x0, 0xf, ANY),
        (0x0, 0x0, OVERLONG_3 | TOO_LARGE_OR_OVERLONG_4),
        (0x0, 0x1, OVERLONG_2),
        (0x4, 0xf, TOO_LARGE),
        (0x5, 0xf, TOO_LARGE_OR_OVERLONG_4),
        (0xd, 0xd, SURROGATE),
    ]);
    const SECOND_HIGH: Halves = halves(&[
        (0x0, 0x7, TOO_SHORT),
        (0x8, 0xb, TOO_LONG | OVERLONG_2 | TWO_GO_ON),
        (0x8, 0x8, OVERLONG_3 | TOO_LARGE_OR_OVERLONG_4),
        (0x9, 0x9, OVERLONG_3 | TOO_LARGE),
        (0xa, 0xb, SURROGATE | TOO_LARGE),
        (0xc, 0xf, TOO_SHORT),
    ]);

    /// The bits of each half byte, of the ranges that it is in.
    const fn halves(ranges: &[(usize, usize, u8)]) -> Halves {
        let mut bits = [0; 16];
        let mut at = 0;
        while at < ranges.len() {
            let (mut half, last, added) = ranges[at];
            while half <= last {
                bits[half] |= added;
                half += 1;
            }
            at += 1;
        }
        bits
    }

    /// The processor must have the instructions that are named.
    #[target_feature(enable = "avx2")]
    pub unsafe fn is_utf8(bytes: &[u8]) -> bool {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        // Zeros behind the text: a character that has not ended there is too short.
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let (mut before, mut wrong) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        for block in blocks.iter().chain([&last]) {
            // SAFETY: a block has 32 bytes, which need no alignment.
            let block = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
            // Of a block of ASCII behind another one nothing can be wrong.
            if _mm256_movemask_epi8(_mm256_or_si256(block, before)) != 0 {
                wrong = _mm256_or_si256(wrong, faults(block, before));
            }
            before = block;
        }
        _mm256_testz_si256(wrong, wrong) != 0
    }

    /// Zero for each byte of `block` with which nothing is wrong. `before` is the block before it.
    #[target_feature(enable = "avx2")]
    fn faults(block: __m256i, before: __m256i) -> __m256i {
        // The last half of one and the first of the other: bytes move within halves only.
        let between = _mm256_permute2x128_si256(before, block, 0x21);
        let first = _mm256_alignr_epi8(block, between, 15);
        let of_two = _mm256_and_si256(
            _mm256_and_si256(looked_up(&FIRST_HIGH, high(first)), looked_up(&FIRST_LOW, low(first))),
            looked_up(&SECOND_HIGH, high(block)),
        );
        // The highest bit stays where the second byte before is the first of three or four, and the third one of four.
        let third = _mm256_subs_epu8(_mm256_alignr_epi8(block, between, 14), byte(0xe0 - 0x80));
        let fourth = _mm256_subs_epu8(_mm256_alignr_epi8(block, between, 13), byte(0xf0 - 0x80));
        let goes_on = _mm256_and_si256(_mm256_or_si256(third, fourth), byte(TWO_GO_ON));
        _mm256_xor_si256(of_two, goes_on)
    }

    #[target_feature(enable = "avx2")]
    fn looked_up(bits: &Halves, at: __m256i) -> __m256i {
        // SAFETY: there are 16 bytes, which need no alignment.
        let bits = unsafe { _mm_loadu_si128(bits.as_ptr().cast()) };
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bits), at)
    }

    #[target_feature(enable = "avx2")]
    fn high(bytes: __m256i) -> __m256i {
        _mm256_and_si256(_mm256_srli_epi16(bytes, 4), byte(0x0f))
    }

    #[target_feature(enable = "avx2")]
    fn low(bytes: __m256i) -> __m256i {
        _mm256_and_si256(bytes, byte(0x0f))
    }

    #[target_feature(enable = "avx2")]
    fn byte(value: u8) -> __m256i {
        _mm256_set1_epi8(value as i8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes at both ends of every range of the table.
    const BYTES: [u8; 27] = [
        0x00, 0x41, 0x7f, 0x80, 0x81, 0x8f, 0x90, 0x91, 0x9f, 0xa0, 0xa1, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1,
        0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5,
    ];

    #[test]
    fn four_bytes_are_judged_as_the_standard_library_does() {
        for number in 0..BYTES.len().pow(4) {
            let four = [0, 1, 2, 3].map(|place| BYTES[number / BYTES.len().pow(place) % BYTES.len()]);
            assert_eq!(is_utf8(&four), std::str::from_utf8(&four).is_ok(), "{four:x?}");
        }
    }

    #[test]
    fn characters_are_judged_wherever_blocks_end() {
        for character in ["a", "\u{e9}", "\u{20ac}", "\u{10348}"] {
            let whole = character.as_bytes();
            for before in 0..100 {
                for cut in 0..whole.len() {
                    for behind in [0, 1, 40] {
                        let text = [&vec![b'x'; before], &whole[..whole.len() - cut], &vec![b'y'; behind]].concat();
                        assert_eq!(is_utf8(&text), cut == 0, "{text:x?}");
                        let text = [&vec![b'x'; before], &whole[cut..], &vec![b'y'; behind]].concat();
                        assert_eq!(is_utf8(&text), cut == 0, "{text:x?}");
                    }
                }
            }
        }
        assert!(is_utf8(b""));
    }

    #[test]
    fn letters_of_any_size_may_follow_each_other() {
        let letters: Vec<char> = (0..=0x10ffff).step_by(7).filter_map(char::from_u32).collect();
        let text: String = letters.iter().chain(letters.iter().rev()).collect();
        assert!(is_utf8(text.as_bytes()));
        for place in (0..text.len()).step_by(9_973) {
            let mut bytes = text.clone().into_bytes();
            bytes[place] ^= 0x80;
            assert_eq!(is_utf8(&bytes), std::str::from_utf8(&bytes).is_ok(), "{place}");
        }
    }
}
