//! Where things lie in the workspace.

use std::path::{Path, PathBuf};

/// The workspace that the commands work on.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace that this program was started from by cargo, or else was built in.
    pub fn current() -> Self {
        let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest_dir.parent().unwrap_or(&manifest_dir);
        Workspace::at(root)
    }

    /// The workspace with this root folder.
    pub fn at(root: impl AsRef<Path>) -> Self {
        Workspace {
            root: root.as_ref().to_owned(),
        }
    }

    /// The folder with the workspace's `Cargo.toml`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for tools that the commands install for themselves.
    pub fn tools(&self) -> PathBuf {
        self.root.join("target").join("tools")
    }

    /// The folder that holds one folder for each installed toolkit.
    ///
    /// It does not follow `CARGO_TARGET_DIR`: the tests look for it here, and a second target
    /// folder needs no second copy.
    pub fn toolkits(&self) -> PathBuf {
        self.root.join("target").join("toolkits")
    }
}
