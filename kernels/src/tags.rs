//! Tags of keys before they are encrypted, and tags of sets. What stands in memory is little-endian.
#![forbid(unsafe_code)]

use crate::sha256::DIGEST_BYTES;

pub const TAG_BYTES: usize = 16;

/// The high and the low half of its 128 bits.
pub type Tag = [u64; 2];

/// Puts the first half of each of `hashes`, with `mask` upon it, into `halves`.
pub fn halve(hashes: &[u8], mask: &[u8], halves: &mut [u8]) {
    let (hashes, halves) = (hashes.as_chunks::<DIGEST_BYTES>().0, halves.as_chunks_mut::<TAG_BYTES>().0);
    assert_eq!(hashes.len(), halves.len());
    let mask = u128::from_ne_bytes(mask.try_into().expect("a mask is as long as a tag"));
    for (half, hash) in halves.iter_mut().zip(hashes) {
        *half = (u128::from_ne_bytes(*hash.first_chunk().expect("a hash is longer")) ^ mask).to_ne_bytes();
    }
}

/// The tags of the keys of one kind, at least one, and where those of each record begin, and where the last end, counted
/// from the first number on.
struct OfKind<'a> {
    offsets: &'a [i32],
    tags: &'a [Tag],
}

/// Writes the sum of the tags of each record's keys to `sums`. `tags` are those of all kinds, one kind after the other;
/// `kinds` says of each where in its tags those of each record begin, and where the last end.
pub fn add_up(mut tags: &[Tag], kinds: &[&[i32]], sums: &mut [Tag]) {
    let mut of_kinds = Vec::with_capacity(kinds.len());
    for &offsets in kinds {
        assert_eq!(offsets.len(), sums.len() + 1);
        let (own, others) = tags.split_at((offsets[sums.len()] - offsets[0]) as usize);
        if !own.is_empty() {
            of_kinds.push(OfKind { offsets, tags: own });
        }
        tags = others;
    }
    for (record, sum) in sums.iter_mut().enumerate() {
        let mut halves = [0u64; 2];
        for OfKind { offsets, tags } in &of_kinds {
            let [begin, end] = [record, record + 1].map(|place| (offsets[place] - offsets[0]) as usize);
            let own = &tags[begin..end];
            // The processor cannot guess whether there is one. So the first is added without a branch, masked to zero
            // where there is none: this costs less than a wrong guess. Further ones are seldom.
            let (first, mask) = (&tags[begin.min(tags.len() - 1)], u64::from(begin < end).wrapping_neg());
            halves = [0, 1].map(|half| halves[half].wrapping_add(u64::from_le(first[half]) & mask));
            for tag in own.iter().skip(1) {
                halves = [0, 1].map(|half| halves[half].wrapping_add(u64::from_le(tag[half])));
            }
        }
        *sum = halves.map(u64::to_le);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_half_of_a_hash_is_masked() {
        let (hashes, mut halves) = ([[7; 16], [9; 16], [1; 16], [9; 16]].concat(), [0; 32]);
        halve(&hashes, &[5; 16], &mut halves);
        assert_eq!(halves[..], [[2; 16], [4; 16]].concat());
    }

    #[test]
    fn keys_of_all_kinds_add_up() {
        let tags = [[1, 10], [2, 20], [u64::MAX, 30], [4, 40]].map(|tag: Tag| tag.map(u64::to_le));
        let mut sums = [[9; 2]; 3];
        add_up(&tags, &[&[5, 6, 6, 8], &[2, 2, 2, 2], &[0, 1, 1, 1]], &mut sums);
        assert_eq!(sums.map(|sum| sum.map(u64::from_le)), [[5, 50], [0, 0], [1, 50]]);
    }

    #[test]
    #[should_panic]
    fn tags_that_are_not_there() {
        add_up(&[[0; 2]], &[&[0, 1, 2]], &mut [[0; 2]; 2]);
    }
}
