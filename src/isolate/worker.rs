//! A worker process, from its own side.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::exit;

use rustix::event::{PollFd, PollFlags, poll};

use super::message::{self, Hello, Received, Reply, Setup};
use super::program;
use crate::compile::{Compiler, InProcess, Job, Output};
use crate::error::Result;
use crate::sys::process::{close_all_but_standard, leave};
use crate::toolkit::{Part, Toolkit};

/// Makes this program its own worker: call it first in `main`.
///
/// A worker is this program started once more, with the arguments `worker --of-cuda-program` in place of its
/// own, so nothing in `main` may look at them before. In such a process it does not return. Elsewhere it does nothing but to say
/// that this program can be started so.
pub fn init() {
    program::is_its_own();
    if program::is_worker() {
        serve();
    }
}

/// Compiles what its owner sends over the standard input, until that closes, and leaves.
///
/// [`init`] calls it where that is to be; a program of one's own may call it for a command of its own.
pub fn serve() -> ! {
    match run() {
        Ok(()) => exit(0),
        Err(e) => {
            _ = writeln!(
                io::stderr(),
                "this is a worker process of cuda-program, which an owner starts with a socket as \
                 its standard input: {e}"
            );
            exit(2)
        }
    }
}

fn run() -> io::Result<()> {
    // The toolkits' libraries write to the standard streams as they like.
    let own = io::stdin().as_fd().try_clone_to_owned()?;
    let mut socket = UnixStream::from(own);
    socket.peer_addr()?;
    socket.set_nonblocking(false)?;
    let nothing = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    drop(nothing);
    close_all_but_standard(socket.as_fd());

    let Some(setup) = message::next(&mut socket)? else {
        return Ok(());
    };
    let setup: Setup = message::read(&setup)?;
    if let Some(limit) = setup.memory {
        limit_memory(limit)?;
    }
    leave_with_owner(&socket)?;
    let hello = Hello {
        version: message::VERSION.to_owned(),
    };
    message::write(&mut socket, &hello)?;

    let mut toolkits = Toolkits::default();
    while let Some(request) = message::next(&mut socket)? {
        let request: Received = message::read(&request)?;
        let result = toolkits.compile(&request.files, &request.job);
        io::stderr().flush()?;
        message::write(&mut socket, &Reply(result))?;
    }
    Ok(())
}

/// Ends the process when the owner is gone, on a thread of its own: the main thread may be in a compiler
/// that never comes back. It wakes for nothing else, since each wake costs a job tens of microseconds.
fn leave_with_owner(socket: &UnixStream) -> io::Result<()> {
    let socket = socket.try_clone()?;
    std::thread::Builder::new()
        .name("owner".to_owned())
        .spawn(move || {
            let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
            loop {
                let mut watched = [PollFd::new(&socket, PollFlags::RDHUP)];
                match poll(&mut watched, None) {
                    Ok(_) if watched.iter().any(|fd| fd.revents().intersects(gone)) => leave(0),
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(_) => leave(1),
                }
            }
        })?;
    Ok(())
}

fn limit_memory(bytes: u64) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let highest = getrlimit(Resource::As).maximum;
    let limit = Rlimit {
        current: Some(highest.map_or(bytes, |highest| highest.min(bytes))),
        maximum: highest,
    };
    setrlimit(Resource::As, limit)?;
    Ok(())
}

/// The toolkits that jobs were for.
#[derive(Default)]
struct Toolkits(HashMap<BTreeMap<Part, PathBuf>, InProcess>);

impl Toolkits {
    fn compile(&mut self, files: &BTreeMap<Part, PathBuf>, job: &Job) -> Result<Output> {
        if let Some(known) = self.0.get(files) {
            return known.compile(job);
        }
        let compiler = InProcess::new(&Toolkit::of_files(files)?);
        self.0.entry(files.clone()).or_insert(compiler).compile(job)
    }
}
