//! A program: CUDA C++ in, PTX, a cubin or LTO IR out.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::archs;
use super::attempt::{Done, Input, attempt};
use super::control::Control;
use super::failure::{self, Compilation};
use super::flags::{self, Flags, PCH};
use super::options::{Options, PchMode};
use super::output::{Context, Output};
use super::pch::{Automatic, PchStatus, Work};
use super::text::{absent, file_name, invalid, source, text};
use super::{headers, log};
use crate::arch::Arch;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Result};
use crate::guard::{Guarded, guarded};
use crate::sync::Mutex;
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
    #[cfg(feature = "gpu")]
    toolkit: Toolkit,
    nvrtc: Arc<Opened<Nvrtc>>,
    name: CString,
    source: CString,
    /// Guards the headers, the names and the folder of precompiled headers; held for the length of a
    /// compilation, so that a program compiles once at a time.
    state: Mutex<State>,
    /// What became of the last precompiled header. Held to read or to set it, never during a call.
    pch: Mutex<Option<PchStatus>>,
}

/// How long a compilation waits for its turn before it looks again whether it was called off.
const SLICE: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
struct State {
    headers: Vec<(CString, CString)>,
    names: BTreeSet<String>,
    automatic: Option<Automatic>,
}

/// What one compilation is asked for.
struct Wanted<'a> {
    options: &'a Options,
    control: &'a Control,
    arch: String,
    flags: Flags,
    pch: bool,
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
        Ok(Program {
            #[cfg(feature = "gpu")]
            toolkit: toolkit.clone(),
            nvrtc: toolkit.nvrtc()?.clone(),
            source: self::source(name, source.as_ref())?,
            name: file_name(name)?,
            state: Mutex::default(),
            pch: Mutex::default(),
        })
    }

    /// Adds a header in memory, which `#include` finds by this name before any folder is searched. A
    /// byte order mark at its beginning is taken off.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for a NUL byte, for a name as [`new`](Program::new) refuses it, and
    /// where there is a header of that name already.
    pub fn add_header(&self, name: impl AsRef<str>, source: impl AsRef<str>) -> Result<()> {
        let name = name.as_ref();
        let header = (file_name(name)?, self::source(name, source.as_ref())?);
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

    /// Takes a name expression back, as where it turned out to name nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where the program has none of this text, with those that it has.
    pub fn remove_name_expression(&self, expression: impl AsRef<str>) -> Result<()> {
        let expression = expression.as_ref();
        let names = &mut self.state.lock().names;
        if names.remove(expression) {
            return Ok(());
        }
        Err(absent(
            "name expression",
            expression,
            names.iter().map(String::as_str),
        ))
    }

    /// Takes a header in memory back.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where the program has none of this name, with those that it has.
    pub fn remove_header(&self, name: impl AsRef<str>) -> Result<()> {
        let name = name.as_ref();
        let headers = &mut self.state.lock().headers;
        match headers
            .iter()
            .position(|(there, _)| there.as_bytes() == name.as_bytes())
        {
            Some(at) => {
                headers.remove(at);
                Ok(())
            }
            None => {
                let names = headers.iter().filter_map(|(there, _)| there.to_str().ok());
                Err(absent("header", name, names))
            }
        }
    }

    /// The architectures that the library compiles for, by number, as in 90.
    ///
    /// # Errors
    ///
    /// [`Error::Library`] where the library does not answer.
    #[doc(alias = "nvrtcGetSupportedArchs")]
    pub fn supported_archs(&self) -> Result<Vec<u16>> {
        let api = &self.nvrtc.api;
        api.archs()
            .map_err(|code| failure::no_answer(&self.nvrtc, code))
    }

    /// Whether the library compiles for an architecture, letter and all; it is asked by compiling an
    /// empty program, which takes some milliseconds.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] where the system gives no stack for the call, and [`Error::Library`] where
    /// the library compiles nothing at all, as without its builtins.
    pub fn supports(&self, arch: Arch) -> Result<bool> {
        guarded(|guard| archs::knows(self.nvrtc.api, arch, guard))?
            .map_err(|code| failure::no_answer(&self.nvrtc, code))
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn toolkit(&self) -> &Toolkit {
        &self.toolkit
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn library(&self) -> &crate::error::Library {
        &self.nvrtc.library
    }

    /// What became of the precompiled header in the last compilation that was to make or use one; none
    /// before it.
    #[must_use]
    #[doc(alias = "nvrtcGetPCHCreateStatus")]
    pub fn pch_status(&self) -> Option<PchStatus> {
        *self.pch.lock()
    }

    /// Compiles to PTX, a cubin or LTO IR. Warnings are in the artifact's diagnostics.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArch`] for an architecture that the library does not know, with those that it
    /// knows; [`Error::InvalidOptions`] for options that cannot be honoured, and
    /// [`Error::Unsupported`] for one that the library did not take, with the version that does;
    /// [`Error::Library`] with code, log and options where the source does not compile;
    /// [`Error::Unresolved`] where the code calls what nothing defines, unless it is relocatable or
    /// [`externals`](super::CodeGeneration::externals) says so; [`Error::WrongOutput`] where success
    /// is reported for something else than was asked for.
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
        let arch = if T::REAL {
            options.arch.sm()
        } else {
            options.arch.compute()
        };
        let mut flags = flags::flags(options, Some(T::KIND))?;
        flags.list.extend(T::FLAGS.iter().map(|&f| f.to_owned()));
        let wanted = Wanted {
            options,
            control,
            arch,
            flags,
            pch: options.pch.mode != PchMode::Off,
        };
        let done = self.run(wanted, T::fetch)?;
        // Behind the lock: a subscriber may use the program.
        tracing::debug!(arch = %options.arch, kind = T::KIND, "compiled");
        T::finish(
            done.made,
            Context {
                source: &self.name.to_string_lossy(),
                options,
                library: &self.nvrtc.library,
                lowered: done.lowered,
                diagnostics: self.read(&done.log),
            },
        )
    }

    /// Reads the source, its headers and its name expressions without making anything of them, and
    /// returns what the compiler has to say. What only its later stages see, such as bad assembly, is
    /// not seen. Precompiled headers are left alone.
    ///
    /// # Errors
    ///
    /// As for [`compile`](Program::compile): a source that does not compile is an error with all its
    /// diagnostics. [`Error::Unsupported`] where the library cannot: that needs NVRTC 12.4.
    pub fn check(&self, options: &Options) -> Result<Vec<Diagnostic>> {
        let mut flags = flags::flags(options, None)?;
        flags.push("--fdevice-syntax-only".to_owned(), (12, 4));
        let wanted = Wanted {
            options,
            control: &Control::new(),
            arch: options.arch.compute(),
            flags,
            pch: false,
        };
        let done = self.run(wanted, |_, _| Ok(()))?;
        Ok(self.read(&done.log))
    }

    /// The log of a compilation that succeeded, one message at a time.
    fn read(&self, log: &str) -> Vec<Diagnostic> {
        let mut diagnostics = log::parse(log, Severity::Warning);
        self.mark(&mut diagnostics);
        diagnostics
    }

    /// Gives messages the lines that they point at, of the source and of headers in memory.
    fn mark(&self, diagnostics: &mut [Diagnostic]) {
        let state = self.state.lock();
        log::mark(diagnostics, &|name| {
            if self.name.as_bytes() == name.as_bytes() {
                return Some(self.source.as_bytes());
            }
            let named = |(known, _): &&(CString, CString)| known.as_bytes() == name.as_bytes();
            state
                .headers
                .iter()
                .find(named)
                .map(|(_, text)| text.as_bytes())
        });
    }

    /// Says which expression a message is about, whose place is a file that the library makes up.
    fn name_expressions(&self, diagnostics: &mut [Diagnostic]) {
        let names = &self.state.lock().names;
        for said in diagnostics {
            if said.module.as_deref() == Some(log::NAME_MAP) {
                let text = said
                    .snippet
                    .take()
                    .map(|quoted| quoted.text)
                    .unwrap_or_default();
                let longest = names
                    .iter()
                    .filter(|name| text.contains(*name))
                    .max_by_key(|n| n.len());
                let which = longest.map_or(String::new(), |name| format!(" `{name}`"));
                said.module = Some(format!("the name expression{which}"));
                (said.line, said.column) = (None, None);
            }
        }
    }

    fn run<R>(
        &self,
        wanted: Wanted<'_>,
        fetch: impl Fn(&mut RawNvrtc, &Guarded) -> Result<R, NvrtcFailed>,
    ) -> Result<Done<R>> {
        let (nvrtc, options, control) = (&self.nvrtc, wanted.options, wanted.control);
        let unsupported = |what: &str| Error::Unsupported {
            what: what.to_owned(),
            needs: "NVRTC 12.9 or newer".to_owned(),
            library: nvrtc.library.clone(),
        };
        if !control.is_empty() && nvrtc.api.nvrtcSetFlowCallback.is_none() {
            return Err(unsupported("ending a compilation early"));
        }
        if wanted.pch && nvrtc.api.nvrtcGetPCHCreateStatus.is_none() {
            return Err(unsupported("a precompiled header"));
        }
        archs::check_number(nvrtc, options.arch, &self.supported_archs()?)?;
        let mut flags = wanted.flags;
        flags
            .list
            .insert(0, format!("--gpu-architecture={}", wanted.arch));
        let mut searched = options.preprocessor.include_folders.clone();
        for folder in headers::behind(nvrtc, &options.preprocessor)? {
            flags
                .list
                .push(format!("--include-path={}", folder.display()));
            searched.push(folder);
        }

        let mut state = loop {
            if let Some(reason) = control.reason() {
                return Err(failure::cancelled(reason));
            }
            if let Some(state) = self.state.try_lock_for(SLICE) {
                break state;
            }
        };
        let work = if wanted.pch {
            let path = &nvrtc.library.path;
            let State {
                automatic, headers, ..
            } = &mut *state;
            Work::begin(&options.pch, automatic, headers, path)?
        } else {
            Work::Off
        };
        for flag in work.flags() {
            flags.push(flag, PCH);
        }
        let given = flags
            .list
            .iter()
            .map(|flag| text("an option", flag))
            .collect::<Result<Vec<_>>>()?;
        let input = Input {
            api: nvrtc.api,
            source: &self.source,
            name: &self.name,
            headers: &state.headers,
            names: &state.names,
            flags: &given,
            control,
            wants_pch: !work.is_off(),
        };
        let attempt = || guarded(|guard| attempt(&input, &fetch, guard));
        let mut done = attempt()?;
        if done.as_ref().is_ok_and(|done| done.again) {
            done = attempt()?;
        }
        let tidied = |log| {
            let log = work.log(log);
            if options.diagnostics.inline_remarks {
                log
            } else {
                log::without_remarks(&log)
            }
        };
        let outcome = match done {
            Ok(mut done) => {
                let State {
                    automatic, headers, ..
                } = &mut *state;
                if wanted.pch {
                    *self.pch.lock() = done.pch;
                }
                done.log = tidied(done.log);
                work.finish(done.pch, automatic, headers, &nvrtc.library.path)?;
                Ok(done)
            }
            Err(mut failed) => {
                failed.log = tidied(failed.log);
                Err((failed, flags))
            }
        };
        drop(state);
        match outcome {
            Ok(done) => Ok(done),
            Err((failed, flags)) => {
                // Behind the lock, which the caller's function may want on its way out.
                if let Some(panic) = failed.panic {
                    std::panic::resume_unwind(panic);
                }
                let compilation = Compilation {
                    flags: &flags,
                    searched: &searched,
                    arch: options.arch,
                    control,
                };
                let mut error = failure::of(nvrtc, failed, &compilation);
                if let Error::Library(e) = &mut error {
                    self.mark(&mut e.diagnostics);
                    self.name_expressions(&mut e.diagnostics);
                }
                Err(error)
            }
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("name", &self.name)
            .field("library", &self.nvrtc.library)
            .finish_non_exhaustive()
    }
}
