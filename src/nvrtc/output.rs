//! From the library's bytes to an artifact.

use std::collections::BTreeMap;

use super::options::Options;
use crate::artifact::{Artifact, Cubin, LtoIr, Ptx};
use crate::diagnostic::Diagnostic;
use crate::error::{Library, Result};
use crate::promises::{Empty, Promised, remedy};

/// What a [`Program`](super::Program) compiles to: [`Ptx`], [`Cubin`] or [`LtoIr`].
pub trait Output: Artifact + sealed::Make {}

impl Output for Ptx {}
impl Output for Cubin {}
impl Output for LtoIr {}

/// What came, and what is known beside it.
pub struct Context<'a> {
    /// What messages call the source.
    pub(super) source: &'a str,
    pub(super) options: &'a Options,
    pub(super) library: &'a Library,
    pub(super) lowered: BTreeMap<String, String>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

pub(super) mod sealed {
    use crate::guard::Guarded;
    use crate::sys::{NvrtcFailed, RawNvrtc};

    /// How the library is asked for the kind, and how its bytes become the artifact.
    #[allow(private_interfaces, reason = "the trait is sealed")]
    pub trait Make: Sized {
        /// Whether a real architecture is named, as in `sm_90`, or a virtual one.
        const REAL: bool;
        /// Flags without which the library gives nothing of the kind.
        const FLAGS: &'static [&'static str];

        /// Fetches the bytes.
        fn fetch(raw: &mut RawNvrtc, guard: &Guarded) -> Result<Vec<u8>, NvrtcFailed>;

        /// Checks what came and makes the artifact.
        fn finish(bytes: Vec<u8>, context: super::Context<'_>) -> crate::error::Result<Self>;
    }
}

use crate::guard::Guarded;
use crate::sys::{NvrtcFailed, RawNvrtc};

impl<'a> Context<'a> {
    fn promised(self) -> Promised<'a> {
        let Context {
            source,
            options,
            library,
            lowered,
            diagnostics,
        } = self;
        Promised {
            library,
            linked: false,
            arch: options.arch,
            isa_version: None,
            // Nobody can say which there are: the library does not.
            kernels: Vec::new(),
            all_kernels: false,
            externals: options.code.allowed_externals(),
            libdevice_elsewhere: false,
            users: Box::new(move |_| vec![source.to_owned()]),
            remedy: Box::new(|name| {
                remedy::of_name(
                    name,
                    "define it; where a later link brings it, compile with `code.relocatable`, or \
                     say so by `code.externals`",
                )
            }),
            // The library does not say so: it drops a template that no name expression asks for, and
            // a device function that no kernel calls.
            empty: Empty::Told(
                "ask for a template by `add_name_expression` (a job by `with_name`), or keep device functions by \
                 `code.relocatable`",
            ),
            lowered,
            diagnostics,
        }
    }
}

macro_rules! make {
    ($kind:ident, $real:literal, $flags:expr, $fetch:ident) => {
        #[allow(private_interfaces, reason = "the trait is sealed")]
        impl sealed::Make for $kind {
            const REAL: bool = $real;
            const FLAGS: &'static [&'static str] = $flags;

            fn fetch(raw: &mut RawNvrtc, guard: &Guarded) -> Result<Vec<u8>, NvrtcFailed> {
                raw.$fetch(guard)
            }

            fn finish(bytes: Vec<u8>, context: Context<'_>) -> Result<Self> {
                context.promised().$fetch(bytes)
            }
        }
    };
}

make!(Ptx, false, &[], ptx);
make!(Cubin, true, &[], cubin);
make!(LtoIr, false, &["-dlto"], lto_ir);
