//! The owner of NVRTC's handle.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Nvrtc;
use crate::guard::{Guarded, guarded_or_plain};
use crate::sync::Mutex;
use crate::sys::bindings::nvrtc::*;

/// A result code other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NvrtcFailed(pub(crate) nvrtcResult);

fn check(code: nvrtcResult) -> Result<(), NvrtcFailed> {
    if code == NVRTC_SUCCESS {
        Ok(())
    } else {
        Err(NvrtcFailed(code))
    }
}

/// What the library asks now and then whether it is to go on.
struct Flow {
    stop: Box<dyn Fn() -> bool + Send + Sync>,
    /// A panic of `stop`, which must not unwind through the library.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

unsafe extern "C" fn ask(payload: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: the payload is the `Flow` that lives as long as the handle.
    let flow = unsafe { &*payload.cast::<Flow>() };
    match catch_unwind(AssertUnwindSafe(|| (flow.stop)())) {
        Ok(stop) => c_int::from(stop),
        Err(panic) => {
            *flow.panic.lock() = Some(panic);
            1
        }
    }
}

type SizeOf = unsafe extern "C" fn(nvrtcProgram, *mut usize) -> nvrtcResult;
type BytesOf = unsafe extern "C" fn(nvrtcProgram, *mut c_char) -> nvrtcResult;

/// The owner of one `nvrtcProgram`, which compiles once: the library takes no name expression after
/// that.
///
/// Every method asks for a [`Guarded`]: NVRTC is called inside the guard or not at all.
pub(crate) struct RawNvrtc {
    api: Nvrtc,
    raw: nvrtcProgram,
    /// Behind the handle, whose callback points to it.
    flow: Option<Box<Flow>>,
}

impl RawNvrtc {
    /// `nvrtcCreateProgram`. The library copies the texts; a header is a name and a source.
    pub(crate) fn create(
        api: Nvrtc,
        source: &CStr,
        name: &CStr,
        headers: &[(CString, CString)],
        _: &Guarded,
    ) -> Result<Self, NvrtcFailed> {
        let sources: Vec<_> = headers.iter().map(|(_, source)| source.as_ptr()).collect();
        let names: Vec<_> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let count = c_int::try_from(names.len()).unwrap_or(c_int::MAX);
        let mut raw = std::ptr::null_mut();
        // SAFETY: a place for a handle, C strings, and `count` pointers to C strings, twice.
        check(unsafe {
            (api.nvrtcCreateProgram)(
                &mut raw,
                source.as_ptr(),
                name.as_ptr(),
                count,
                sources.as_ptr(),
                names.as_ptr(),
            )
        })?;
        Ok(RawNvrtc {
            api,
            raw,
            flow: None,
        })
    }

    /// `nvrtcAddNameExpression`.
    pub(crate) fn add_name(&mut self, name: &CStr, _: &Guarded) -> Result<(), NvrtcFailed> {
        // SAFETY: the handle is live; a C string.
        check(unsafe { (self.api.nvrtcAddNameExpression)(self.raw, name.as_ptr()) })
    }

    /// `nvrtcSetFlowCallback`; false where the library has none.
    pub(crate) fn stop_when(
        &mut self,
        stop: Box<dyn Fn() -> bool + Send + Sync>,
        _: &Guarded,
    ) -> Result<bool, NvrtcFailed> {
        let Some(set) = self.api.nvrtcSetFlowCallback else {
            return Ok(false);
        };
        let flow = self.flow.insert(Box::new(Flow {
            stop,
            panic: Mutex::new(None),
        }));
        let payload = std::ptr::from_ref::<Flow>(flow).cast_mut().cast();
        // SAFETY: the handle is live, and the payload lives as long as it does.
        check(unsafe { set(self.raw, Some(ask), payload) })?;
        Ok(true)
    }

    /// The panic of what [`stop_when`](RawNvrtc::stop_when) was given, if it panicked.
    pub(crate) fn take_panic(&mut self) -> Option<Box<dyn Any + Send>> {
        self.flow.as_ref().and_then(|flow| flow.panic.lock().take())
    }

    /// `nvrtcCompileProgram`.
    pub(crate) fn compile(&mut self, options: &[CString], _: &Guarded) -> Result<(), NvrtcFailed> {
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the handle is live; `count` pointers to C strings.
        check(unsafe { (self.api.nvrtcCompileProgram)(self.raw, count, pointers.as_ptr()) })
    }

    /// `nvrtcGetPTX`, as the library wrote it.
    pub(crate) fn ptx(&mut self, _: &Guarded) -> Result<Vec<u8>, NvrtcFailed> {
        self.bytes(self.api.nvrtcGetPTXSize, self.api.nvrtcGetPTX)
    }

    /// `nvrtcGetCUBIN`.
    pub(crate) fn cubin(&mut self, _: &Guarded) -> Result<Vec<u8>, NvrtcFailed> {
        self.bytes(self.api.nvrtcGetCUBINSize, self.api.nvrtcGetCUBIN)
    }

    /// `nvrtcGetLTOIR`.
    pub(crate) fn lto_ir(&mut self, _: &Guarded) -> Result<Vec<u8>, NvrtcFailed> {
        self.bytes(self.api.nvrtcGetLTOIRSize, self.api.nvrtcGetLTOIR)
    }

    /// `nvrtcGetProgramLog`, up to the first NUL; empty where the library will not say.
    pub(crate) fn log(&mut self, _: &Guarded) -> Vec<u8> {
        let mut log = self
            .bytes(self.api.nvrtcGetProgramLogSize, self.api.nvrtcGetProgramLog)
            .unwrap_or_default();
        log.truncate(log.iter().position(|&byte| byte == 0).unwrap_or(log.len()));
        log
    }

    fn bytes(&mut self, size_of: SizeOf, bytes_of: BytesOf) -> Result<Vec<u8>, NvrtcFailed> {
        let mut size = 0;
        // SAFETY: the handle is live; a place for a size.
        check(unsafe { size_of(self.raw, &mut size) })?;
        let mut bytes = vec![0_u8; size];
        if size > 0 {
            // SAFETY: the library writes the `size` bytes that it asked for.
            check(unsafe { bytes_of(self.raw, bytes.as_mut_ptr().cast()) })?;
        }
        Ok(bytes)
    }

    /// `nvrtcGetLoweredName`.
    pub(crate) fn lowered(&mut self, name: &CStr, _: &Guarded) -> Result<String, NvrtcFailed> {
        let mut lowered = std::ptr::null();
        // SAFETY: the handle is live; a C string and a place for a pointer.
        check(unsafe { (self.api.nvrtcGetLoweredName)(self.raw, name.as_ptr(), &mut lowered) })?;
        if lowered.is_null() {
            return Ok(String::new());
        }
        // SAFETY: the library's own C string, which lives as long as the handle.
        let lowered = unsafe { CStr::from_ptr(lowered) };
        Ok(lowered.to_string_lossy().into_owned())
    }

    /// `nvrtcGetPCHCreateStatus`: the raw code; none where the library has no precompiled headers.
    pub(crate) fn pch_status(&mut self, _: &Guarded) -> Option<nvrtcResult> {
        // SAFETY: the handle is live.
        Some(unsafe { (self.api.nvrtcGetPCHCreateStatus?)(self.raw) })
    }

    /// Makes the process's heap for precompiled headers as large as this program needed, unless
    /// another thread did meanwhile; whether it is as large now.
    pub(crate) fn grow_pch_heap(&mut self, _: &Guarded) -> bool {
        let (Some(required), Some(current), Some(set)) = (
            self.api.nvrtcGetPCHHeapSizeRequired,
            self.api.nvrtcGetPCHHeapSize,
            self.api.nvrtcSetPCHHeapSize,
        ) else {
            return false;
        };
        let (mut needed, mut there) = (0, 0);
        // SAFETY: the handle is live; two places for a size.
        let asked = unsafe { [required(self.raw, &mut needed), current(&mut there)] };
        if asked != [NVRTC_SUCCESS; 2] || needed == 0 {
            return false;
        }
        // SAFETY: the function takes any size.
        needed <= there || unsafe { set(needed) } == NVRTC_SUCCESS
    }
}

impl Drop for RawNvrtc {
    fn drop(&mut self) {
        guarded_or_plain(|_| {
            // SAFETY: the handle is live, and nothing uses it after this; the library sets it to null.
            unsafe { (self.api.nvrtcDestroyProgram)(&mut self.raw) };
        });
    }
}

impl Nvrtc {
    /// `nvrtcGetErrorString`: the name of a result code, as in `NVRTC_ERROR_COMPILATION`.
    pub(crate) fn code_name(&self, code: nvrtcResult) -> String {
        // SAFETY: the library returns null or a string that lives as long as it does.
        unsafe {
            let name = (self.nvrtcGetErrorString)(code);
            if name.is_null() {
                return format!("unknown code {code}");
            }
            CStr::from_ptr(name).to_string_lossy().into_owned()
        }
    }

    /// `nvrtcVersion`: major and minor.
    pub(crate) fn major_minor(&self) -> Result<(u32, u32), NvrtcFailed> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: two places for integers.
        check(unsafe { (self.nvrtcVersion)(&mut major, &mut minor) })?;
        Ok((
            u32::try_from(major).unwrap_or(0),
            u32::try_from(minor).unwrap_or(0),
        ))
    }

    /// `nvrtcGetSupportedArchs`: the numbers, as in 90.
    pub(crate) fn archs(&self) -> Result<Vec<u16>, NvrtcFailed> {
        let mut count = 0;
        // SAFETY: a place for an integer.
        check(unsafe { (self.nvrtcGetNumSupportedArchs)(&mut count) })?;
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the library writes the `count` integers that it asked for.
        check(unsafe { (self.nvrtcGetSupportedArchs)(archs.as_mut_ptr()) })?;
        Ok(archs
            .into_iter()
            .filter_map(|n| n.try_into().ok())
            .collect())
    }
}
