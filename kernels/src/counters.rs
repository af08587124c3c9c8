//! A table of small counters, two in a byte: about how often each of very many values came, never too few.

/// Counters next to each other in memory: both of a value are among these, so that it costs one look.
const BLOCK: usize = 128;

/// No counter goes further.
const MOST: u8 = 15;

/// How many slots ahead memory is asked for: as many as it answers in the time that these take.
const AHEAD: usize = 24;

/// Asks memory for the counter at `place`, and does not wait for it.
#[inline(always)]
fn prefetch(counters: &[u8], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(counter) = counters.get(place / 2) {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: every processor of this family has the instruction, which changes nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(counter).cast()) };
    }
}

/// The two counters of a slot, which differ where there are that many.
#[inline(always)]
fn places(slot: u32, mask: usize) -> [usize; 2] {
    let (block, first, further) = ((slot >> 11) as usize, (slot & 127) as usize, (slot >> 7 & 15) as usize + 1);
    [first, first ^ further].map(|counter| (block * BLOCK + counter) & mask)
}

/// Even ones are the low half of a byte.
#[inline(always)]
fn counter_at(counters: &[u8], place: usize) -> u8 {
    counters[place / 2] >> (place % 2 * 4) & 15
}

#[inline(always)]
fn raise(counters: &mut [u8], place: usize, least: u8) {
    let shift = place % 2 * 4;
    let byte = &mut counters[place / 2];
    let own = (*byte >> shift & 15).max(least);
    *byte = *byte & (0xf0 >> shift) | own << shift;
}

fn mask_of(counters: &[u8]) -> usize {
    assert!(counters.len().is_power_of_two());
    2 * counters.len() - 1
}

/// Counts each of `slots` in two of the `counters`, a power of two. The lesser of the two is never less than how often
/// the slot came, and hardly ever more: only the lesser one counts, where they differ. Writes the places of those slots
/// that came `least` times or more to `chosen`, and gives their number.
pub fn count(slots: &[u32], counters: &mut [u8], least: u8, chosen: &mut [i64]) -> usize {
    assert!(least <= MOST);
    let (mask, mut found) = (mask_of(counters), 0);
    for (place, &slot) in slots.iter().enumerate() {
        if let Some(&later) = slots.get(place + AHEAD) {
            prefetch(counters, places(later, mask)[0]);
        }
        let both = places(slot, mask);
        let [one, other] = both.map(|counter| counter_at(counters, counter));
        let now = one.min(other) + 1;
        if now <= least {
            for counter in both {
                raise(counters, counter, now);
            }
        }
        if now >= least {
            chosen[found] = place as i64;
            found += 1;
        }
    }
    found
}

/// Writes the places of those `slots` whose last bits have theirs set in `marks`, a power of two of bytes, to `chosen`,
/// and gives their number.
pub fn find_marked(slots: &[u32], marks: &[u8], chosen: &mut [i64]) -> usize {
    assert!(marks.len().is_power_of_two() && chosen.len() >= slots.len());
    let (mask, mut found) = (8 * marks.len() - 1, 0);
    for (place, &slot) in slots.iter().enumerate() {
        let bit = slot as usize & mask;
        // Written in any case, which costs less than a wrong guess of the processor.
        chosen[found] = place as i64;
        found += usize::from(marks[bit / 8] >> (bit % 8) & 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(block: u32, first: u32, further: u32) -> u32 {
        block << 11 | (further - 1) << 7 | first
    }

    #[test]
    fn both_counters_of_a_slot_are_in_one_block() {
        assert_eq!(places(slot(3, 5, 2), 511), [3 * 128 + 5, 3 * 128 + 7]);
        assert_eq!(places(slot(4, 127, 16), 511), [127, 111]);
        assert_eq!(places(slot(u32::MAX >> 11, 127, 16), 0), [0, 0]);
    }

    #[test]
    fn slots_are_counted_in_two_places() {
        let (mut counters, mut chosen) = ([0; 64], [0; 6]);
        let slots = [slot(0, 1, 2), slot(0, 1, 2), slot(0, 3, 2), slot(0, 1, 1), slot(0, 9, 1), slot(0, 1, 2)];
        assert_eq!(count(&slots, &mut counters, 3, &mut chosen), 2);
        // The third falls into both places of the first, the fourth into one of them; no count is beyond the least.
        assert_eq!((chosen[..2].to_vec(), counters[..2].to_vec()), (vec![2, 5], vec![0x31, 0x30]));
        assert_eq!((counters[4], counters[5]), (0x11, 0));
    }

    #[test]
    fn a_full_counter_stays_full() {
        let (mut counters, mut chosen) = ([0; 64], [0; 20]);
        assert_eq!(count(&[slot(0, 1, 2); 20], &mut counters, MOST, &mut chosen), 6);
        assert_eq!(counters[..2], [0xf0, 0xf0]);
    }

    #[test]
    fn marked_slots_are_found() {
        let (mut marks, mut chosen) = ([0; 4], [0; 5]);
        marks[1] = 1 << 3; // 11 of 32
        assert_eq!(find_marked(&[11, 3, 32 + 11, 10, u32::MAX - 31 + 11], &marks, &mut chosen), 3);
        assert_eq!(chosen[..3], [0, 2, 4]);
        assert_eq!(find_marked(&[], &marks, &mut []), 0);
    }

    #[test]
    #[should_panic]
    fn marks_that_no_bits_choose() {
        find_marked(&[], &[0; 3], &mut []);
    }

    #[test]
    #[should_panic]
    fn counters_that_no_bits_choose() {
        count(&[], &mut [0; 3], 1, &mut []);
    }
}
