//! A part of the toolkit that is nowhere.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Error;

/// A part of the toolkit that was found nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotFound {
    /// The part, as in `libNVVM` or `libdevice`.
    pub part: String,
    /// Every place tried, in order.
    pub tried: Vec<Attempt>,
    /// What to do.
    pub hint: String,
}

/// One place where a part of the toolkit was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

impl From<NotFound> for Error {
    fn from(e: NotFound) -> Self {
        Error::NotFound(Box::new(e))
    }
}
