//! Symbols of a kind that GPU code cannot have.

use super::refusal::Refusal;
use crate::nvvm::reader::{ModuleInfo, SymbolKind};

/// Refuses a function that a loader would choose: libNVVM leaves its calls to nothing.
pub(super) fn check(info: &ModuleInfo) -> Result<(), Refusal> {
    let ifunc = info
        .symbols
        .iter()
        .find(|symbol| symbol.kind == SymbolKind::Ifunc);
    let Some(ifunc) = ifunc else { return Ok(()) };
    Err(Refusal::new(
        format!(
            "`{}` is an ifunc, and nothing chooses a function when GPU code is loaded",
            ifunc.name_lossy()
        ),
        "call the function that is meant, or one by a pointer",
    )
    .at(ifunc.line))
}
