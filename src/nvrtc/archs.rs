//! Which architectures the library compiles for.

use std::ffi::CString;

use crate::arch::{Arch, Suffix};
use crate::error::{Error, Result};
use crate::guard::{Guarded, guarded};
use crate::hints::nearest;
use crate::sys::bindings::nvrtc::{NVRTC_ERROR_COMPILATION, NVRTC_ERROR_INVALID_OPTION};
use crate::sys::{Nvrtc, NvrtcFailed, RawNvrtc};
use crate::toolkit::Opened;

/// Whether the library compiles an empty program for it.
///
/// Its list has numbers alone, and its reader of options takes letters that its compiler then refuses.
///
/// # Errors
///
/// The code of the library where it is not the architecture that it refuses.
pub(super) fn knows(api: Nvrtc, arch: Arch, guard: &Guarded) -> Result<bool, NvrtcFailed> {
    let flags = [
        format!("--gpu-architecture={}", arch.compute()),
        "--modify-stack-limit=false".to_owned(),
    ];
    let flags: Vec<CString> = flags
        .into_iter()
        .filter_map(|f| CString::new(f).ok())
        .collect();
    RawNvrtc::create(api, c"", c"arch.cu", &[], guard)
        .and_then(|mut raw| raw.compile(&flags, guard))
        .map(|()| true)
        .or_else(|failed| match failed {
            NvrtcFailed(NVRTC_ERROR_INVALID_OPTION | NVRTC_ERROR_COMPILATION) => Ok(false),
            other => Err(other),
        })
}

/// Refuses a number that the library does not list.
pub(super) fn check_number(nvrtc: &Opened<Nvrtc>, arch: Arch, listed: &[u16]) -> Result<()> {
    if listed.is_empty() || listed.contains(&arch.number()) {
        return Ok(());
    }
    Err(unknown(nvrtc, arch, listed))
}

/// The error for an architecture with a letter, where it is the letter that the library refused.
pub(super) fn refused_letter(nvrtc: &Opened<Nvrtc>, arch: Arch) -> Option<Error> {
    if arch.suffix() == Suffix::None {
        return None;
    }
    match guarded(|guard| knows(nvrtc.api, arch, guard)) {
        Ok(Ok(true) | Err(_)) | Err(_) => None,
        Ok(Ok(false)) => Some(unknown(nvrtc, arch, &nvrtc.api.archs().unwrap_or_default())),
    }
}

fn unknown(nvrtc: &Opened<Nvrtc>, arch: Arch, listed: &[u16]) -> Error {
    let plain = listed
        .iter()
        .filter_map(|number| format!("sm_{number}").parse().ok());
    let mut known: Vec<Arch> = plain.collect();
    if arch.suffix() != Suffix::None {
        let letters = Arch::KNOWN
            .iter()
            .filter(|known| known.suffix() != Suffix::None && listed.contains(&known.number()));
        let taken = guarded(|guard| {
            letters
                .copied()
                .filter(|arch| knows(nvrtc.api, *arch, guard).unwrap_or(false))
                .collect::<Vec<_>>()
        });
        known.extend(taken.unwrap_or_default());
    }
    Error::InvalidArch {
        text: arch.to_string(),
        problem: format!(
            "{} does not know it; the nearest that it knows: {}; compile for one of them, or use \
             another toolkit",
            nvrtc.library,
            nearest(arch, &known, Arch::sm)
        ),
    }
}
