//! What CUDA C++ reads besides its source.
//!
//! Seen with NVRTC 12.0 and 13.5: a quoted include is looked for among the headers in memory, by its
//! exact name; then beside the file that includes it, whose folder is that of its name, from the
//! current folder on; then in the include folders. `--no-source-include` leaves the second out, for
//! headers in memory too. `<name>` is looked for in memory and in the include folders alone. What
//! `--pre-include` names is looked for in memory, and then from the current folder on in any case.

use std::path::{Path, PathBuf};

use super::flags;
use super::folder::{Folders, Trust, goes_up, is_rooted};
use super::hash::Fields;
use super::includes::{self, Include};
use crate::cache::key::Uncacheable;
use crate::nvrtc::{Options, PchMode};

/// A source with the headers that it has in memory.
pub(in crate::cache) struct Cpp<'a> {
    pub(in crate::cache) name: &'a str,
    pub(in crate::cache) source: &'a str,
    /// Name and text of each.
    pub(in crate::cache) headers: Vec<(&'a str, &'a str)>,
    pub(in crate::cache) options: &'a Options,
}

impl Cpp<'_> {
    /// Hashes what is read besides the job itself; `toolkit` are the include folders that the
    /// compiler brings along, where the options ask for them.
    ///
    /// # Errors
    ///
    /// Where something could be read that is not declared.
    pub(in crate::cache) fn hash(
        &self,
        fields: &mut Fields,
        folders: &Folders,
        toolkit: &[PathBuf],
    ) -> Result<(), Uncacheable> {
        self.check_options()?;
        let toolkit = if self.options.preprocessor.toolkit_headers {
            toolkit
        } else {
            &[]
        };
        let debug = &self.options.debug;
        if debug.full || debug.line_info {
            // Files stand in the result with their whole paths.
            let here = std::env::current_dir()
                .map_err(|e| Uncacheable::because(format!("there is no current folder: {e}")))?;
            hashed(fields, "current folder", &here)?;
        }
        let mut reads_files = false;
        for (name, text) in self.texts() {
            let seen = includes::look(text.as_bytes());
            if seen.time {
                return Err(refused(name, "asks for the time (`__DATE__`, `__TIME__`)"));
            }
            for include in seen.includes {
                reads_files |= self.reads_a_file(name, &include)?;
            }
        }
        if !reads_files {
            return Ok(());
        }
        for folder in &self.options.preprocessor.include_folders {
            let trust = if is_below(folder, toolkit) {
                Trust::Toolkit
            } else {
                Trust::User
            };
            fields.hashed("include folder", &folders.hash(folder, trust)?);
        }
        for folder in toolkit {
            // The headers' names can end up in the code, as by an assertion.
            hashed(fields, "toolkit headers", folder)?;
            fields.hashed("content", &folders.hash(folder, Trust::Toolkit)?);
        }
        Ok(())
    }

    fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        std::iter::once((self.name, self.source)).chain(self.headers.iter().copied())
    }

    fn check_options(&self) -> Result<(), Uncacheable> {
        let options = self.options;
        let no = |reason: &str| Err(Uncacheable::because(reason));
        if options.pch.mode != PchMode::Off {
            return no("it makes or uses a precompiled header, which is a file (`pch`)");
        }
        if options.time_trace.is_some() {
            return no("it writes a file (`time_trace`)");
        }
        if let Some(header) = options
            .preprocessor
            .pre_includes
            .iter()
            .find(|header| !self.has(header))
        {
            return Err(Uncacheable::because(format!(
                "`preprocessor.pre_includes` names the file {header:?}: add it as a header in memory"
            )));
        }
        let defines = &options.preprocessor.defines;
        if let Some(define) = defines
            .iter()
            .find(|define| includes::look(define.as_bytes()).time)
        {
            return Err(Uncacheable::because(format!(
                "the macro {define:?} asks for the time"
            )));
        }
        flags::check("extra", &options.extra)?;
        flags::check("code.ptxas", &options.code.ptxas)
    }

    fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|(name, _)| *name == header)
    }

    /// Whether an include can lead to a file of an include folder.
    fn reads_a_file(&self, includer: &str, include: &Include) -> Result<bool, Uncacheable> {
        let (name, beside) = match include {
            Include::Computed => {
                return Err(refused(
                    includer,
                    "includes what a macro stands for, so what is read cannot be told before it is \
                     compiled",
                ));
            }
            Include::Quoted(name) => (name, !self.options.preprocessor.no_source_include),
            Include::Angled(name) => (name, false),
        };
        if self.has(name) {
            return Ok(false);
        }
        if is_rooted(name) || goes_up(name) {
            return Err(refused(
                includer,
                format_args!(
                    "includes {name:?}, which no include folder holds: add it as a header in memory, \
                     or name its folder"
                ),
            ));
        }
        let candidate = Path::new(includer).parent().map(|folder| folder.join(name));
        if let Some(file) = candidate.filter(|file| beside && file.exists()) {
            return Err(refused(
                includer,
                format_args!(
                    "includes {}, which is in no declared folder: name its folder in \
                     `preprocessor.include_folders` and set `preprocessor.no_source_include`, or add \
                     it as a header in memory",
                    file.display()
                ),
            ));
        }
        Ok(true)
    }
}

/// Whether a folder is in one of the others, with links resolved.
fn is_below(folder: &Path, others: &[PathBuf]) -> bool {
    let Ok(real) = folder.canonicalize() else {
        return false;
    };
    let mut others = others.iter().filter_map(|other| other.canonicalize().ok());
    others.any(|other| real.starts_with(other))
}

fn hashed(fields: &mut Fields, name: &str, value: &Path) -> Result<(), Uncacheable> {
    fields
        .field(name, &value)
        .map_err(|e| Uncacheable::because(format!("{}: {e}", value.display())))
}

fn refused(name: &str, why: impl std::fmt::Display) -> Uncacheable {
    Uncacheable::because(format!("`{name}` {why}"))
}
