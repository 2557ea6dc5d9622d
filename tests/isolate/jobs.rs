//! Jobs: good ones of each kind, and the ones that no compiler survives or finishes.

use cuda_program::compile::{Emit, Job};
use cuda_program::{Arch, link, nvrtc, nvvm};

use crate::common::{self, TARGET};

/// NVVM IR that stores a number.
pub fn stores(value: i32) -> Job {
    let options = nvvm::Options::new(Arch::SM_80);
    Job::nvvm("k.ll", common::store("k", value), options, Emit::Ptx)
}

/// CUDA C++ that stores a number.
pub fn cpp(value: i32, emit: Emit) -> Job {
    let source = format!("extern \"C\" __global__ void k(int *p) {{ *p = {value}; }}");
    Job::cpp("k.cu", source, nvrtc::Options::new(Arch::SM_80), emit)
}

/// A link of PTX.
pub fn link() -> Job {
    let ptx = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
    Job::link(Arch::SM_80, link::Options::new(), Emit::Cubin).with_input(
        "k.ptx",
        link::InputKind::Ptx,
        ptx,
    )
}

/// A variable that libNVVM 13.5 has no way to print from compute_100 on: it ends by SIGILL, each
/// time. (What makes it read past an end is no good here: it now and then finds something there.)
pub fn crashes() -> Job {
    let ir = format!(
        "{TARGET}@h = addrspace(1) global half 0xH3C00\ndefine void @k() {{\n  ret void\n}}\n{}",
        common::ending(&[("void ()*", "k")])
    );
    Job::nvvm("crash.ll", ir, nvvm::Options::new(Arch::SM_100), Emit::Ptx)
}

/// A function of so many lines that its compilation takes minutes, and gigabytes.
pub fn endless() -> Job {
    let lines: String = (0..300_000)
        .map(|n| format!("x = x * p[{n}] + sinf(x);\n"))
        .collect();
    let source = format!(
        "extern \"C\" __global__ void k(float *p) {{\nfloat x = p[0];\n{lines}p[0] = x;\n}}\n"
    );
    Job::cpp(
        "slow.cu",
        source,
        nvrtc::Options::new(Arch::SM_80),
        Emit::Ptx,
    )
}

/// A call that libNVVM 13.5 has no code for, which it says.
pub fn unknown() -> Job {
    let ir = format!(
        "{TARGET}declare i32 @llvm.nvvm.of.a.later.library()\ndefine void @k(i32* %p) {{\n  \
         %x = call i32 @llvm.nvvm.of.a.later.library()\n  store i32 %x, i32* %p\n  ret void\n}}\n{}",
        common::ending(&[("void (i32*)*", "k")])
    );
    Job::nvvm("u.ll", ir, nvvm::Options::new(Arch::SM_100), Emit::Ptx)
}
