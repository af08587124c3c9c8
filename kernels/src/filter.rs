//! A filter of keys: some bits of the hash of each, kept twice over.
#![forbid(unsafe_code)]

use crate::sha256::DIGEST_BYTES;

/// Bits by the first four bytes of a hash, and by the four after them; of each kind a power of two. The first are few, so
/// that they lie near; the second rule out nearly all that pass them.
pub struct Filter<'a> {
    pub near: &'a [u8],
    pub far: &'a [u8],
}

impl Filter<'_> {
    /// The places of those of `hashes` whose bits are set, in `places`; how many they are.
    pub fn find_likely(&self, hashes: &[u8], places: &mut [i64]) -> usize {
        assert!(self.near.len().is_power_of_two() && self.far.len().is_power_of_two());
        let mut count = 0;
        for (place, hash) in hashes.as_chunks::<DIGEST_BYTES>().0.iter().enumerate() {
            let [first, second, ..] = hash.as_chunks::<4>().0 else { unreachable!("a hash is longer") };
            if is_set(self.near, u32::from_le_bytes(*first)) && is_set(self.far, u32::from_le_bytes(*second)) {
                places[count] = place as i64;
                count += 1;
            }
        }
        count
    }
}

fn is_set(bits: &[u8], number: u32) -> bool {
    bits[(number as usize / 8) & (bits.len() - 1)] >> (number % 8) & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashes_with_both_bits_are_likely() {
        let mut hashes = [0; 4 * DIGEST_BYTES];
        for (row, (first, second)) in [(9, 3), (9, 2), (8, 3), (25, 11)].into_iter().enumerate() {
            hashes[row * DIGEST_BYTES] = first;
            hashes[row * DIGEST_BYTES + 4] = second;
        }
        let mut places = [-1; 4];
        // Nine of sixteen and three of eight: of larger numbers the last bits count.
        assert_eq!(Filter { near: &[0, 2], far: &[8] }.find_likely(&hashes, &mut places), 2);
        assert_eq!(places[..2], [0, 3]);
    }
}
