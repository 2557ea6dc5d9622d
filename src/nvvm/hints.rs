//! What to do about an error of libNVVM.

use super::modules::LAYOUT;
use super::options::Options;
use super::probe;
use crate::arch::Arch;
use crate::guard::Guarded;
use crate::sys::bindings::nvvm::{NVVM_ERROR_INVALID_OPTION, NVVM_ERROR_IR_VERSION_MISMATCH};
use crate::sys::{Failed, Nvvm};
use crate::toolkit::Opened;

/// A sentence for the person who reads the error, where there is one to say.
pub(super) fn of(
    Failed(code): Failed,
    log: &str,
    options: &Options,
    nvvm: &Opened<Nvvm>,
    guard: &Guarded,
) -> Option<String> {
    match code {
        NVVM_ERROR_INVALID_OPTION if !probe::knows(nvvm.api, options.arch, guard) => {
            let known: Vec<Arch> = Arch::KNOWN
                .iter()
                .copied()
                .filter(|&arch| probe::knows(nvvm.api, arch, guard))
                .collect();
            let other = match known.first() {
                Some(first) if options.arch < *first => "an older",
                _ => "a newer",
            };
            let known: Vec<String> = known.into_iter().map(Arch::compute).collect();
            Some(format!(
                "{} does not know {}; compile for one that it knows ({}), or use {other} toolkit",
                nvvm.library,
                options.arch.compute(),
                known.join(", ")
            ))
        }
        NVVM_ERROR_INVALID_OPTION => Some(format!(
            "{} does not take this option or its value; check how it is spelt and what it may be, or \
             use a library that takes it",
            nvvm.library
        )),
        NVVM_ERROR_IR_VERSION_MISMATCH => {
            let ((major, minor), debug) = nvvm.api.ir_version().ok()?;
            Some(format!(
                "the library reads `!nvvmir.version` {major}.{minor}, with debug metadata up to \
                 {}.{}: write `!{{i32 {major}, i32 {minor}}}`, and two more numbers only where there \
                 is debug metadata",
                debug.0, debug.1
            ))
        }
        _ if log.contains("number of debug compile units") => Some(
            "this compiler takes `debug` (-g) with one compile unit in all modules together: link \
             them into one unit before, let the other units say `emissionKind: NoDebug`, or leave \
             `debug` out"
                .to_owned(),
        ),
        _ if log.contains("DataLayout") || log.contains("data layout") => Some(format!(
            "the layout that every libNVVM reads is `target datalayout = \"{LAYOUT}\"`"
        )),
        _ => None,
    }
}
