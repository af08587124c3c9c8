//! The class of each byte in an address.
#![forbid(unsafe_code)]

pub const OTHER: u8 = 0;
pub const LETTER: u8 = 1;
pub const DIGIT: u8 = 2;
pub const HYPHEN: u8 = 3;
pub const DOT: u8 = 4;
pub const AT: u8 = 5;
pub const ATOM: u8 = 6; // what else may stand in a local part
pub const CLASSES: usize = 7;

pub const fn class_of(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => LETTER,
        b'0'..=b'9' => DIGIT,
        b'-' => HYPHEN,
        b'.' => DOT,
        b'@' => AT,
        b'_' | b'!' | b'#'..=b'\'' | b'*' | b'+' | b'/' | b'=' | b'?' | b'^' | b'`' | b'{'..=b'~' => ATOM,
        _ => OTHER,
    }
}

/// The same as a table: which it is cannot be foreseen.
static CLASS: [u8; 256] = {
    let (mut classes, mut byte) = ([OTHER; 256], 0);
    while byte < classes.len() {
        classes[byte] = class_of(byte as u8);
        byte += 1;
    }
    classes
};

/// The class of a code point, OTHER for those that are not ASCII.
pub fn class_of_code(code: u32) -> u8 {
    CLASS[code.min(0xff) as usize]
}

/// Whether `byte` may stand between the dots of a local part.
pub fn is_atom(byte: u8) -> bool {
    !matches!(CLASS[usize::from(byte)], OTHER | DOT | AT)
}
