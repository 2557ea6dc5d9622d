//! Who may be inside nvJitLink with whom.
//!
//! Every nvJitLink from 12.4 to 13.5 that refuses a cubin keeps a recursive lock of its own for ever, on
//! the thread that added it: the next link on any other thread waits without end. So inputs that it may
//! refuse so are first tried alone, on a thread that is kept for it. Where one is refused, that thread,
//! which the lock lets in, does all further links.

use std::path::{Path, PathBuf};

use parking_lot::{Mutex, RwLock};

use crate::error::Result;
use crate::guard::on_the_thread_of;

/// Whether a library keeps its lock. Held for reading during a link, and for writing while inputs are
/// tried, so that no link is inside the library when the lock is lost.
type Kept = RwLock<bool>;

/// One for each library, by its file. Held to look one up, never during a call.
static LIBRARIES: Mutex<Vec<(PathBuf, &'static Kept)>> = Mutex::new(Vec::new());

fn of(library: &Path) -> &'static Kept {
    let mut all = LIBRARIES.lock();
    if let Some((_, kept)) = all.iter().find(|(file, _)| file == library) {
        return kept;
    }
    let kept: &'static Kept = Box::leak(Box::default());
    all.push((library.to_owned(), kept));
    kept
}

/// Links, after a trial of the inputs where there is one.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) where the thread cannot be started.
pub(super) fn link<R: Send, E: Send>(
    library: &Path,
    trial: Option<impl FnOnce() -> Result<std::result::Result<(), E>> + Send>,
    link: impl FnOnce() -> Result<std::result::Result<R, E>> + Send,
) -> Result<std::result::Result<R, E>> {
    let kept = of(library);
    if let Some(trial) = trial {
        let mut kept = kept.write();
        if let Err(refused) = on_the_thread_of(library, trial)?? {
            *kept = true;
            return Ok(Err(refused));
        }
    }
    let kept = kept.read();
    if *kept {
        on_the_thread_of(library, link)?
    } else {
        link()
    }
}
