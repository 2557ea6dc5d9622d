//! What a look at a module finds.

use std::collections::HashMap;

use serde::Serialize;

use super::symbol::Symbol;
use super::uses::{Assembly, Intrinsic};

/// What a module says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ModuleInfo {
    /// Whether it is text or bitcode.
    pub kind: ModuleKind,
    /// Who wrote it; bitcode alone says so.
    pub producer: Option<Producer>,
    /// Its `target triple`.
    pub triple: Option<String>,
    /// Its `target datalayout`.
    pub data_layout: Option<String>,
    /// The line of `target triple`, from 1, in text.
    pub triple_line: Option<u32>,
    /// The line of `target datalayout`, from 1, in text.
    pub data_layout_line: Option<u32>,
    /// The first line of `target …` that stands behind another entity of the text, where a current
    /// LLVM no longer reads it.
    pub late_target: Option<u32>,
    /// What its `!nvvmir.version` says, where that is well formed.
    pub nvvmir_version: Option<NvvmIrVersion>,
    /// What is wrong with an `!nvvmir.version` that libNVVM refuses or ends the process at: a node that
    /// is not two or four integers, or nodes that disagree.
    pub nvvmir_version_malformed: Option<Malformed>,
    /// What is wrong with the first node of `!nvvm.annotations` that is malformed, which libNVVM
    /// takes for another, or ends the process at.
    pub annotations_malformed: Option<Malformed>,
    /// How deep brackets lie in each other in text, at the deepest; 0 in bitcode.
    pub nesting: u32,
    /// Its functions, variables and aliases, in the order of the module.
    pub symbols: Vec<Symbol>,
    /// The intrinsics (`llvm.*`) that it calls, each once, in the order of their first calls.
    pub intrinsics: Vec<Intrinsic>,
    /// Its inline assembly, in the order of the text; in bitcode each kind once.
    pub assembly: Vec<Assembly>,
    /// How many compile units of debug metadata it has, without those that say `NoDebug`.
    pub compile_units: u32,
    /// Debug metadata that leads back to itself, on which libNVVM never ends.
    pub debug_cycle: Option<DebugCycle>,
    /// A structure that holds itself by value.
    pub recursive_type: Option<Malformed>,
    /// Whether it uses the opaque pointer type `ptr`.
    pub opaque_pointers: bool,
    /// A proof that LLVM 7, with which libNVVM reads below compute_100, cannot read it.
    ///
    /// `None` is no proof that it can. A newer producer alone is no proof that it cannot.
    pub modern: Option<Modern>,
    /// Whether the reader followed all of it; where false, what is listed here may be incomplete.
    pub certain: bool,
}

impl ModuleInfo {
    pub(super) fn new(kind: ModuleKind) -> Self {
        ModuleInfo {
            kind,
            producer: None,
            triple: None,
            data_layout: None,
            triple_line: None,
            data_layout_line: None,
            late_target: None,
            nvvmir_version: None,
            nvvmir_version_malformed: None,
            annotations_malformed: None,
            nesting: 0,
            symbols: Vec::new(),
            intrinsics: Vec::new(),
            assembly: Vec::new(),
            compile_units: 0,
            debug_cycle: None,
            recursive_type: None,
            opaque_pointers: false,
            modern: None,
            certain: true,
        }
    }

    /// Where each name stands in the list; of a name that stands twice, the first place.
    pub(super) fn symbols_by_name(&self) -> HashMap<Vec<u8>, usize> {
        let places = self.symbols.iter().enumerate().rev();
        places.map(|(at, s)| (s.name.clone(), at)).collect()
    }

    /// Its kernels, in the order of the module; a kernel may be declared only, or internal.
    pub fn kernels(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(|s| s.kernel)
    }

    /// What it defines under names that other modules can use.
    pub fn visible_definitions(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(|s| s.is_visible_definition())
    }

    /// What it declares and does not define, intrinsics included.
    pub fn undefined(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(|s| s.is_undefined())
    }
}

/// Whether a module is text or bitcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModuleKind {
    /// LLVM IR as text.
    Text,
    /// LLVM bitcode, wrapped or not.
    Bitcode,
}

/// Who wrote a bitcode file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Producer {
    /// What it calls itself, as in `LLVM14.0.6`.
    pub text: String,
    /// Major, minor and patch version of its LLVM, where `text` says them.
    pub version: Option<(u32, u32, u32)>,
    /// The epoch of the bitcode format, which LLVM compares for equality.
    pub epoch: Option<u64>,
}

impl Producer {
    pub(super) fn new(text: String) -> Self {
        let version = text.strip_prefix("LLVM").and_then(version_of);
        Producer {
            text,
            version,
            epoch: None,
        }
    }
}

/// `16.0.6`, also with words behind as vendors write them; a missing part is 0.
fn version_of(text: &str) -> Option<(u32, u32, u32)> {
    let numbers = text
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()?;
    let mut parts = numbers.split('.').map(|p| p.parse().ok());
    let major = parts.next()??;
    Some((
        major,
        parts.next().flatten().unwrap_or(0),
        parts.next().flatten().unwrap_or(0),
    ))
}

/// The version of NVVM IR that a module was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct NvvmIrVersion {
    /// Major and minor version of the IR.
    pub ir: (u32, u32),
    /// Major and minor version of its debug metadata, where it says one.
    pub debug: Option<(u32, u32)>,
}

impl NvvmIrVersion {
    /// A version as `!nvvmir.version` writes it.
    ///
    /// The debug version is left out where the module has no debug metadata.
    #[must_use]
    #[doc(alias = "nvvmIRVersion")]
    pub fn new(ir: (u32, u32), debug: Option<(u32, u32)>) -> Self {
        NvvmIrVersion { ir, debug }
    }
}

/// Something of a module that libNVVM takes for another, or ends the process at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Malformed {
    /// What is wrong.
    pub what: String,
    /// The metadata node, as in `!7`; in bitcode it is counted as the file counts its metadata.
    pub node: Option<u64>,
    /// The line, from 1, in text.
    pub line: Option<u32>,
}

impl Malformed {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Malformed {
            what: what.into(),
            node: None,
            line: None,
        }
    }
}

/// Nodes of debug metadata that lead from one to the next and back to the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DebugCycle {
    /// The nodes by number, in order; in bitcode counted as the file counts its metadata.
    pub nodes: Vec<u64>,
    /// The fields that lead on, as in `baseType`.
    pub through: &'static str,
    /// The line of the first node, from 1, in text.
    pub line: Option<u32>,
}

impl DebugCycle {
    pub(super) fn new(nodes: Vec<u64>, through: &'static str) -> Self {
        DebugCycle {
            nodes,
            through,
            line: None,
        }
    }
}

/// A proof that LLVM 7 cannot read a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Modern {
    /// What it is, as in ``the word `freeze` ``.
    pub what: String,
    /// Its line, from 1, in text.
    pub line: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("LLVM14.0.6", Some((14, 0, 6)))]
    #[case("LLVM7.0", Some((7, 0, 0)))]
    #[case("LLVM22.1.8git-somebody", Some((22, 1, 8)))]
    #[case("LLVM99999999999.0.0", None)]
    #[case("LLVM", None)]
    #[case("APPLE_1_1500.3.9.4_0", None)]
    fn the_version_is_read_from_the_producer(
        #[case] text: &str,
        #[case] version: Option<(u32, u32, u32)>,
    ) {
        assert_eq!(Producer::new(text.to_owned()).version, version);
    }
}
