//! From the library's bytes to an artifact: success is a claim, and is checked.

use super::options::Options;
use super::plan::Plan;
use crate::artifact::{Artifact, Cubin, LtoIr, Ptx};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Library, Result};
use crate::link::{self, Linker};
use crate::toolkit::Toolkit;

/// What a [`Program`](super::Program) compiles to: [`Ptx`], [`LtoIr`], or a [`Cubin`], which
/// nvJitLink makes of the PTX.
pub trait Output: Artifact + sealed::Finish {}

impl Output for Ptx {}
impl Output for LtoIr {}
impl Output for Cubin {}

/// What was asked for, for the check of what came.
pub struct Context<'a> {
    pub(super) options: &'a Options,
    pub(super) plan: &'a Plan,
    pub(super) library: &'a Library,
    /// Where the linker is; none over another table.
    pub(super) toolkit: Option<&'a Toolkit>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

pub(super) mod sealed {
    /// How bytes of the library become the artifact.
    pub trait Finish: Sized {
        /// Whether the library is asked for LTO IR.
        const LTO: bool;

        /// Checks what came and makes the artifact.
        fn finish(bytes: Vec<u8>, context: super::Context<'_>) -> crate::error::Result<Self>;
    }
}

impl Context<'_> {
    fn unknown_intrinsics(self, names: &str) -> Error {
        self.wrong(
            format!("it does not know {names}, and left it unresolved"),
            "correct the name, or call a function of libdevice (`__nv_…`) instead",
        )
    }

    fn wrong(self, problem: String, hint: &str) -> Error {
        Error::WrongOutput {
            problem,
            hint: hint.to_owned(),
            library: self.library.clone(),
            diagnostics: self.diagnostics,
        }
    }
}

impl sealed::Finish for Ptx {
    const LTO: bool = false;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        let ptx = match String::from_utf8(bytes) {
            Ok(text) => Ptx::from_text(text),
            Err(_) => return Err(context.wrong("its PTX is no UTF-8".to_owned(), UNREADABLE)),
        };
        let ptx = match ptx {
            Ok(ptx) => ptx,
            // The name of an intrinsic that the library does not know has points, as PTX has none.
            Err(Error::InvalidInput(e)) if e.problem.starts_with("`llvm.") => {
                let name = e.problem.split('`').nth(1).unwrap_or_default().to_owned();
                return Err(context.unknown_intrinsics(&name));
            }
            Err(Error::InvalidInput(e)) => {
                return Err(context.wrong(format!("its PTX is wrong: {}", e.problem), &e.hint));
            }
            Err(e) => {
                return Err(context.wrong(format!("its PTX cannot be read: {e}"), UNREADABLE));
            }
        };
        let missing: Vec<String> = context
            .plan
            .kernels
            .iter()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .filter(|name| ptx.kernel(name).is_none())
            .collect();
        if !missing.is_empty() {
            return Err(context.wrong(
                format!("the PTX lacks the kernels {}", missing.join(", ")),
                "see that each is a function that returns void and is marked as a kernel",
            ));
        }
        let intrinsics: Vec<&str> = ptx
            .externs()
            .iter()
            .map(|symbol| symbol.name.as_str())
            .filter(|name| name.starts_with("llvm."))
            .collect();
        if !intrinsics.is_empty() {
            return Err(context.unknown_intrinsics(&intrinsics.join(", ")));
        }
        let from_libdevice: Vec<&str> = ptx
            .externs()
            .iter()
            .map(|symbol| symbol.name.as_str())
            .filter(|name| name.starts_with("__nv_"))
            .collect();
        if context.plan.libdevice_expected && !from_libdevice.is_empty() {
            let names = from_libdevice.join(", ");
            return Err(context.wrong(
                format!("the PTX refers to {names}, which neither a module nor libdevice defines"),
                "correct the name, add the module that defines it, or set libdevice to `Never` if \
                 another link is to bring it",
            ));
        }
        if let Some(asked) = context.options.ptx_version {
            let written = ptx.isa_version();
            if written != asked {
                return Err(context.wrong(
                    format!("the PTX is of version {written}, not {asked} as asked for"),
                    "ask for a version that the library writes",
                ));
            }
        }
        let mut diagnostics = context.diagnostics;
        diagnostics.extend(nothing_to_launch(&ptx));
        Ok(ptx
            .with_lowered_names(context.plan.respelt.clone())
            .with_diagnostics(diagnostics))
    }
}

/// What to say of PTX without a kernel: device functions alone may be meant, an empty file is not.
fn nothing_to_launch(ptx: &Ptx) -> Option<Diagnostic> {
    if !ptx.kernels().is_empty() {
        return None;
    }
    let mut said = if ptx.symbols().is_empty() {
        Diagnostic::new(
            Severity::Warning,
            "the PTX is empty: no module that is not lazy defines anything that others can see",
        )
    } else {
        Diagnostic::new(
            Severity::Note,
            "the PTX has no kernel that could be launched",
        )
    };
    said.hint = Some(
        "a kernel is a function with external linkage that returns void and is named in \
         `!nvvm.annotations` with `!\"kernel\", i32 1`, or, from compute_100 on, has the calling \
         convention `ptx_kernel`"
            .to_owned(),
    );
    Some(said)
}

const UNREADABLE: &str =
    "see whether a name in the modules holds a character that PTX cannot spell";

impl sealed::Finish for LtoIr {
    const LTO: bool = true;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        let kernels: Vec<String> = context
            .plan
            .kernels
            .iter()
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        match LtoIr::new("LTO IR", bytes, Vec::new(), Some(context.options.arch)) {
            Ok(ltoir) => Ok(ltoir
                .with_kernels(kernels)
                .with_lowered_names(context.plan.respelt.clone())
                .with_diagnostics(context.diagnostics)),
            Err(e) => Err(context.wrong(
                format!("its LTO IR cannot be read: {e}"),
                "report it with the modules that show it",
            )),
        }
    }
}

impl sealed::Finish for Cubin {
    const LTO: bool = false;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        let (options, toolkit) = (context.options, context.toolkit);
        let ptx = Ptx::finish(bytes, context)?;
        let toolkit = toolkit.ok_or_else(|| Error::InvalidOptions {
            problem: "the program is over no toolkit, so there is no nvJitLink".to_owned(),
            hint: "compile to PTX".to_owned(),
        })?;
        let said = ptx.diagnostics().to_vec();
        let respelt = ptx.lowered_names().clone();
        let linked: Cubin = Linker::new(toolkit, options.arch)
            .options(link::Options::new().debug(options.debug))
            .add_named("the program's PTX", ptx)
            .link()?;
        let diagnostics = said
            .into_iter()
            .chain(linked.diagnostics().iter().cloned())
            .collect();
        Ok(linked
            .with_lowered_names(respelt)
            .with_diagnostics(diagnostics))
    }
}
