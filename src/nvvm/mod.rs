//! NVVM IR to PTX and LTO IR, through libNVVM.
//!
//! A [`Program`] holds modules (text or bitcode) and compiles them as often as asked, with other
//! [`Options`] and for other architectures. [`Capabilities`] says what the libNVVM at hand can do. The
//! [`reader`] is what looks at a module before libNVVM does.
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
mod dialect;
mod handle;
mod hints;
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

#[cfg(test)]
mod fake;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
mod tests;

pub use capabilities::{Capabilities, LlvmVersion};
pub use libdevice::Libdevice;
pub(crate) use libdevice::check as check_libdevice;
#[cfg(feature = "gpu")]
pub(crate) use log::text as escaped;
pub use options::{Dialect, OptLevel, Options};
pub use output::Output;
pub use program::Program;
pub use reader::ModuleInfo;
