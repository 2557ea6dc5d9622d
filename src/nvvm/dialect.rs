//! Which of libNVVM's two compilers a program needs.

use super::modules::Module;
use super::options::{Dialect, Options};
use super::probe;
use crate::arch::Arch;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{DialectError, Error, Library, Result};
use crate::guard::Guarded;
use crate::sys::Nvvm;
use crate::toolkit::Opened;

/// The LLVM whose IR libNVVM reads below compute_100 without the newer NVVM.
pub(super) const LEGACY_LLVM: u32 = 7;

/// What was decided.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Whether `-nvvm-latest` is passed.
    pub(super) latest: bool,
    /// What to tell the caller of it.
    pub(super) notes: Vec<Diagnostic>,
    /// What a failure to compile is most likely due to.
    pub(super) suspicion: Option<Error>,
}

/// Decides, asking the library where the answer depends on it.
pub(super) fn choose(
    options: &Options,
    modules: &[Module],
    nvvm: &Opened<Nvvm>,
    guard: &Guarded,
) -> Result<Choice> {
    if options.arch >= Arch::SM_100 {
        return Ok(Choice::default());
    }
    let evidence = evidence(modules);
    let reason = match (options.dialect, &evidence, options.ptx_version) {
        (Dialect::Latest, ..) => None,
        (Dialect::Legacy, Some(evidence), _) => {
            return without_newer(
                evidence,
                options,
                &nvvm.library,
                "`dialect` forbids the newer NVVM",
            );
        }
        (Dialect::Auto, Some(evidence), _) => Some(format!(
            "{} has {}{}",
            evidence.module.name(),
            evidence.what,
            evidence
                .line
                .map_or(String::new(), |line| format!(" in line {line}")),
        )),
        (Dialect::Auto, None, Some(version)) => Some(format!("PTX {version} was asked for")),
        (Dialect::Legacy | Dialect::Auto, None, _) => return Ok(Choice::default()),
    };
    match (probe::has_newer_nvvm(nvvm, options.arch, guard), evidence) {
        // The library's own complaint of the architecture is the better error.
        (None, _) => Ok(Choice::default()),
        (Some(true), _) => Ok(Choice {
            latest: true,
            notes: reason
                .map(|reason| {
                    let message = format!("compiled with the newer NVVM (-nvvm-latest): {reason}");
                    Diagnostic::new(Severity::Note, message)
                })
                .into_iter()
                .collect(),
            suspicion: None,
        }),
        (Some(false), Some(evidence)) if options.dialect == Dialect::Auto => {
            without_newer(&evidence, options, &nvvm.library, "it has no newer NVVM")
        }
        (Some(false), _) => Err(Error::Unsupported {
            what: if options.dialect == Dialect::Latest {
                "`dialect` Latest (-nvvm-latest)".to_owned()
            } else {
                format!("`ptx_version` for {}", options.arch.compute())
            },
            needs:
                "the newer NVVM, which libNVVM of CUDA 13.5 has and that of 13.0 and 12.x has not"
                    .to_owned(),
            library: nvvm.library.clone(),
        }),
    }
}

/// What speaks against LLVM 7.
struct Evidence<'a> {
    module: &'a Module,
    what: String,
    line: Option<u32>,
    /// Whether it is proof; a newer writer alone is none.
    proof: bool,
}

/// The first proof, or else the first doubt.
fn evidence(modules: &[Module]) -> Option<Evidence<'_>> {
    let mut proofs = modules.iter().filter_map(|module| {
        let modern = module.info.modern.as_ref()?;
        Some(Evidence {
            module,
            what: modern.what.clone(),
            line: modern.line,
            proof: true,
        })
    });
    let mut doubts = modules.iter().filter_map(|module| {
        let producer = module.info.producer.as_ref()?;
        (producer.version?.0 > LEGACY_LLVM).then(|| Evidence {
            module,
            what: format!("bitcode written by {}", producer.text),
            line: None,
            proof: false,
        })
    });
    proofs.next().or_else(|| doubts.next())
}

/// A modern module and no newer NVVM: refused where LLVM 7 certainly cannot read it; tried where only
/// the version of its writer speaks against it, since much of such bitcode reads well.
fn without_newer(
    evidence: &Evidence<'_>,
    options: &Options,
    library: &Library,
    why_not: &str,
) -> Result<Choice> {
    let module = evidence.module;
    let error = Error::from(DialectError {
        module: module.name().to_owned(),
        line: evidence.line,
        snippet: None,
        what: evidence.what.clone(),
        producer: module.info.producer.as_ref().map(|p| p.text.clone()),
        arch: options.arch,
        reads: LEGACY_LLVM,
        why_not: why_not.to_owned(),
        library: library.clone(),
        log: String::new(),
    });
    if evidence.proof {
        return Err(error);
    }
    Ok(Choice {
        latest: false,
        notes: vec![
            Diagnostic::new(
                Severity::Warning,
                format!(
                    "for {} it is read by LLVM {LEGACY_LLVM}, and {}",
                    options.arch.compute(),
                    evidence.what
                ),
            )
            .in_module(module.name()),
        ],
        suspicion: Some(error),
    })
}
