// Written by `cargo xtask bindgen`; not edited by hand.

pub const NVVM_SUCCESS: nvvmResult = 0;
pub const NVVM_ERROR_OUT_OF_MEMORY: nvvmResult = 1;
pub const NVVM_ERROR_PROGRAM_CREATION_FAILURE: nvvmResult = 2;
pub const NVVM_ERROR_IR_VERSION_MISMATCH: nvvmResult = 3;
pub const NVVM_ERROR_INVALID_INPUT: nvvmResult = 4;
pub const NVVM_ERROR_INVALID_PROGRAM: nvvmResult = 5;
pub const NVVM_ERROR_INVALID_IR: nvvmResult = 6;
pub const NVVM_ERROR_INVALID_OPTION: nvvmResult = 7;
pub const NVVM_ERROR_NO_MODULE_IN_PROGRAM: nvvmResult = 8;
pub const NVVM_ERROR_COMPILATION: nvvmResult = 9;
pub const NVVM_ERROR_CANCELLED: nvvmResult = 10;
pub type nvvmResult = ::core::ffi::c_uint;
pub type nvvmGetErrorString_fn =
    unsafe extern "C" fn(result: nvvmResult) -> *const ::core::ffi::c_char;
pub type nvvmVersion_fn = unsafe extern "C" fn(
    major: *mut ::core::ffi::c_int,
    minor: *mut ::core::ffi::c_int,
) -> nvvmResult;
pub type nvvmIRVersion_fn = unsafe extern "C" fn(
    majorIR: *mut ::core::ffi::c_int,
    minorIR: *mut ::core::ffi::c_int,
    majorDbg: *mut ::core::ffi::c_int,
    minorDbg: *mut ::core::ffi::c_int,
) -> nvvmResult;
pub type nvvmLLVMVersion_fn = unsafe extern "C" fn(
    arch: *const ::core::ffi::c_char,
    major: *mut ::core::ffi::c_int,
) -> nvvmResult;
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct _nvvmProgram {
    _unused: [u8; 0],
}
pub type nvvmProgram = *mut _nvvmProgram;
pub type nvvmCreateProgram_fn = unsafe extern "C" fn(prog: *mut nvvmProgram) -> nvvmResult;
pub type nvvmDestroyProgram_fn = unsafe extern "C" fn(prog: *mut nvvmProgram) -> nvvmResult;
pub type nvvmAddModuleToProgram_fn = unsafe extern "C" fn(
    prog: nvvmProgram,
    buffer: *const ::core::ffi::c_char,
    size: usize,
    name: *const ::core::ffi::c_char,
) -> nvvmResult;
pub type nvvmLazyAddModuleToProgram_fn = unsafe extern "C" fn(
    prog: nvvmProgram,
    buffer: *const ::core::ffi::c_char,
    size: usize,
    name: *const ::core::ffi::c_char,
) -> nvvmResult;
pub type nvvmCompileProgram_fn = unsafe extern "C" fn(
    prog: nvvmProgram,
    numOptions: ::core::ffi::c_int,
    options: *mut *const ::core::ffi::c_char,
) -> nvvmResult;
pub type nvvmVerifyProgram_fn = unsafe extern "C" fn(
    prog: nvvmProgram,
    numOptions: ::core::ffi::c_int,
    options: *mut *const ::core::ffi::c_char,
) -> nvvmResult;
pub type nvvmGetCompiledResultSize_fn =
    unsafe extern "C" fn(prog: nvvmProgram, bufferSizeRet: *mut usize) -> nvvmResult;
pub type nvvmGetCompiledResult_fn =
    unsafe extern "C" fn(prog: nvvmProgram, buffer: *mut ::core::ffi::c_char) -> nvvmResult;
pub type nvvmGetProgramLogSize_fn =
    unsafe extern "C" fn(prog: nvvmProgram, bufferSizeRet: *mut usize) -> nvvmResult;
pub type nvvmGetProgramLog_fn =
    unsafe extern "C" fn(prog: nvvmProgram, buffer: *mut ::core::ffi::c_char) -> nvvmResult;
