//! Folders and files that are their owner's alone.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::Path;

/// How the name of a file begins that is not whole yet.
pub(super) const DRAFT: &str = ".draft-";

/// Makes a folder, with those above it, that nobody else may look into.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Why a folder is not to be trusted: what another user put there could end up on a GPU.
#[cfg(unix)]
pub(super) fn distrust(metadata: &Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    const ROOT: u32 = 0;
    const OTHERS_WRITE: u32 = 0o022;
    let owner = metadata.uid();
    if ![ROOT, rustix::process::geteuid().as_raw()].contains(&owner) {
        return Some(format!(
            "it belongs to another user ({owner}): name a folder of your own"
        ));
    }
    let mode = metadata.mode() & 0o777;
    (mode & OTHERS_WRITE != 0).then(|| {
        format!("others may write to it (mode {mode:03o}): make it private with `chmod 700`")
    })
}

/// Why a folder is not to be trusted: here the system's own rules for the user's folders hold.
#[cfg(not(unix))]
pub(super) fn distrust(_: &Metadata) -> Option<String> {
    None
}

/// Writes a file that appears whole, or not at all.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // It is readable by its owner alone from the beginning.
    let draft = || tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder);
    let mut file = match draft() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            make(folder)?;
            draft()?
        }
        other => other?,
    };
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|e| e.error)
}

/// Opens an entry, which is a regular file.
pub(super) fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = File::options();
    options.read(true);
    // A pipe would wait for a writer.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is no regular file",
        ));
    }
    Ok((file, metadata))
}
