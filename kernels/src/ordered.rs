//! Numbers of two halves in ascending order, such as tags are: where others stand among them.
#![forbid(unsafe_code)]

use std::borrow::Cow;

/// With fewer than one asked for so many, no stretches are made.
const FEW: usize = 4;
/// Where more stand in one stretch than in those of numbers that are spread evenly.
const MANY: usize = 16;
/// So far from where a number would stand among evenly spread ones it is looked for first.
const NEAR: usize = 64;

/// Ascending and distinct, the first half of each and the second. What is in another order is found or not.
pub struct Ordered<'a, Low> {
    high: &'a [u64],
    low: &'a [Low],
    stretches: Option<Stretches<'a>>,
}

/// Equal ranges of first halves, about as many as there are numbers: where those of each begin, and the last end.
struct Stretches<'a> {
    first: u64,
    last: u64,
    shift: u32,
    begins: Cow<'a, [u32]>,
}

impl<'a> Stretches<'a> {
    fn none_of(high: &[u64]) -> Option<Self> {
        let (&first, &last, count) = (high.first()?, high.last()?, u32::try_from(high.len()).ok()?);
        let span = last.checked_sub(first)?;
        let shift = (u64::BITS - span.leading_zeros()).saturating_sub(u32::BITS - count.leading_zeros());
        Some(Self { first, last, shift, begins: Cow::Borrowed(&[]) })
    }

    fn count(&self) -> usize {
        ((self.last - self.first) >> self.shift) as usize + 2
    }

    fn of(high: &[u64]) -> Option<Self> {
        let mut made = Self::none_of(high)?;
        let mut begins = vec![0; made.count()];
        for (place, high) in (0u32..).zip(high) {
            let stretch = (high.clamp(&made.first, &made.last) - made.first) >> made.shift;
            begins[stretch as usize + 1] = place + 1;
        }
        let mut end = 0;
        for begin in &mut begins {
            end = end.max(*begin);
            *begin = end;
        }
        made.begins = begins.into();
        Some(made)
    }

    /// From where to where a number of this first half may stand.
    fn range(&self, high: u64) -> (usize, usize) {
        let stretch = ((high.clamp(self.first, self.last) - self.first) >> self.shift) as usize;
        (self.begins[stretch] as usize, self.begins[stretch + 1] as usize)
    }
}

/// Puts what `Ordered::prepared` takes of these first halves into `begins`; how many there are, none where there is no
/// order. There must be room for twice as many as there are first halves, and two more.
pub fn prepare(high: &[u64], begins: &mut [u32]) -> usize {
    Stretches::of(high).map_or(0, |made| {
        begins[..made.begins.len()].copy_from_slice(&made.begins);
        made.begins.len()
    })
}

impl<'a, Low: Ord + Copy> Ordered<'a, Low> {
    /// To look for so many others.
    pub fn of(high: &'a [u64], low: &'a [Low], asked: usize) -> Self {
        assert_eq!(high.len(), low.len());
        let stretches = if asked >= high.len() / FEW { Stretches::of(high) } else { None };
        Self { high, low, stretches }
    }

    /// To look for others again and again, with what was prepared.
    pub fn prepared(high: &'a [u64], low: &'a [Low], begins: &'a [u32]) -> Self {
        assert_eq!(high.len(), low.len());
        let stretches = Stretches::none_of(high).map(|made| Stretches { begins: begins.into(), ..made });
        assert_eq!(begins.len(), stretches.as_ref().map_or(0, Stretches::count));
        Self { high, low, stretches }
    }

    /// Where a number stands, or would have to; and whether it is there.
    pub fn find(&self, high: u64, low: Low) -> (usize, bool) {
        let (begin, end) = match &self.stretches {
            Some(made) => made.range(high),
            None => self.range_near(high),
        };
        let mut place = begin;
        if end - begin > MANY {
            place += self.high[begin..end].partition_point(|&each| each < high);
        } else {
            // More than two are so seldom that these are looked at whether they are of the range or behind it, which costs
            // less than a wrong guess of the processor.
            if let [one, other, ..] = self.high[begin..] {
                place += usize::from(one < high) + usize::from(other < high);
            }
            while place < end && self.high[place] < high {
                place += 1;
            }
        }
        while self.high.get(place) == Some(&high) {
            // Two may share their first half.
            if self.low[place] >= low {
                return (place, self.low[place] == low);
            }
            place += 1;
        }
        (place, false)
    }

    /// From where to where a number may stand, from where it would stand among evenly spread ones.
    fn range_near(&self, high: u64) -> (usize, usize) {
        let (count, [first, .., last]) = (self.high.len(), self.high) else { return (0, self.high.len()) };
        let share = high.saturating_sub(*first) as f64 / (last.saturating_sub(*first) as f64).max(1.0);
        let place = ((share * count as f64) as usize).min(count);
        let mut step = NEAR;
        if place < count && self.high[place] < high {
            let mut from = place + 1;
            while count - from > step && self.high[from + step] < high {
                (from, step) = (from + step + 1, step * 4);
            }
            (from, from + step.min(count - from))
        } else {
            let mut to = place;
            while to > step && self.high[to - step - 1] >= high {
                (to, step) = (to - step - 1, step * 4);
            }
            (to.saturating_sub(step), to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look drawn.
    fn drawn(count: u64, spread: u32) -> Vec<u64> {
        (1..=count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> spread).collect()
    }

    #[test]
    fn each_is_found_where_it_stands() {
        for (spread, asked) in [(0, 1000), (0, 1), (54, 1000), (54, 1), (60, 1000), (60, 1), (63, 1), (63, 1000)] {
            let mut pairs: Vec<_> = drawn(2000, spread).iter().map(|high| (*high, (high % 3) as u16 * 2)).collect();
            pairs.push((u64::MAX, 1));
            pairs.sort_unstable();
            pairs.dedup();
            let (high, low): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
            let ordered = Ordered::of(&high, &low, asked);
            let others = drawn(3000, spread).into_iter().chain([0, u64::MAX]);
            for asked in others.flat_map(|high| [(high, 0), (high, 1), (high, 4), (high, 9)]) {
                let expected = (pairs.partition_point(|pair| *pair < asked), pairs.contains(&asked));
                assert_eq!(ordered.find(asked.0, asked.1), expected);
            }
        }
    }

    #[test]
    fn several_share_their_first_half() {
        let (high, low) = ([vec![5; 40], vec![6]].concat(), (0..41).collect::<Vec<u64>>());
        for asked in [41, 1] {
            let ordered = Ordered::of(&high, &low, asked);
            assert_eq!(ordered.find(5, 39), (39, true));
            assert_eq!(ordered.find(5, 77), (40, false));
            assert_eq!(ordered.find(6, 40), (40, true));
            assert_eq!(ordered.find(7, 0), (41, false));
        }
    }

    #[test]
    fn prepared_begins_are_used_again() {
        let (mut high, mut begins) = (drawn(500, 0), [9; 1002]);
        high.sort_unstable();
        let count = prepare(&high, &mut begins);
        let ordered = Ordered::prepared(&high, &high, &begins[..count]);
        for (place, &each) in high.iter().enumerate() {
            assert_eq!(ordered.find(each, each), (place, true));
            assert_eq!(ordered.find(each, each - 1), (place, false));
        }
        assert_eq!(prepare(&[], &mut []), 0);
        assert_eq!(Ordered::prepared(&[], &[0u16; 0], &[]).find(1, 1), (0, false));
    }

    #[test]
    #[should_panic]
    fn begins_prepared_for_other_numbers_are_refused() {
        Ordered::prepared(&[1, 2, 3], &[0u16; 3], &[0, 1]);
    }

    #[test]
    #[should_panic]
    fn stretches_that_are_not_there() {
        Ordered::prepared(&[1, 2, 3], &[0u16; 3], &[7; 4]).find(2, 0);
    }

    #[test]
    fn an_empty_order_has_no_member() {
        assert_eq!(Ordered::<u16>::of(&[], &[], 1).find(0, 0), (0, false));
    }

    #[test]
    fn no_order_leads_outside() {
        for high in [[9, 3, 7], [3, 9, 7], [7, 3, 9], [1, 0, u64::MAX]] {
            for (several, asked) in
                [3, 0].iter().flat_map(|several| [0, 1, 3, 5, 9, u64::MAX].map(|each| (several, each)))
            {
                assert!(Ordered::of(&high, &[0u16; 3], *several).find(asked, 1).0 <= 3);
            }
        }
    }

    #[test]
    #[should_panic]
    fn halves_that_are_not_there() {
        Ordered::of(&[1, 2], &[1u16], 2);
    }
}
