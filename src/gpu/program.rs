//! From an NVVM program to a loaded module in one call.

use std::sync::Arc;

use super::context::Place;
use super::cudarc::driver::CudaContext;
use super::load::{LoadOptions, LoadPolicy};
use super::module::Module;
use super::prepare::prepare;
use crate::arch::{Arch, Suffix};
use crate::artifact::Ptx;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Result};
use crate::nvvm::{Options, Program};

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
    /// `compile` is given the library's default options for the device and returns those to use. Where
    /// the library does not know the device, the newest architecture that runs on it is taken.
    ///
    /// ```no_run
    /// # use cuda_program::{Toolkit, gpu, nvvm};
    /// # let program = nvvm::Program::new(&Toolkit::discover()?)?;
    /// let context = gpu::context(0)?;
    /// let module = program.load_with(&context, |options| options.ftz(true), &Default::default())?;
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
        let device = place.arch()?;
        let (arch, mut notes) = self.arch_for(device)?;
        let options = compile(Options::new(arch));
        let mut load = load.clone();
        load.toolkit = load.toolkit.or_else(|| self.toolkit().cloned());

        let ptx: Ptx = self.compile(&options)?;
        let prepared = match prepare(place.driver, device, (&ptx).into(), &load) {
            // The driver reads older PTX alone, and nothing else can finish this: so older PTX.
            Err(Error::PtxTooNew(new))
                if load.policy == LoadPolicy::Auto && options.ptx_version.is_none() =>
            {
                let older = options.ptx_version(new.reads);
                let Ok(ptx) = self.compile::<Ptx>(&older) else {
                    return Err(Error::PtxTooNew(new));
                };
                notes.push(Diagnostic::new(
                    Severity::Note,
                    format!(
                        "compiled to PTX {} instead of {}, which {} does not read",
                        new.reads, new.ptx, new.driver
                    ),
                ));
                load.policy = LoadPolicy::Driver;
                prepare(place.driver, device, (&ptx).into(), &load)
            }
            prepared => prepared,
        };
        let mut prepared = prepared?;
        prepared.diagnostics.append(&mut notes);
        Module::install(place, prepared)
    }

    /// The architecture to compile for: the device's, or the newest that runs there.
    fn arch_for(&self, device: Arch) -> Result<(Arch, Vec<Diagnostic>)> {
        let capabilities = self.capabilities();
        if capabilities.llvm_version(device)?.is_some() {
            return Ok((device, Vec::new()));
        }
        let older = capabilities
            .supported_archs()?
            .into_iter()
            .rfind(|arch| arch.suffix() == Suffix::None && arch.ptx_runs_on(device));
        // None at all is the compiler's to report, with what it knows.
        let arch = older.unwrap_or(device);
        let note = format!(
            "compiled for {}, the newest that {} knows of those that run on {device}",
            arch.compute(),
            capabilities.library()
        );
        Ok((arch, vec![Diagnostic::new(Severity::Note, note)]))
    }
}
