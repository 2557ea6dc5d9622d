//! The CUDA driver: its function table, by hand, and the owners of its handles.
//!
//! Only what this crate calls is here. Enumerations are plain integers, so that a value of a newer
//! driver is never undefined behaviour; a function that some driver since CUDA 11 lacks is an
//! `Option`.

mod calls;
mod raw;
mod types;

pub(crate) use calls::Shape;
pub(crate) use raw::{Failure, RawContext, RawFunction, RawKernel, RawLibrary, RawStream};
pub use types::*;

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::table::table;

table! {
    /// The functions of the CUDA driver.
    Driver, "the CUDA driver";
    required {
        cuInit: unsafe extern "C" fn(flags: c_uint) -> CUresult,
        cuDriverGetVersion: unsafe extern "C" fn(version: *mut c_int) -> CUresult,
        cuGetErrorName: unsafe extern "C" fn(code: CUresult, name: *mut *const c_char) -> CUresult,
        cuDeviceGetCount: unsafe extern "C" fn(count: *mut c_int) -> CUresult,
        cuDeviceGetAttribute: unsafe extern "C" fn(
            value: *mut c_int,
            attribute: c_int,
            device: CUdevice,
        ) -> CUresult,
        cuCtxGetCurrent: unsafe extern "C" fn(context: *mut CUcontext) -> CUresult,
        cuCtxSetCurrent: unsafe extern "C" fn(context: CUcontext) -> CUresult,
        cuCtxPushCurrent_v2: unsafe extern "C" fn(context: CUcontext) -> CUresult,
        cuCtxPopCurrent_v2: unsafe extern "C" fn(context: *mut CUcontext) -> CUresult,
        cuCtxSynchronize: unsafe extern "C" fn() -> CUresult,
        cuStreamSynchronize: unsafe extern "C" fn(stream: CUstream) -> CUresult,
        cuMemcpyHtoDAsync_v2: unsafe extern "C" fn(
            to: CUdeviceptr,
            from: *const c_void,
            bytes: usize,
            stream: CUstream,
        ) -> CUresult,
        cuMemcpyDtoHAsync_v2: unsafe extern "C" fn(
            to: *mut c_void,
            from: CUdeviceptr,
            bytes: usize,
            stream: CUstream,
        ) -> CUresult,
        cuFuncGetAttribute: unsafe extern "C" fn(
            value: *mut c_int,
            attribute: c_int,
            function: CUfunction,
        ) -> CUresult,
        cuFuncSetAttribute: unsafe extern "C" fn(
            function: CUfunction,
            attribute: c_int,
            value: c_int,
        ) -> CUresult,
        cuLaunchKernel: unsafe extern "C" fn(
            function: CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: CUstream,
            parameters: *mut *mut c_void,
            extra: *mut *mut c_void,
        ) -> CUresult,
        cuLaunchCooperativeKernel: unsafe extern "C" fn(
            function: CUfunction,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: CUstream,
            parameters: *mut *mut c_void,
        ) -> CUresult,
        cuOccupancyMaxActiveBlocksPerMultiprocessor: unsafe extern "C" fn(
            blocks: *mut c_int,
            function: CUfunction,
            block_threads: c_int,
            shared_bytes: usize,
        ) -> CUresult,
        cuOccupancyMaxPotentialBlockSize: unsafe extern "C" fn(
            grid_blocks: *mut c_int,
            block_threads: *mut c_int,
            function: CUfunction,
            shared_bytes_of: Option<unsafe extern "C" fn(block_threads: c_int) -> usize>,
            shared_bytes: usize,
            most_threads: c_int,
        ) -> CUresult,
    }
    optional {
        cuLibraryLoadData: unsafe extern "C" fn(
            library: *mut CUlibrary,
            code: *const c_void,
            jit_options: *mut c_int,
            jit_values: *mut *mut c_void,
            jit_count: c_uint,
            options: *mut c_int,
            values: *mut *mut c_void,
            count: c_uint,
        ) -> CUresult,
        cuLibraryUnload: unsafe extern "C" fn(library: CUlibrary) -> CUresult,
        cuLibraryGetKernel: unsafe extern "C" fn(
            kernel: *mut CUkernel,
            library: CUlibrary,
            name: *const c_char,
        ) -> CUresult,
        cuLibraryGetGlobal: unsafe extern "C" fn(
            address: *mut CUdeviceptr,
            bytes: *mut usize,
            library: CUlibrary,
            name: *const c_char,
        ) -> CUresult,
        cuKernelGetFunction: unsafe extern "C" fn(
            function: *mut CUfunction,
            kernel: CUkernel,
        ) -> CUresult,
        cuKernelGetName: unsafe extern "C" fn(
            name: *mut *const c_char,
            kernel: CUkernel,
        ) -> CUresult,
        cuLibraryGetKernelCount: unsafe extern "C" fn(
            count: *mut c_uint,
            library: CUlibrary,
        ) -> CUresult,
        cuLibraryEnumerateKernels: unsafe extern "C" fn(
            kernels: *mut CUkernel,
            count: c_uint,
            library: CUlibrary,
        ) -> CUresult,
        cuKernelGetParamInfo: unsafe extern "C" fn(
            kernel: CUkernel,
            index: usize,
            offset: *mut usize,
            bytes: *mut usize,
        ) -> CUresult,
        cuLaunchKernelEx: unsafe extern "C" fn(
            config: *const CUlaunchConfig,
            function: CUfunction,
            parameters: *mut *mut c_void,
            extra: *mut *mut c_void,
        ) -> CUresult,
    }
}
