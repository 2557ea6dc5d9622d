//! Builds the programs, packs the libraries, and sees that the folder is small enough.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::contents::{LIBRARIES, LIMIT, PACK, PROGRAMS, RUN, megabytes, programs};
use crate::cargo::Cargo;
use crate::error::{Error, Result};
use crate::toolkit;
use crate::workspace::Workspace;

/// Writes the bundle into `out`, which is emptied first if a bundle is in it.
pub fn write(workspace: &Workspace, out: Option<&Path>) -> Result<()> {
    let out = out.map_or_else(
        || workspace.root().join("target").join("gpu-bundle"),
        Path::to_owned,
    );
    clear(&out)?;
    let bin = out.join("bin");
    fs::create_dir_all(&bin).map_err(Error::io("create", &bin))?;

    let mut parts = Vec::new();
    let line = "build --release --config profile.release.strip=true --message-format=json-render-diagnostics";
    let said = Cargo::new(line.split(' ').chain(PROGRAMS)).output("the programs", workspace)?;
    for program in programs(&said) {
        let place = bin.join(&program.name);
        let bytes = fs::copy(&program.path, &place).map_err(Error::io("copy", &program.path))?;
        parts.push((format!("bin/{}", program.name), bytes));
    }

    let archive = packed_toolkit(workspace)?;
    let place = out.join("toolkit.tar.xz");
    let bytes = fs::copy(&archive, &place).map_err(Error::io("copy", &archive))?;
    parts.push(("toolkit.tar.xz".to_owned(), bytes));

    let run = out.join("run.sh");
    fs::write(&run, RUN).map_err(Error::io("write", &run))?;
    executable(&run)?;
    parts.push(("run.sh".to_owned(), RUN.len() as u64));

    for (name, bytes) in &parts {
        println!("{:>9}  {name}", megabytes(*bytes));
    }
    let total: u64 = parts.iter().map(|(_, bytes)| bytes).sum();
    println!("{:>9}  in all, in {}", megabytes(total), out.display());
    if total > LIMIT {
        return Err(Error::BundleTooLarge {
            size: megabytes(total),
            limit: megabytes(LIMIT),
        });
    }
    Ok(())
}

/// Removes an earlier bundle, and nothing else.
fn clear(out: &Path) -> Result<()> {
    let occupied = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    if !occupied {
        return Ok(());
    }
    if !out.join("run.sh").is_file() || !out.join("bin").is_dir() {
        return Err(Error::NotABundle {
            path: out.to_owned(),
        });
    }
    fs::remove_dir_all(out).map_err(Error::io("remove", out))
}

/// The archive of the newest toolkit's libraries, packed once: that takes a minute and more.
fn packed_toolkit(workspace: &Workspace) -> Result<PathBuf> {
    let newest = toolkit::newest();
    toolkit::install(workspace, &[newest])?;
    let folder = workspace
        .toolkits()
        .join(newest.version)
        .join("nvidia/cu13");
    let archive = workspace
        .root()
        .join(format!("target/gpu-toolkit-{}.tar.xz", newest.version));
    if archive.is_file() {
        return Ok(archive);
    }
    println!(
        "packing the libraries of {}; this takes minutes",
        newest.title
    );
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    // Renamed when whole, since a cut archive would be taken for one.
    let part = archive.with_extension("part");
    let status = Command::new(&python)
        .args(["-c", PACK])
        .args([&part, &folder])
        .args(LIBRARIES)
        .status()
        .map_err(Error::io("run", &python))?;
    if !status.success() {
        return Err(Error::Step {
            name: "packing the libraries",
            status,
            line: "cargo xtask gpu-bundle".to_owned(),
        });
    }
    fs::rename(&part, &archive).map_err(Error::io("rename", &part))?;
    Ok(archive)
}

#[cfg(unix)]
fn executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(Error::io("make executable", path))
}

#[cfg(not(unix))]
fn executable(_path: &Path) -> Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_something_else_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), "").unwrap();
        assert!(matches!(
            clear(folder.path()),
            Err(Error::NotABundle { .. })
        ));
        assert!(folder.path().join("mine").exists());
    }

    #[test]
    fn an_earlier_bundle_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("bundle");
        fs::create_dir_all(out.join("bin")).unwrap();
        fs::write(out.join("run.sh"), RUN).unwrap();
        fs::write(out.join("old"), "").unwrap();
        clear(&out).unwrap();
        assert!(!out.exists());
    }
}
