//! Plain numbers of a few bytes, all of them read at once: most of most lists. `digits.rs` reads every text, byte by byte.

use crate::digits::Written;

pub const WINDOW: usize = 32;
/// The bytes of a text, and any behind them.
pub type Window = [u8; WINDOW];

/// Writes the digits of the first `size` bytes of `window` to `written`, as `read_digits` gives them. False leaves the text
/// to it: it may be no number, a doubtful one, a day, or have a tilde or a square bracket. Spaces around it are passed over.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn read_short(window: &Window, size: usize, written: &mut Written) -> bool {
    // SAFETY: the processor has the instructions.
    (1..=WINDOW).contains(&size) && x86::has_instructions() && unsafe { x86::read(window, size, written) }
}

#[cfg(not(target_arch = "x86_64"))]
pub fn read_short(_: &Window, _: usize, _: &mut Written) -> bool {
    false
}

/// The same of a text that stands alone.
pub fn read_alone(text: &[u8]) -> Option<Written> {
    let (mut window, mut written) = ([0; WINDOW], Written::NOTHING);
    window.get_mut(..text.len())?.copy_from_slice(text);
    read_short(&window, text.len(), &mut written).then_some(written)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Window, Written, WINDOW};
    use crate::columns::trim;
    use crate::digits::{is_day, DIGITS_OF_DAY, MAX_DIGITS, MIN_DIGITS, NO_DIGIT, ROOM, TWO_GROUPS, TWO_NUMBERS};
    use std::arch::x86_64::*;

    type Halves = [u8; 16];
    const EIGHT: usize = 8;

    // The classes of bytes, each a bit: a byte has those that both its halves have.
    const DIGIT: u8 = 1 << 0;
    const ZERO: u8 = 1 << 1;
    const SPACE: u8 = 1 << 2;
    const PLUS: u8 = 1 << 3;
    const SLASH: u8 = 1 << 4;
    const DOT: u8 = 1 << 5;
    const OPENING: u8 = 1 << 6;
    const OTHER: u8 = 1 << 7;

    const HIGH: Halves = {
        let mut classes = [0; 16];
        classes[0x2] = SPACE | PLUS | SLASH | DOT | OPENING | OTHER;
        classes[0x3] = DIGIT | ZERO;
        classes
    };
    const LOW: Halves = {
        let mut classes = [0; 16];
        let mut digit = 0;
        while digit < 10 {
            classes[digit] = DIGIT;
            digit += 1;
        }
        classes[0x0] |= ZERO | SPACE;
        classes[0x8] |= OPENING;
        classes[0x9] |= OTHER;
        classes[0xb] |= PLUS;
        classes[0xd] |= OTHER;
        classes[0xe] |= DOT;
        classes[0xf] |= SLASH;
        classes
    };

    const NONE: u8 = 0x80; // no place: the instruction writes a zero

    /// For the bits of eight bytes, the places of those that are set, in front.
    static CHOSEN: [[u8; EIGHT]; 256] = {
        let mut chosen = [[NONE; EIGHT]; 256];
        let mut bits = 0;
        while bits < chosen.len() {
            let (mut place, mut count) = (0, 0);
            while place < EIGHT {
                if bits >> place & 1 != 0 {
                    chosen[bits][count] = place as u8;
                    count += 1;
                }
                place += 1;
            }
            bits += 1;
        }
        chosen
    };

    /// Which bytes of a text have a certain meaning, a bit each.
    struct Places {
        digits: u32,
        zeros: u32,
        spaces: u32,
        pluses: u32,
        slashes: u32,
        dots: u32,
        /// `(`
        opening: u32,
        /// `)` and `-`
        others: u32,
    }

    impl Places {
        /// Whether a plus is in front, and whether two zeros are; None where the text may be no plain number.
        #[inline(always)]
        fn describe(&self, window: &Window, size: usize) -> Option<(bool, bool)> {
            let count = self.digits.count_ones() as usize;
            if !(MIN_DIGITS..=MAX_DIGITS).contains(&count) {
                return None;
            }
            let front = (!(self.opening | self.spaces)).trailing_zeros();
            let (pluses, zeros) = (self.pluses >> front & 0b11, self.zeros >> front & 0b11);
            let has_plus = pluses & 1 != 0;
            let own_pluses = if has_plus { pluses } else { 0 };
            let may_be_two = self.slashes != 0 && count >= TWO_NUMBERS || self.spaces != 0 && count >= TWO_GROUPS;
            if self.pluses != own_pluses << front || may_be_two || self.are_rounded() {
                return None;
            }
            let dividers = (self.slashes | self.dots | self.others).count_ones();
            if DIGITS_OF_DAY.contains(&count) && dividers > 1 && is_day(trim(&window[..size])) {
                return None;
            }
            Some((has_plus, zeros == 0b11))
        }

        /// Whether zeros at the end are decimal places.
        fn are_rounded(&self) -> bool {
            let signs = self.digits | self.pluses | self.slashes | self.dots | self.opening | self.others;
            let before_zeros = signs & !self.zeros;
            self.dots != 0 && self.dots.leading_zeros() == before_zeros.leading_zeros()
        }
    }

    pub fn has_instructions() -> bool {
        std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("popcnt")
            && std::is_x86_feature_detected!("bmi1")
    }

    /// The processor must have the instructions that are named; `size` is of 1 to WINDOW bytes.
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    pub unsafe fn read(window: &Window, size: usize, written: &mut Written) -> bool {
        // SAFETY: a window has 32 bytes, which need no alignment.
        let bytes = unsafe { _mm256_loadu_si256(window.as_ptr().cast()) };
        let low = _mm256_and_si256(bytes, _mm256_set1_epi8(0x0f));
        let high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0f));
        let classes = _mm256_and_si256(looked_up(&LOW, low), looked_up(&HIGH, high));
        let inside = u32::MAX >> (WINDOW - size);
        let unknown = _mm256_movemask_epi8(_mm256_cmpeq_epi8(classes, _mm256_setzero_si256())) as u32;
        if unknown & inside != 0 {
            return false;
        }
        let places = Places {
            digits: inside & places::<7>(classes),
            zeros: inside & places::<6>(classes),
            spaces: inside & places::<5>(classes),
            pluses: inside & places::<4>(classes),
            slashes: inside & places::<3>(classes),
            dots: inside & places::<2>(classes),
            opening: inside & places::<1>(classes),
            others: inside & places::<0>(classes),
        };
        let Some((has_plus, has_zeros)) = places.describe(window, size) else { return false };
        let count = places.digits.count_ones() as usize;
        *written = Written { count, has_plus, has_zeros, ..Written::NOTHING };
        choose(bytes, places.digits, &mut written.digits);
        true
    }

    /// Writes the bytes whose bits are set in `bits` to the front of `room`, which is full of NO_DIGIT.
    #[target_feature(enable = "avx2,popcnt,bmi1")]
    fn choose(bytes: __m256i, bits: u32, room: &mut [u8; ROOM]) {
        let mut count = 0;
        // Where no place is chosen there is a zero, which becomes NO_DIGIT.
        let bytes = _mm256_xor_si256(bytes, _mm256_set1_epi8(NO_DIGIT as i8));
        for (half, bits) in [(_mm256_castsi256_si128(bytes), bits), (_mm256_extracti128_si256(bytes, 1), bits >> 16)] {
            let (first, second) = (bits & 0xff, bits >> 8 & 0xff);
            let order = _mm_set_epi64x(
                i64::from_le_bytes(CHOSEN[second as usize]) | i64::from_le_bytes([EIGHT as u8; EIGHT]),
                i64::from_le_bytes(CHOSEN[first as usize]),
            );
            let moved = _mm_xor_si128(_mm_shuffle_epi8(half, order), _mm_set1_epi8(NO_DIGIT as i8));
            room[count..][..EIGHT].copy_from_slice(&_mm_cvtsi128_si64(moved).to_le_bytes());
            count += first.count_ones() as usize;
            room[count..][..EIGHT].copy_from_slice(&_mm_extract_epi64(moved, 1).to_le_bytes());
            count += second.count_ones() as usize;
        }
    }

    /// The bits of a class, which is the highest bit once all are moved up by `UP`.
    #[target_feature(enable = "avx2")]
    fn places<const UP: i32>(classes: __m256i) -> u32 {
        _mm256_movemask_epi8(_mm256_slli_epi16(classes, UP)) as u32
    }

    #[target_feature(enable = "avx2")]
    fn looked_up(bits: &Halves, at: __m256i) -> __m256i {
        // SAFETY: there are 16 bytes, which need no alignment.
        let bits = unsafe { _mm_loadu_si128(bits.as_ptr().cast()) };
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bits), at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::trim;
    use crate::digits::read_digits;

    #[test]
    fn plain_numbers_are_read_as_one_byte_after_the_other() {
        let mut seed = 7u64;
        let mut draw = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        for _ in 0..300_000 {
            let signs: &[u8] = [&b"0123456789"[..], b"0123456789 -().", b"+0012/.- ()[~x\x85\t"][draw(3)];
            let size = draw(WINDOW + 1);
            let front: &[u8] = [&b""[..], b"+", b"(+", b"00", b"++"][draw(5)];
            let text: Vec<u8> =
                front.iter().copied().chain((0..size).map(|_| signs[draw(signs.len())])).take(WINDOW).collect();
            let Some(written) = read_alone(&text) else { continue };
            let expected = read_digits(trim(&text)).filter(|written| !written.is_doubtful && !written.is_day);
            let expected = expected.unwrap_or_else(|| panic!("{text:?}"));
            assert_eq!(written.digits, expected.digits, "{text:?}");
            assert_eq!(
                (written.count, written.has_plus, written.has_zeros, written.extension, written.is_short),
                (expected.count, expected.has_plus, expected.has_zeros, expected.extension, expected.is_short),
                "{text:?}"
            );
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn usual_numbers_are_read_at_once() {
        for text in [
            "+49 (30) 123-4567",
            " (+1) 415.555.0132 ",
            "0049/30 1234568",
            "123",
            "12 34 56 78",
            "++49 30 1234567",
            "+123456789012345678901234567890",
        ] {
            assert_eq!(read_alone(text.as_bytes()).is_some(), x86::has_instructions(), "{text}");
        }
        for text in ["", "12", "tel:0301234567", "+49 30 123~4567", "4155550132.00", "31.12.1980", "1+2345", "   "] {
            assert!(read_alone(text.as_bytes()).is_none(), "{text}");
        }
        assert!(read_alone(&[b'1'; WINDOW + 1]).is_none());
    }

    #[test]
    fn bytes_behind_a_text_are_not_its_own() {
        let mut written = Written::NOTHING;
        if read_short(b"+1 201 555 0123tel:9999999999999", 15, &mut written) {
            assert_eq!(&written.digits[..written.count], b"12015550123");
            assert!(written.digits[written.count..].iter().all(|&sign| sign == crate::digits::NO_DIGIT));
        }
    }
}
