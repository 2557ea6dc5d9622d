//! NVVM IR to PTX and LTO IR, through libNVVM.
//!
//! A [`Program`] holds modules (text or bitcode) and compiles them as often as asked, with other
//! [`Options`] and for other architectures. [`Capabilities`] says what the libNVVM at hand can do. The
//! [`reader`] is what looks at a module before libNVVM does.
//!
//! # A module
//!
//! Four things make LLVM IR a module for libNVVM: the data layout, the triple, the list of kernels, and
//! the NVVM IR version. A kernel is marked in `!nvvm.annotations`, as here, or by the calling convention
//! `ptx_kernel`, which libNVVM of CUDA 12.9 and later goes by.
//!
//! ```
//! use cuda_program::{Arch, Ptx, Toolkit, nvvm};
//!
//! let ir = r#"
//! target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
//! target triple = "nvptx64-nvidia-cuda"
//!
//! declare float @__nv_sinf(float)
//!
//! define void @sine(float* %x) {
//!   %a = load float, float* %x
//!   %b = call float @__nv_sinf(float %a)
//!   store float %b, float* %x
//!   ret void
//! }
//!
//! !nvvm.annotations = !{!0}
//! !0 = !{void (float*)* @sine, !"kernel", i32 1}
//! !nvvmir.version = !{!1}
//! !1 = !{i32 2, i32 0}
//! "#;
//! # /*
//! let toolkit = Toolkit::discover()?;
//! # */
//! # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
//! let program = nvvm::Program::new(&toolkit)?;
//! program.add_module("sine.ll", ir)?;
//! let ptx = program.compile::<Ptx>(&nvvm::Options::new(Arch::SM_90))?;
//! assert!(ptx.kernel("sine").is_some());
//! # Ok::<(), cuda_program::Error>(())
//! ```
//!
//! # libdevice
//!
//! Mathematical functions (`__nv_sinf`, `__nv_expf`, …) come from NVIDIA's libdevice, a bitcode file
//! beside libNVVM. By default it is added where a module declares such a function and none defines
//! it, and a module's own definition always wins; [`Program::set_libdevice`] changes that.
//!
//! # Two compilers in one library
//!
//! For architectures below compute_100 libNVVM reads the IR of LLVM 7, with typed pointers. From
//! compute_100 on it reads that of a current LLVM, opaque pointers included; newer libraries can do so
//! for every architecture (`-nvvm-latest`). [`Dialect::Auto`] takes that way for modules that need it.
//!
//! # LTO IR
//!
//! Compiling to [`LtoIr`](crate::LtoIr) pins the kernels that the modules define with external
//! linkage, because nvJitLink drops unpinned ones without a word. `internal` kernels cannot be pinned;
//! a diagnostic names them.

mod capabilities;
mod checks;
mod dialect;
mod failure;
mod handle;
mod libdevice;
mod log;
mod modules;
mod options;
mod output;
mod pin;
mod plan;
mod probe;
mod program;
pub mod reader;
mod repair;

#[cfg(test)]
mod fake;
#[cfg(all(test, not(loom)))]
mod fuzz;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

pub use capabilities::{Capabilities, LlvmVersion};
pub use libdevice::Libdevice;
pub(crate) use libdevice::check as check_libdevice;
pub(crate) use log::text as escaped;
pub(crate) use modules::LAYOUT;
pub use options::{Dialect, OptLevel, Options, Repair};
pub use output::Output;
pub use program::Program;
pub use reader::ModuleInfo;
