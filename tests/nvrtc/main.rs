//! CUDA C++ through the real NVRTC of each version.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../src/testing/process.rs"]
mod own_process;

mod archs;
mod control;
mod effects;
mod headers;
mod hostile;
mod leftovers;
mod options;
mod pch;
mod pch_automatic;
mod program;
mod sources;
mod stack;
mod threads;

use common::toolkit;
use cuda_program::Arch;
use cuda_program::nvrtc::{Options, Program};

const STORE: &str = "extern \"C\" __global__ void k(int *p) { *p = 1; }";

fn program(version: &str, source: &str) -> Program {
    Program::new(&toolkit(version), "k.cu", source).unwrap()
}

fn sm_80() -> Options {
    Options::new(Arch::SM_80)
}
