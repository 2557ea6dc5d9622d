//! From the library's bytes to an artifact: success is a claim, and is checked.

use std::collections::BTreeMap;

use super::check::Plan;
use crate::arch::Arch;
use crate::artifact::{Artifact, Cubin, LtoIr, Ptx};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Library, Result};

/// What a [`Linker`](super::Linker) links to: [`Cubin`], [`Ptx`] or [`LtoIr`].
pub trait Output: Artifact + sealed::Finish {}

impl<T: Artifact + sealed::Finish> Output for T {}

/// What a kernel may declare of shared memory, in bytes; the driver loads none that declares more.
const STATIC_SHARED: u64 = 48 * 1024;

/// What was asked for, for the check of what came.
pub struct Context<'a> {
    pub(super) plan: &'a Plan,
    pub(super) arch: Arch,
    pub(super) relocatable: bool,
    pub(super) library: &'a Library,
    /// What name expressions and respelt names of the inputs became.
    pub(super) lowered: BTreeMap<String, String>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Context<'_> {
    fn wrong(self, problem: String, hint: &str) -> Error {
        Error::WrongOutput {
            problem,
            hint: hint.to_owned(),
            library: self.library.clone(),
            diagnostics: self.diagnostics,
        }
    }

    /// The library said no error beside its success: the driver would refuse what came of one.
    fn check_said(self) -> Result<Self> {
        let mut said = self.diagnostics.iter();
        match said.find(|said| said.severity == Severity::Error) {
            None => Ok(self),
            Some(error) => {
                let problem = format!("it said: {}", error.without_severity());
                let hint = error.hint.clone();
                let hint = hint
                    .as_deref()
                    .unwrap_or("mend the input that it speaks of");
                Err(self.wrong(problem, hint))
            }
        }
    }

    /// Every kernel that the inputs promised is there.
    fn check_kernels(self, has: impl Fn(&str) -> bool) -> Result<Self> {
        let missing = self.plan.kernels.iter().filter(|name| !has(name));
        let kernels: Vec<String> = missing.cloned().collect();
        if kernels.is_empty() {
            return Ok(self);
        }
        Err(Error::KernelsDropped {
            kernels,
            library: self.library.clone(),
            diagnostics: self.diagnostics,
        })
    }
}

pub(super) mod sealed {
    /// How bytes of the library become the artifact.
    pub trait Finish: Sized {
        /// What is fetched.
        const FETCH: crate::sys::Fetch;

        /// Checks what came and makes the artifact.
        fn finish(bytes: Vec<u8>, context: super::Context<'_>) -> crate::error::Result<Self>;
    }
}

impl sealed::Finish for Cubin {
    const FETCH: crate::sys::Fetch = crate::sys::Fetch::Cubin;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        let size = bytes.len();
        let cubin = match Cubin::from_bytes(bytes) {
            Ok(cubin) => cubin,
            Err(e) => {
                let problem = format!("its {size} bytes are no cubin: {e}");
                return Err(context.wrong(problem, "see that an input defines a kernel"));
            }
        };
        let context = context.check_kernels(|name| cubin.kernel(name).is_some())?;
        if context.relocatable {
            let context = context.check_said()?;
            return Ok(cubin
                .with_lowered_names(context.lowered)
                .with_diagnostics(context.diagnostics));
        }
        if !cubin.undefined().is_empty() {
            let names = cubin.undefined().iter().map(|symbol| symbol.name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            let problem = format!("the cubin refers to {names}, which no input defines");
            return Err(context.wrong(problem, "add the input that defines it"));
        }
        // Nobody may have said which kernels LTO IR has, and other inputs may have brought none of their
        // code; that there is none at all is seen here.
        if !cubin.defines() && cubin.kernels().is_empty() {
            let hint = if context.plan.lto {
                "link LTO IR that defines a kernel: one of libNVVM must name it in `@llvm.used`, as \
                 `nvvm::Program` sees to"
            } else {
                "link inputs with relocatable device code (-rdc=true of nvcc) that define a kernel"
            };
            return Err(context.wrong("the cubin has nothing in it".to_owned(), hint));
        }
        let greedy = cubin
            .kernels()
            .iter()
            .find(|k| k.shared_bytes > STATIC_SHARED);
        if let Some(kernel) = greedy {
            let problem = format!(
                "the kernel {} declares {} bytes of shared memory, and {STATIC_SHARED} is what every \
                 launch can have",
                kernel.name, kernel.shared_bytes
            );
            let hint = "declare less, or declare it `extern` and ask for it at the launch";
            return Err(context.wrong(problem, hint));
        }
        let context = context.check_said()?;
        Ok(cubin
            .with_lowered_names(context.lowered)
            .with_diagnostics(context.diagnostics))
    }
}

impl sealed::Finish for Ptx {
    const FETCH: crate::sys::Fetch = crate::sys::Fetch::Ptx;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        let ptx = match Ptx::from_bytes(bytes) {
            Ok(ptx) => ptx,
            Err(e) => {
                return Err(context.wrong(
                    format!("its PTX cannot be read: {e}"),
                    "see whether a name in the inputs holds a character that PTX cannot spell",
                ));
            }
        };
        let context = context
            .check_kernels(|name| ptx.kernel(name).is_some())?
            .check_said()?;
        Ok(ptx
            .with_lowered_names(context.lowered)
            .with_diagnostics(context.diagnostics))
    }
}

impl sealed::Finish for LtoIr {
    const FETCH: crate::sys::Fetch = crate::sys::Fetch::LtoIr;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        let kernels = context.plan.kernels.clone();
        match LtoIr::new("LTO IR", bytes, kernels, Some(context.arch)) {
            Ok(mut lto) => {
                if context.plan.kernels_known {
                    lto = lto.with_kernels(context.plan.kernels.iter());
                }
                Ok(lto
                    .with_lowered_names(context.lowered)
                    .with_diagnostics(context.diagnostics))
            }
            Err(e) => Err(context.wrong(
                format!("its LTO IR cannot be read: {e}"),
                "report it with the inputs that show it",
            )),
        }
    }
}
