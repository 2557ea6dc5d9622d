//! From a code of the library to an error.

use std::path::PathBuf;

use super::attempt::NotDone;
use super::control::Control;
use super::flags::Flags;
use super::{archs, log};
use crate::arch::Arch;
use crate::diagnostic::Severity;
use crate::error::{Error, LibraryError, Stage};
use crate::hints::{Said, Speaker};
use crate::sys::bindings::nvrtc::*;
use crate::sys::{Nvrtc, NvrtcFailed};
use crate::toolkit::Opened;

/// What one compilation was, for what is said of its end.
pub(super) struct Compilation<'a> {
    pub(super) flags: &'a Flags,
    pub(super) searched: &'a [PathBuf],
    pub(super) arch: Arch,
    pub(super) control: &'a Control,
}

pub(super) fn of(nvrtc: &Opened<Nvrtc>, failed: NotDone, compilation: &Compilation<'_>) -> Error {
    let NvrtcFailed(code) = failed.code;
    let flags = compilation.flags;
    if code == NVRTC_ERROR_CANCELLED {
        return cancelled(compilation.control.why());
    }
    if code == NVRTC_ERROR_INVALID_OPTION {
        let version = nvrtc.api.major_minor().unwrap_or_default();
        if let Some((flag, (major, minor))) = flags.lacking(version, &failed.log) {
            return Error::Unsupported {
                what: format!("the option `{flag}`"),
                needs: format!("NVRTC {major}.{minor} or newer"),
                library: nvrtc.library.clone(),
            };
        }
    }
    if matches!(code, NVRTC_ERROR_INVALID_OPTION | NVRTC_ERROR_COMPILATION) {
        if let Some(error) = archs::refused_letter(nvrtc, compilation.arch) {
            return error;
        }
    }
    let options = flags.list.clone();
    library_error(nvrtc, failed, compilation.searched, options).into()
}

/// The error of a call, with its log read and what to do.
pub(super) fn library_error(
    nvrtc: &Opened<Nvrtc>,
    failed: NotDone,
    searched: &[PathBuf],
    options: Vec<String>,
) -> LibraryError {
    let NvrtcFailed(code) = failed.code;
    let (number, code_name) = (
        i32::try_from(code).unwrap_or(i32::MAX),
        nvrtc.api.code_name(code),
    );
    let library = &nvrtc.library;
    let said = Said {
        searched,
        ..Said::new(
            Speaker::Nvrtc,
            failed.stage,
            (number, &code_name),
            &failed.log,
            library,
        )
    };
    let hint = said.hint();
    let mut diagnostics = log::parse(&failed.log, Severity::Error);
    said.advise(&mut diagnostics);
    LibraryError {
        stage: failed.stage,
        code: number,
        input: failed.input,
        diagnostics,
        hint,
        code_name,
        log: failed.log,
        options,
        library: library.clone(),
    }
}

pub(super) fn no_answer(nvrtc: &Opened<Nvrtc>, code: NvrtcFailed) -> Error {
    let failed = NotDone::new(Stage::Query, code);
    library_error(nvrtc, failed, &[], Vec::new()).into()
}

pub(super) fn cancelled(reason: &str) -> Error {
    Error::Cancelled {
        reason: reason.to_owned(),
    }
}
