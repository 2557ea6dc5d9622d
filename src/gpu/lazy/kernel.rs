//! Lazy kernels of this crate.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{Lazy, Load, Stats};
use crate::arch::Arch;
use crate::artifact::{Cubin, LtoIr, Ptx};
use crate::error::Result;
use crate::gpu::arguments::Argument;
use crate::gpu::context::AsBefore;
use crate::gpu::cudarc::driver::{CudaContext, CudaStream};
use crate::gpu::prepare::{Prepared, prepare};
use crate::gpu::{Driver, Image, Kernel, LaunchConfig, LoadOptions, Module, arch, context};
use crate::sync::Mutex;

/// Code that a [`LazyKernel`] loads; made of a [`Ptx`], [`Cubin`] or [`LtoIr`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Code {
    /// PTX.
    Ptx(Ptx),
    /// A cubin.
    Cubin(Cubin),
    /// LTO IR.
    LtoIr(LtoIr),
}

impl From<Ptx> for Code {
    fn from(ptx: Ptx) -> Self {
        Code::Ptx(ptx)
    }
}

impl From<Cubin> for Code {
    fn from(cubin: Cubin) -> Self {
        Code::Cubin(cubin)
    }
}

impl From<LtoIr> for Code {
    fn from(lto: LtoIr) -> Self {
        Code::LtoIr(lto)
    }
}

impl<'a> From<&'a Code> for Image<'a> {
    fn from(code: &'a Code) -> Self {
        match code {
            Code::Ptx(ptx) => Image::Ptx(ptx),
            Code::Cubin(cubin) => Image::Cubin(cubin),
            Code::LtoIr(lto) => Image::LtoIr(lto),
        }
    }
}

/// A kernel that its first call on a device compiles and loads, into the device's primary context.
///
/// It can be called from any number of threads on any number of devices at once. What happens then,
/// and on errors and panics, is said in [the module](super).
///
/// ```no_run
/// use cuda_program::gpu::{LaunchConfig, LazyKernel, context};
/// use cuda_program::{Ptx, Toolkit, nvvm};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let program = nvvm::Program::new(&Toolkit::discover()?)?;
/// program.add_module("saxpy.ll", include_bytes!("../../../fixtures/saxpy.ll"))?;
/// let saxpy = LazyKernel::new("saxpy", move |arch| {
///     program.compile::<Ptx>(&nvvm::Options::new(arch))
/// });
///
/// let stream = context(0)?.default_stream();
/// let x = stream.clone_htod(&[1.0_f32; 64])?;
/// let mut y = stream.clone_htod(&[2.0_f32; 64])?;
/// // SAFETY: the kernel takes these arguments, and touches 64 elements of each slice.
/// unsafe { saxpy.launch(&stream, LaunchConfig::for_elements(64), (64_u32, 3.0_f32, &x, &mut y))? };
/// # Ok(())
/// # }
/// ```
pub struct LazyKernel {
    lazy: Lazy<Recipe>,
}

/// How the kernel is made.
struct Recipe {
    name: String,
    compile: Box<dyn Fn(Arch) -> Result<Code> + Send + Sync>,
    options: LoadOptions,
    /// Guards the contexts taken so far, and is held for a look alone. A primary context goes with
    /// its last owner, and making one anew for each step takes long.
    contexts: Mutex<BTreeMap<usize, Arc<CudaContext>>>,
}

impl LazyKernel {
    /// A kernel, by its name in the code, that `compile` makes for an architecture.
    ///
    /// `compile` runs once for each architecture, and again after a failure, on the thread whose
    /// call it is. It runs with no lock held; it may use other lazy kernels, but not this one.
    pub fn new<C: Into<Code>>(
        name: impl Into<String>,
        compile: impl Fn(Arch) -> Result<C> + Send + Sync + 'static,
    ) -> Self {
        LazyKernel::with(name, LoadOptions::default(), compile)
    }

    /// The same as [`new`](LazyKernel::new), loaded by these options.
    pub fn with<C: Into<Code>>(
        name: impl Into<String>,
        options: LoadOptions,
        compile: impl Fn(Arch) -> Result<C> + Send + Sync + 'static,
    ) -> Self {
        LazyKernel {
            lazy: Lazy::new(Recipe {
                name: name.into(),
                compile: Box::new(move |arch| compile(arch).map(Into::into)),
                options,
                contexts: Mutex::new(BTreeMap::new()),
            }),
        }
    }

    /// A kernel of code that is there already; a cubin runs on one architecture alone.
    pub fn from_code(name: impl Into<String>, code: impl Into<Code>) -> Self {
        let code = code.into();
        LazyKernel::new(name, move |_| Ok(code.clone()))
    }

    /// The kernel on a device, by ordinal from 0, compiled and loaded before if need be.
    ///
    /// Once it is there, a call is one atomic load that no other thread can slow down. The calling
    /// thread's current context stays.
    ///
    /// # Errors
    ///
    /// Those of the closure, of [`context()`] and of [`Module::load_with`], also where the work was
    /// another thread's; [`Error::FirstCallCycle`](crate::Error::FirstCallCycle) and
    /// [`Error::FirstCallPanicked`](crate::Error::FirstCallPanicked). The next call tries again.
    ///
    /// # Panics
    ///
    /// Where the closure does.
    #[inline]
    pub fn get(&self, device: usize) -> Result<&Kernel> {
        self.lazy.get(device)
    }

    /// Launches the kernel on a stream of a primary context, compiled and loaded before if need be.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::launch`].
    ///
    /// # Errors
    ///
    /// Those of [`get`](LazyKernel::get) and of [`Kernel::launch`].
    pub unsafe fn launch<'a>(
        &self,
        stream: &'a CudaStream,
        config: impl Into<LaunchConfig>,
        arguments: impl Argument<'a>,
    ) -> Result<()> {
        let kernel = self.get(stream.context().ordinal())?;
        // SAFETY: the caller's word, passed on.
        unsafe { kernel.launch(stream, config, arguments) }
    }

    /// Compiles and loads on all these devices, each in a thread; see [`Lazy::warm_up`].
    ///
    /// # Errors
    ///
    /// [`Error::WarmUp`](crate::Error::WarmUp) with the error of each device that failed.
    #[cfg(not(loom))]
    pub fn warm_up(&self, devices: &[usize]) -> Result<()> {
        self.lazy.warm_up(devices)
    }

    /// The kernel's name in the code.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.lazy.loader().name
    }

    /// How often this kernel was compiled and loaded so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.lazy.stats()
    }
}

impl Recipe {
    fn context(&self, device: usize) -> Result<Arc<CudaContext>> {
        if let Some(context) = self.contexts.lock().get(&device) {
            return Ok(context.clone());
        }
        let context = context(device)?;
        self.contexts.lock().insert(device, context.clone());
        Ok(context)
    }
}

impl Load for Recipe {
    /// Finished for the architecture, so that one link serves all devices of it.
    type Artifact = Prepared;
    type Kernel = Kernel;

    fn name(&self) -> &str {
        &self.name
    }

    fn arch(&self, device: usize) -> Result<Arch> {
        arch(&self.context(device)?)
    }

    fn compile(&self, arch: Arch) -> Result<Prepared> {
        let code = (self.compile)(arch)?;
        prepare(Driver::get()?, arch, (&code).into(), &self.options)
    }

    fn load(&self, device: usize, prepared: &Prepared) -> Result<Kernel> {
        Module::load_prepared(&self.context(device)?, prepared.clone())?.kernel(&self.name)
    }

    fn keep_current(&self) -> Result<impl Sized> {
        Ok(AsBefore::note(Driver::get()?))
    }
}

impl fmt::Debug for LazyKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyKernel")
            .field("name", &self.name())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
