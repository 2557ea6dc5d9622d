//! The one error type of the crate, and what its variants carry.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;

mod driver;

pub use driver::{DriverError, DriverProblem, NoDriver, PtxTooNew};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done, and what to do about it.
///
/// `{}` is one paragraph that a person can act on. What a machine may want (the raw code of a
/// library, its whole log, the options it was given) is in the fields.
#[derive(Clone, PartialEq, thiserror::Error, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Error {
    /// No usable copy of a part of the CUDA toolkit was found; every place tried is listed.
    #[error(transparent)]
    NotFound(Box<NotFound>),

    /// The library that was found lacks what the call needs.
    #[error("{what} needs {needs}, and {library} is not that")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// The library version that has it.
        needs: String,
        /// The library that lacks it.
        library: Library,
    },

    /// An input is refused by the look that the crate takes before any library sees it.
    #[error(transparent)]
    InvalidInput(Box<InvalidInput>),

    /// Options that cannot be honoured, or that exclude each other.
    #[error("{problem}; {hint}")]
    InvalidOptions {
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
    },

    /// A module is written in a newer LLVM's IR than the library reads for the architecture.
    #[error(transparent)]
    Dialect(Box<DialectError>),

    /// A text that names no GPU architecture.
    #[error("`{text}` is no GPU architecture: {problem}")]
    InvalidArch {
        /// The text as it was given.
        text: String,
        /// What is wrong with it, and the nearest known names.
        problem: String,
    },

    /// A call into one of NVIDIA's libraries returned an error.
    #[error(transparent)]
    Library(Box<LibraryError>),

    /// A library returned success for a result that is wrong.
    #[error("{library} reported success, but {problem}; {hint}")]
    WrongOutput {
        /// What is wrong with the result.
        problem: String,
        /// What to do.
        hint: String,
        /// The library that made it.
        library: Library,
        /// What the library said beside it.
        diagnostics: Vec<Diagnostic>,
    },

    /// A link reported success and left out kernels that its inputs have.
    #[error(
        "{library} linked without a word, and dropped the kernels {}; compile them with this crate, \
         which pins them, or name each in `@llvm.used` of its module",
        kernels.join(", ")
    )]
    KernelsDropped {
        /// The kernels, as the inputs name them.
        kernels: Vec<String>,
        /// The library that dropped them.
        library: Library,
        /// What the library said beside it.
        diagnostics: Vec<Diagnostic>,
    },

    /// The caller called a compilation off.
    #[error("the compilation was called off: {reason}; compile again to have it")]
    Cancelled {
        /// What called it off.
        reason: String,
    },

    /// There is no driver to run anything with, or no device behind it.
    #[error(transparent)]
    NoDriver(Box<NoDriver>),

    /// PTX is newer than the driver reads.
    #[error(transparent)]
    PtxTooNew(Box<PtxTooNew>),

    /// A call into the driver returned an error.
    #[error(transparent)]
    Driver(Box<DriverError>),

    /// The operating system refused something.
    #[error("cannot {action} {path}: {reason}", path = path.display())]
    Io {
        /// What was tried, as in "read" or "write".
        action: String,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },

    /// The system gave no memory for what the call needs on this side, such as a stack.
    #[error("no memory for {what}: {reason}")]
    OutOfMemory {
        /// What the memory was for.
        what: String,
        /// What the system said.
        reason: String,
    },

    /// The first call of a kernel waits for itself.
    #[error(
        "the first call of `{kernel}` waits for itself ({path}); let no loader ask for a kernel \
         that needs the one it makes",
        kernel = cycle.first().map_or("", String::as_str),
        path = cycle.join(" needs ")
    )]
    FirstCallCycle {
        /// The kernels, each of which needs the next; the first is also the last.
        cycle: Vec<String>,
    },

    /// The thread that compiled or loaded a kernel for this one panicked.
    #[error(
        "the first call of `{kernel}` panicked in another thread: {message}; the next call tries \
         again"
    )]
    FirstCallPanicked {
        /// The kernel.
        kernel: String,
        /// What the panic said.
        message: String,
    },

    /// A kernel could not be made ready on each of several devices.
    #[error(
        "`{kernel}` is not ready on every device:{}",
        failures.iter().map(|(device, e)| format!("\n  device {device}: {e}")).collect::<String>()
    )]
    WarmUp {
        /// The kernel.
        kernel: String,
        /// The devices that failed, and why; the others are ready.
        failures: Vec<(usize, Error)>,
    },
}

/// As `{:#}`: `main` and `unwrap` show an error by `Debug`, and it is a person who reads it there.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl Error {
    /// An I/O error with the action and the file it happened on.
    pub fn io(action: &str, path: impl AsRef<Path>, source: &std::io::Error) -> Self {
        Error::Io {
            action: action.to_owned(),
            path: path.as_ref().to_owned(),
            reason: source.to_string(),
        }
    }

    /// The raw result code of the library, where a library was what failed.
    #[must_use]
    pub fn raw_code(&self) -> Option<i32> {
        match self {
            Error::Library(e) => Some(e.code),
            Error::Driver(e) => Some(e.code),
            Error::NoDriver(e) => e.code,
            _ => None,
        }
    }

    /// The whole log of the library, where it wrote one.
    #[must_use]
    pub fn log(&self) -> Option<&str> {
        match self {
            Error::Library(e) => Some(&e.log),
            Error::Driver(e) if !e.log.is_empty() => Some(&e.log),
            Error::Dialect(e) if !e.log.is_empty() => Some(&e.log),
            _ => None,
        }
    }

    /// What the compiler said, one message at a time.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Library(e) => &e.diagnostics,
            Error::Driver(e) => &e.diagnostics,
            Error::WrongOutput { diagnostics, .. } | Error::KernelsDropped { diagnostics, .. } => {
                diagnostics
            }
            _ => &[],
        }
    }
}

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

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(version) = &self.version {
            write!(f, " {version}")?;
        }
        write!(f, " ({})", self.path.display())
    }
}

/// A part of the toolkit that was found nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotFound {
    /// The part, as in `libNVVM` or `libdevice`.
    pub part: String,
    /// Every place tried, in order.
    pub tried: Vec<Attempt>,
    /// What to do.
    pub hint: String,
}

/// One place where a part of the toolkit was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// The file, or the name given to the system's loader.
    pub path: PathBuf,
    /// Why this place was looked at, as in `CUDA_HOME`.
    pub because: String,
    /// Why it was of no use.
    pub failure: String,
}

impl std::error::Error for NotFound {}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not found; {}", self.part, self.hint)?;
        if self.tried.is_empty() {
            return f.write_str("; there was no place to look at");
        }
        f.write_str("; tried, in this order:")?;
        for attempt in &self.tried {
            write!(
                f,
                "\n  {} ({}): {}",
                attempt.path.display(),
                attempt.because,
                attempt.failure
            )?;
        }
        Ok(())
    }
}

/// An input that was refused before any library saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InvalidInput {
    /// The input, by the name it was given under.
    pub input: String,
    /// The line in it, from 1, where the fault has one.
    pub line: Option<u32>,
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
        write!(f, ": {}; {}", self.problem, self.hint)
    }
}

impl From<InvalidInput> for Error {
    fn from(e: InvalidInput) -> Self {
        Error::InvalidInput(Box::new(e))
    }
}

impl From<NotFound> for Error {
    fn from(e: NotFound) -> Self {
        Error::NotFound(Box::new(e))
    }
}

impl From<LibraryError> for Error {
    fn from(e: LibraryError) -> Self {
        Error::Library(Box::new(e))
    }
}

/// A module in IR that is newer than what libNVVM reads for an architecture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DialectError {
    /// The module, by the name it was added under.
    pub module: String,
    /// The line in it, from 1, where the first newer thing stands; text alone has lines.
    pub line: Option<u32>,
    /// The first newer thing found.
    pub what: String,
    /// Who wrote the module, as in `LLVM16.0.6`; bitcode alone says so.
    pub producer: Option<String>,
    /// The architecture asked for.
    pub arch: crate::arch::Arch,
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
        Ok(())
    }
}

impl From<DialectError> for Error {
    fn from(e: DialectError) -> Self {
        Error::Dialect(Box::new(e))
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
            .filter(|d| d.severity == crate::diagnostic::Severity::Error);
        match said.next() {
            Some(first) => write!(f, ": {}", first.to_string().replace('\n', " "))?,
            None if self.log.trim().is_empty() => f.write_str(": the library gave no reason")?,
            None => write!(f, ": {}", self.log.trim())?,
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        if f.alternate() {
            write!(f, "\nlibrary: {}", self.library)?;
            write!(f, "\noptions: {}", self.options.join(" "))?;
            write!(f, "\nlog:\n{}", self.log.trim_end())?;
        }
        Ok(())
    }
}
