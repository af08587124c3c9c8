//! A column of texts as Arrow holds it.

/// What was decided of a value, as `columnar/decisions.py` and `checks.py` number it.
pub const VALID: i8 = 0;
pub const PENDING: i8 = -2;

/// Texts one behind the other in `data`; `offsets` are one more than there are texts.
pub struct Texts<'a> {
    pub offsets: &'a [i32],
    pub data: &'a [u8],
}

impl<'a> Texts<'a> {
    /// Each text. Offsets that do not ascend, or point outside, are a panic.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        let data = self.data;
        self.offsets.windows(2).map(move |ends| &data[ends[0] as usize..ends[1] as usize])
    }
}

/// `text` without the white space of ASCII at its ends.
pub fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t'..=b'\r', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'..=b'\r'] = text {
        text = rest;
    }
    text
}
