//! Tags, and entries in parts.

use super::{get_all, guarded, slice_mut, Slice};
use crate::counters::{self, Listed, Part};
use crate::filter::Filter;
use crate::parts::{self, Entry};
use crate::tags::{self, Tag, TAG_BYTES};

/// The first half of each of `hashes`, masked, at `halves`.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with room for `count` halves.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_halves(
    hashes: &Slice<u8>,
    mask: &Slice<u8>,
    halves: *mut u8,
    count: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        unsafe { tags::halve(hashes.get(), mask.get(), slice_mut(halves, count * TAG_BYTES)) };
    })
}

/// Writes the sums of the tags of keys of several kinds to the `records` sums at `sums`.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_add_up(
    tags: &Slice<Tag>,
    kinds: &Slice<Slice<i32>>,
    sums: *mut Tag,
    records: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        unsafe { tags::add_up(tags.get(), &get_all(kinds), slice_mut(sums, records)) };
    })
}

/// Counts those of `slots` of a part in the counters, and puts those that were counted `least` times into `chosen`;
/// `found` says how many they are.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with room for as many as there are slots.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_count(
    slots: &Slice<u32>,
    part: &PartOfSlots,
    counters: &CounterSlice,
    least: u8,
    chosen: *mut u32,
    found: &mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (slots, counters) = unsafe { (slots.get(), slice_mut(counters.data, counters.size)) };
        let part = Part { bits: part.bits, number: part.number };
        // SAFETY: promised by the caller.
        *found = counters::count(slots, part, counters, least, unsafe { slice_mut(chosen, slots.len()) });
    })
}

/// Puts the places of those of `slots` that are listed into `places`; `found` says how many they are.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with room for as many places as there are slots.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_listed_slots(
    slots: &Slice<u32>,
    listed: &ListedSlices,
    places: *mut i64,
    found: &mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (slots, listed) = unsafe { (slots.get(), listed.get()) };
        // SAFETY: promised by the caller.
        *found = listed.find(slots, unsafe { slice_mut(places, slots.len()) });
    })
}

#[repr(C)]
pub struct PartOfSlots {
    bits: u32,
    number: u32,
}

#[repr(C)]
pub struct ListedSlices {
    slots: Slice<u32>,
    marks: Slice<u8>,
    begins: Slice<u32>,
}

impl ListedSlices {
    /// # Safety
    /// As for `Slice::get`.
    unsafe fn get<'a>(&self) -> Listed<'a> {
        // SAFETY: promised by the caller.
        unsafe { Listed { slots: self.slots.get(), marks: self.marks.get(), begins: self.begins.get() } }
    }
}

#[repr(C)]
pub struct CounterSlice {
    data: *mut u8,
    size: usize,
}

/// The order of tags at `order`, of which there are as many, by their part, and the ends of the parts.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_sort(tags: &Slice<Tag>, order: *mut u32, ends: *mut i64, parts: usize) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (tags, ends) = unsafe { (tags.get(), slice_mut(ends, parts)) };
        // SAFETY: promised by the caller.
        parts::sort(tags, unsafe { slice_mut(order, tags.len()) }, ends);
    })
}

#[repr(C)]
pub struct TaggedSlices {
    tags: Slice<Tag>,
    records: Slice<i64>,
    first: i64,
}

impl TaggedSlices {
    /// # Safety
    /// As for `Slice::get`.
    unsafe fn get<'a>(&self) -> parts::Tagged<'a> {
        // SAFETY: promised by the caller.
        unsafe { parts::Tagged { tags: self.tags.get(), records: self.records.get(), first: self.first } }
    }
}

#[repr(C)]
pub struct BufferSlices {
    entries: *mut Entry,
    room: usize,
    filled: *mut i64,
    parts: usize,
}

impl BufferSlices {
    /// # Safety
    /// As for `slice_mut`, with room for so many entries in each part.
    unsafe fn get<'a>(&self) -> parts::Buffers<'a> {
        let count = self.room.checked_mul(self.parts).expect("buffers are in memory");
        // SAFETY: promised by the caller.
        unsafe {
            parts::Buffers { entries: slice_mut(self.entries, count), filled: slice_mut(self.filled, self.parts) }
        }
    }
}

/// Puts entries into the buffers of their parts, from `starts`, one a part, which move; `full` says how many are full.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_spread(
    batch: &TaggedSlices,
    order: &Slice<u32>,
    ends: &Slice<i64>,
    starts: *mut i64,
    buffers: &BufferSlices,
    full: &mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (batch, order, ends, mut buffers) = unsafe { (batch.get(), order.get(), ends.get(), buffers.get()) };
        // SAFETY: promised by the caller.
        *full = parts::spread(&batch, order, unsafe { slice_mut(starts, ends.len()) }, ends, &mut buffers);
    })
}

/// Puts those entries of `pieces` that are repeated into the `room` entries at `found`; `count` says how many they are.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_repeated(
    pieces: &Slice<Slice<Entry>>,
    found: *mut Entry,
    room: usize,
    count: &mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        *count = unsafe { parts::repeated(&get_all(pieces), slice_mut(found, room)) };
    })
}

/// The places of `hashes` that pass the filter of these bits, at `places`, which has room for all; `found` says how many.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_likely(
    hashes: &Slice<u8>,
    near: &Slice<u8>,
    far: &Slice<u8>,
    places: *mut i64,
    room: usize,
    found: &mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (hashes, filter) = unsafe { (hashes.get(), Filter { near: near.get(), far: far.get() }) };
        // SAFETY: promised by the caller.
        *found = filter.find_likely(hashes, unsafe { slice_mut(places, room) });
    })
}
