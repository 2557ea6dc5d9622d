//! The names that cubins and PTX define and use.

use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol, SymbolKind};

use crate::artifact::{Linkage, Ptx, brought_by_driver};

/// The bit of a symbol's `st_other` that marks a kernel.
const ENTRY: u8 = 0x10;

/// The names of one input or result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Symbols {
    pub(super) kernels: Vec<String>,
    /// Definitions that exclude another of the same name in a link.
    pub(super) strong: Vec<String>,
    pub(super) undefined: Vec<String>,
    /// Whether anything at all is defined for others.
    pub(super) any: bool,
}

impl Symbols {
    /// Those of a cubin; none where it cannot be read.
    pub(super) fn of_cubin(bytes: &[u8]) -> Option<Self> {
        use object::read::elf::Sym;
        let file = ElfFile64::<Endianness>::parse(bytes).ok()?;
        let mut all = Symbols::default();
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            // The toolchain's own names begin with a point, as no name of PTX does.
            if name.is_empty() || name.starts_with('.') {
                continue;
            }
            let name = name.to_owned();
            if symbol.is_undefined() {
                if !brought_by_driver(&name) {
                    all.undefined.push(name);
                }
                continue;
            }
            if symbol.elf_symbol().st_other().0 & ENTRY != 0 {
                all.kernels.push(name.clone());
            }
            let kind = symbol.kind();
            if symbol.is_global() && matches!(kind, SymbolKind::Text | SymbolKind::Data) {
                all.any = true;
                if !symbol.is_weak() {
                    all.strong.push(name);
                }
            }
        }
        Some(all)
    }

    pub(super) fn of_ptx(ptx: &Ptx) -> Self {
        let visible = visible_functions(ptx);
        let kernels = ptx.kernels().iter();
        let shown = |k: &&crate::artifact::PtxKernel| k.linkage != Linkage::Unmarked;
        let strong = kernels.clone().filter(|k| k.linkage == Linkage::Visible);
        Symbols {
            kernels: kernels.filter(shown).map(|k| k.name.clone()).collect(),
            strong: strong.map(|k| k.name.clone()).chain(visible).collect(),
            undefined: ptx
                .externs()
                .iter()
                .filter(|symbol| !symbol.is_provided())
                .map(|symbol| symbol.name.clone())
                .collect(),
            any: true,
        }
    }
}

/// The functions that PTX defines for other modules; others may share their names.
fn visible_functions(ptx: &Ptx) -> Vec<String> {
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
    let heads: Vec<&str> = ptx
        .as_str()
        .split(".visible")
        .skip(1)
        .filter_map(|rest| rest.split(['{', ';']).next())
        .filter(|head| head.trim_start().starts_with(".func"))
        .collect();
    ptx.functions()
        .iter()
        .filter(|name| {
            heads.iter().any(|head| {
                head.split(|c| !of_name(c))
                    .any(|word| word == name.as_str())
            })
        })
        .cloned()
        .collect()
}
