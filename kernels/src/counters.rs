//! A table of small counters: about how often each of very many values came, never too few.

/// A slot with this bit is of a value that was found already.
pub const FOUND: u32 = 1 << 31;

/// Counters next to each other in memory: both of a value are among these, so that it costs one look.
const BLOCK: usize = 64;

/// How many slots ahead memory is asked for: as many as it answers in the time that these take.
const AHEAD: usize = 24;

/// Asks memory for the counter at `place`, and does not wait for it.
#[inline(always)]
fn prefetch(counters: &[u8], place: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(counter) = counters.get(place) {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: every processor of this family has the instruction, which changes nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(counter).cast()) };
    }
}

/// The two counters of a slot, which differ where there are that many.
fn places(slot: u32, mask: usize) -> [usize; 2] {
    let (block, first, further) = ((slot >> 11) as usize, (slot & 63) as usize, (slot >> 6 & 31) as usize + 1);
    [first, first ^ further].map(|counter| (block * BLOCK + counter) & mask)
}

fn mask_of(counters: &[u8]) -> usize {
    assert!(counters.len().is_power_of_two());
    counters.len() - 1
}

/// Counts each of `slots` in two of the `counters`, a power of two. The lesser of the two is never less than how often
/// the slot came, and hardly ever more: only the lesser one counts, where they differ. Writes the places of those slots
/// that came `least` times or more to `chosen`, and gives their number.
pub fn count(slots: &[u32], counters: &mut [u8], least: u8, chosen: &mut [i64]) -> usize {
    assert!(least < u8::MAX);
    let (mask, mut found) = (mask_of(counters), 0);
    for (place, &slot) in slots.iter().enumerate() {
        if let Some(&later) = slots.get(place + AHEAD) {
            prefetch(counters, places(later, mask)[0]);
        }
        let [one, other] = places(slot, mask);
        let before = counters[one].min(counters[other]);
        if before < least {
            counters[one] = counters[one].max(before + 1);
            counters[other] = counters[other].max(before + 1);
        }
        if before + 1 >= least {
            chosen[found] = place as i64;
            found += 1;
        }
    }
    found
}

/// The places of those of `slots` that came `least` times or more, and were not found before. `likely`, a power of two,
/// says by the last bits of a slot whether it may be one of them.
pub fn find(slots: &[u32], likely: &[u8], counters: &[u8], least: u8, chosen: &mut [i64]) -> usize {
    let (first_mask, mask, mut found) = (mask_of(likely), mask_of(counters), 0);
    for (place, &slot) in slots.iter().enumerate() {
        if likely[slot as usize & first_mask] != 0
            && slot < FOUND
            && places(slot, mask).iter().all(|&counter| counters[counter] >= least)
        {
            chosen[found] = place as i64;
            found += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(block: u32, first: u32, further: u32) -> u32 {
        block << 11 | (further - 1) << 6 | first
    }

    #[test]
    fn both_counters_of_a_slot_are_in_one_block() {
        assert_eq!(places(slot(3, 5, 2), 255), [3 * 64 + 5, 3 * 64 + 7]);
        assert_eq!(places(slot(4, 63, 32), 255), [63, 31]);
        assert_eq!(places(slot(u32::MAX >> 11, 63, 32), 0), [0, 0]);
    }

    #[test]
    fn slots_are_counted_in_two_places() {
        let (mut counters, mut chosen) = ([0; 64], [0; 6]);
        let slots = [slot(0, 1, 2), slot(0, 1, 2), slot(0, 3, 2), slot(0, 1, 1), slot(0, 9, 1), slot(0, 1, 2)];
        assert_eq!(count(&slots, &mut counters, 3, &mut chosen), 2);
        // The third falls into both places of the first, the fourth into one of them; no count is beyond the least.
        assert_eq!((chosen[..2].to_vec(), counters[..4].to_vec()), (vec![2, 5], vec![1, 3, 0, 3]));
        assert_eq!((counters[8], counters[9], counters[10]), (1, 1, 0));
    }

    #[test]
    fn slots_that_came_early_are_found() {
        let (mut counters, mut chosen) = ([0; 64], [0; 4]);
        let mut slots = [slot(0, 1, 2), slot(0, 20, 4), slot(0, 1, 2), slot(0, 1, 2)];
        assert_eq!(count(&slots, &mut counters, 2, &mut chosen), 2);
        for &place in &chosen[..2] {
            slots[place as usize] |= FOUND;
        }
        assert_eq!(find(&slots, &[1; 4], &counters, 2, &mut chosen), 1);
        assert_eq!(chosen[0], 0);
        assert_eq!(find(&slots, &[1, 0, 1, 1], &counters, 2, &mut chosen), 0);
    }

    #[test]
    #[should_panic]
    fn counters_that_no_bits_choose() {
        count(&[], &mut [0; 3], 1, &mut []);
    }
}
