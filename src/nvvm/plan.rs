//! What one compilation passes to the library, and what it must come back with.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;

use super::checks;
use super::dialect::Choice;
use super::modules::{Module, Modules, Uses, is_kept};
use super::options::Options;
use super::output::LibdeviceFrom;
use super::reader::{Linkage, Symbol};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Result};

pub(super) struct Plan {
    /// The options as the library takes them.
    pub(super) flags: Vec<CString>,
    /// The kernels that the result must have, by name.
    pub(super) kernels: BTreeSet<Vec<u8>>,
    /// The functions to pin: the kernels, and what the user named.
    pub(super) pins: BTreeSet<Vec<u8>>,
    /// Where functions `__nv_*` come from that no module defines.
    pub(super) libdevice: LibdeviceFrom,
    /// Who uses names of others.
    pub(super) uses: Uses,
    /// The names that were respelt, with what they became.
    pub(super) respelt: BTreeMap<String, String>,
    /// What to tell the caller besides what the library says.
    pub(super) notes: Vec<Diagnostic>,
    /// What a failure to compile is most likely due to.
    pub(super) suspicion: Option<Error>,
}

impl Plan {
    pub(super) fn new(
        options: &Options,
        lto: bool,
        modules: &[Module],
        libdevice: LibdeviceFrom,
        choice: Choice,
        respelt: BTreeMap<String, String>,
    ) -> Result<Self> {
        let mut flags = options.flags();
        if lto {
            flags.push("-gen-lto".to_owned());
        }
        if choice.latest {
            flags.push("-nvvm-latest".to_owned());
        }
        if let Some(version) = options.ptx_version {
            // Checked to have one digit behind the point.
            flags.push(format!(
                "-ptx-version-target={}{}",
                version.major, version.minor
            ));
        }
        flags.extend(options.extra.iter().cloned());
        let flags = flags
            .into_iter()
            .map(|flag| {
                CString::new(flag).map_err(|e| Error::InvalidOptions {
                    problem: format!("an option holds a NUL byte at {}", e.nul_position()),
                    hint: "take the NUL byte out".to_owned(),
                })
            })
            .collect::<Result<_>>()?;

        let modules = Modules(modules);
        let kernels: BTreeSet<Vec<u8>> = modules
            .kernels()
            .map(|(_, kernel)| kernel.name.clone())
            .collect();
        let mut notes = choice.notes;
        notes.extend(modules.functions().filter_map(lost_kernel));
        notes.extend(modules.variables().filter_map(never_run));
        if lto {
            notes.extend(modules.kernels().filter_map(unspeakable));
        }
        let mut pins = kernels.clone();
        for name in &options.keep {
            let name = respelt.get(name).unwrap_or(name);
            let found = modules
                .functions()
                .any(|(_, function)| function.name == name.as_bytes() && is_kept(function));
            if !found {
                return Err(Error::InvalidOptions {
                    problem: format!(
                        "`keep` names `{name}`, which is no function, internal, linkonce, lazy, or \
                         not defined at all"
                    ),
                    hint:
                        "name functions that a module added by `add_module` defines with external \
                           linkage"
                            .to_owned(),
                });
            }
            pins.insert(name.clone().into_bytes());
        }
        Ok(Plan {
            flags,
            kernels,
            pins,
            libdevice,
            uses: modules.uses(),
            respelt,
            notes,
            suspicion: choice.suspicion,
        })
    }

    /// The options for a person.
    pub(super) fn shown(&self) -> Vec<String> {
        self.flags
            .iter()
            .map(|flag| flag.to_string_lossy().into_owned())
            .collect()
    }
}

/// Says of a kernel that cannot be in the result why that is so.
fn lost_kernel((module, kernel): (&Module, &Symbol)) -> Option<Diagnostic> {
    if !kernel.kernel || is_kept(kernel) {
        return None;
    }
    let reason = match kernel.linkage {
        _ if kernel.name.is_empty() => "has no name",
        Linkage::Internal | Linkage::Private => "is internal to its module",
        Linkage::LinkOnce | Linkage::LinkOnceOdr => {
            "is linkonce, which the linker may drop where nothing refers to it"
        }
        Linkage::AvailableExternally => {
            "is available_externally, so a copy for the optimiser alone"
        }
        _ => "has a linkage that no kernel can have",
    };
    let message = format!(
        "the kernel `{}` {reason}; give it external linkage, or the result may not have it",
        kernel.name_lossy()
    );
    Some(about(Severity::Warning, message, module, kernel))
}

/// Says of constructors that no GPU runs them: libNVVM drops them without a word.
fn never_run((module, variable): (&Module, &Symbol)) -> Option<Diagnostic> {
    let name = variable.name_lossy();
    matches!(&*name, "llvm.global_ctors" | "llvm.global_dtors").then(|| {
        let message = format!(
            "what `{name}` lists never runs on a GPU; give variables constant values, or set them in \
             a kernel"
        );
        about(Severity::Warning, message, module, variable)
    })
}

/// Says of a kernel whose name PTX cannot spell that a link will fail.
fn unspeakable((module, kernel): (&Module, &Symbol)) -> Option<Diagnostic> {
    (!checks::is_spelt(&kernel.name)).then(|| {
        let message = format!(
            "PTX cannot spell the kernel's name `{}`, so a link of this LTO IR fails; use letters, \
             digits, `_` and `$`, and no digit first",
            kernel.name_lossy()
        );
        about(Severity::Warning, message, module, kernel)
    })
}

fn about(severity: Severity, message: String, module: &Module, symbol: &Symbol) -> Diagnostic {
    let diagnostic = Diagnostic::new(severity, message).in_module(module.name());
    match symbol.line {
        Some(line) => diagnostic.at_line(line),
        None => diagnostic,
    }
}
