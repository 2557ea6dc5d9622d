//! Why a command failed, and what to do about it.

use std::path::{Path, PathBuf};

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No Python interpreter starts.
    #[error(
        "no Python was found (tried {tried}); install Python 3 with pip (on Debian and Ubuntu: \
         `apt install python3-pip`), or name an interpreter in the variable PYTHON"
    )]
    NoPython {
        /// The interpreters tried.
        tried: String,
    },

    /// Python starts, but has no pip.
    #[error(
        "{python} has no pip; install it (on Debian and Ubuntu: `apt install python3-pip`; \
         elsewhere: `{python} -m ensurepip`), or name another interpreter in the variable \
         PYTHON; it said:\n{said}"
    )]
    NoPip {
        /// The interpreter.
        python: String,
        /// Its last lines.
        said: String,
    },

    /// pip could not fetch a package.
    #[error(
        "cannot download {package} {version}; pip's last lines were:\n{said}\ncheck that this \
         machine reaches the package index, and that the index has a wheel of this package for \
         this platform, then run the command again: toolkits that are whole are not fetched again"
    )]
    Download {
        /// The package.
        package: String,
        /// Its version.
        version: String,
        /// pip's last lines.
        said: String,
    },

    /// A wheel could not be unpacked.
    #[error("cannot unpack {package} {version}; is the disk full? Python said:\n{said}")]
    Unpack {
        /// The package.
        package: String,
        /// Its version.
        version: String,
        /// Python's last lines.
        said: String,
    },

    /// A step of several did not pass.
    #[error("{name} did not pass ({status}); to run that step alone: {line}")]
    Step {
        /// The step.
        name: &'static str,
        /// How it ended.
        status: std::process::ExitStatus,
        /// What to type.
        line: String,
    },

    /// The bundle for a GPU machine is larger than it may be.
    #[error(
        "the bundle has {size}, and {limit} may travel; leave programs out in \
         xtask/src/bundle/contents.rs"
    )]
    BundleTooLarge {
        /// Its size.
        size: String,
        /// The most it may be.
        limit: String,
    },

    /// The folder for the bundle has something else in it.
    #[error("{path} is no bundle and not empty; name an empty folder", path = path.display())]
    NotABundle {
        /// The folder.
        path: PathBuf,
    },

    /// The library refused something.
    #[cfg(any(feature = "demo", feature = "intrinsics"))]
    #[error("{0:#}")]
    Library(#[from] cuda_program::Error),

    /// cudarc could not do something.
    #[cfg(feature = "demo")]
    #[error("the CUDA driver refused a copy: {0}")]
    Driver(#[from] cuda_program::gpu::cudarc::driver::DriverError),

    /// A kernel computed something else than the CPU.
    #[cfg(feature = "demo")]
    #[error("the GPU has {wrong} of {of} numbers wrong; the compiler and the driver do not fit")]
    WrongNumbers {
        /// How many.
        wrong: usize,
        /// Of how many.
        of: usize,
    },

    /// The table of intrinsics is not what the libraries say.
    #[cfg(feature = "intrinsics")]
    #[error(
        "{file} is not what the libraries say; `cargo xtask intrinsics` writes it anew:\n{differences}",
        file = file.display()
    )]
    Intrinsics {
        /// The table.
        file: PathBuf,
        /// What is not, a line for each.
        differences: String,
    },

    /// The bindings could not be written.
    #[cfg(feature = "bindgen")]
    #[error("{0}")]
    Bindings(String),

    /// The operating system refused something.
    #[error("cannot {action} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// Turns what the system said about `path` into an error, for `map_err`.
    pub fn io(
        action: &'static str,
        path: impl AsRef<Path>,
    ) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.as_ref().to_owned();
        move |source| Error::Io {
            action,
            path,
            source,
        }
    }
}
