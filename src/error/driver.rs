//! What errors of the CUDA driver carry.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::library::write_pointed;
use super::{Error, Library};
use crate::artifact::IsaVersion;
use crate::diagnostic::{Diagnostic, Severity};

/// Why there is no driver to run anything with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DriverProblem {
    /// The system's loader finds no driver library.
    Missing,
    /// The library found is a toolkit's stub, which is for linking alone.
    Stub,
    /// The driver is there, and no device.
    NoDevice,
    /// The driver is there and does not start.
    Unusable,
}

/// A driver, or a device, that is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NoDriver {
    /// Which of the ways.
    pub problem: DriverProblem,
    /// What was found, in words.
    pub what: String,
    /// What to do.
    pub hint: String,
    /// The driver's raw code, where it was asked.
    pub code: Option<i32>,
}

impl std::error::Error for NoDriver {}

impl fmt::Display for NoDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no GPU can be used: {}; {}", self.what, self.hint)
    }
}

impl From<NoDriver> for Error {
    fn from(e: NoDriver) -> Self {
        Error::NoDriver(Box::new(e))
    }
}

/// PTX that is newer than the driver reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PtxTooNew {
    /// The version of the PTX.
    pub ptx: IsaVersion,
    /// The newest version that the driver reads.
    pub reads: IsaVersion,
    /// Why no other way was taken, where one was tried.
    pub why_not: Option<String>,
    /// The driver.
    pub driver: Library,
}

/// The oldest PTX that libNVVM writes to order.
const OLDEST_TO_ORDER: IsaVersion = IsaVersion { major: 8, minor: 6 };

impl std::error::Error for PtxTooNew {}

impl fmt::Display for PtxTooNew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the PTX is of version {}, and {} reads up to {}",
            self.ptx, self.driver, self.reads
        )?;
        if let Some(why_not) = &self.why_not {
            write!(f, ", and {why_not}")?;
        }
        f.write_str("; make a cubin of it with nvJitLink (LoadPolicy::Cubin), ")?;
        if self.reads >= OLDEST_TO_ORDER {
            write!(f, "compile it with `ptx_version` {}, ", self.reads)?;
        } else {
            f.write_str("compile it with a toolkit that is no newer than the driver, ")?;
        }
        f.write_str("or update the driver")
    }
}

impl From<PtxTooNew> for Error {
    fn from(e: PtxTooNew) -> Self {
        Error::PtxTooNew(Box::new(e))
    }
}

/// A call into the driver that returned an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DriverError {
    /// The function that returned it, as in `cuLibraryLoadData`.
    pub call: String,
    /// The raw code; 0 where the driver reported success and its log says otherwise.
    pub code: i32,
    /// That code's name, as in `CUDA_ERROR_INVALID_PTX`.
    pub code_name: String,
    /// What it happened on, as in the name of a kernel.
    pub input: Option<String>,
    /// The log, one message at a time.
    pub diagnostics: Vec<Diagnostic>,
    /// The error log of the driver's PTX compiler, as it was; empty where there is none.
    pub log: String,
    /// What to do, where that is known.
    pub hint: Option<String>,
    /// The driver.
    pub driver: Library,
}

impl std::error::Error for DriverError {}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.code == 0 {
            write!(f, "{} reported success and failed", self.call)?;
        } else {
            write!(
                f,
                "{} failed with {} ({})",
                self.call, self.code_name, self.code
            )?;
        }
        if let Some(input) = &self.input {
            write!(f, " on {input}")?;
        }
        let first = self
            .diagnostics
            .iter()
            .find(|said| said.severity == Severity::Error);
        if let Some(first) = first {
            write!(f, ": {}", first.without_severity())?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "; {hint}")?;
        }
        if f.alternate() {
            write_pointed(f, &self.diagnostics, self.hint.as_deref())?;
            write!(f, "\ndriver: {}", self.driver)?;
            write!(f, "\nlog:\n{}", self.log.trim_end())?;
        }
        Ok(())
    }
}

impl From<DriverError> for Error {
    fn from(e: DriverError) -> Self {
        Error::Driver(Box::new(e))
    }
}
