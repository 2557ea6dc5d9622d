//! What the bodies of a module use: intrinsics, and inline assembly.

use serde::Serialize;

use super::types::{Type, Types};

/// An intrinsic that a module calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Intrinsic {
    /// Its name, as in `llvm.nvvm.barrier0`.
    pub name: String,
    /// The line of the first call, from 1, in text.
    pub line: Option<u32>,
}

/// Inline assembly, as a call states it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Assembly {
    /// The assembly, with `$0` where the first operand goes.
    pub template: String,
    /// The constraints, as in `=r,r,~{memory}`.
    pub constraints: String,
    /// What it returns: nothing, one value, or the fields of a structure; none where not known.
    pub results: Option<Vec<OperandType>>,
    /// What it is given; none where not known.
    pub arguments: Option<Vec<OperandType>>,
    /// Its line, from 1, in text.
    pub line: Option<u32>,
}

/// What matters of the type of an operand of inline assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OperandType {
    /// An integer of that many bits.
    Integer(u64),
    /// A floating-point number.
    Float,
    /// An array or a structure.
    Aggregate,
    /// A pointer, a vector, or something that this reader does not follow.
    Other,
}

/// What matters of one type.
pub(super) fn operand_type(types: &Types, at: usize) -> OperandType {
    match types.get(at) {
        Some(Type::Integer(bits)) => OperandType::Integer(*bits),
        Some(Type::Float(_)) => OperandType::Float,
        Some(Type::Array(..) | Type::Struct { .. }) => OperandType::Aggregate,
        _ => OperandType::Other,
    }
}

/// The values that a call of this type returns.
pub(super) fn result_types(types: &Types, at: usize) -> Vec<OperandType> {
    match types.get(at) {
        Some(Type::Void) => Vec::new(),
        Some(Type::Struct { fields, .. }) => {
            fields.iter().map(|at| operand_type(types, *at)).collect()
        }
        _ => vec![operand_type(types, at)],
    }
}
