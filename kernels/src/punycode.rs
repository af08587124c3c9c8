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
        }
    }
}
