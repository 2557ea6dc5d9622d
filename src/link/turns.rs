//! Who may be inside nvJitLink with whom.
//!
//! Every nvJitLink from 12.4 to 13.5 that refuses a cubin keeps a recursive lock of its own for ever, on
//! the thread that added it: the next link on any other thread waits without end. So inputs that it may
//! refuse so are first tried alone, on a thread that is kept for it. Where one is refused, that thread,
//! which the lock lets in, does all further links. 12.4 makes a cubin of LTO IR late, when all is
//! there, and loses the lock where that one clashes with another input: there a mixed link is wholly
//! done alone.

use std::path::{Path, PathBuf};

use parking_lot::{Mutex, RwLock};

use crate::error::Result;
use crate::guard::OneThread;

/// What is known of one library.
#[derive(Default)]
struct Turns {
    /// Whether the library keeps its lock. Held for reading during a link, and for writing while inputs
    /// are tried, so that no link is inside the library when the lock is lost.
    kept: RwLock<bool>,
    /// The thread that the lock lets in.
    thread: OneThread,
}

/// One for each library, by its file. Held to look one up, never during a call.
static LIBRARIES: Mutex<Vec<(PathBuf, &'static Turns)>> = Mutex::new(Vec::new());

fn of(library: &Path) -> &'static Turns {
    let mut all = LIBRARIES.lock();
    if let Some((_, turns)) = all.iter().find(|(file, _)| file == library) {
        return turns;
    }
    let turns: &'static Turns = Box::leak(Box::default());
    all.push((library.to_owned(), turns));
    turns
}

/// Whether a version loses its lock as late as when all inputs are there: 12.4 does, 12.0 and 12.9 do not,
/// and nobody knows of those between.
pub(super) fn loses_late(version: (u32, u32)) -> bool {
    ((12, 1)..(12, 9)).contains(&version)
}

/// Links where no trial can tell whether the lock will be lost: alone, on the thread that is kept for it.
///
/// # Errors
///
/// As for [`link`].
pub(super) fn alone<R: Send, E: Send>(
    library: &Path,
    link: impl FnOnce() -> Result<std::result::Result<R, E>> + Send,
) -> Result<std::result::Result<R, E>> {
    let Turns { kept, thread } = of(library);
    let mut kept = kept.write();
    let linked = thread.run(link)??;
    *kept |= linked.is_err();
    Ok(linked)
}

/// Links, after a trial of the inputs where there is one and the lock could still be lost.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) where the thread cannot be started.
pub(super) fn link<R: Send, E: Send>(
    library: &Path,
    trial: Option<impl FnOnce() -> Result<std::result::Result<(), E>> + Send>,
    link: impl FnOnce() -> Result<std::result::Result<R, E>> + Send,
) -> Result<std::result::Result<R, E>> {
    let Turns { kept, thread } = of(library);
    if let Some(trial) = trial {
        let mut kept = kept.write();
        if !*kept {
            if let Err(refused) = thread.run(trial)?? {
                *kept = true;
                return Ok(Err(refused));
            }
        }
    }
    let kept = kept.read();
    if *kept { thread.run(link)? } else { link() }
}
