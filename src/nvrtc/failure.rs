//! From a code of the library to an error.

use std::path::PathBuf;

use super::attempt::NotDone;
use super::control::Control;
use super::flags::Flags;
use super::{archs, hints, log};
use crate::arch::Arch;
use crate::diagnostic::Severity;
use crate::error::{Error, LibraryError, Stage};
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
        let reason = compilation.control.reason();
        return cancelled(reason.unwrap_or("the caller's function said so"));
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
    let library = nvrtc.library.clone();
    LibraryError {
        stage: failed.stage,
        code: i32::try_from(code).unwrap_or(i32::MAX),
        code_name: nvrtc.api.code_name(code),
        input: failed.input,
        diagnostics: log::parse(&failed.log, Severity::Error),
        hint: hints::of(failed.code, &failed.log, compilation.searched, &library),
        log: failed.log,
        options: flags.list.clone(),
        library,
    }
    .into()
}

pub(super) fn no_answer(nvrtc: &Opened<Nvrtc>, NvrtcFailed(code): NvrtcFailed) -> Error {
    LibraryError {
        stage: Stage::Query,
        code: i32::try_from(code).unwrap_or(i32::MAX),
        code_name: nvrtc.api.code_name(code),
        input: None,
        diagnostics: Vec::new(),
        log: String::new(),
        options: Vec::new(),
        library: nvrtc.library.clone(),
        hint: None,
    }
    .into()
}

pub(super) fn cancelled(reason: &str) -> Error {
    Error::Cancelled {
        reason: reason.to_owned(),
    }
}
