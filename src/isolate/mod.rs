//! Compiling in worker processes, which may die.
//!
//! NVIDIA's compilers end their process on some inputs, and never end on others; the
//! [guide](crate::guide::guards) lists what no look can foresee. [`Isolated`] runs each job in a worker
//! process, which is reused: a crash is an [`Error::CompilerDied`](crate::Error::CompilerDied), a
//! deadline an [`Error::TimedOut`](crate::Error::TimedOut), a ceiling of memory an
//! [`Error::MemoryCeiling`](crate::Error::MemoryCeiling), and the next job gets a new worker.
//!
//! A program makes itself its own worker with one line at the top of `main`:
//!
//! ```no_run
//! use cuda_program::compile::{Compiler, Emit, Job};
//! use cuda_program::isolate::Isolated;
//! use cuda_program::{Arch, Toolkit, nvvm};
//!
//! fn main() -> cuda_program::Result<()> {
//!     cuda_program::isolate::init(); // in a worker process, it does not return
//!     let compiler = Isolated::new(&Toolkit::discover()?);
//!     let ir = std::fs::read("strangers.ll").unwrap_or_default();
//!     let job = Job::nvvm("strangers.ll", ir, nvvm::Options::new(Arch::SM_90), Emit::Ptx);
//!     let output = compiler.compile(&job)?;
//!     println!("{} bytes", output.as_bytes().len());
//!     Ok(())
//! }
//! ```
//!
//! # Which program is the worker
//!
//! The first of: the file that [`Options::program`] names; the one that `CUDA_PROGRAM_WORKER` names; this
//! program itself, where it called [`init`]; a program called `cuda-program` beside this program's file, or on
//! the `PATH`. A host that is not written in Rust, as a Python that loads a library, needs one of the
//! others: any program whose `main` is a call of [`init`].
//!
//! # What a worker is
//!
//! A process of its own group, started by spawning and never by a bare fork. It has a socket to its
//! owner as standard input, its standard error is caught and comes with the result, and it closes every
//! other descriptor. It compiles on its main thread, and leaves when the socket closes: also when its owner
//! was killed, also in the middle of a compilation. Nothing listens on a network.
//!
//! Unix only.

mod isolated;
mod message;
mod options;
mod pool;
mod process;
mod program;
mod worker;

pub use isolated::{Isolated, Stats};
pub use options::Options;
pub(crate) use program::is_possible;
pub use worker::{init, serve};
