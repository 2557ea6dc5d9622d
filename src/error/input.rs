//! Inputs that are refused.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Error, Library};
use crate::arch::Arch;
use crate::diagnostic::Snippet;
use crate::diagnostic::snippet::of_line;

/// An input that was refused before any library saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvalidInput {
    /// The input, by the name it was given under.
    pub input: String,
    /// The line in it, from 1, where the fault has one.
    pub line: Option<u32>,
    /// That line, where the input is text that is at hand.
    pub snippet: Option<Snippet>,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub hint: String,
}

impl std::error::Error for InvalidInput {}

impl fmt::Display for InvalidInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.input)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}; {}", self.problem, self.hint)?;
        write_snippet(f, self.snippet.as_ref(), self.line)
    }
}

impl From<InvalidInput> for Error {
    fn from(e: InvalidInput) -> Self {
        Error::InvalidInput(Box::new(e))
    }
}

/// The line that is at fault, marked where the first thing quoted in what is said of it stands.
pub(super) fn snippet(text: Option<&[u8]>, line: Option<u32>, said: &str) -> Option<Snippet> {
    let (text, line) = (text?, line?);
    let plain = of_line(text, line, None)?;
    let quoted = said.split('`').nth(1).filter(|quoted| !quoted.is_empty());
    let column = quoted.and_then(|quoted| {
        let (before, _) = plain.text.split_once(quoted)?;
        u32::try_from(before.chars().count() + 1).ok()
    });
    match column {
        Some(_) => of_line(text, line, column),
        None => Some(plain),
    }
}

/// The line that is at fault, for `{:#}`.
fn write_snippet(
    f: &mut fmt::Formatter<'_>,
    snippet: Option<&Snippet>,
    line: Option<u32>,
) -> fmt::Result {
    match snippet {
        Some(snippet) if f.alternate() => write!(f, "\n{}", snippet.shown(line)),
        _ => Ok(()),
    }
}

/// A module in IR that is newer than what libNVVM reads for an architecture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialectError {
    /// The module, by the name it was added under.
    pub module: String,
    /// The line in it, from 1, where the first newer thing stands; text alone has lines.
    pub line: Option<u32>,
    /// That line.
    pub snippet: Option<Snippet>,
    /// The first newer thing found.
    pub what: String,
    /// Who wrote the module, as in `LLVM16.0.6`; bitcode alone says so.
    pub producer: Option<String>,
    /// The architecture asked for.
    pub arch: Arch,
    /// The major version of the LLVM whose IR is read for it.
    pub reads: u32,
    /// Why the newer compiler inside the library was not taken.
    pub why_not: String,
    /// The library.
    pub library: Library,
    /// The library's log, where it was asked all the same.
    pub log: String,
}

impl std::error::Error for DialectError {}

impl fmt::Display for DialectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.module)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(
            f,
            ": {} is newer than LLVM {}, whose IR {} reads for {}",
            self.what,
            self.reads,
            self.library,
            self.arch.compute()
        )?;
        if let Some(producer) = &self.producer {
            write!(f, " (the module was written by {producer})")?;
        }
        write!(
            f,
            ", and {}; compile for compute_100 or newer, use a libNVVM with the newer NVVM (CUDA \
             13.5), or write the module for LLVM {}, with typed pointers",
            self.why_not, self.reads
        )?;
        if !self.log.trim().is_empty() {
            write!(f, "; the library said: {}", self.log.trim())?;
        }
        write_snippet(f, self.snippet.as_ref(), self.line)
    }
}

impl From<DialectError> for Error {
    fn from(e: DialectError) -> Self {
        Error::Dialect(Box::new(e))
    }
}
