//! What is known of functions once the whole module was met.

use super::super::symbol::Symbol;
use super::super::types::{Type, Types};
use super::super::uses::{Assembly, Intrinsic, operand_type, result_types};
use super::attributes::{Attributes, ByValue};
use super::module::{Value, bytes};
use super::stream::Record;

/// A function that the module defines.
#[derive(Debug)]
pub(super) struct Function {
    /// Its place among the symbols.
    pub(super) symbol: usize,
    pub(super) type_: usize,
    /// The number of its list of attributes; 0 for none.
    pub(super) attributes: u64,
}

impl Function {
    pub(super) fn parameters(&self, types: &Types) -> Option<u64> {
        let (_, parameters) = types.function(self.type_)?;
        Some(parameters.len() as u64)
    }

    /// Says of a kernel what it returns and how much it is given.
    pub(super) fn describe(&self, symbol: &mut Symbol, types: &Types, attributes: &Attributes) {
        let Some((result, parameters)) = types.function(self.type_) else {
            return;
        };
        let mut parameters = parameters.to_vec();
        for (number, by_value) in attributes.of(self.attributes) {
            let at = number
                .checked_sub(1)
                .and_then(|at| usize::try_from(at).ok());
            let Some(place) = at.and_then(|at| parameters.get_mut(at)) else {
                continue;
            };
            match (by_value, types.get(*place)) {
                (ByValue::Type(of), _) => *place = usize::try_from(of).unwrap_or(usize::MAX),
                (ByValue::Pointee, Some(Type::Pointer(Some(to)))) => *place = *to,
                _ => {}
            }
        }
        symbol.returns_void = types.get(result).map(|type_| *type_ == Type::Void);
        symbol.odd_parameter = types.odd_parameter(parameters.iter().copied());
        symbol.parameter_bytes = types.parameter_bytes(parameters.into_iter());
    }
}

/// Inline assembly, where the constant is that; `type_` is the one that constants have here.
pub(super) fn assembly(
    record: &Record<'_, '_>,
    type_: Option<u64>,
    types: &Types,
) -> Option<Assembly> {
    let (type_, rest) = match (record.code, record.operands) {
        (18 | 23 | 28, [_flags, rest @ ..]) => (type_?, rest),
        (30, [type_, _flags, rest @ ..]) => (*type_, rest),
        _ => return None,
    };
    let (template, rest) = counted(rest)?;
    let (constraints, _) = counted(rest)?;
    let signature = usize::try_from(type_)
        .ok()
        .and_then(|at| types.function(at));
    let text = |operands: &[u64]| String::from_utf8_lossy(&bytes(operands)).into_owned();
    Some(Assembly {
        template: text(template),
        constraints: text(constraints),
        results: signature.map(|(result, _)| result_types(types, result)),
        arguments: signature
            .map(|(_, list)| list.iter().map(|at| operand_type(types, *at)).collect()),
        line: None,
    })
}

fn counted(operands: &[u64]) -> Option<(&[u64], &[u64])> {
    let (count, rest) = operands.split_first()?;
    rest.split_at_checked(usize::try_from(*count).ok()?)
}

/// The intrinsics among what is called; all that are declared, where that is not known.
pub(super) fn intrinsics(
    called: Option<&[u64]>,
    values: &[Value],
    symbols: &[Symbol],
) -> Vec<Intrinsic> {
    let intrinsic = |symbol: &Symbol| {
        symbol.name.starts_with(b"llvm.").then(|| Intrinsic {
            name: symbol.name_lossy().into_owned(),
            line: None,
        })
    };
    let Some(called) = called else {
        let functions = symbols
            .iter()
            .filter(|s| s.kind == super::super::SymbolKind::Function);
        return functions.filter_map(intrinsic).collect();
    };
    let symbol = |value: &u64| match values.get(usize::try_from(*value).ok()?)? {
        Value::Symbol(at) => symbols.get(*at),
        _ => None,
    };
    called
        .iter()
        .filter_map(symbol)
        .filter_map(intrinsic)
        .collect()
}
