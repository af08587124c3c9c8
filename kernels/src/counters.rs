//! A table of small counters, two in a byte: about how often each of very many values came, never too few.

/// Counters next to each other in memory: both of a value are among these, so that it costs one look.
const BLOCK: usize = 128;

/// No counter goes further.
const MOST: u8 = 15;

/// How many slots ahead memory is asked for: as many as it answers in the time that these take.
const AHEAD: usize = 24;

/// So many slots are told by their part before they are counted.
const TOGETHER: usize = 1024;

/// So many slots are looked for at once.
const ASKED: usize = 8;

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

/// A part of all slots: those of which so many first bits are this number.
#[derive(Clone, Copy)]
pub struct Part {
    pub bits: u32,
    pub number: u32,
}

impl Part {
    fn has(self, slot: u32) -> bool {
        u64::from(slot) >> (u32::BITS - self.bits) == u64::from(self.number)
    }
}

/// Counts those of `slots` that are of `part` in two of the `counters`, a power of two. The lesser of the two is never
/// less than how often the slot came, and hardly ever more: only the lesser one counts, where they differ. Writes the
/// slots that came `least` times or more to `chosen`, and gives their number.
pub fn count(slots: &[u32], part: Part, counters: &mut [u8], least: u8, chosen: &mut [u32]) -> usize {
    assert!(least <= MOST && part.bits <= u32::BITS);
    let (mask, mut found) = (mask_of(counters), 0);
    let mut own = [0; TOGETHER];
    for some in slots.chunks(TOGETHER) {
        let mut taken = 0;
        for &slot in some {
            // Written in any case, which costs less than a wrong guess of the processor.
            own[taken] = slot;
            taken += usize::from(part.has(slot));
        }
        found += count_all(&own[..taken], mask, counters, least, &mut chosen[found..]);
    }
    found
}

fn count_all(slots: &[u32], mask: usize, counters: &mut [u8], least: u8, chosen: &mut [u32]) -> usize {
    let mut found = 0;
    slots.iter().take(AHEAD).for_each(|&slot| prefetch(counters, places(slot, mask)[0]));
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
            chosen[found] = slot;
            found += 1;
        }
    }
    found
}

/// Slots that ascend, to look for others among them: `marks`, a power of two of bytes, have a bit set for the last bits of
/// each, and those with the same first bits stand between two of `begins`, a power of two and one more.
pub struct Listed<'a> {
    pub slots: &'a [u32],
    pub marks: &'a [u8],
    pub begins: &'a [u32],
}

impl Listed<'_> {
    /// Writes the places of those of `asked` that are among them to `chosen`, and gives their number.
    pub fn find(&self, asked: &[u32], chosen: &mut [i64]) -> usize {
        let parts = self.begins.len().saturating_sub(1);
        assert!(self.marks.len().is_power_of_two() && parts.is_power_of_two());
        let (mask, shift, mut found) = (8 * self.marks.len() - 1, u32::BITS - parts.ilog2(), 0);
        let is_marked = |slot: u32| self.marks[(slot as usize & mask) / 8] >> (slot % 8) & 1;
        for (first, some) in (0..).step_by(ASKED).zip(asked.chunks(ASKED)) {
            // Hardly any is: to look at several takes one guess of the processor.
            if some.iter().fold(0, |any, &slot| any | is_marked(slot)) == 0 {
                continue;
            }
            for (place, &slot) in (first..).zip(some) {
                let part = (u64::from(slot) >> shift) as usize;
                if is_marked(slot) == 1
                    && self.slots[self.begins[part] as usize..self.begins[part + 1] as usize].contains(&slot)
                {
                    chosen[found] = place;
                    found += 1;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Part = Part { bits: 0, number: 0 };

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
        assert_eq!(count(&slots, ALL, &mut counters, 3, &mut chosen), 2);
        // The third falls into both places of the first, the fourth into one of them; no count is beyond the least.
        assert_eq!((chosen[..2].to_vec(), counters[..2].to_vec()), (vec![slots[2], slots[5]], vec![0x31, 0x30]));
        assert_eq!((counters[4], counters[5]), (0x11, 0));
    }

    #[test]
    fn a_full_counter_stays_full() {
        let (mut counters, mut chosen) = ([0; 64], [0; 20]);
        assert_eq!(count(&[slot(0, 1, 2); 20], ALL, &mut counters, MOST, &mut chosen), 6);
        assert_eq!(counters[..2], [0xf0, 0xf0]);
    }

    #[test]
    fn parts_are_counted_apart() {
        // Of each quarter as many as are told at once, and some more.
        let slots: Vec<u32> = (0..4 * TOGETHER as u32 + 40).map(|number| (number % 4) << 30 | number / 4).collect();
        for number in 0..4 {
            let (mut counters, mut chosen) = (vec![0; 1 << 12], vec![0; slots.len()]);
            let found = count(&slots, Part { bits: 2, number }, &mut counters, 1, &mut chosen);
            let expected: Vec<u32> = slots.iter().copied().filter(|slot| slot >> 30 == number).collect();
            assert_eq!(chosen[..found], expected);
        }
    }

    #[test]
    fn listed_slots_are_found() {
        let slots = [3, 11, 1 << 31, u32::MAX];
        let mut marks = [0; 4];
        slots.iter().for_each(|slot| marks[*slot as usize % 32 / 8] |= 1 << (slot % 8));
        let asked = [[3, 5, 11, 32 + 11, 0].as_slice(), &[7; 16], &[u32::MAX, 1 << 31, (1 << 31) - 1]].concat();
        for begins in [[0, 2, 4].as_slice(), &[0, 4]] {
            let (listed, mut chosen) = (Listed { slots: &slots, marks: &marks, begins }, [0; 24]);
            assert_eq!(listed.find(&asked, &mut chosen), 4);
            assert_eq!(chosen[..4], [0, 2, 21, 22]);
            assert_eq!(listed.find(&[], &mut []), 0);
        }
    }

    #[test]
    #[should_panic]
    fn marks_that_no_bits_choose() {
        Listed { slots: &[], marks: &[0; 3], begins: &[0, 0] }.find(&[], &mut []);
    }

    #[test]
    #[should_panic]
    fn slots_that_are_not_there() {
        Listed { slots: &[1], marks: &[0xff], begins: &[0, 2] }.find(&[1], &mut [0]);
    }

    #[test]
    #[should_panic]
    fn counters_that_no_bits_choose() {
        count(&[], ALL, &mut [0; 3], 1, &mut []);
    }
}
