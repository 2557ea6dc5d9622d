//! One compilation of a program, from its turn to what is said of its end.

use std::collections::BTreeMap;
use std::ops::DerefMut;
use std::time::Duration;

use super::attempt::{Done, Input, NotDone, attempt};
use super::control::Control;
use super::failure::{self, Compilation};
use super::flags::{Flags, PCH};
use super::inputs::Inputs;
use super::options::Options;
use super::pch::{Automatic, Work};
use super::program::Program;
use super::text::text;
use super::{archs, headers, log};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Result};
use crate::guard::{Guarded, guarded};
use crate::sys::{NvrtcFailed, RawNvrtc};

/// How long a compilation waits for its turn before it looks again whether it was called off.
const SLICE: Duration = Duration::from_millis(5);

/// What one compilation is asked for.
pub(super) struct Wanted<'a> {
    pub(super) options: &'a Options,
    pub(super) control: &'a Control,
    pub(super) arch: String,
    pub(super) flags: Flags,
    pub(super) pch: bool,
}

/// What it brought.
pub(super) struct Ran<R> {
    pub(super) made: R,
    pub(super) lowered: BTreeMap<String, String>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Program {
    pub(super) fn run<R>(
        &self,
        mut wanted: Wanted<'_>,
        fetch: impl Fn(&mut RawNvrtc, &Guarded) -> Result<R, NvrtcFailed>,
    ) -> Result<Ran<R>> {
        let (nvrtc, options, control) = (&self.nvrtc, wanted.options, wanted.control);
        self.check_functions(&wanted)?;
        archs::check_number(nvrtc, options.arch, &self.supported_archs()?)?;
        let flags = &mut wanted.flags.list;
        flags.insert(0, format!("--gpu-architecture={}", wanted.arch));
        let mut searched = options.preprocessor.include_folders.clone();
        for folder in headers::behind(nvrtc, &options.preprocessor)? {
            flags.push(format!("--include-path={}", folder.display()));
            searched.push(folder);
        }

        let mut turn = self.turn(control)?;
        // Nothing that is added or taken back from now on is this compilation's.
        let inputs = self.inputs.lock().clone();
        let outcome = self.in_turn(&mut wanted, &mut turn, &inputs, fetch);
        drop(turn);
        match outcome? {
            Ok(done) => {
                let mut diagnostics = log::parse(&done.log, Severity::Warning);
                inputs.mark(&self.name, &self.source, &mut diagnostics);
                Ok(Ran {
                    made: done.made,
                    lowered: done.lowered,
                    diagnostics,
                })
            }
            Err(failed) => {
                // Behind the lock, which the caller's function may want on its way out.
                if let Some(panic) = failed.panic {
                    std::panic::resume_unwind(panic);
                }
                let compilation = Compilation {
                    flags: &wanted.flags,
                    searched: &searched,
                    arch: options.arch,
                    control,
                };
                let mut error = failure::of(nvrtc, failed, &compilation);
                if let Error::Library(e) = &mut error {
                    inputs.mark(&self.name, &self.source, &mut e.diagnostics);
                }
                Err(error)
            }
        }
    }

    /// Refuses what the library has no function for.
    fn check_functions(&self, wanted: &Wanted<'_>) -> Result<()> {
        let api = &self.nvrtc.api;
        let missing = if !wanted.control.is_empty() && api.nvrtcSetFlowCallback.is_none() {
            "ending a compilation early"
        } else if wanted.pch && api.nvrtcGetPCHCreateStatus.is_none() {
            "a precompiled header"
        } else {
            return Ok(());
        };
        Err(Error::Unsupported {
            what: missing.to_owned(),
            needs: "NVRTC 12.9 or newer".to_owned(),
            library: self.nvrtc.library.clone(),
        })
    }

    /// Waits for the program's turn, unless the compilation is called off before it comes.
    fn turn(&self, control: &Control) -> Result<impl DerefMut<Target = Option<Automatic>> + '_> {
        loop {
            if let Some(reason) = control.reason() {
                return Err(failure::cancelled(reason));
            }
            if let Some(turn) = self.turn.try_lock_for(SLICE) {
                return Ok(turn);
            }
            // The caller's function, too, but no sooner than the library would ask it.
            if control.is_to_stop() {
                return Err(failure::cancelled(control.why()));
            }
        }
    }

    /// Compiles, once more where a larger heap gives a precompiled header; the outer error is one of the
    /// crate's own.
    fn in_turn<R>(
        &self,
        wanted: &mut Wanted<'_>,
        automatic: &mut Option<Automatic>,
        inputs: &Inputs,
        fetch: impl Fn(&mut RawNvrtc, &Guarded) -> Result<R, NvrtcFailed>,
    ) -> Result<Result<Done<R>, NotDone>> {
        let library = &self.nvrtc.library.path;
        let work = if wanted.pch {
            Work::begin(&wanted.options.pch, automatic, &inputs.headers, library)?
        } else {
            Work::Off
        };
        for flag in work.flags() {
            wanted.flags.push(flag, PCH);
        }
        let given = wanted
            .flags
            .list
            .iter()
            .map(|flag| text("an option", flag))
            .collect::<Result<Vec<_>>>()?;
        let input = Input {
            api: self.nvrtc.api,
            source: &self.source,
            name: &self.name,
            headers: &inputs.headers,
            names: &inputs.names,
            flags: &given,
            control: wanted.control,
            wants_pch: !work.is_off(),
        };
        let attempt = || guarded(|guard| attempt(&input, &fetch, guard));
        let mut done = attempt()?;
        if done.as_ref().is_ok_and(|done| done.again) {
            done = attempt()?;
        }
        let tidied = |log: String| {
            let log = work.shown(log);
            if wanted.options.diagnostics.inline_remarks {
                log
            } else {
                log::without_remarks(&log)
            }
        };
        match done {
            Ok(mut done) => {
                if wanted.pch {
                    *self.pch.lock() = done.pch;
                }
                done.log = tidied(done.log);
                work.finish(done.pch, automatic, &inputs.headers, library)?;
                Ok(Ok(done))
            }
            Err(mut failed) => {
                failed.log = tidied(failed.log);
                for flag in &mut wanted.flags.list {
                    *flag = work.shown(std::mem::take(flag));
                }
                Ok(Err(failed))
            }
        }
    }
}
