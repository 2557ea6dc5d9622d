//! A module: code that is loaded.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::context::Place;
use super::cudarc::driver::CudaContext;
use super::global::{Bits, Global};
use super::kernel::Kernel;
use super::load::{Image, LoadOptions};
use super::near::nearest;
use super::prepare::{Prepared, lost, prepare};
use crate::diagnostic::{Diagnostic, Severity, ptxas};
use crate::error::{Error, InvalidInput, Result};
use crate::sys::cuda::{Failure, RawKernel, RawLibrary, consts};

/// Code that is loaded into a context; a clone is cheap and stands for the same code.
///
/// Dropping a module does not unload it: a launch may be in flight that nothing here knows of. Its
/// device memory goes with the context, and the driver's copy of the code with the process.
/// [`unload`](Module::unload) gives both back at once.
#[derive(Clone)]
pub struct Module {
    pub(super) loaded: Arc<Loaded>,
}

/// What kernels and globals keep alive.
pub(super) struct Loaded {
    pub(super) place: Place,
    pub(super) library: ManuallyDrop<RawLibrary>,
    /// In the order of the code; empty where nobody knows.
    kernels: Vec<String>,
    lowered: BTreeMap<String, String>,
    diagnostics: Vec<Diagnostic>,
}

impl Module {
    /// Loads code into a context, by the default [`LoadOptions`].
    ///
    /// # Errors
    ///
    /// As for [`load_with`](Module::load_with).
    #[doc(alias = "cuLibraryLoadData")]
    #[doc(alias = "cuModuleLoadData")]
    pub fn load<'a>(context: &Arc<CudaContext>, image: impl Into<Image<'a>>) -> Result<Self> {
        Module::load_with(context, image, &LoadOptions::default())
    }

    /// Loads code into a context.
    ///
    /// # Errors
    ///
    /// [`Error::PtxTooNew`] for PTX that the driver does not read and nvJitLink could not finish;
    /// [`Error::InvalidInput`] for PTX of another architecture; [`Error::Library`] where nvJitLink
    /// fails; [`Error::Driver`] with the driver's log where it refuses the code, also where it
    /// reports success; [`Error::WrongOutput`] where a link lost a kernel; [`Error::Unsupported`]
    /// with a driver before CUDA 12.0.
    pub fn load_with<'a>(
        context: &Arc<CudaContext>,
        image: impl Into<Image<'a>>,
        options: &LoadOptions,
    ) -> Result<Self> {
        let place = Place::of(context)?;
        let prepared = prepare(place.driver, place.arch()?, image.into(), options)?;
        Module::install(place, prepared)
    }

    /// Loads what is prepared into a context.
    pub(super) fn load_prepared(context: &Arc<CudaContext>, prepared: Prepared) -> Result<Self> {
        Module::install(Place::of(context)?, prepared)
    }

    /// Loads what is prepared and sees whether it is there.
    pub(super) fn install(place: Place, prepared: Prepared) -> Result<Self> {
        let driver = place.driver;
        let Prepared {
            code,
            mut kernels,
            linked,
            linker,
            lowered,
            mut diagnostics,
        } = prepared;
        // The code is PTX wherever the driver speaks of a line.
        let failed = |failure, name: Option<&str>, log: &[u8]| {
            let error = driver.error_on(failure, name, log);
            error.marked(&|module| (module == ptxas::INPUT).then_some(&code))
        };
        let _current = place.enter()?;
        let loaded = RawLibrary::load(driver.api, &code).map_err(|e| driver.error(e))?;
        let library = loaded.library.map_err(|e| failed(e, None, &loaded.error))?;
        if kernels.is_empty() {
            kernels = library.kernel_names().unwrap_or_default();
        }
        // All of them after a link, which may drop some without a word; else one tells.
        let asked = if linked { kernels.len() } else { 1 };
        for (n, name) in kernels.iter().take(asked).enumerate() {
            let got = cstring(name).and_then(|c| match library.kernel(&c) {
                // Only this loads the code into the context, and shows what is wrong with it.
                Ok(kernel) if n == 0 => library
                    .function(kernel)
                    .map(drop)
                    .map_err(|e| failed(e, Some(name), &library.logs().1)),
                Ok(_) => Ok(()),
                Err(Failure::Code { code, .. }) if code == consts::ERROR_NOT_FOUND && linked => {
                    Err(lost(name, linker.as_ref().unwrap_or(&driver.library), &[]))
                }
                Err(e) => Err(failed(e, Some(name), &library.logs().1)),
            });
            got?;
        }
        let (info, error) = library.logs();
        if error.iter().any(|byte| !byte.is_ascii_whitespace()) {
            let said = Failure::Code {
                call: "cuLibraryLoadData",
                code: consts::SUCCESS,
            };
            return Err(failed(said, None, &error));
        }
        diagnostics.extend(ptxas::parse(&crate::nvvm::escaped(&info), Severity::Note));
        tracing::debug!(kernels = kernels.len(), "loaded");
        Ok(Module {
            loaded: Arc::new(Loaded {
                place: place.clone(),
                library: ManuallyDrop::new(library),
                kernels,
                lowered,
                diagnostics,
            }),
        })
    }

    /// A kernel by name, as it stands in the code (mangled, where C++ mangles), or by what the artifact
    /// knows it as: a name expression such as `add<float>`, or the name before a repair respelt it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for a name that no kernel has, with those there are, the nearest
    /// first; [`Error::Driver`] where the driver cannot load the kernel.
    #[doc(alias = "cuLibraryGetKernel")]
    #[doc(alias = "cuModuleGetFunction")]
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let Loaded { place, library, .. } = &*self.loaded;
        let driver = place.driver;
        let _current = place.enter()?;
        let (kernel, name): (RawKernel, &str) =
            self.found(name, "kernel", |name| library.kernel(name))?;
        let function = library
            .function(kernel)
            .map_err(|e| driver.error_on(e, Some(name), &library.logs().1))?;
        Ok(Kernel::new(self.loaded.clone(), name, kernel, function))
    }

    /// The names of the kernels, as they stand in the code that was loaded.
    #[must_use]
    #[doc(alias = "cuLibraryEnumerateKernels")]
    pub fn kernel_names(&self) -> &[String] {
        &self.loaded.kernels
    }

    /// A variable of the device or of constant memory, by name, as elements of `T`; by which names, see
    /// [`kernel`](Module::kernel).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for a name that no variable has, and for a variable whose size is no
    /// multiple of `T`'s.
    #[doc(alias = "cuLibraryGetGlobal")]
    #[doc(alias = "cuModuleGetGlobal")]
    pub fn global<T: Bits>(&self, name: &str) -> Result<Global<T>> {
        let Loaded { place, library, .. } = &*self.loaded;
        let _current = place.enter()?;
        let ((address, bytes), name) = self.found(name, "variable", |name| library.global(name))?;
        Global::new(self.loaded.clone(), name, address, bytes)
    }

    /// What was said while the code was made and loaded, and by which way it went.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.loaded.diagnostics
    }

    /// Waits for the context's work, and unloads.
    ///
    /// A graph that captured a launch keeps no module: whoever captured it has promised, by the safety
    /// section of [`Kernel::launch`], to be done with it.
    ///
    /// # Errors
    ///
    /// [`NotUnloaded`], with the module, while a kernel, a global or a clone of the module is there,
    /// and when the context's work failed.
    #[doc(alias = "cuLibraryUnload")]
    pub fn unload(self) -> Result<(), NotUnloaded> {
        let loaded = match Arc::try_unwrap(self.loaded) {
            Ok(loaded) => loaded,
            Err(shared) => {
                let users = Arc::strong_count(&shared).saturating_sub(1);
                return Err(NotUnloaded {
                    error: InvalidInput {
                        input: "module".to_owned(),
                        line: None,
                        snippet: None,
                        problem: format!("it is still used, {users} times"),
                        hint: "drop its kernels, globals and clones first".to_owned(),
                    }
                    .into(),
                    module: Some(Module { loaded: shared }),
                });
            }
        };
        let driver = loaded.place.driver;
        let waited = loaded
            .place
            .enter()
            .and_then(|_current| driver.api.synchronize().map_err(|e| driver.error(e)));
        if let Err(error) = waited {
            let loaded = Arc::new(loaded);
            return Err(NotUnloaded {
                error,
                module: Some(Module { loaded }),
            });
        }
        let library = ManuallyDrop::into_inner(loaded.library);
        library.unload().map_err(|e| NotUnloaded {
            error: driver.error(e),
            module: None,
        })
    }

    /// What the code has under a name, or under the name that this one became, and which it was.
    fn found<'a, R>(
        &'a self,
        name: &'a str,
        what: &str,
        get: impl Fn(&CString) -> std::result::Result<R, Failure>,
    ) -> Result<(R, &'a str)> {
        let is_absent = |failure: &Failure| matches!(failure, Failure::Code { code, .. } if *code == consts::ERROR_NOT_FOUND);
        match (get(&cstring(name)?), self.loaded.lowered.get(name)) {
            (Ok(got), _) => Ok((got, name)),
            (Err(failure), Some(lowered)) if is_absent(&failure) => get(&cstring(lowered)?)
                .map(|got| (got, lowered.as_str()))
                .map_err(|e| self.not_got(e, name, what)),
            (Err(failure), _) => Err(self.not_got(failure, name, what)),
        }
    }

    fn not_got(&self, failure: Failure, name: &str, what: &str) -> Error {
        let driver = self.loaded.place.driver;
        match failure {
            Failure::Code { code, .. } if code == consts::ERROR_NOT_FOUND => {
                let Loaded {
                    kernels, lowered, ..
                } = &*self.loaded;
                let is_kernel = |(name, became): &(&String, &String)| {
                    kernels.contains(became) && !kernels.contains(name)
                };
                let others = lowered.iter().filter(is_kernel).map(|(name, _)| name);
                let names: Vec<String> = kernels.iter().chain(others).cloned().collect();
                let hint = match (what, nearest(name, &names, 10).as_slice()) {
                    ("kernel", []) => "its kernels are not known by name here".to_owned(),
                    ("kernel", names) => format!("it has {}", names.join(", ")),
                    _ => "it must be defined with external linkage, and used or kept".to_owned(),
                };
                InvalidInput {
                    input: name.to_owned(),
                    line: None,
                    snippet: None,
                    problem: format!("the module has no {what} of this name"),
                    hint,
                }
                .into()
            }
            _ => driver.error_on(failure, Some(name), &self.loaded.library.logs().1),
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("kernels", &self.loaded.kernels)
            .field("diagnostics", &self.loaded.diagnostics)
            .finish_non_exhaustive()
    }
}

/// A module that was not unloaded.
#[derive(Debug, thiserror::Error)]
#[error("the module was not unloaded: {error}")]
pub struct NotUnloaded {
    /// Why.
    pub error: Error,
    /// The module, as it was; none where the driver refused to unload it.
    pub module: Option<Module>,
}

impl From<NotUnloaded> for Error {
    fn from(e: NotUnloaded) -> Self {
        e.error
    }
}

pub(super) fn cstring(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| {
        InvalidInput {
            input: name.escape_debug().to_string(),
            line: None,
            snippet: None,
            problem: "the name holds a NUL byte".to_owned(),
            hint: "take it out".to_owned(),
        }
        .into()
    })
}
