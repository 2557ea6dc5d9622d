//! From the library's bytes to an artifact.

use super::options::Options;
use super::plan::Plan;
use crate::artifact::{Artifact, Cubin, LtoIr, Ptx};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Library, Result};
use crate::link::{self, Linker};
use crate::promises::{Empty, Promised};
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
    pub(super) plan: Plan,
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

impl<'a> Context<'a> {
    fn promised(self) -> Promised<'a> {
        let Context {
            options,
            plan,
            library,
            toolkit,
            diagnostics,
        } = self;
        let libdevice = plan.libdevice;
        let uses = plan.uses;
        Promised {
            library,
            linked: false,
            arch: options.arch,
            isa_version: options.ptx_version,
            kernels: plan
                .kernels
                .iter()
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect(),
            all_kernels: true,
            externals: &options.externals,
            libdevice_elsewhere: libdevice == LibdeviceFrom::Nowhere,
            users: Box::new(move |name| uses.of(name)),
            remedy: Box::new(move |name| remedy(name, libdevice, toolkit)),
            empty: Empty::Told(A_KERNEL),
            lowered: plan.respelt,
            diagnostics,
        }
    }
}

/// What makes a function a kernel.
const A_KERNEL: &str = "a kernel is a function with external linkage that returns void and is named in \
     `!nvvm.annotations` with `!\"kernel\", i32 1`, or, from compute_100 on, has the calling convention \
     `ptx_kernel`";

/// Where the functions of libdevice came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LibdeviceFrom {
    /// From the libdevice beside libNVVM.
    Beside,
    /// From one of the user's own.
    Own,
    /// From nowhere: another link brings them.
    Nowhere,
}

fn remedy(name: &str, libdevice: LibdeviceFrom, toolkit: Option<&Toolkit>) -> String {
    if !name.starts_with("__nv_") {
        return "correct the name or add the module that defines it; where a later link brings it, \
                say so by `Options::externals`"
            .to_owned();
    }
    let place = match (
        libdevice,
        toolkit.and_then(|toolkit| toolkit.libdevice().ok()),
    ) {
        (LibdeviceFrom::Own, _) => "the libdevice that was set".to_owned(),
        (_, Some(found)) => format!("libdevice ({})", found.path.display()),
        (_, None) => "libdevice".to_owned(),
    };
    format!(
        "{place} has no function of this name either: correct it, add the module that defines it, \
         or set libdevice to `Never` where another link is to bring it"
    )
}

impl sealed::Finish for Ptx {
    const LTO: bool = false;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        context.promised().ptx(bytes)
    }
}

impl sealed::Finish for LtoIr {
    const LTO: bool = true;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        context.promised().lto_ir(bytes)
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
        let no_kernel = ptx.kernels().is_empty();
        let linked: Cubin = Linker::new(toolkit, options.arch)
            .options(link::Options::new().debug(options.debug))
            .add_named("the program's PTX", ptx)
            .link()
            .map_err(|mut error| {
                // That it comes to nothing has its reason in the program, not in the link.
                match &mut error {
                    Error::WrongOutput { hint, .. } if no_kernel => *hint = A_KERNEL.to_owned(),
                    _ => {}
                }
                error
            })?;
        let diagnostics = said
            .into_iter()
            .chain(linked.diagnostics().iter().cloned())
            .collect();
        Ok(linked
            .with_lowered_names(respelt)
            .with_diagnostics(diagnostics))
    }
}
