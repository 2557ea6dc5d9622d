//! From a code of the library to an error.

use super::handle::NotMade;
use super::modules::Module;
use super::plan::Plan;
use super::{log, probe};
use crate::arch::Arch;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, LibraryError, Stage};
use crate::guard::Guarded;
use crate::hints::{Said, Speaker, nearest};
use crate::sys::bindings::nvvm::NVVM_ERROR_INVALID_OPTION;
use crate::sys::{Failed, Nvvm};
use crate::toolkit::Opened;

/// A call that failed, for what is said of it.
pub(super) struct Failure<'a> {
    pub(super) nvvm: &'a Opened<Nvvm>,
    pub(super) stage: Stage,
    pub(super) code: Failed,
    pub(super) log: String,
    /// What was known before.
    pub(super) notes: Vec<Diagnostic>,
    pub(super) options: Vec<String>,
}

impl Failure<'_> {
    /// The error of a compilation for an architecture, over these modules.
    pub(super) fn of(self, arch: Arch, modules: &[Module], guard: &Guarded) -> Error {
        let api = self.nvvm.api;
        if self.code.0 == NVVM_ERROR_INVALID_OPTION && !probe::knows(api, arch, guard) {
            return self.unknown(arch, guard);
        }
        let reads = || api.ir_version().ok();
        let names: Vec<&str> = modules.iter().map(Module::name).collect();
        self.error(&names, |said| {
            Said {
                arch: Some(arch),
                reads: &reads,
                ..said
            }
            .hint()
        })
        .into()
    }

    fn unknown(&self, arch: Arch, guard: &Guarded) -> Error {
        let known: Vec<Arch> = Arch::KNOWN
            .iter()
            .copied()
            .filter(|&known| probe::knows(self.nvvm.api, known, guard))
            .collect();
        let other = match known.first() {
            Some(first) if arch < *first => "an older",
            _ => "a newer",
        };
        Error::InvalidArch {
            text: arch.compute(),
            problem: format!(
                "{} does not know it; the nearest that it knows: {}; compile for one of them, or use \
                 {other} toolkit",
                self.nvvm.library,
                nearest(arch, &known, Arch::compute)
            ),
        }
    }

    /// The error of a call that speaks of no compilation.
    pub(super) fn plain(self) -> LibraryError {
        self.error(&[], |said| said.hint())
    }

    fn error(self, names: &[&str], hint: impl FnOnce(Said<'_>) -> Option<String>) -> LibraryError {
        let Failed(code) = self.code;
        let code_name = self.nvvm.api.code_name(code);
        let library = self.nvvm.library.clone();
        let mut said = log::parse(&self.log, names, Severity::Error);
        let call = Said::new(
            Speaker::LibNvvm,
            self.stage,
            (code as i32, &code_name),
            &self.log,
            &library,
        );
        call.advise(&mut said);
        let hint = hint(call);
        let mut diagnostics = self.notes;
        diagnostics.extend(said);
        LibraryError {
            stage: self.stage,
            code: code as i32,
            code_name,
            input: None,
            diagnostics,
            hint,
            log: self.log,
            options: self.options,
            library,
        }
    }
}

/// The error of a handle that could not be brought to what a compilation needs.
pub(super) fn not_made(nvvm: &Opened<Nvvm>, failed: NotMade, plan: &Plan) -> Error {
    let NotMade { code, input, log } = failed;
    let failure = Failure {
        nvvm,
        stage: match input {
            Some(_) => Stage::Add,
            None => Stage::Create,
        },
        code,
        log: log::text(&log),
        notes: Vec::new(),
        options: plan.shown(),
    };
    LibraryError {
        input,
        ..failure.plain()
    }
    .into()
}
