//! Lists of values as Arrow holds them.
#![forbid(unsafe_code)]

use std::ops::Range;

/// Lists whose values stand one behind the other; `ends` are one more than there are lists. A list that is null holds
/// nothing.
#[derive(Clone, Copy)]
pub struct Lists<'a> {
    pub ends: &'a [i32],
}

impl Lists<'_> {
    /// Which values the list at `place` has. A place that is not there, and ends that descend, are a panic.
    pub fn at(&self, place: i64) -> Range<usize> {
        let place = usize::try_from(place).expect("a place");
        let (begin, end) = (self.ends[place] as usize, self.ends[place + 1] as usize);
        assert!(begin <= end, "ends ascend");
        begin..end
    }
}
