//! Values that look like an address and are refused, or need another look.
#![forbid(unsafe_code)]

use crate::columns::{Texts, Words};

pub struct Doubts<'a> {
    /// Words that stand for a missing value.
    pub words: Words<'a>,
    /// Local parts that are placeholders at any domain: all but those with a mask.
    pub no_addresses: Texts<'a>,
    /// Local parts that are placeholders where the domain begins with the same word.
    pub doubled: Texts<'a>,
    /// Domains at which dots may stand in a row, and behind a local part.
    pub carriers: Texts<'a>,
    /// Domains that are refused, with all below them.
    pub special_use: Texts<'a>,
}

/// The sign of masked letters, and a mask of all but the first letter of an address.
const MASK: &[u8] = b"**";
const MASKED: &[u8] = b"xxx@xxxx.com";

/// Whether letters of `local` are masked.
pub fn is_masked(local: &[u8]) -> bool {
    local.windows(MASK.len()).any(|signs| signs == MASK)
}

/// Whether `address` is nothing but its first letter, and a mask.
pub fn is_masked_whole(address: &[u8]) -> bool {
    matches!(address.strip_suffix(MASKED), Some([b'a'..=b'z' | b'0'..=b'9']))
}

impl Doubts<'_> {
    /// Whether `local` is listed as a placeholder at any domain.
    pub fn is_no_address(&self, local: &[u8]) -> bool {
        // None of the others begins so: most addresses need no search.
        let may_be = matches!(local, [b'n', ..] | [b'x', b'x', b'x', b'x', ..] | b"*");
        may_be && self.no_addresses.has(local)
    }

    /// The last letters of refused domains, as bits: most addresses end otherwise.
    pub fn special_ends(&self) -> u32 {
        self.special_use.iter().filter_map(<[u8]>::last).fold(0, |ends, letter| ends | 1 << (letter & 31))
    }

    /// Whether the domain of `address` is for special use; `ends` are `special_ends`, or all.
    pub fn is_special(&self, address: &[u8], ends: u32) -> bool {
        let may_be = address.last().is_some_and(|letter| ends >> (letter & 31) & 1 != 0);
        may_be && self.special_use.iter().any(|name| is_at_or_below(address, name))
    }

    /// Whether the last label of `address`, which has a domain, is for special use.
    pub fn has_special_top(&self, address: &[u8]) -> bool {
        let top = address.rsplit(|byte| matches!(byte, b'@' | b'.')).next().unwrap_or(&[]);
        self.special_use.iter().any(|name| name == top)
    }

    /// The same of a `domain` of which other characters than those of ASCII may stand for dots.
    pub fn may_have_special_top(&self, domain: &[u8]) -> bool {
        let top = domain.rsplit(|&byte| byte == b'.' || !byte.is_ascii()).next().unwrap_or(&[]);
        self.special_use.iter().any(|name| name == top)
    }
}

fn is_at_or_below(address: &[u8], name: &[u8]) -> bool {
    address.strip_suffix(name).is_some_and(|before| matches!(before.last(), Some(b'@' | b'.')))
}
