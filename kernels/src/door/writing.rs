//! Bodies, and what stands in them.

use super::{guarded, slice_mut, Slice};
use crate::hexadecimal;
use crate::lists::Lists;
use crate::users::{self, Around, Field, Part, Values};

/// One kind of a batch. Where `ends` are given its values are texts, else hashes.
#[repr(C)]
pub struct FieldSlices {
    opening: Slice<u8>,
    lists: Slice<i32>,
    values: Slice<u8>,
    ends: Slice<i32>,
}

impl FieldSlices {
    /// # Safety
    /// As for `Slice::get`.
    unsafe fn get<'a>(&self) -> Field<'a> {
        // SAFETY: promised by the caller.
        let (opening, lists, values, ends) =
            unsafe { (self.opening.get(), self.lists.get(), self.values.get(), self.ends.get()) };
        let values =
            if ends.is_empty() { Values::Hashes(values.as_chunks().0) } else { Values::Written { ends, data: values } };
        Field { opening, lists: Lists { ends: lists }, values }
    }
}

#[repr(C)]
pub struct PartSlices {
    places: Slice<i64>,
    fields: Slice<FieldSlices>,
}

/// Writes users into the `body_bytes` at `body`, in so many `operations`; `written` says how many bytes they take.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_operations(
    body: *mut u8,
    body_bytes: usize,
    prefix: &Slice<u8>,
    suffix: &Slice<u8>,
    operations: usize,
    parts: &Slice<PartSlices>,
    written: &mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (body, around) =
            unsafe { (slice_mut(body, body_bytes), Around { prefix: prefix.get(), suffix: suffix.get() }) };
        // SAFETY: promised by the caller.
        let parts: Vec<_> = unsafe {
            let parts = parts.get().iter();
            parts.map(|part| Part { places: part.places.get(), fields: all_of(&part.fields) }).collect()
        };
        *written = users::write(body, &around, operations, &parts);
    })
}

/// The bytes of the entries of all `records` of a batch, without their commas, into `sizes`.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_entry_sizes(sizes: *mut i64, records: usize, fields: &Slice<FieldSlices>) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        unsafe { users::measure(&all_of(fields), slice_mut(sizes, records)) }
    })
}

/// # Safety
/// As for `Slice::get`.
unsafe fn all_of<'a>(fields: &Slice<FieldSlices>) -> Vec<Field<'a>> {
    // SAFETY: promised by the caller.
    unsafe { fields.get().iter().map(|field| field.get()).collect() }
}

/// Writes the hex digits of the hashes in the lists at `places` into the `digit_bytes` at `digits`, and at `ends` where
/// the values of each list end: one more than there are places.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_hex_lists(
    lists: &Slice<i32>,
    hashes: &Slice<u8>,
    places: &Slice<i64>,
    ends: *mut i32,
    digits: *mut u8,
    digit_bytes: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (lists, hashes, places) = unsafe { (Lists { ends: lists.get() }, hashes.get(), places.get()) };
        // SAFETY: promised by the caller.
        let (ends, digits) = unsafe { (slice_mut(ends, places.len() + 1), slice_mut(digits, digit_bytes)) };
        hexadecimal::write_lists(&lists, hashes, places, ends, digits);
    })
}
