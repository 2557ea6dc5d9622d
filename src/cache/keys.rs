//! From a job to its key.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::depends::{Cpp, Fields, Folders, Libraries, check_flags};
use super::key::{Key, Uncacheable};
use crate::compile::{self, Emit, Job, Source};
use crate::error::{Library, Result};
use crate::nvvm::Libdevice;
use crate::toolkit::Toolkit;

/// Counts the ways in which keys were made.
const SCHEMA: u32 = 1;

/// What names jobs by all that their artifacts depend on, over one toolkit.
///
/// A key is a hash of the whole job, the version of this crate, the builds of the libraries that run
/// it, libdevice, and the files that it can read: headers in memory and the whole content of declared
/// include folders and, where something is included, of the toolkit's headers. The driver and the
/// GPUs of the machine are no part of it.
///
/// What was found out about libraries and folders is kept. A library and a toolkit's headers are
/// taken to stay as they are while the process lives; declared folders are looked at each time. A
/// [`Cached`](super::Cached) with a folder keeps there what it found out about a toolkit's headers.
#[derive(Debug)]
pub struct Keys {
    toolkit: Toolkit,
    libraries: Libraries,
    folders: Folders,
    libdevice: OnceLock<[u8; 32]>,
    headers: OnceLock<Arc<[PathBuf]>>,
}

impl Keys {
    /// Keys of what this toolkit compiles.
    #[must_use]
    pub fn new(toolkit: &Toolkit) -> Self {
        Keys {
            toolkit: toolkit.clone(),
            libraries: Libraries::default(),
            folders: Folders::default(),
            libdevice: OnceLock::new(),
            headers: OnceLock::new(),
        }
    }

    /// Has what is found out about the toolkit's headers kept for other processes.
    #[cfg(feature = "cache-disk")]
    pub(super) fn remember_by(&mut self, memo: impl super::depends::Memo + 'static) {
        self.folders.remember_by(memo);
    }

    /// The key of a job.
    ///
    /// # Errors
    ///
    /// [`Uncacheable`] with the reason, where the job could read something that is not declared, asks
    /// for the time, or writes a file besides, and where a library that it needs cannot be opened.
    pub fn key(&self, job: &Job) -> Result<Key, Uncacheable> {
        let mut fields = Fields::new();
        hashed(&mut fields, "schema", &SCHEMA)?;
        hashed(&mut fields, "crate", &env!("CARGO_PKG_VERSION"))?;
        hashed(&mut fields, "job", job)?;
        match &job.source {
            Source::Nvvm(nvvm) => self.nvvm(&mut fields, nvvm, job.emit)?,
            Source::Cpp(cpp) => self.cpp(&mut fields, cpp)?,
            Source::Link(link) => self.link(&mut fields, link)?,
        }
        Ok(fields.finish())
    }

    fn nvvm(
        &self,
        fields: &mut Fields,
        job: &compile::Nvvm,
        emit: Emit,
    ) -> Result<(), Uncacheable> {
        check_flags("extra", &job.options.extra)?;
        let nvvm = self.toolkit.nvvm().map_err(not_there)?;
        self.library(fields, &nvvm.library)?;
        if emit == Emit::Cubin {
            self.nvjitlink(fields)?;
        }
        if matches!(job.libdevice, Libdevice::Auto | Libdevice::Always) {
            // Where there is none, that is what the key says: what needs one fails then.
            if let Some(hash) = self.libdevice() {
                fields.hashed("libdevice", &hash);
            }
        }
        Ok(())
    }

    fn cpp(&self, fields: &mut Fields, job: &compile::Cpp) -> Result<(), Uncacheable> {
        let nvrtc = self.toolkit.nvrtc().map_err(not_there)?;
        self.library(fields, &nvrtc.library)?;
        let toolkit = self
            .headers
            .get_or_init(|| crate::nvrtc::toolkit_headers(&nvrtc.library.path).into());
        let cpp = Cpp {
            name: &job.name,
            source: &job.source,
            headers: job
                .headers
                .iter()
                .map(|header| (header.name.as_str(), header.text.as_str()))
                .collect(),
            options: &job.options,
        };
        cpp.hash(fields, &self.folders, toolkit)
    }

    fn link(&self, fields: &mut Fields, job: &compile::Link) -> Result<(), Uncacheable> {
        let options = &job.options;
        if options.time {
            return Err(Uncacheable::because(
                "it asks how long the link takes (`time`), which a kept artifact cannot tell",
            ));
        }
        check_flags("extra", &options.extra)?;
        check_flags("ptxas", &options.ptxas)?;
        check_flags("nvvm", &options.nvvm)?;
        self.nvjitlink(fields)
    }

    fn nvjitlink(&self, fields: &mut Fields) -> Result<(), Uncacheable> {
        let nvjitlink = self.toolkit.nvjitlink().map_err(not_there)?;
        self.library(fields, &nvjitlink.library)
    }

    fn library(&self, fields: &mut Fields, library: &Library) -> Result<(), Uncacheable> {
        hashed(fields, "library", &*self.libraries.identity(library)?)
    }

    fn libdevice(&self) -> Option<[u8; 32]> {
        if let Some(known) = self.libdevice.get() {
            return Some(*known);
        }
        let hash = blake3::hash(&self.toolkit.libdevice().ok()?.bytes);
        Some(*self.libdevice.get_or_init(|| *hash.as_bytes()))
    }
}

impl Job {
    /// What the job hashes to, over a toolkit. [`Keys`] is faster for many jobs.
    ///
    /// # Errors
    ///
    /// As [`Keys::key`].
    pub fn key(&self, toolkit: &Toolkit) -> Result<Key, Uncacheable> {
        Keys::new(toolkit).key(self)
    }
}

fn hashed(
    fields: &mut Fields,
    name: &str,
    value: &(impl serde::Serialize + ?Sized),
) -> Result<(), Uncacheable> {
    fields
        .field(name, value)
        .map_err(|e| Uncacheable::because(format!("it cannot be hashed: {e}")))
}

fn not_there(error: crate::Error) -> Uncacheable {
    Uncacheable::because(format!("which library compiles is not known: {error}"))
}
