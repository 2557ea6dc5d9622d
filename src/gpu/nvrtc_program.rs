//! From a program in CUDA C++ to a loaded module in one call.

use std::sync::Arc;

use super::context::Place;
use super::cudarc::driver::CudaContext;
use super::load::{LoadOptions, LoadPolicy};
use super::module::Module;
use super::prepare::{Prepared, is_of_a_later_major, prepare};
use crate::arch::Arch;
use crate::artifact::{Cubin, Ptx};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::Result;
use crate::nvrtc::{Options, Program};

impl Program {
    /// Compiles the program for a context's device and loads it, by the defaults.
    ///
    /// # Errors
    ///
    /// As for [`load_with`](Program::load_with).
    pub fn load(&self, context: &Arc<CudaContext>) -> Result<Module> {
        self.load_with(context, |options| options, &LoadOptions::default())
    }

    /// Compiles the program for a context's device and loads it.
    ///
    /// `compile` is given the library's default options for the device and returns those to use. A
    /// cubin is made, unless the driver is to finish the code or is of an earlier major version than
    /// NVRTC, or the code is relocatable. Where NVRTC does not know the device, PTX is made for the
    /// newest architecture that runs on it. Kernels are found by the names in the code,
    /// which [`Module::kernel_names`] has, and by the name expressions that were asked for.
    ///
    /// ```no_run
    /// # use cuda_program::{Toolkit, gpu, nvrtc};
    /// # let source = "extern \"C\" __global__ void k(int *p) { *p = 1; }";
    /// # let program = nvrtc::Program::new(&Toolkit::discover()?, "k.cu", source)?;
    /// let context = gpu::context(0)?;
    /// let fast = |mut options: nvrtc::Options| {
    ///     options.code.fast_math = true;
    ///     options
    /// };
    /// let module = program.load_with(&context, fast, &Default::default())?;
    /// let kernel = module.kernel("k")?;
    /// # Ok::<(), cuda_program::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Program::compile`] and for [`Module::load_with`].
    pub fn load_with(
        &self,
        context: &Arc<CudaContext>,
        compile: impl FnOnce(Options) -> Options,
        load: &LoadOptions,
    ) -> Result<Module> {
        let place = Place::of(context)?;
        let prepared = self.prepare_for(&place, compile, load)?;
        Module::install(place, prepared)
    }

    /// What the driver is given.
    pub(super) fn prepare_for(
        &self,
        place: &Place,
        compile: impl FnOnce(Options) -> Options,
        load: &LoadOptions,
    ) -> Result<Prepared> {
        let device = place.arch()?;
        let (arch, mut notes) = self.arch_for(device)?;
        let options = compile(Options::new(arch));
        let mut load = load.clone();
        load.toolkit = load.toolkit.or_else(|| Some(self.toolkit().clone()));
        let finished = options.arch.number() == device.number()
            && !options.code.relocatable
            && match load.policy {
                LoadPolicy::Auto => !is_of_a_later_major(self.library(), place.driver),
                LoadPolicy::Driver => false,
                LoadPolicy::Cubin => true,
            };
        let mut prepared = if finished {
            let cubin: Cubin = self.compile(&options)?;
            prepare(place.driver, device, (&cubin).into(), &load)?
        } else {
            let ptx: Ptx = self.compile(&options)?;
            prepare(place.driver, device, (&ptx).into(), &load)?
        };
        prepared.diagnostics.append(&mut notes);
        Ok(prepared)
    }

    /// The architecture to compile for: the device's, or the newest that runs there.
    fn arch_for(&self, device: Arch) -> Result<(Arch, Vec<Diagnostic>)> {
        let known = self.supported_archs()?;
        if known.contains(&device.number()) {
            return Ok((device, Vec::new()));
        }
        let older = Arch::KNOWN.iter().rfind(|arch| {
            arch.suffix() == crate::arch::Suffix::None
                && known.contains(&arch.number())
                && arch.ptx_runs_on(device)
        });
        // None at all is the compiler's to report, with what it knows.
        let arch = older.copied().unwrap_or(device);
        let note = format!(
            "compiled for {}, the newest that {} knows of those that run on {device}",
            arch.compute(),
            self.library()
        );
        Ok((arch, vec![Diagnostic::new(Severity::Note, note)]))
    }
}
