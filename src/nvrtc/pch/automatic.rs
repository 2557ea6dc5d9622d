//! The precompiled headers that a program makes by itself.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::contents::Contents;
use super::record::process;
use crate::error::{Error, Result};

/// A folder of the program's own, with what each file in it was made of.
#[derive(Debug)]
pub(in crate::nvrtc) struct Automatic {
    path: PathBuf,
    /// Below which folder the user wants it.
    below: PathBuf,
    /// Who made it: a forked child inherits the value and must leave the folder alone.
    process: String,
    made: BTreeMap<PathBuf, Contents>,
    /// The current folder, which relative ones are found from.
    from: Option<PathBuf>,
}

impl Automatic {
    pub(super) fn new(below: &Path) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let process = process();
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("cuda-program-pch-{}-{number}", process.replace(' ', "-"));
        let path = below.join(name);
        let mut builder = std::fs::DirBuilder::new();
        // What lies here is mapped into the process, so nobody else may write to it.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // It must not be there: another user could have put it there.
        builder
            .create(&path)
            .map_err(|e| Error::io("create", &path, &e))?;
        Ok(Automatic {
            path,
            below: below.to_owned(),
            process,
            made: BTreeMap::new(),
            from: std::env::current_dir().ok(),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether what is in it may be used.
    pub(super) fn fits(&self, below: &Path, headers: &[(CString, CString)]) -> bool {
        self.below == below
            && self.process == process()
            && self.from == std::env::current_dir().ok()
            && self.path.is_dir()
            && self.made.values().all(|c| c.changed(headers).is_none())
    }

    /// Looks at what a compilation left in it; false where that cannot be read.
    pub(super) fn look(&mut self, headers: &[(CString, CString)]) -> bool {
        let Ok(entries) = std::fs::read_dir(&self.path) else {
            return false;
        };
        for entry in entries {
            let Ok(path) = entry.map(|entry| entry.path()) else {
                return false;
            };
            if self.made.contains_key(&path) {
                continue;
            }
            let Ok(precompiled) = std::fs::read(&path) else {
                return false;
            };
            let contents = Contents::of(&precompiled, headers);
            self.made.insert(path, contents);
        }
        true
    }
}

impl Drop for Automatic {
    fn drop(&mut self) {
        if self.process == process() {
            // Where it cannot be removed, it does no harm.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
