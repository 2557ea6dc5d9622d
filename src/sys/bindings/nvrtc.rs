// Written by `cargo xtask bindgen`; not edited by hand.

pub const NVRTC_INSTALL_HEADERS_SKIP_IF_EXISTS: u32 = 0;
pub const NVRTC_INSTALL_HEADERS_FORCE_OVERWRITE: u32 = 1;
pub const NVRTC_INSTALL_HEADERS_NO_WAIT: u32 = 2;
pub const NVRTC_SUCCESS: nvrtcResult = 0;
pub const NVRTC_ERROR_OUT_OF_MEMORY: nvrtcResult = 1;
pub const NVRTC_ERROR_PROGRAM_CREATION_FAILURE: nvrtcResult = 2;
pub const NVRTC_ERROR_INVALID_INPUT: nvrtcResult = 3;
pub const NVRTC_ERROR_INVALID_PROGRAM: nvrtcResult = 4;
pub const NVRTC_ERROR_INVALID_OPTION: nvrtcResult = 5;
pub const NVRTC_ERROR_COMPILATION: nvrtcResult = 6;
pub const NVRTC_ERROR_BUILTIN_OPERATION_FAILURE: nvrtcResult = 7;
pub const NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION: nvrtcResult = 8;
pub const NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION: nvrtcResult = 9;
pub const NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID: nvrtcResult = 10;
pub const NVRTC_ERROR_INTERNAL_ERROR: nvrtcResult = 11;
pub const NVRTC_ERROR_TIME_FILE_WRITE_FAILED: nvrtcResult = 12;
pub const NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED: nvrtcResult = 13;
pub const NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED: nvrtcResult = 14;
pub const NVRTC_ERROR_PCH_CREATE: nvrtcResult = 15;
pub const NVRTC_ERROR_CANCELLED: nvrtcResult = 16;
pub const NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED: nvrtcResult = 17;
pub const NVRTC_ERROR_BUSY: nvrtcResult = 18;
pub type nvrtcResult = ::core::ffi::c_uint;
pub type nvrtcGetErrorString_fn =
    unsafe extern "C" fn(result: nvrtcResult) -> *const ::core::ffi::c_char;
pub type nvrtcVersion_fn = unsafe extern "C" fn(
    major: *mut ::core::ffi::c_int,
    minor: *mut ::core::ffi::c_int,
) -> nvrtcResult;
pub type nvrtcGetNumSupportedArchs_fn =
    unsafe extern "C" fn(numArchs: *mut ::core::ffi::c_int) -> nvrtcResult;
pub type nvrtcGetSupportedArchs_fn =
    unsafe extern "C" fn(supportedArchs: *mut ::core::ffi::c_int) -> nvrtcResult;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _nvrtcProgram {
    _unused: [u8; 0],
}
pub type nvrtcProgram = *mut _nvrtcProgram;
pub type nvrtcCreateProgram_fn = unsafe extern "C" fn(
    prog: *mut nvrtcProgram,
    src: *const ::core::ffi::c_char,
    name: *const ::core::ffi::c_char,
    numHeaders: ::core::ffi::c_int,
    headers: *const *const ::core::ffi::c_char,
    includeNames: *const *const ::core::ffi::c_char,
) -> nvrtcResult;
pub type nvrtcDestroyProgram_fn = unsafe extern "C" fn(prog: *mut nvrtcProgram) -> nvrtcResult;
pub type nvrtcCompileProgram_fn = unsafe extern "C" fn(
    prog: nvrtcProgram,
    numOptions: ::core::ffi::c_int,
    options: *const *const ::core::ffi::c_char,
) -> nvrtcResult;
pub type nvrtcGetPTXSize_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, ptxSizeRet: *mut usize) -> nvrtcResult;
pub type nvrtcGetPTX_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, ptx: *mut ::core::ffi::c_char) -> nvrtcResult;
pub type nvrtcGetCUBINSize_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, cubinSizeRet: *mut usize) -> nvrtcResult;
pub type nvrtcGetCUBIN_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, cubin: *mut ::core::ffi::c_char) -> nvrtcResult;
pub type nvrtcGetLTOIRSize_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, LTOIRSizeRet: *mut usize) -> nvrtcResult;
pub type nvrtcGetLTOIR_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, LTOIR: *mut ::core::ffi::c_char) -> nvrtcResult;
pub type nvrtcGetOptiXIRSize_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, optixirSizeRet: *mut usize) -> nvrtcResult;
pub type nvrtcGetOptiXIR_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, optixir: *mut ::core::ffi::c_char) -> nvrtcResult;
pub type nvrtcGetProgramLogSize_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, logSizeRet: *mut usize) -> nvrtcResult;
pub type nvrtcGetProgramLog_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, log: *mut ::core::ffi::c_char) -> nvrtcResult;
pub type nvrtcAddNameExpression_fn = unsafe extern "C" fn(
    prog: nvrtcProgram,
    name_expression: *const ::core::ffi::c_char,
) -> nvrtcResult;
pub type nvrtcGetLoweredName_fn = unsafe extern "C" fn(
    prog: nvrtcProgram,
    name_expression: *const ::core::ffi::c_char,
    lowered_name: *mut *const ::core::ffi::c_char,
) -> nvrtcResult;
pub type nvrtcGetPCHHeapSize_fn = unsafe extern "C" fn(ret: *mut usize) -> nvrtcResult;
pub type nvrtcSetPCHHeapSize_fn = unsafe extern "C" fn(size: usize) -> nvrtcResult;
pub type nvrtcGetPCHCreateStatus_fn = unsafe extern "C" fn(prog: nvrtcProgram) -> nvrtcResult;
pub type nvrtcGetPCHHeapSizeRequired_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, size: *mut usize) -> nvrtcResult;
pub type nvrtcSetFlowCallback_fn = unsafe extern "C" fn(
    prog: nvrtcProgram,
    callback: ::core::option::Option<
        unsafe extern "C" fn(
            arg1: *mut ::core::ffi::c_void,
            arg2: *mut ::core::ffi::c_void,
        ) -> ::core::ffi::c_int,
    >,
    payload: *mut ::core::ffi::c_void,
) -> nvrtcResult;
pub type nvrtcGetTileIRSize_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, TileIRSizeRet: *mut usize) -> nvrtcResult;
pub type nvrtcGetTileIR_fn =
    unsafe extern "C" fn(prog: nvrtcProgram, TileIR: *mut ::core::ffi::c_char) -> nvrtcResult;
pub type nvrtcInstallBundledHeaders_fn = unsafe extern "C" fn(
    installPath: *const ::core::ffi::c_char,
    flags: ::core::ffi::c_uint,
    errorLog: *mut *const ::core::ffi::c_char,
) -> nvrtcResult;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct nvrtcBundledHeadersInfo {
    pub available: ::core::ffi::c_int,
    pub compressedSize: usize,
    pub uncompressedSize: usize,
    pub cudaVersionMajor: ::core::ffi::c_int,
    pub cudaVersionMinor: ::core::ffi::c_int,
    pub numFiles: ::core::ffi::c_uint,
}
pub type nvrtcGetBundledHeadersInfo_fn = unsafe extern "C" fn(
    info: *mut nvrtcBundledHeadersInfo,
    errorLog: *mut *const ::core::ffi::c_char,
) -> nvrtcResult;
pub type nvrtcRemoveBundledHeaders_fn = unsafe extern "C" fn(
    installPath: *const ::core::ffi::c_char,
    errorLog: *mut *const ::core::ffi::c_char,
) -> nvrtcResult;
