//! Entries, which are tags with their records, in parts that the first bits of the tag choose. What stands in memory is
//! little-endian.
#![forbid(unsafe_code)]

use crate::tags::Tag;

/// A tag, its high half first, and its record: words of 32 bits, since nothing stands between one entry and the next.
pub type Entry = [u32; 5];

/// So many places there are for each entry where those that may be repeated are looked for.
const PLACES_AN_ENTRY: usize = 16;
/// From where on bits of the high half are looked at once more.
const OTHER_BITS: u32 = 24;

pub fn entry_of(tag: &Tag, record: u32) -> Entry {
    let [high, low] = tag.map(u64::from_le);
    [high as u32, (high >> 32) as u32, low as u32, (low >> 32) as u32, record].map(u32::to_le)
}

/// The first half of its tag.
pub fn high_of(entry: &Entry) -> u64 {
    u64::from(u32::from_le(entry[0])) | u64::from(u32::from_le(entry[1])) << 32
}

/// The second half.
pub fn low_of(entry: &Entry) -> u64 {
    u64::from(u32::from_le(entry[2])) | u64::from(u32::from_le(entry[3])) << 32
}

pub fn record_of(entry: &Entry) -> u32 {
    u32::from_le(entry[4])
}

/// Says in which `order` those of each part of `tags` stand together, as they came, and where each part `ends`: of these
/// there is a power of two.
pub fn sort(tags: &[Tag], order: &mut [u32], ends: &mut [i64]) {
    assert!(ends.len().is_power_of_two() && ends.len() > 1 && tags.len() == order.len());
    let bits = ends.len().trailing_zeros();
    let part_of = |tag: &Tag| (u64::from_le(tag[0]) >> (u64::BITS - bits)) as usize;
    ends.fill(0);
    for tag in tags {
        ends[part_of(tag)] += 1;
    }
    let mut start = 0;
    for end in &mut *ends {
        start += std::mem::replace(end, start);
    }
    let count = u32::try_from(tags.len()).expect("a batch is small");
    for (tag, number) in tags.iter().zip(0..count) {
        let place = &mut ends[part_of(tag)]; // which ends up behind the last
        order[*place as usize] = number;
        *place += 1;
    }
}

/// The tags of a batch and their records, counted from `first`; without `records` each tag has one of its own.
pub struct Tagged<'a> {
    pub tags: &'a [Tag],
    pub records: &'a [i64],
    pub first: i64,
}

impl Tagged<'_> {
    fn entry(&self, number: u32) -> Entry {
        let place = number as usize;
        let record = if self.records.is_empty() { place as i64 } else { self.records[place] };
        entry_of(&self.tags[place], u32::try_from(self.first + record).expect("a record that an entry can tell"))
    }
}

/// Buffers of equally many entries, one a part, and how many are in each.
pub struct Buffers<'a> {
    pub entries: &'a mut [Entry],
    pub filled: &'a mut [i64],
}

/// Puts entries of the tags of each part, which are in `order` between its start and its end, into its buffer while there
/// is room, and moves the start accordingly. Gives how many buffers are full.
pub fn spread(batch: &Tagged, order: &[u32], starts: &mut [i64], ends: &[i64], buffers: &mut Buffers) -> usize {
    let parts = buffers.filled.len();
    assert!(parts == starts.len() && parts == ends.len() && buffers.entries.len().is_multiple_of(parts.max(1)));
    let room = buffers.entries.len() / parts.max(1);
    let mut full = 0;
    for part in 0..parts {
        let (own, filled) = (&order[starts[part] as usize..ends[part] as usize], buffers.filled[part] as usize);
        let place = &mut buffers.entries[part * room..][..room][filled..];
        let moved = own.len().min(place.len());
        for (entry, number) in place.iter_mut().zip(own) {
            *entry = batch.entry(*number);
        }
        starts[part] += moved as i64;
        buffers.filled[part] += moved as i64;
        full += usize::from(filled + moved == room);
    }
    full
}

/// Of entries, by some bits of their high half, whether there may be several of them: two bits a place say whether there
/// was one, and whether there was another.
struct Seen {
    words: Vec<u32>,
    mask: usize,
    shift: u32,
}

impl Seen {
    /// Room for so many; the bits are those from `shift` on.
    fn with_room(count: usize, shift: u32) -> Self {
        let places = (count.max(1) * PLACES_AN_ENTRY).next_power_of_two();
        Self { words: vec![0; places.div_ceil(16)], mask: places - 1, shift }
    }

    fn place_of(&self, entry: &Entry) -> (usize, usize) {
        let place = (high_of(entry) >> self.shift) as usize & self.mask;
        (place / 16, 2 * (place % 16))
    }

    fn add(&mut self, entry: &Entry) {
        let (word, bit) = self.place_of(entry);
        let word = &mut self.words[word];
        *word |= (1 | (*word >> bit & 1) << 1) << bit;
    }

    /// 1 where there may be several, else 0.
    fn is_likely(&self, entry: &Entry) -> usize {
        let (word, bit) = self.place_of(entry);
        (self.words[word] >> bit >> 1 & 1) as usize
    }
}

/// Puts the entries of which another has the same high half into `found`, ordered by tag and then by record; how many
/// they are. There must be room in `found` for all of `pieces`.
pub fn repeated(pieces: &[&[Entry]], found: &mut [Entry]) -> usize {
    // The last bits are looked at, since the first are those of the part.
    let mut seen = Seen::with_room(pieces.iter().map(|piece| piece.len()).sum(), 0);
    pieces.iter().copied().flatten().for_each(|entry| seen.add(entry));
    let mut likely = 0;
    for piece in pieces {
        for entry in *piece {
            // Written in any case, which costs less than a wrong guess of the processor.
            found[likely] = *entry;
            likely += seen.is_likely(entry);
        }
    }
    drop(seen);
    let likely = keep_likely(&mut found[..likely]);
    let found = &mut found[..likely];
    found.sort_unstable_by_key(|entry| (high_of(entry), low_of(entry), record_of(entry)));
    keep_repeated(found)
}

/// Moves those of which there may be several by other bits, too, to the front; how many they are. Fewer are ordered:
/// that takes as long as all the rest.
fn keep_likely(entries: &mut [Entry]) -> usize {
    let mut seen = Seen::with_room(entries.len(), OTHER_BITS);
    entries.iter().for_each(|entry| seen.add(entry));
    let mut kept = 0;
    for place in 0..entries.len() {
        let entry = entries[place];
        entries[kept] = entry;
        kept += seen.is_likely(&entry);
    }
    kept
}

/// Moves those of ordered entries that have their high half in common with a neighbour to the front; how many they are.
fn keep_repeated(entries: &mut [Entry]) -> usize {
    let (mut kept, mut before) = (0, None);
    for place in 0..entries.len() {
        let (entry, high) = (entries[place], high_of(&entries[place]));
        if before == Some(high) || entries.get(place + 1).is_some_and(|next| high_of(next) == high) {
            entries[kept] = entry;
            kept += 1;
        }
        before = Some(high);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(high: u64, low: u64, record: u32) -> Entry {
        entry_of(&[high, low].map(u64::to_le), record)
    }

    #[test]
    fn tags_come_in_the_order_of_their_part() {
        let tags = [[3 << 62, 1], [0, 2], [3 << 62, 3], [1 << 62, 4]].map(|tag: Tag| tag.map(u64::to_le));
        let (mut order, mut ends) = ([9; 4], [9; 4]);
        sort(&tags, &mut order, &mut ends);
        assert_eq!((order, ends), ([1, 3, 0, 2], [1, 2, 2, 4]));
    }

    #[test]
    fn buffers_take_what_they_have_room_for() {
        let tags: Vec<_> = (0..5).map(|number: u64| [number.to_le(), 0]).collect();
        let (mut inside, mut filled, mut starts) = ([entry(9, 9, 9); 6], [0, 1], [0, 1]);
        let mut buffers = Buffers { entries: &mut inside, filled: &mut filled };
        let mut batch = Tagged { tags: &tags, records: &[], first: 10 };
        assert_eq!(spread(&batch, &[2, 0, 1, 3, 4], &mut starts, &[1, 5], &mut buffers), 1);
        buffers.filled[1] = 2;
        batch.records = &[7; 5];
        assert_eq!(spread(&batch, &[2, 0, 1, 3, 4], &mut starts, &[1, 5], &mut buffers), 1);
        assert_eq!((starts, filled), ([1, 4], [1, 3]));
        assert_eq!(inside[0], entry(2, 0, 12));
        assert_eq!(inside[3..], [entry(9, 9, 9), entry(0, 0, 10), entry(3, 0, 17)]);
    }

    #[test]
    #[should_panic]
    fn a_record_that_is_too_far() {
        Tagged { tags: &[[0; 2]], records: &[9], first: i64::from(u32::MAX) - 8 }.entry(0);
    }

    #[test]
    fn only_what_is_repeated_is_found() {
        let far = 1 << 40; // equal in all bits that are looked at first
        let pieces =
            [[entry(far, 5, 4), entry(7, 2, 3)], [entry(0, 5, 2), entry(7, 1, 1)], [entry(7, 1, 0), entry(8, 1, 9)]];
        let mut found = [entry(0, 0, 0); 6];
        assert_eq!(repeated(&pieces.each_ref().map(|piece| piece.as_slice()), &mut found), 3);
        assert_eq!(found[..3], [entry(7, 1, 0), entry(7, 1, 1), entry(7, 2, 3)]);
        assert_eq!(repeated(&[], &mut []), 0);
    }

    #[test]
    fn none_that_is_repeated_is_missed() {
        // Of a part: the first bits are equal, all others drawn. Every seventh is there again, once with another half.
        let drawn = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8 | 0xab << 56;
        let entries: Vec<_> = (0..70_000)
            .map(|number: u64| match number % 14 {
                0 => entry(drawn(number + 1), 1, number as u32),
                7 => entry(drawn(number + 1), number % 4, number as u32),
                _ => entry(drawn(number), 1, number as u32),
            })
            .collect();
        let mut expected: Vec<_> =
            entries.iter().copied().filter(|entry| [0, 1].contains(&(record_of(entry) % 7))).collect();
        expected.sort_unstable_by_key(|entry| (high_of(entry), low_of(entry), record_of(entry)));
        let mut found = vec![entry(0, 0, 0); entries.len()];
        let pieces: Vec<_> = entries.chunks(999).collect();
        assert_eq!(repeated(&pieces, &mut found), expected.len());
        assert_eq!(found[..expected.len()], expected);
    }
}
