//! The door for the package: functions in C's manner over the buffers of whole columns. What comes in is turned into
//! slices here and nowhere else.
//!
//! Every function gives DONE, or FAILED where it stopped at an index that is not there; nothing is printed.

mod comparing;
mod deciding;
mod reading;
mod tagging;
mod writing;

use crate::columns::Texts;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::slice::{from_raw_parts, from_raw_parts_mut};

const DONE: i32 = 0;
const FAILED: i32 = -1;

/// `count` values at `data`, which may be null where there are none.
#[repr(C)]
pub struct Slice<T> {
    data: *const T,
    count: usize,
}

impl<T> Slice<T> {
    /// # Safety
    /// The values must be there, and stay unchanged as long as the slice is used.
    pub unsafe fn get<'a>(&self) -> &'a [T] {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: promised by the caller.
        unsafe { from_raw_parts(self.data, self.count) }
    }
}

/// A slice of slices of values, as checked Rust takes them.
///
/// # Safety
/// As for `Slice::get`, of all of them.
pub unsafe fn get_all<'a, T>(slices: &Slice<Slice<T>>) -> Vec<&'a [T]> {
    // SAFETY: promised by the caller.
    unsafe { slices.get().iter().map(|slice| slice.get()).collect() }
}

#[repr(C)]
pub struct TextSlices {
    offsets: Slice<i32>,
    data: Slice<u8>,
}

impl TextSlices {
    /// # Safety
    /// As for `Slice::get`.
    pub unsafe fn get<'a>(&self) -> Texts<'a> {
        // SAFETY: promised by the caller.
        unsafe { Texts { offsets: self.offsets.get(), data: self.data.get() } }
    }
}

/// # Safety
/// There must be room for `count` values, which no other thread uses meanwhile.
pub unsafe fn slice_mut<'a, T>(data: *mut T, count: usize) -> &'a mut [T] {
    if count == 0 {
        return &mut [];
    }
    // SAFETY: promised by the caller.
    unsafe { from_raw_parts_mut(data, count) }
}

pub fn guarded(work: impl FnOnce()) -> i32 {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(()) => DONE,
        Err(_) => FAILED,
    }
}
