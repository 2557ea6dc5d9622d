//! The types of the driver's interface.
#![allow(non_camel_case_types)]

use std::ffi::{c_int, c_uint, c_void};

/// A result code; 0 is success.
pub type CUresult = c_int;
/// A device, by ordinal.
pub type CUdevice = c_int;
/// An address in device memory.
pub type CUdeviceptr = u64;
/// A context.
pub type CUcontext = *mut c_void;
/// A stream.
pub type CUstream = *mut c_void;
/// Code that was loaded, for every context.
pub type CUlibrary = *mut c_void;
/// A kernel of a library, for every context.
pub type CUkernel = *mut c_void;
/// A kernel in one context.
pub type CUfunction = *mut c_void;

/// How a kernel is launched.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct CUlaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub stream: CUstream,
    pub attributes: *const CUlaunchAttribute,
    pub count: c_uint,
}

/// One thing beyond the plain launch.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct CUlaunchAttribute {
    pub id: c_uint,
    pub pad: [u8; 4],
    /// A union of 64 bytes, of which the attributes below use the first words.
    pub value: [u32; 16],
}

const _: () = {
    assert!(size_of::<CUlaunchAttribute>() == 72);
    assert!(std::mem::offset_of!(CUlaunchAttribute, value) == 8);
    assert!(size_of::<CUlaunchConfig>() == 56);
};

impl CUlaunchAttribute {
    pub(crate) const fn cooperative() -> Self {
        let mut value = [0; 16];
        value[0] = 1;
        CUlaunchAttribute {
            id: 2,
            pad: [0; 4],
            value,
        }
    }

    pub(crate) const fn cluster([x, y, z]: [u32; 3]) -> Self {
        let mut value = [0; 16];
        (value[0], value[1], value[2]) = (x, y, z);
        CUlaunchAttribute {
            id: 4,
            pad: [0; 4],
            value,
        }
    }
}

/// Codes and numbers that the crate looks at.
#[allow(missing_docs)]
pub mod consts {
    use super::{CUresult, c_int};

    pub const SUCCESS: CUresult = 0;
    pub const ERROR_INVALID_VALUE: CUresult = 1;
    pub const ERROR_OUT_OF_MEMORY: CUresult = 2;
    pub const ERROR_STUB_LIBRARY: CUresult = 34;
    pub const ERROR_NO_DEVICE: CUresult = 100;
    pub const ERROR_INVALID_DEVICE: CUresult = 101;
    pub const ERROR_INVALID_IMAGE: CUresult = 200;
    pub const ERROR_NO_BINARY_FOR_GPU: CUresult = 209;
    pub const ERROR_INVALID_PTX: CUresult = 218;
    pub const ERROR_UNSUPPORTED_PTX_VERSION: CUresult = 222;
    pub const ERROR_NOT_FOUND: CUresult = 500;
    pub const ERROR_ILLEGAL_ADDRESS: CUresult = 700;
    pub const ERROR_LAUNCH_OUT_OF_RESOURCES: CUresult = 701;
    pub const ERROR_LAUNCH_FAILED: CUresult = 719;
    pub const ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: CUresult = 720;
    pub const ERROR_STREAM_CAPTURE_UNSUPPORTED: CUresult = 900;
    pub const ERROR_STREAM_CAPTURE_WRONG_THREAD: CUresult = 908;

    pub const JIT_INFO_LOG_BUFFER: c_int = 3;
    pub const JIT_INFO_LOG_BUFFER_SIZE_BYTES: c_int = 4;
    pub const JIT_ERROR_LOG_BUFFER: c_int = 5;
    pub const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_int = 6;

    pub const FUNCTION_MAX_THREADS_PER_BLOCK: c_int = 0;
    pub const FUNCTION_SHARED_SIZE_BYTES: c_int = 1;
    pub const FUNCTION_CONST_SIZE_BYTES: c_int = 2;
    pub const FUNCTION_LOCAL_SIZE_BYTES: c_int = 3;
    pub const FUNCTION_NUM_REGS: c_int = 4;
    pub const FUNCTION_PTX_VERSION: c_int = 5;
    pub const FUNCTION_BINARY_VERSION: c_int = 6;
    pub const FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;

    pub const DEVICE_COMPUTE_CAPABILITY_MAJOR: c_int = 75;
    pub const DEVICE_COMPUTE_CAPABILITY_MINOR: c_int = 76;
    pub const DEVICE_MULTIPROCESSOR_COUNT: c_int = 16;
    pub const DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: c_int = 97;
}
