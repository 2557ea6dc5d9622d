//! What has to do with NVIDIA's headers: it needs bindgen, which takes long to build, and libclang.

use std::path::{Path, PathBuf};

use crate::cargo::Cargo;
use crate::error::{Error, Result};
use crate::toolkit;
use crate::workspace::Workspace;

/// Writes `src/sys/bindings` from the headers of the newest toolkit.
#[cfg(feature = "bindgen")]
pub fn write_bindings(workspace: &Workspace) -> Result<()> {
    let newest = toolkit::newest();
    toolkit::install(workspace, &[newest])?;
    crate::bindgen::write(
        &workspace.toolkits().join(newest.version),
        &workspace.root().join("src/sys/bindings"),
    )
    .map_err(Error::Bindings)?;
    Cargo::new(["fmt", "--package", "cuda-program"]).run("formatting", workspace)
}

/// Runs this program again, built with bindgen.
#[cfg(not(feature = "bindgen"))]
pub fn write_bindings(workspace: &Workspace) -> Result<()> {
    let run = Cargo::on_xtask("run", "bindgen").passing(&["bindgen".into()]);
    with_libclang(workspace, run)?.run("bindgen", workspace)
}

/// Lets bindgen find libclang: the one that the variable names, or else an installed one.
pub fn with_libclang(workspace: &Workspace, cargo: Cargo) -> Result<Cargo> {
    const VARIABLE: &str = "LIBCLANG_PATH";
    if std::env::var_os(VARIABLE).is_some() {
        return Ok(cargo);
    }
    let installed = toolkit::install_libclang(workspace)?;
    match library_folder(&installed)? {
        Some(folder) => Ok(cargo.with(VARIABLE, folder)),
        None => Ok(cargo),
    }
}

/// The folder below `folder` that holds the library.
fn library_folder(folder: &Path) -> Result<Option<PathBuf>> {
    let entries = std::fs::read_dir(folder).map_err(Error::io("list", folder))?;
    for entry in entries {
        let path = entry.map_err(Error::io("list", folder))?.path();
        if path.is_dir() {
            if let Some(found) = library_folder(&path)? {
                return Ok(Some(found));
            }
        } else if path.file_stem().is_some_and(|name| name == "libclang") {
            return Ok(Some(folder.to_owned()));
        }
    }
    Ok(None)
}
