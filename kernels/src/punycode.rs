//! Labels of domains in ASCII (RFC 3492).
#![forbid(unsafe_code)]

const PREFIX: &[u8] = b"xn--";
const BASE: u32 = 36;
const LEAST: u32 = 1;
const MOST: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const FIRST_BIAS: u32 = 72;
const FIRST_LETTER: u32 = 0x80;

/// The label that `encoded` stands for in the name system; None for what stands for none, or is no encoded label.
pub fn decode(encoded: &str) -> Option<String> {
    let behind = encoded.strip_prefix("xn--").filter(|behind| behind.is_ascii())?;
    let (basic, letters) = behind.rsplit_once('-').unwrap_or(("", behind));
    let mut label: Vec<char> = basic.chars().collect();
    let (mut letter, mut place, mut bias) = (FIRST_LETTER, 0, FIRST_BIAS);
    let mut digits = letters.bytes();
    while digits.len() > 0 {
        let before = place;
        place = pull_number(&mut digits, bias)?.checked_add(before)?;
        let all = label.len() as u32 + 1;
        bias = adapted(place - before, all, before == 0 && letter == FIRST_LETTER);
        letter = letter.checked_add(place / all)?;
        place %= all;
        label.insert(place as usize, char::from_u32(letter)?);
        place += 1;
    }
    Some(label.into_iter().collect())
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

/// Appends `label`, which has letters that are not ASCII, as it stands in the name system.
pub fn encode(label: &str, encoded: &mut Vec<u8>) {
    encoded.extend_from_slice(PREFIX);
    let begin = encoded.len();
    encoded.extend(label.bytes().filter(u8::is_ascii));
    let basic = (encoded.len() - begin) as u32;
    if basic > 0 {
        encoded.push(b'-');
    }
    let all = label.chars().count() as u32;
    let (mut letter, mut delta, mut bias, mut handled) = (FIRST_LETTER, 0, FIRST_BIAS, basic);
    while handled < all {
        let Some(next) = label.chars().map(u32::from).filter(|&one| one >= letter).min() else { return };
        delta += (next - letter) * (handled + 1);
        letter = next;
        for one in label.chars().map(u32::from) {
            if one < letter {
                delta += 1;
            } else if one == letter {
                push_number(delta, bias, encoded);
                bias = adapted(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta += 1;
        letter += 1;
    }
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
            encode(label, &mut encoded);
            assert_eq!(String::from_utf8(encoded).unwrap(), expected);
            assert_eq!(decode(expected).as_deref(), Some(label));
        }
    }

    #[test]
    fn what_stands_for_no_label_is_told() {
        for text in ["bcher-kva", "xn--bcher-k", "xn--b\u{fc}-kva", "xn--99999999999", "xn--a-K"] {
            assert_eq!(decode(text), None, "{text}");
        }
        assert_eq!(decode("xn--").as_deref(), Some(""));
    }
}
