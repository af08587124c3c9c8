//! Lower case and Unicode's normal form NFC, of characters whose meaning is told (`records/columns/letters.py`).
//!
//! A character is told with its lower case and its decomposition, so that a text is read from its front to its
//! end: each character stands alone, or joins what is written before it. Where that is not certain, nothing is.
#![forbid(unsafe_code)]

/// The kinds of characters in a local part. Greater numbers are marks: their canonical combining class, and this.
const LETTER: u8 = 1;
/// One that ends in a mark of a class once it is decomposed.
const COMPOSED: u8 = 2;
/// A mark is not in front. Of class 0, no other passes it.
const MARK: u8 = 3;
const COMPOSED_MARK: u8 = 4;
/// It may join the one right before it.
const JOINING: u8 = 5;
const JOINING_MARK: u8 = 6;
const CLASSES: u8 = 10;

const BITS: u32 = 21; // of a code point
const CODE: i64 = (1 << BITS) - 1;
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15; // an odd number with bits at random
const SPREAD_BITS: u32 = 40;
/// Where a character is written as several: what each of them is listed with.
const PLACES: [char; 3] = ['\u{1}', '\u{2}', '\u{3}'];
/// Where a domain has others in its place: what each of these is listed with.
const MAPPED: [char; 6] = ['\u{4}', '\u{5}', '\u{6}', '\u{7}', '\u{8}', '\u{9}'];
/// In place of the second, for what becomes of one; and of the first, for marks of a class that join any letter.
const ONE: char = '\0';
const JOINS: char = '\0';
/// Listed for what is not certain.
const UNCERTAIN: char = '\0';

/// The capital whose small letter depends on its place.
const CAPITAL_SIGMA: char = '\u{3a3}';

/// Parts of Hangul's syllables (Unicode, section 3.12).
const LEADS: std::ops::RangeInclusive<u32> = 0x1100..=0x1112;
const VOWELS: std::ops::RangeInclusive<u32> = 0x1161..=0x1175;
const TRAILS: std::ops::RangeInclusive<u32> = 0x11a8..=0x11c2;
const SYLLABLES: std::ops::RangeInclusive<u32> = 0xac00..=0xd7a3;
const VOWEL_COUNT: u32 = 21;
const TRAIL_COUNT: u32 = 28; // and none

pub struct Folding<'a> {
    /// By code point: what it is in a local part, 0 where that is not certain.
    pub kinds: &'a [u8],
    /// Two characters and one that becomes of them, each of BITS, where their product with SPREAD leads. The second is ONE
    /// for what becomes of one, and one of PLACES, or of MAPPED, for the parts of what becomes of it.
    pub folds: &'a [i64],
}

impl Folding<'_> {
    fn kind(&self, letter: char) -> u8 {
        if letter.is_ascii() {
            LETTER
        } else {
            self.kinds.get(letter as usize).copied().unwrap_or(0)
        }
    }

    /// Whether the code point of a character that is not ASCII is what it is wherever it stands.
    pub fn stays(&self, code: u32) -> bool {
        matches!(self.kinds.get(code as usize).copied().unwrap_or(0), LETTER..=COMPOSED_MARK)
    }

    /// Whether `letter`, or the first of its parts, is a mark that joins others, and never the first.
    pub fn is_mark(&self, letter: char) -> bool {
        let is_part = || self.one_of(letter, ONE).or_else(|| self.one_of(letter, PLACES[0]));
        let kind = match self.kind(letter) {
            0 => is_part().map_or(0, |part| self.kind(part)),
            kind => kind,
        };
        matches!(kind, MARK | COMPOSED_MARK | JOINING_MARK..)
    }

    /// The characters that a domain has in place of that of `code`, in lower case; none where that is not certain.
    pub fn mapped(&self, code: u32) -> impl Iterator<Item = u32> + '_ {
        let part = move |&place| self.one_of(char::from_u32(code)?, place);
        MAPPED.iter().map_while(part).map(u32::from)
    }

    /// Whether NFC makes another letter of some letter and this mark of a class.
    fn joins(&self, mark: char) -> bool {
        self.one_of(JOINS, mark).is_some()
    }

    fn one_of(&self, first: char, second: char) -> Option<char> {
        let key = i64::from(u32::from(first)) << BITS | i64::from(u32::from(second));
        let begin = ((key as u64).wrapping_mul(SPREAD) >> SPREAD_BITS) as usize;
        let last = self.folds.len().checked_sub(1)?;
        for step in 0..=last {
            let fold = self.folds[(begin + step) & last];
            if fold == 0 {
                return None;
            }
            if fold >> BITS == key {
                return Some(char::from_u32((fold & CODE) as u32).unwrap_or(UNCERTAIN));
            }
        }
        None
    }

    /// Writes the text of `codes`, in lower case as far as it is ASCII, to `room` as it is in lower case and NFC; None
    /// where that is not certain.
    pub fn fold(&self, codes: &[u32], room: &mut String) -> Option<()> {
        room.clear();
        let mut folded = Folded { text: room, starter: None };
        for (place, &code) in codes.iter().enumerate() {
            let letter = char::from_u32(code).filter(|&letter| letter != JOINS)?;
            if letter == CAPITAL_SIGMA {
                self.add(self.sigma(&codes[..place], &codes[place + 1..])?, &mut folded)?;
            } else if self.kind(letter) != 0 {
                self.add(letter, &mut folded)?;
            } else if let Some(one) = self.one_of(letter, ONE) {
                self.add(one, &mut folded)?;
            } else {
                let first = self.one_of(letter, PLACES[0])?;
                self.add(first, &mut folded)?;
                for part in PLACES[1..].iter().map_while(|&place| self.one_of(letter, place)) {
                    self.add(part, &mut folded)?;
                }
            }
        }
        Some(())
    }

    /// The small sigma between `before` and `behind`, which is another one at the end of a word (Unicode, section 3.13); None
    /// where it is not certain that a word goes on or ends there.
    fn sigma(&self, before: &[u32], behind: &[u32]) -> Option<char> {
        let is_ignored = |code: &&u32| matches!(**code, 0x27 | 0x2e | 0x3a | 0x5e | 0x60); // ' . : ^ `
        let is_of_word = |code: &u32| match *code {
            0x61..=0x7a | 0x386 | 0x388..=0x3ce => Some(true),
            0..=0x7f => Some(false),
            _ => None,
        };
        let follows = before.iter().rev().find(|code| !is_ignored(code)).map_or(Some(false), is_of_word)?;
        let goes_on = behind.iter().find(|code| !is_ignored(code)).map_or(Some(false), is_of_word)?;
        Some(if follows && !goes_on { '\u{3c2}' } else { '\u{3c3}' })
    }

    fn add(&self, letter: char, folded: &mut Folded) -> Option<()> {
        match self.kind(letter) {
            LETTER..=COMPOSED_MARK => folded.begin(letter),
            JOINING | JOINING_MARK => self.join_last(letter, folded)?,
            CLASSES.. => self.add_mark(letter, folded)?,
            _ => return None,
        }
        Some(())
    }

    /// Joins `letter` to the one right before it, or begins anew.
    fn join_last(&self, letter: char, folded: &mut Folded) -> Option<()> {
        let before = folded.text.chars().next_back().filter(|&before| self.kind(before) < CLASSES);
        match before.and_then(|before| syllable(before, letter).or_else(|| self.one_of(before, letter))) {
            Some(UNCERTAIN) => return None,
            Some(one) => {
                folded.text.pop();
                folded.begin(one);
            }
            None => folded.begin(letter),
        }
        Some(())
    }

    /// Joins the mark to the last letter that is none, or puts it behind the marks there that it does not pass.
    fn add_mark(&self, mark: char, folded: &mut Folded) -> Option<()> {
        let begin = folded.starter?;
        let letter = folded.text[begin..].chars().next()?;
        let (end, kind) = (begin + letter.len_utf8(), self.kind(mark));
        let (mut place, mut is_barred) = (end, false);
        for before in folded.text[end..].chars().take_while(|&before| self.kind(before) <= kind) {
            place += before.len_utf8();
            is_barred = self.kind(before) == kind;
        }
        if !is_barred {
            match self.one_of(letter, mark) {
                // Marks behind it might join the new letter.
                Some(one) if one == UNCERTAIN || place < folded.text.len() => return None,
                Some(one) => {
                    folded.text.replace_range(begin..end, one.encode_utf8(&mut [0; 4]));
                    return Some(());
                }
                // Its own mark might be the one that follows.
                None if matches!(self.kind(letter), COMPOSED | COMPOSED_MARK) && self.joins(mark) => return None,
                None => {}
            }
        }
        folded.text.insert(place, mark);
        Some(())
    }
}

/// The text that is written so far.
struct Folded<'r> {
    text: &'r mut String,
    /// Where the last character stands that is no mark of a class.
    starter: Option<usize>,
}

impl Folded<'_> {
    fn begin(&mut self, letter: char) {
        self.starter = Some(self.text.len());
        self.text.push(letter);
    }
}

/// The syllable of Hangul that two parts are.
fn syllable(before: char, letter: char) -> Option<char> {
    let (before, letter) = (u32::from(before), u32::from(letter));
    if LEADS.contains(&before) && VOWELS.contains(&letter) {
        let vowel = (before - LEADS.start()) * VOWEL_COUNT + letter - VOWELS.start();
        return char::from_u32(SYLLABLES.start() + vowel * TRAIL_COUNT);
    }
    let is_open = SYLLABLES.contains(&before) && (before - SYLLABLES.start()).is_multiple_of(TRAIL_COUNT);
    let trail = TRAILS.contains(&letter).then(|| letter - TRAILS.start() + 1)?;
    is_open.then(|| char::from_u32(before + trail)).flatten()
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The kinds and the folds of a few characters, as the package gives them.
    pub fn tables() -> (Vec<u8>, Vec<i64>) {
        let mut kinds = vec![0; 1 << 16];
        for (letters, kind) in [
            ("\u{df}\u{e19}\u{e32}\u{4e00}\u{1100}\u{ac00}\u{ac01}\u{fb03}\u{3002}", LETTER),
            ("\u{fc}\u{e9}\u{1ea5}\u{1ea1}", COMPOSED),
            ("\u{3bf}\u{3c2}\u{3c3}", LETTER),
            ("\u{e31}", MARK),
            ("\u{ddd}", COMPOSED_MARK),
            ("\u{1161}\u{11a8}", JOINING),
            ("\u{dcf}\u{9be}", JOINING_MARK),
            ("\u{338}", CLASSES + 1),
            ("\u{e38}", CLASSES + 103),
            ("\u{e48}", CLASSES + 107),
            ("\u{316}\u{323}\u{330}", CLASSES + 220),
            ("\u{301}\u{307}", CLASSES + 230),
        ] {
            for letter in letters.chars() {
                kinds[letter as usize] = kind;
            }
        }
        let folds = [
            ('e', '\u{301}', '\u{e9}'),
            ('a', '\u{323}', '\u{1ea1}'),
            ('a', '\u{301}', UNCERTAIN),
            ('\u{dc}', '\0', '\u{fc}'),
            ('\u{212a}', '\0', 'k'),
            ('\u{130}', PLACES[0], 'i'),
            ('\u{130}', PLACES[1], '\u{307}'),
            ('\u{341}', ONE, '\u{301}'),
            ('\u{fb03}', MAPPED[0], 'f'),
            ('\u{fb03}', MAPPED[1], 'f'),
            ('\u{fb03}', MAPPED[2], 'i'),
            ('\u{3002}', MAPPED[0], '.'),
            (JOINS, '\u{301}', '\u{301}'),
            (JOINS, '\u{323}', '\u{323}'),
        ];
        let mut table = vec![0; 32];
        for (first, second, one) in folds {
            let key = i64::from(u32::from(first)) << BITS | i64::from(u32::from(second));
            let mut place = ((key as u64).wrapping_mul(SPREAD) >> SPREAD_BITS) as usize;
            while table[place % 32] != 0 {
                place += 1;
            }
            table[place % 32] = key << BITS | i64::from(u32::from(one));
        }
        (kinds, table)
    }

    fn folded(text: &str) -> Option<String> {
        let (kinds, folds) = tables();
        let mut room = String::from("before");
        let codes: Vec<u32> = text.chars().map(u32::from).collect();
        Folding { kinds: &kinds, folds: &folds }.fold(&codes, &mut room).map(|()| room)
    }

    #[test]
    fn characters_become_others_and_join() {
        for (text, expected) in [
            ("a\u{dc}\u{df}\u{212a}", "a\u{fc}\u{df}k"),
            ("\u{130}b", "i\u{307}b"),
            ("e\u{301}b.e\u{301}", "\u{e9}b.\u{e9}"),
            ("b\u{301}\u{323}", "b\u{323}\u{301}"),
            ("b\u{301}\u{323}\u{330}\u{338}", "b\u{338}\u{323}\u{330}\u{301}"),
            ("e\u{323}\u{301}", "\u{e9}\u{323}"),
            ("e\u{301}\u{316}", "\u{e9}\u{316}"),
            ("a\u{338}\u{323}", "\u{1ea1}\u{338}"),
            ("a\u{330}\u{323}", "a\u{330}\u{323}"),
            ("\u{e32}\u{e48}\u{e38}", "\u{e32}\u{e38}\u{e48}"),
            ("\u{e32}\u{e31}\u{e38}", "\u{e32}\u{e31}\u{e38}"),
            ("\u{1100}\u{1161}\u{11a8}\u{11a8}", "\u{ac01}\u{11a8}"),
            ("a\u{1161}\u{11a8}", "a\u{1161}\u{11a8}"),
            ("\u{1100}\u{330}\u{1161}", "\u{1100}\u{330}\u{1161}"),
            ("\u{4e00}\u{9be}", "\u{4e00}\u{9be}"),
            ("\u{3a3}\u{3a3}", "\u{3c3}\u{3c2}"),
            ("\u{3bf}\u{3a3}1", "\u{3bf}\u{3c2}1"),
            ("\u{3bf}\u{3a3}.b", "\u{3bf}\u{3c3}.b"),
            ("\u{3bf}\u{3a3}:b", "\u{3bf}\u{3c3}:b"),
            ("1.\u{3a3}", "1.\u{3c3}"),
        ] {
            assert_eq!(folded(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn uncertain_texts_are_left() {
        for text in [
            "\u{e8}",
            "\u{e19}\u{3a3}",
            "a\u{301}",      // their letter is not certain
            "\u{301}a",      // no letter before it
            "\u{e9}\u{323}", // it passes the mark of the letter
            "a\u{330}\u{301}",
            "e\u{301}\u{323}",
            "e\u{301}\u{301}",
            "b\u{10ffff}",
            "\0\u{301}", // it looks like what marks that join are listed with
        ] {
            assert_eq!(folded(text), None, "{text}");
        }
    }

    #[test]
    fn marks_are_told_by_their_parts() {
        let (kinds, folds) = tables();
        let folding = Folding { kinds: &kinds, folds: &folds };
        let marks = ['\u{301}', '\u{341}', '\u{e31}', '\u{ddd}', '\u{dcf}'];
        assert!(marks.into_iter().all(|mark| folding.is_mark(mark)));
        assert!(!"ae\u{e9}\u{130}\u{1161}\u{10ffff}".chars().any(|letter| folding.is_mark(letter)));
    }

    #[test]
    fn tables_of_any_size_have_an_end() {
        let (kinds, table) = tables();
        for size in 0..table.len() {
            let full: Vec<i64> = table.iter().map(|&fold| fold | 1 << 62).take(size).collect();
            let folding = Folding { kinds: &kinds, folds: &full };
            assert_eq!(folding.one_of('e', '\u{301}'), None);
        }
    }
}
