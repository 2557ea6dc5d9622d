//! What one compilation passes to the library, and what it must come back with.

use std::collections::BTreeSet;
use std::ffi::CString;

use super::dialect::Choice;
use super::modules::{Module, Modules};
use super::options::Options;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Result};

pub(super) struct Plan {
    /// The options as the library takes them.
    pub(super) flags: Vec<CString>,
    /// The kernels that the result must have, by name.
    pub(super) kernels: BTreeSet<Vec<u8>>,
    /// The functions to pin: the kernels, and what the user named.
    pub(super) pins: BTreeSet<Vec<u8>>,
    /// Whether every `__nv_*` function must be resolved: by a module, or else by libdevice.
    pub(super) libdevice_expected: bool,
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
        libdevice_expected: bool,
        choice: Choice,
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

        let eager = || Modules(modules).eager();
        let kernels: BTreeSet<Vec<u8>> = eager()
            .flat_map(Module::visible_kernels)
            .map(|kernel| kernel.name.clone())
            .collect();
        let mut notes = choice.notes;
        let mut pins = kernels.clone();
        notes.extend(eager().flat_map(internal_kernels));
        for name in &options.keep {
            if !eager()
                .flat_map(|module| module.info.visible_definitions())
                .any(|symbol| symbol.name == name.as_bytes())
            {
                return Err(Error::InvalidOptions {
                    problem: format!(
                        "`keep` names `{name}`, which is internal, lazy, or not defined at all"
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
            libdevice_expected,
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

fn internal_kernels(module: &Module) -> impl Iterator<Item = Diagnostic> {
    module
        .info
        .kernels()
        .filter(|kernel| kernel.defined && !kernel.is_visible_definition())
        .map(|kernel| {
            let diagnostic = Diagnostic::new(
                Severity::Warning,
                format!(
                    "the kernel `{}` is internal to its module, so the result does not have \
                     it; give it external linkage",
                    kernel.name_lossy()
                ),
            )
            .in_module(module.name());
            match kernel.line {
                Some(line) => diagnostic.at_line(line),
                None => diagnostic,
            }
        })
}
