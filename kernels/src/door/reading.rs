//! Pieces of text files.

use super::{guarded, slice_mut, Slice, TextSlices};
use crate::{cells, objects};

/// A column that is read: at `position`, into these two places.
#[repr(C)]
pub struct ColumnSlices {
    position: usize,
    offsets: *mut i32,
    offset_count: usize,
    data: *mut u8,
    data_bytes: usize,
}

/// Where the places of lines and cells are noted.
#[repr(C)]
pub struct PlaceSlices {
    begins: *mut u32,
    begin_count: usize,
    ends: *mut u32,
    end_count: usize,
    apart: *mut cells::Apart,
    apart_count: usize,
}

impl PlaceSlices {
    /// # Safety
    /// As for `slice_mut`.
    unsafe fn get<'a>(&self) -> cells::Places<'a> {
        // SAFETY: promised by the caller.
        unsafe {
            cells::Places {
                begins: slice_mut(self.begins, self.begin_count),
                ends: slice_mut(self.ends, self.end_count),
                apart: slice_mut(self.apart, self.apart_count),
            }
        }
    }
}

/// The lines that `piece` begins with, none where nothing is said of it: where they stand, in `places`; their cells at
/// each of `positions` have `sizes` bytes at most.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with a size for each position.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_index_cells(
    piece: &Slice<u8>,
    shape: &cells::Shape,
    places: &PlaceSlices,
    positions: &Slice<usize>,
    sizes: *mut usize,
    lines: &mut cells::Lines,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (piece, mut places, positions) = unsafe { (piece.get(), places.get(), positions.get()) };
        // SAFETY: promised by the caller.
        let sizes = unsafe { slice_mut(sizes, positions.len()) };
        *lines = cells::index(piece, shape, &mut places).unwrap_or_default();
        let (begins, ends) = (&places.begins[..lines.count], &places.ends[..lines.count * lines.cells]);
        for (size, position) in sizes.iter_mut().zip(positions) {
            *size = cells::size(lines.cells, begins, ends, *position);
        }
    })
}

/// Copies columns out of a piece that `audiencekit_index_cells` has seen: the cells of lines that begin at `begins`, of each
/// of which `width` end at `ends`.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_copy_cells(
    piece: &Slice<u8>,
    width: usize,
    quotes: i32,
    begins: &Slice<u32>,
    ends: &Slice<u32>,
    columns: &Slice<ColumnSlices>,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (piece, begins, ends, columns) = unsafe { (piece.get(), begins.get(), ends.get(), columns.get()) };
        for &ColumnSlices { position, offsets, offset_count, data, data_bytes } in columns {
            // SAFETY: promised by the caller.
            let (offsets, data) = unsafe { (slice_mut(offsets, offset_count), slice_mut(data, data_bytes)) };
            let column = cells::Column { position, offsets, data };
            cells::copy(piece, width, quotes, (begins, ends), column);
        }
    })
}

/// A column of values, with a note of which are there.
#[repr(C)]
pub struct ValueSlices {
    offsets: *mut i32,
    offset_count: usize,
    filled: *mut u8,
    filled_count: usize,
    data: *mut u8,
    data_bytes: usize,
}

/// Reads the values of `keys` in the lines of `text`, an object each, into `columns`; notes which lines are `apart`.
///
/// # Safety
/// As for `Slice::get` and `slice_mut`, with `lines` notes.
#[no_mangle]
pub unsafe extern "C" fn audiencekit_read_objects(
    text: &Slice<u8>,
    keys: &TextSlices,
    columns: &Slice<ValueSlices>,
    apart: *mut u8,
    lines: usize,
) -> i32 {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (text, keys, columns, apart) = unsafe { (text.get(), keys.get(), columns.get(), slice_mut(apart, lines)) };
        let column = |room: &ValueSlices| {
            // SAFETY: promised by the caller.
            unsafe {
                objects::Column {
                    offsets: slice_mut(room.offsets, room.offset_count),
                    filled: slice_mut(room.filled, room.filled_count),
                    data: slice_mut(room.data, room.data_bytes),
                }
            }
        };
        objects::read(text, &keys, &mut columns.iter().map(column).collect::<Vec<_>>(), apart);
    })
}
