//! libNVVM: its function table and the owner of its handle.

use std::ffi::{CStr, CString, c_char, c_int};

use super::bindings::nvvm::*;
use super::table::table;
use crate::guard::{Guarded, guarded_or_plain};

table! {
    /// The functions of libNVVM.
    Nvvm, "libNVVM";
    required {
        nvvmGetErrorString: nvvmGetErrorString_fn,
        nvvmVersion: nvvmVersion_fn,
        nvvmIRVersion: nvvmIRVersion_fn,
        nvvmCreateProgram: nvvmCreateProgram_fn,
        nvvmDestroyProgram: nvvmDestroyProgram_fn,
        nvvmAddModuleToProgram: nvvmAddModuleToProgram_fn,
        nvvmLazyAddModuleToProgram: nvvmLazyAddModuleToProgram_fn,
        nvvmCompileProgram: nvvmCompileProgram_fn,
        nvvmVerifyProgram: nvvmVerifyProgram_fn,
        nvvmGetCompiledResultSize: nvvmGetCompiledResultSize_fn,
        nvvmGetCompiledResult: nvvmGetCompiledResult_fn,
        nvvmGetProgramLogSize: nvvmGetProgramLogSize_fn,
        nvvmGetProgramLog: nvvmGetProgramLog_fn,
    }
    optional {
        nvvmLLVMVersion: nvvmLLVMVersion_fn,
    }
}

/// The owner of one `nvvmProgram`, the only place that sees the raw handle.
///
/// Every method asks for a [`Guarded`]: libNVVM is called inside the guard or not at all.
#[derive(Debug)]
pub(crate) struct RawProgram {
    api: Nvvm,
    raw: nvvmProgram,
}

// SAFETY: libNVVM ties a program to no thread; `&mut self` keeps the calls on one handle apart.
unsafe impl Send for RawProgram {}

/// A result code other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed(pub(crate) nvvmResult);

fn check(code: nvvmResult) -> Result<(), Failed> {
    if code == NVVM_SUCCESS {
        Ok(())
    } else {
        Err(Failed(code))
    }
}

impl RawProgram {
    /// `nvvmCreateProgram`.
    pub(crate) fn create(api: Nvvm, _: &Guarded) -> Result<Self, Failed> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a valid place for one handle.
        check(unsafe { (api.nvvmCreateProgram)(&mut raw) })?;
        Ok(RawProgram { api, raw })
    }

    /// `nvvmAddModuleToProgram`, or `nvvmLazyAddModuleToProgram`. The library copies `module`.
    pub(crate) fn add(
        &mut self,
        name: &CStr,
        module: &[u8],
        lazy: bool,
        _: &Guarded,
    ) -> Result<(), Failed> {
        let add = if lazy {
            self.api.nvvmLazyAddModuleToProgram
        } else {
            self.api.nvvmAddModuleToProgram
        };
        // SAFETY: the handle is live; the pointers are to `module.len()` bytes and to a C string.
        check(unsafe {
            add(
                self.raw,
                module.as_ptr().cast(),
                module.len(),
                name.as_ptr(),
            )
        })
    }

    /// `nvvmVerifyProgram`.
    pub(crate) fn verify(&mut self, options: &[CString], _: &Guarded) -> Result<(), Failed> {
        let (count, mut options) = pointers(options);
        // SAFETY: the handle is live; `options` holds `count` pointers to C strings that outlive it.
        check(unsafe { (self.api.nvvmVerifyProgram)(self.raw, count, options.as_mut_ptr()) })
    }

    /// `nvvmCompileProgram`.
    pub(crate) fn compile(&mut self, options: &[CString], _: &Guarded) -> Result<(), Failed> {
        let (count, mut options) = pointers(options);
        // SAFETY: the handle is live; `options` holds `count` pointers to C strings that outlive it.
        check(unsafe { (self.api.nvvmCompileProgram)(self.raw, count, options.as_mut_ptr()) })
    }

    /// `nvvmGetCompiledResultSize` and `nvvmGetCompiledResult`: every byte, as the library wrote it.
    pub(crate) fn result(&mut self, _: &Guarded) -> Result<Vec<u8>, Failed> {
        let mut size = 0;
        // SAFETY: the handle is live, and `size` is a valid place for a size.
        check(unsafe { (self.api.nvvmGetCompiledResultSize)(self.raw, &mut size) })?;
        let mut result = vec![0_u8; size];
        // SAFETY: the library writes the `size` bytes that it asked for.
        check(unsafe { (self.api.nvvmGetCompiledResult)(self.raw, result.as_mut_ptr().cast()) })?;
        Ok(result)
    }

    /// `nvvmGetProgramLogSize` and `nvvmGetProgramLog`, up to the first NUL; empty where the library
    /// will not say.
    pub(crate) fn log(&mut self, _: &Guarded) -> Vec<u8> {
        let mut size = 0;
        // SAFETY: the handle is live, and `size` is a valid place for a size.
        let asked = unsafe { (self.api.nvvmGetProgramLogSize)(self.raw, &mut size) };
        if asked != NVVM_SUCCESS || size == 0 {
            return Vec::new();
        }
        let mut log = vec![0_u8; size];
        // SAFETY: the library writes the `size` bytes that it asked for.
        let got = unsafe { (self.api.nvvmGetProgramLog)(self.raw, log.as_mut_ptr().cast()) };
        if got != NVVM_SUCCESS {
            return Vec::new();
        }
        log.truncate(log.iter().position(|&byte| byte == 0).unwrap_or(size));
        log
    }
}

impl Drop for RawProgram {
    fn drop(&mut self) {
        // Freeing deeply nested IR recurses as deep as parsing it did.
        guarded_or_plain(|_| {
            // SAFETY: the handle is live, and nothing uses it after this. A second call cannot
            // happen: the library sets the handle to null.
            unsafe { (self.api.nvvmDestroyProgram)(&mut self.raw) };
        });
    }
}

/// The options as the C interface takes them.
fn pointers(options: &[CString]) -> (c_int, Vec<*const c_char>) {
    let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
    // More options than an `int` counts do not fit into memory.
    let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
    (count, pointers)
}

/// Major and minor.
pub(crate) type Version = (u32, u32);

impl Nvvm {
    /// `nvvmGetErrorString`: the name of a result code, as in `NVVM_ERROR_COMPILATION`.
    pub(crate) fn code_name(&self, code: nvvmResult) -> String {
        // SAFETY: the library returns null or a string that lives as long as it does.
        unsafe {
            let name = (self.nvvmGetErrorString)(code);
            if name.is_null() {
                return format!("unknown code {code}");
            }
            match CStr::from_ptr(name).to_str() {
                // What the library says of a code that its own header does not have.
                Ok("NVVM_ERROR not found") | Err(_) => format!("unknown code {code}"),
                Ok(name) => name.to_owned(),
            }
        }
    }

    /// `nvvmIRVersion`: the NVVM IR version and the debug metadata version, each major and minor.
    pub(crate) fn ir_version(&self) -> Result<(Version, Version), Failed> {
        let mut numbers = [0; 4];
        let [major, minor, debug_major, debug_minor] = &mut numbers;
        // SAFETY: four valid places for integers.
        check(unsafe { (self.nvvmIRVersion)(major, minor, debug_major, debug_minor) })?;
        let [a, b, c, d] = numbers.map(|n| u32::try_from(n).unwrap_or(0));
        Ok(((a, b), (c, d)))
    }

    /// `nvvmLLVMVersion`: the major LLVM version whose IR is read for `arch` (as in `compute_90`);
    /// none where the library cannot tell, and an error where it does not know the arch.
    pub(crate) fn llvm_version(&self, arch: &CStr) -> Option<Result<u32, Failed>> {
        let ask = self.nvvmLLVMVersion?;
        let mut major = 0;
        // SAFETY: a C string and a valid place for an integer.
        let code = unsafe { ask(arch.as_ptr(), &mut major) };
        Some(check(code).map(|()| u32::try_from(major).unwrap_or(0)))
    }
}
