//! Marks and tags among others, and entries against a snapshot.

use super::{get_all, guarded, slice_mut, Slice};
use crate::comparison::{compare, Counts, Horizon, Members};
use crate::ordered::{prepare, Ordered};
use crate::parts::Entry;
use crate::tags::Tag;

/// The halves of numbers in ascending order.
#[repr(C)]
pub struct OrderedSlices<Low> {
    high: Slice<u64>,
    low: Slice<Low>,
}

#[repr(C)]
pub struct MemberSlices {
    marks: OrderedSlices<u16>,
    days: Slice<i16>,
}

/// Where each mark of the first stands in the second, or would have to, at `places`, and 1 at `known` for one that is there.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with room for `count` each.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_find_marks(
    asked: &OrderedSlices<u16>,
    ordered: &OrderedSlices<u16>,
    places: *mut i64,
    known: *mut u8,
    count: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (high, low) = unsafe { (asked.high.get(), asked.low.get()) };
        // SAFETY: promised by the caller.
        let ordered = unsafe { Ordered::of(ordered.high.get(), ordered.low.get(), count) };
        // SAFETY: promised by the caller.
        let (places, known) = unsafe { (slice_mut(places, count), slice_mut(known, count)) };
        assert!(high.len() == count && low.len() == count);
        for (number, (high, low)) in high.iter().zip(low).enumerate() {
            let (place, is_known) = ordered.find(*high, *low);
            (places[number], known[number]) = (place as i64, is_known.into());
        }
    })
}

/// The help to find others among numbers of these first halves, at `begins`; `count` is its length.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with `room` for twice as many and two more.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_prepare(
    high: &Slice<u64>,
    begins: *mut u32,
    room: usize,
    count: &mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        *count = unsafe { prepare(high.get(), slice_mut(begins, room)) };
    })
}

/// Where each of `tags` stands in `ordered`, which was prepared, at `places`, -1 for one that does not.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with room for `count` places.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_find_tags(
    tags: &Slice<Tag>,
    ordered: &OrderedSlices<u64>,
    begins: &Slice<u32>,
    places: *mut i64,
    count: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let ordered = unsafe { Ordered::prepared(ordered.high.get(), ordered.low.get(), begins.get()) };
        // SAFETY: promised by the caller.
        let (tags, places) = unsafe { (tags.get(), slice_mut(places, count)) };
        assert_eq!(tags.len(), places.len());
        for (found, tag) in places.iter_mut().zip(tags) {
            let (place, is_there) = ordered.find(u64::from_le(tag[0]), u64::from_le(tag[1]));
            *found = if is_there { place as i64 } else { -1 };
        }
    })
}

/// The entries of `pieces` against the members of a part: the records that are sent at `sent`, which has `room` for all
/// entries, and the places of the members that are to go at `gone`, which has room for all of them.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_compare(
    pieces: &Slice<Slice<Entry>>,
    wanted: &Slice<u8>,
    members: &MemberSlices,
    horizon: &Horizon,
    sent: *mut i64,
    room: usize,
    gone: *mut i64,
    counts: &mut Counts,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (pieces, wanted) = unsafe { (get_all(pieces), wanted.get()) };
        // SAFETY: promised by the caller.
        let members = unsafe {
            Members { high: members.marks.high.get(), low: members.marks.low.get(), days: members.days.get() }
        };
        // SAFETY: promised by the caller.
        let (sent, gone) = unsafe { (slice_mut(sent, room), slice_mut(gone, members.days.len())) };
        *counts = compare(&pieces, wanted, &members, *horizon, sent, gone);
    })
}
