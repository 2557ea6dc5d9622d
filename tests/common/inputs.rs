//! Inputs of links.
#![allow(dead_code)]

use cuda_program::{Arch, Cubin, Ptx, nvrtc};

use crate::common::toolkit;

/// PTX for sm_80 that every library reads.
pub fn ptx(body: &str) -> Ptx {
    Ptx::from_text(format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{body}"
    ))
    .unwrap()
}

/// A relocatable cubin with the kernel `k`.
pub fn cubin(version: &str, arch: Arch) -> Cubin {
    let source = r#"extern "C" __global__ void k(int *p) { *p = 1; }"#;
    let program = nvrtc::Program::new(&toolkit(version), "k.cu", source).unwrap();
    let mut options = nvrtc::Options::new(arch);
    options.code.relocatable = true;
    program.compile(&options).unwrap()
}
