//! Compilations as plain values, and what runs them.
//!
//! A [`Job`] says everything about one compilation. It is plain data: it can be sent to another
//! process, kept in a file, and be the key of a cache. A [`Compiler`] runs it: [`InProcess`] on the
//! libraries of a toolkit, and others that stand before one and have its shape. [`compile_all`] runs many on
//! all cores.
//!
//! ```
//! use cuda_program::compile::{Compiler, Emit, InProcess, Job};
//! use cuda_program::{Arch, Toolkit, nvrtc};
//!
//! # fn main() -> cuda_program::Result<()> {
//! # /*
//! let toolkit = Toolkit::discover()?;
//! # */
//! # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
//! let source = "extern \"C\" __global__ void k(int *p) { *p = 1; }";
//! let job = Job::cpp("k.cu", source, nvrtc::Options::new(Arch::SM_90), Emit::Cubin);
//! let output = InProcess::new(&toolkit).compile(&job)?;
//! assert!(output.cubin().is_some_and(|cubin| cubin.kernel("k").is_some()));
//! # Ok(())
//! # }
//! ```

mod all_cores;
mod batch;
mod in_process;
mod job;
mod output;

pub use all_cores::AllCores;
pub use batch::{Batch, Progress, compile_all};
pub use in_process::{Compiler, InProcess};
pub use job::{Cpp, Emit, Header, Input, Job, Link, Module, Nvvm, Source};
pub use output::Output;
