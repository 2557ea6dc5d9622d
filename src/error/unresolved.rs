//! Names that nothing defines.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Error, Library};
use crate::diagnostic::Diagnostic;

/// A result refers to names that nothing defines and that no one said another link brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Unresolved {
    /// What refers to them, as in `PTX`; `artifact` in serde, where an error's `kind` is another thing.
    #[serde(rename = "artifact")]
    pub kind: String,
    /// The names, in the order of the result.
    pub symbols: Vec<UnresolvedSymbol>,
    /// The library that reported success.
    pub library: Library,
    /// What the library said beside it.
    pub diagnostics: Vec<Diagnostic>,
}

/// A name that nothing defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnresolvedSymbol {
    /// The name.
    pub name: String,
    /// The modules or inputs that use it, where that is known.
    pub used_by: Vec<String>,
    /// What to do.
    pub hint: String,
}

impl Unresolved {
    /// What to do, with the names that it is to be done for.
    fn hints(&self) -> Vec<(&str, Vec<&str>)> {
        let mut hints: Vec<(&str, Vec<&str>)> = Vec::new();
        for symbol in &self.symbols {
            match hints.iter_mut().find(|(hint, _)| *hint == symbol.hint) {
                Some((_, names)) => names.push(&symbol.name),
                None => hints.push((&symbol.hint, vec![&symbol.name])),
            }
        }
        hints
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self
            .symbols
            .iter()
            .map(|symbol| match symbol.used_by.as_slice() {
                [] => format!("`{}`", symbol.name),
                users => format!("`{}` (used by {})", symbol.name, users.join(", ")),
            })
            .collect();
        write!(
            f,
            "{} reported success, but the {} refers to {}, which nothing defines",
            self.library,
            self.kind,
            names.join(", ")
        )?;
        let hints = self.hints();
        for (hint, names) in &hints {
            match hints.len() {
                1 => write!(f, "; {hint}")?,
                _ => write!(f, "; {}: {hint}", names.join(", "))?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Unresolved {}

impl From<Unresolved> for Error {
    fn from(e: Unresolved) -> Self {
        Error::Unresolved(Box::new(e))
    }
}
