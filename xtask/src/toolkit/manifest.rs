//! What a whole toolkit consists of, written into it as its last file.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::pins::Pinned;
use crate::error::{Error, Result};

const FILE_NAME: &str = "manifest.json";

/// The packages and files of one installed toolkit.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The CUDA version.
    toolkit: String,
    /// What was installed, in the order of the table.
    packages: Vec<Installed>,
    /// The size in bytes of each file, by its path with forward slashes.
    files: BTreeMap<String, u64>,
}

/// A package that was installed.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Installed {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The size of its wheel in bytes.
    pub wheel_bytes: u64,
}

impl Manifest {
    /// Describes the files that lie in `folder` now.
    pub fn describe(folder: &Path, pinned: &Pinned, packages: Vec<Installed>) -> Result<Self> {
        let mut files = BTreeMap::new();
        list(folder, "", &mut files)?;
        files.remove(FILE_NAME);
        Ok(Manifest {
            toolkit: pinned.version.to_owned(),
            packages,
            files,
        })
    }

    /// Writes it into `folder`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(FILE_NAME);
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| Error::io("write", &path)(std::io::Error::other(e)))?;
        fs::write(&path, text).map_err(Error::io("write", &path))
    }

    /// The size of all files in bytes.
    pub fn bytes(&self) -> u64 {
        self.files.values().sum()
    }

    /// The size of all wheels in bytes.
    pub fn wheel_bytes(&self) -> u64 {
        self.packages.iter().map(|p| p.wheel_bytes).sum()
    }
}

/// What a look at the place of a toolkit found.
#[derive(Debug, PartialEq)]
pub enum State {
    /// There is nothing.
    Absent,
    /// There is something that must not be used, for this reason.
    Broken(String),
    /// Every file is there with its size.
    Whole(Manifest),
}

/// Looks whether `folder` holds the whole toolkit that `pinned` names.
pub fn check(folder: &Path, pinned: &Pinned) -> State {
    if fs::symlink_metadata(folder).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return State::Absent;
    }
    match read(folder, pinned) {
        Ok(manifest) => State::Whole(manifest),
        Err(reason) => State::Broken(reason),
    }
}

fn read(folder: &Path, pinned: &Pinned) -> Result<Manifest, String> {
    let text = fs::read_to_string(folder.join(FILE_NAME))
        .map_err(|e| format!("its {FILE_NAME} cannot be read ({e})"))?;
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|e| format!("its {FILE_NAME} is damaged ({e})"))?;

    let wanted = pinned.packages.iter().map(|p| (p.name, p.version));
    let present = manifest
        .packages
        .iter()
        .map(|p| (p.name.as_str(), p.version.as_str()));
    if manifest.toolkit != pinned.version || !wanted.eq(present) {
        return Err("it holds other packages than those asked for".to_owned());
    }
    for (name, &size) in &manifest.files {
        match fs::metadata(folder.join(name)) {
            Ok(found) if found.len() == size => {}
            Ok(found) => return Err(format!("{name} has {} bytes, not {size}", found.len())),
            Err(e) => return Err(format!("{name} cannot be read ({e})")),
        }
    }
    Ok(manifest)
}

fn list(folder: &Path, prefix: &str, files: &mut BTreeMap<String, u64>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let entry = entry.map_err(Error::io("list", folder))?;
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let metadata = entry.metadata().map_err(Error::io("read", &path))?;
        if metadata.is_dir() {
            list(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, metadata.len());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use tempfile::TempDir;

    use super::*;
    use crate::toolkit::{find, newest};

    const LIBRARY: &str = "nvidia/cu13/lib/libnvvm.so.4";

    fn installed(folder: &Path) -> Manifest {
        let library = folder.join(LIBRARY);
        fs::create_dir_all(library.parent().unwrap()).unwrap();
        fs::write(&library, "a library").unwrap();
        let packages = newest()
            .packages
            .iter()
            .map(|p| Installed {
                name: p.name.to_owned(),
                version: p.version.to_owned(),
                wheel_bytes: 5,
            })
            .collect();
        let manifest = Manifest::describe(folder, newest(), packages).unwrap();
        manifest.write(folder).unwrap();
        manifest
    }

    #[test]
    fn an_install_is_read_back_as_it_was_written() {
        let folder = TempDir::new().unwrap();
        let written = installed(folder.path());
        assert_eq!(written.bytes(), 9);
        assert_eq!(written.wheel_bytes(), 5 * newest().packages.len() as u64);
        assert_eq!(check(folder.path(), newest()), State::Whole(written));
    }

    #[test]
    fn a_folder_that_is_not_there_is_absent() {
        let folder = TempDir::new().unwrap();
        assert_eq!(check(&folder.path().join("x"), newest()), State::Absent);
    }

    fn no_manifest(folder: &Path) {
        fs::remove_file(folder.join(FILE_NAME)).unwrap();
    }

    fn half_a_manifest(folder: &Path) {
        let text = fs::read_to_string(folder.join(FILE_NAME)).unwrap();
        fs::write(folder.join(FILE_NAME), &text[..text.len() / 2]).unwrap();
    }

    fn missing_file(folder: &Path) {
        fs::remove_file(folder.join(LIBRARY)).unwrap();
    }

    fn changed_size(folder: &Path) {
        fs::write(folder.join(LIBRARY), "a lib").unwrap();
    }

    #[rstest]
    #[case::half_finished(no_manifest, "its manifest.json cannot be read")]
    #[case::cut_manifest(half_a_manifest, "its manifest.json is damaged")]
    #[case::missing_file(missing_file, "nvidia/cu13/lib/libnvvm.so.4 cannot be read")]
    #[case::changed_size(changed_size, "nvidia/cu13/lib/libnvvm.so.4 has 5 bytes, not 9")]
    fn a_damaged_install_is_broken(#[case] damage: fn(&Path), #[case] expected: &str) {
        let folder = TempDir::new().unwrap();
        installed(folder.path());
        damage(folder.path());
        match check(folder.path(), newest()) {
            State::Broken(reason) => assert!(reason.starts_with(expected), "{reason}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_install_of_another_version_is_broken() {
        let folder = TempDir::new().unwrap();
        installed(folder.path());
        assert_eq!(
            check(folder.path(), find("13.0").unwrap()),
            State::Broken("it holds other packages than those asked for".to_owned())
        );
    }
}
