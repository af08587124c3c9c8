//! User entries, compact JSON, and the operations of a body that they stand in.
#![forbid(unsafe_code)]

use crate::hexadecimal::{write_digits, HEX_BYTES};
use crate::lists::Lists;
use crate::sha256::DIGEST_BYTES;

/// The values of one kind, in the order of the lists.
pub enum Values<'a> {
    Hashes(&'a [[u8; DIGEST_BYTES]]),
    /// Texts as JSON writes them, with their quotation marks, and where each ends, from 0 on.
    Written {
        ends: &'a [i32],
        data: &'a [u8],
    },
}

/// One kind of a batch of records. `opening` is the name of its field, up to the bracket of the list.
pub struct Field<'a> {
    pub opening: &'a [u8],
    pub lists: Lists<'a>,
    pub values: Values<'a>,
}

impl Field<'_> {
    /// The bytes of the values of the record at `place`, each with a comma or the closing bracket; none without values.
    fn value_bytes(&self, place: i64) -> usize {
        let values = self.lists.at(place);
        match self.values {
            Values::Hashes(_) => values.len() * (HEX_BYTES + 3),
            Values::Written { ends, .. } if !values.is_empty() => {
                (ends[values.end] - ends[values.start]) as usize + values.len()
            }
            Values::Written { .. } => 0,
        }
    }
}

/// Some records of a batch.
pub struct Part<'a> {
    pub places: &'a [i64],
    pub fields: Vec<Field<'a>>,
}

/// The text around the users of every operation; a comma follows `suffix`.
pub struct Around<'a> {
    pub prefix: &'a [u8],
    pub suffix: &'a [u8],
}

/// The bytes of the entry of each record, without a comma.
pub fn measure(fields: &[Field], sizes: &mut [i64]) {
    for (place, size) in (0..).zip(sizes) {
        // Every field but the last is followed by a comma, and the braces take two.
        let fields = fields.iter().map(|field| match field.value_bytes(place) {
            0 => 0,
            bytes => (field.opening.len() + bytes + 1) as i64,
        });
        *size = (fields.sum::<i64>() + 1).max(2);
    }
}

/// Writes the users of all `parts`, spread evenly over so many `operations`, each of which is followed by a comma; gives
/// how many bytes that are. Less room than they need is a panic.
pub fn write(body: &mut [u8], around: &Around, operations: usize, parts: &[Part]) -> usize {
    let users: usize = parts.iter().map(|part| part.places.len()).sum();
    assert!(operations <= users && (users == 0 || operations > 0), "every operation has users");
    let mut written = Written { body, bytes: 0 };
    let (mut operation, mut left) = (0, 0);
    for part in parts {
        for &place in part.places {
            if left == 0 {
                left = (operation + 1) * users / operations - operation * users / operations;
                operation += 1;
                written.put(around.prefix);
            }
            written.put_user(&part.fields, place);
            left -= 1;
            if left == 0 {
                written.bytes -= 1; // no comma behind the last user
                written.put(around.suffix);
                written.put(b",");
            }
        }
    }
    written.bytes
}

struct Written<'a> {
    body: &'a mut [u8],
    bytes: usize,
}

impl Written<'_> {
    fn put(&mut self, text: &[u8]) {
        self.room(text.len()).copy_from_slice(text);
    }

    fn room(&mut self, bytes: usize) -> &mut [u8] {
        let begin = self.bytes;
        self.bytes += bytes;
        &mut self.body[begin..self.bytes]
    }

    /// The entry of the record at `place`, and a comma.
    fn put_user(&mut self, fields: &[Field], place: i64) {
        self.put(b"{");
        let first = self.bytes;
        for field in fields {
            let values = field.lists.at(place);
            if values.is_empty() {
                continue;
            }
            self.put(field.opening);
            match field.values {
                Values::Hashes(hashes) => hashes[values].iter().for_each(|hash| self.put_hash(hash)),
                Values::Written { ends, data } => values.for_each(|value| {
                    self.put(&data[ends[value] as usize..ends[value + 1] as usize]);
                    self.put(b",");
                }),
            }
            self.bytes -= 1; // the comma of the last value
            self.put(b"],");
        }
        self.bytes -= usize::from(self.bytes > first); // that of the last field
        self.put(b"},");
    }

    fn put_hash(&mut self, hash: &[u8; DIGEST_BYTES]) {
        let room: &mut [u8; HEX_BYTES + 3] = self.room(HEX_BYTES + 3).try_into().expect("as much as asked for");
        room[0] = b'"';
        write_digits((&mut room[1..=HEX_BYTES]).try_into().expect("as many digits"), hash);
        room[HEX_BYTES + 1..].copy_from_slice(b"\",");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND: Around = Around { prefix: b"<", suffix: b">" };

    fn fields() -> Vec<Field<'static>> {
        let hashes = Values::Hashes(&[[0x11; DIGEST_BYTES], [0x22; DIGEST_BYTES], [0x33; DIGEST_BYTES]]);
        let texts = Values::Written { ends: &[0, 3, 6], data: br#""a""b""# };
        vec![
            Field { opening: b"\"h\":[", lists: Lists { ends: &[0, 1, 1, 3, 3] }, values: hashes },
            Field { opening: b"\"t\":[", lists: Lists { ends: &[0, 1, 2, 2, 2] }, values: texts },
        ]
    }

    fn digits(digit: &str) -> String {
        format!("\"{}\"", digit.repeat(HEX_BYTES))
    }

    #[test]
    fn users_are_spread_over_operations() {
        let parts = [Part { places: &[0, 3], fields: fields() }, Part { places: &[1, 2, 1], fields: fields() }];
        let mut body = vec![b'.'; 1_000];
        let written = write(&mut body, &AROUND, 2, &parts);
        let (one, both) = (digits("1"), format!("{},{}", digits("2"), digits("3")));
        let expected = format!(r#"<{{"h":[{one}],"t":["a"]}},{{}}>,<{{"t":["b"]}},{{"h":[{both}]}},{{"t":["b"]}}>,"#);
        assert_eq!(String::from_utf8_lossy(&body[..written]), expected);
    }

    #[test]
    fn sizes_are_those_of_the_entries() {
        let mut sizes = [0; 4];
        measure(&fields(), &mut sizes);
        for (place, size) in (0..).zip(sizes) {
            let mut body = [0; 200];
            let part = Part { places: &[place], fields: fields() };
            assert_eq!(write(&mut body, &AROUND, 1, &[part]) as i64, size + 3, "{place}");
        }
    }

    #[test]
    fn no_users_make_no_text() {
        assert_eq!(write(&mut [], &AROUND, 0, &[]), 0);
    }
}
