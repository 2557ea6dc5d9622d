//! What a libNVVM can do, asked of the library itself.
//!
//! libNVVM reads its options before it reads a module, so verifying a module that is none tells
//! whether it knows an option: result code 7 is the option's, any other the module's.

use std::ffi::CString;

use super::modules::LAYOUT;
use crate::arch::Arch;
use crate::guard::Guarded;
use crate::sys::bindings::nvvm::NVVM_ERROR_INVALID_OPTION;
use crate::sys::{Failed, Nvvm, RawProgram};
use crate::toolkit::Opened;

/// Whether the library takes these options.
pub(super) fn takes(api: Nvvm, options: &[CString], guard: &Guarded) -> bool {
    let verified = RawProgram::create(api, guard).and_then(|mut program| {
        program.add(c"probe", b"?", false, guard)?;
        program.verify(options, guard)
    });
    !matches!(verified, Ok(()) | Err(Failed(NVVM_ERROR_INVALID_OPTION)))
}

/// Whether the library has the newer NVVM for architectures below compute_100; none where it does
/// not know the architecture, which makes every flag look unknown.
///
/// Asked once of each opened library; two threads that ask at once both ask the library.
pub(super) fn has_newer_nvvm(nvvm: &Opened<Nvvm>, arch: Arch, guard: &Guarded) -> Option<bool> {
    nvvm.memo.newer_nvvm.get_or_ask(|| {
        let plain = option(&format!("-arch={}", arch.compute()));
        let latest = option("-nvvm-latest");
        match (plain, latest) {
            (Some(plain), Some(latest)) => {
                if takes(nvvm.api, &[plain.clone(), latest], guard) {
                    Some(true)
                } else if takes(nvvm.api, &[plain], guard) {
                    Some(false)
                } else {
                    None
                }
            }
            _ => None,
        }
    })
}

/// Whether the library's older compiler makes a kernel of a function that only its calling convention
/// marks; none where it does not know the architecture.
pub(super) fn honours_convention(nvvm: &Opened<Nvvm>, arch: Arch, guard: &Guarded) -> Option<bool> {
    nvvm.memo.convention.get_or_ask(|| {
        let module = format!(
            "target datalayout = \"{LAYOUT}\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n\
             define ptx_kernel void @k() {{\n  ret void\n}}\n\
             !nvvmir.version = !{{!0}}\n!0 = !{{i32 2, i32 0}}\n"
        );
        let arch = option(&format!("-arch={}", arch.compute()))?;
        let mut program = RawProgram::create(nvvm.api, guard).ok()?;
        program
            .add(c"probe", module.as_bytes(), false, guard)
            .ok()?;
        program.compile(&[arch], guard).ok()?;
        let ptx = program.result(guard).ok()?;
        Some(ptx.windows(6).any(|word| word == b".entry"))
    })
}

/// Whether the library compiles for an architecture.
pub(super) fn knows(api: Nvvm, arch: Arch, guard: &Guarded) -> bool {
    let name = arch.compute();
    let Ok(name) = CString::new(name) else {
        return false;
    };
    if let Some(answer) = api.llvm_version(&name) {
        return answer.is_ok();
    }
    option(&format!("-arch={}", arch.compute())).is_some_and(|arch| takes(api, &[arch], guard))
}

fn option(flag: &str) -> Option<CString> {
    CString::new(flag).ok()
}
