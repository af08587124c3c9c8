//! Entries, which are tags with their records, in parts that the first bits of the tag choose. What stands in memory is
//! little-endian.
#![forbid(unsafe_code)]

use crate::tags::Tag;

/// A tag and its record.
pub type Entry = [u64; 3];

/// So many places there are for each entry where those that may be repeated are looked for.
const PLACES_AN_ENTRY: usize = 16;

/// Puts the entries of `tags` and `records` in the order of their part, of which there are as many as `ends`, a power of
/// two, and says where each part ends. Entries of one part stay in order.
pub fn sort(tags: &[Tag], records: &[i64], entries: &mut [Entry], ends: &mut [i64]) {
    assert!(ends.len().is_power_of_two() && ends.len() > 1 && tags.len() == records.len());
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
    for (tag, &record) in tags.iter().zip(records) {
        let place = &mut ends[part_of(tag)]; // which ends up behind the last
        entries[*place as usize] = [tag[0], tag[1], record.to_le() as u64];
        *place += 1;
    }
}

/// Buffers of equally many entries, one a part, and how many are in each.
pub struct Buffers<'a> {
    pub entries: &'a mut [Entry],
    pub filled: &'a mut [i64],
}

/// Copies the entries of each part, between its start and its end, into its buffer while there is room, moves the start
/// accordingly, and counts records from `first` on. Gives how many buffers are full.
pub fn spread(entries: &[Entry], starts: &mut [i64], ends: &[i64], first: i64, buffers: &mut Buffers) -> usize {
    let parts = buffers.filled.len();
    assert!(parts == starts.len() && parts == ends.len() && buffers.entries.len().is_multiple_of(parts.max(1)));
    let room = buffers.entries.len() / parts.max(1);
    let mut full = 0;
    for part in 0..parts {
        let (own, filled) = (&entries[starts[part] as usize..ends[part] as usize], buffers.filled[part] as usize);
        let place = &mut buffers.entries[part * room..][..room][filled..];
        let moved = own.len().min(place.len());
        for (copy, entry) in place.iter_mut().zip(own) {
            *copy = [entry[0], entry[1], u64::from_le(entry[2]).wrapping_add(first as u64).to_le()];
        }
        starts[part] += moved as i64;
        buffers.filled[part] += moved as i64;
        full += usize::from(filled + moved == room);
    }
    full
}

/// Puts the entries of which another has the same high half into `found`, ordered by tag and then by record; how many
/// they are. There must be room in `found` for all of `pieces`.
pub fn repeated(pieces: &[&[Entry]], found: &mut [Entry]) -> usize {
    let places = (pieces.iter().map(|piece| piece.len()).sum::<usize>().max(1) * PLACES_AN_ENTRY).next_power_of_two();
    // Two bits a place: whether there was an entry, and whether there was another. Which place it is the last bits say,
    // since the first are those of the part.
    let mut seen = vec![0u64; places.div_ceil(32)];
    let place_of = |entry: &Entry| {
        let place = u64::from_le(entry[0]) as usize & (places - 1);
        (place / 32, 2 * (place % 32))
    };
    for piece in pieces {
        for (word, bit) in piece.iter().map(place_of) {
            seen[word] |= (1 | (seen[word] >> bit & 1) << 1) << bit;
        }
    }
    let mut likely = 0;
    for piece in pieces {
        for entry in *piece {
            let (word, bit) = place_of(entry);
            // Written in any case, which costs less than a wrong guess of the processor.
            found[likely] = *entry;
            likely += (seen[word] >> bit >> 1 & 1) as usize;
        }
    }
    drop(seen);
    let found = &mut found[..likely];
    found.sort_unstable_by_key(|[high, low, record]| {
        (u64::from_le(*high), u64::from_le(*low), u64::from_le(*record) as i64)
    });
    keep_repeated(found)
}

/// Moves those of ordered entries that have their high half in common with a neighbour to the front; how many they are.
fn keep_repeated(entries: &mut [Entry]) -> usize {
    let (mut kept, mut before) = (0, None);
    for place in 0..entries.len() {
        let entry = entries[place];
        if before == Some(entry[0]) || entries.get(place + 1).is_some_and(|next| next[0] == entry[0]) {
            entries[kept] = entry;
            kept += 1;
        }
        before = Some(entry[0]);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(high: u64, low: u64, record: u64) -> Entry {
        [high, low, record].map(u64::to_le)
    }

    #[test]
    fn entries_come_in_the_order_of_their_part() {
        let tags = [[3 << 62, 1], [0, 2], [3 << 62, 3], [1 << 62, 4]].map(|tag: Tag| tag.map(u64::to_le));
        let (mut entries, mut ends) = ([entry(0, 0, 0); 4], [9; 4]);
        sort(&tags, &[0, 1, 2, 3], &mut entries, &mut ends);
        assert_eq!(ends, [1, 2, 2, 4]);
        assert_eq!(entries, [entry(0, 2, 1), entry(1 << 62, 4, 3), entry(3 << 62, 1, 0), entry(3 << 62, 3, 2)]);
    }

    #[test]
    fn buffers_take_what_they_have_room_for() {
        let entries: Vec<_> = (0..5).map(|number| entry(number, 0, number)).collect();
        let (mut inside, mut filled, mut starts) = ([entry(9, 9, 9); 6], [0, 1], [0, 1]);
        let mut buffers = Buffers { entries: &mut inside, filled: &mut filled };
        assert_eq!(spread(&entries, &mut starts, &[1, 5], 10, &mut buffers), 1);
        assert_eq!((starts, filled), ([1, 3], [1, 3]));
        assert_eq!(inside[0], entry(0, 0, 10));
        assert_eq!(inside[3..], [entry(9, 9, 9), entry(1, 0, 11), entry(2, 0, 12)]);
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
}
