//! From the library's bytes to an artifact.

use std::collections::BTreeMap;

use super::check::Plan;
use super::options::Options;
use crate::arch::Arch;
use crate::artifact::{Artifact, Cubin, LtoIr, Ptx};
use crate::diagnostic::Diagnostic;
use crate::error::{Library, Result};
use crate::promises::{Empty, Externals, Promised, remedy};

/// What a [`Linker`](super::Linker) links to: [`Cubin`], [`Ptx`] or [`LtoIr`].
pub trait Output: Artifact + sealed::Finish {}

impl<T: Artifact + sealed::Finish> Output for T {}

/// What was asked for, for the check of what came.
pub struct Context<'a> {
    pub(super) plan: Plan,
    pub(super) arch: Arch,
    pub(super) options: &'a Options,
    pub(super) library: &'a Library,
    /// What name expressions and respelt names of the inputs became.
    pub(super) lowered: BTreeMap<String, String>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a> Context<'a> {
    /// What holds for every kind, where `externals` may stay undefined.
    fn promised(self, externals: &'a Externals) -> Promised<'a> {
        let Context {
            plan,
            arch,
            options,
            library,
            lowered,
            diagnostics,
        } = self;
        let unresolved = plan.unresolved;
        Promised {
            library,
            linked: true,
            arch,
            isa_version: None,
            kernels: plan.kernels,
            all_kernels: plan.kernels_known,
            externals,
            libdevice_elsewhere: false,
            users: Box::new(move |name| {
                let uses = unresolved.iter().filter(|(used, _)| used == name);
                uses.map(|(_, input)| input.clone()).collect()
            }),
            remedy: Box::new(|name| remedy::of_name(name, "add the input that defines it")),
            empty: match (options.relocatable, plan.lto) {
                (true, _) => Empty::Taken,
                // Nobody may have said which kernels LTO IR has, and other inputs may have brought
                // none of their code; that there is none at all is seen here.
                (_, true) => Empty::Refused(
                    "link LTO IR that defines a kernel: one of libNVVM must name it in \
                     `@llvm.used`, as `nvvm::Program` sees to",
                ),
                (_, false) => Empty::Refused(
                    "link inputs with relocatable device code (-rdc=true of nvcc) that define a kernel",
                ),
            },
            lowered,
            diagnostics,
        }
    }

    fn whole_or_part(&self) -> &'static Externals {
        if self.options.relocatable {
            &Externals::Allow
        } else {
            &Externals::Refuse
        }
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
        let externals = context.whole_or_part();
        context.promised(externals).cubin(bytes)
    }
}

impl sealed::Finish for Ptx {
    const FETCH: crate::sys::Fetch = crate::sys::Fetch::Ptx;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        let externals = match &context.options.externals {
            Externals::Refuse => context.whole_or_part(),
            more => more,
        };
        context.promised(externals).ptx(bytes)
    }
}

impl sealed::Finish for LtoIr {
    const FETCH: crate::sys::Fetch = crate::sys::Fetch::LtoIr;

    fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
        context.promised(&Externals::Allow).lto_ir(bytes)
    }
}
