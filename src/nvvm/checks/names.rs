//! Names that PTX cannot spell.

use super::program::Path;
use super::refusal::Refusal;
use crate::nvvm::reader::{Linkage, ModuleInfo, Symbol, SymbolKind};

/// Whether PTX can spell a name, and libNVVM writes it: letters, digits, `_` and `$`, no digit first,
/// and more than one where the first is no letter (PTX ISA, "Identifiers"). PTX allows a `%` in front,
/// and libNVVM of CUDA 12.0 ends the process at it.
pub(in crate::nvvm) fn is_spelt(name: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
    match name {
        b"WARP_SZ" | [] => false,
        [first] => first.is_ascii_alphabetic(),
        [first, ..] => !first.is_ascii_digit() && name.iter().all(fits),
    }
}

/// Refuses a name that would stand in the result as it is.
pub(super) fn check(info: &ModuleInfo, path: Path, lto: bool) -> Result<(), Refusal> {
    let bad = info.symbols.iter().find(|symbol| {
        symbol.defined && !symbol.name.is_empty() && !is_intrinsic(symbol) && {
            if stands(symbol) {
                // What is no kernel may be gone by the time that LTO IR is linked.
                !lto && !is_spelt(&symbol.name)
            } else {
                path == Path::Legacy && is_fatal(symbol)
            }
        }
    });
    let Some(symbol) = bad else { return Ok(()) };
    let what = match symbol.kind {
        _ if symbol.kernel => "kernel",
        SymbolKind::Function => "function",
        _ => "variable",
    };
    Err(Refusal::new(
        format!("PTX cannot spell the name `{}` of a {what}", symbol.name_lossy()),
        "use letters, digits, `_` and `$`, no digit first and no `WARP_SZ`; in text, `repair` does it",
    )
    .at(symbol.line))
}

/// Whether a symbol stands in the result under its own name.
pub(in crate::nvvm) fn stands(symbol: &Symbol) -> bool {
    matches!(
        symbol.linkage,
        Linkage::External | Linkage::Weak | Linkage::WeakOdr | Linkage::Common
    )
}

/// A variable of the module's own: libNVVM respells a few characters, and ends at others.
fn is_fatal(symbol: &Symbol) -> bool {
    let known = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'@' | b'-')
    };
    symbol.kind == SymbolKind::Variable
        && matches!(symbol.linkage, Linkage::Internal | Linkage::Private)
        && !symbol.name.iter().all(known)
}

fn is_intrinsic(symbol: &Symbol) -> bool {
    symbol.name.starts_with(b"llvm.")
}

#[cfg(test)]
mod tests {
    use super::is_spelt;
    use rstest::rstest;

    #[rstest]
    #[case("a", true)]
    #[case("add", true)]
    #[case("_a", true)]
    #[case("$1", true)]
    #[case("a$b_9", true)]
    #[case("_ZN4core3fmt17h0E", true)]
    #[case("", false)]
    #[case("_", false)]
    #[case("$", false)]
    #[case("1a", false)]
    #[case("a.b", false)]
    #[case("a-b", false)]
    #[case("%a", false)]
    #[case("é", false)]
    #[case("WARP_SZ", false)]
    fn ptx_spells_some_names(#[case] name: &str, #[case] spelt: bool) {
        assert_eq!(is_spelt(name.as_bytes()), spelt);
    }
}
