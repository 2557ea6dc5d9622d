//! What the library keeps of one compilation for the next of the process.

use std::ffi::{CStr, CString, c_char};

use cuda_program::sys::bindings::nvrtc::NVRTC_SUCCESS;
use cuda_program::{Ptx, Severity};
use rstest::rstest;

use crate::common::{NEWEST, toolkit};
use crate::own_process::again_in_a_process_of_its_own;
use crate::{program, sm_80};

const LOADS: &str = "extern \"C\" __global__ void k(const float *a, float *b) {
    b[1] = a[0]; b[0] = a[1];
}";

/// What the library itself makes of it.
fn raw_ptx(version: &str, flags: &[&CStr]) -> String {
    let api = toolkit(version).nvrtc().unwrap().api;
    let source = CString::new(LOADS).unwrap();
    let flags: Vec<*const c_char> = flags.iter().map(|flag| flag.as_ptr()).collect();
    // SAFETY: a live handle throughout, valid strings, and a buffer of the size asked for.
    unsafe {
        let mut handle = std::ptr::null_mut();
        let none = std::ptr::null();
        let name = c"k.cu".as_ptr();
        let code = (api.nvrtcCreateProgram)(&mut handle, source.as_ptr(), name, 0, none, none);
        assert_eq!(code, NVRTC_SUCCESS);
        let count = i32::try_from(flags.len()).unwrap();
        let code = (api.nvrtcCompileProgram)(handle, count, flags.as_ptr());
        assert_eq!(code, NVRTC_SUCCESS);
        let mut size = 0;
        assert_eq!((api.nvrtcGetPTXSize)(handle, &mut size), NVRTC_SUCCESS);
        let mut ptx = vec![0_u8; size];
        let code = (api.nvrtcGetPTX)(handle, ptx.as_mut_ptr().cast());
        assert_eq!(code, NVRTC_SUCCESS);
        (api.nvrtcDestroyProgram)(&mut handle);
        String::from_utf8(ptx).unwrap()
    }
}

/// The reason why the flag is refused: where this fails for a new version, it may be let in there.
#[rstest]
#[case::kept_by_12_4("12.4", true)]
#[case::kept_by_12_9("12.9", true)]
#[case::kept_by_13_0("13.0", true)]
#[case::kept_by_13_5("13.5", true)]
#[case::forgotten_by_12_0("12.0", false)]
fn the_library_keeps_restrict_for_programs_that_did_not_ask_for_it(
    #[case] version: &str,
    #[case] keeps: bool,
) {
    const RESTRICTED: &str = "ld.global.nc";
    again_in_a_process_of_its_own(&[], || {
        let arch = c"--gpu-architecture=compute_80";
        assert!(!raw_ptx(version, &[arch]).contains(RESTRICTED));
        assert!(raw_ptx(version, &[arch, c"--restrict"]).contains(RESTRICTED));
        assert_eq!(raw_ptx(version, &[arch]).contains(RESTRICTED), keeps);
    });
}

#[test]
fn restrict_in_the_source_stays_with_its_kernel() {
    let source = LOADS.replace('*', "*__restrict__ ");
    let restricted: Ptx = program(NEWEST, &source).compile(&sm_80()).unwrap();
    assert!(restricted.as_str().contains("ld.global.nc"));
    let plain: Ptx = program(NEWEST, LOADS).compile(&sm_80()).unwrap();
    assert!(!plain.as_str().contains("ld.global.nc"));
}

#[rstest]
fn remarks_on_inlining_are_left_out_of_programs_that_did_not_ask_for_them(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    again_in_a_process_of_its_own(&[], || {
        let program = program(
            version,
            "__device__ int f(int x) { return x * 5 + 3; }
            extern \"C\" __global__ void k(int *p) { *p = f(*p); }",
        );
        let mut options = sm_80();
        options.diagnostics.inline_remarks = true;
        let remarked: Ptx = program.compile(&options).unwrap();
        let remark = remarked
            .diagnostics()
            .iter()
            .find(|d| d.message.contains("inlined into"))
            .unwrap();
        assert_eq!(
            (remark.severity, remark.module.as_deref()),
            (Severity::Note, Some("k.cu"))
        );
        let plain: Ptx = program.compile(&sm_80()).unwrap();
        assert_eq!(plain.diagnostics(), []);
    });
}
