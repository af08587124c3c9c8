//! Bodies.

use super::{guarded, slice_mut, Slice};
use crate::entries;

#[repr(C)]
pub struct SlotSlices {
    begin: usize,
    hashes: Slice<u8>,
    chosen: Slice<i64>,
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
