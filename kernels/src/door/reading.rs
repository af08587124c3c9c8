//! Pieces of text files.

use super::{guarded, slice_mut, Slice};
use crate::{cells, lines};

/// A column that is read: at `position`, into these two places.
#[repr(C)]
pub struct ColumnSlices {
    position: usize,
    offsets: *mut i32,
    offset_count: usize,
    data: *mut u8,
    data_bytes: usize,
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

/// The lines that `piece` begins with, none where it is not plain; their cells end at `ends`, and those at each of
/// `positions` have `sizes` bytes at most.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with a size for each position.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_index_cells(
    piece: &Slice<u8>,
    shape: &cells::Shape,
    ends: *mut u32,
    end_count: usize,
    positions: &Slice<usize>,
    sizes: *mut usize,
    lines: &mut cells::Lines,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (piece, ends, positions) = unsafe { (piece.get(), slice_mut(ends, end_count), positions.get()) };
        // SAFETY: promised by the caller.
        let sizes = unsafe { slice_mut(sizes, positions.len()) };
        *lines = cells::index(piece, shape, ends).unwrap_or_default();
        let ends = &ends[..lines.count * shape.width];
        for (size, position) in sizes.iter_mut().zip(positions).filter(|_| lines.count > 0) {
            *size = cells::size(shape.width, ends, *position);
        }
    })
}

/// Copies columns out of a piece that `audiencekit_index_cells` has seen.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_copy_cells(
    piece: &Slice<u8>,
    shape: &cells::Shape,
    lines: &cells::Lines,
    ends: &Slice<u32>,
    columns: &Slice<ColumnSlices>,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (piece, ends, columns) = unsafe { (piece.get(), ends.get(), columns.get()) };
        for &ColumnSlices { position, offsets, offset_count, data, data_bytes } in columns {
            // SAFETY: promised by the caller.
            let (offsets, data) = unsafe { (slice_mut(offsets, offset_count), slice_mut(data, data_bytes)) };
            let column = cells::Column { position, offsets, data };
            cells::copy(piece, shape.width, lines.quotes, ends, column);
        }
    })
}
