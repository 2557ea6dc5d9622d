//! From the library's bytes to an artifact: success is a claim, and is checked.

use std::collections::BTreeMap;

use super::options::Options;
use crate::artifact::symbol::Symbol;
use crate::artifact::{Artifact, Cubin, LtoIr, Ptx};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Library, Result};

/// What a [`Program`](super::Program) compiles to: [`Ptx`], [`Cubin`] or [`LtoIr`].
pub trait Output: Artifact + sealed::Make {}

impl Output for Ptx {}
impl Output for Cubin {}
impl Output for LtoIr {}

/// What came, and what is known beside it.
pub struct Context<'a> {
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

fn checked<T>(
    kind: &str,
    bytes: Vec<u8>,
    context: &Context<'_>,
    read: impl FnOnce(Vec<u8>) -> Result<T>,
) -> Result<T> {
    let problem = if bytes.is_empty() {
        format!("it gave 0 bytes of {kind}")
    } else {
        match read(bytes) {
            Ok(made) => return Ok(made),
            Err(e) => format!("its {kind} cannot be read: {e}"),
        }
    };
    Err(Error::WrongOutput {
        problem,
        hint: "leave the flags in `extra` out, and try another version of NVRTC".to_owned(),
        library: context.library.clone(),
        diagnostics: context.diagnostics.clone(),
    })
}

/// Says so where there is nothing to launch or to link with. The library does not: it drops a template
/// that no name expression asks for, and a device function that no kernel calls.
fn warn_if_empty(kind: &str, is_empty: bool, context: &mut Context<'_>) {
    if is_empty {
        let text = format!(
            "the {kind} has no kernel, and no function either; ask for a template by \
             `add_name_expression`, or keep device functions by `code.relocatable`"
        );
        let warning = Diagnostic::new(Severity::Warning, text);
        context.diagnostics.push(warning);
    }
}

macro_rules! make {
    ($kind:ident, $real:literal, $flags:expr, $fetch:ident, $read:expr, $is_empty:expr) => {
        #[allow(private_interfaces, reason = "the trait is sealed")]
        impl sealed::Make for $kind {
            const REAL: bool = $real;
            const FLAGS: &'static [&'static str] = $flags;

            fn fetch(raw: &mut RawNvrtc, guard: &Guarded) -> Result<Vec<u8>, NvrtcFailed> {
                raw.$fetch(guard)
            }

            fn finish(bytes: Vec<u8>, mut context: Context<'_>) -> Result<Self> {
                let options = context.options;
                let made = checked($kind::KIND, bytes, &context, |bytes| $read(bytes, options))?;
                warn_if_empty($kind::KIND, $is_empty(&made), &mut context);
                Ok(made
                    .with_lowered_names(context.lowered)
                    .with_diagnostics(context.diagnostics))
            }
        }
    };
}

make!(
    Ptx,
    false,
    &[],
    ptx,
    |bytes, _| Ptx::from_bytes(bytes),
    |p: &Ptx| p.kernels().is_empty()
        && p.functions().is_empty()
        && !p.symbols().iter().any(Symbol::is_strong)
);
make!(
    Cubin,
    true,
    &[],
    cubin,
    |bytes, _| Cubin::from_bytes(bytes),
    |c: &Cubin| c.kernels().is_empty()
        && c.functions().is_empty()
        && !c.symbols().iter().any(Symbol::is_strong)
);
// Nobody can say which kernels it has: the library does not, and the bytes cannot be read.
make!(
    LtoIr,
    false,
    &["-dlto"],
    lto_ir,
    |bytes, options: &Options| LtoIr::new("LTO IR", bytes, Vec::new(), Some(options.arch)),
    |_: &LtoIr| false
);
