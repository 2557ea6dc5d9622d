//! Loading compiled code onto a GPU and launching it.
//!
//! cudarc gives contexts, streams and device memory ([`cudarc`]); this module loads [`Ptx`](crate::Ptx),
//! [`Cubin`](crate::Cubin) and [`LtoIr`](crate::LtoIr) into a context as a [`Module`] and launches
//! its [`Kernel`]s on cudarc's streams, with cudarc's slices and views as arguments.
//!
//! ```no_run
//! use cuda_program::{Toolkit, gpu::LaunchConfig, nvvm};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let context = cuda_program::gpu::context(0)?;
//! let stream = context.default_stream();
//! let program = nvvm::Program::new(&Toolkit::discover()?)?;
//! program.add_module("saxpy.ll", include_bytes!("../../fixtures/saxpy.ll"))?;
//! let module = program.load(&context)?;
//! let saxpy = module.kernel("saxpy")?;
//!
//! let n = 1000_u32;
//! let x = stream.clone_htod(&vec![1.0_f32; n as usize])?;
//! let mut y = stream.clone_htod(&vec![2.0_f32; n as usize])?;
//! // SAFETY: the kernel takes these arguments, and touches n elements of each slice.
//! unsafe { saxpy.launch(&stream, LaunchConfig::for_elements(n), (n, 3.0_f32, &x, &mut y))? };
//! assert_eq!(stream.clone_dtoh(&y)?[999], 5.0);
//! # Ok(())
//! # }
//! ```
//!
//! # No GPU
//!
//! cudarc panics where there is no driver. [`Driver::get`], [`device_count`] and [`context()`] look
//! first, and return an [`Error`](crate::Error) that says what is missing. Nothing is remembered of a
//! failure: a driver that is there later is found later.
//!
//! # What a load does
//!
//! The driver reports success for PTX that it cannot use. A load is called one here when the
//! driver's error log is empty and a kernel could be got. By default PTX is made a cubin by
//! nvJitLink, where there is one: it reads newer PTX than the driver does, and takes about as long
//! (1.1 times the driver's own compiler on a small kernel, by `benches/gpu_load.rs`). [`LoadPolicy`]
//! has the other ways, and [`Module::diagnostics`] says which was taken.
//!
//! # First calls
//!
//! A [`LazyKernel`] is compiled and loaded by its first call; see [`lazy`].
//!
//! # Contexts
//!
//! Every call leaves the calling thread's current context as it was. Streams under capture work; a
//! kernel's first use loads code, which the driver allows during a capture of the calling thread's
//! own (`CU_STREAM_CAPTURE_MODE_THREAD_LOCAL` or relaxed). cudarc orders slices by events, and an
//! event from before a capture cannot be waited for within: for captures, switch
//! `disable_event_tracking` on before the slices are made, or pass a [`DevicePtr`].

mod arguments;
mod context;
mod driver;
mod errors;
mod global;
mod kernel;
mod launch;
pub mod lazy;
mod link;
mod load;
mod module;
mod near;
mod nvrtc_program;
mod prepare;
mod program;
#[cfg(all(test, not(loom)))]
mod tests;

/// The crate that gives contexts, streams and device memory.
pub use cudarc;

pub use arguments::{Argument, ArgumentList, ByValue, DevicePtr};
pub use context::{arch, context, device_count};
pub use driver::Driver;
pub use global::{Bits, Global};
pub use kernel::{BlockSuggestion, Kernel, KernelAttributes, KernelParameter};
pub use launch::LaunchConfig;
pub use lazy::LazyKernel;
pub use load::{Image, LoadOptions, LoadPolicy};
pub use module::{Module, NotUnloaded};
