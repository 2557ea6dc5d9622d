//! What to do about an error of libNVVM.

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
    options: &Options,
    nvvm: &Opened<Nvvm>,
    guard: &Guarded,
) -> Option<String> {
    match code {
        NVVM_ERROR_INVALID_OPTION if !probe::knows(nvvm.api, options.arch, guard) => {
            let known: Vec<String> = Arch::KNOWN
                .iter()
                .filter(|&&arch| probe::knows(nvvm.api, arch, guard))
                .map(|arch| arch.compute())
                .collect();
            Some(format!(
                "{} does not know {}; it knows {}",
                nvvm.library,
                options.arch.compute(),
                known.join(", ")
            ))
        }
        NVVM_ERROR_INVALID_OPTION => Some(format!(
            "{} lacks this option; leave it out, or use a newer library",
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
        _ => None,
    }
}
