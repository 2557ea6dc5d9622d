// Written by `cargo xtask bindgen`; not edited by hand.

pub const NVJITLINK_SUCCESS: nvJitLinkResult = 0;
pub const NVJITLINK_ERROR_UNRECOGNIZED_OPTION: nvJitLinkResult = 1;
pub const NVJITLINK_ERROR_MISSING_ARCH: nvJitLinkResult = 2;
pub const NVJITLINK_ERROR_INVALID_INPUT: nvJitLinkResult = 3;
pub const NVJITLINK_ERROR_PTX_COMPILE: nvJitLinkResult = 4;
pub const NVJITLINK_ERROR_NVVM_COMPILE: nvJitLinkResult = 5;
pub const NVJITLINK_ERROR_INTERNAL: nvJitLinkResult = 6;
pub const NVJITLINK_ERROR_THREADPOOL: nvJitLinkResult = 7;
pub const NVJITLINK_ERROR_UNRECOGNIZED_INPUT: nvJitLinkResult = 8;
pub const NVJITLINK_ERROR_FINALIZE: nvJitLinkResult = 9;
pub const NVJITLINK_ERROR_NULL_INPUT: nvJitLinkResult = 10;
pub const NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS: nvJitLinkResult = 11;
pub const NVJITLINK_ERROR_INCORRECT_INPUT_TYPE: nvJitLinkResult = 12;
pub const NVJITLINK_ERROR_ARCH_MISMATCH: nvJitLinkResult = 13;
pub const NVJITLINK_ERROR_OUTDATED_LIBRARY: nvJitLinkResult = 14;
pub const NVJITLINK_ERROR_MISSING_FATBIN: nvJitLinkResult = 15;
pub const NVJITLINK_ERROR_UNRECOGNIZED_ARCH: nvJitLinkResult = 16;
pub const NVJITLINK_ERROR_UNSUPPORTED_ARCH: nvJitLinkResult = 17;
pub const NVJITLINK_ERROR_LTO_NOT_ENABLED: nvJitLinkResult = 18;
pub type nvJitLinkResult = ::core::ffi::c_uint;
pub const NVJITLINK_INPUT_NONE: nvJitLinkInputType = 0;
pub const NVJITLINK_INPUT_CUBIN: nvJitLinkInputType = 1;
pub const NVJITLINK_INPUT_PTX: nvJitLinkInputType = 2;
pub const NVJITLINK_INPUT_LTOIR: nvJitLinkInputType = 3;
pub const NVJITLINK_INPUT_FATBIN: nvJitLinkInputType = 4;
pub const NVJITLINK_INPUT_OBJECT: nvJitLinkInputType = 5;
pub const NVJITLINK_INPUT_LIBRARY: nvJitLinkInputType = 6;
pub const NVJITLINK_INPUT_INDEX: nvJitLinkInputType = 7;
pub const NVJITLINK_INPUT_ANY: nvJitLinkInputType = 10;
pub type nvJitLinkInputType = ::core::ffi::c_uint;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct nvJitLink {
    _unused: [u8; 0],
}
pub type nvJitLinkHandle = *mut nvJitLink;
pub type nvJitLinkCreate_fn = unsafe extern "C" fn(
    handle: *mut nvJitLinkHandle,
    numOptions: u32,
    options: *mut *const ::core::ffi::c_char,
) -> nvJitLinkResult;
pub type nvJitLinkDestroy_fn =
    unsafe extern "C" fn(handle: *mut nvJitLinkHandle) -> nvJitLinkResult;
pub type nvJitLinkAddData_fn = unsafe extern "C" fn(
    handle: nvJitLinkHandle,
    inputType: nvJitLinkInputType,
    data: *const ::core::ffi::c_void,
    size: usize,
    name: *const ::core::ffi::c_char,
) -> nvJitLinkResult;
pub type nvJitLinkAddFile_fn = unsafe extern "C" fn(
    handle: nvJitLinkHandle,
    inputType: nvJitLinkInputType,
    fileName: *const ::core::ffi::c_char,
) -> nvJitLinkResult;
pub type nvJitLinkComplete_fn = unsafe extern "C" fn(handle: nvJitLinkHandle) -> nvJitLinkResult;
pub type nvJitLinkGetLinkedCubinSize_fn =
    unsafe extern "C" fn(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
pub type nvJitLinkGetLinkedCubin_fn = unsafe extern "C" fn(
    handle: nvJitLinkHandle,
    cubin: *mut ::core::ffi::c_void,
) -> nvJitLinkResult;
pub type nvJitLinkGetLinkedPtxSize_fn =
    unsafe extern "C" fn(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
pub type nvJitLinkGetLinkedPtx_fn =
    unsafe extern "C" fn(handle: nvJitLinkHandle, ptx: *mut ::core::ffi::c_char) -> nvJitLinkResult;
pub type nvJitLinkGetLinkedLTOIRSize_fn =
    unsafe extern "C" fn(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
pub type nvJitLinkGetLinkedLTOIR_fn = unsafe extern "C" fn(
    handle: nvJitLinkHandle,
    ltoir: *mut ::core::ffi::c_void,
) -> nvJitLinkResult;
pub type nvJitLinkGetErrorLogSize_fn =
    unsafe extern "C" fn(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
pub type nvJitLinkGetErrorLog_fn =
    unsafe extern "C" fn(handle: nvJitLinkHandle, log: *mut ::core::ffi::c_char) -> nvJitLinkResult;
pub type nvJitLinkGetInfoLogSize_fn =
    unsafe extern "C" fn(handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
pub type nvJitLinkGetInfoLog_fn =
    unsafe extern "C" fn(handle: nvJitLinkHandle, log: *mut ::core::ffi::c_char) -> nvJitLinkResult;
pub type nvJitLinkVersion_fn = unsafe extern "C" fn(
    major: *mut ::core::ffi::c_uint,
    minor: *mut ::core::ffi::c_uint,
) -> nvJitLinkResult;
