//! The delimiters and line ends of a delimited text that stand outside quotes, block by block, by the rules of `csv`: a
//! quote means something only where a cell begins, a doubled one in quotes is a letter, CR, LF and CR LF end a line.
#![forbid(unsafe_code)]

use crate::letters::{bits, parities, Block, BLOCK};

/// Bits of `quotes`: cells stand in them; two in a cell are one letter.
pub const AROUND: i32 = 1;
pub const DOUBLED: i32 = 2;

/// Goes through a text block by block. What stood last in the block before is the lowest bit of a word.
pub struct Reader {
    delimiter: u8,
    pub lines: usize,
    pub quotes: i32,
    /// All bits where the block before ended in quotes.
    inside: u64,
    was_separator: u64,
    was_closing: u64,
}

/// Where a byte stands.
#[derive(Clone, Copy)]
enum Place {
    Begin,
    Cell,
    Quotes,
    BehindQuote,
}

impl Reader {
    /// Everything begins as behind the end of a line.
    pub fn new(delimiter: u8) -> Reader {
        Reader { delimiter, lines: 0, quotes: 0, inside: 0, was_separator: 1, was_closing: 0 }
    }

    /// The delimiters and line ends of `block` that are not in quotes; that of CR LF is its LF. `next` follows the block.
    /// None where something else than a cell's end follows a closing quote, which `csv` refuses.
    #[inline(always)]
    pub fn read(&mut self, block: &Block, next: u8) -> Option<u64> {
        let (feeds, returns, quotes) = (bits(block, b'\n'), bits(block, b'\r'), bits(block, b'"'));
        let lone = if returns == 0 { 0 } else { returns & !(feeds >> 1 | u64::from(next == b'\n') << (BLOCK - 1)) };
        let mut lines = feeds | lone;
        let mut separators = bits(block, self.delimiter) | lines;
        if quotes | self.inside | self.was_closing != 0 {
            let within = parities(quotes) ^ self.inside; // with the opening quote, without the closing one
            let (opening, closing) = (quotes & within, quotes & !within);
            let outside = separators & !within;
            let behind_separator = outside << 1 | self.was_separator;
            let behind_closing = closing << 1 | self.was_closing;
            // Of two quotes in a cell the second opens again: together they are a letter.
            let strange = opening & !(behind_separator | behind_closing)
                | behind_closing & !(outside | returns & !within | opening);
            if strange != 0 {
                return self.read_with_care(block, next); // of a quote that is a letter the bits know nothing
            }
            (separators, lines) = (outside, lines & !within);
            self.quotes |= if opening & behind_closing == 0 { AROUND } else { AROUND | DOUBLED };
            self.inside = 0u64.wrapping_sub(within >> 63);
            self.was_closing = closing >> 63;
        }
        self.was_separator = separators >> 63;
        self.lines += lines.count_ones() as usize;
        Some(separators)
    }

    /// The same, byte by byte.
    #[cold]
    fn read_with_care(&mut self, block: &Block, next: u8) -> Option<u64> {
        let mut place = match (self.inside, self.was_closing, self.was_separator) {
            (0, 0, 0) => Place::Cell,
            (0, 0, _) => Place::Begin,
            (0, ..) => Place::BehindQuote,
            _ => Place::Quotes,
        };
        let mut separators = 0;
        for (at, &byte) in block.iter().enumerate() {
            let following = *block.get(at + 1).unwrap_or(&next);
            let is_end = byte == b'\n' || byte == b'\r' && following != b'\n';
            place = match (place, byte) {
                (Place::Quotes, b'"') => Place::BehindQuote,
                (Place::Quotes, _) => Place::Quotes,
                _ if is_end || byte == self.delimiter => {
                    separators |= 1 << at;
                    self.lines += usize::from(is_end);
                    Place::Begin
                }
                (_, b'\r') => Place::Cell,
                (Place::Begin, b'"') => {
                    self.quotes |= AROUND;
                    Place::Quotes
                }
                (Place::BehindQuote, b'"') => {
                    self.quotes |= AROUND | DOUBLED;
                    Place::Quotes
                }
                (Place::BehindQuote, _) => return None,
                _ => Place::Cell,
            };
        }
        self.inside = if matches!(place, Place::Quotes) { u64::MAX } else { 0 };
        self.was_closing = matches!(place, Place::BehindQuote).into();
        self.was_separator = matches!(place, Place::Begin).into();
        Some(separators)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the separators of `text` stand, in blocks.
    fn places(text: &[u8]) -> Option<(Vec<usize>, usize)> {
        let mut reader = Reader::new(b',');
        let mut found = Vec::new();
        for (number, part) in text.chunks(BLOCK).enumerate() {
            let mut block = [b' '; BLOCK];
            block[..part.len()].copy_from_slice(part);
            let separators = reader.read(&block, *text.get((number + 1) * BLOCK).unwrap_or(&b' '))?;
            found.extend((0..part.len()).filter(|at| separators >> at & 1 == 1).map(|at| number * BLOCK + at));
        }
        Some((found, reader.lines))
    }

    #[test]
    fn cells_end_outside_quotes_only() {
        assert_eq!(places(b"a,\"b,\n\"\"\",c\r\nd\re\n"), Some((vec![1, 9, 12, 14, 16], 3)));
        assert_eq!(places(b"a\"b,\"\"\n\"\",x\"\n,\"\r\"\n"), Some((vec![3, 6, 9, 12, 13, 17], 3)));
        assert_eq!(places(b"\"a\"\r\"b\"\r\n"), Some((vec![3, 8], 2)));
    }

    #[test]
    fn letters_behind_a_closing_quote_have_no_reading() {
        for text in ["\"a\"b,c\n", "\"\"a\n", "a\"b,\"c\" \n", "\"a\" \"b\"\n"] {
            assert_eq!(places(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn blocks_may_end_anywhere() {
        let text = b"a\"b,\"c,\"\"\r\n\"\r\nd\r\"e\"\r\"f\"\"\",\"\"\n,\"\n";
        let (expected, lines) = places(text).expect("one reading");
        for size in 1..200 {
            let long = [&b"x".repeat(size)[..], text].concat();
            let moved = expected.iter().map(|place| place + size).collect();
            assert_eq!(places(&long), Some((moved, lines)), "{size}");
        }
    }
}
