//! A text in lower case, and what is asked of the parts of an address: of a short text its outline tells.
#![forbid(unsafe_code)]

use crate::ascii::{is_local, is_plain_domain};
use crate::characters::Characters;
use crate::outline::Outline;
use std::ops::Range;

pub struct Lowered<'t> {
    pub text: &'t [u8],
    outline: Option<&'t Outline>,
}

impl<'t> Lowered<'t> {
    pub fn short(outline: &'t Outline) -> Self {
        Self { text: outline.text(), outline: Some(outline) }
    }

    pub fn long(text: &'t [u8]) -> Self {
        Self { text, outline: None }
    }

    pub fn is_ascii(&self) -> bool {
        self.is_ascii_in(0..self.text.len())
    }

    pub fn is_ascii_in(&self, part: Range<usize>) -> bool {
        match self.outline {
            Some(outline) => outline.is_ascii(part),
            None => self.text[part].is_ascii(),
        }
    }

    /// Where the first at sign stands.
    pub fn at(&self) -> Option<usize> {
        match self.outline {
            Some(outline) => outline.at(),
            None => self.text.iter().position(|&byte| byte == b'@'),
        }
    }

    /// The texts on both sides of the one at sign, if neither is empty.
    pub fn parts(&self) -> Option<(&'t [u8], &'t [u8])> {
        let at = self.at()?;
        let (local, domain) = (&self.text[..at], &self.text[at + 1..]);
        let is_alone = match self.outline {
            Some(outline) => outline.has_one_at(),
            None => !domain.contains(&b'@'),
        };
        (is_alone && !local.is_empty() && !domain.is_empty()).then_some((local, domain))
    }

    /// Whether letters may be masked.
    pub fn has_asterisk(&self) -> bool {
        self.outline.is_none_or(Outline::has_asterisk)
    }

    /// Whether a local part stands before `at`, as far as ASCII tells.
    pub fn has_local(&self, at: usize) -> bool {
        match self.outline {
            Some(outline) => outline.has_local(at),
            None => is_local(&self.text[..at]),
        }
    }

    /// Whether a plain domain stands behind `at`.
    pub fn has_plain_domain(&self, at: usize) -> bool {
        match self.outline {
            Some(outline) => outline.has_plain_domain(at),
            None => is_plain_domain(&self.text[at + 1..]),
        }
    }

    /// The code points of `part`; None where there are none.
    pub fn read<'c>(&self, part: Range<usize>, characters: &'c mut Characters) -> Option<&'c [u32]> {
        match self.outline {
            Some(outline) => characters.read_short(&outline.block, outline.beginnings(part.clone()), part),
            None => characters.read(&self.text[part]),
        }
    }
}
