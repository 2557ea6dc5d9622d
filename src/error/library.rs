//! What an error of a library carries, and which library said it.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::diagnostic::{Diagnostic, Severity};

/// Which of NVIDIA's libraries, which version, and which file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Library {
    /// Its name, as in `libNVVM`.
    pub name: String,
    /// Its version, as in `13.5`, where it is known.
    pub version: Option<String>,
    /// The file it was loaded from.
    pub path: PathBuf,
}

impl Library {
    /// The major and minor number of its version.
    pub(crate) fn major_minor(&self) -> Option<(u32, u32)> {
        self.version.as_deref().and_then(major_minor)
    }
}

/// The major and minor number of a version, as in `13.5` or `12.0.140`.
pub(crate) fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(version) = &self.version {
            write!(f, " {version}")?;
        }
        write!(f, " ({})", self.path.display())
    }
}

/// What was being done when a library failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// Creating the handle.
    Create,
    /// Adding an input.
    Add,
    /// Verifying without compiling.
    Verify,
    /// Compiling.
    Compile,
    /// Linking.
    Link,
    /// Fetching the result.
    Fetch,
    /// Installing the headers that a library carries inside.
    Install,
    /// Asking the library about itself.
    Query,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Create => "create",
            Stage::Add => "add",
            Stage::Verify => "verify",
            Stage::Compile => "compile",
            Stage::Link => "link",
            Stage::Fetch => "fetch",
            Stage::Install => "install its headers",
            Stage::Query => "query",
        })
    }
}

/// A call into one of NVIDIA's libraries that returned an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryError {
    /// What was being done.
    pub stage: Stage,
    /// The raw code the library returned.
    pub code: i32,
    /// That code's name, as in `NVVM_ERROR_COMPILATION`.
    pub code_name: String,
    /// The input it happened on, where it was one input.
    pub input: Option<String>,
    /// The log, one message at a time.
    pub diagnostics: Vec<Diagnostic>,
    /// The log as it was; bytes that are no UTF-8 are escaped.
    pub log: String,
    /// The options the library was given.
    pub options: Vec<String>,
    /// The library.
    pub library: Library,
    /// What to do, where that is known.
    pub hint: Option<String>,
}

impl std::error::Error for LibraryError {}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} failed to {} with {} ({})",
            self.library.name, self.stage, self.code_name, self.code
        )?;
        if let Some(input) = &self.input {
            write!(f, " on {input}")?;
        }
        let mut said = self
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error);
        match said.next() {
            Some(first) => {
                write!(f, ": {}", first.without_severity())?;
                // Others sum up, as in "aborted due to errors".
                match said.filter(|d| d.line.is_some()).count() {
                    0 => {}
                    1 => f.write_str(" (and 1 more error)")?,
                    more => write!(f, " (and {more} more errors)")?,
                }
            }
            None if self.log.trim().is_empty() => f.write_str(": the library gave no reason")?,
            None => write!(f, ": {}", self.log.trim())?,
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        if f.alternate() {
            write_pointed(f, &self.diagnostics, self.hint.as_deref())?;
            write!(f, "\nlibrary: {}", self.library)?;
            write!(f, "\noptions: {}", self.options.join(" "))?;
            write!(f, "\nlog:\n{}", self.log.trim_end())?;
        }
        Ok(())
    }
}

/// The messages that come with a line of the input; what to do is not said twice.
pub(super) fn write_pointed(
    f: &mut fmt::Formatter<'_>,
    diagnostics: &[Diagnostic],
    hint: Option<&str>,
) -> fmt::Result {
    for diagnostic in diagnostics {
        if diagnostic.snippet.is_some() {
            let mut diagnostic = diagnostic.clone();
            diagnostic.hint = diagnostic.hint.filter(|own| Some(own.as_str()) != hint);
            write!(f, "\n{diagnostic:#}")?;
        }
    }
    Ok(())
}

impl From<LibraryError> for Error {
    fn from(e: LibraryError) -> Self {
        Error::Library(Box::new(e))
    }
}
