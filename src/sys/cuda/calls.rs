//! Calls of the driver that own no handle.

use std::ffi::{CStr, c_int};
use std::ptr::{null, null_mut};

use super::raw::check;
use super::*;

type Result<T> = std::result::Result<T, Failure>;

/// The shape of a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) shared_bytes: u32,
    pub(crate) cooperative: bool,
    pub(crate) cluster: Option<[u32; 3]>,
}

impl Driver {
    /// `cuInit`.
    pub(crate) fn init(&self) -> Result<()> {
        // SAFETY: it takes a zero alone.
        check("cuInit", unsafe { (self.cuInit)(0) })
    }

    /// `cuDriverGetVersion`: major and minor.
    pub(crate) fn version(&self) -> Result<(u32, u32)> {
        let mut version = 0;
        // SAFETY: a place for an integer.
        check("cuDriverGetVersion", unsafe {
            (self.cuDriverGetVersion)(&mut version)
        })?;
        let version = u32::try_from(version).unwrap_or(0);
        Ok((version / 1000, version % 1000 / 10))
    }

    /// `cuGetErrorName`.
    pub(crate) fn code_name(&self, code: CUresult) -> String {
        let mut name = null();
        // SAFETY: a place for a pointer.
        let asked = unsafe { (self.cuGetErrorName)(code, &mut name) };
        if asked != consts::SUCCESS || name.is_null() {
            return format!("unknown code {code}");
        }
        // SAFETY: the driver's string lives as long as the driver.
        unsafe { CStr::from_ptr(name) }
            .to_string_lossy()
            .into_owned()
    }

    /// `cuDeviceGetCount`.
    pub(crate) fn device_count(&self) -> Result<i32> {
        let mut count = 0;
        // SAFETY: a place for an integer.
        check("cuDeviceGetCount", unsafe {
            (self.cuDeviceGetCount)(&mut count)
        })?;
        Ok(count)
    }

    /// `cuDeviceGetAttribute`.
    pub(crate) fn device_attribute(&self, device: CUdevice, which: c_int) -> Result<i32> {
        let mut value = 0;
        // SAFETY: a place for an integer.
        check("cuDeviceGetAttribute", unsafe {
            (self.cuDeviceGetAttribute)(&mut value, which, device)
        })?;
        Ok(value)
    }

    /// `cuCtxGetCurrent`: the calling thread's context, null where it has none.
    pub(crate) fn current(&self) -> Result<RawContext> {
        let mut context = null_mut();
        // SAFETY: a place for a handle.
        check("cuCtxGetCurrent", unsafe {
            (self.cuCtxGetCurrent)(&mut context)
        })?;
        Ok(RawContext(context))
    }

    /// `cuCtxSetCurrent`.
    pub(crate) fn set_current(&self, context: RawContext) -> Result<()> {
        // SAFETY: the context is live or null.
        check("cuCtxSetCurrent", unsafe {
            (self.cuCtxSetCurrent)(context.0)
        })
    }

    /// `cuCtxPushCurrent`.
    pub(crate) fn push(&self, context: RawContext) -> Result<()> {
        // SAFETY: the context is live.
        check("cuCtxPushCurrent", unsafe {
            (self.cuCtxPushCurrent_v2)(context.0)
        })
    }

    /// `cuCtxPopCurrent`.
    pub(crate) fn pop(&self) -> Result<()> {
        let mut context = null_mut();
        // SAFETY: a place for a handle.
        check("cuCtxPopCurrent", unsafe {
            (self.cuCtxPopCurrent_v2)(&mut context)
        })
    }

    /// `cuCtxSynchronize`: waits for all work of the current context.
    pub(crate) fn synchronize(&self) -> Result<()> {
        // SAFETY: it takes nothing.
        check("cuCtxSynchronize", unsafe { (self.cuCtxSynchronize)() })
    }

    /// Copies bytes to device memory, in the order of a stream, and waits for it.
    ///
    /// # Safety
    ///
    /// `to` is device memory of at least as many bytes, in the current context, as is the stream.
    pub(crate) unsafe fn write(
        &self,
        to: CUdeviceptr,
        from: &[u8],
        stream: RawStream,
    ) -> Result<()> {
        // SAFETY: the caller's word; `from` stays until the stream was waited for.
        let copied = check("cuMemcpyHtoDAsync", unsafe {
            (self.cuMemcpyHtoDAsync_v2)(to, from.as_ptr().cast(), from.len(), stream.0)
        });
        // SAFETY: the stream is live.
        let waited = check("cuStreamSynchronize", unsafe {
            (self.cuStreamSynchronize)(stream.0)
        });
        copied.and(waited)
    }

    /// Copies device memory to `to`, in the order of a stream, and waits for it.
    ///
    /// # Safety
    ///
    /// `from` is device memory of at least `bytes` bytes, in the current context, as is the stream;
    /// `to` has room for them.
    pub(crate) unsafe fn read(
        &self,
        to: *mut u8,
        from: CUdeviceptr,
        bytes: usize,
        stream: RawStream,
    ) -> Result<()> {
        // SAFETY: the caller's word; `to` stays until the stream was waited for.
        let copied = check("cuMemcpyDtoHAsync", unsafe {
            (self.cuMemcpyDtoHAsync_v2)(to.cast(), from, bytes, stream.0)
        });
        // SAFETY: the stream is live.
        let waited = check("cuStreamSynchronize", unsafe {
            (self.cuStreamSynchronize)(stream.0)
        });
        copied.and(waited)
    }
}
