//! The cells of a piece of a delimited file: where they end, and the columns they make.
//!
//! A piece is read where every reading of it is the same: text without NUL, lines that end in LF or CR LF and have as many
//! cells as the table or are blank, quotes around whole cells only, and line ends in them. Of any other, nothing is said.
#![forbid(unsafe_code)]

use crate::letters::{bits, note, parities, Block, BLOCK};

/// The form of a line: `width` cells, `delimiter` between them; with its end it has at most `longest` bytes.
#[repr(C)]
pub struct Shape {
    pub delimiter: u8,
    pub width: usize,
    pub longest: usize,
}

/// The lines at the beginning of a piece: how many are not blank, the bytes of all, and the quotes in them.
#[repr(C)]
#[derive(Debug, Default, PartialEq)]
pub struct Lines {
    pub count: usize,
    pub bytes: usize,
    pub quotes: i32,
}

/// Bits of `quotes`: cells stand in them; two in a cell are one letter.
const AROUND: i32 = 1;
const DOUBLED: i32 = 2;

/// The whole lines of `piece`, and at `ends` where each of their cells ends. None where anything calls for a careful look.
///
/// There is room for BLOCK ends more than the piece has bytes.
pub fn index(piece: &[u8], shape: &Shape, ends: &mut [u32]) -> Option<Lines> {
    let text = &piece[..=piece.iter().rposition(|&byte| byte == b'\n')?];
    let is_delimiter = !matches!(shape.delimiter, 0 | b'\n' | b'\r' | b'"' | 128..);
    if text.len() > i32::MAX as usize || shape.width == 0 || !is_delimiter {
        return None;
    }
    let mut reader = Reader::default();
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let (mut found, mut is_ascii) = (0, true);
    for (number, block) in blocks.iter().chain((!rest.is_empty()).then_some(&last)).enumerate() {
        let mut separators = reader.read(block, shape.delimiter)?;
        if number == blocks.len() {
            separators &= !(u64::MAX << rest.len()); // behind the text stands nothing
        }
        let room = ends[found..].first_chunk_mut().expect("room for a block more");
        found += note(separators, (number * BLOCK) as u32, room);
        is_ascii &= block.is_ascii();
    }
    // The last line end may stand in quotes that are still open: the line before them is the last one.
    found -= ends[..found].iter().rev().take_while(|&&end| text[end as usize] != b'\n').count();
    let text = &text[..ends[..found].last().map_or(0, |&end| end as usize + 1)];
    let mut count = reader.lines;
    if !are_lines(text, shape, count, &ends[..found]) {
        let blank = drop_blank(text, &mut ends[..found]);
        (count, found) = (count - blank, found - blank);
        if blank == 0 || !are_lines(text, shape, count, &ends[..found]) {
            return None;
        }
    }
    let is_text = is_ascii || std::str::from_utf8(text).is_ok();
    (is_text && count > 0).then_some(Lines { count, bytes: text.len(), quotes: reader.quotes })
}

/// Goes through a text block by block. What stood last in the block before is the lowest bit of a word.
struct Reader {
    lines: usize,
    quotes: i32,
    /// All bits where the block before ended in quotes.
    inside: u64,
    was_separator: u64,
    was_closing: u64,
    was_return: u64,
}

impl Default for Reader {
    /// Everything begins as behind the end of a line.
    fn default() -> Self {
        Reader { lines: 0, quotes: 0, inside: 0, was_separator: 1, was_closing: 0, was_return: 0 }
    }
}

impl Reader {
    /// The delimiters and line ends of `block` that are not in quotes. None where a quote stands elsewhere than around a
    /// whole cell, behind CR no LF outside quotes, and for a NUL.
    #[inline(always)]
    fn read(&mut self, block: &Block, delimiter: u8) -> Option<u64> {
        let (mut lines, mut returns, quotes) = (bits(block, b'\n'), bits(block, b'\r'), bits(block, b'"'));
        let mut separators = bits(block, delimiter) | lines;
        let mut strange = bits(block, 0);
        if quotes | self.inside | self.was_closing != 0 {
            let within = parities(quotes) ^ self.inside; // with the opening quote, without the closing one
            let (opening, closing) = (quotes & within, quotes & !within);
            (separators, lines, returns) = (separators & !within, lines & !within, returns & !within);
            let behind_separator = separators << 1 | self.was_separator;
            let behind_closing = closing << 1 | self.was_closing;
            // Of two quotes in a cell the second opens again: together they are a letter.
            strange |= opening & !(behind_separator | behind_closing);
            strange |= behind_closing & !(separators | returns | opening);
            self.quotes |= if opening & behind_closing == 0 { AROUND } else { AROUND | DOUBLED };
            self.inside = 0u64.wrapping_sub(within >> 63);
            self.was_closing = closing >> 63;
        }
        strange |= (returns << 1 | self.was_return) & !lines;
        self.was_separator = separators >> 63;
        self.was_return = returns >> 63;
        self.lines += lines.count_ones() as usize;
        (strange == 0).then_some(separators)
    }
}

/// Whether there are `count` lines, and each has its cells and is neither blank nor too long. Blank ones that were dropped
/// count to the line after them.
fn are_lines(text: &[u8], shape: &Shape, count: usize, ends: &[u32]) -> bool {
    let mut begin = 0;
    let has_cells = count.checked_mul(shape.width) == Some(ends.len());
    has_cells
        && ends.chunks_exact(shape.width).all(|cells| {
            let end = cells[shape.width - 1] as usize;
            let size = end - begin;
            let is_blank = size == 0 || size == 1 && text[begin] == b'\r';
            begin = end + 1;
            // There are as many line ends as lines: so no other cell ends in one, and none stands in quotes.
            text[end] == b'\n' && size < shape.longest && !is_blank
        })
}

/// Moves the ends of blank lines behind all others, and gives their number.
fn drop_blank(text: &[u8], ends: &mut [u32]) -> usize {
    let (mut kept, mut begin, mut is_first) = (0, 0, true);
    for at in 0..ends.len() {
        let end = ends[at] as usize;
        let is_last = text[end] == b'\n';
        if !(is_first && is_last && matches!(text[begin..end], [] | [b'\r'])) {
            ends[kept] = ends[at];
            kept += 1;
        }
        (begin, is_first) = (end + 1, is_last);
    }
    ends.len() - kept
}

/// At most so many bytes has the column at `position`.
pub fn size(width: usize, ends: &[u32], position: usize) -> usize {
    places(width, ends, position).map(|(begin, end)| end - begin).sum()
}

/// Where the cell at `position` of each line begins and ends.
fn places(width: usize, ends: &[u32], position: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    (0..ends.len() / width).map(move |line| {
        let place = line * width + position;
        let begin = if place == 0 { 0 } else { ends[place - 1] as usize + 1 };
        (begin, ends[place] as usize)
    })
}

/// A column that is copied: which, and where its texts go.
pub struct Column<'a> {
    pub position: usize,
    /// One more than there are lines.
    pub offsets: &'a mut [i32],
    pub data: &'a mut [u8],
}

/// Copies the cells of `column` out of a piece; `ends` and `quotes` are what `index` found.
pub fn copy(piece: &[u8], width: usize, quotes: i32, ends: &[u32], column: Column) {
    let Column { position, offsets, data } = column;
    let is_last = position + 1 == width;
    let (first, offsets) = offsets.split_first_mut().expect("an offset more than lines");
    assert_eq!(offsets.len(), ends.len() / width);
    *first = 0;
    let mut written = 0;
    for ((mut begin, end), offset) in places(width, ends, position).zip(offsets) {
        while position == 0 && begin < end && matches!(piece[begin], b'\n' | b'\r') {
            begin += 1; // of a blank line before
        }
        let end = if is_last && end > begin && piece[end - 1] == b'\r' { end - 1 } else { end };
        written += if quotes != 0 && end > begin && piece[begin] == b'"' {
            unquote(piece, begin + 1, end - 1, quotes & DOUBLED != 0, &mut data[written..])
        } else {
            put(piece, begin, end, &mut data[written..])
        };
        *offset = written as i32;
    }
}

/// Writes the bytes from `begin` to `end` to the front of `room`, and gives how many they are; behind them may stand
/// anything.
#[inline(always)]
fn put(piece: &[u8], begin: usize, end: usize, room: &mut [u8]) -> usize {
    // As many as most cells have: a copy whose length is not known before takes longer.
    const AT_ONCE: usize = 32;
    let size = end - begin;
    let bytes = &piece[begin..];
    match (bytes.first_chunk::<AT_ONCE>(), room.first_chunk_mut::<AT_ONCE>()) {
        (Some(bytes), Some(room)) if size <= AT_ONCE => *room = *bytes,
        _ => room[..size].copy_from_slice(&bytes[..size]),
    }
    size
}

/// The same for what stands in quotes: two of them in it are one.
fn unquote(piece: &[u8], begin: usize, end: usize, may_be_doubled: bool, room: &mut [u8]) -> usize {
    if !may_be_doubled || !has_quote(&piece[begin..], end - begin) {
        return put(piece, begin, end, room);
    }
    let (mut written, mut is_second) = (0, false);
    for &byte in &piece[begin..end] {
        is_second = byte == b'"' && !is_second;
        if !is_second {
            room[written] = byte;
            written += 1;
        }
    }
    written
}

fn has_quote(bytes: &[u8], size: usize) -> bool {
    match bytes.first_chunk() {
        Some(block) if size < BLOCK => bits(block, b'"') & !(u64::MAX << size) != 0,
        _ => bytes[..size].contains(&b'"'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { delimiter: b',', width: 2, longest: 500 };

    /// The lines of `piece` as texts of all its columns; None where it is not plain.
    fn read(piece: &[u8], shape: &Shape) -> Option<Vec<Vec<String>>> {
        let mut ends = vec![0; piece.len() + BLOCK];
        let lines = index(piece, shape, &mut ends)?;
        let ends = &ends[..lines.count * shape.width];
        let column = |position| {
            let mut offsets = vec![-1; lines.count + 1];
            let mut data = vec![0; size(shape.width, ends, position)];
            let column = Column { position, offsets: &mut offsets, data: &mut data };
            copy(piece, shape.width, lines.quotes, ends, column);
            let text = |pair: &[i32]| String::from_utf8(data[pair[0] as usize..pair[1] as usize].to_vec()).unwrap();
            offsets.windows(2).map(text).collect()
        };
        Some((0..shape.width).map(column).collect())
    }

    fn assert_columns(piece: &str, columns: [&[&str]; 2]) {
        assert_eq!(read(piece.as_bytes(), &SHAPE).expect(piece), columns, "{piece}");
    }

    #[test]
    fn cells_stand_between_delimiters() {
        assert_columns("a,b\n", [&["a"], &["b"]]);
        assert_columns("a,\r\n,bc\nleft,ov", [&["a", ""], &["", "bc"]]);
        assert_columns("\u{e9}, \n,\n", [&["\u{e9}", ""], &[" ", ""]]);
        assert_eq!(read(b"a b\n", &Shape { delimiter: b' ', ..SHAPE }).expect("plain"), [["a"], ["b"]]);
    }

    #[test]
    fn quotes_around_a_cell_are_taken_off() {
        assert_columns("\"a\",\"b,\"\n", [&["a"], &["b,"]]);
        assert_columns("\"\",b\r\na,\"\"\r\n", [&["", "a"], &["b", ""]]);
        assert_columns("\"a\"\"\",\"\"\"\"\n\"b\",c\n", [&["a\"", "b"], &["\"", "c"]]);
    }

    #[test]
    fn a_piece_with_another_reading_is_left() {
        for piece in [
            "",
            "a,b",
            "a\n",
            "a,b,c\n",
            "a,b\nc\n",
            "\n",
            "a,b\n \n",
            "a,b\n\"\"\n",
            "a,b\rc,d\n",
            "a\r,b\n",
            "a,b\r\r\n",
            "a,b\0\n",
            "a\"b,c\n",
            "\"a\"b,c\n",
            "\"a,b\n",
            "\"a\nb\",c,d\n",
            "\"a\nb\"\n",
            "\"a\"\r,c\n",
            "a,\"\"\"\n",
            "a, \"b\"\n",
        ] {
            assert_eq!(read(piece.as_bytes(), &SHAPE), None, "{piece:?}");
        }
        assert_eq!(read(b"a,\xff\n", &SHAPE), None);
        for delimiter in [0, b'"', b'\n', b'\r', 0xe9] {
            assert_eq!(read(b"a,b\n", &Shape { delimiter, ..SHAPE }), None);
        }
    }

    #[test]
    fn a_line_end_in_quotes_is_a_letter() {
        assert_columns("\"a\nb\",c\n", [&["a\nb"], &["c"]]);
        assert_columns("a,\"\r\n\r\"\r\n\"\n\"\"\n\",d\r\n", [&["a", "\n\"\n"], &["\r\n\r", "d"]]);
        assert_columns("a,b\n\"c\n\n,d\n", [&["a"], &["b"]]);
        assert_eq!(read(b"a,b\n\"c\nd\n", &Shape { longest: 4, ..SHAPE }).expect("plain"), [["a"], ["b"]]);
    }

    #[test]
    fn a_blank_line_is_no_line() {
        assert_columns("\n\r\na,b\n\n", [&["a"], &["b"]]);
        assert_columns("\n\n,b\r\n\r\n\"\",\n", [&["", ""], &["b", ""]]);
        assert_columns("a,\"\"\n\n\"\"\"\",b\n", [&["a", "\""], &["", "b"]]);
        let shape = Shape { delimiter: b',', width: 1, ..SHAPE };
        assert_eq!(read(b"\na\n\r\n\n\"b\"\n\"\"\n \r\n", &shape).expect("plain")[0], ["a", "b", "", " "]);
    }

    #[test]
    fn a_line_is_not_too_long() {
        let shape = Shape { delimiter: b';', width: 1, longest: 4 };
        assert_eq!(read(b" \nabc\nde\r\n", &shape).expect("plain")[0], [" ", "abc", "de"]);
        for piece in ["\n", "\r\n\n", "abcd\n", "a\nabc\r\n"] {
            assert_eq!(read(piece.as_bytes(), &shape), None, "{piece:?}");
        }
    }

    #[test]
    fn nothing_changes_where_blocks_end() {
        for size in 1..200 {
            let long = "x".repeat(size);
            let first = [&long, "", "y\"", &long];
            let piece = format!("{long},1\n,\"2\"\r\n\"y\"\"\",\"{long}\"\r\n{long},{long}\n");
            let second = ["1", "2", &long, &long];
            assert_columns(&piece, [&first, &second]);
            assert_columns(&format!("{long},1\n\"a\nb\",c\n"), [&[&long, "a\nb"], &["1", "c"]]);
            assert_columns(&format!("{long},1\n\"a\nb{long}\n"), [&[&long], &["1"]]);
            assert_eq!(read(format!("{long}\r,1\n").as_bytes(), &SHAPE), None);
        }
    }
}
