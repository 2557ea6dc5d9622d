//! The look at a module, whatever its form.

use std::fmt;

use serde::Serialize;

use super::info::ModuleInfo;
use super::kind::{InputKind, kind_of};
use super::{bitcode, text};
use crate::error::{Error, InvalidInput};

/// Reads what matters of an NVVM IR module, text or bitcode.
///
/// # Errors
///
/// Bytes that are neither text nor bitcode, and bitcode that is cut short, damaged or not exactly
/// one module. Text is never an error: see [`ModuleInfo::certain`].
pub fn look(bytes: &[u8]) -> Result<ModuleInfo, LookError> {
    let kind = kind_of(bytes);
    match kind {
        InputKind::Text => Ok(text::read(bytes)),
        InputKind::Bitcode | InputKind::WrappedBitcode => bitcode::read(bytes),
        InputKind::Empty => Err(LookError::new(
            "the module is empty",
            "give NVVM IR as text or as bitcode",
        )),
        other => Err(LookError::new(
            format!("this is {other}, no NVVM IR"),
            match other {
                InputKind::Ptx | InputKind::LtoIr | InputKind::Elf => {
                    "it is compiled already: give it to the linker"
                }
                InputKind::Fatbin | InputKind::Archive => {
                    "take the single modules out of it, or give it to the linker"
                }
                InputKind::GitLfsPointer => "fetch the file itself with `git lfs pull`",
                _ => "give NVVM IR as text or as bitcode",
            },
        )),
    }
}

/// Why bytes are no module that a library may be given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LookError {
    /// The line, from 1, where the fault has one.
    pub line: Option<u32>,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub hint: String,
}

impl LookError {
    pub(super) fn new(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        LookError {
            line: None,
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// The error of the crate for this, with the name under which the input was given.
    #[must_use]
    pub fn for_input(self, input: impl Into<String>) -> Error {
        InvalidInput {
            input: input.into(),
            line: self.line,
            snippet: None,
            problem: self.problem,
            hint: self.hint,
        }
        .into()
    }
}

impl std::error::Error for LookError {}

impl fmt::Display for LookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}; {}", self.problem, self.hint)
    }
}
