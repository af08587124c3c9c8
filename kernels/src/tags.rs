//! Tags of keys, and of sets. What stands in memory is little-endian.
#![forbid(unsafe_code)]

use crate::aes::{Block, Cipher};
use crate::sha256::DIGEST_BYTES;

pub const TAG_BYTES: usize = 16;
/// So many records are tagged in one go: what their tags are made of stays in the nearest cache.
const TOGETHER: usize = 256;

/// The high and the low half of its 128 bits.
pub type Tag = [u64; 2];

/// Puts the first half of each of `hashes`, with `mask` upon it, into `halves`.
pub fn halve(hashes: &[u8], mask: &[u8], halves: &mut [u8]) {
    let (hashes, halves) = (hashes.as_chunks().0, halves.as_chunks_mut::<TAG_BYTES>().0);
    assert_eq!(hashes.len(), halves.len());
    let mask = block_of(mask);
    for (half, hash) in halves.iter_mut().zip(hashes) {
        *half = half_of(hash, mask).to_ne_bytes();
    }
}

fn block_of(mask: &[u8]) -> Block {
    Block::from_ne_bytes(mask.try_into().expect("a mask is as long as a tag"))
}

fn half_of(hash: &[u8; DIGEST_BYTES], mask: Block) -> Block {
    Block::from_ne_bytes(*hash.first_chunk().expect("a hash is longer")) ^ mask
}

/// The hashes of the keys of one kind, and the mask of the kind; where those of each record begin, and where the last
/// end, counted from the first number on.
pub struct Keys<'a> {
    pub hashes: &'a [u8],
    pub mask: &'a [u8],
    pub offsets: &'a [i32],
}

/// Writes the tag of each record's key set to `sums`: the sum of the tags of its keys of all `kinds`, which are their
/// halves under the key of `cipher`.
pub fn tag_sets(kinds: &[Keys], cipher: &Cipher, sums: &mut [Tag]) {
    let mut tags: Vec<Block> = vec![];
    for keys in kinds {
        assert_eq!(keys.offsets.len(), sums.len() + 1);
    }
    for (number, sums) in sums.chunks_mut(TOGETHER).enumerate() {
        sums.fill([0; 2]);
        for Keys { hashes, mask, offsets } in kinds {
            let own = &offsets[number * TOGETHER..][..=sums.len()];
            let [begin, end] = [own[0], own[sums.len()]].map(|end| (end - offsets[0]) as usize);
            let (hashes, mask) = (&hashes.as_chunks().0[begin..end], block_of(mask));
            tags.clear();
            tags.extend(hashes.iter().map(|hash| half_of(hash, mask)));
            cipher.encrypt(&mut tags);
            for (sum, ends) in sums.iter_mut().zip(own.windows(2)) {
                for tag in &tags[(ends[0] - own[0]) as usize..(ends[1] - own[0]) as usize] {
                    let halves = [*tag as u64, (tag >> u64::BITS) as u64]; // a processor that encrypts is little-endian
                    *sum = [0, 1].map(|half| sum[half].wrapping_add(halves[half]));
                }
            }
        }
    }
}

/// The tags of the keys of one kind, and where those of each record begin, as in Keys.
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
        of_kinds.push(OfKind { offsets, tags: own });
        tags = others;
    }
    for (record, sum) in sums.iter_mut().enumerate() {
        let mut halves = [0u64; 2];
        for OfKind { offsets, tags } in &of_kinds {
            let [begin, end] = [record, record + 1].map(|place| (offsets[place] - offsets[0]) as usize);
            for tag in &tags[begin..end] {
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
    fn sets_are_tagged_as_their_keys_are() {
        let Some(cipher) = Cipher::new(&[3; 32]) else { return };
        let records = 3 * TOGETHER + 5;
        let offsets: Vec<i32> = (0..=records as i32).map(|record| 7 + record + record / 3).collect();
        let hashes: Vec<u8> = (0..offsets[records] as usize * DIGEST_BYTES).map(|place| (place % 251) as u8).collect();
        let none = vec![4; records + 1];
        let kinds = [(&[5; 16], &offsets), (&[6; 16], &none), (&[7; 16], &offsets)];
        let kinds = kinds.map(|(mask, offsets)| Keys { hashes: &hashes, mask, offsets });
        let mut sums = vec![[9; 2]; records];
        tag_sets(&kinds, &cipher, &mut sums);
        let count = (offsets[records] - 7) as usize;
        let (mut halves, mut tags, mut expected) = (vec![0; count * TAG_BYTES], vec![], vec![[0; 2]; records]);
        for mask in [[5; 16], [7; 16]] {
            halve(&hashes[..count * DIGEST_BYTES], &mask, &mut halves);
            let mut blocks: Vec<Block> =
                halves.as_chunks::<TAG_BYTES>().0.iter().map(|half| Block::from_ne_bytes(*half)).collect();
            cipher.encrypt(&mut blocks);
            tags.extend(blocks.iter().map(|block| [*block as u64, (block >> 64) as u64]));
        }
        add_up(&tags, &[&offsets, &none, &offsets], &mut expected);
        assert_eq!(sums, expected);
    }

    #[test]
    #[should_panic]
    fn hashes_that_are_not_there() {
        let Some(cipher) = Cipher::new(&[3; 32]) else { panic!("there is no cipher") };
        tag_sets(&[Keys { hashes: &[0; 32], mask: &[0; 16], offsets: &[0, 1, 2] }], &cipher, &mut [[0; 2]; 2]);
    }

    #[test]
    fn keys_of_all_kinds_add_up() {
        let tags = [[1, 10], [2, 20], [u64::MAX, 30], [4, 40]].map(|tag: Tag| tag.map(u64::to_le));
        let mut sums = [[9; 2]; 3];
        add_up(&tags, &[&[5, 6, 6, 8], &[0, 1, 1, 1]], &mut sums);
        assert_eq!(sums.map(|sum| sum.map(u64::from_le)), [[5, 50], [0, 0], [1, 50]]);
    }

    #[test]
    #[should_panic]
    fn tags_that_are_not_there() {
        add_up(&[[0; 2]], &[&[0, 1, 2]], &mut [[0; 2]; 2]);
    }
}
