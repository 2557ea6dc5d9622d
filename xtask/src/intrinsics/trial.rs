//! Trials: a compiler of one library for one architecture, in processes that may die.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::candidates::{Candidate, Pointers};
use super::worker::Answer;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// A compilation that takes longer never ends.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which of libNVVM's two compilers it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Path {
    /// That of LLVM 7.
    Legacy,
    /// That of a current LLVM.
    Modern,
}

impl Path {
    /// Both.
    pub const BOTH: [Path; 2] = [Path::Legacy, Path::Modern];

    /// How it is spoken to.
    pub fn pointers(self) -> Pointers {
        match self {
            Path::Legacy => Pointers::Typed,
            Path::Modern => Pointers::Opaque,
        }
    }
}

/// One compiler.
#[derive(Debug)]
pub struct Compiler {
    /// The version of the toolkit.
    pub version: &'static str,
    /// Whose compiler it is.
    pub path: Path,
    options: &'static [&'static str],
}

/// All that are tried: each dialect of each library, the older one also for an older architecture.
pub const COMPILERS: [Compiler; 13] = {
    const fn compiler(
        version: &'static str,
        path: Path,
        options: &'static [&'static str],
    ) -> Compiler {
        Compiler {
            version,
            path,
            options,
        }
    }
    use Path::{Legacy, Modern};
    [
        compiler("12.0", Legacy, &["-arch=compute_75"]),
        compiler("12.0", Legacy, &["-arch=compute_90"]),
        compiler("12.4", Legacy, &["-arch=compute_90"]),
        compiler("12.9", Legacy, &["-arch=compute_90"]),
        compiler("12.9", Modern, &["-arch=compute_100"]),
        compiler("13.0", Legacy, &["-arch=compute_75"]),
        compiler("13.0", Legacy, &["-arch=compute_90"]),
        compiler("13.0", Modern, &["-arch=compute_100"]),
        compiler("13.5", Legacy, &["-arch=compute_75"]),
        compiler("13.5", Legacy, &["-arch=compute_90"]),
        compiler("13.5", Modern, &["-arch=compute_75", "-nvvm-latest"]),
        compiler("13.5", Modern, &["-arch=compute_90", "-nvvm-latest"]),
        compiler("13.5", Modern, &["-arch=compute_100"]),
    ]
};

impl Compiler {
    /// Whether it is of the oldest library.
    pub fn is_first(&self) -> bool {
        self.version == "12.0"
    }

    /// Whether it is of the newest library.
    pub fn is_last(&self) -> bool {
        self.version == "13.5"
    }

    /// How people call it.
    pub fn name(&self) -> String {
        format!("{} {}", self.version, self.options.join(" "))
    }

    /// Tries all; `None` stands for a process that died or did not come to an end.
    pub fn try_all(
        &self,
        workspace: &Workspace,
        candidates: &[Candidate],
    ) -> Result<Vec<Option<Answer>>> {
        let toolkit = workspace.toolkits().join(self.version);
        let mut worker = Worker::start(toolkit.clone(), self.options)?;
        let mut answers = Vec::new();
        for candidate in candidates {
            if !candidate.is_for(self.path.pointers()) {
                answers.push(Some(Answer::Refused));
                continue;
            }
            let mut answer = worker.ask(&candidate.module(self.path.pointers(), false));
            if answer != Some(Answer::Code) && answer.is_some() && candidate.may_be_fast() {
                answer = worker.ask(&candidate.module(self.path.pointers(), true));
            }
            if answer.is_none() {
                worker = Worker::start(toolkit.clone(), self.options)?;
            }
            answers.push(answer);
        }
        Ok(answers)
    }
}

struct Worker {
    child: Child,
    input: ChildStdin,
    answers: Receiver<u8>,
}

impl Worker {
    fn start(toolkit: PathBuf, options: &[&str]) -> Result<Self> {
        let own = std::env::current_exe().map_err(Error::io("find", "this program"))?;
        let mut child = Command::new(&own)
            .args(["intrinsics", "--serve"])
            .arg(toolkit)
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::io("run", &own))?;
        let (Some(input), Some(mut output)) = (child.stdin.take(), child.stdout.take()) else {
            let missing = std::io::Error::other("it has no pipes");
            return Err(Error::io("run", &own)(missing));
        };
        let (send, answers) = channel();
        std::thread::spawn(move || {
            let mut byte = [0];
            while output.read_exact(&mut byte).is_ok() && send.send(byte[0]).is_ok() {}
        });
        Ok(Worker {
            child,
            input,
            answers,
        })
    }

    fn ask(&mut self, module: &str) -> Option<Answer> {
        let length = u32::try_from(module.len()).ok()?.to_le_bytes();
        self.input.write_all(&length).ok()?;
        self.input.write_all(module.as_bytes()).ok()?;
        Answer::of(self.answers.recv_timeout(PATIENCE).ok()?)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}
