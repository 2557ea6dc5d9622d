//! Which architectures the library compiles for.

use std::ffi::CString;

use crate::arch::{Arch, Suffix};
use crate::error::{Error, Library, Result};
use crate::guard::{Guarded, guarded};
use crate::sys::{Nvrtc, RawNvrtc};
use crate::toolkit::Opened;

/// Whether the library compiles an empty program for it.
///
/// Its list has numbers alone, and its reader of options takes letters that its compiler then refuses.
pub(super) fn knows(api: Nvrtc, arch: Arch, guard: &Guarded) -> bool {
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
        .is_ok()
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
        Ok(true) | Err(_) => None,
        Ok(false) => Some(unknown(nvrtc, arch, &nvrtc.api.archs().unwrap_or_default())),
    }
}

fn unknown(nvrtc: &Opened<Nvrtc>, arch: Arch, listed: &[u16]) -> Error {
    let mut known: Vec<String> = listed.iter().map(|number| format!("sm_{number}")).collect();
    let letters = Arch::KNOWN
        .iter()
        .filter(|known| known.suffix() != Suffix::None && listed.contains(&known.number()));
    known.extend(
        guarded(|guard| {
            letters
                .filter(|arch| knows(nvrtc.api, **arch, guard))
                .map(Arch::to_string)
                .collect::<Vec<_>>()
        })
        .unwrap_or_default(),
    );
    invalid(&nvrtc.library, arch, &known)
}

fn invalid(library: &Library, arch: Arch, known: &[String]) -> Error {
    Error::InvalidArch {
        text: arch.to_string(),
        problem: format!(
            "{library} does not know it; compile for one that it knows ({}), or use another toolkit",
            known.join(", ")
        ),
    }
}
