//! The distinct texts of a column, numbered as they come: most columns that are asked for have few.
#![forbid(unsafe_code)]

use crate::columns::Texts;

/// So many are numbered at most.
pub const MOST: usize = 1_024;
/// Of the table, of which at most a quarter is taken.
const SLOTS: usize = 4 * MOST;
const EIGHT: usize = size_of::<u64>();
/// An odd number whose bits are spread evenly: what is multiplied by it differs in the highest bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The key of a text: itself where it has at most eight bytes, else a sum that other texts may have, too.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    letters: u64,
    size: usize,
}

impl Key {
    fn of(text: &[u8]) -> Key {
        let half = |from: usize| u64::from(u32::from_le_bytes(*text[from..].first_chunk().expect("four bytes")));
        let letters = match text.len() {
            size @ 4..=EIGHT => half(0) | half(size - 4) << 32,
            0..4 => text.iter().fold(0, |letters, byte| letters << 8 | u64::from(*byte)),
            _ => text.chunks(EIGHT).fold(0u64, |sum, some| {
                let mut eight = [0; EIGHT];
                eight[..some.len()].copy_from_slice(some);
                (sum.rotate_left(5) ^ u64::from_le_bytes(eight)).wrapping_mul(SPREAD)
            }),
        };
        Key { letters, size: text.len() }
    }

    /// Where the text is looked for first.
    fn slot(self) -> usize {
        ((self.letters ^ self.size as u64).wrapping_mul(SPREAD) >> (u64::BITS - SLOTS.ilog2())) as usize
    }
}

/// Writes to `numbers` which distinct text each of `texts` is, and to `firsts` the row where each was met first; gives
/// how many they are. None where they are more than MOST, or than `firsts` has room for.
pub fn number(texts: &Texts, numbers: &mut [i32], firsts: &mut [u32]) -> Option<usize> {
    assert_eq!(numbers.len(), texts.len());
    let mut slots: Vec<Option<(Key, u32)>> = vec![None; SLOTS];
    let mut count = 0;
    for (row, (text, number)) in texts.iter().zip(numbers).enumerate() {
        let key = Key::of(text);
        let mut slot = key.slot();
        let is_same = |other: Key, found: u32| {
            other == key && (key.size <= EIGHT || texts.at(firsts[found as usize] as usize) == text)
        };
        while slots[slot].is_some_and(|(other, found)| !is_same(other, found)) {
            slot = (slot + 1) % SLOTS;
        }
        let (_, found) = *slots[slot].get_or_insert((key, count));
        if found == count {
            if count as usize == MOST {
                return None;
            }
            *firsts.get_mut(count as usize)? = row as u32;
            count += 1;
        }
        *number = found as i32;
    }
    Some(count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(texts: &[String], room: usize) -> Option<(Vec<i32>, Vec<u32>)> {
        let data = texts.concat().into_bytes();
        let ends = texts.iter().scan(0, |end, text| {
            *end += text.len() as i32;
            Some(*end)
        });
        let offsets: Vec<i32> = [0].into_iter().chain(ends).collect();
        let (mut numbers, mut firsts) = (vec![-1; texts.len()], vec![0; room]);
        let count = number(&Texts { offsets: &offsets, data: &data }, &mut numbers, &mut firsts)?;
        firsts.truncate(count);
        Some((numbers, firsts))
    }

    #[test]
    fn texts_are_numbered_as_they_come() {
        let long = "Bosnia and Herzegovina";
        let texts = ["b", "", "a", "b", long, "aa", "Bosnia and Herzegowina", long, "", "\0", "\0\0"];
        let (numbers, firsts) = numbered(&texts.map(String::from), 10).expect("few");
        assert_eq!(numbers, [0, 1, 2, 0, 3, 4, 5, 3, 1, 6, 7]);
        assert_eq!(firsts, [0, 1, 2, 4, 5, 6, 9, 10]);
        assert_eq!(numbered(&[], 0), Some((vec![], vec![])));
    }

    #[test]
    fn many_texts_are_given_up() {
        let mut texts: Vec<String> = (0..MOST).map(|number| format!("text {number}")).collect();
        texts.push(texts[7].clone());
        let (numbers, firsts) = numbered(&texts, MOST).expect("as many as there may be");
        assert_eq!((numbers[MOST], firsts[MOST - 1]), (7, MOST as u32 - 1));
        assert_eq!(numbered(&texts, MOST - 1), None);
        texts.push(String::new());
        assert_eq!(numbered(&texts, MOST + 1), None);
    }
}
