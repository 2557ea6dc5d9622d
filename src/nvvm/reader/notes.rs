//! What the metadata of NVVM says, once text or bitcode has been taken apart.

use std::borrow::Cow;

use super::info::{ModuleInfo, NvvmIrVersion};

/// An operand of a metadata node.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand<'a> {
    Null,
    Text(Cow<'a, [u8]>),
    Int(i64),
    /// The symbol, by its place in the list of the module.
    Symbol(usize),
    /// Something else, or something this reader does not follow.
    Other,
}

/// A node with its operands, or `None` for one that cannot be resolved.
pub(super) type Node<'a> = Option<Vec<Operand<'a>>>;

/// Marks the kernels that `!nvvm.annotations` names.
pub(super) fn annotate(info: &mut ModuleInfo, nodes: &[Node<'_>]) {
    for node in nodes {
        let Some(operands) = node else {
            info.certain = false;
            continue;
        };
        let Some((subject, pairs)) = operands.split_first() else {
            continue;
        };
        let mut kernel = false;
        for pair in pairs.chunks(2) {
            match pair {
                [Operand::Text(key), value] if key.as_ref() == b"kernel" => match value {
                    Operand::Int(value) => kernel |= *value == 1,
                    _ => info.certain = false,
                },
                [Operand::Text(key)] if key.as_ref() == b"kernel" => info.certain = false,
                _ => {}
            }
        }
        if !kernel {
            continue;
        }
        match subject {
            Operand::Symbol(at) => match info.symbols.get_mut(*at) {
                Some(symbol) => {
                    symbol.kernel = true;
                    symbol.annotated = true;
                }
                None => info.certain = false,
            },
            // What a linker leaves of a node whose function it dropped.
            Operand::Null => {}
            _ => info.certain = false,
        }
    }
}

/// Takes the version that `!nvvmir.version` states.
///
/// Modules that were linked together carry one node each, which libNVVM checks one by one. A list
/// without nodes it takes, as if there were none.
pub(super) fn version(info: &mut ModuleInfo, nodes: &[Node<'_>]) {
    for node in nodes {
        let stated = one_version(node);
        let merged = match (info.nvvmir_version, stated) {
            (None, stated) => stated,
            (Some(first), Some(stated)) => agreed(first, stated),
            (Some(_), None) => None,
        };
        info.nvvmir_version = merged;
        if merged.is_none() {
            info.nvvmir_version_malformed = true;
            return;
        }
    }
}

/// A version that fits both; one of them may leave the debug version out.
fn agreed(a: NvvmIrVersion, b: NvvmIrVersion) -> Option<NvvmIrVersion> {
    let same = a.ir == b.ir && (a.debug.is_none() || b.debug.is_none() || a.debug == b.debug);
    same.then(|| NvvmIrVersion::new(a.ir, a.debug.or(b.debug)))
}

fn one_version(node: &Node<'_>) -> Option<NvvmIrVersion> {
    let number = |operand: &Operand<'_>| match operand {
        Operand::Int(value) => u32::try_from(*value).ok(),
        _ => None,
    };
    match node.as_deref()? {
        [a, b] => Some(NvvmIrVersion::new((number(a)?, number(b)?), None)),
        [a, b, c, d] => Some(NvvmIrVersion::new(
            (number(a)?, number(b)?),
            Some((number(c)?, number(d)?)),
        )),
        _ => None,
    }
}
