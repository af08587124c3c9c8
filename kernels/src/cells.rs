//! The cells of a piece of a delimited file: where they end, and the columns they make.
//!
//! Lines of text that have as many cells as they may are read here; blank ones are no lines. The others, few as a rule, are
//! set apart for a careful look. Of a piece with letters behind a closing quote nothing is said.
#![forbid(unsafe_code)]

use crate::letters::{bits, note, BLOCK};
use crate::separators::{Reader, DOUBLED};
use crate::utf8::is_utf8;

/// The form of a line: `width` cells, and `least` at least, with `delimiter` between them; with its end it has at most
/// `longest` bytes. Of its cells the first `wanted` are read, which all lines have.
#[repr(C)]
pub struct Shape {
    pub delimiter: u8,
    pub width: usize,
    pub least: usize,
    pub wanted: usize,
    pub longest: usize,
}

/// The lines at the beginning of a piece: how many are read and set apart, the cells of each whose ends are noted, the bytes
/// of all lines, and the quotes in them.
#[repr(C)]
#[derive(Debug, Default, PartialEq)]
pub struct Lines {
    pub count: usize,
    pub cells: usize,
    pub apart: usize,
    pub bytes: usize,
    pub quotes: i32,
}

/// A line that is set apart: its number among all that are not blank, from 0, and its bytes with its end.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Apart {
    pub number: u32,
    pub begin: u32,
    pub end: u32,
}

/// Where the lines that are read begin and each of their cells ends, and those that are set apart.
///
/// There is room for BLOCK ends more than the piece has bytes, and for half as many lines as it has bytes.
pub struct Places<'a> {
    pub begins: &'a mut [u32],
    pub ends: &'a mut [u32],
    pub apart: &'a mut [Apart],
}

/// The whole lines of `piece`. None where none can be read, or letters stand behind a closing quote.
pub fn index(piece: &[u8], shape: &Shape, places: &mut Places) -> Option<Lines> {
    // A CR at the end may be the first letter of a line end.
    let is_line_end = |(at, &byte): (usize, &u8)| byte == b'\n' || byte == b'\r' && at + 1 < piece.len();
    let end = piece.iter().enumerate().rev().find_map(|place| is_line_end(place).then_some(place.0))?;
    let text = &piece[..=end];
    let is_delimiter = !matches!(shape.delimiter, 0 | b'\n' | b'\r' | b'"' | 128..);
    let is_shape = 0 < shape.wanted && shape.wanted <= shape.least && shape.least <= shape.width;
    if text.len() > i32::MAX as usize || !is_shape || !is_delimiter {
        return None;
    }
    let mut reader = Reader::new(shape.delimiter);
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    let mut found = 0;
    for (number, block) in blocks.iter().chain((!rest.is_empty()).then_some(&last)).enumerate() {
        let mut separators = reader.read(block, *piece.get((number + 1) * BLOCK).unwrap_or(&b' '))?;
        if number == blocks.len() {
            separators &= !(u64::MAX << rest.len()); // behind the text stands nothing
        }
        let room = places.ends[found..].first_chunk_mut().expect("room for a block more");
        found += note(separators, (number * BLOCK) as u32, room);
    }
    // The last line end may stand in quotes that are still open: the line before them is the last one.
    found -= places.ends[..found].iter().rev().take_while(|&&end| !is_end(text[end as usize])).count();
    let text = &text[..places.ends[..found].last().map_or(0, |&end| end as usize + 1)];
    let (count, cells, apart) = if is_utf8(text) && are_lines(text, shape, reader.lines, places, found) {
        (reader.lines, shape.width, 0)
    } else {
        let (count, apart) = set_apart(text, shape, places, found);
        (count, shape.wanted, apart)
    };
    (count > 0).then_some(Lines { count, cells, apart, bytes: text.len(), quotes: reader.quotes })
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Whether all of `found` cells are those of `count` lines, each with its cells and neither blank nor too long; and notes
/// where they begin.
fn are_lines(text: &[u8], shape: &Shape, count: usize, places: &mut Places, found: usize) -> bool {
    let mut begin = 0;
    let lines = places.ends[..found].chunks_exact(shape.width);
    // More lines than there is room for are blank ones.
    count.checked_mul(shape.width) == Some(found)
        && count <= places.begins.len()
        && lines.zip(&mut *places.begins).all(|(cells, noted)| {
            *noted = begin as u32;
            let end = cells[shape.width - 1] as usize;
            let (size, is_blank) = (end - begin, is_blank(&text[begin..end]));
            begin = end + 1;
            // There are as many line ends as lines: so no other cell ends in one, and none stands in quotes.
            is_end(text[end]) && size < shape.longest && !is_blank
        })
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line, [] | [b'\r'])
}

/// The same line by line: how many are read, and how many set apart. Cells behind the last one are left out where nothing
/// stands in them.
fn set_apart(text: &[u8], shape: &Shape, places: &mut Places, found: usize) -> (usize, usize) {
    let (mut count, mut apart, mut kept) = (0, 0, 0);
    let (mut begin, mut first, mut broken) = (0, 0, first_broken(text, 0));
    for at in 0..found {
        let end = places.ends[at] as usize;
        if !is_end(text[end]) {
            continue;
        }
        let cells = at + 1 - first;
        let has_cells = shape.least <= cells
            && (cells <= shape.width
                || text[places.ends[first + shape.width - 1] as usize..end].iter().all(|&byte| shape.is_space(byte)));
        if has_cells && broken > end && end - begin < shape.longest && !is_blank(&text[begin..end]) {
            places.ends.copy_within(first..first + shape.wanted, kept);
            places.begins[count] = begin as u32;
            (count, kept) = (count + 1, kept + shape.wanted);
        } else if !is_blank(&text[begin..end]) {
            places.apart[apart] = Apart { number: (count + apart) as u32, begin: begin as u32, end: end as u32 + 1 };
            apart += 1;
        }
        (begin, first) = (end + 1, at + 1);
        if broken < begin {
            broken = first_broken(text, begin);
        }
    }
    (count, apart)
}

impl Shape {
    /// Whether a cell is empty where only such bytes stand, and delimiters.
    fn is_space(&self, byte: u8) -> bool {
        byte == self.delimiter || matches!(byte, b' ' | b'\t' | b'\r')
    }
}

/// The first byte from `begin` on that is no part of a character.
fn first_broken(text: &[u8], begin: usize) -> usize {
    std::str::from_utf8(&text[begin..]).map_or_else(|error| begin + error.valid_up_to(), |_| text.len())
}

/// At most so many bytes has the column at `position`.
pub fn size(width: usize, begins: &[u32], ends: &[u32], position: usize) -> usize {
    bounds(width, begins, ends, position).map(|(begin, end)| end - begin).sum()
}

/// Where the cell at `position` of each line begins and ends.
fn bounds<'a>(
    width: usize,
    begins: &'a [u32],
    ends: &'a [u32],
    position: usize,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    begins.iter().enumerate().map(move |(line, &begin)| {
        let place = line * width + position;
        let begin = if position == 0 { begin as usize } else { ends[place - 1] as usize + 1 };
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

/// Copies the cells of `column` out of a piece; `width` is of how many cells of each line the end is known; `quotes`, `begins` and `ends` are what `index` found.
pub fn copy(piece: &[u8], width: usize, quotes: i32, (begins, ends): (&[u32], &[u32]), column: Column) {
    let Column { position, offsets, data } = column;
    let is_last = position + 1 == width;
    let (first, offsets) = offsets.split_first_mut().expect("an offset more than lines");
    assert!(offsets.len() == begins.len() && begins.len().checked_mul(width) == Some(ends.len()) && position < width);
    *first = 0;
    let mut written = 0;
    for ((begin, end), offset) in bounds(width, begins, ends, position).zip(offsets) {
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

    const SHAPE: Shape = Shape { delimiter: b',', width: 2, least: 2, wanted: 2, longest: 500 };

    /// The lines of `piece` that are read, as texts of all its columns, and the others; None where nothing is said.
    fn read(piece: &[u8], shape: &Shape) -> Option<(Vec<Vec<String>>, Vec<(u32, String)>)> {
        let (mut begins, mut ends) = (vec![0; piece.len()], vec![0; piece.len() + BLOCK]);
        let mut apart = vec![Apart::default(); piece.len()];
        let mut places = Places { begins: &mut begins, ends: &mut ends, apart: &mut apart };
        let lines = index(piece, shape, &mut places)?;
        let (begins, ends) = (&begins[..lines.count], &ends[..lines.count * lines.cells]);
        let column = |position| {
            let mut offsets = vec![-1; lines.count + 1];
            let mut data = vec![0; size(lines.cells, begins, ends, position)];
            let column = Column { position, offsets: &mut offsets, data: &mut data };
            copy(piece, lines.cells, lines.quotes, (begins, ends), column);
            let text = |pair: &[i32]| String::from_utf8(data[pair[0] as usize..pair[1] as usize].to_vec()).unwrap();
            offsets.windows(2).map(text).collect()
        };
        let line = |line: &Apart| String::from_utf8_lossy(&piece[line.begin as usize..line.end as usize]).into_owned();
        let apart = apart[..lines.apart].iter().map(|one| (one.number, line(one))).collect();
        Some(((0..shape.wanted).map(column).collect(), apart))
    }

    fn assert_columns(piece: &str, columns: [&[&str]; 2]) {
        let (found, apart) = read(piece.as_bytes(), &SHAPE).expect(piece);
        assert_eq!(
            (found, apart),
            (columns.map(|column| column.iter().map(|&one| one.into()).collect()).into(), vec![])
        );
    }

    /// Of `piece`, in which `a,b` is read, the lines that are not.
    fn apart(piece: &[u8]) -> Vec<(u32, String)> {
        let (found, apart) = read(piece, &SHAPE).expect("lines");
        assert_eq!(found, [["a"], ["b"]], "{piece:?}");
        apart
    }

    #[test]
    fn cells_stand_between_delimiters() {
        assert_columns("a,b\n", [&["a"], &["b"]]);
        assert_columns("a,\r\n,bc\nleft,ov", [&["a", ""], &["", "bc"]]);
        assert_columns("\u{e9}, \n,\0\n", [&["\u{e9}", ""], &[" ", "\0"]]);
        assert_eq!(read(b"a b\n", &Shape { delimiter: b' ', ..SHAPE }).expect("plain").0, [["a"], ["b"]]);
    }

    #[test]
    fn quotes_around_a_cell_are_taken_off() {
        assert_columns("\"a\",\"b,\"\n", [&["a"], &["b,"]]);
        assert_columns("\"\",b\r\na,\"\"\r\n", [&["", "a"], &["b", ""]]);
        assert_columns("\"a\"\"\",\"\"\"\"\n\"b\",c\n", [&["a\"", "b"], &["\"", "c"]]);
    }

    #[test]
    fn a_quote_within_a_cell_is_a_letter() {
        assert_columns("a \"b\" c, \"\"\n\"a\",\"b\"\n", [&["a \"b\" c", "a"], &[" \"\"", "b"]]);
        assert_columns("a\",\"b\"\"\"\nc,d\"\n", [&["a\"", "c"], &["b\"", "d\""]]);
    }

    #[test]
    fn a_piece_without_a_reading_is_left() {
        for piece in ["", "a,b", "a\n", "\n", "\"a\"b,c\n", "\"a,b\n", "a,b\n\"c\"d,e\n", "a,\"\"\"\n", "a,b\r"] {
            assert_eq!(read(piece.as_bytes(), &SHAPE), None, "{piece:?}");
        }
        for delimiter in [0, b'"', b'\n', b'\r', 0xe9] {
            assert_eq!(read(b"a,b\n", &Shape { delimiter, ..SHAPE }), None);
        }
    }

    #[test]
    fn a_line_of_another_form_is_set_apart() {
        assert_eq!(apart(b"a,b\nc,\xff\n"), [(1, "c,\u{fffd}\n".into())]);
        assert_eq!(apart(b"a\r\n\na,b\n\"\"\r"), [(0, "a\r\n".into())]);
        assert_eq!(apart(b"\xc3\n\xc3,\r\na,b\n\xc3\xa9,,x\n").len(), 3);
        assert_eq!(apart(b"a,b\n\"c\nd\",e,f\n \n"), [(1, "\"c\nd\",e,f\n".into()), (2, " \n".into())]);
        assert_eq!(apart("c\u{e9}\n\u{e9}\na,b\n".as_bytes()).len(), 2);
    }

    #[test]
    fn empty_cells_behind_the_last_one_are_left_out() {
        assert_columns("a,b,\n\"c\",\"d\", ,\t\r\ne,f\n", [&["a", "c", "e"], &["b", "d", "f"]]);
        assert_eq!(apart(b"a,b,\r\nc,d,\"\"\n"), [(1, "c,d,\"\"\n".into())]);
    }

    #[test]
    fn cells_may_be_missing_behind_those_that_are_wanted() {
        let shape = Shape { width: 4, least: 2, ..SHAPE };
        let (found, apart) = read(b"a,b\r\nc,\"d\"\r\ne,f,g,h, \r\ni\n,j,\r\nk,l,m,n,o\n", &shape).expect("lines");
        assert_eq!(found, [["a", "c", "e", ""], ["b", "d", "f", "j"]]);
        assert_eq!(apart.iter().map(|one| one.0).collect::<Vec<_>>(), [3, 5]);
        for shape in [Shape { wanted: 3, ..shape }, Shape { wanted: 0, ..shape }, Shape { least: 5, ..shape }] {
            assert_eq!(read(b"a,b,c,d,e\n", &shape), None);
        }
    }

    #[test]
    fn a_carriage_return_alone_ends_a_line() {
        assert_columns("a,b\r\"c\",\"\r\"\r\re,f\n\rleft\r", [&["a", "c", "e"], &["b", "\r", "f"]]);
        assert_columns("a,b\rc,d\r\r\ne,\"f\"\r\n", [&["a", "c", "e"], &["b", "d", "f"]]);
    }

    #[test]
    fn a_line_end_in_quotes_is_a_letter() {
        assert_columns("\"a\nb\",c\n", [&["a\nb"], &["c"]]);
        assert_columns("a,\"\r\n\r\"\r\n\"\n\"\"\n\",d\r\n", [&["a", "\n\"\n"], &["\r\n\r", "d"]]);
        assert_columns("a,b\n\"c\n\n,d\n", [&["a"], &["b"]]);
        assert_eq!(read(b"a,b\n\"c\nd\n", &Shape { longest: 4, ..SHAPE }).expect("plain").0, [["a"], ["b"]]);
    }

    #[test]
    fn a_blank_line_is_no_line() {
        assert_columns("\n\r\na,b\n\n", [&["a"], &["b"]]);
        assert_columns("\n\n,b\r\n\r\n\"\",\n", [&["", ""], &["b", ""]]);
        assert_columns("a,\"\"\n\n\"\"\"\",b\n", [&["a", "\""], &["", "b"]]);
        let shape = Shape { delimiter: b',', width: 1, least: 1, wanted: 1, ..SHAPE };
        assert_eq!(read(b"\na\n\r\n\n\"b\"\n\"\"\n \r\n", &shape).expect("plain").0[0], ["a", "b", "", " "]);
    }

    #[test]
    fn a_line_is_not_too_long() {
        let shape = Shape { delimiter: b';', width: 1, least: 1, wanted: 1, longest: 4 };
        assert_eq!(read(b" \nabc\nde\r\n", &shape).expect("plain").0[0], [" ", "abc", "de"]);
        let (found, apart) = read(b"abcd\na\n\nabc\r\n", &shape).expect("a line");
        assert_eq!((found, apart), (vec![vec!["a".into()]], vec![(0, "abcd\n".into()), (2, "abc\r\n".into())]));
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
            assert_columns(&format!("{long}\"\",1\r\"\"\"\",\r"), [&[&format!("{long}\"\"")], &["1"]]);
            assert_eq!(read(format!("a,b\n\"{long}\"x,1\n").as_bytes(), &SHAPE), None);
        }
    }
}
