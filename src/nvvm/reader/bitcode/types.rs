//! The type table.

use super::super::types::Type;
use super::fault::{Fault, Read};
use super::stream::Record;

pub(super) const OPAQUE_POINTER: u64 = 25;

/// The type that a record of the table adds; none for records that add none.
pub(super) fn entry(record: &Record<'_, '_>) -> Read<Option<Type>> {
    const COUNT: u64 = 1;
    const STRUCT_NAME: u64 = 19;
    let at = |at: usize| Ok(usize::try_from(record.operand(at)?).unwrap_or(usize::MAX));
    let list = |from: usize| {
        let operands = record.operands.get(from..).unwrap_or_default();
        let number = |o: &u64| usize::try_from(*o).unwrap_or(usize::MAX);
        operands.iter().map(number).collect::<Vec<_>>()
    };
    Ok(Some(match record.code {
        COUNT | STRUCT_NAME => return Ok(None),
        2 => Type::Void,
        3 => Type::Float(32),
        4 => Type::Float(64),
        7 => Type::Integer(record.operand(0)?),
        8 => Type::Pointer(Some(at(0)?)),
        9 => Type::Function {
            result: at(2)?,
            parameters: list(3),
        },
        10 | 23 => Type::Float(16),
        11 => Type::Array(record.operand(0)?, at(1)?),
        // x86_fp80, ppc_fp128, x86_mmx and x86_amx; libNVVM ends the process where one is used.
        13 | 15 | 17 | 24 => return Err(Fault::Damaged("it has a type of another processor")),
        12 => Type::Vector(record.operand(0)?, at(1)?),
        14 => Type::Float(128),
        16 => Type::Metadata,
        18 | 20 => Type::Struct {
            packed: record.operand(0)? != 0,
            fields: list(1),
        },
        21 => Type::Function {
            result: at(1)?,
            parameters: list(2),
        },
        OPAQUE_POINTER => Type::Pointer(None),
        _ => Type::Other,
    }))
}
