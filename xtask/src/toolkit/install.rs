//! Puts toolkits in their place, whole or not at all.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::manifest::{self, Installed, Manifest, State};
use super::pins::{CUOBJDUMP, LIBCLANG, Package, Pinned};
use super::python::Python;
use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// Installs the toolkits that are not there yet, and prints what it does.
pub fn install(workspace: &Workspace, versions: &[&Pinned]) -> Result<()> {
    versions
        .iter()
        .try_for_each(|pinned| install_into(&workspace.toolkits(), pinned).map(drop))
}

/// Installs the folder that holds libclang if it is not there yet, and returns it.
pub fn install_libclang(workspace: &Workspace) -> Result<PathBuf> {
    install_into(&workspace.tools().join("libclang"), &LIBCLANG)
}

/// Installs the folder that holds cuobjdump if it is not there yet, and returns it.
pub fn install_cuobjdump(workspace: &Workspace) -> Result<PathBuf> {
    install_into(&workspace.tools().join("cuobjdump"), &CUOBJDUMP)
}

/// Python is looked for only when something is to be fetched.
fn install_into(folder: &Path, pinned: &Pinned) -> Result<PathBuf> {
    let python = OnceCell::new();
    let fetch = |package: &Package, place: &Path, scratch: &Path| {
        let python = match python.get() {
            Some(python) => python,
            None => {
                let found = Python::find()?;
                python.get_or_init(|| found)
            }
        };
        python.fetch(package, place, scratch)
    };
    let (place, manifest) = ensure(folder, pinned, fetch)?;
    println!(
        "{} is in {} ({} from {} of wheels)",
        pinned.title,
        place.display(),
        mebibytes(manifest.bytes()),
        mebibytes(manifest.wheel_bytes()),
    );
    Ok(place)
}

/// Makes sure that the toolkit is in `toolkits`, and returns its folder and what it consists of.
///
/// `fetch` puts a package into its second argument, may use the folder that is its third, and
/// returns the size of what it fetched.
fn ensure(
    toolkits: &Path,
    pinned: &Pinned,
    fetch: impl Fn(&Package, &Path, &Path) -> Result<u64>,
) -> Result<(PathBuf, Manifest)> {
    fs::create_dir_all(toolkits).map_err(Error::io("create", toolkits))?;
    let place = toolkits.join(pinned.version);
    let prefix = format!(".{}.", pinned.version);
    let lock_path = toolkits.join(format!("{prefix}lock"));

    // Held to the end, so that whoever comes second finds the work done, and so that the folders
    // beside the place belong to this process or to a dead one.
    let lock_file = File::create(&lock_path).map_err(Error::io("create", &lock_path))?;
    let mut lock = fd_lock::RwLock::new(lock_file);
    let _held = lock.write().map_err(Error::io("lock", &lock_path))?;

    match manifest::check(&place, pinned) {
        State::Whole(manifest) => return Ok((place, manifest)),
        State::Broken(reason) => println!("{} is fetched anew: {reason}", place.display()),
        State::Absent => {}
    }

    remove_leftovers(toolkits, &prefix, &lock_path)?;
    // With the process in their names, since the pip of a killed one may still write to its own.
    let beside = |what| toolkits.join(format!("{prefix}{}.{what}", std::process::id()));
    let (part, scratch, old) = (beside("part"), beside("wheel"), beside("old"));
    let manifest = fetch_all(pinned, &part, &scratch, fetch)
        .inspect_err(|_| [&part, &scratch].into_iter().for_each(|f| _ = remove(f)))?;

    // A folder cannot be renamed over one that holds files.
    match fs::rename(&place, &old) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Err(e) => return Err(Error::io("move away", &place)(e)),
    }
    fs::rename(&part, &place).map_err(Error::io("move into place", &part))?;
    remove(&old)?;
    Ok((place, manifest))
}

fn fetch_all(
    pinned: &Pinned,
    part: &Path,
    scratch: &Path,
    fetch: impl Fn(&Package, &Path, &Path) -> Result<u64>,
) -> Result<Manifest> {
    fs::create_dir_all(part).map_err(Error::io("create", part))?;
    fs::create_dir_all(scratch).map_err(Error::io("create", scratch))?;
    let mut packages = Vec::new();
    for (number, package) in pinned.packages.iter().enumerate() {
        println!(
            "{}: package {} of {}: {} {} ...",
            pinned.title,
            number + 1,
            pinned.packages.len(),
            package.name,
            package.version,
        );
        let start = Instant::now();
        let wheel_bytes = fetch(package, part, scratch)?;
        println!(
            "  {} in {:.1} s",
            mebibytes(wheel_bytes),
            start.elapsed().as_secs_f64()
        );
        packages.push(Installed {
            name: package.name.to_owned(),
            version: package.version.to_owned(),
            wheel_bytes,
        });
    }
    remove(scratch)?;
    let manifest = Manifest::describe(part, pinned, packages)?;
    manifest.write(part)?;
    Ok(manifest)
}

fn remove_leftovers(toolkits: &Path, prefix: &str, lock: &Path) -> Result<()> {
    for entry in fs::read_dir(toolkits).map_err(Error::io("list", toolkits))? {
        let entry = entry.map_err(Error::io("list", toolkits))?;
        let leftover = entry.file_name().to_string_lossy().starts_with(prefix);
        if leftover && entry.path() != lock {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("remove", path)(e)),
        _ => Ok(()),
    }
}

fn mebibytes(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    format!("{mebibytes:.1} MiB")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tempfile::TempDir;

    use super::*;
    use crate::toolkit::newest;

    /// Stands for Python: writes one file a package, and counts.
    #[derive(Default)]
    struct Index {
        fetched: AtomicUsize,
        fails_at: Option<usize>,
    }

    impl Index {
        fn fetch(&self, package: &Package, place: &Path, scratch: &Path) -> Result<u64> {
            let number = self.fetched.fetch_add(1, Ordering::Relaxed);
            fs::write(scratch.join("wheel"), "half").unwrap();
            fs::write(place.join(package.name), package.version).unwrap();
            if self.fails_at == Some(number) {
                return Err(Error::Download {
                    package: package.name.to_owned(),
                    version: package.version.to_owned(),
                    said: "  no network".to_owned(),
                });
            }
            Ok(1)
        }

        fn ensure(&self, toolkits: &Path) -> Result<(PathBuf, Manifest)> {
            ensure(toolkits, newest(), |p, place, scratch| {
                self.fetch(p, place, scratch)
            })
        }

        fn fetched(&self) -> usize {
            self.fetched.load(Ordering::Relaxed)
        }
    }

    /// What lies in the folder besides the lock file.
    fn left_in(toolkits: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(toolkits)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with(".lock"))
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_whole_toolkit_is_not_fetched_again() {
        let toolkits = TempDir::new().unwrap();
        let index = Index::default();
        let (place, first) = index.ensure(toolkits.path()).unwrap();
        assert_eq!(place, toolkits.path().join("13.5"));
        let (_, second) = index.ensure(toolkits.path()).unwrap();
        assert_eq!(first, second);
        assert_eq!(index.fetched(), newest().packages.len());
        assert_eq!(left_in(toolkits.path()), ["13.5"]);
    }

    #[test]
    fn a_failed_install_leaves_nothing_that_looks_installed() {
        let toolkits = TempDir::new().unwrap();
        let index = Index {
            fails_at: Some(2),
            ..Index::default()
        };
        let error = index.ensure(toolkits.path()).unwrap_err().to_string();
        assert!(error.contains("nvidia-nvjitlink 13.5.37"), "{error}");
        assert!(error.contains("no network"), "{error}");
        assert!(left_in(toolkits.path()).is_empty());
    }

    #[test]
    fn a_half_finished_folder_in_the_place_is_replaced() {
        let toolkits = TempDir::new().unwrap();
        let place = toolkits.path().join("13.5");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("half"), "").unwrap();
        Index::default().ensure(toolkits.path()).unwrap();
        assert!(!place.join("half").exists());
        assert!(matches!(manifest::check(&place, newest()), State::Whole(_)));
        assert_eq!(left_in(toolkits.path()), ["13.5"]);
    }

    #[test]
    fn what_a_killed_install_left_does_not_get_into_the_next() {
        let toolkits = TempDir::new().unwrap();
        for leftover in [".13.5.1.part", ".13.5.1.wheel", ".13.5.1.old"] {
            fs::create_dir(toolkits.path().join(leftover)).unwrap();
            fs::write(toolkits.path().join(leftover).join("half"), "").unwrap();
        }
        let (place, _) = Index::default().ensure(toolkits.path()).unwrap();
        assert!(!place.join("half").exists());
        assert_eq!(left_in(toolkits.path()), ["13.5"]);
    }

    #[test]
    fn two_installs_at_once_fetch_once_and_agree() {
        let toolkits = TempDir::new().unwrap();
        let index = Index::default();
        let (one, other) = std::thread::scope(|scope| {
            let one = scope.spawn(|| index.ensure(toolkits.path()).unwrap());
            let other = scope.spawn(|| index.ensure(toolkits.path()).unwrap());
            (one.join().unwrap(), other.join().unwrap())
        });
        assert_eq!(one, other);
        assert_eq!(index.fetched(), newest().packages.len());
    }
}
