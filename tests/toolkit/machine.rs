//! Made-up machines, and the real toolkits.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cuda_program::toolkit::{Candidate, Disk, Environment, FileSystem, Part, Platform, Toolkit};

/// A file system of paths alone; a backslash counts as a slash.
#[derive(Debug, Default)]
pub struct MadeUp {
    /// What each path is: a link to another path, or a file with this text.
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone)]
enum Entry {
    File(String),
    Link(String),
}

fn slashes(path: &Path) -> String {
    let text = path.to_str().unwrap().replace('\\', "/");
    text.trim_end_matches('/').to_owned()
}

impl MadeUp {
    /// Files, one a line; `a -> b` makes `a` a link, and `a = text` gives `a` a content.
    pub fn new(files: &str) -> Self {
        let entries = files
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(|line| {
                if let Some((path, target)) = line.split_once(" -> ") {
                    (slashes(path.as_ref()), Entry::Link(target.to_owned()))
                } else if let Some((path, text)) = line.split_once(" = ") {
                    (slashes(path.as_ref()), Entry::File(text.to_owned()))
                } else {
                    (slashes(line.as_ref()), Entry::File(String::new()))
                }
            })
            .collect();
        MadeUp { entries }
    }

    /// The path without links, whether it exists or not.
    fn resolve(&self, path: &Path) -> String {
        let mut resolved = slashes(path);
        for _ in 0..40 {
            let link = self.entries.iter().find_map(|(at, entry)| {
                let rest = resolved.strip_prefix(at.as_str())?;
                match entry {
                    Entry::Link(target) if rest.is_empty() || rest.starts_with('/') => {
                        Some(format!("{target}{rest}"))
                    }
                    _ => None,
                }
            });
            match link {
                Some(next) => resolved = next,
                None => break,
            }
        }
        resolved
    }

    fn below(&self, folder: &Path) -> impl Iterator<Item = String> {
        let folder = self.resolve(folder) + "/";
        self.entries.keys().filter_map(move |path| {
            let rest = path.strip_prefix(&folder)?;
            Some(rest.split('/').next().unwrap().to_owned())
        })
    }
}

impl FileSystem for MadeUp {
    fn is_file(&self, path: &Path) -> bool {
        matches!(self.entries.get(&self.resolve(path)), Some(Entry::File(_)))
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.below(path).next().is_some()
    }

    fn list(&self, folder: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> = self.below(folder).map(OsString::from).collect();
        names.dedup();
        names
    }

    fn canonicalize(&self, path: &Path) -> Option<PathBuf> {
        (self.is_file(path) || self.is_folder(path)).then(|| self.resolve(path).into())
    }

    fn read(&self, path: &Path, _limit: u64) -> Option<Vec<u8>> {
        match self.entries.get(&self.resolve(path))? {
            Entry::File(text) => Some(text.clone().into_bytes()),
            Entry::Link(_) => None,
        }
    }
}

pub fn linux(files: &str) -> Environment {
    Environment::new(Platform::LinuxX86_64, Arc::new(MadeUp::new(files)))
}

/// A toolkit as NVIDIA's installer lays it out, with all four parts.
pub fn installed(root: &str) -> String {
    format!(
        "{root}/nvvm/lib64/libnvvm.so.4
         {root}/nvvm/libdevice/libdevice.10.bc
         {root}/lib64/libnvrtc.so.13
         {root}/lib64/libnvJitLink.so.13
         "
    )
}

/// The candidates that are files and have no known problem.
pub fn usable(environment: &Environment, part: Part) -> Vec<String> {
    usable_of(
        Toolkit::builder()
            .environment(environment.clone())
            .candidates(part),
    )
}

pub fn usable_of(candidates: Vec<Candidate>) -> Vec<String> {
    candidates
        .into_iter()
        .filter(|c| c.problem.is_none() && !c.is_by_name())
        .map(|c| slashes(&c.path))
        .collect()
}

/// The folder of a real toolkit, and a failure that says how to get it.
pub fn real(version: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/toolkits")
        .join(version);
    assert!(
        path.is_dir(),
        "there is no {}: run `cargo xtask toolkit` first",
        path.display()
    );
    path
}

/// The real files, but of these folders alone, so that nothing else of the machine counts.
#[derive(Debug)]
pub struct Only(Vec<PathBuf>);

impl Only {
    pub fn new(folders: &[&Path]) -> Arc<Self> {
        let real = folders.iter().map(|f| f.canonicalize().unwrap());
        Arc::new(Only(
            folders
                .iter()
                .map(|f| f.to_path_buf())
                .chain(real)
                .collect(),
        ))
    }

    fn has(&self, path: &Path) -> bool {
        self.0.iter().any(|folder| path.starts_with(folder))
    }
}

impl FileSystem for Only {
    fn is_file(&self, path: &Path) -> bool {
        self.has(path) && Disk.is_file(path)
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.has(path) && Disk.is_folder(path)
    }

    fn list(&self, folder: &Path) -> Vec<OsString> {
        if self.has(folder) {
            Disk.list(folder)
        } else {
            Vec::new()
        }
    }

    fn canonicalize(&self, path: &Path) -> Option<PathBuf> {
        self.has(path).then(|| Disk.canonicalize(path)).flatten()
    }

    fn read(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.has(path).then(|| Disk.read(path, limit)).flatten()
    }
}
