//! A text as blocks of 64 bytes: which of them are a certain letter, in the bits of a word, and where they stand.

pub const BLOCK: usize = 64;
pub type Block = [u8; BLOCK];

/// Bit n is set where byte n of `block` is `letter`.
#[inline(always)]
pub fn bits(block: &Block, letter: u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    return x86::bits(block, letter);
    #[cfg(not(target_arch = "x86_64"))]
    bits_portably(block, letter)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn bits_portably(block: &Block, letter: u8) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = 0x7f * ONES;
    // The product brings the lowest bits of eight bytes together in the highest byte.
    const TOGETHER: u64 = 0x0102_0408_1020_4080;
    let mut bits = 0;
    for (place, eight) in block.as_chunks::<8>().0.iter().enumerate() {
        let differing = u64::from_le_bytes(*eight) ^ (ONES * u64::from(letter));
        let equal = !(((differing & LOW) + LOW) | differing | LOW) >> 7;
        bits |= (equal.wrapping_mul(TOGETHER) >> 56) << (8 * place);
    }
    bits
}

/// Bit n is set where byte n of `block` begins a character of UTF-8.
#[inline(always)]
pub fn beginnings(block: &Block) -> u64 {
    #[cfg(target_arch = "x86_64")]
    return x86::beginnings(block);
    #[cfg(not(target_arch = "x86_64"))]
    beginnings_portably(block)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn beginnings_portably(block: &Block) -> u64 {
    block.iter().rev().fold(0, |bits, &byte| bits << 1 | u64::from(byte as i8 > LAST_CONTINUING))
}

/// As a number with a sign, the greatest byte that goes on with a character.
const LAST_CONTINUING: i8 = 0xbfu8 as i8;

/// Bit n says whether an odd number of bits up to and with n are set.
pub fn parities(mut bits: u64) -> u64 {
    for step in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << step;
    }
    bits
}

/// Writes the place of each bit, `begin` for the lowest, to the front of `places`, and gives how many they are. There is
/// room for all 64, and behind those that are meant may stand anything.
#[inline(always)]
pub fn note(mut bits: u64, begin: u32, places: &mut [u32; BLOCK]) -> usize {
    // So many at a time: to ask after each would often be answered wrongly in advance.
    const AT_ONCE: usize = 8;
    let count = bits.count_ones() as usize;
    for some in places.as_chunks_mut::<AT_ONCE>().0 {
        for place in some {
            *place = begin.wrapping_add(bits.trailing_zeros());
            bits &= bits.wrapping_sub(1);
        }
        if bits == 0 {
            break;
        }
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Block;
    use std::arch::x86_64::*;

    #[inline(always)]
    pub fn beginnings(block: &Block) -> u64 {
        let quarter = |place: usize| {
            // SAFETY: as below.
            let greater = unsafe {
                let bytes = _mm_loadu_si128(block.as_ptr().cast::<__m128i>().add(place));
                _mm_movemask_epi8(_mm_cmpgt_epi8(bytes, _mm_set1_epi8(super::LAST_CONTINUING)))
            };
            u64::from(greater as u32) << (16 * place)
        };
        quarter(0) | quarter(1) | quarter(2) | quarter(3)
    }

    #[inline(always)]
    pub fn bits(block: &Block, letter: u8) -> u64 {
        let quarter = |place: usize| {
            // SAFETY: a block has four times 16 bytes, which need no alignment; all of these processors have SSE2.
            let equal = unsafe {
                let bytes = _mm_loadu_si128(block.as_ptr().cast::<__m128i>().add(place));
                _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(letter as i8)))
            };
            u64::from(equal as u32) << (16 * place)
        };
        quarter(0) | quarter(1) | quarter(2) | quarter(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_where_the_letter_stands_either_way() {
        let mut seed = 7u64;
        for _ in 0..2_000 {
            let block: Block = std::array::from_fn(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                [0, 1, b'\n', b'"', b',', b'-', 0x7f, 0x80, 0x8a, 0xac, 0xff][(seed >> 40) as usize % 11]
            });
            for letter in [0, b'\n', b'"', b',', 0x7f] {
                let expected = (0..BLOCK).fold(0, |bits, place| bits | u64::from(block[place] == letter) << place);
                assert_eq!((bits(&block, letter), bits_portably(&block, letter)), (expected, expected));
            }
            let begun = (0..BLOCK).fold(0, |bits, place| bits | u64::from(block[place] & 0xc0 != 0x80) << place);
            assert_eq!((beginnings(&block), beginnings_portably(&block)), (begun, begun));
        }
    }

    #[test]
    fn parities_change_behind_every_bit() {
        assert_eq!(parities(0b0100_1001), 0b111 | u64::MAX << 6);
        assert_eq!(parities(0), 0);
        assert_eq!(parities(1), u64::MAX);
    }

    #[test]
    fn places_are_those_of_the_bits() {
        for bits in [0, 1, 1 << 63, 0b1011, u64::MAX, 0x5555_5555_5555_5555] {
            let mut places = [0; BLOCK];
            let count = note(bits, 100, &mut places);
            let expected: Vec<u32> = (0..64).filter(|place| bits >> place & 1 == 1).map(|place| 100 + place).collect();
            assert_eq!(places[..count], expected);
        }
    }
}
