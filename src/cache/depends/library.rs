//! Which build of a library compiles.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::cache::key::Uncacheable;
use crate::error::Library;
use crate::sync::Mutex;

/// Libraries that were looked at before; one that is open stays as it is.
#[derive(Debug, Default)]
pub(in crate::cache) struct Libraries {
    /// Guards what is known; no file is read while it is held.
    known: Mutex<HashMap<PathBuf, Arc<str>>>,
}

impl Libraries {
    /// A library's name, version and build.
    ///
    /// # Errors
    ///
    /// Where its file cannot be read, or is not the one that was opened.
    pub(in crate::cache) fn identity(&self, library: &Library) -> Result<Arc<str>, Uncacheable> {
        if let Some(known) = self.known.lock().get(&library.path) {
            return Ok(known.clone());
        }
        let path = &library.path;
        if was_replaced(path) {
            return Err(Uncacheable::because(format!(
                "{library} was replaced since it was opened, so which build compiles is not known: \
                 start the process again"
            )));
        }
        let version = library.version.as_deref().unwrap_or("?");
        let mut identity = format!("{} {version} {}", library.name, build_of(path)?);
        for builtins in companions(path) {
            let _ = write!(identity, ", {}", build_of(&builtins)?);
        }
        tracing::debug!(%library, identity, "known to the cache");
        let identity: Arc<str> = identity.into();
        self.known.lock().insert(path.clone(), identity.clone());
        Ok(identity)
    }
}

fn build_of(path: &Path) -> Result<String, Uncacheable> {
    let unreadable = |e: io::Error| {
        Uncacheable::because(format!(
            "the library {} cannot be read: {e}",
            path.display()
        ))
    };
    let mut file = File::open(path).map_err(unreadable)?;
    if let Some(id) = build_id(&mut file) {
        // The length too: it costs nothing, and a file that was patched often has another.
        let length = file.metadata().map_err(unreadable)?.len();
        return Ok(format!("build {id}, {length} bytes"));
    }
    let mut hasher = blake3::Hasher::new();
    file.rewind()
        .and_then(|()| hasher.update_reader(&file).map(drop))
        .map_err(unreadable)?;
    Ok(format!("content {}", hasher.finalize().to_hex()))
}

/// NVRTC reads its built-in headers from a library beside it.
fn companions(path: &Path) -> Vec<PathBuf> {
    let is_nvrtc = path
        .file_name()
        .is_some_and(|name| name.to_string_lossy().contains("nvrtc"));
    let Some(folder) = path.parent().filter(|_| is_nvrtc) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.contains("nvrtc-builtins") && !name.contains(".alt.")
            })
        })
        .collect();
    found.sort();
    found
}

/// Whether a file that this process has mapped lies no longer where it was.
fn was_replaced(path: &Path) -> bool {
    let real = std::fs::canonicalize(path);
    let gone = format!(
        "{} (deleted)",
        real.as_deref().unwrap_or(path).to_string_lossy()
    );
    std::fs::read("/proc/self/maps").is_ok_and(|maps| {
        maps.split(|&b| b == b'\n')
            .any(|l| l.ends_with(gone.as_bytes()))
    })
}

/// The build id in the notes of a 64-bit ELF file, in hexadecimal.
fn build_id(file: &mut File) -> Option<String> {
    const NOTE: u32 = 4;
    const MOST: u64 = 64 << 10;
    let header = read(file, 0, 64)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let (table, size, count) = (
        u64_at(&header, 32)?,
        u64::from(u16_at(&header, 54)?),
        u64::from(u16_at(&header, 56)?),
    );
    let table = read(file, table, size.checked_mul(count)?.min(MOST))?;
    for segment in table.chunks_exact(usize::try_from(size).ok().filter(|&size| size > 0)?) {
        if u32_at(segment, 0)? != NOTE {
            continue;
        }
        let offset = u64_at(segment, 8)?;
        let length = u64_at(segment, 32)?.min(MOST);
        let id = read(file, offset, length).and_then(|notes| in_notes(&notes));
        if id.is_some() {
            return id;
        }
    }
    None
}

fn in_notes(mut notes: &[u8]) -> Option<String> {
    const BUILD_ID: u32 = 3;
    loop {
        let name = u32_at(notes, 0)? as usize;
        let length = u32_at(notes, 4)? as usize;
        let kind = u32_at(notes, 8)?;
        let name_end = 12_usize.checked_add(name)?;
        let start = name_end.checked_next_multiple_of(4)?;
        let end = start.checked_add(length)?;
        let id = notes.get(start..end)?;
        if kind == BUILD_ID && notes.get(12..name_end)? == b"GNU\0" && !id.is_empty() {
            return Some(id.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            }));
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..)?;
    }
}

fn read(file: &mut File, offset: u64, length: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset)).ok()?;
    file.take(length).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Toolkit;

    fn toolkit(version: &str) -> Toolkit {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toolkits");
        Toolkit::at(root.join(version))
            .unwrap_or_else(|e| panic!("install it with `cargo xtask toolkit {version}`: {e}"))
    }

    #[test]
    fn every_library_of_every_version_has_a_build_of_its_own() {
        let libraries = Libraries::default();
        let mut seen = BTreeSet::new();
        for version in ["12.0", "12.4", "12.9", "13.0", "13.5"] {
            let toolkit = toolkit(version);
            for library in [
                &toolkit.nvvm().unwrap().library,
                &toolkit.nvrtc().unwrap().library,
                &toolkit.nvjitlink().unwrap().library,
            ] {
                let identity = libraries.identity(library).unwrap();
                assert!(identity.starts_with(&library.name), "{identity}");
                let nvrtc = library.name == "NVRTC";
                let contents = identity.matches("content ").count();
                let builds = identity.matches("build ").count();
                assert_eq!(builds + contents, 1 + usize::from(nvrtc), "{identity}");
                // Those that were made without a build id.
                let expected = usize::from(nvrtc && ["12.0", "12.4"].contains(&version));
                assert_eq!(contents, expected, "{identity}");
                assert!(seen.insert(identity));
            }
        }
    }

    #[test]
    fn a_file_without_a_build_id_is_known_by_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libnvvm.so");
        let library = Library {
            name: "libNVVM".to_owned(),
            version: None,
            path: path.clone(),
        };
        let mut seen = BTreeSet::new();
        for content in ["", "\x7fELF\x02\x01", "one", "two"] {
            std::fs::write(&path, content).unwrap();
            let identity = Libraries::default().identity(&library).unwrap();
            assert!(identity.contains("content"), "{identity}");
            assert!(seen.insert(identity));
        }
        std::fs::remove_file(&path).unwrap();
        let refused = Libraries::default().identity(&library).unwrap_err();
        assert!(refused.reason.contains("libnvvm.so"), "{refused}");
    }

    #[test]
    fn no_head_of_a_library_makes_the_look_panic() {
        let toolkit = toolkit("13.5");
        let path = &toolkit.nvvm().unwrap().library.path;
        let head = read(&mut File::open(path).unwrap(), 0, 4096).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library");
        for index in 0..700 {
            for value in [0, 0x7f, 0xff] {
                let mut changed = head.clone();
                changed[index] = value;
                std::fs::write(&path, &changed[..4096 - index]).unwrap();
                let id = build_id(&mut File::open(&path).unwrap());
                assert!(id.is_none_or(|id| !id.is_empty()));
            }
        }
    }
}
