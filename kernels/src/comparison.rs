//! The entries of a part compared with the members of a snapshot: who is new or due, and who has gone.
#![forbid(unsafe_code)]

use crate::ordered::Ordered;
use crate::parts::{high_of, low_of, record_of, Entry};

/// Of the second half of a tag these are beyond its mark.
const BEYOND_MARK: u32 = 48;

/// The members of a part, ascending: the two halves of the mark of each, and its day.
pub struct Members<'a> {
    pub high: &'a [u64],
    pub low: &'a [u16],
    pub days: &'a [i16],
}

/// Days that decide, and the values that stand for the day of a member in doubt, and of no member.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Horizon {
    pub lapsed_before: i64,
    pub renewed_to: i64,
    pub doubtful: i64,
    pub dropped: i64,
    pub all_members: bool,
}

impl Horizon {
    fn is_unknown(&self, day: i64) -> bool {
        day == self.doubtful || day < self.lapsed_before
    }
}

/// Of entries that are wanted: how many, how many of them are new, how many are sent; and how many members are to go.
#[repr(C)]
#[derive(Debug, Default, PartialEq)]
pub struct Counts {
    pub wanted: usize,
    pub additions: usize,
    pub sent: usize,
    pub gone: usize,
}

/// Puts the records that are sent into `sent`, and the places of the members that are to go into `gone`. Of `wanted`
/// there is one bit a record.
pub fn compare(
    pieces: &[&[Entry]],
    wanted: &[u8],
    members: &Members,
    horizon: Horizon,
    sent: &mut [i64],
    gone: &mut [i64],
) -> Counts {
    let asked = pieces.iter().map(|piece| piece.len()).sum();
    let ordered = Ordered::of(members.high, members.low, asked);
    assert_eq!(members.days.len(), members.high.len());
    let (mut counts, mut stays) = (Counts::default(), vec![false; members.days.len()]);
    for entry in pieces.iter().copied().flatten() {
        let (high, low, record) = (high_of(entry), low_of(entry), record_of(entry));
        if wanted[(record / 8) as usize] >> (record % 8) & 1 == 0 {
            continue;
        }
        let (place, is_known) = ordered.find(high, (low >> BEYOND_MARK) as u16);
        let mut day = horizon.dropped;
        if is_known {
            day = members.days[place].into();
            stays[place] = true;
        }
        let is_unknown = horizon.is_unknown(day);
        counts.wanted += 1;
        counts.additions += usize::from(is_unknown);
        if is_unknown || day <= horizon.renewed_to || horizon.all_members {
            sent[counts.sent] = record.into();
            counts.sent += 1;
        }
    }
    for (place, (&day, stays)) in members.days.iter().zip(stays).enumerate() {
        let day = i64::from(day);
        if !stays && (day == horizon.doubtful || day >= horizon.lapsed_before) {
            gone[counts.gone] = place as i64;
            counts.gone += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::entry_of;

    const HORIZON: Horizon =
        Horizon { lapsed_before: 100, renewed_to: 130, doubtful: 0, dropped: -1, all_members: false };

    fn entry(high: u64, low: u64, record: u32) -> Entry {
        entry_of(&[high, low << BEYOND_MARK].map(u64::to_le), record)
    }

    #[test]
    fn the_day_decides() {
        let members =
            Members { high: &[1, 2, 3, 4, 4, 6], low: &[0, 0, 0, 0, 7, 0], days: &[0, 99, 130, 131, 400, 400] };
        let entries = [entry(4, 7, 9), entry(1, 0, 8), entry(2, 0, 2), entry(3, 0, 3), entry(4, 0, 4), entry(5, 0, 5)];
        let (mut sent, mut gone) = ([0; 6], [0; 6]);
        // Record 9 is not wanted.
        let counts = compare(&[&entries[..2], &entries[2..]], &[255, 1], &members, HORIZON, &mut sent, &mut gone);
        assert_eq!(counts, Counts { wanted: 5, additions: 3, sent: 4, gone: 2 });
        assert_eq!((&sent[..4], &gone[..2]), (&[8, 2, 3, 5][..], &[4, 5][..]));
        let all_members = Horizon { all_members: true, ..HORIZON };
        assert_eq!(compare(&[&entries], &[255, 1], &members, all_members, &mut sent, &mut gone).sent, 5);
    }

    #[test]
    fn expired_and_doubtful_members_that_are_not_wanted_go() {
        let members = Members { high: &[1, 2, 3], low: &[0; 3], days: &[0, 99, 100] };
        let mut gone = [0; 3];
        assert_eq!(compare(&[], &[], &members, HORIZON, &mut [], &mut gone).gone, 2);
        assert_eq!(gone[..2], [0, 2]);
    }

    #[test]
    #[should_panic]
    fn records_that_are_not_there() {
        let members = Members { high: &[], low: &[], days: &[] };
        compare(&[&[entry(1, 1, 8)]], &[255], &members, HORIZON, &mut [0], &mut []);
    }
}
