//! Abbreviations: how the fields of a record are packed.

use std::collections::HashMap;

use super::bits::Bits;
use super::fault::{Fault, Read};

/// How one number is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Literal(u64),
    Fixed(u32),
    Variable(u32),
    Char6,
}

/// What may follow the scalars of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    None,
    Array(Scalar),
    Blob,
}

#[derive(Debug)]
pub(super) struct Abbreviation {
    /// The record's code, then its first operands.
    pub(super) scalars: Vec<Scalar>,
    pub(super) tail: Tail,
}

impl Abbreviation {
    /// Reads a definition, behind the number that announced it.
    pub(super) fn read(bits: &mut Bits<'_>) -> Read<Self> {
        const ILL_FORMED: Fault = Fault::Damaged("an abbreviation is ill-formed");
        let count = bits.variable(5)?;
        let mut scalars = Vec::new();
        let mut tail = Tail::None;
        let mut element_next = false;
        for index in 0..count {
            let last = index + 1 == count;
            let encoding = Encoding::read(bits)?;
            match encoding {
                Encoding::Scalar(scalar) if element_next => {
                    // An array of nothing could be of any length at no cost.
                    if matches!(scalar, Scalar::Literal(_)) {
                        return Err(ILL_FORMED);
                    }
                    tail = Tail::Array(scalar);
                }
                Encoding::Scalar(scalar) => scalars.push(scalar),
                Encoding::Array if !element_next && index + 2 == count => element_next = true,
                Encoding::Blob if !element_next && last => tail = Tail::Blob,
                Encoding::Array | Encoding::Blob => return Err(ILL_FORMED),
            }
        }
        if scalars.is_empty() {
            return Err(ILL_FORMED);
        }
        Ok(Abbreviation { scalars, tail })
    }
}

enum Encoding {
    Scalar(Scalar),
    Array,
    Blob,
}

impl Encoding {
    fn read(bits: &mut Bits<'_>) -> Read<Self> {
        if bits.fixed(1)? == 1 {
            return Ok(Encoding::Scalar(Scalar::Literal(bits.variable(8)?)));
        }
        let encoding = bits.fixed(3)?;
        if !matches!(encoding, 1 | 2) {
            return match encoding {
                3 => Ok(Encoding::Array),
                4 => Ok(Encoding::Scalar(Scalar::Char6)),
                5 => Ok(Encoding::Blob),
                _ => Err(Fault::Damaged("an abbreviation has an unknown encoding")),
            };
        }
        let width = bits.variable(5)?;
        Ok(Encoding::Scalar(match (encoding, u32::try_from(width)) {
            // A field of no bits is a zero, whatever it is called.
            (_, Ok(0)) => Scalar::Literal(0),
            (1, Ok(width @ 1..=32)) => Scalar::Fixed(width),
            (2, Ok(width @ 2..=32)) => Scalar::Variable(width),
            _ => return Err(Fault::Damaged("an abbreviation has an impossible width")),
        }))
    }
}

impl Scalar {
    #[inline]
    pub(super) fn read(self, bits: &mut Bits<'_>) -> Read<u64> {
        match self {
            Scalar::Literal(value) => Ok(value),
            Scalar::Fixed(width) => bits.fixed(width),
            Scalar::Variable(width) => bits.variable(width),
            Scalar::Char6 => {
                const ALPHABET: &[u8; 64] =
                    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
                let index = bits.fixed(6)? as usize;
                Ok(ALPHABET.get(index).copied().map_or(0, u64::from))
            }
        }
    }

    /// The fewest bits that one such number takes.
    pub(super) fn least_bits(self) -> u64 {
        match self {
            Scalar::Literal(_) => 0,
            Scalar::Fixed(width) | Scalar::Variable(width) => u64::from(width),
            Scalar::Char6 => 6,
        }
    }
}

/// The abbreviations that blocks of a kind begin with, for every kind.
///
/// A block keeps a count into the list of its kind instead of a copy: a hostile file could make
/// many copies of a long list.
#[derive(Debug, Default)]
pub(super) struct Abbreviations {
    lists: Vec<Vec<Abbreviation>>,
    by_block: HashMap<u32, usize>,
}

impl Abbreviations {
    pub(super) fn add(&mut self, block: u32, abbreviation: Abbreviation) {
        let next = self.lists.len();
        let list = *self.by_block.entry(block).or_insert(next);
        if list == next {
            self.lists.push(Vec::new());
        }
        if let Some(list) = self.lists.get_mut(list) {
            list.push(abbreviation);
        }
    }

    /// The number of the list for a kind of block, and how many it holds by now.
    pub(super) fn list_of(&self, block: u32) -> (usize, usize) {
        let list = self.by_block.get(&block).copied().unwrap_or(usize::MAX);
        (list, self.lists.get(list).map_or(0, Vec::len))
    }

    pub(super) fn get(&self, list: usize, index: usize) -> Option<&Abbreviation> {
        self.lists.get(list)?.get(index)
    }

    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.by_block.clear();
    }
}
