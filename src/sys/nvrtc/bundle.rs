//! The headers that NVRTC carries inside, from 13.3 on.

use std::ffi::{CStr, c_char};

use super::Nvrtc;
use super::raw::NvrtcFailed;
use crate::guard::Guarded;
use crate::sys::bindings::nvrtc::*;

/// A failed call, and what the library said about it.
pub(crate) type NoBundle = (NvrtcFailed, Vec<u8>);

fn check(code: nvrtcResult, log: *const c_char) -> Result<(), NoBundle> {
    if code == NVRTC_SUCCESS {
        return Ok(());
    }
    let said = if log.is_null() {
        Vec::new()
    } else {
        // SAFETY: a C string of the library's, read before any other call into it.
        unsafe { CStr::from_ptr(log) }.to_bytes().to_vec()
    };
    Err((NvrtcFailed(code), said))
}

impl Nvrtc {
    /// `nvrtcGetBundledHeadersInfo`; none where the library has no such function.
    pub(crate) fn bundle_info(
        &self,
        _: &Guarded,
    ) -> Option<Result<nvrtcBundledHeadersInfo, NoBundle>> {
        let ask = self.nvrtcGetBundledHeadersInfo?;
        let mut info = nvrtcBundledHeadersInfo {
            available: 0,
            compressedSize: 0,
            uncompressedSize: 0,
            cudaVersionMajor: 0,
            cudaVersionMinor: 0,
            numFiles: 0,
        };
        let mut log = std::ptr::null();
        // SAFETY: a place for the answer, and one for a pointer.
        let code = unsafe { ask(&mut info, &mut log) };
        Some(check(code, log).map(|()| info))
    }

    /// `nvrtcInstallBundledHeaders` into this folder; none where the library has no such function.
    pub(crate) fn install_bundle(
        &self,
        folder: &CStr,
        _: &Guarded,
    ) -> Option<Result<(), NoBundle>> {
        let install = self.nvrtcInstallBundledHeaders?;
        let mut log = std::ptr::null();
        // SAFETY: a C string, no flags, and a place for a pointer.
        let code = unsafe { install(folder.as_ptr(), 0, &mut log) };
        Some(check(code, log))
    }
}
