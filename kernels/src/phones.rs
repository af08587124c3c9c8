//! Phone numbers of digits and usual punctuation: the valid ones written in E.164 and hashed, and what is certainly none.
//! Every other text is left to the definition in Python (`identifiers/phone_number.py`).
#![forbid(unsafe_code)]

use crate::columns::{trim, Reasons, Texts, Words, PENDING, UNDECIDED, VALID};
use crate::digits::{read_digits, value_of, Written, MIN_DIGITS, NO_DIGIT, ROOM};
use crate::marked::read_marked;
use crate::sha256::Hasher;
use crate::short::read_short;
use crate::signs::Signs;

/// A region that has no phone numbers, or none at all was named; a calling code whose plan was not compiled yet.
const NO_REGION: i32 = -1;

const WIDTH: usize = 16; // places of a row of `following`
const PLACES: u8 = 15; // the bits of a sign that are its place: what stands behind the digits leads a row to itself
const CODE_DIGITS: usize = 3;
const ZEROS: usize = 2; // the digits of 00
const MAX_CALLED: usize = 15; // digits before an extension
const LEAST_NATIONAL: usize = 2; // digits behind a calling code
const HEADS: usize = 1_000; // of so many digits
const MAX_HEAD: usize = 4; // plus sign and calling code
const MAX_RULE: usize = 4; // digits in the place of a prefix, as there are five with the one before them in 16 bits

/// The compiled numbering plans, as `records/phones/tables.py` has them, and what else is known of numbers.
pub struct Plans<'a> {
    pub following: &'a [i32],
    pub readings: &'a [i64],
    /// Where numbers begin that are read as one region dials, by the number of the region in this column.
    pub national: &'a [i32],
    /// And behind a plus, by calling code.
    pub international: &'a [i32],
    /// The calling code by the first three digits, 0: none.
    pub calling_codes: &'a [i16],
    /// The code of each outcome, and which outcome says that an international prefix came first.
    pub outcomes: &'a [i8],
    pub dialled: usize,
    /// Digits that are a placeholder, and what stands for a missing value.
    pub placeholders: Texts<'a>,
    pub words: Words<'a>,
    /// The meaning, around and in a number, of characters that are not digits and punctuation of ASCII.
    pub signs: Signs<'a>,
    /// Whether to write the plus, and to decide numbers that came without one.
    pub writes_plus: bool,
    pub decides_national: bool,
}

/// By the first three digits.
type Openings = [bool; HEADS];

/// The number that the first three digits are.
fn head_of(digits: &[u8]) -> Option<usize> {
    Some(digits.first_chunk::<CODE_DIGITS>()?.iter().fold(0, |head, &digit| head * 10 + value_of(digit)))
}

/// The verdict of a state on the digits that end in it, and how many of them were passed over before.
#[derive(Clone, Copy)]
struct Reading {
    outcome: usize,
    dropped: usize,
    calling_code: usize,
    rewriting: usize,
}

impl Reading {
    /// Rewrites the national number that begins at `begin`, and gives where it begins then.
    fn rewrite(&self, text: &mut [u8], begin: usize) -> usize {
        // The digits of the rule behind a one, how many follow that were written, how many are skipped behind these.
        let (mut rule, kept, skipped) = (self.rewriting & 0xffff, self.rewriting >> 16 & 0xff, self.rewriting >> 24);
        text.copy_within(begin..begin + kept, begin + skipped);
        let mut begin = begin + skipped;
        while rule > 1 {
            begin -= 1;
            text[begin] = b'0' + (rule % 10) as u8;
            rule /= 10;
        }
        begin
    }
}

/// The verdict on digits: a valid number, or the code of the reason why not, or PENDING.
type Answer = Result<Reading, i8>;

/// Decides each of `texts`, whose regions are `regions`: VALID with its hash, a reason, or PENDING.
pub fn decide(texts: &Texts, regions: &[i32], plans: &Plans, reasons: &Reasons, codes: &mut [i8], mut hasher: Hasher) {
    let openings = plans.openings();
    let mut numbers = [Number::NOTHING; LANES];
    let mut count = 0;
    for (row, text) in texts.iter().enumerate() {
        let number = &mut numbers[count];
        let is_read = texts.window(row).is_some_and(|window| read_short(window, text.len(), &mut number.written));
        if !is_read {
            match read(trim(text), plans, reasons) {
                Ok(written) => number.written = written,
                Err(code) => {
                    codes[row] = code;
                    continue;
                }
            }
        }
        (number.row, number.region) = (row, regions[row]);
        count += 1;
        if count == LANES {
            plans.decide_side_by_side(&numbers, &openings, reasons, codes, &mut hasher);
            count = 0;
        }
    }
    plans.decide_side_by_side(&numbers[..count], &openings, reasons, codes, &mut hasher);
    hasher.finish();
}

/// Numbers that are read side by side: the states are spread over more memory than is near, so one alone would wait for
/// every digit.
const LANES: usize = 8;

struct Number {
    row: usize,
    region: i32,
    written: Written,
}

impl Number {
    const NOTHING: Self = Self { row: 0, region: NO_REGION, written: Written::NOTHING };
}

/// The digits of `text`, or the code of the reason why it is no number, PENDING where that is not certain.
fn read(text: &[u8], plans: &Plans, reasons: &Reasons) -> Result<Written, i8> {
    if text.is_empty() {
        return Err(reasons.empty);
    }
    match read_digits(text) {
        Some(written) if written.is_day => Err(reasons.invalid_syntax),
        Some(written) if !written.is_doubtful => Ok(written),
        _ => read_marked(text, &plans.words, &plans.signs, reasons),
    }
}

impl Plans<'_> {
    /// Which first digits a placeholder has: most numbers have others.
    fn openings(&self) -> Openings {
        let mut openings = [false; HEADS];
        for opening in self.placeholders.iter().filter_map(head_of) {
            openings[opening] = true;
        }
        openings
    }

    /// Decides all of `numbers`, LANES at most.
    fn decide_side_by_side(
        &self,
        numbers: &[Number],
        openings: &Openings,
        reasons: &Reasons,
        codes: &mut [i8],
        hasher: &mut Hasher,
    ) {
        let readings = self.run_side_by_side(numbers);
        for (number, first) in numbers.iter().zip(readings) {
            let written = &number.written;
            codes[number.row] = match self.decide(written, first, openings, number.region, reasons) {
                Ok(reading) => {
                    self.add(hasher, number.row, written, &reading);
                    VALID
                }
                Err(code) => code,
            };
        }
    }

    /// The verdict on each of `numbers` where it is first looked for: behind its plus, or as its region dials.
    fn run_side_by_side(&self, numbers: &[Number]) -> [Option<Reading>; LANES] {
        let (mut starts, mut states, mut digits) = ([NO_REGION; LANES], [0; LANES], [&[NO_DIGIT; ROOM]; LANES]);
        let mut most = 0;
        for (lane, Number { region, written, .. }) in numbers.iter().enumerate() {
            let behind = self.start_behind(&written.digits[..written.count]).unwrap_or(NO_REGION);
            starts[lane] = if written.has_plus { behind } else { self.national[*region as usize] };
            if let Ok(start) = usize::try_from(starts[lane]) {
                states[lane] = start;
                digits[lane] = &written.digits;
                most = most.max(written.count);
            }
        }
        for place in 0..most {
            for (state, digits) in states.iter_mut().zip(&digits) {
                *state = self.following[*state + usize::from(digits[place] & PLACES)] as usize;
            }
        }
        std::array::from_fn(|lane| (starts[lane] >= 0).then(|| self.reading(states[lane])))
    }

    /// The valid number that the digits are, or why they are none. `first` is what they are where they were first looked
    /// for; `openings` are those of these plans.
    fn decide(
        &self,
        written: &Written,
        first: Option<Reading>,
        openings: &Openings,
        region: i32,
        reasons: &Reasons,
    ) -> Answer {
        let digits = &written.digits[..written.count];
        if head_of(digits).is_none_or(|opening| openings[opening]) && self.placeholders.has(digits) {
            return Err(reasons.placeholder);
        }
        // Most numbers are valid as they are first read.
        let is_first = !written.has_zeros && (written.has_plus || self.decides_national);
        let is_plain = !written.is_short && written.extension == 0 && is_first;
        if let Some(reading) = first.filter(|reading| is_plain && self.outcomes[reading.outcome] == VALID) {
            return Ok(reading);
        }
        let answer = if written.is_short {
            Err(self.refuse_short(written, region, reasons))
        } else if written.extension > 0 {
            self.read_extended(written, region, reasons)
        } else if written.has_plus {
            match self.start_behind(digits) {
                Some(_) => self.judged(first),
                None => self.read_unknown(digits, region, reasons),
            }
        } else if self.decides_national {
            self.read_dialled(digits, first, region, written.has_zeros, reasons)
        } else {
            Err(PENDING)
        };
        match answer {
            Err(_) if !self.decides_national => Err(PENDING),
            other => other,
        }
    }

    /// The verdict on digits that have a plus and no calling code: phonenumbers reads them as `region` dials then, and finds
    /// a number only behind an international prefix.
    fn read_unknown(&self, digits: &[u8], region: i32, reasons: &Reasons) -> Answer {
        let start = self.national[region as usize];
        if start == NO_REGION {
            return Err(reasons.not_possible);
        }
        match self.run(start, digits) {
            Some(reading) if reading.outcome == self.dialled => {
                self.read_behind(digits, reading.dropped).unwrap_or(Err(reasons.not_possible))
            }
            reading => Err(if matches!(self.judged(reading), Err(PENDING)) { PENDING } else { reasons.not_possible }),
        }
    }

    /// Why fewer digits than phonenumbers takes for a number are none.
    fn refuse_short(&self, written: &Written, region: i32, reasons: &Reasons) -> i8 {
        if written.has_plus || self.national[region as usize] != NO_REGION {
            reasons.invalid_syntax
        } else {
            reasons.no_country
        }
    }

    /// The verdict on digits with an extension: phonenumbers reads those before it, and tells it where they may be a
    /// number.
    fn read_extended(&self, written: &Written, region: i32, reasons: &Reasons) -> Answer {
        let digits = &written.digits[..written.count];
        let own = &digits[..written.count - written.extension];
        if own.len() > MAX_CALLED {
            return Err(PENDING);
        }
        let answer = Err(self.refuse_extended(own, written.has_plus, region, reasons));
        // With a plus in place of 00, a tilde behind fewer digits is punctuation.
        if written.has_zeros && own.len() < ZEROS + MIN_DIGITS {
            self.or_behind_zeros(answer, digits)
        } else {
            answer
        }
    }

    /// Why `own` digits, which an extension follows, are no number.
    fn refuse_extended(&self, own: &[u8], has_plus: bool, region: i32, reasons: &Reasons) -> i8 {
        let start = self.national[region as usize];
        if has_plus && self.code_of(own) != 0 {
            return self.refuse_extended_behind(own, reasons);
        }
        if start == NO_REGION {
            return if has_plus { reasons.not_possible } else { reasons.no_country };
        }
        match self.run(start, own) {
            Some(reading) if reading.outcome == self.dialled => {
                self.refuse_extended_behind(&own[reading.dropped..], reasons)
            }
            reading => match self.judged(reading) {
                Err(PENDING) => PENDING,
                _ if has_plus => reasons.not_possible,
                _ => reasons.extension,
            },
        }
    }

    /// The same of the digits behind a plus or an international prefix.
    fn refuse_extended_behind(&self, own: &[u8], reasons: &Reasons) -> i8 {
        match self.code_of(own) {
            0 => reasons.not_possible,
            code if own.len() < code.ilog10() as usize + 1 + LEAST_NATIONAL => reasons.not_possible,
            _ => reasons.extension,
        }
    }

    /// The verdict on digits dialled in `region`, whose plan says `first`.
    fn read_dialled(
        &self,
        digits: &[u8],
        first: Option<Reading>,
        region: i32,
        has_zeros: bool,
        reasons: &Reasons,
    ) -> Answer {
        let start = self.national[region as usize];
        let answer = if start == NO_REGION {
            Err(reasons.no_country)
        } else {
            match first {
                Some(reading) if reading.outcome == self.dialled => {
                    let answer = self.read_behind(digits, reading.dropped).unwrap_or(Err(reasons.not_possible));
                    if reading.dropped == ZEROS {
                        return answer; // read as if it had a plus
                    }
                    answer
                }
                reading => self.judged(reading),
            }
        };
        match answer {
            _ if !has_zeros => answer,
            Ok(reading) => self.unless_behind_zeros(reading, digits, reasons),
            _ => self.or_behind_zeros(answer, digits),
        }
    }

    /// The `reading` of `digits` that begin with 00, unless they are another number as if they had a plus.
    fn unless_behind_zeros(&self, reading: Reading, digits: &[u8], reasons: &Reasons) -> Answer {
        match self.read_behind(digits, ZEROS) {
            Some(Ok(other)) if other.calling_code != reading.calling_code => Err(reasons.no_country),
            Some(Ok(other)) if other.dropped != reading.dropped => Err(PENDING),
            Some(Err(PENDING)) => Err(PENDING),
            _ => Ok(reading),
        }
    }

    /// The `answer` on `digits` that begin with 00, which are read as if they had a plus where they are refused.
    fn or_behind_zeros(&self, answer: Answer, digits: &[u8]) -> Answer {
        match answer {
            Err(code) if code > VALID => match self.read_behind(digits, ZEROS) {
                Some(better @ (Ok(_) | Err(PENDING))) => better,
                _ => answer,
            },
            _ => answer,
        }
    }

    /// The verdict on the digits behind the first `passed`; None where no calling code begins there.
    fn read_behind(&self, digits: &[u8], passed: usize) -> Option<Answer> {
        let behind = &digits[passed..];
        let reading = self.run(self.start_behind(behind)?, behind);
        Some(self.judged(reading).map(|reading| Reading { dropped: reading.dropped + passed, ..reading }))
    }

    /// Where numbers begin that have the calling code in front of `digits`; None where there is none.
    fn start_behind(&self, digits: &[u8]) -> Option<i32> {
        let code = self.code_of(digits);
        (code != 0).then(|| self.international[code as usize])
    }

    /// The calling code in front of `digits`, 0: none.
    fn code_of(&self, digits: &[u8]) -> i16 {
        head_of(digits).map_or(0, |head| self.calling_codes[head])
    }

    fn judged(&self, reading: Option<Reading>) -> Answer {
        let Some(reading) = reading else { return Err(PENDING) };
        match self.outcomes[reading.outcome] {
            VALID => Ok(reading),
            UNDECIDED => Err(PENDING),
            code => Err(code),
        }
    }

    /// The verdict of the state where the digits that begin at `start` end; None for a region not compiled yet.
    fn run(&self, start: i32, digits: &[u8]) -> Option<Reading> {
        let mut state = usize::try_from(start).ok()?;
        for &digit in digits {
            state = self.following[state + value_of(digit)] as usize;
        }
        Some(self.reading(state))
    }

    fn reading(&self, state: usize) -> Reading {
        let reading = self.readings[state / WIDTH] as u64;
        Reading {
            outcome: (reading & 0xff) as usize,
            dropped: (reading >> 8 & 0xff) as usize,
            calling_code: (reading >> 16 & 0xffff) as usize,
            rewriting: (reading >> 32) as usize,
        }
    }

    /// Hashes the number as it is written in E.164.
    fn add(&self, hasher: &mut Hasher, row: usize, written: &Written, reading: &Reading) {
        const HEAD: usize = MAX_HEAD + MAX_RULE;
        let mut text = [b'+'; HEAD + ROOM];
        text[HEAD..].copy_from_slice(&written.digits);
        // All that stands before the digits takes the place of those that were dropped.
        let mut begin = HEAD + reading.dropped;
        if reading.rewriting != 0 {
            begin = reading.rewrite(&mut text, begin);
        }
        let code = reading.calling_code;
        for (place, value) in [(1, code), (2, code / 10), (3, code / 100)] {
            text[begin - place] = b'0' + (value % 10) as u8;
        }
        begin -= 1 + usize::from(code > 9) + usize::from(code > 99);
        if self.writes_plus {
            begin -= 1;
            text[begin] = b'+';
        }
        hasher.add(row, &text[begin..HEAD + written.count]);
    }
}
