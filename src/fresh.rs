//! Names that no other writer has.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes something in a folder under a hidden name that begins with a point and `stem`, and that
/// nobody else uses; `make` must fail where the name is taken.
pub(crate) fn fresh<T>(
    folder: &Path,
    stem: &str,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> (PathBuf, io::Result<T>) {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!(".{stem}.{}.{number}", std::process::id()));
        match make(&path) {
            // Left by a process of the same id that was killed, or of another machine or container.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            made => return (path, made),
        }
    }
}
