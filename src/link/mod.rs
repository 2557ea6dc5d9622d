//! Any mix of inputs to one cubin, PTX or LTO IR, through nvJitLink.
//!
//! A [`Linker`] owns its inputs and links them as often as asked. nvJitLink reports success for much
//! that went wrong: a kernel dropped, a name defined twice, an input refused. So inputs are looked at
//! before the library sees them, and the result is looked at afterwards.
//!
//! ```
//! use cuda_program::{Arch, Cubin, Linker, LtoIr, Toolkit, nvvm};
//!
//! # fn main() -> cuda_program::Result<()> {
//! # let ir = include_str!("../../fixtures/saxpy.ll");
//! # /*
//! let toolkit = Toolkit::discover()?;
//! # */
//! # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
//! let program = nvvm::Program::new(&toolkit)?;
//! program.add_module("saxpy.ll", ir)?;
//! let saxpy = program.compile::<LtoIr>(&nvvm::Options::new(Arch::SM_90))?;
//! let cubin = Linker::new(&toolkit, Arch::SM_90).add(saxpy).link::<Cubin>()?;
//! assert!(cubin.as_bytes().starts_with(b"\x7fELF"));
//! # Ok(())
//! # }
//! ```

mod check;
mod fatbin;
mod input;
mod linker;
mod log;
mod names;
mod options;
mod output;
#[cfg(all(test, not(loom), target_os = "linux", target_env = "gnu"))]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;
mod turns;

pub use input::{InputKind, Linkable};
pub use linker::Linker;
pub use options::{FastCompile, Options};
pub use output::Output;
