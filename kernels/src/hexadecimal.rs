//! Hashes as lower-case hex digits.
#![forbid(unsafe_code)]

use crate::lists::Lists;
use crate::sha256::DIGEST_BYTES;

pub const HEX_BYTES: usize = 2 * DIGEST_BYTES;

/// Puts the digits of `hash` into `digits`.
pub fn write_digits(digits: &mut [u8; HEX_BYTES], hash: &[u8; DIGEST_BYTES]) {
    // Plain sums over both halves of every byte: the compiler makes them steps over sixteen bytes at a time.
    let (mut high, mut low) = ([0; DIGEST_BYTES], [0; DIGEST_BYTES]);
    for place in 0..DIGEST_BYTES {
        high[place] = digit(hash[place] >> 4);
        low[place] = digit(hash[place] & 15);
    }
    for place in 0..DIGEST_BYTES {
        digits[2 * place] = high[place];
        digits[2 * place + 1] = low[place];
    }
}

fn digit(value: u8) -> u8 {
    value + b'0' + if value > 9 { b'a' - b'0' - 10 } else { 0 }
}

/// Writes the digits of the hashes of the lists at `places` one behind the other, and gives in `ends` where the values
/// of each list end: one more than there are places, from 0 on.
pub fn write_lists(lists: &Lists, hashes: &[u8], places: &[i64], ends: &mut [i32], digits: &mut [u8]) {
    let (hashes, digits) = (hashes.as_chunks().0, digits.as_chunks_mut().0);
    let mut written = 0;
    ends[0] = 0;
    for (number, &place) in places.iter().enumerate() {
        for hash in &hashes[lists.at(place)] {
            write_digits(&mut digits[written], hash);
            written += 1;
        }
        ends[number + 1] = written as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_its_digits() {
        for byte in 0..=u8::MAX {
            let mut digits = [0; HEX_BYTES];
            write_digits(&mut digits, &[byte; DIGEST_BYTES]);
            assert_eq!(digits.as_slice(), format!("{byte:02x}").repeat(DIGEST_BYTES).as_bytes());
        }
    }

    #[test]
    fn chosen_lists_are_written_one_behind_the_other() {
        let hashes: Vec<u8> = (0..4).flat_map(|number| [number * 17; DIGEST_BYTES]).collect();
        let lists = Lists { ends: &[0, 1, 1, 3, 4] };
        let (mut ends, mut digits) = ([7; 4], vec![0; 3 * HEX_BYTES]);
        write_lists(&lists, &hashes, &[2, 1, 3], &mut ends, &mut digits);
        assert_eq!(ends, [0, 2, 2, 3]);
        let expected: String = [1, 2, 3].iter().map(|digit| digit.to_string().repeat(HEX_BYTES)).collect();
        assert_eq!(String::from_utf8(digits).unwrap(), expected);
    }
}
