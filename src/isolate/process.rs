//! One worker process, from the side of its owner.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::message::{self, Hello, Incoming, Setup};
use super::program::ARGUMENTS;
use crate::error::{Error, Result};

/// A worker that says nothing for so long is none.
const START: Duration = Duration::from_secs(20);

/// So much of the end of its standard error is kept, in bytes.
const KEPT: usize = 8 << 10;

/// A process that waits for jobs.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    socket: UnixStream,
    stderr: ChildStderr,
    /// The process that started it: a fork of that has no right to it.
    owner: u32,
    /// Whether it has done a job.
    pub(super) used: bool,
}

/// What came of a job.
#[derive(Debug)]
pub(super) enum Outcome {
    /// An answer, with what the worker wrote to its standard error meanwhile.
    Answer(Vec<u8>, String),
    /// The process ended, with its last words.
    Died(Option<ExitStatus>, String),
    /// It was not done in time.
    TimedOut,
}

/// Why a worker did not start.
#[derive(Debug)]
pub(super) enum NotStarted {
    /// It was killed from outside (`SIGKILL`).
    Killed,
    /// As it says.
    Because(String),
}

impl NotStarted {
    /// The error, for the program that was to be the worker.
    pub(super) fn of(self, program: &Path) -> Error {
        let problem = match self {
            NotStarted::Killed => "it was killed from outside as it started, twice".to_owned(),
            NotStarted::Because(problem) => problem,
        };
        Error::NoWorker {
            problem: format!("{}: {problem}", program.display()),
            hint:
                "name a program that calls `cuda_program::isolate::init()` at the top of `main`, \
                   built with this version of the crate"
                    .to_owned(),
        }
    }
}

impl From<io::Error> for NotStarted {
    fn from(e: io::Error) -> Self {
        NotStarted::Because(format!("it does not start: {e}"))
    }
}

impl Process {
    /// Starts a worker and waits until it says that it is one.
    pub(super) fn start(program: &Path, setup: &Setup) -> Result<Self, NotStarted> {
        let because = |problem: String| Err(NotStarted::Because(problem));
        let (ours, theirs) = UnixStream::pair()?;
        let mut child = Command::new(program)
            .args(ARGUMENTS)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // A signal for the owner's whole group, as from a terminal, is not for it.
            .process_group(0)
            .spawn()?;
        let Some(stderr) = child.stderr.take() else {
            _ = child.kill();
            _ = child.wait();
            return because("its standard error is not caught".to_owned());
        };
        let mut process = Process {
            child,
            socket: ours,
            stderr,
            owner: std::process::id(),
            used: false,
        };
        rustix::io::ioctl_fionbio(&process.stderr, true).map_err(io::Error::from)?;
        match process.ask(&message::frame(setup)?, START) {
            Outcome::Answer(answer, _) => match message::read::<Hello>(&answer) {
                Ok(hello) if hello.version == message::VERSION => Ok(process),
                Ok(hello) => because(format!(
                    "it has version {} of the crate, and this is {}",
                    hello.version,
                    message::VERSION
                )),
                Err(e) => because(format!("it answers what no worker does: {e}")),
            },
            Outcome::Died(Some(status), _) if status.signal() == Some(9) => Err(NotStarted::Killed),
            Outcome::Died(status, said) => {
                let how = status.map_or_else(String::new, |status| format!(" ({status})"));
                let said = said.trim();
                let said = if said.is_empty() { "nothing" } else { said };
                because(format!("it ended at once{how} and said {said}"))
            }
            Outcome::TimedOut => because(format!("it did not answer for {START:?}")),
        }
    }

    /// The number of the process.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a message and waits for the answer.
    pub(super) fn ask(&mut self, message: &[u8], patience: Duration) -> Outcome {
        let deadline = Instant::now().checked_add(patience);
        let mut said = Tail::default();
        match self.exchange(message, deadline, &mut said) {
            Ok(Some(answer)) => {
                said.drain(&mut self.stderr);
                Outcome::Answer(answer, said.text())
            }
            Ok(None) => {
                _ = self.child.kill();
                _ = self.child.wait();
                Outcome::TimedOut
            }
            // It closed the socket, or said what no worker says.
            Err(_) => {
                let status = self.end();
                said.drain(&mut self.stderr);
                Outcome::Died(status, said.text())
            }
        }
    }

    /// How it ended; one that closed its socket and goes on is ended.
    fn end(&mut self) -> Option<ExitStatus> {
        // The kernel closes a dying process's socket shortly before it can be waited for.
        for _ in 0..200 {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Err(_) => return None,
            }
        }
        _ = self.child.kill();
        self.child.wait().ok()
    }

    /// Writes and reads at once: a worker that says much while it is written to does not stop.
    fn exchange(
        &mut self,
        message: &[u8],
        deadline: Option<Instant>,
        said: &mut Tail,
    ) -> io::Result<Option<Vec<u8>>> {
        self.socket.set_nonblocking(true)?;
        let mut unsent = message;
        let mut incoming = Incoming::default();
        let mut stderr_is_open = true;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let wait = match deadline.map(|at| at.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return Ok(None),
                wait => wait.and_then(|wait| Timespec::try_from(wait).ok()),
            };
            let mut wanted = PollFlags::IN;
            if !unsent.is_empty() {
                wanted |= PollFlags::OUT;
            }
            let (socket, stderr) = {
                let mut both = [
                    PollFd::new(&self.socket, wanted),
                    PollFd::new(&self.stderr, PollFlags::IN),
                ];
                let count = if stderr_is_open { 2 } else { 1 };
                let (asked, _) = both.split_at_mut(count);
                match poll(asked, wait.as_ref()) {
                    Ok(_) => {}
                    Err(rustix::io::Errno::INTR) => continue,
                    Err(e) => return Err(e.into()),
                }
                let [socket, stderr] = both;
                (socket.revents(), stderr.revents())
            };
            if stderr_is_open && !stderr.is_empty() {
                stderr_is_open = said.drain(&mut self.stderr);
            }
            if socket.intersects(PollFlags::OUT) && !unsent.is_empty() {
                match self.socket.write(unsent) {
                    Ok(sent) => unsent = unsent.get(sent..).unwrap_or_default(),
                    Err(e) if is_passing(&e) => {}
                    // What it said before it ended may still be there to read.
                    Err(_) => unsent = &[],
                }
            }
            if socket.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
                match self.socket.read(&mut buffer) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(count) => {
                        let came = buffer.get(..count).unwrap_or_default();
                        if let Some(answer) = incoming.take(came)? {
                            return Ok(Some(answer));
                        }
                    }
                    Err(e) if is_passing(&e) => {}
                    Err(e) => return Err(e),
                }
            }
        }
    }
}

fn is_passing(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

impl Drop for Process {
    fn drop(&mut self) {
        // A fork has the same number of a process that is not its child.
        if self.owner == std::process::id() {
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

/// The signal and the code that a process ended with.
pub(super) fn signal_and_code(status: Option<ExitStatus>) -> (Option<i32>, Option<i32>) {
    status.map_or((None, None), |status| (status.signal(), status.code()))
}

/// The end of what a process wrote.
#[derive(Debug, Default)]
struct Tail(Vec<u8>);

impl Tail {
    /// Reads what is there, and says whether more may come.
    fn drain(&mut self, from: &mut ChildStderr) -> bool {
        let mut buffer = [0; 4096];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    self.0
                        .extend_from_slice(buffer.get(..count).unwrap_or_default());
                    let surplus = self.0.len().saturating_sub(KEPT);
                    self.0.drain(..surplus);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return e.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}
