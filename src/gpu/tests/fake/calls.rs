//! The fake's functions.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;

use super::{Launch, with};
use crate::sys::cuda::{consts::*, *};

unsafe extern "C" fn init(_: c_uint) -> CUresult {
    with(|fake| fake.init)
}

unsafe extern "C" fn version(to: *mut c_int) -> CUresult {
    // SAFETY: the caller gives a place.
    unsafe { *to = with(|fake| fake.version) };
    SUCCESS
}

unsafe extern "C" fn error_name(code: CUresult, to: *mut *const c_char) -> CUresult {
    let name = match code {
        ERROR_NOT_FOUND => c"CUDA_ERROR_NOT_FOUND",
        ERROR_UNSUPPORTED_PTX_VERSION => c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        ERROR_NO_BINARY_FOR_GPU => c"CUDA_ERROR_NO_BINARY_FOR_GPU",
        SUCCESS => c"CUDA_SUCCESS",
        _ => return ERROR_INVALID_VALUE,
    };
    // SAFETY: the caller gives a place.
    unsafe { *to = name.as_ptr() };
    SUCCESS
}

unsafe extern "C" fn device_count(to: *mut c_int) -> CUresult {
    // SAFETY: the caller gives a place.
    unsafe { *to = with(|fake| fake.devices) };
    SUCCESS
}

unsafe extern "C" fn device_attribute(to: *mut c_int, which: c_int, _: CUdevice) -> CUresult {
    let value = with(|fake| match which {
        DEVICE_COMPUTE_CAPABILITY_MAJOR => fake.capability.0,
        DEVICE_COMPUTE_CAPABILITY_MINOR => fake.capability.1,
        DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => fake.shared.2,
        _ => 132,
    });
    // SAFETY: the caller gives a place.
    unsafe { *to = value };
    SUCCESS
}

unsafe extern "C" fn get_current(to: *mut CUcontext) -> CUresult {
    let current = with(|fake| fake.current.last().copied().unwrap_or(0));
    // SAFETY: the caller gives a place.
    unsafe { *to = std::ptr::without_provenance_mut(current) };
    SUCCESS
}

unsafe extern "C" fn set_current(context: CUcontext) -> CUresult {
    with(|fake| {
        fake.current.pop();
        if !context.is_null() {
            fake.current.push(context.addr());
        }
    });
    SUCCESS
}

unsafe extern "C" fn push(context: CUcontext) -> CUresult {
    with(|fake| fake.current.push(context.addr()));
    SUCCESS
}

unsafe extern "C" fn pop(to: *mut CUcontext) -> CUresult {
    let popped = with(|fake| fake.current.pop()).expect("a context is popped that is not there");
    // SAFETY: the caller gives a place.
    unsafe { *to = std::ptr::without_provenance_mut(popped) };
    SUCCESS
}

unsafe extern "C" fn synchronize() -> CUresult {
    with(|fake| fake.synchronize)
}

unsafe extern "C" fn nothing_with_one(_: *mut c_void) -> CUresult {
    SUCCESS
}

unsafe extern "C" fn load(
    to: *mut CUlibrary,
    code: *const c_void,
    options: *mut c_int,
    values: *mut *mut c_void,
    count: c_uint,
    _: *mut c_int,
    _: *mut *mut c_void,
    _: c_uint,
) -> CUresult {
    let fake = with(|fake| fake.clone());
    for n in 0..count as usize {
        // SAFETY: the caller gives `count` options and values; a log has room for what is written.
        unsafe {
            let text = match *options.add(n) {
                JIT_INFO_LOG_BUFFER => fake.info_log,
                JIT_ERROR_LOG_BUFFER => fake.error_log,
                _ => continue,
            };
            let log = (*values.add(n)).cast::<u8>();
            log.copy_from_nonoverlapping(text.as_ptr(), text.len());
        }
    }
    if fake.load != SUCCESS {
        return fake.load;
    }
    // SAFETY: what is loaded here is text that ends in a NUL.
    let code = unsafe { CStr::from_ptr(code.cast()) }.to_bytes().to_vec();
    let handle = with(|fake| {
        fake.libraries.push(Some(code));
        fake.libraries.len()
    });
    // SAFETY: the caller gives a place.
    unsafe { *to = std::ptr::without_provenance_mut(handle) };
    SUCCESS
}

fn live(library: CUlibrary) {
    let there = with(|fake| fake.libraries[library.addr() - 1].is_some());
    assert!(there, "a library is used after it was unloaded");
}

unsafe extern "C" fn unload(library: CUlibrary) -> CUresult {
    live(library);
    with(|fake| fake.libraries[library.addr() - 1] = None);
    SUCCESS
}

unsafe extern "C" fn get_kernel(
    to: *mut CUkernel,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    live(library);
    // SAFETY: the caller gives a C string.
    let name = unsafe { CStr::from_ptr(name) };
    let (at, code) = with(|fake| {
        let at = fake.kernels.iter().position(|(there, _)| *there == name);
        (at, fake.get_kernel)
    });
    match at {
        _ if code != SUCCESS => code,
        None => ERROR_NOT_FOUND,
        Some(at) => {
            // SAFETY: the caller gives a place.
            unsafe { *to = std::ptr::without_provenance_mut(at + 1) };
            SUCCESS
        }
    }
}

unsafe extern "C" fn get_function(to: *mut CUfunction, kernel: CUkernel) -> CUresult {
    with(|fake| assert!(!fake.current.is_empty(), "no context is current"));
    // SAFETY: the caller gives a place.
    unsafe { *to = kernel };
    with(|fake| fake.get_function)
}

unsafe extern "C" fn param_info(
    kernel: CUkernel,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> CUresult {
    let parameters = with(|fake| fake.kernels[kernel.addr() - 1].1.clone());
    let Some(&bytes) = parameters.get(index) else {
        return ERROR_INVALID_VALUE;
    };
    // SAFETY: the caller gives two places.
    unsafe { (*offset, *size) = (parameters[..index].iter().sum(), bytes) };
    SUCCESS
}

unsafe extern "C" fn kernel_count(to: *mut c_uint, library: CUlibrary) -> CUresult {
    live(library);
    // SAFETY: the caller gives a place.
    unsafe { *to = with(|fake| fake.kernels.len()) as c_uint };
    SUCCESS
}

unsafe extern "C" fn enumerate(to: *mut CUkernel, count: c_uint, library: CUlibrary) -> CUresult {
    live(library);
    for n in 0..count as usize {
        // SAFETY: the caller gives `count` places.
        unsafe { *to.add(n) = std::ptr::without_provenance_mut(n + 1) };
    }
    SUCCESS
}

unsafe extern "C" fn kernel_name(to: *mut *const c_char, kernel: CUkernel) -> CUresult {
    // SAFETY: the caller gives a place.
    unsafe { *to = with(|fake| fake.kernels[kernel.addr() - 1].0).as_ptr() };
    SUCCESS
}

unsafe extern "C" fn global(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    library: CUlibrary,
    name: *const c_char,
) -> CUresult {
    live(library);
    // SAFETY: the caller gives a C string and two places.
    unsafe {
        if CStr::from_ptr(name) != c"weights" {
            return ERROR_NOT_FOUND;
        }
        (*address, *bytes) = (4096, 12);
    }
    SUCCESS
}

unsafe extern "C" fn get_attribute(to: *mut c_int, which: c_int, _: CUfunction) -> CUresult {
    let value = with(|fake| {
        fake.asked_attributes += 1;
        match which {
            FUNCTION_SHARED_SIZE_BYTES => fake.shared.0,
            FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES => fake.shared.1,
            other => 100 + other,
        }
    });
    // SAFETY: the caller gives a place.
    unsafe { *to = value };
    SUCCESS
}

unsafe extern "C" fn set_attribute(_: CUfunction, which: c_int, value: c_int) -> CUresult {
    assert_eq!(which, FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    with(|fake| fake.shared.1 = value);
    SUCCESS
}

fn launched(
    call: &'static str,
    shape: ([u32; 3], [u32; 3], u32),
    attributes: Vec<(u32, [u32; 3])>,
) -> CUresult {
    with(|fake| {
        fake.launches.push(Launch {
            call,
            grid: shape.0,
            block: shape.1,
            shared: shape.2,
            attributes,
            in_context: fake.current.last().copied(),
        });
        fake.launch
    })
}

unsafe extern "C" fn launch_ex(
    config: *const CUlaunchConfig,
    _: CUfunction,
    _: *mut *mut c_void,
    _: *mut *mut c_void,
) -> CUresult {
    // SAFETY: the caller gives a configuration with as many attributes as it says.
    let (config, attributes) = unsafe {
        let config = *config;
        let all = std::slice::from_raw_parts(config.attributes, config.count as usize);
        (config, all.to_vec())
    };
    let attributes = attributes
        .iter()
        .map(|a| (a.id, [a.value[0], a.value[1], a.value[2]]))
        .collect();
    launched(
        "cuLaunchKernelEx",
        (config.grid, config.block, config.shared_bytes),
        attributes,
    )
}

#[rustfmt::skip]
unsafe extern "C" fn launch_plain(
    _: CUfunction, x: c_uint, y: c_uint, z: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
    shared: c_uint, _: CUstream, _: *mut *mut c_void, _: *mut *mut c_void,
) -> CUresult {
    launched("cuLaunchKernel", ([x, y, z], [bx, by, bz], shared), Vec::new())
}

#[rustfmt::skip]
unsafe extern "C" fn launch_cooperative(
    _: CUfunction, x: c_uint, y: c_uint, z: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
    shared: c_uint, _: CUstream, _: *mut *mut c_void,
) -> CUresult {
    launched("cuLaunchCooperativeKernel", ([x, y, z], [bx, by, bz], shared), Vec::new())
}

unsafe extern "C" fn active_blocks(
    to: *mut c_int,
    _: CUfunction,
    threads: c_int,
    _: usize,
) -> CUresult {
    // SAFETY: the caller gives a place.
    unsafe { *to = 2048 / threads };
    SUCCESS
}

pub(super) fn lookup(name: &CStr) -> Option<NonNull<c_void>> {
    let name = name.to_str().ok()?;
    if with(|fake| fake.lacks.contains(&name)) {
        return None;
    }
    let function: *const () = match name {
        "cuInit" => init as *const (),
        "cuDriverGetVersion" => version as *const (),
        "cuGetErrorName" => error_name as *const (),
        "cuDeviceGetCount" => device_count as *const (),
        "cuDeviceGetAttribute" => device_attribute as *const (),
        "cuCtxGetCurrent" => get_current as *const (),
        "cuCtxSetCurrent" => set_current as *const (),
        "cuCtxPushCurrent_v2" => push as *const (),
        "cuCtxPopCurrent_v2" => pop as *const (),
        "cuCtxSynchronize" => synchronize as *const (),
        "cuFuncGetAttribute" => get_attribute as *const (),
        "cuFuncSetAttribute" => set_attribute as *const (),
        "cuLaunchKernel" => launch_plain as *const (),
        "cuLaunchCooperativeKernel" => launch_cooperative as *const (),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor" => active_blocks as *const (),
        "cuLibraryLoadData" => load as *const (),
        "cuLibraryUnload" => unload as *const (),
        "cuLibraryGetKernel" => get_kernel as *const (),
        "cuLibraryGetGlobal" => global as *const (),
        "cuKernelGetFunction" => get_function as *const (),
        "cuKernelGetName" => kernel_name as *const (),
        "cuLibraryGetKernelCount" => kernel_count as *const (),
        "cuLibraryEnumerateKernels" => enumerate as *const (),
        "cuKernelGetParamInfo" => param_info as *const (),
        "cuLaunchKernelEx" => launch_ex as *const (),
        // Required by the table, and called by no test here.
        "cuStreamSynchronize"
        | "cuMemcpyHtoDAsync_v2"
        | "cuMemcpyDtoHAsync_v2"
        | "cuOccupancyMaxPotentialBlockSize" => nothing_with_one as *const (),
        _ => return None,
    };
    NonNull::new(function.cast_mut().cast())
}
