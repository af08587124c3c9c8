//! The values of some keys in lines of JSON, one object a line.
//!
//! A line is read where its answer is certain: text, or a whole number of few digits, or nothing, stands at each wanted key,
//! and no key stands twice. The others are apart, those that are no JSON among them.
#![forbid(unsafe_code)]

use crate::columns::Texts;
use crate::utf8::is_utf8;

/// Objects and lists within each other, keys of an object and digits of a number are no more.
const DEEPEST: usize = 64;
const MOST_KEYS: usize = 256;
const MOST_DIGITS: usize = 18;

/// Where the values of a key go: one offset more than there are lines, and 1 for each line that has a value.
pub struct Column<'a> {
    pub offsets: &'a mut [i32],
    pub filled: &'a mut [u8],
    pub data: &'a mut [u8],
}

/// Reads the values of `keys` in the lines of `text`, into a column each; notes 1 for each line that is `apart`.
pub fn read(text: &[u8], keys: &Texts, columns: &mut [Column], apart: &mut [u8]) {
    let wanted: Vec<_> = keys.iter().collect();
    assert_eq!(wanted.len(), columns.len());
    let mut reader = Reader { wanted: &wanted, known: Vec::new(), found: vec![None; wanted.len()] };
    let is_text = is_utf8(text);
    columns.iter_mut().for_each(|column| column.offsets[0] = 0);
    let mut lines = text.split(|&byte| byte == b'\n');
    for (number, apart) in apart.iter_mut().enumerate() {
        let line = lines.next().expect("as many lines as are told");
        reader.found.fill(None);
        let is_read = (is_text || std::str::from_utf8(line).is_ok()) && reader.read(line).is_some();
        *apart = u8::from(!is_read);
        for (column, value) in columns.iter_mut().zip(&reader.found) {
            let value = if is_read { *value } else { None };
            let begin = column.offsets[number] as usize;
            let end = begin + value.map_or(0, <[u8]>::len);
            column.data[begin..end].copy_from_slice(value.unwrap_or_default());
            column.offsets[number + 1] = i32::try_from(end).expect("columns of less than 2 GB");
            column.filled[number] = u8::from(value.is_some());
        }
    }
}

/// Reads line after line; objects of one table have the same keys in the same order as a rule.
struct Reader<'a> {
    wanted: &'a [&'a [u8]],
    /// The keys of the line before, all different, and which of the wanted ones each is.
    known: Vec<(&'a [u8], Option<usize>)>,
    found: Vec<Option<&'a [u8]>>,
}

/// A value, as far as it matters.
enum Value<'a> {
    Text(&'a [u8]),
    Nothing,
    Other,
}

impl<'a> Reader<'a> {
    /// Notes what is wanted of an object; None where it is apart.
    fn read(&mut self, line: &'a [u8]) -> Option<()> {
        let mut line = Line { text: line, at: 0 };
        let mut keys = 0;
        line.take(b'{')?;
        if !line.takes(b'}') {
            loop {
                let key = line.text_without_escapes()?;
                line.take(b':')?;
                let place = self.place(key, keys)?;
                let value = line.value(0)?;
                match (place, value) {
                    (Some(place), Value::Text(text)) => self.found[place] = Some(text),
                    (Some(_), Value::Other) => return None,
                    _ => (),
                }
                keys += 1;
                if line.takes(b'}') {
                    break;
                }
                line.take(b',')?;
            }
        }
        line.next().is_none().then_some(())
    }

    /// Which of the wanted keys the key number `at` of a line is, if any; None where it stood before in the line.
    fn place(&mut self, key: &'a [u8], at: usize) -> Option<Option<usize>> {
        match self.known.get(at) {
            Some(&(known, place)) if known == key => Some(place),
            _ if at == MOST_KEYS || self.known[..at].iter().any(|&(known, _)| known == key) => None,
            _ => {
                let place = self.wanted.iter().position(|&wanted| wanted == key);
                self.known.truncate(at);
                self.known.push((key, place));
                Some(place)
            }
        }
    }
}

/// A line, read up to a place. Each function goes on from there; None where something else stands there.
struct Line<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Line<'a> {
    /// The next byte that is no space.
    fn next(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.next() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        self.takes(byte).then_some(())
    }

    /// A text, and whether it has escapes.
    fn text(&mut self) -> Option<(&'a [u8], bool)> {
        self.take(b'"')?;
        let (begin, mut has_escapes) = (self.at, false);
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                b'"' => return Some((&self.text[begin..self.at - 1], has_escapes)),
                b'\\' => {
                    has_escapes = true;
                    self.escape()?;
                }
                0..b' ' => return None,
                _ => (),
            }
        }
    }

    /// The rest of an escape, behind its backslash. None for half a character, too.
    fn escape(&mut self) -> Option<()> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        if byte == b'u' {
            let code = self.text.get(self.at..self.at + 4)?;
            self.at += 4;
            let is_half = matches!(code, [b'd' | b'D', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F', ..]);
            return (code.iter().all(u8::is_ascii_hexdigit) && !is_half).then_some(());
        }
        matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't').then_some(())
    }

    fn text_without_escapes(&mut self) -> Option<&'a [u8]> {
        self.text().and_then(|(text, has_escapes)| (!has_escapes).then_some(text))
    }

    fn value(&mut self, depth: usize) -> Option<Value<'a>> {
        match self.next()? {
            b'"' => self.text().map(|(text, has_escapes)| if has_escapes { Value::Other } else { Value::Text(text) }),
            b'n' => self.word(b"null").map(|_| Value::Nothing),
            b't' => self.word(b"true").map(|_| Value::Other),
            b'f' => self.word(b"false").map(|_| Value::Other),
            b'{' | b'[' if depth < DEEPEST => self.many(depth + 1).map(|_| Value::Other),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let is_there = self.text[self.at..].starts_with(word);
        self.at += word.len();
        is_there.then_some(())
    }

    /// A list, or an object that is a value itself: no key of it is wanted.
    fn many(&mut self, depth: usize) -> Option<()> {
        let is_object = self.takes(b'{');
        let end = if is_object { b'}' } else { b']' };
        if !is_object {
            self.take(b'[')?;
        }
        if self.takes(end) {
            return Some(());
        }
        loop {
            if is_object {
                self.text()?;
                self.take(b':')?;
            }
            self.value(depth)?;
            if self.takes(end) {
                return Some(());
            }
            self.take(b',')?;
        }
    }

    /// A number as it is written; one with a fraction is no text here.
    fn number(&mut self) -> Option<Value<'a>> {
        let begin = self.at;
        self.at += usize::from(self.text.get(self.at) == Some(&b'-'));
        let whole = self.digits()?;
        if whole.len() > 1 && whole[0] == b'0' {
            return None;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
            return self.ends_number().then_some(Value::Other);
        }
        self.ends_number().then_some(Value::Text(&self.text[begin..self.at]))
    }

    fn digits(&mut self) -> Option<&'a [u8]> {
        let rest = &self.text[self.at..];
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (0 < count && count <= MOST_DIGITS).then(|| &rest[..count])
    }

    fn ends_number(&self) -> bool {
        matches!(self.text.get(self.at), Some(b',' | b'}' | b']' | b' ' | b'\t' | b'\r'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of `a` and `b` in each line; None where it is apart.
    fn values(text: &str) -> Vec<Option<[Option<String>; 2]>> {
        let keys = Texts { offsets: &[0, 1, 2], data: b"ab" };
        let lines = text.split('\n').count();
        let mut rooms: Vec<_> = (0..2).map(|_| (vec![-1; lines + 1], vec![9; lines], vec![0; text.len()])).collect();
        let mut columns: Vec<_> =
            rooms.iter_mut().map(|(offsets, filled, data)| Column { offsets, filled, data }).collect();
        let mut apart = vec![9; lines];
        read(text.as_bytes(), &keys, &mut columns, &mut apart);
        let value = |number: usize, (offsets, filled, data): &(Vec<i32>, Vec<u8>, Vec<u8>)| {
            let value = &data[offsets[number] as usize..offsets[number + 1] as usize];
            (filled[number] == 1).then(|| String::from_utf8(value.to_vec()).unwrap())
        };
        (0..lines)
            .map(|number| (apart[number] == 0).then(|| [value(number, &rooms[0]), value(number, &rooms[1])]))
            .collect()
    }

    fn pair(a: &str, b: &str) -> Option<[Option<String>; 2]> {
        Some([a, b].map(|text| (text != "-").then(|| text.into())))
    }

    #[test]
    fn texts_and_whole_numbers_are_read() {
        let text = "{\"a\":\"x\",\"b\":\"\"}\n{ \"b\" : 12 ,\t\"a\":-0}\r\n{}\n{\"c\":\"\\u00e9\\/\",\"a\":null,\"b\":\"\u{e9}\"}";
        assert_eq!(values(text), [pair("x", ""), pair("-0", "12"), pair("-", "-"), pair("-", "\u{e9}")]);
    }

    #[test]
    fn other_values_are_passed_over() {
        for other in ["{}", "[]", "[1, {\"a\": [true]}, \"\\\"\"]", "{\"a\":2,\"a\":\"}\"}", "false", "0.5", "-1.25"] {
            assert_eq!(values(&format!("{{\"c\":{other},\"b\":\"y\"}}")), [pair("-", "y")], "{other}");
            assert_eq!(values(&format!("{{\"b\":{other}}}")), [None], "{other}");
        }
    }

    #[test]
    fn uncertain_lines_are_apart() {
        for line in [
            "",
            "x",
            "[]",
            "{\"a\":\"x\"",
            "{\"a\":\"x\"} x",
            "{\"a\":\"x\",}",
            "{\"a\" \"x\"}",
            "{a:1}",
            "{\"c\":1,\"c\":2}",
            "{\"a\":\"\\n\"}",
            "{\"\\u0061\":1}",
            "{\"c\":\"\\x\"}",
            "{\"c\":\"\\ud800\"}",
            "{\"c\":\"\\u12\"}",
            "{\"c\":nul}",
            "{\"c\":01}",
            "{\"c\":1e5}",
            "{\"c\":-}",
            "{\"c\":1.}",
            "{\"c\":1234567890123456789}",
            "{\"c\":\"\u{1}\"}",
            "{\"c\":[1,]}",
            "{\"c\":{\"d\"}}",
            "{\"c\":[}",
            "{\"c\":1",
            "{\"c\":+1}",
            "{\"c\":NaN}",
        ] {
            assert_eq!(values(line), [None], "{line}");
        }
        let deep = |depth| format!("{{\"c\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(values(&format!("{}\n{}", deep(64), deep(65))), [pair("-", "-"), None]);
    }

    #[test]
    fn keys_may_differ_from_line_to_line() {
        let text = "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}\n{\"c\":5,\"b\":6,\"a\":7}\n{\"b\":8,\"b\":9}\n{\"a\":1,\"c\":2,\"a\":3}\n{\"b\":0}";
        assert_eq!(values(text), [pair("1", "2"), pair("4", "3"), pair("7", "6"), None, None, pair("-", "0")]);
    }
}
