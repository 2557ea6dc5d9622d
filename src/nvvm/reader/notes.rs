//! What the metadata of NVVM says, once text or bitcode has been taken apart.

use std::borrow::Cow;

use super::info::{Malformed, ModuleInfo, NvvmIrVersion};
use super::symbol::SymbolKind;

/// An operand of a metadata node.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand<'a> {
    Null,
    Text(Cow<'a, [u8]>),
    Int(i64),
    /// The symbol, by its place in the list of the module.
    Symbol(usize),
    /// Another node.
    Node,
    /// A constant that is certainly no integer: undefined, or a floating-point number.
    NoInteger,
    /// Something else, or something this reader does not follow.
    Other,
}

/// A node that a name lists.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) number: u64,
    /// Its line, in text.
    pub(super) line: Option<u32>,
    /// `None` where they cannot be resolved.
    pub(super) operands: Option<Vec<Operand<'a>>>,
}

impl Node<'_> {
    fn malformed(&self, what: impl Into<String>) -> Malformed {
        Malformed {
            node: Some(self.number),
            line: self.line,
            ..Malformed::new(what)
        }
    }
}

/// Marks the kernels that `!nvvm.annotations` names.
///
/// A value other than zero makes a kernel. One that the reader does not follow, such as a constant
/// expression, is taken for one: a pin too many does less harm than a kernel lost.
pub(super) fn annotate(info: &mut ModuleInfo, nodes: &[Node<'_>]) {
    for node in nodes {
        let Some(operands) = &node.operands else {
            info.certain = false;
            continue;
        };
        let subject = match well_formed(operands, info) {
            Ok(subject) => subject,
            Err(problem) => {
                info.annotations_malformed
                    .get_or_insert_with(|| node.malformed(problem));
                continue;
            }
        };
        let mut kernel = false;
        for pair in operands.get(1..).unwrap_or_default().chunks(2) {
            match pair {
                [Operand::Text(key), Operand::Int(value)] if key.as_ref() == b"kernel" => {
                    kernel |= *value != 0;
                }
                [Operand::Text(key), _] if key.as_ref() == b"kernel" => {
                    kernel = true;
                    info.certain = false;
                }
                _ => {}
            }
        }
        if !kernel {
            continue;
        }
        match subject.and_then(|at| info.symbols.get_mut(at)) {
            Some(symbol) if symbol.kind == SymbolKind::Function => {
                symbol.kernel = true;
                symbol.annotated = true;
            }
            Some(symbol) if matches!(symbol.kind, SymbolKind::Alias | SymbolKind::Ifunc) => {
                let problem = format!(
                    "`{}` is marked as a kernel and is no function",
                    symbol.name_lossy()
                );
                info.annotations_malformed
                    .get_or_insert_with(|| node.malformed(problem));
            }
            // A variable is no kernel to libNVVM either.
            Some(_) => {}
            // What a linker leaves of a node whose function it dropped.
            None if operands.first() == Some(&Operand::Null) => {}
            None => info.certain = false,
        }
    }
}

/// The symbol that a node speaks of, where its form is the one that libNVVM relies on: a function or
/// variable, then pairs of a name and a value.
fn well_formed(operands: &[Operand<'_>], info: &ModuleInfo) -> Result<Option<usize>, String> {
    let subject = match operands.first() {
        None => return Err("a node is empty".to_owned()),
        Some(Operand::Symbol(at)) => Some(*at),
        Some(Operand::Null | Operand::Other) => None,
        Some(Operand::Text(_) | Operand::Int(_) | Operand::Node | Operand::NoInteger) => {
            return Err("a node does not begin with a function or variable".to_owned());
        }
    };
    let of = subject
        .and_then(|at| info.symbols.get(at))
        .map_or(String::new(), |symbol| {
            format!(" of `{}`", symbol.name_lossy())
        });
    for pair in operands.get(1..).unwrap_or_default().chunks(2) {
        match pair {
            [
                Operand::Text(_),
                Operand::Int(_) | Operand::Symbol(_) | Operand::Other,
            ] => {}
            // The parameters that it is for, as a list.
            [Operand::Text(key), Operand::Node] if key.as_ref() == b"grid_constant" => {}
            [Operand::Text(key)] => {
                let key = String::from_utf8_lossy(key);
                return Err(format!("the annotation \"{key}\"{of} has no value"));
            }
            // Undefined values end the process of libNVVM 12.0.
            [Operand::Text(key), _] => {
                let key = String::from_utf8_lossy(key);
                return Err(format!(
                    "the value of the annotation \"{key}\"{of} is no number"
                ));
            }
            _ => return Err(format!("an annotation{of} does not begin with its name")),
        }
    }
    Ok(subject)
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
        if merged.is_none() {
            let what = if info.nvvmir_version.is_some() && stated.is_some() {
                "it states a version that differs from that of another node"
            } else {
                "it is not two or four integers"
            };
            info.nvvmir_version = None;
            info.nvvmir_version_malformed = Some(node.malformed(what));
            return;
        }
        info.nvvmir_version = merged;
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
    match node.operands.as_deref()? {
        [a, b] => Some(NvvmIrVersion::new((number(a)?, number(b)?), None)),
        [a, b, c, d] => Some(NvvmIrVersion::new(
            (number(a)?, number(b)?),
            Some((number(c)?, number(d)?)),
        )),
        _ => None,
    }
}
