//! The plain C calls, for what the crate itself is checked against.

#![allow(dead_code, reason = "each test file uses a part")]

use std::ffi::{CStr, CString, c_char};

use cuda_program::Toolkit;
use cuda_program::sys::NvJitLink;
use cuda_program::sys::bindings::{nvjitlink, nvrtc, nvvm};

/// CUDA C++ to LTO IR by NVRTC.
pub fn nvrtc_ltoir(toolkit: &Toolkit, source: &str, arch: &str) -> Vec<u8> {
    let api = toolkit.nvrtc().unwrap().api;
    let source = CString::new(source).unwrap();
    let options = [
        CString::new(format!("-arch={arch}")).unwrap(),
        c"-dlto".to_owned(),
    ];
    let options: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
    // SAFETY: a live handle throughout, valid strings, and buffers of the sizes asked for.
    unsafe {
        let mut program = std::ptr::null_mut();
        let name = c"helper.cu".as_ptr();
        let none = std::ptr::null();
        let code = (api.nvrtcCreateProgram)(&mut program, source.as_ptr(), name, 0, none, none);
        assert_eq!(code, nvrtc::NVRTC_SUCCESS);
        let code = (api.nvrtcCompileProgram)(program, 2, options.as_ptr());
        assert_eq!(code, nvrtc::NVRTC_SUCCESS);
        let mut size = 0;
        assert_eq!(
            (api.nvrtcGetLTOIRSize)(program, &mut size),
            nvrtc::NVRTC_SUCCESS
        );
        let mut ltoir = vec![0_u8; size];
        let code = (api.nvrtcGetLTOIR)(program, ltoir.as_mut_ptr().cast());
        assert_eq!(code, nvrtc::NVRTC_SUCCESS);
        (api.nvrtcDestroyProgram)(&mut program);
        ltoir
    }
}

/// Links LTO IR to a cubin by nvJitLink.
pub fn link(toolkit: &Toolkit, inputs: &[&[u8]], options: &[&CStr]) -> Vec<u8> {
    link_kind(toolkit, nvjitlink::NVJITLINK_INPUT_LTOIR, inputs, options).unwrap()
}

/// Makes a cubin of PTX by nvJitLink.
pub fn cubin_of_ptx(toolkit: &Toolkit, ptx: &str, arch: &str) -> Vec<u8> {
    finish_ptx(toolkit, ptx, arch).unwrap()
}

/// Makes a cubin of PTX by nvJitLink, or says why that one refuses.
pub fn finish_ptx(toolkit: &Toolkit, ptx: &str, arch: &str) -> Result<Vec<u8>, String> {
    let arch = CString::new(format!("-arch={arch}")).unwrap();
    let ptx = CString::new(ptx).unwrap();
    let inputs = [ptx.as_bytes_with_nul()];
    link_kind(toolkit, nvjitlink::NVJITLINK_INPUT_PTX, &inputs, &[&arch])
}

/// Links inputs of one kind to a cubin by nvJitLink.
pub fn link_kind(
    toolkit: &Toolkit,
    kind: nvjitlink::nvJitLinkInputType,
    inputs: &[&[u8]],
    options: &[&CStr],
) -> Result<Vec<u8>, String> {
    let api = toolkit.nvjitlink().unwrap().api;
    let size = api.nvJitLinkGetLinkedCubinSize;
    let get = api.nvJitLinkGetLinkedCubin;
    link_and_get(api, kind, inputs, options, |handle| {
        let mut bytes = 0;
        // SAFETY: the handle is live, and the buffer has the size asked for.
        unsafe {
            assert_eq!(size(handle, &mut bytes), nvjitlink::NVJITLINK_SUCCESS);
            let mut cubin = vec![0_u8; bytes];
            let code = get(handle, cubin.as_mut_ptr().cast());
            assert_eq!(code, nvjitlink::NVJITLINK_SUCCESS);
            cubin
        }
    })
}

/// Links LTO IR to PTX by nvJitLink.
pub fn link_to_ptx(toolkit: &Toolkit, input: &[u8], arch: &CStr) -> String {
    let api = toolkit.nvjitlink().unwrap().api;
    let size = api.nvJitLinkGetLinkedPtxSize;
    let get = api.nvJitLinkGetLinkedPtx;
    let kind = nvjitlink::NVJITLINK_INPUT_LTOIR;
    let linked = link_and_get(api, kind, &[input], &[arch, c"-lto", c"-ptx"], |handle| {
        let mut bytes = 0;
        // SAFETY: the handle is live, and the buffer has the size asked for.
        unsafe {
            assert_eq!(size(handle, &mut bytes), nvjitlink::NVJITLINK_SUCCESS);
            let mut ptx = vec![0_u8; bytes];
            let code = get(handle, ptx.as_mut_ptr().cast());
            assert_eq!(code, nvjitlink::NVJITLINK_SUCCESS);
            String::from_utf8(ptx).unwrap()
        }
    });
    linked.unwrap()
}

fn link_and_get<R>(
    api: NvJitLink,
    kind: nvjitlink::nvJitLinkInputType,
    inputs: &[&[u8]],
    options: &[&CStr],
    get: impl FnOnce(nvjitlink::nvJitLinkHandle) -> R,
) -> Result<R, String> {
    let mut options: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
    // SAFETY: a live handle throughout, valid strings, and a buffer of the size asked for.
    unsafe {
        let mut handle = std::ptr::null_mut();
        let count = u32::try_from(options.len()).unwrap();
        let created = (api.nvJitLinkCreate)(&mut handle, count, options.as_mut_ptr());
        assert_eq!(created, nvjitlink::NVJITLINK_SUCCESS);
        let mut failed = None;
        for (n, input) in inputs.iter().enumerate() {
            let name = CString::new(format!("input{n}")).unwrap();
            let code = (api.nvJitLinkAddData)(
                handle,
                kind,
                input.as_ptr().cast(),
                input.len(),
                name.as_ptr(),
            );
            failed = failed.or((code != nvjitlink::NVJITLINK_SUCCESS).then_some(code));
        }
        if failed.is_none() {
            let code = (api.nvJitLinkComplete)(handle);
            failed = (code != nvjitlink::NVJITLINK_SUCCESS).then_some(code);
        }
        let mut size = 0;
        (api.nvJitLinkGetErrorLogSize)(handle, &mut size);
        let mut log = vec![0_u8; size.max(1)];
        (api.nvJitLinkGetErrorLog)(handle, log.as_mut_ptr().cast());
        let result = match failed {
            None => Ok(get(handle)),
            Some(code) => Err(format!("{code}: {}", String::from_utf8_lossy(&log))),
        };
        (api.nvJitLinkDestroy)(&mut handle);
        result
    }
}

/// The kernels of a cubin, sorted: the functions that carry the entry bit.
pub fn cubin_kernels(cubin: &[u8]) -> Vec<String> {
    use object::read::elf::{ElfFile64, Sym};
    use object::{Object, ObjectSymbol};
    const ENTRY: u8 = 0x10;
    let file = ElfFile64::<object::Endianness>::parse(cubin).unwrap();
    let mut names: Vec<String> = file
        .symbols()
        .filter(|symbol| symbol.elf_symbol().st_other().0 & ENTRY != 0)
        .map(|symbol| symbol.name().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// The undefined symbols of a cubin, without those that the driver brings.
pub fn cubin_undefined(cubin: &[u8]) -> Vec<String> {
    use object::{Object, ObjectSymbol};
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(cubin).unwrap();
    file.symbols()
        .filter(|symbol| symbol.is_undefined())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| !name.is_empty() && !name.starts_with(".nv."))
        .map(str::to_owned)
        .collect()
}

/// What libNVVM itself returns for one module, with nothing looked at before: code and log.
pub fn nvvm_compile(toolkit: &Toolkit, ir: &[u8], arch: &CStr) -> (u32, String) {
    let compile = toolkit.nvvm().unwrap().api.nvvmCompileProgram;
    nvvm_call(toolkit, ir, &[arch], compile)
}

/// As `nvvm_compile`, with any options, for the compiler or the verifier.
pub fn nvvm_call(
    toolkit: &Toolkit,
    ir: &[u8],
    options: &[&CStr],
    call: nvvm::nvvmCompileProgram_fn,
) -> (u32, String) {
    let api = toolkit.nvvm().unwrap().api;
    let mut options: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
    let count = i32::try_from(options.len()).unwrap();
    // SAFETY: a live handle throughout, valid strings, and a buffer of the size asked for.
    unsafe {
        let mut program = std::ptr::null_mut();
        assert_eq!((api.nvvmCreateProgram)(&mut program), 0);
        let name = c"raw".as_ptr();
        let added = (api.nvvmAddModuleToProgram)(program, ir.as_ptr().cast(), ir.len(), name);
        let code = match added {
            0 => call(program, count, options.as_mut_ptr()),
            refused => refused,
        };
        let mut size = 0;
        (api.nvvmGetProgramLogSize)(program, &mut size);
        let mut log = vec![0_u8; size.max(1)];
        (api.nvvmGetProgramLog)(program, log.as_mut_ptr().cast());
        (api.nvvmDestroyProgram)(&mut program);
        (code, String::from_utf8_lossy(&log).into_owned())
    }
}
