//! Labels of domains in ASCII (RFC 3492).
#![forbid(unsafe_code)]

const PREFIX: &[u8] = b"xn--";
const DELIMITER: u8 = b'-';
const BASE: u32 = 36;
const LEAST: u32 = 1;
const MOST: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const FIRST_BIAS: u32 = 72;
const FIRST_LETTER: u32 = 0x80;
const PLACE_BITS: u32 = 6; // of a letter's place in its label
const PLACE: u32 = (1 << PLACE_BITS) - 1;

/// Letters of one label. A longer one has more bytes in the name system than a label may.
pub const MOST_LETTERS: usize = 63;
pub type Room = [char; MOST_LETTERS];

/// The letters that `encoded` stands for in the name system, in `room`; None for what stands for no label.
pub fn decode<'r>(encoded: &[u8], room: &'r mut Room) -> Option<&'r [char]> {
    let behind = encoded.strip_prefix(PREFIX).filter(|behind| behind.is_ascii())?;
    let end = behind.iter().rposition(|&byte| byte == DELIMITER);
    let (basic, letters) = end.map_or((&behind[..0], behind), |end| (&behind[..end], &behind[end + 1..]));
    let mut count = basic.len();
    for (place, &letter) in room.get_mut(..count)?.iter_mut().zip(basic) {
        *place = char::from(letter);
    }
    let (mut letter, mut place, mut bias) = (FIRST_LETTER, 0, FIRST_BIAS);
    let mut digits = letters.iter().copied();
    while digits.len() > 0 {
        let before = place;
        place = pull_number(&mut digits, bias)?.checked_add(before)?;
        let all = count as u32 + 1;
        bias = adapted(place - before, all, before == 0 && letter == FIRST_LETTER);
        letter = letter.checked_add(place / all)?;
        place %= all;
        let behind = room.get_mut(place as usize..=count)?;
        behind.copy_within(..behind.len() - 1, 1);
        behind[0] = char::from_u32(letter)?;
        count += 1;
        place += 1;
    }
    Some(&room[..count])
}

fn pull_number(digits: &mut impl Iterator<Item = u8>, bias: u32) -> Option<u32> {
    let (mut number, mut weight, mut place) = (0u32, 1u32, BASE);
    loop {
        let value = match digits.next()? {
            letter @ b'a'..=b'z' => u32::from(letter - b'a'),
            digit @ b'0'..=b'9' => u32::from(digit - b'0') + 26,
            _ => return None,
        };
        number = value.checked_mul(weight)?.checked_add(number)?;
        let threshold = place.saturating_sub(bias).clamp(LEAST, MOST);
        if value < threshold {
            return Some(number);
        }
        weight = weight.checked_mul(BASE - threshold)?;
        place += BASE;
    }
}

/// Appends the label of `letters`, some of which are not ASCII, as it stands in the name system; None for a longer one
/// than a label may be.
pub fn encode(letters: impl Iterator<Item = char>, encoded: &mut Vec<u8>) -> Option<()> {
    encoded.extend_from_slice(PREFIX);
    // A bit for each place whose letter is written, and the others with their places in the order in which they are.
    let (mut written, mut others, mut count) = (0u64, [0u32; MOST_LETTERS], 0);
    for (place, letter) in letters.enumerate() {
        if let Some(ascii) = u8::try_from(letter).ok().filter(u8::is_ascii) {
            encoded.push(ascii);
            written |= 1u64.checked_shl(place as u32)?;
        } else {
            *others.get_mut(count)? = u32::from(letter) << PLACE_BITS | place as u32;
            count += 1;
        }
        if place >= MOST_LETTERS {
            return None;
        }
    }
    if written != 0 {
        encoded.push(DELIMITER);
    }
    let others = sorted(&others[..count]);
    let (mut letter, mut index, mut bias, basic) = (FIRST_LETTER, 0, FIRST_BIAS, written.count_ones());
    for other in &others[..count] {
        let (next, place, handled) = (other >> PLACE_BITS, other & PLACE, written.count_ones());
        let before = (written & ((1 << place) - 1)).count_ones();
        let delta = (next - letter) * (handled + 1) + before - index;
        push_number(delta, bias, encoded);
        bias = adapted(delta, handled + 1, handled == basic);
        (letter, index, written) = (next, before + 1, written | 1 << place);
    }
    Some(())
}

/// `letters`, of which no two are the same, in their order. So few are counted sooner than compared one by one, which a
/// processor cannot foresee.
fn sorted(letters: &[u32]) -> [u32; MOST_LETTERS] {
    let mut sorted = [0; MOST_LETTERS];
    for &letter in letters {
        let lesser: u32 = letters.iter().map(|&other| u32::from(other < letter)).sum();
        sorted[lesser as usize] = letter;
    }
    sorted
}

fn push_number(mut number: u32, bias: u32, encoded: &mut Vec<u8>) {
    let mut place = BASE;
    loop {
        let threshold = place.saturating_sub(bias).clamp(LEAST, MOST);
        if number < threshold {
            return encoded.push(digit(number));
        }
        let (whole, rest) = ((number - threshold) / (BASE - threshold), (number - threshold) % (BASE - threshold));
        encoded.push(digit(threshold + rest));
        number = whole;
        place += BASE;
    }
}

fn digit(value: u32) -> u8 {
    let value = value as u8;
    if value < 26 {
        b'a' + value
    } else {
        b'0' + value - 26
    }
}

fn adapted(delta: u32, handled: u32, is_first: bool) -> u32 {
    let mut delta = delta / if is_first { DAMP } else { 2 };
    delta += delta / handled;
    let mut places = 0;
    while delta > (BASE - LEAST) * MOST / 2 {
        delta /= BASE - LEAST;
        places += BASE;
    }
    places + (BASE - LEAST + 1) * delta / (delta + SKEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of RFC 3492, section 7.1 (B, L, S), and labels of one letter.
    #[test]
    fn labels_are_written_as_the_standard_says() {
        for (label, expected) in [
            (
                "\u{4ed6}\u{4eec}\u{4e3a}\u{4ec0}\u{4e48}\u{4e0d}\u{8bf4}\u{4e2d}\u{6587}",
                "xn--ihqwcrb4cv8a8dqg056pqjye",
            ),
            ("3\u{5e74}b\u{7d44}\u{91d1}\u{516b}\u{5148}\u{751f}", "xn--3b-ww4c5e180e575a65lsy2b"),
            ("\u{fc}", "xn--tda"),
            ("b\u{fc}cher", "xn--bcher-kva"),
            ("a-\u{e9}", "xn--a--cja"),
        ] {
            let mut encoded = Vec::new();
            assert_eq!(encode(label.chars(), &mut encoded), Some(()));
            assert_eq!(String::from_utf8(encoded).unwrap(), expected);
            assert_eq!(decoded(expected).as_deref(), Some(label));
        }
    }

    #[test]
    fn a_text_that_encodes_no_label_has_no_decoding() {
        for text in ["bcher-kva", "xn--bcher-k", "xn--b\u{fc}-kva", "xn--99999999999", "xn--a-K"] {
            assert_eq!(decoded(text), None, "{text}");
        }
        assert_eq!(decoded("xn--").as_deref(), Some(""));
    }

    #[test]
    fn labels_end_where_the_name_system_ends_them() {
        for (label, fits) in [("\u{fc}".repeat(63), true), ("\u{fc}".repeat(64), false), ("a".repeat(64), false)] {
            assert_eq!(encode(label.chars(), &mut Vec::new()).is_some(), fits);
        }
        assert_eq!(decoded(&format!("xn--{}-kva", "a".repeat(62))).map(|label| label.chars().count()), Some(63));
        assert_eq!(decoded(&format!("xn--{}-kva", "a".repeat(63))), None);
        assert_eq!(decoded(&format!("xn--{}-kva", "a".repeat(64))), None);
    }

    /// Against the loop of RFC 3492, section 6.3, over labels of few letters in any order.
    #[test]
    fn labels_are_written_as_by_the_standards_own_loop() {
        let mut seed = 1u64;
        for _ in 0..5_000 {
            let mut next = |count: u64| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) % count
            };
            let size = 1 + next(12);
            let letters = ['a', '-', 'z', '\u{fc}', '\u{fd}', '\u{e9}', '\u{4e00}', '\u{1f600}', '\u{10ffff}'];
            let label: Vec<char> = (0..size).map(|_| letters[next(9) as usize]).collect();
            let mut encoded = Vec::new();
            encode(label.iter().copied(), &mut encoded);
            assert_eq!(encoded, standards_own(&label));
        }
    }

    fn standards_own(label: &[char]) -> Vec<u8> {
        let mut encoded = PREFIX.to_vec();
        encoded.extend(label.iter().filter(|letter| letter.is_ascii()).map(|&letter| letter as u8));
        let basic = (encoded.len() - PREFIX.len()) as u32;
        if basic > 0 {
            encoded.push(DELIMITER);
        }
        let (mut letter, mut delta, mut bias, mut handled) = (FIRST_LETTER, 0, FIRST_BIAS, basic);
        while let Some(next) = label.iter().map(|&one| u32::from(one)).filter(|&one| one >= letter).min() {
            delta += (next - letter) * (handled + 1);
            letter = next;
            for one in label.iter().map(|&one| u32::from(one)) {
                if one < letter {
                    delta += 1;
                } else if one == letter {
                    push_number(delta, bias, &mut encoded);
                    bias = adapted(delta, handled + 1, handled == basic);
                    (delta, handled) = (0, handled + 1);
                }
            }
            (delta, letter) = (delta + 1, letter + 1);
        }
        encoded
    }

    fn decoded(encoded: &str) -> Option<String> {
        decode(encoded.as_bytes(), &mut ['\0'; MOST_LETTERS]).map(|label| label.iter().collect())
    }
}
