//! Why a module is refused.

use crate::error::{Error, InvalidInput};
use crate::nvvm::reader::Malformed;

/// A refusal, before the name of the module is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::nvvm) struct Refusal {
    pub(in crate::nvvm) line: Option<u32>,
    pub(in crate::nvvm) problem: String,
    pub(in crate::nvvm) hint: String,
}

impl Refusal {
    pub(super) fn new(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Refusal {
            line: None,
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    pub(super) fn at(mut self, line: Option<u32>) -> Self {
        self.line = line;
        self
    }

    /// One about a metadata node, or what else is malformed.
    pub(super) fn of(malformed: &Malformed, of_what: &str, hint: impl Into<String>) -> Self {
        let node = malformed
            .node
            .map_or(String::new(), |node| format!(" (node !{node})"));
        Refusal::new(format!("{of_what}{}{node}", malformed.what), hint).at(malformed.line)
    }

    pub(in crate::nvvm) fn for_module(self, name: &str) -> Error {
        InvalidInput {
            input: name.to_owned(),
            line: self.line,
            snippet: None,
            problem: self.problem,
            hint: self.hint,
        }
        .into()
    }
}
