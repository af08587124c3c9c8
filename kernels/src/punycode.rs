//! Labels of domains in ASCII (RFC 3492).

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
const MOST_LETTERS: usize = 63;
/// The bytes behind the prefix of one.
const MOST_ENCODED: usize = MOST_LETTERS - PREFIX.len();
/// A label as far as it is written before it is known to be too long: one number more, of seven digits at most.
const ROOM: usize = 128;

/// The greatest number of a label that is not too long has so many digits at most.
const MOST_DIGITS: usize = 8;

/// So long at most is the label of `letters`, which is not longer itself than a label may be, in the name system.
pub fn bound(letters: &[u32]) -> usize {
    let others = letters.iter().filter(|&&letter| letter >= FIRST_LETTER).count();
    PREFIX.len() + letters.len() + 1 + others * (MOST_DIGITS - 1)
}

/// The signs of ASCII in the label that `encoded` stands for in the name system, and the digits that tell of its other
/// letters; None where there are none of these.
pub fn parts(encoded: &[u8]) -> Option<(&[u8], &[u8])> {
    let behind = encoded.strip_prefix(PREFIX).filter(|behind| behind.len() <= MOST_ENCODED)?;
    let (basic, digits) = match behind.iter().rposition(|&byte| byte == DELIMITER) {
        Some(0) => return None, // it stands behind signs of ASCII only
        Some(end) => (&behind[..end], &behind[end + 1..]),
        None => (&behind[..0], behind),
    };
    (!digits.is_empty()).then_some((basic, digits))
}

/// Gives each letter that `digits` tell of, and its place among the signs of ASCII, `basic` in number, and the letters
/// before, in the order in which they are written; returns whether they tell of letters only. No other digits tell of
/// the same: each number has one form, and each letter comes behind the last one or is greater.
pub fn decode(basic: usize, digits: &[u8], mut insert: impl FnMut(u32, u32)) -> bool {
    let (mut letter, mut place, mut bias, mut all) = (FIRST_LETTER, 0, FIRST_BIAS, basic as u32 + 1);
    let mut digits = digits.iter();
    while digits.len() > 0 {
        let Some(delta) = pull_number(&mut digits, bias) else { return false };
        bias = adapted(delta, all, all == basic as u32 + 1);
        let rounds = divided(place + delta, all);
        letter += rounds;
        place = place + delta - rounds * all;
        insert(letter, place);
        (place, all) = (place + 1, all + 1);
    }
    letter <= u32::from(char::MAX)
}

/// The number that the front of `digits` stands for; None for one that is greater than any in a label.
fn pull_number(digits: &mut std::slice::Iter<u8>, bias: u32) -> Option<u32> {
    let (mut number, mut weight, mut place) = (0u64, 1u64, BASE);
    while weight <= MOST_NUMBER {
        let value = u64::from(VALUES[usize::from(*digits.next()?)]);
        if value >= u64::from(BASE) {
            return None;
        }
        number += value * weight;
        let threshold = threshold(place, bias);
        if value < u64::from(threshold) {
            return (number <= MOST_NUMBER).then_some(number as u32);
        }
        weight *= u64::from(BASE - threshold);
        place += BASE;
    }
    None
}

/// No label has a greater number: it leads beyond the last letter of Unicode.
const MOST_NUMBER: u64 = (char::MAX as u64 + 1) * MOST_ENCODED as u64;

/// The value of each byte as a digit; BASE for what is none.
static VALUES: [u8; 256] = {
    let (mut values, mut value) = ([BASE as u8; 256], 0);
    while value < BASE as usize {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};

/// Appends the label of `letters`, code points of which some are not ASCII, as it stands in the name system; None for a
/// longer one than a label may be.
pub fn encode(letters: &[u32], encoded: &mut Vec<u8>) -> Option<()> {
    #[cfg(target_arch = "x86_64")]
    if x86::has_instructions() {
        // SAFETY: the processor has them.
        return unsafe { x86::encode(letters, encoded) };
    }
    encode_portably(letters, encoded)
}

#[inline(always)]
fn encode_portably(letters: &[u32], encoded: &mut Vec<u8>) -> Option<()> {
    let (mut room, mut end) = ([0; ROOM], PREFIX.len());
    room[..end].copy_from_slice(PREFIX);
    let (mut written, mut others) = (0u64, [0i32; MOST_LETTERS + 1]);
    if letters.len() > MOST_LETTERS {
        return None;
    }
    for (place, &letter) in letters.iter().enumerate() {
        // Both are written, and one of them is kept: which it is cannot be foreseen.
        let is_ascii = letter < FIRST_LETTER;
        room[end % ROOM] = letter as u8;
        others[(PREFIX.len() + place - end) % others.len()] = (letter << PLACE_BITS) as i32 | place as i32;
        end += usize::from(is_ascii);
        written |= u64::from(is_ascii) << place;
    }
    let count = PREFIX.len() + letters.len() - end;
    if written != 0 {
        room[end] = DELIMITER;
        end += 1;
    }
    let others = match count {
        0..=8 => sorted::<8>(&others, count),
        9..=16 => sorted::<16>(&others, count),
        17..=32 => sorted::<32>(&others, count),
        _ => sorted::<{ MOST_LETTERS + 1 }>(&others, count),
    };
    let basic = (letters.len() - count) as u32;
    let (mut letter, mut index, mut bias) = (FIRST_LETTER, 0, FIRST_BIAS);
    for (handled, &other) in (basic..).zip(&others[..count]) {
        if end > MOST_LETTERS {
            return None;
        }
        let (next, place) = (other as u32 >> PLACE_BITS, other as u32 & PLACE);
        let before = (written & ((1 << place) - 1)).count_ones();
        let delta = (next - letter) * (handled + 1) + before - index;
        end = put_number(delta, bias, &mut room, end);
        bias = adapted(delta, handled + 1, handled == basic);
        (letter, index, written) = (next, before + 1, written | 1 << place);
    }
    encoded.extend_from_slice(room.get(..end).filter(|label| label.len() <= MOST_LETTERS)?);
    Some(())
}

/// `letters`, of which no two are the same, in their order. So few are counted sooner than compared one by one, which a
/// processor cannot foresee.
#[inline(always)]
fn sorted<const N: usize>(letters: &[i32; MOST_LETTERS + 1], count: usize) -> [i32; MOST_LETTERS + 1] {
    let (mut sorted, mut lesser) = ([0; MOST_LETTERS + 1], [0; N]);
    for &other in &letters[..count] {
        for (lesser, &letter) in lesser.iter_mut().zip(letters) {
            *lesser += i32::from(other < letter);
        }
    }
    for (&lesser, &letter) in lesser.iter().zip(&letters[..count]) {
        sorted[lesser as usize] = letter;
    }
    sorted
}

/// Writes `number` to `room` from `end` on, and gives the end of it. Most have one digit to three, and which of these
/// cannot be foreseen.
#[inline(always)]
fn put_number(number: u32, bias: u32, room: &mut [u8; ROOM], end: usize) -> usize {
    let form = &FORMS[bias as usize];
    let whole = form.first.divided(number);
    let rest = form.second.divided(whole);
    room[end] = digit(form.first.rest(number, whole));
    room[end + 1] = digit(form.second.rest(whole, rest));
    room[end + 2] = digit(rest);
    if rest < form.third {
        return end + 1 + usize::from(number >= form.first.threshold) + usize::from(whole >= form.second.threshold);
    }
    let (mut whole, mut end, mut place) = (rest, end + 2, 3 * BASE);
    loop {
        let threshold = threshold(place, bias);
        if whole < threshold {
            room[end] = digit(whole);
            return end + 1;
        }
        let behind = whole - threshold;
        whole = behind / (BASE - threshold);
        room[end] = digit(threshold + behind % (BASE - threshold));
        end += 1;
        place += BASE;
    }
}

const fn threshold(place: u32, bias: u32) -> u32 {
    let threshold = place.saturating_sub(bias);
    if threshold < LEAST {
        LEAST
    } else if threshold > MOST {
        MOST
    } else {
        threshold
    }
}

/// How numbers of up to three digits are written.
struct Form {
    first: Place,
    second: Place,
    third: u32, // its threshold
}

/// One digit of them.
struct Place {
    threshold: u32,
    base: u32,
    reciprocal: u64,
}

impl Place {
    const fn new(place: u32, bias: u32) -> Self {
        let threshold = threshold(place, bias);
        Self { threshold, base: BASE - threshold, reciprocal: RECIPROCALS[(BASE - threshold) as usize] }
    }

    /// How much of `number` is left to the next places; 0 when it is less than the threshold.
    fn divided(&self, number: u32) -> u32 {
        ((u64::from(number.saturating_sub(self.threshold)) * self.reciprocal) >> 32) as u32
    }

    /// The digit of `number` when so much is left.
    fn rest(&self, number: u32, left: u32) -> u32 {
        number - left * self.base
    }
}

/// By bias. The greatest number makes less than the last of them.
static FORMS: [Form; 6 * BASE as usize] = {
    let mut forms =
        [const { Form { first: Place::new(BASE, 0), second: Place::new(BASE, 0), third: 0 } }; 6 * BASE as usize];
    let mut bias = 0;
    while bias < forms.len() as u32 {
        forms[bias as usize] = Form {
            first: Place::new(BASE, bias),
            second: Place::new(2 * BASE, bias),
            third: threshold(3 * BASE, bias),
        };
        bias += 1;
    }
    forms
};

/// `number / divisor`, for numbers less than 2 ^ 26, and to 2 ^ 32 / 35 where it is 35 at most.
fn divided(number: u32, divisor: u32) -> u32 {
    ((u64::from(number) * RECIPROCALS[divisor as usize]) >> 32) as u32
}

/// For each divisor, the least number greater than 2 ^ 32 through it.
static RECIPROCALS: [u64; MOST_LETTERS + 2] = {
    let (mut reciprocals, mut divisor) = ([0; MOST_LETTERS + 2], 1);
    while divisor < reciprocals.len() {
        reciprocals[divisor] = (1 << 32) / divisor as u64 + 1;
        divisor += 1;
    }
    reciprocals
};

/// The digit of the last bits of `value`.
fn digit(value: u32) -> u8 {
    DIGITS[value as usize % DIGITS.len()]
}

static DIGITS: [u8; 64] = *b"abcdefghijklmnopqrstuvwxyz0123456789----------------------------";

#[inline(always)]
fn adapted(delta: u32, handled: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / DAMP } else { delta / 2 };
    delta += divided(delta, handled);
    let mut places = 0;
    while delta > MOST_DELTA {
        delta /= BASE - LEAST;
        places += BASE;
    }
    places + u32::from(BIASES[delta as usize])
}

const MOST_DELTA: u32 = (BASE - LEAST) * MOST / 2;

/// The part of the bias that each delta adds.
static BIASES: [u8; MOST_DELTA as usize + 1] = {
    let (mut biases, mut delta) = ([0; MOST_DELTA as usize + 1], 0);
    while delta <= MOST_DELTA {
        biases[delta as usize] = ((BASE - LEAST + 1) * delta / (delta + SKEW)) as u8;
        delta += 1;
    }
    biases
};

/// The same with instructions that count bits, and compare eight numbers at a time.
#[cfg(target_arch = "x86_64")]
mod x86 {
    pub fn has_instructions() -> bool {
        std::is_x86_feature_detected!("avx2")
            && std::is_x86_feature_detected!("popcnt")
            && std::is_x86_feature_detected!("bmi1")
            && std::is_x86_feature_detected!("bmi2")
    }

    /// The processor must have the instructions that are named.
    #[target_feature(enable = "avx2,popcnt,bmi1,bmi2")]
    pub unsafe fn encode(letters: &[u32], encoded: &mut Vec<u8>) -> Option<()> {
        super::encode_portably(letters, encoded)
    }
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
            ("\u{e4}-b", "xn---b-uia"),
        ] {
            let mut encoded = Vec::new();
            assert_eq!(encode(&codes(label), &mut encoded), Some(()));
            assert_eq!(String::from_utf8(encoded).unwrap(), expected);
            assert_eq!(decoded(expected).as_deref(), Some(label));
        }
    }

    #[test]
    fn a_text_that_encodes_no_label_has_no_decoding() {
        for text in ["bcher-kva", "xn--bcher-k", "xn--b\u{fc}-kva\u{fc}", "xn--99999999999", "xn--a-K"] {
            assert_eq!(decoded(text), None, "{text}");
        }
        for text in ["xn--", "xn---", "xn--a-", "xn---tda"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }

    #[test]
    fn labels_end_where_the_name_system_ends_them() {
        for (label, fits) in [
            ("\u{fc}".repeat(57), true),
            ("\u{fc}".repeat(58), false),
            ("\u{fc}".repeat(64), false),
            ("\u{10ffff}".repeat(63), false),
            (format!("\u{10ffff}{}", "a".repeat(51)), true),
            (format!("\u{10ffff}{}", "a".repeat(52)), false),
            (format!("\u{10ffff}{}", "a".repeat(62)), false),
        ] {
            assert_eq!(encode(&codes(&label), &mut Vec::new()).is_some(), fits);
        }
        for letters in ["\u{10ffff}", "\u{80}\u{10ffff}", "\u{80}\u{40000}\u{80000}\u{c0000}\u{10ffff}"] {
            for front in 0..20 {
                let (label, mut encoded) = (format!("{}{letters}", "a".repeat(front)), Vec::new());
                assert_eq!(encode(&codes(&label), &mut encoded), Some(()));
                assert!(encoded.len() <= bound(&codes(&label)));
            }
        }
        assert_eq!(decoded(&format!("xn--{}-kva", "a".repeat(55))).map(|label| label.chars().count()), Some(56));
        assert_eq!(decoded(&format!("xn--{}-kva", "a".repeat(56))), None);
        assert_eq!(decoded(&format!("xn--{}-kva", "a".repeat(64))), None);
    }

    /// So that whatever is read need not be written again to know that it was written as it must be.
    #[test]
    fn labels_that_are_read_would_be_written_the_same() {
        let (mut seed, mut whole) = (5u64, 0);
        for round in 0..200_000 {
            let mut next = |count: u64| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 33) % count
            };
            let size = 1 + next([6, 12, 60][round % 3]);
            let signs = b"abcdefghijklmnopqrstuvwxyz0123456789-abcdkz0129-";
            let signs = &signs[[0, 36][round % 2]..];
            let behind: Vec<u8> = (0..size).map(|_| signs[next(signs.len() as u64) as usize]).collect();
            let label = format!("xn--{}", String::from_utf8(behind).unwrap());
            if let Some(decoded) = decoded(&label) {
                let mut again = Vec::new();
                assert_eq!(encode(&codes(&decoded), &mut again), Some(()), "{label}");
                assert_eq!(String::from_utf8(again).unwrap(), label);
                whole += 1;
            }
        }
        assert!(whole > 10_000);
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
            let size = 1 + next(40);
            let letters = ['a', '-', 'z', '\u{fc}', '\u{fd}', '\u{e9}', '\u{4e00}', '\u{1f600}', '\u{10ffff}'];
            let label: Vec<char> = (0..size).map(|_| letters[next(9) as usize]).collect();
            let (mut encoded, expected) = (Vec::new(), standards_own(&label));
            let codes = codes(&String::from_iter(&label));
            let is_short = encode(&codes, &mut encoded).is_some();
            assert_eq!(is_short, expected.len() <= MOST_LETTERS);
            assert_eq!(encoded, if is_short { expected } else { Vec::new() });
            let mut portably = Vec::new();
            assert_eq!(encode_portably(&codes, &mut portably).is_some(), is_short);
            assert_eq!(portably, encoded);
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
                    bias = standards_adapted(delta, handled + 1, handled == basic);
                    (delta, handled) = (0, handled + 1);
                }
            }
            (delta, letter) = (delta + 1, letter + 1);
        }
        encoded
    }

    fn push_number(mut number: u32, bias: u32, encoded: &mut Vec<u8>) {
        let mut place = BASE;
        loop {
            let threshold = place.saturating_sub(bias).clamp(LEAST, MOST);
            if number < threshold {
                return encoded.push(digit(number));
            }
            encoded.push(digit(threshold + (number - threshold) % (BASE - threshold)));
            number = (number - threshold) / (BASE - threshold);
            place += BASE;
        }
    }

    /// As in section 6.1.
    fn standards_adapted(delta: u32, handled: u32, is_first: bool) -> u32 {
        let mut delta = if is_first { delta / DAMP } else { delta / 2 };
        delta += delta / handled;
        let mut places = 0;
        while delta > (BASE - LEAST) * MOST / 2 {
            delta /= BASE - LEAST;
            places += BASE;
        }
        places + (BASE - LEAST + 1) * delta / (delta + SKEW)
    }

    fn codes(label: &str) -> Vec<u32> {
        label.chars().map(u32::from).collect()
    }

    /// None, too, for letters that are none: surrogates, which are certain nowhere.
    fn decoded(encoded: &str) -> Option<String> {
        let (basic, digits) = parts(encoded.as_bytes())?;
        let mut label: Vec<u32> = basic.iter().map(|&byte| byte.into()).collect();
        decode(basic.len(), digits, |letter, place| label.insert(place as usize, letter)).then_some(())?;
        label.into_iter().map(char::from_u32).collect()
    }
}
