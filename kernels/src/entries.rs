//! User entries on their way into a body: equal but for the hashes in them.
#![forbid(unsafe_code)]

use crate::sha256::DIGEST_BYTES;

const HEX_BYTES: usize = 2 * DIGEST_BYTES;

/// Where in each entry the digits of a hash stand: for entry n, those of the row `chosen[n]` of `hashes`.
pub struct Slot<'a> {
    pub begin: usize,
    pub hashes: &'a [u8],
    pub chosen: &'a [i64],
}

/// Puts `template`, with the digits of the hashes in its slots, at each of `places` of `body`.
pub fn write(body: &mut [u8], places: &[i64], template: &[u8], slots: &[Slot]) {
    for (number, &place) in places.iter().enumerate() {
        let entry = &mut body[place as usize..][..template.len()];
        entry.copy_from_slice(template);
        for slot in slots {
            let hash = &slot.hashes.as_chunks::<DIGEST_BYTES>().0[slot.chosen[number] as usize];
            write_digits(&mut entry[slot.begin..][..HEX_BYTES], hash);
        }
    }
}

fn write_digits(digits: &mut [u8], hash: &[u8]) {
    for (pair, byte) in digits.chunks_exact_mut(2).zip(hash) {
        pair.copy_from_slice(&DIGITS[usize::from(*byte)]);
    }
}

const fn digits() -> [[u8; 2]; 256] {
    let (letters, mut digits, mut byte) = (b"0123456789abcdef", [[0; 2]; 256], 0);
    while byte < 256 {
        digits[byte] = [letters[byte >> 4], letters[byte & 15]];
        byte += 1;
    }
    digits
}

static DIGITS: [[u8; 2]; 256] = digits();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_stand_in_their_slots() {
        let hashes: Vec<u8> = (0..64).map(|byte| byte * 4 + 3).collect();
        let template = [b"<".as_slice(), &[b'0'; HEX_BYTES], b">"].concat();
        let mut body = vec![b'.'; 2 * template.len() + 1];
        let places = [template.len() as i64 + 1, 0];
        write(&mut body, &places, &template, &[Slot { begin: 1, hashes: &hashes, chosen: &[0, 1] }]);
        let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let expected = format!("<{}>.<{}>", hexadecimal(&hashes[32..]), hexadecimal(&hashes[..32]));
        assert_eq!(String::from_utf8(body).unwrap(), expected);
    }
}
