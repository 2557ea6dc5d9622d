//! What one compilation does with precompiled headers.

use std::ffi::{CString, OsString};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::automatic::Automatic;
use super::contents::Contents;
use super::{PchStatus, record};
use crate::artifact::write_file;
use crate::error::{Error, Result};
use crate::nvrtc::checks::{path, regular};
use crate::nvrtc::{Pch, PchMode};

/// What is done, and what is left to do after it.
#[derive(Debug)]
pub(in crate::nvrtc) enum Work {
    Off,
    Automatic { flags: [String; 2] },
    Create { draft: Draft, file: PathBuf },
    Use { file: PathBuf },
}

/// A file that nobody else knows of, removed unless it was moved.
#[derive(Debug)]
pub(in crate::nvrtc) struct Draft(PathBuf);

impl Draft {
    fn beside(file: &Path) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let mut name = OsString::from(".");
            name.push(file.file_name().unwrap_or_default());
            name.push(format!(".{}.{number}", std::process::id()));
            let path = file.with_file_name(name);
            // What the library cannot create, it fails to after it compiled.
            match File::create_new(&path) {
                Ok(_) => return Ok(Draft(path)),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(Error::io("create", file, &e)),
            }
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Work {
    /// Makes ready, and refuses what may not be used.
    pub(in crate::nvrtc) fn begin(
        pch: &Pch,
        automatic: &mut Option<Automatic>,
        headers: &[(CString, CString)],
        library: &Path,
    ) -> Result<Self> {
        let below = |file: &Path| match &pch.folder {
            Some(folder) => folder.join(file),
            None => file.to_owned(),
        };
        Ok(match &pch.mode {
            PchMode::Off => Work::Off,
            PchMode::Automatic => {
                let below = pch.folder.clone().unwrap_or_else(std::env::temp_dir);
                let there = automatic.take().filter(|it| it.fits(&below, headers));
                let own = match there {
                    Some(own) => own,
                    None => Automatic::new(&below)?,
                };
                let own = automatic.insert(own);
                Work::Automatic {
                    flags: [
                        "--pch".to_owned(),
                        format!("--pch-dir={}", path("pch.folder", own.path())?),
                    ],
                }
            }
            PchMode::Create(file) => {
                let file = below(file);
                path("pch", &file)?;
                regular(&file)?;
                Work::Create {
                    draft: Draft::beside(&file)?,
                    file,
                }
            }
            PchMode::Use(file) => {
                let file = below(file);
                path("pch", &file)?;
                regular(&file)?;
                check(&file, headers, library)?;
                Work::Use { file }
            }
        })
    }

    /// The flags, each of which needs a library with precompiled headers.
    pub(in crate::nvrtc) fn flags(&self) -> Vec<String> {
        match self {
            Work::Off => Vec::new(),
            Work::Automatic { flags } => flags.to_vec(),
            Work::Create { draft, .. } => vec![format!("--create-pch={}", draft.0.display())],
            Work::Use { file } => vec![format!("--use-pch={}", file.display())],
        }
    }

    pub(in crate::nvrtc) fn is_off(&self) -> bool {
        matches!(self, Work::Off)
    }

    /// A log or a flag with the name that the user knows.
    pub(in crate::nvrtc) fn shown(&self, text: String) -> String {
        match self {
            Work::Create { draft, file } => {
                text.replace(&*draft.0.to_string_lossy(), &file.to_string_lossy())
            }
            _ => text,
        }
    }

    /// Keeps what a compilation that succeeded made.
    pub(in crate::nvrtc) fn finish(
        self,
        status: Option<PchStatus>,
        automatic: &mut Option<Automatic>,
        headers: &[(CString, CString)],
        library: &Path,
    ) -> Result<()> {
        match self {
            Work::Automatic { .. } => {
                if !automatic.as_mut().is_some_and(|own| own.look(headers)) {
                    *automatic = None;
                }
                Ok(())
            }
            Work::Create { draft, file } if status == Some(PchStatus::Created) => {
                let made = fs::read(&draft.0).map_err(|e| Error::io("read", &file, &e))?;
                let says = record::write(library, &made, &Contents::of(&made, headers));
                let beside = record::beside(&file);
                // Another thread finds the two together, or refuses what it finds.
                match fs::remove_file(&beside) {
                    Err(e) if e.kind() != ErrorKind::NotFound => {
                        return Err(Error::io("replace", &beside, &e));
                    }
                    _ => {}
                }
                fs::rename(&draft.0, &file).map_err(|e| Error::io("create", &file, &e))?;
                write_file(&beside, says.as_bytes())
            }
            Work::Off | Work::Use { .. } | Work::Create { .. } => Ok(()),
        }
    }
}

fn check(file: &Path, headers: &[(CString, CString)], library: &Path) -> Result<()> {
    let precompiled = fs::read(file).map_err(|e| Error::io("read", file, &e))?;
    let record = match fs::read_to_string(record::beside(file)) {
        Ok(record) => record,
        Err(e) if e.kind() == ErrorKind::NotFound => String::new(),
        Err(e) => return Err(Error::io("read", record::beside(file), &e)),
    };
    match record::problem(library, &precompiled, &record, headers) {
        None => Ok(()),
        Some(problem) => Err(Error::invalid_options(
            format!(
                "the precompiled header {} cannot be used: {problem}",
                file.display()
            ),
            "make it anew in this process with `PchMode::Create`",
        )),
    }
}
