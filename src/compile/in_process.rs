//! Running a job on the libraries of this process.

use super::job::{Cpp, Emit, Job, Link, Nvvm, Source};
use super::output::Output;
use crate::error::Result;
use crate::link::Linker;
use crate::toolkit::Toolkit;
use crate::{nvrtc, nvvm};

/// What runs jobs.
pub trait Compiler: Send + Sync {
    /// Runs a job.
    ///
    /// # Errors
    ///
    /// As the compilation itself.
    fn compile(&self, job: &Job) -> Result<Output>;
}

/// Runs jobs in this process, on the calling thread.
#[derive(Debug, Clone)]
pub struct InProcess {
    toolkit: Toolkit,
}

impl InProcess {
    /// Over the libraries of a toolkit.
    #[must_use]
    pub fn new(toolkit: &Toolkit) -> Self {
        InProcess {
            toolkit: toolkit.clone(),
        }
    }
}

impl Compiler for InProcess {
    fn compile(&self, job: &Job) -> Result<Output> {
        match &job.source {
            Source::Nvvm(nvvm) => self.nvvm(nvvm, job.emit),
            Source::Cpp(cpp) => self.cpp(cpp, job.emit),
            Source::Link(link) => self.link(link, job.emit),
        }
    }
}

/// Calls a compilation that is generic over what it makes.
macro_rules! emit {
    ($emit:expr, $compile:expr) => {
        match $emit {
            Emit::Ptx => $compile.map(Output::Ptx),
            Emit::LtoIr => $compile.map(Output::LtoIr),
            Emit::Cubin => $compile.map(Output::Cubin),
        }
    };
}

impl InProcess {
    fn nvvm(&self, job: &Nvvm, emit: Emit) -> Result<Output> {
        let program = nvvm::Program::new(&self.toolkit)?;
        for module in &job.modules {
            if module.lazy {
                program.add_lazy_module(&module.name, &module.ir)?;
            } else {
                program.add_module(&module.name, &module.ir)?;
            }
        }
        program.set_libdevice(job.libdevice.clone())?;
        emit!(emit, program.compile(&job.options))
    }

    fn cpp(&self, job: &Cpp, emit: Emit) -> Result<Output> {
        let program = nvrtc::Program::new(&self.toolkit, &job.name, &job.source)?;
        for header in &job.headers {
            program.add_header(&header.name, &header.text)?;
        }
        for name in &job.names {
            program.add_name_expression(name)?;
        }
        emit!(emit, program.compile(&job.options))
    }

    fn link(&self, job: &Link, emit: Emit) -> Result<Output> {
        let mut linker = Linker::new(&self.toolkit, job.arch).options(job.options.clone());
        for input in &job.inputs {
            linker = linker.add_bytes(&input.name, input.kind, &input.bytes);
        }
        emit!(emit, linker.link())
    }
}
