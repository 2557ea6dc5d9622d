//! A program: CUDA C++ in, PTX, a cubin or LTO IR out.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::control::Control;
use super::options::{Options, PchMode};
use super::output::{Context, Output};
use super::{flags, headers, hints, log};
use crate::diagnostic::Severity;
use crate::error::{Error, InvalidInput, LibraryError, Result, Stage};
use crate::guard::{Guarded, guarded};
use crate::nvvm::escaped;
use crate::sync::Mutex;
use crate::sys::bindings::nvrtc::*;
use crate::sys::{Nvrtc, NvrtcFailed, RawNvrtc};
use crate::toolkit::{Opened, Toolkit};

/// A CUDA C++ source with its headers and name expressions, compiled by NVRTC.
///
/// All methods take `&self`, and a program may be used from any number of threads: each waits for
/// its turn. Programs share nothing. Each compilation has a handle of its own inside, so a program
/// may be compiled again with other options, headers and name expressions.
///
/// ```
/// use cuda_program::{Arch, Ptx, Toolkit, nvrtc};
///
/// # fn main() -> cuda_program::Result<()> {
/// # /*
/// let toolkit = Toolkit::discover()?;
/// # */
/// # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
/// let source = "template <class T> __global__ void add(T *p, T v) { *p += v; }";
/// let program = nvrtc::Program::new(&toolkit, "add.cu", source)?;
/// program.add_name_expression("add<float>")?;
/// let ptx = program.compile::<Ptx>(&nvrtc::Options::new(Arch::SM_90))?;
/// assert_eq!(ptx.kernel_for("add<float>").map(|k| k.parameters.len()), Some(2));
/// # Ok(())
/// # }
/// ```
#[doc(alias = "nvrtcProgram")]
pub struct Program {
    nvrtc: Arc<Opened<Nvrtc>>,
    name: CString,
    source: CString,
    /// Guards the headers and the names; held for the length of a compilation, so that a program
    /// compiles once at a time.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    headers: Vec<(CString, CString)>,
    names: BTreeSet<String>,
    pch: Option<PchStatus>,
}

/// What became of making a precompiled header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PchStatus {
    /// One was made.
    Created,
    /// None was asked for, or one was used.
    NotAttempted,
    /// The heap was too small for it, also after it was made larger.
    HeapExhausted,
    /// It could not be made.
    Failed,
}

impl PchStatus {
    fn of(code: nvrtcResult) -> Self {
        match code {
            NVRTC_SUCCESS => PchStatus::Created,
            NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED => PchStatus::NotAttempted,
            NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED => PchStatus::HeapExhausted,
            _ => PchStatus::Failed,
        }
    }
}

/// What an attempt brought.
struct Done {
    bytes: Vec<u8>,
    log: String,
    lowered: BTreeMap<String, String>,
    pch: Option<PchStatus>,
}

struct NotDone {
    stage: Stage,
    code: NvrtcFailed,
    input: Option<String>,
    log: String,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

impl Program {
    /// A program of one source, over the toolkit's NVRTC. Messages and debugging information call it
    /// `name`. A byte order mark at its beginning is taken off.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where there is no NVRTC, with every place that was tried;
    /// [`Error::InvalidInput`] for a NUL byte in the source, and for a name that is empty or holds
    /// a control character, a quote or a backslash, which would break lines of the output.
    #[doc(alias = "nvrtcCreateProgram")]
    pub fn new(toolkit: &Toolkit, name: impl AsRef<str>, source: impl AsRef<str>) -> Result<Self> {
        let name = name.as_ref();
        let source = source.as_ref();
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        Ok(Program {
            nvrtc: toolkit.nvrtc()?.clone(),
            source: text(name, source)?,
            name: file_name(name)?,
            state: Mutex::default(),
        })
    }

    /// Adds a header in memory, which `#include` finds by this name before any folder is searched.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for a NUL byte, for a name as [`new`](Program::new) refuses it, and
    /// where there is a header of that name already.
    pub fn add_header(&self, name: impl AsRef<str>, source: impl AsRef<str>) -> Result<()> {
        let name = name.as_ref();
        let header = (file_name(name)?, text(name, source.as_ref())?);
        let mut state = self.state.lock();
        if state.headers.iter().any(|(there, _)| *there == header.0) {
            return Err(invalid(
                name,
                "the program has a header of this name already",
                "give this one another name",
            ));
        }
        state.headers.push(header);
        Ok(())
    }

    /// Asks for the name in the code of a kernel, function or variable, as in `add<float>` or
    /// `&table`; a template is instantiated by it. Artifacts made from now on know it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for an expression that is blank or holds a control character.
    #[doc(alias = "nvrtcAddNameExpression")]
    pub fn add_name_expression(&self, expression: impl AsRef<str>) -> Result<()> {
        let expression = expression.as_ref();
        // It becomes one line of a source that the library makes up.
        if expression.trim().is_empty() || expression.contains(char::is_control) {
            return Err(invalid(
                expression,
                "a name expression is one line that is not blank",
                "write it as in `add<float>`",
            ));
        }
        self.state.lock().names.insert(expression.to_owned());
        Ok(())
    }

    /// The architectures that the library compiles for, by number, as in 90.
    ///
    /// # Errors
    ///
    /// [`Error::Library`] where the library does not answer.
    #[doc(alias = "nvrtcGetSupportedArchs")]
    pub fn supported_archs(&self) -> Result<Vec<u16>> {
        let api = &self.nvrtc.api;
        api.archs().map_err(|code| self.no_answer(code))
    }

    /// What became of the precompiled header in the last compilation; none before it, and where the
    /// library has no precompiled headers.
    #[must_use]
    #[doc(alias = "nvrtcGetPCHCreateStatus")]
    pub fn pch_status(&self) -> Option<PchStatus> {
        self.state.lock().pch
    }

    /// Compiles to PTX, a cubin or LTO IR. Warnings are in the artifact's diagnostics.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArch`] for an architecture that the library does not know;
    /// [`Error::InvalidOptions`] and [`Error::Unsupported`] for options that cannot be honoured;
    /// [`Error::Library`] with code, log and options where the source does not compile;
    /// [`Error::WrongOutput`] where success is reported for something else than was asked for.
    #[doc(alias = "nvrtcCompileProgram")]
    pub fn compile<T: Output>(&self, options: &Options) -> Result<T> {
        self.compile_with(options, &Control::new())
    }

    /// As [`compile`](Program::compile), with what may end it early.
    ///
    /// # Errors
    ///
    /// As for `compile`; [`Error::Cancelled`] where it ended early, and [`Error::Unsupported`] where
    /// the library cannot end early: that needs NVRTC 12.9.
    ///
    /// # Panics
    ///
    /// Where the function of [`Control::stop_when`] panics, with that panic.
    #[doc(alias = "nvrtcSetFlowCallback")]
    pub fn compile_with<T: Output>(&self, options: &Options, control: &Control) -> Result<T> {
        let library = &self.nvrtc.library;
        let api = &self.nvrtc.api;
        if !control.is_empty() && api.nvrtcSetFlowCallback.is_none() {
            return Err(Error::Unsupported {
                what: "ending a compilation early".to_owned(),
                needs: "NVRTC 12.9 or newer".to_owned(),
                library: library.clone(),
            });
        }
        let version = api.major_minor().map_err(|code| self.no_answer(code))?;
        self.check_arch(options)?;
        let arch = if T::REAL {
            options.arch.sm()
        } else {
            options.arch.compute()
        };
        let mut flags = vec![format!("--gpu-architecture={arch}")];
        flags.extend(T::FLAGS.iter().map(|flag| (*flag).to_owned()));
        flags.extend(flags::flags(options, version, library)?);
        let mut searched = options.preprocessor.include_folders.clone();
        for folder in headers::behind(&self.nvrtc, &options.preprocessor)? {
            flags.push(format!("--include-path={}", folder.display()));
            searched.push(folder);
        }
        let flags = flags
            .iter()
            .map(|flag| text("an option", flag))
            .collect::<Result<Vec<_>>>()?;

        let mut state = self.state.lock();
        if let Some(reason) = control.reason() {
            return Err(cancelled(reason));
        }
        let attempt =
            || guarded(|guard| self.attempt::<T>(&state, &flags, control, options, guard));
        let mut done = attempt()?;
        if let Ok((_, true)) = &done {
            done = attempt()?;
        }
        match done {
            Ok((done, _)) => {
                state.pch = done.pch;
                drop(state);
                // Behind the lock: a subscriber may use the program.
                tracing::debug!(arch = %options.arch, kind = T::KIND, "compiled");
                T::finish(
                    done.bytes,
                    Context {
                        arch: options.arch,
                        library,
                        lowered: done.lowered,
                        diagnostics: log::parse(&done.log, Severity::Warning),
                    },
                )
            }
            Err(failed) => {
                drop(state);
                if let Some(panic) = failed.panic {
                    std::panic::resume_unwind(panic);
                }
                Err(self.failed(failed, &flags, &searched, control))
            }
        }
    }

    /// One handle from making to freeing; true where a larger heap would give a precompiled header.
    fn attempt<T: Output>(
        &self,
        state: &State,
        flags: &[CString],
        control: &Control,
        options: &Options,
        guard: &Guarded,
    ) -> Result<(Done, bool), NotDone> {
        let early = |stage, input: Option<String>| {
            move |code| NotDone {
                stage,
                code,
                input,
                log: String::new(),
                panic: None,
            }
        };
        let mut raw = RawNvrtc::create(
            self.nvrtc.api,
            &self.source,
            &self.name,
            &state.headers,
            guard,
        )
        .map_err(early(Stage::Create, None))?;
        if !control.is_empty() {
            let control = control.clone();
            raw.stop_when(Box::new(move || control.is_to_stop()), guard)
                .map_err(early(Stage::Create, None))?;
        }
        let mut names = Vec::new();
        for expression in &state.names {
            // A NUL byte was refused when it was added.
            let name = CString::new(expression.as_str()).unwrap_or_default();
            raw.add_name(&name, guard)
                .map_err(early(Stage::Add, Some(expression.clone())))?;
            names.push((expression, name));
        }
        let compiled = raw.compile(flags, guard);
        let log = escaped(&raw.log(guard));
        if let Err(code) = compiled {
            return Err(NotDone {
                stage: Stage::Compile,
                code,
                input: None,
                log,
                panic: raw.take_panic(),
            });
        }
        let wants_pch = options.pch.mode != PchMode::Off;
        let pch = raw.pch_status(guard).map(PchStatus::of);
        let grow = wants_pch && pch == Some(PchStatus::HeapExhausted) && raw.grow_pch_heap(guard);
        let mut lowered = BTreeMap::new();
        for (expression, name) in names {
            let found = raw
                .lowered(&name, guard)
                .map_err(early(Stage::Fetch, Some(expression.clone())))?;
            lowered.insert(expression.clone(), found);
        }
        let bytes = T::fetch(&mut raw, guard).map_err(early(Stage::Fetch, None))?;
        let done = Done {
            bytes,
            log,
            lowered,
            pch,
        };
        Ok((done, grow))
    }

    fn check_arch(&self, options: &Options) -> Result<()> {
        let known = self.supported_archs()?;
        // The list leaves out architectures that are deprecated, so only what is newer or in a gap
        // is refused here.
        if known.is_empty() || known.contains(&options.arch.number()) {
            return Ok(());
        }
        let known: Vec<String> = known.iter().map(|number| format!("sm_{number}")).collect();
        Err(Error::InvalidArch {
            text: options.arch.to_string(),
            problem: format!(
                "{} does not know it; compile for one that it knows ({}), or use another toolkit",
                self.nvrtc.library,
                known.join(", ")
            ),
        })
    }

    fn failed(
        &self,
        failed: NotDone,
        flags: &[CString],
        searched: &[PathBuf],
        control: &Control,
    ) -> Error {
        let NvrtcFailed(code) = failed.code;
        if code == NVRTC_ERROR_CANCELLED {
            return cancelled(control.reason().unwrap_or("the caller's function said so"));
        }
        let library = self.nvrtc.library.clone();
        LibraryError {
            stage: failed.stage,
            code: i32::try_from(code).unwrap_or(i32::MAX),
            code_name: self.nvrtc.api.code_name(code),
            input: failed.input,
            diagnostics: log::parse(&failed.log, Severity::Error),
            hint: hints::of(failed.code, &failed.log, searched, &library),
            log: failed.log,
            options: flags
                .iter()
                .map(|flag| flag.to_string_lossy().into_owned())
                .collect(),
            library,
        }
        .into()
    }

    fn no_answer(&self, NvrtcFailed(code): NvrtcFailed) -> Error {
        LibraryError {
            stage: Stage::Query,
            code: i32::try_from(code).unwrap_or(i32::MAX),
            code_name: self.nvrtc.api.code_name(code),
            input: None,
            diagnostics: Vec::new(),
            log: String::new(),
            options: Vec::new(),
            library: self.nvrtc.library.clone(),
            hint: None,
        }
        .into()
    }
}

fn cancelled(reason: &str) -> Error {
    Error::Cancelled {
        reason: reason.to_owned(),
    }
}

fn invalid(input: &str, problem: &str, hint: &str) -> Error {
    InvalidInput {
        input: input.to_owned(),
        line: None,
        problem: problem.to_owned(),
        hint: hint.to_owned(),
    }
    .into()
}

/// A text as the library takes it.
fn text(input: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| invalid(input, "it holds a NUL byte", "take the NUL byte out"))
}

/// A name that can stand in a line of the output.
fn file_name(name: &str) -> Result<CString> {
    let breaks = |c: char| c.is_control() || c == '"' || c == '\\';
    if name.is_empty() || name.contains(breaks) {
        return Err(invalid(
            name,
            "it is empty, or holds a control character, a quote or a backslash",
            "give it a name without them",
        ));
    }
    text(name, name)
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.name)
            .field("library", &self.nvrtc.library)
            .finish_non_exhaustive()
    }
}
