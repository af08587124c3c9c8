//! The lines of a piece of a text file, counted and looked at as a whole.
#![forbid(unsafe_code)]

use crate::utf8::is_utf8;

/// So many bytes are counted in one byte.
const STRETCH: usize = 255;

/// Runs of line ends that something stands before: the lines that are not blank, each with its end.
pub fn count(piece: &[u8]) -> usize {
    let Some(behind) = piece.get(1..) else { return 0 };
    // Eight bits a counter, so that the processor counts many places at a time.
    let stretches = behind.chunks(STRETCH).zip(piece.chunks(STRETCH));
    stretches
        .map(|(ends, before)| {
            let pairs = ends.iter().zip(before);
            usize::from(pairs.fold(0, |count: u8, (&byte, &last)| count + u8::from(is_end(byte) & !is_end(last))))
        })
        .sum()
}

fn is_end(byte: u8) -> bool {
    (byte == b'\n') | (byte == b'\r')
}

/// Whether `piece` is UTF-8 without NUL, of so many lines, each closed by LF or CR LF and none longer than `longest`.
pub fn are_plain(piece: &[u8], lines: usize, longest: usize) -> bool {
    piece.last() == Some(&b'\n')
        && occurrences(piece, b'\n') == lines
        && occurrences(piece, 0) == 0
        && are_short(piece, longest)
        && has_no_lone_return(piece)
        && is_utf8(piece)
}

fn occurrences(piece: &[u8], wanted: u8) -> usize {
    let in_stretch = |stretch: &[u8]| stretch.iter().fold(0, |count: u8, &byte| count + u8::from(byte == wanted));
    piece.chunks(STRETCH).map(|stretch| usize::from(in_stretch(stretch))).sum()
}

fn has_no_lone_return(piece: &[u8]) -> bool {
    let returns = occurrences(piece, b'\r');
    returns == 0 || returns == piece.windows(2).filter(|pair| *pair == b"\r\n").count()
}

/// Whether every line, with its end, has `longest` bytes at most: from each end on there is another within so many.
fn are_short(mut piece: &[u8], longest: usize) -> bool {
    while piece.len() > longest {
        match piece[..longest].iter().rposition(|&byte| byte == b'\n') {
            Some(end) => piece = &piece[end + 1..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_not_blank_are_counted() {
        for (text, lines) in [("", 0), ("\n", 0), ("a", 0), ("a\n", 1), ("\n\na\r\n\r\nb\n", 2), ("a\rb\r", 2)] {
            assert_eq!(count(text.as_bytes()), lines, "{text:?}");
        }
        assert_eq!(count("ab\n".repeat(1_000).as_bytes()), 1_000);
    }

    #[test]
    fn plain_lines_are_text_that_ends_alike() {
        for (text, lines) in [("a\n", 1), ("a\r\nb\r\n", 2), ("\u{e9}\n\n", 2)] {
            assert!(are_plain(text.as_bytes(), lines, 4), "{text:?}");
        }
        for (text, lines) in
            [("", 0), ("a", 0), ("a\nb", 1), ("a\n", 2), ("a\rb\n", 1), ("a\r\n\rb\n", 2), ("\0\n", 1), ("abcd\n", 1)]
        {
            assert!(!are_plain(text.as_bytes(), lines, 4), "{text:?}");
        }
        assert!(!are_plain(b"\xff\n", 1, 4));
        assert!(are_plain(b"abc\nabc\n\nab\n", 4, 4));
        assert!(!are_plain(b"abc\nabcd\n", 2, 4));
    }
}
