//! A program: modules in, PTX or LTO IR out.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

use super::capabilities::Capabilities;
use super::checks::{self, Situation};
use super::dialect;
use super::failure::{self, Failure};
use super::handle::{Handle, Wanted};
use super::libdevice::{self, Libdevice};
use super::modules::{Module, Modules};
use super::options::Options;
use super::output::{self, Output};
use super::plan::Plan;
use super::reader::ModuleInfo;
use super::repair::{self, Repaired};
use crate::diagnostic::{Diagnostic, Severity, snippet};
use crate::error::{Error, InvalidInput, Result, Stage};
use crate::guard::{Guarded, guarded};
use crate::sync::Mutex;
use crate::sys::{Failed, Nvvm};
use crate::toolkit::{Opened, Toolkit};

/// NVVM IR modules that are compiled together, by libNVVM.
///
/// All methods take `&self`, and a program may be used from any number of threads: each waits for its
/// turn. Programs share nothing; as many compile at once as there are threads (libNVVM 12.0 alone
/// takes turns inside).
///
/// A program may be compiled again and again, with other options and for other architectures. The
/// program owns the ordered list of its modules: they may be added between compilations, replaced and
/// taken back, and a bad one spoils nothing beyond the calls made while it is there.
///
/// ```
/// use cuda_program::{Arch, Ptx, Toolkit, nvvm};
///
/// # fn main() -> cuda_program::Result<()> {
/// # /*
/// let toolkit = Toolkit::discover()?;
/// # */
/// # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
/// let program = nvvm::Program::new(&toolkit)?;
/// program.add_module("saxpy.ll", include_bytes!("../../fixtures/saxpy.ll"))?;
/// let ptx = program.compile::<Ptx>(&nvvm::Options::new(Arch::SM_90))?;
/// println!("{}", ptx.as_str());
/// # Ok(())
/// # }
/// ```
#[doc(alias = "nvvmProgram")]
pub struct Program {
    nvvm: Arc<Opened<Nvvm>>,
    /// The toolkit that libNVVM is of; none over another table.
    toolkit: Option<Toolkit>,
    /// Reads the libdevice beside libNVVM; called under the lock of `state`.
    beside: Box<dyn Fn() -> Result<Arc<[u8]>> + Send + Sync>,
    /// Guards the list of modules, the choice of libdevice, and the handle derived from them: one
    /// call works with the library at a time, and libdevice is added once in a handle's life.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    modules: Vec<Module>,
    next_id: u64,
    libdevice: Libdevice,
    /// The user's own libdevice, where that was chosen; it was found to be one.
    own: Option<Arc<[u8]>>,
    /// What was mended of them for the compilations before.
    mended: repair::Known,
    /// The handle for PTX and for verifying.
    plain: Option<Handle>,
    /// The handle for LTO IR, whose pins must not show in PTX.
    pinned: Option<Handle>,
}

impl Program {
    /// An empty program over the toolkit's libNVVM.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where there is no libNVVM, with every place that was tried.
    #[doc(alias = "nvvmCreateProgram")]
    pub fn new(toolkit: &Toolkit) -> Result<Self> {
        let nvvm = toolkit.nvvm()?.clone();
        let own = toolkit.clone();
        let mut program = Self::over(nvvm, move || Ok(own.libdevice()?.bytes.clone()));
        program.toolkit = Some(toolkit.clone());
        Ok(program)
    }

    /// A program over any function table.
    pub(crate) fn over(
        nvvm: Arc<Opened<Nvvm>>,
        beside: impl Fn() -> Result<Arc<[u8]>> + Send + Sync + 'static,
    ) -> Self {
        Program {
            nvvm,
            toolkit: None,
            beside: Box::new(beside),
            state: Mutex::new(State::default()),
        }
    }

    /// What the program's libNVVM can do.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::over(self.nvvm.clone())
    }

    /// The toolkit it was made over.
    #[must_use]
    pub fn toolkit(&self) -> Option<&Toolkit> {
        self.toolkit.as_ref()
    }

    /// Adds a module, as text or as bitcode, told apart by content. The bytes are copied.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where the bytes are no NVVM IR (empty, another kind of file, damaged
    /// bitcode), for another platform, where they hold what no libNVVM survives (malformed annotations
    /// or data layouts, debug metadata that leads back to itself, inline assembly that no register
    /// fits), where the name holds a NUL byte, or where a module of that name is there already. The
    /// program stays as it was.
    #[doc(alias = "nvvmAddModuleToProgram")]
    pub fn add_module(&self, name: impl AsRef<str>, ir: impl AsRef<[u8]>) -> Result<()> {
        self.add(name.as_ref(), ir.as_ref(), false)
    }

    /// Adds a module of which only what other modules use is compiled, as a library of functions. It
    /// must be bitcode.
    ///
    /// # Errors
    ///
    /// As for [`add_module`](Program::add_module), and for text. Bitcode that cannot be read to its
    /// end is refused: the library would end the process.
    #[doc(alias = "nvvmLazyAddModuleToProgram")]
    pub fn add_lazy_module(&self, name: impl AsRef<str>, bitcode: impl AsRef<[u8]>) -> Result<()> {
        self.add(name.as_ref(), bitcode.as_ref(), true)
    }

    fn add(&self, name: &str, bytes: &[u8], lazy: bool) -> Result<()> {
        // Looked at before the lock is taken: a large module must not keep others waiting.
        let module = Module::read(0, name, bytes.into(), lazy)?;
        let mut state = self.state.lock();
        if state.modules.iter().any(|there| there.name() == name) {
            return Err(InvalidInput {
                input: name.to_owned(),
                line: None,
                snippet: None,
                problem: "the program has a module of this name already".to_owned(),
                hint: "replace it with `replace_module`, or give this one another name".to_owned(),
            }
            .into());
        }
        let id = state.new_id();
        state.modules.push(Module { id, ..module });
        Ok(())
    }

    /// Puts other bytes in the place of a module. It stays lazy if it was.
    ///
    /// # Errors
    ///
    /// As for [`add_module`](Program::add_module), and where there is no module of that name. The
    /// program stays as it was.
    pub fn replace_module(&self, name: impl AsRef<str>, ir: impl AsRef<[u8]>) -> Result<()> {
        let name = name.as_ref();
        let lazy = {
            let state = self.state.lock();
            let at = state.position(name)?;
            state.modules.get(at).is_some_and(|module| module.lazy)
        };
        let module = Module::read(0, name, ir.as_ref().into(), lazy)?;
        let mut state = self.state.lock();
        let at = state.position(name)?;
        let id = state.new_id();
        if let Some(place) = state.modules.get_mut(at) {
            *place = Module { id, ..module };
        }
        Ok(())
    }

    /// Takes a module back.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where there is no module of that name; it lists those there are.
    pub fn remove_module(&self, name: impl AsRef<str>) -> Result<()> {
        let mut state = self.state.lock();
        let at = state.position(name.as_ref())?;
        state.modules.remove(at);
        Ok(())
    }

    /// The modules by name, in their order, with what was read of each.
    #[must_use]
    pub fn modules(&self) -> Vec<(String, Arc<ModuleInfo>)> {
        let state = self.state.lock();
        state
            .modules
            .iter()
            .map(|module| (module.name().to_owned(), module.info.clone()))
            .collect()
    }

    /// Says where the functions `__nv_*` come from. Default: [`Libdevice::Auto`].
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where bytes of one's own are no libdevice: damaged, no bitcode, or
    /// without a single `__nv_*` function. The choice made before stands then.
    pub fn set_libdevice(&self, libdevice: Libdevice) -> Result<()> {
        let own = match &libdevice {
            Libdevice::Bytes(bytes) => {
                libdevice::check(bytes).map_err(|problem| InvalidInput {
                    input: "libdevice".to_owned(),
                    line: None,
                    snippet: None,
                    problem,
                    hint:
                        "give the content of NVIDIA's libdevice.10.bc, or of bitcode that defines \
                           `__nv_*` functions as it does"
                            .to_owned(),
                })?;
                Some(bytes.clone())
            }
            _ => None,
        };
        let mut state = self.state.lock();
        state.libdevice = libdevice;
        state.own = own;
        Ok(())
    }

    /// Asks libNVVM to verify the program without compiling it; returns what it said.
    ///
    /// Compiling is the authority: libNVVM refuses here what it compiles (some atomics for
    /// compute_100), and passes what it then refuses. On some malformed modules its verifier ends the
    /// process; what strangers send is verified in a process of its own.
    ///
    /// # Errors
    ///
    /// As for [`compile`](Program::compile).
    #[doc(alias = "nvvmVerifyProgram")]
    pub fn verify(&self, options: &Options) -> Result<Vec<Diagnostic>> {
        let mut state = self.state.lock();
        self.run(&mut state, options, false, |handle, flags, guard| {
            handle
                .raw
                .verify(flags, guard)
                .map_err(|code| (Stage::Verify, code))
        })
        .map(|done| done.diagnostics)
    }

    /// Compiles the program to PTX, to LTO IR, or, with nvJitLink behind it, to a cubin.
    ///
    /// What the compiler said besides is in the artifact's diagnostics. A program that is compiled to
    /// LTO IR has its kernels pinned, so that a later link keeps them.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOptions`] for options that exclude each other; [`Error::InvalidInput`] for a
    /// program without a module to compile, and for a module that this library would end the process
    /// at, misread or refuse in riddles, and that [`Options::repair`] does not mend;
    /// [`Error::Dialect`] for a module that is newer than the
    /// library reads; [`Error::Library`] with code, log and options where libNVVM fails;
    /// [`Error::Unresolved`] where PTX refers to what nothing defines and
    /// [`Options::externals`] does not allow; [`Error::WrongOutput`] where success is reported for
    /// something else than was asked for. The program can be used afterwards.
    #[doc(alias = "nvvmCompileProgram")]
    #[doc(alias = "nvvmGetCompiledResult")]
    pub fn compile<T: Output>(&self, options: &Options) -> Result<T> {
        let mut state = self.state.lock();
        let done = self.run(&mut state, options, T::LTO, |handle, flags, guard| {
            handle
                .raw
                .compile(flags, guard)
                .map_err(|code| (Stage::Compile, code))?;
            handle
                .raw
                .result(guard)
                .map_err(|code| (Stage::Fetch, code))
        })?;
        drop(state);
        // Behind the lock: a subscriber may use the program.
        tracing::debug!(arch = %options.arch, kind = T::KIND, "compiled");
        T::finish(
            done.value,
            output::Context {
                options,
                plan: done.plan,
                library: &self.nvvm.library,
                toolkit: self.toolkit.as_ref(),
                diagnostics: done.diagnostics,
            },
        )
    }

    /// Brings the handle to what the options need and calls the library.
    fn run<R>(
        &self,
        state: &mut State,
        options: &Options,
        lto: bool,
        call: impl FnOnce(&mut Handle, &[CString], &Guarded) -> Result<R, (Stage, Failed)>,
    ) -> Result<Done<R>> {
        options.check(lto)?;
        Modules(&state.modules).check_not_empty()?;
        guarded(|guard| {
            let choice = dialect::choose(options, &state.modules, &self.nvvm, guard)?;
            let situation = Situation::new(options, &choice, lto, &self.nvvm, guard);
            let mut next_id = state.next_id;
            let Repaired {
                modules,
                notes,
                names: respelt,
            } = repair::mend(&situation, &state.modules, &mut state.mended, &mut || {
                next_id += 1;
                next_id
            });
            state.next_id = next_id;
            checks::program(&situation, &modules)?;
            let mut plan = Plan::new(
                options,
                lto,
                &modules,
                state.libdevice_from(),
                choice,
                respelt,
            )?;
            plan.notes.extend(notes);
            let wanted = Wanted {
                modules: Modules(&modules).in_order(),
                libdevice: self.libdevice(state)?,
                pins: if lto {
                    plan.pins.clone()
                } else {
                    BTreeSet::new()
                },
            };
            // Without a pin both are the same, and one serves.
            let slot = if wanted.pins.is_empty() {
                &mut state.plain
            } else {
                &mut state.pinned
            };
            let handle = Handle::bring(slot, self.nvvm.api, &wanted, guard)
                .map_err(|failed| failure::not_made(&self.nvvm, failed, &plan))?;
            let result = call(handle, &plan.flags, guard);
            let log = super::log::text(&handle.raw.log(guard));
            let names = Modules(&modules).names();
            let notes = std::mem::take(&mut plan.notes);
            match (result, plan.suspicion.take()) {
                (Ok(value), _) => {
                    let mut diagnostics = notes;
                    diagnostics.extend(super::log::parse(&log, &names, Severity::Warning));
                    snippet::mark(&mut diagnostics, &|name| Modules(&modules).text(name));
                    Ok(Done {
                        value,
                        plan,
                        diagnostics,
                    })
                }
                (Err(_), Some(Error::Dialect(mut dialect))) => {
                    dialect.log = log;
                    Err(Error::Dialect(dialect))
                }
                (Err((stage, code)), _) => {
                    let failure = Failure {
                        nvvm: &self.nvvm,
                        stage,
                        code,
                        log,
                        notes,
                        options: plan.shown(),
                    };
                    // By the text that the library saw, whose lines it counts.
                    let error = failure.of(options.arch, &modules, guard);
                    Err(error.marked(&|name| Modules(&modules).text(name)))
                }
            }
        })?
        .map_err(|error| error.marked(&|name| Modules(&state.modules).text(name)))
    }

    /// The libdevice to add, if any.
    fn libdevice(&self, state: &State) -> Result<Option<Arc<[u8]>>> {
        let needed = match state.libdevice {
            Libdevice::Never => false,
            Libdevice::Always => true,
            Libdevice::Auto | Libdevice::Bytes(_) => Modules(&state.modules).need_libdevice(),
        };
        if !needed {
            return Ok(None);
        }
        match &state.own {
            Some(own) => Ok(Some(own.clone())),
            None => (self.beside)().map(Some),
        }
    }
}

/// What a call brought.
struct Done<R> {
    value: R,
    plan: Plan,
    diagnostics: Vec<Diagnostic>,
}

impl State {
    fn libdevice_from(&self) -> output::LibdeviceFrom {
        match self.libdevice {
            Libdevice::Never => output::LibdeviceFrom::Nowhere,
            Libdevice::Bytes(_) => output::LibdeviceFrom::Own,
            Libdevice::Auto | Libdevice::Always => output::LibdeviceFrom::Beside,
        }
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn position(&self, name: &str) -> Result<usize> {
        self.modules
            .iter()
            .position(|module| module.name() == name)
            .ok_or_else(|| {
                let names = Modules(&self.modules).names();
                InvalidInput {
                    input: name.to_owned(),
                    line: None,
                    snippet: None,
                    problem: "the program has no module of this name".to_owned(),
                    hint: if names.is_empty() {
                        "it has none at all".to_owned()
                    } else {
                        format!("it has {}", names.join(", "))
                    },
                }
                .into()
            })
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("library", &self.nvvm.library)
            .finish_non_exhaustive()
    }
}
