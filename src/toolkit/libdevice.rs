//! libdevice: the library of mathematical functions that libNVVM takes as bitcode.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::Environment;
use super::library::attempt;
use super::part::{Candidate, Part, Reason};
use super::version::version_of;
use crate::error::Attempt;

/// NVIDIA's libdevice, read into memory.
#[derive(Clone)]
#[non_exhaustive]
pub struct Libdevice {
    /// The file.
    pub path: PathBuf,
    /// Its content, LLVM bitcode.
    pub bytes: Arc<[u8]>,
    /// The version of the toolkit it came with, as in `13.5`, where that is known.
    pub version: Option<String>,
    /// Why it was looked at.
    pub because: Reason,
    /// The toolkit it belongs to, where that is known.
    pub root: Option<PathBuf>,
    /// The places that were tried before it, and why each was of no use.
    pub passed_over: Vec<Attempt>,
}

impl fmt::Debug for Libdevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Half a megabyte of bytes helps nobody.
        f.debug_struct("Libdevice")
            .field("path", &self.path)
            .field("bytes", &self.bytes.len())
            .field("version", &self.version)
            .field("because", &self.because)
            .field("root", &self.root)
            .field("passed_over", &self.passed_over)
            .finish()
    }
}

/// Reads the first candidate that is bitcode, or says why none is.
pub(super) fn read_first(
    environment: &Environment,
    candidates: Vec<Candidate>,
) -> Result<Libdevice, Vec<Attempt>> {
    let mut passed_over = Vec::new();
    for candidate in candidates {
        let read = match &candidate.problem {
            Some(problem) => Err(problem.clone()),
            None => read(&candidate.path),
        };
        match read {
            Ok(bytes) => {
                let version = candidate
                    .root
                    .as_deref()
                    .and_then(|root| version_of(environment, Part::Libdevice, root));
                return Ok(Libdevice {
                    path: candidate.path,
                    bytes,
                    version,
                    because: candidate.because,
                    root: candidate.root,
                    passed_over,
                });
            }
            Err(failure) => passed_over.push(attempt(&candidate, failure)),
        }
    }
    Err(passed_over)
}

fn read(path: &Path) -> Result<Arc<[u8]>, String> {
    // A pipe would block for ever, so nothing but a regular file is opened.
    match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Err("no such file".into()),
        Err(e) => return Err(format!("it cannot be read: {e}")),
        Ok(metadata) if !metadata.is_file() => return Err("it is no regular file".into()),
        Ok(_) => {}
    }
    let bytes = std::fs::read(path).map_err(|e| format!("it cannot be read: {e}"))?;
    crate::nvvm::check_libdevice(&bytes)?;
    Ok(bytes.into())
}
