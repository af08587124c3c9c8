//! The door for the package: functions in C's manner over the buffers of whole columns, called without the lock of the
//! interpreter. What comes in is turned into slices here and nowhere else; all behind the door is checked Rust, apart
//! from the processor's instructions for SHA-256.
//!
//! Every function gives DONE, or FAILED where it stopped at an index that is not there; nothing is printed.

mod columns;
mod digits;
mod emails;
mod entries;
mod lines;
mod phones;
mod sha256;

use columns::{Reasons, Texts};
use sha256::{Hasher, DIGEST_BYTES};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// Which functions there are, and what they take: the package refuses any other number.
const VERSION: i32 = 6;
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
    unsafe fn get<'a>(&self) -> &'a [T] {
        if self.count == 0 {
            return &[];
        }
        // SAFETY: promised by the caller.
        unsafe { from_raw_parts(self.data, self.count) }
    }
}

#[repr(C)]
pub struct TextSlices {
    offsets: Slice<i32>,
    data: Slice<u8>,
}

impl TextSlices {
    /// # Safety
    /// As for `Slice::get`.
    unsafe fn get<'a>(&self) -> Texts<'a> {
        // SAFETY: promised by the caller.
        unsafe { Texts { offsets: self.offsets.get(), data: self.data.get() } }
    }
}

/// Where a column's decisions go: a code and a digest a row.
#[repr(C)]
pub struct Decided {
    codes: *mut i8,
    digests: *mut u8,
    reasons: Reasons,
}

impl Decided {
    /// # Safety
    /// As for `slice_mut`, with room for `rows`.
    unsafe fn get<'a>(&self, rows: usize) -> (&'a mut [i8], Hasher<'a>) {
        // SAFETY: promised by the caller.
        unsafe { (slice_mut(self.codes, rows), Hasher::new(slice_mut(self.digests, rows * DIGEST_BYTES))) }
    }
}

/// # Safety
/// There must be room for `count` values, which nobody else uses meanwhile.
unsafe fn slice_mut<'a, T>(data: *mut T, count: usize) -> &'a mut [T] {
    if count == 0 {
        return &mut [];
    }
    // SAFETY: promised by the caller.
    unsafe { from_raw_parts_mut(data, count) }
}

#[repr(C)]
pub struct PlanSlices {
    following: Slice<i32>,
    readings: Slice<i32>,
    national: Slice<i32>,
    international: Slice<i32>,
    calling_codes: Slice<i16>,
    outcomes: Slice<i8>,
    placeholders: TextSlices,
    words: TextSlices,
    dialled: i32,
    writes_plus: i32,
    decides_national: i32,
}

#[repr(C)]
pub struct SlotSlices {
    begin: usize,
    hashes: Slice<u8>,
    chosen: Slice<i64>,
}

fn guarded(work: impl FnOnce()) -> i32 {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(()) => DONE,
        Err(_) => FAILED,
    }
}

/// The version of this door.
#[no_mangle]
pub extern "C" fn audiencekit_version() -> i32 {
    std::panic::set_hook(Box::new(|_| ()));
    VERSION
}

/// The SHA-256 of each text, DIGEST_BYTES a row, at `digests`.
///
/// # Safety
/// As for `Slice::get` and `Decided::get`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_hash(texts: &TextSlices, digests: *mut u8) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let texts = unsafe { texts.get() };
        // SAFETY: promised by the caller.
        let digests = unsafe { slice_mut(digests, texts.len() * DIGEST_BYTES) };
        let mut hasher = Hasher::new(digests);
        for (row, text) in texts.iter().enumerate() {
            hasher.add(row, text);
        }
        hasher.finish();
    })
}

/// Codes and digests of a column of addresses.
///
/// # Safety
/// As for `Slice::get` and `Decided::get`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_emails(
    texts: &TextSlices,
    words: &TextSlices,
    nobody: &TextSlices,
    doubled: &TextSlices,
    special_use: &TextSlices,
    decided: &Decided,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let texts = unsafe { texts.get() };
        // SAFETY: promised by the caller.
        let (codes, hasher) = unsafe { decided.get(texts.len()) };
        // SAFETY: promised by the caller.
        let doubts = unsafe {
            emails::Doubts {
                words: words.get(),
                nobody: nobody.get(),
                doubled: doubled.get(),
                special_use: special_use.get(),
            }
        };
        emails::decide(&texts, &doubts, &decided.reasons, codes, hasher);
    })
}

/// Codes and digests of a column of phone numbers, of which row n has the region `regions[n]`.
///
/// # Safety
/// As for `Slice::get` and `Decided::get`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_phones(
    texts: &TextSlices,
    regions: &Slice<i32>,
    plans: &PlanSlices,
    decided: &Decided,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let texts = unsafe { texts.get() };
        // SAFETY: promised by the caller.
        let (codes, hasher) = unsafe { decided.get(texts.len()) };
        // SAFETY: promised by the caller.
        let (regions, plans) = unsafe { (regions.get(), plans.get()) };
        phones::decide(&texts, regions, &plans, &decided.reasons, codes, hasher);
    })
}

/// The lines of `piece` that are not blank, each with its end.
///
/// # Safety
/// As for `Slice::get`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_count_lines(piece: &Slice<u8>, lines: &mut usize) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        *lines = lines::count(unsafe { piece.get() });
    })
}

/// Whether `piece` is plain text of so many lines, none longer than `longest` bytes.
///
/// # Safety
/// As for `Slice::get`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_are_plain(
    piece: &Slice<u8>,
    lines: usize,
    longest: usize,
    are_plain: &mut i32,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        *are_plain = lines::are_plain(unsafe { piece.get() }, lines, longest).into();
    })
}

/// Moves the digests of the rows whose code is VALID to the front; `kept` says how many they are.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_keep_valid(codes: &Slice<i8>, digests: *mut u8, kept: &mut usize) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let codes = unsafe { codes.get() };
        // SAFETY: promised by the caller.
        let digests = unsafe { slice_mut(digests, codes.len() * DIGEST_BYTES) };
        *kept = columns::keep_valid(codes, digests, DIGEST_BYTES);
    })
}

/// Puts an entry at each of `places` of the `body_bytes` at `body`: `template`, with hashes in its slots.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_entries(
    body: *mut u8,
    body_bytes: usize,
    places: &Slice<i64>,
    template: &Slice<u8>,
    slots: &Slice<SlotSlices>,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (body, places, template) = unsafe { (slice_mut(body, body_bytes), places.get(), template.get()) };
        // SAFETY: promised by the caller.
        let slots: Vec<_> = unsafe {
            let slots = slots.get().iter();
            slots.map(|slot| entries::Slot { begin: slot.begin, hashes: slot.hashes.get(), chosen: slot.chosen.get() })
        }
        .collect();
        entries::write(body, places, template, &slots);
    })
}

impl PlanSlices {
    /// # Safety
    /// As for `Slice::get`.
    unsafe fn get<'a>(&self) -> phones::Plans<'a> {
        // SAFETY: promised by the caller.
        unsafe {
            phones::Plans {
                following: self.following.get(),
                readings: self.readings.get(),
                national: self.national.get(),
                international: self.international.get(),
                calling_codes: self.calling_codes.get(),
                outcomes: self.outcomes.get(),
                placeholders: self.placeholders.get(),
                words: self.words.get(),
                dialled: self.dialled as usize,
                writes_plus: self.writes_plus != 0,
                decides_national: self.decides_national != 0,
            }
        }
    }
}
