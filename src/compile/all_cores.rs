//! The compiler that threads fill the cores with.

use super::in_process::{Compiler, InProcess};
use super::job::{Emit, Job, Source};
use super::output::Output;
use crate::error::{Library, Result};
#[cfg(all(feature = "isolate", unix, not(loom)))]
use crate::isolate::Isolated;
use crate::toolkit::Toolkit;

/// Runs jobs in this process where threads of one process fill the cores, and in worker processes where
/// they do not.
///
/// libNVVM before CUDA 12.4 and nvJitLink before 12.9 let one thread of a process compile at a time: two
/// threads get 1.0 times the work of one done, two processes twice. Workers need the feature `isolate`, and
/// a program that can be one; without, such jobs run here, one after the other.
#[derive(Debug, Clone)]
pub struct AllCores {
    here: InProcess,
    toolkit: Toolkit,
    #[cfg(all(feature = "isolate", unix, not(loom)))]
    workers: Option<Isolated>,
}

impl AllCores {
    /// Over the libraries of a toolkit.
    #[must_use]
    pub fn new(toolkit: &Toolkit) -> Self {
        AllCores {
            here: InProcess::new(toolkit),
            toolkit: toolkit.clone(),
            #[cfg(all(feature = "isolate", unix, not(loom)))]
            workers: crate::isolate::is_possible().then(|| Isolated::new(toolkit)),
        }
    }

    /// The worker processes, where there can be any.
    #[cfg(all(feature = "isolate", unix, not(loom)))]
    #[must_use]
    pub fn workers(&self) -> Option<&Isolated> {
        self.workers.as_ref()
    }

    /// Whether threads of one process wait for each other in what the job calls.
    #[cfg_attr(
        not(all(feature = "isolate", unix, not(loom))),
        allow(dead_code, reason = "then there is no choice")
    )]
    fn is_serial(&self, job: &Job) -> bool {
        let before =
            |library: &Library, version| library.major_minor().is_some_and(|known| known < version);
        let links = matches!(job.source, Source::Link(_))
            || (matches!(job.source, Source::Nvvm(_)) && job.emit == Emit::Cubin);
        let serial_link = links
            && self
                .toolkit
                .nvjitlink()
                .is_ok_and(|opened| before(&opened.library, (12, 9)));
        let serial_nvvm = matches!(job.source, Source::Nvvm(_))
            && self
                .toolkit
                .nvvm()
                .is_ok_and(|opened| before(&opened.library, (12, 4)));
        serial_link || serial_nvvm
    }
}

impl Compiler for AllCores {
    fn compile(&self, job: &Job) -> Result<Output> {
        #[cfg(all(feature = "isolate", unix, not(loom)))]
        if let Some(workers) = self.workers.as_ref().filter(|_| self.is_serial(job)) {
            return workers.compile(job);
        }
        self.here.compile(job)
    }
}
