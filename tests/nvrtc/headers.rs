//! Where headers are found.

use cuda_program::Ptx;
use rstest::rstest;

use crate::common::NEWEST;
use crate::{STORE, program, sm_80};

#[rstest]
fn the_headers_of_the_toolkit_are_found_by_themselves(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let source = format!("#include <cuda_fp16.h>\n{STORE}");
    let ptx: Ptx = program(version, &source).compile(&sm_80()).unwrap();
    assert!(ptx.kernel("k").is_some());
}

#[test]
fn a_missing_header_names_the_folders_and_the_way_to_add_it() {
    let mut options = sm_80();
    options.preprocessor.include_folders.push("/nowhere".into());
    options.preprocessor.toolkit_headers = false;
    let error = |source| {
        program(NEWEST, source)
            .compile::<Ptx>(&options)
            .unwrap_err()
            .to_string()
    };
    let own = error("#include \"my.h\"\n");
    assert!(
        own.contains("/nowhere") && own.contains("add_header"),
        "{own}"
    );
    let cuda = error("#include <cuda_fp16.h>\n");
    assert!(cuda.contains("nvidia-cuda-runtime"), "{cuda}");
    let cccl = error("#include <nv/target>\n");
    assert!(cccl.contains("nvidia-cuda-cccl"), "{cccl}");
}
