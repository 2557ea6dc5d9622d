//! The one error type of the crate, and what its variants carry.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, snippet};

mod died;
mod driver;
mod input;
mod library;
mod not_found;
#[cfg(all(test, not(loom)))]
mod round_trip;
mod unresolved;

pub use died::CompilerDied;
use died::said;
pub use driver::{DriverError, DriverProblem, NoDriver, PtxTooNew};
pub use input::{DialectError, InvalidInput};
pub(crate) use library::major_minor;
pub use library::{Library, LibraryError, Stage};
pub use not_found::{Attempt, NotFound};
pub use unresolved::{Unresolved, UnresolvedSymbol};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done, and what to do about it.
///
/// `{}` is one paragraph that a person can act on. What a machine may want (the raw code of a
/// library, its whole log, the options it was given) is in the fields.
#[derive(Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
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
    #[error("`{text}` cannot be the architecture: {problem}")]
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

    /// A library returned success for code that refers to what nothing defines.
    #[error(transparent)]
    Unresolved(Box<Unresolved>),

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

    /// This process is a fork of one that had used the compilers, and has their locks as they happened
    /// to stand: a call could wait for ever.
    #[error(
        "this process was forked by process {parent}, which had used the compilers before, and a call \
         into them here could wait for ever; start a program anew instead (spawn; in Python, the start \
         method `spawn`), or fork before the first use"
    )]
    Forked {
        /// The process that used them.
        parent: u32,
    },

    /// The compiler ended the worker process that ran a job.
    #[error(transparent)]
    CompilerDied(Box<CompilerDied>),

    /// A job was not done when its time was over; the worker process that ran it was ended.
    #[error(
        "{job} was not done after {after:?}, and its worker process was ended; give it a longer \
         deadline, or less to compile"
    )]
    TimedOut {
        /// The job.
        job: String,
        /// The time that it had.
        after: std::time::Duration,
    },

    /// A job needed more memory than its worker process may have.
    #[error(
        "{job} needed more than the {} MiB of memory that a worker process may have{}; raise the \
         ceiling, or compile less at once",
        limit >> 20,
        said(text)
    )]
    MemoryCeiling {
        /// The job.
        job: String,
        /// The ceiling, in bytes.
        limit: u64,
        /// What the process wrote to its standard error, as far as its end was kept.
        text: String,
    },

    /// No worker process could be started, or none answered.
    #[error("no worker process: {problem}; {hint}")]
    NoWorker {
        /// What is wrong.
        problem: String,
        /// What to do.
        hint: String,
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

    /// The same error, with the lines of the inputs that it points at.
    pub(crate) fn marked<'a>(mut self, text_of: &dyn Fn(&str) -> Option<&'a [u8]>) -> Self {
        match &mut self {
            Error::InvalidInput(e) if e.snippet.is_none() => {
                e.snippet = input::snippet(text_of(&e.input), e.line, &e.problem);
            }
            Error::Dialect(e) if e.snippet.is_none() => {
                e.snippet = input::snippet(text_of(&e.module), e.line, &e.what);
            }
            Error::Library(e) => snippet::mark(&mut e.diagnostics, text_of),
            Error::Driver(e) => snippet::mark(&mut e.diagnostics, text_of),
            _ => {}
        }
        self
    }

    /// Options that cannot be honoured: what is wrong, and what to do.
    pub(crate) fn invalid_options(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::InvalidOptions {
            problem: problem.into(),
            hint: hint.into(),
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
            Error::Unresolved(e) => &e.diagnostics,
            Error::WrongOutput { diagnostics, .. } | Error::KernelsDropped { diagnostics, .. } => {
                diagnostics
            }
            _ => &[],
        }
    }
}
