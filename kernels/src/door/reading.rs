//! Pieces of text files.

use super::{guarded, Slice};
use crate::lines;

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
