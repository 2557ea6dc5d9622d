//! A program: CUDA C++ in, PTX, a cubin or LTO IR out.

use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

use super::control::Control;
use super::inputs::{self, Inputs};
use super::options::{Options, PchMode};
use super::output::{Context, Output};
use super::pch::{Automatic, PchStatus};
use super::run::Wanted;
use super::text::{self, file_name};
use super::{archs, failure, flags};
use crate::arch::Arch;
use crate::diagnostic::Diagnostic;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::guard::guarded;
use crate::sync::Mutex;
use crate::sys::Nvrtc;
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
    pub(super) nvrtc: Arc<Opened<Nvrtc>>,
    pub(super) name: CString,
    pub(super) source: CString,
    /// Guards the headers and the names. Held to read or to change them, never during a call.
    pub(super) inputs: Mutex<Inputs>,
    /// Guards what became of the last precompiled header. Held to read or to set it, never during a call.
    pub(super) pch: Mutex<Option<PchStatus>>,
    /// Guards the folder of precompiled headers; held for the length of a compilation, so that a program
    /// compiles once at a time. The others are taken while it is held, never the other way round.
    pub(super) turn: Mutex<Option<Automatic>>,
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
            name: file_name(name)?,
            source: text::source(name, source.as_ref())?,
            inputs: Mutex::default(),
            pch: Mutex::default(),
            turn: Mutex::default(),
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
        let (name, text) = inputs::header(name.as_ref(), source.as_ref())?;
        self.inputs.lock().add_header(name, text)
    }

    /// Asks for the name in the code of a kernel, function or variable, as in `add<float>` or
    /// `&table`; a template is instantiated by it. Artifacts made from now on know it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for an expression that is blank or holds a control character.
    #[doc(alias = "nvrtcAddNameExpression")]
    pub fn add_name_expression(&self, expression: impl AsRef<str>) -> Result<()> {
        self.inputs.lock().add_name(expression.as_ref())
    }

    /// Takes a name expression back, as where it turned out to name nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where the program has none of this text, with those that it has.
    pub fn remove_name_expression(&self, expression: impl AsRef<str>) -> Result<()> {
        self.inputs.lock().remove_name(expression.as_ref())
    }

    /// Takes a header in memory back.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where the program has none of this name, with those that it has.
    pub fn remove_header(&self, name: impl AsRef<str>) -> Result<()> {
        self.inputs.lock().remove_header(name.as_ref())
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
        let ran = self.run(wanted, T::fetch)?;
        // Behind the lock: a subscriber may use the program.
        tracing::debug!(arch = %options.arch, kind = T::KIND, "compiled");
        T::finish(
            ran.made,
            Context {
                source: &self.name.to_string_lossy(),
                options,
                library: &self.nvrtc.library,
                lowered: ran.lowered,
                diagnostics: ran.diagnostics,
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
        Ok(self.run(wanted, |_, _| Ok(()))?.diagnostics)
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
