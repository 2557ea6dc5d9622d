//! Names that two modules define.

use std::collections::HashMap;

use super::refusal::Refusal;
use crate::error::Result;
use crate::nvvm::modules::{Module, Modules};
use crate::nvvm::reader::{Linkage, Symbol};

/// Refuses two definitions of one name, neither of which gives way.
pub(super) fn once(modules: &[Module]) -> Result<()> {
    if modules.len() < 2 {
        return Ok(());
    }
    let mut first: HashMap<&[u8], &Module> = HashMap::new();
    for module in Modules(modules).eager() {
        let mut own: Vec<&Symbol> = module
            .info
            .symbols
            .iter()
            .filter(|s| is_strong(s))
            .collect();
        // Twice in one module is the library's to say, which knows both lines.
        own.dedup_by(|a, b| a.name == b.name);
        for symbol in own {
            let Some(other) = first.insert(&symbol.name, module) else {
                continue;
            };
            if other.id == module.id {
                continue;
            }
            let name = symbol.name_lossy();
            return Err(Refusal::new(
                format!("it defines `{name}`, which {} defines too", other.name()),
                "take one of them out, or make both `linkonce_odr` where they are equal and \
                 `internal` where they are not",
            )
            .at(symbol.line)
            .for_module(module.name()));
        }
    }
    Ok(())
}

fn is_strong(symbol: &Symbol) -> bool {
    symbol.defined && symbol.linkage == Linkage::External && !symbol.name.is_empty()
}
