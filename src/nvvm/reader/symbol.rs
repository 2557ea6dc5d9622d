//! The functions and variables of a module.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

/// A function, variable or alias of a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Symbol {
    /// Its name, byte for byte and without escapes; empty where it has only a number.
    #[serde(serialize_with = "lossy")]
    pub name: Vec<u8>,
    /// What it is.
    pub kind: SymbolKind,
    /// Whether the module holds its body, initial value or target.
    pub defined: bool,
    /// Its linkage.
    pub linkage: Linkage,
    /// Whether it is a kernel, by annotation or by calling convention.
    pub kernel: bool,
    /// Whether `!nvvm.annotations` makes it a kernel, which libNVVM before CUDA 12.9 goes by alone.
    pub annotated: bool,
    /// Of a function: whether it returns no value; none where that is not known.
    pub returns_void: Option<bool>,
    /// Of a function: the bytes of its parameters, laid out as those of a kernel; none where that is
    /// not known.
    pub parameter_bytes: Option<u64>,
    /// Of a function: the first of its parameters' types that a kernel cannot have, if one is.
    pub odd_parameter: Option<OddParameter>,
    /// The line of its name, from 1, in text.
    pub line: Option<u32>,
}

/// A type in a function's parameters that GPUs have no registers for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OddParameter {
    /// The type, as in `i24` or `fp128`.
    pub name: String,
    /// Of an integer its bits, of what is no number 0; none of a float.
    pub bits: Option<u64>,
    /// Whether it lies in a structure, an array or a vector.
    pub inside: bool,
}

impl Symbol {
    /// Its name for a person: bytes that are no UTF-8 become U+FFFD.
    #[must_use]
    pub fn name_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }

    /// Whether it is defined here under a name that other modules can use.
    #[must_use]
    pub fn is_visible_definition(&self) -> bool {
        self.defined
            && !matches!(
                self.linkage,
                Linkage::Internal | Linkage::Private | Linkage::AvailableExternally
            )
    }

    /// Whether it must come from another module.
    ///
    /// Intrinsics (`llvm.*`) are declared too, and come from the compiler.
    #[must_use]
    pub fn is_undefined(&self) -> bool {
        !self.defined
    }
}

fn lossy<S: Serializer>(name: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&String::from_utf8_lossy(name))
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A global variable or constant.
    Variable,
    /// Another name for a symbol.
    Alias,
    /// A function that is chosen when the program is loaded.
    Ifunc,
}

/// How a symbol meets symbols of its name in other modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Linkage {
    /// Visible everywhere: the one that a symbol has when none is written.
    External,
    /// Visible in its module.
    Internal,
    /// Visible in its module, and left out of the symbol table.
    Private,
    /// May be replaced by another definition.
    Weak,
    /// May be replaced by an equal definition.
    WeakOdr,
    /// As `Weak`, and dropped where nothing uses it.
    LinkOnce,
    /// As `WeakOdr`, and dropped where nothing uses it.
    LinkOnceOdr,
    /// A copy for the optimiser of what another module defines.
    AvailableExternally,
    /// An array to which each module adds.
    Appending,
    /// A variable without a value that may be declared again.
    Common,
    /// A declaration that is null where nothing defines it.
    ExternWeak,
}

impl Linkage {
    /// The number by which bitcode says it; one that is unknown means external, as it does to LLVM.
    pub(super) fn from_bitcode(code: u64) -> Self {
        match code {
            1 | 16 => Linkage::Weak,
            2 => Linkage::Appending,
            3 => Linkage::Internal,
            4 | 18 => Linkage::LinkOnce,
            7 => Linkage::ExternWeak,
            8 => Linkage::Common,
            9 | 13 | 14 => Linkage::Private,
            10 | 17 => Linkage::WeakOdr,
            11 | 19 => Linkage::LinkOnceOdr,
            12 => Linkage::AvailableExternally,
            _ => Linkage::External,
        }
    }

    /// The word by which text says it.
    pub(super) fn from_word(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"external" => Linkage::External,
            b"internal" => Linkage::Internal,
            b"private" => Linkage::Private,
            b"weak" => Linkage::Weak,
            b"weak_odr" => Linkage::WeakOdr,
            b"linkonce" => Linkage::LinkOnce,
            b"linkonce_odr" => Linkage::LinkOnceOdr,
            b"available_externally" => Linkage::AvailableExternally,
            b"appending" => Linkage::Appending,
            b"common" => Linkage::Common,
            b"extern_weak" => Linkage::ExternWeak,
            _ => return None,
        })
    }
}
