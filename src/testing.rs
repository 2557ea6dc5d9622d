//! What unit tests need of the surroundings.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod locale;
pub(crate) mod mutate;
mod process;
pub(crate) mod random;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use locale::CommaLocale;
pub(crate) use process::again_in_a_process_of_its_own;

/// A folder with these files, by their names below it and their texts.
#[cfg(feature = "cache")]
pub(crate) fn folder_of(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}
