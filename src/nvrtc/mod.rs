//! CUDA C++ in, PTX, a cubin or LTO IR out, by NVRTC. It needs no GPU and no driver.
//!
//! A [`Program`] is a source, headers in memory and name expressions; it may be compiled again and
//! again, with other [`Options`], and each compilation has a handle of its own inside.
//!
//! # Headers
//!
//! `#include` finds headers in memory first, then the folders of the options, then the headers that
//! NVRTC carries inside ([`BundledHeaders`], off by default), then the include folders of the toolkit
//! that NVRTC belongs to: those of the runtime, the C++ libraries (CCCL), cuRAND and the internal
//! ones, each found by itself where its package is installed beside NVRTC. Where a header is missing,
//! the error lists the folders and names the package that has it. NVRTC has none of the headers of
//! standard C++; `<cuda/std/…>` stands in for them.

mod archs;
mod attempt;
mod bundle;
mod checks;
mod control;
mod extra;
mod failure;
mod flags;
mod headers;
mod inputs;
mod log;
pub(crate) mod missing;
mod options;
mod output;
mod owners;
mod pch;
mod program;
mod run;
#[cfg(all(test, not(loom)))]
mod tests;
mod text;

pub use bundle::{BundledHeaders, HeaderBundle, InstalledHeaders};
pub use control::{CancelToken, Control};
#[cfg(all(feature = "cache", not(loom)))]
pub(crate) use headers::folders as toolkit_headers;
pub use options::{
    CodeGeneration, Debugging, Diagnostics, FastCompile, Language, Options, Pch, PchMode,
    Preprocessor, Standard, WarningKind,
};
pub use output::Output;
pub use pch::PchStatus;
pub use program::Program;
