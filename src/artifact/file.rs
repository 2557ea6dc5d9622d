//! Files that hold an artifact.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::error::{Error, Result};
use crate::fresh::fresh;

/// Reads a whole file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| Error::io("read", path, &e))
}

/// Writes a whole file, or leaves what was there.
///
/// The bytes go to a new file in the same folder first, since only within one file system does a
/// rename replace the old file in one step.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |e: io::Error| Error::io("write", path, &e);
    if path.file_name().is_none() {
        return Err(failed(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path ends in no file name",
        )));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let (draft, file) = fresh(folder, "cuda-program", |path| File::create_new(path));
    let mut file = file.map_err(failed)?;
    let written = file
        .write_all(bytes)
        // A rename may reach the disk before the bytes do, and a power cut between the two would
        // leave an empty file under the final name.
        .and_then(|()| file.sync_all())
        .and_then(|()| {
            drop(file);
            fs::rename(&draft, path)
        });
    written.map_err(|e| {
        let _ = fs::remove_file(&draft);
        failed(e)
    })
}
