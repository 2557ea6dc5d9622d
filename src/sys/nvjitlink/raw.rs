//! The owner of nvJitLink's handle.

use std::ffi::CString;

use super::NvJitLink;
use crate::arch::Arch;
use crate::guard::{Guarded, guarded_or_plain};
use crate::sys::bindings::nvjitlink::*;

/// What is fetched of a finished link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    Cubin,
    Ptx,
    LtoIr,
}

/// What a link brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Linked {
    pub(crate) bytes: Vec<u8>,
    /// The information log.
    pub(crate) said: Vec<u8>,
    /// The error log, which holds warnings where the link succeeded.
    pub(crate) warned: Vec<u8>,
}

/// A result code other than success, and the error log beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkFailed {
    pub(crate) code: nvJitLinkResult,
    pub(crate) log: Vec<u8>,
}

/// The owner of one `nvJitLinkHandle` whose creation succeeded and in which no call has failed: the
/// library answers a call on any other with a crash, or with success and an empty result.
///
/// Every method asks for a [`Guarded`]: nvJitLink is called inside the guard or not at all.
#[derive(Debug)]
pub(crate) struct RawLinker {
    api: NvJitLink,
    raw: nvJitLinkHandle,
    /// The options and the names of the inputs: the library keeps pointers to names, and reads them
    /// when it completes. They are freed after the handle is destroyed.
    texts: Vec<CString>,
}

impl RawLinker {
    /// `nvJitLinkCreate`. It takes an [`Arch`], because the library ends the process over a name that
    /// it does not know the shape of; `options` hold no other `-arch`.
    ///
    /// # Errors
    ///
    /// The code, with what could be read of the log; the handle is freed.
    pub(crate) fn create(
        api: NvJitLink,
        arch: Arch,
        options: Vec<CString>,
        _: &Guarded,
    ) -> Result<Self, LinkFailed> {
        // A name of an architecture has no NUL byte.
        let mut texts = vec![CString::new(format!("-arch={arch}")).unwrap_or_default()];
        texts.extend(options);
        let mut all: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one handle; `all` holds `count` pointers to C strings.
        let code = unsafe { (api.nvJitLinkCreate)(&mut raw, count, all.as_mut_ptr()) };
        let linker = RawLinker { api, raw, texts };
        if code == NVJITLINK_SUCCESS && !raw.is_null() {
            return Ok(linker);
        }
        Err(linker.failed(code))
    }

    /// `nvJitLinkAddData`. The library copies `data`, and not the name. The linker is used up where it
    /// fails.
    pub(crate) fn add(
        mut self,
        kind: nvJitLinkInputType,
        data: &[u8],
        name: CString,
        _: &Guarded,
    ) -> Result<Self, LinkFailed> {
        let text = name.as_ptr();
        // What it points to stays where it is.
        self.texts.push(name);
        // SAFETY: the handle is live; the pointers are to `data.len()` bytes and to a C string that is
        // freed after the handle.
        let code = unsafe {
            (self.api.nvJitLinkAddData)(self.raw, kind, data.as_ptr().cast(), data.len(), text)
        };
        self.checked(code)
    }

    /// `nvJitLinkComplete`.
    ///
    /// # Errors
    ///
    /// The code and the error log; the linker is used up.
    pub(crate) fn complete(self, _: &Guarded) -> Result<Self, LinkFailed> {
        // SAFETY: the handle is live, and no call on it has failed.
        let code = unsafe { (self.api.nvJitLinkComplete)(self.raw) };
        self.checked(code)
    }

    /// The result of a completed link, and both logs; none where the library cannot write that kind.
    pub(crate) fn fetch(self, what: Fetch, _: &Guarded) -> Option<Result<Linked, LinkFailed>> {
        let lto = (
            self.api.nvJitLinkGetLinkedLTOIRSize,
            self.api.nvJitLinkGetLinkedLTOIR,
        );
        let mut size = 0;
        // SAFETY: the handle is live; a place for a size.
        let code = unsafe {
            match what {
                Fetch::Cubin => (self.api.nvJitLinkGetLinkedCubinSize)(self.raw, &mut size),
                Fetch::Ptx => (self.api.nvJitLinkGetLinkedPtxSize)(self.raw, &mut size),
                Fetch::LtoIr => (lto.0?)(self.raw, &mut size),
            }
        };
        let linker = match self.checked(code) {
            Ok(linker) => linker,
            Err(failed) => return Some(Err(failed)),
        };
        let mut bytes = vec![0_u8; size];
        let to = bytes.as_mut_ptr();
        // SAFETY: the library writes the `size` bytes that it asked for.
        let code = unsafe {
            match what {
                Fetch::Cubin => (linker.api.nvJitLinkGetLinkedCubin)(linker.raw, to.cast()),
                Fetch::Ptx => (linker.api.nvJitLinkGetLinkedPtx)(linker.raw, to.cast()),
                Fetch::LtoIr => (lto.1?)(linker.raw, to.cast()),
            }
        };
        Some(linker.checked(code).map(|linker| Linked {
            bytes,
            said: linker.log(
                linker.api.nvJitLinkGetInfoLogSize,
                linker.api.nvJitLinkGetInfoLog,
            ),
            warned: linker.error_log(),
        }))
    }

    fn checked(self, code: nvJitLinkResult) -> Result<Self, LinkFailed> {
        if code == NVJITLINK_SUCCESS {
            Ok(self)
        } else {
            Err(self.failed(code))
        }
    }

    fn failed(self, code: nvJitLinkResult) -> LinkFailed {
        LinkFailed {
            code,
            log: self.error_log(),
        }
    }

    fn error_log(&self) -> Vec<u8> {
        self.log(
            self.api.nvJitLinkGetErrorLogSize,
            self.api.nvJitLinkGetErrorLog,
        )
    }

    /// A log, up to the first NUL; empty where there is no handle or the library will not say.
    fn log(&self, size_of: nvJitLinkGetErrorLogSize_fn, get: nvJitLinkGetErrorLog_fn) -> Vec<u8> {
        let mut size = 0;
        if self.raw.is_null() {
            return Vec::new();
        }
        // SAFETY: a log may be read from every handle, that of a failed creation too.
        let asked = unsafe { size_of(self.raw, &mut size) };
        if asked != NVJITLINK_SUCCESS || size == 0 {
            return Vec::new();
        }
        // One more than asked for: 12.x does not count the NUL that it writes.
        let mut log = vec![0_u8; size + 1];
        // SAFETY: the library writes the `size` bytes that it asked for.
        if unsafe { get(self.raw, log.as_mut_ptr().cast()) } != NVJITLINK_SUCCESS {
            return Vec::new();
        }
        log.truncate(log.iter().position(|&byte| byte == 0).unwrap_or(size));
        log
    }
}

impl Drop for RawLinker {
    fn drop(&mut self) {
        if self.raw.is_null() {
            return;
        }
        guarded_or_plain(|_| {
            // SAFETY: the handle is live, and nothing uses it after this; the library sets it to null.
            unsafe { (self.api.nvJitLinkDestroy)(&mut self.raw) };
        });
    }
}

/// The name of a result code.
pub(crate) fn code_name(code: nvJitLinkResult) -> &'static str {
    match code {
        NVJITLINK_SUCCESS => "NVJITLINK_SUCCESS",
        NVJITLINK_ERROR_UNRECOGNIZED_OPTION => "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
        NVJITLINK_ERROR_MISSING_ARCH => "NVJITLINK_ERROR_MISSING_ARCH",
        NVJITLINK_ERROR_INVALID_INPUT => "NVJITLINK_ERROR_INVALID_INPUT",
        NVJITLINK_ERROR_PTX_COMPILE => "NVJITLINK_ERROR_PTX_COMPILE",
        NVJITLINK_ERROR_NVVM_COMPILE => "NVJITLINK_ERROR_NVVM_COMPILE",
        NVJITLINK_ERROR_INTERNAL => "NVJITLINK_ERROR_INTERNAL",
        NVJITLINK_ERROR_THREADPOOL => "NVJITLINK_ERROR_THREADPOOL",
        NVJITLINK_ERROR_UNRECOGNIZED_INPUT => "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
        NVJITLINK_ERROR_FINALIZE => "NVJITLINK_ERROR_FINALIZE",
        NVJITLINK_ERROR_NULL_INPUT => "NVJITLINK_ERROR_NULL_INPUT",
        NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS => "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
        NVJITLINK_ERROR_INCORRECT_INPUT_TYPE => "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
        NVJITLINK_ERROR_ARCH_MISMATCH => "NVJITLINK_ERROR_ARCH_MISMATCH",
        NVJITLINK_ERROR_OUTDATED_LIBRARY => "NVJITLINK_ERROR_OUTDATED_LIBRARY",
        NVJITLINK_ERROR_MISSING_FATBIN => "NVJITLINK_ERROR_MISSING_FATBIN",
        NVJITLINK_ERROR_UNRECOGNIZED_ARCH => "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
        NVJITLINK_ERROR_UNSUPPORTED_ARCH => "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
        NVJITLINK_ERROR_LTO_NOT_ENABLED => "NVJITLINK_ERROR_LTO_NOT_ENABLED",
        _ => "an unknown nvJitLink code",
    }
}
