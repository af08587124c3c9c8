//! Columns of texts, decided and hashed.

use super::{guarded, slice_mut, Slice, TextSlices};
use crate::columns::{self, Reasons, Words};
use crate::doubts::Doubts;
use crate::folding::Folding;
use crate::international::Letters;
use crate::sha256::{Hasher, DIGEST_BYTES};
use crate::signs::Signs;
use crate::{distinct, emails, phones};

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

/// The classes of characters in an address.
#[repr(C)]
pub struct LetterSlices {
    signs: Slice<u8>,
    local: Slice<u8>,
    domain: Slice<u8>,
    folds: Slice<i64>,
}

impl LetterSlices {
    /// # Safety
    /// As for `Slice::get`.
    unsafe fn get<'a>(&self) -> Letters<'a> {
        // SAFETY: promised by the caller.
        unsafe {
            Letters {
                signs: Signs(self.signs.get()),
                folding: Folding { kinds: self.local.get(), folds: self.folds.get() },
                domain: self.domain.get(),
            }
        }
    }
}

#[repr(C)]
pub struct PlanSlices {
    following: Slice<i32>,
    readings: Slice<i64>,
    national: Slice<i32>,
    international: Slice<i32>,
    calling_codes: Slice<i16>,
    outcomes: Slice<i8>,
    placeholders: TextSlices,
    words: TextSlices,
    signs: Slice<u8>,
    dialled: i32,
    writes_plus: i32,
    decides_national: i32,
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
                words: Words::new(self.words.get()),
                signs: Signs(self.signs.get()),
                dialled: self.dialled as usize,
                writes_plus: self.writes_plus != 0,
                decides_national: self.decides_national != 0,
            }
        }
    }
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

/// The bytes of the longest of `texts`, if all of them are UTF-8.
///
/// # Safety
/// As for `Slice::get`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_longest(texts: &TextSlices, longest: &mut usize, are_utf8: &mut i32) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let found = unsafe { texts.get() }.longest_in_utf8();
        (*longest, *are_utf8) = (found.unwrap_or(0), found.is_some().into());
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
    no_addresses: &TextSlices,
    doubled: &TextSlices,
    carriers: &TextSlices,
    special_use: &TextSlices,
    letters: &LetterSlices,
    decided: &Decided,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let texts = unsafe { texts.get() };
        // SAFETY: promised by the caller.
        let (codes, hasher) = unsafe { decided.get(texts.len()) };
        // SAFETY: promised by the caller.
        let doubts = unsafe {
            Doubts {
                words: Words::new(words.get()),
                no_addresses: no_addresses.get(),
                doubled: doubled.get(),
                carriers: carriers.get(),
                special_use: special_use.get(),
            }
        };
        // SAFETY: promised by the caller.
        let letters = unsafe { letters.get() };
        emails::decide(&texts, &doubts, &letters, &decided.reasons, codes, hasher);
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

/// Which distinct text each of `texts` is, at `numbers`, and the row of the first of each, at `firsts`; how many they are
/// is `count`, -1 where they are too many.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with a number for each text.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_number(
    texts: &TextSlices,
    numbers: *mut i32,
    firsts: *mut u32,
    first_count: usize,
    count: &mut isize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let texts = unsafe { texts.get() };
        // SAFETY: promised by the caller.
        let (numbers, firsts) = unsafe { (slice_mut(numbers, texts.len()), slice_mut(firsts, first_count)) };
        *count = distinct::number(&texts, numbers, firsts).map_or(-1, |count| count as isize);
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
