//! What the bodies of functions call.
//!
//! A call names its function by how many values came before it, so the values of a body are counted.
//! Where a record comes that this reader cannot count, the body is lost, and with it the certainty of
//! what is called.

use super::super::types::{Type, Types};
use super::fault::{Fault, Read};
use super::stream::Record;

#[derive(Debug, Default)]
pub(super) struct Bodies {
    /// How many values there are at this place of the body.
    values: u64,
    lost: bool,
    /// Whether any body was lost.
    pub(super) any_lost: bool,
    /// The values that are called, each once.
    pub(super) called: Vec<u64>,
    seen: std::collections::HashSet<u64>,
    /// How many blocks this body says it has, and how many instructions that end one were met.
    blocks: u64,
    ends: u64,
}

impl Bodies {
    /// A body begins: with the values of the module and the function's parameters, where known.
    pub(super) fn enter(&mut self, values: Option<u64>) -> Read<()> {
        self.close()?;
        self.lost = values.is_none();
        self.any_lost |= self.lost;
        self.values = values.unwrap_or_default();
        Ok(())
    }

    /// The body that was begun is over. The library takes its word for how many blocks there are, and
    /// ends the process where one is empty.
    pub(super) fn close(&mut self) -> Read<()> {
        let (blocks, ends) = (self.blocks, self.ends);
        (self.blocks, self.ends) = (0, 0);
        if blocks == ends {
            Ok(())
        } else {
            Err(Fault::Damaged("a body has not as many blocks as it says"))
        }
    }

    /// A constant of the body.
    pub(super) fn constant(&mut self) {
        self.values += 1;
    }

    /// An instruction, where there are so many items of metadata.
    pub(super) fn instruction(
        &mut self,
        record: &Record<'_, '_>,
        types: &Types,
        relative: bool,
        metadata: u64,
    ) -> Read<()> {
        if record.code == BLOCKS {
            self.blocks = record.operands.first().copied().unwrap_or_default();
        } else if ends_block(record.code) {
            self.ends += 1;
        }
        if self.lost {
            return Ok(());
        }
        match record.code {
            CALL | INVOKE => match self.call(record, types, relative, metadata) {
                Some(true) => {}
                Some(false) => {
                    return Err(Fault::Damaged("a call is given metadata that is not there"));
                }
                None => self.lose(),
            },
            code if makes_value(code) => self.values += 1,
            code if makes_none(code) => {}
            _ => self.lose(),
        }
        Ok(())
    }

    fn lose(&mut self) {
        self.lost = true;
        self.any_lost = true;
    }

    /// A call, and whether the metadata that it is given is there.
    fn call(
        &mut self,
        record: &Record<'_, '_>,
        types: &Types,
        relative: bool,
        metadata: u64,
    ) -> Option<bool> {
        const FLAGS: u64 = 17;
        let mut rest = record.operands.get(1..)?.iter().copied();
        let convention = rest.next()?;
        let explicit = if record.code == CALL {
            if convention >> FLAGS & 1 == 1 {
                rest.next()?;
            }
            convention >> 15 & 1
        } else {
            // The two blocks where it goes on.
            rest.next()?;
            rest.next()?;
            convention >> 13 & 1
        };
        if explicit == 0 {
            return None;
        }
        let Some(Type::Function { result, parameters }) = types.at(rest.next()?) else {
            return None;
        };
        let callee = rest.next()?;
        let callee = if relative {
            // The distance wraps at 32 bits for what comes later in the body.
            self.values.checked_sub(callee)
        } else {
            Some(callee)
        };
        let is_metadata = |at: &usize| types.get(*at) == Some(&Type::Metadata);
        let there = |value: u64| {
            let item = if relative {
                self.values.wrapping_sub(value) & u64::from(u32::MAX)
            } else {
                value
            };
            item < metadata
        };
        // Behind a function that is still to come stands its type, which shifts what it is given.
        let given = callee.is_none()
            || parameters
                .iter()
                .zip(rest)
                .all(|(parameter, value)| !is_metadata(parameter) || there(value));
        if let Some(callee) = callee {
            if self.seen.insert(callee) {
                self.called.push(callee);
            }
        }
        if types.get(*result)? != &Type::Void {
            self.values += 1;
        }
        Some(given)
    }
}

const BLOCKS: u64 = 1;
const CALL: u64 = 34;
const INVOKE: u64 = 13;

fn ends_block(code: u64) -> bool {
    matches!(code, INVOKE | 10..=12 | 15 | 31 | 39 | 48 | 49 | 52 | 57)
}

fn makes_value(code: u64) -> bool {
    matches!(
        code,
        2..=9 | 16 | 19 | 20 | 23 | 26..=30 | 37 | 38 | 40 | 41 | 43 | 46 | 47 | 50..=52 | 56 | 58 | 59
    )
}

fn makes_none(code: u64) -> bool {
    matches!(
        code,
        1 | 10..=12 | 15 | 24 | 31 | 33 | 35 | 36 | 39 | 42 | 44 | 45 | 48 | 49 | 55 | 60..=66
    )
}
