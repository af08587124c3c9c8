//! Loops over whole columns for the package, which calls them without the lock of the interpreter. All behind `door` is
//! checked Rust, apart from the processor's instructions.

mod ascii;
mod cells;
mod characters;
mod classes;
mod columns;
mod comparison;
mod counters;
mod digits;
mod distinct;
mod door;
mod doubts;
mod emails;
mod filter;
mod folding;
mod foreign;
mod forms;
mod hexadecimal;
mod international;
mod letters;
mod lists;
mod lowered;
mod marked;
mod objects;
mod ordered;
mod outline;
mod parts;
mod phones;
mod punycode;
mod separators;
mod sha256;
mod short;
mod signs;
mod tags;
mod users;
mod utf8;

/// Which functions there are, and what they take: the package refuses any other number.
const VERSION: i32 = 46;

/// A digest of the sources, as `hatch_build.py` gives it; 0 under cargo. Tests tell by it a library of other sources.
const SOURCES: u64 = match option_env!("AUDIENCEKIT_KERNELS_SOURCES") {
    Some(digest) => match u64::from_str_radix(digest, 16) {
        Ok(number) => number,
        Err(_) => 0,
    },
    None => 0,
};

/// The version of this door.
#[no_mangle]
pub extern "C" fn audiencekit_version() -> i32 {
    std::panic::set_hook(Box::new(|_| ()));
    VERSION
}

/// The digest of the sources that this library was compiled from.
#[no_mangle]
pub extern "C" fn audiencekit_sources() -> u64 {
    SOURCES
}
