//! What the search may know about the machine, as plain data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variables that the search reads; no other variable has an effect on it.
const VARIABLES: [&str; 10] = [
    "CUDA_PROGRAM_TOOLKIT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CUDA_HOME",
    "CUDA_PATH",
    "PYTHONUSERBASE",
    "HOME",
    "USERPROFILE",
    "APPDATA",
    "ProgramFiles",
];

/// The systems whose file names and folders the search knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Platform {
    /// Linux on x86-64.
    LinuxX86_64,
    /// Linux on 64-bit Arm.
    LinuxAarch64,
    /// Windows on x86-64.
    WindowsX86_64,
}

impl Platform {
    /// The platform that this crate was compiled for.
    ///
    /// A system that NVIDIA makes no compilers for counts as Linux on x86-64: nothing will be
    /// found there, and the error lists where it was looked for.
    #[must_use]
    pub const fn current() -> Self {
        if cfg!(windows) {
            Platform::WindowsX86_64
        } else if cfg!(target_arch = "aarch64") {
            Platform::LinuxAarch64
        } else {
            Platform::LinuxX86_64
        }
    }

    pub(super) const fn is_windows(self) -> bool {
        matches!(self, Platform::WindowsX86_64)
    }
}

/// The questions that the search asks of a file system.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// Whether the path leads to a file, through links where there are some.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether the path leads to a folder, through links where there are some.
    fn is_folder(&self, path: &Path) -> bool;

    /// The names in a folder, in any order; none where it is no folder or cannot be read.
    fn list(&self, folder: &Path) -> Vec<OsString>;

    /// The path with every link resolved, or `None` where it leads to nothing.
    fn canonicalize(&self, path: &Path) -> Option<PathBuf>;

    /// The first `limit` bytes of a small file, or `None` where it cannot be read.
    fn read(&self, path: &Path, limit: u64) -> Option<Vec<u8>>;
}

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl FileSystem for Disk {
    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn list(&self, folder: &Path) -> Vec<OsString> {
        std::fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|e| e.file_name()).collect())
            .unwrap_or_default()
    }

    fn canonicalize(&self, path: &Path) -> Option<PathBuf> {
        std::fs::canonicalize(path).ok()
    }

    fn read(&self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        use std::io::Read as _;
        // A pipe or a device could block for ever or never end.
        if !path.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).ok()?;
        file.take(limit).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Everything that the search for NVIDIA's libraries depends on.
///
/// The same environment always gives the same candidates, so a machine can be made up in a test.
///
/// ```
/// use cuda_program::toolkit::{Environment, Part, Toolkit};
///
/// let environment = Environment::current().with_variable("CUDA_HOME", "/opt/mine");
/// let places = Toolkit::builder().environment(environment).candidates(Part::Nvvm);
/// assert!(places.iter().any(|c| c.path.starts_with("/opt/mine")));
/// ```
#[derive(Debug, Clone)]
pub struct Environment {
    platform: Platform,
    variables: BTreeMap<String, OsString>,
    current_folder: PathBuf,
    mapped: Vec<PathBuf>,
    loader: bool,
    files: Arc<dyn FileSystem>,
}

impl Environment {
    /// The environment of this process, as it is now.
    #[must_use]
    pub fn current() -> Self {
        let mut environment = Self::new(Platform::current(), Arc::new(Disk));
        for name in VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                environment = environment.with_variable(name, value);
            }
        }
        environment.current_folder = std::env::current_dir().unwrap_or_default();
        environment.mapped = mapped_files();
        environment
    }

    /// An environment without variables and without mapped libraries, over the given files.
    #[must_use]
    pub fn new(platform: Platform, files: Arc<dyn FileSystem>) -> Self {
        Self {
            platform,
            variables: BTreeMap::new(),
            current_folder: PathBuf::from(if platform.is_windows() { r"C:\" } else { "/" }),
            mapped: Vec::new(),
            loader: true,
            files,
        }
    }

    /// Sets a variable; an empty value counts as unset.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// Unsets a variable.
    #[must_use]
    pub fn without_variable(mut self, name: &str) -> Self {
        self.variables.remove(name);
        self
    }

    /// Adds a library that counts as already mapped into the process.
    #[must_use]
    pub fn with_mapped(mut self, library: impl Into<PathBuf>) -> Self {
        self.mapped.push(library.into());
        self
    }

    /// Says whether the system's own loader is asked by name, as it is by default.
    #[must_use]
    pub fn with_loader(mut self, ask: bool) -> Self {
        self.loader = ask;
        self
    }

    /// Sets the folder that relative paths start from.
    #[must_use]
    pub fn with_current_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.current_folder = folder.into();
        self
    }

    /// Looks at other files than those of this machine.
    #[must_use]
    pub fn with_files(mut self, files: Arc<dyn FileSystem>) -> Self {
        self.files = files;
        self
    }

    /// The platform whose file names are searched for.
    #[must_use]
    pub fn platform(&self) -> Platform {
        self.platform
    }

    pub(super) fn files(&self) -> &dyn FileSystem {
        &*self.files
    }

    pub(super) fn mapped(&self) -> &[PathBuf] {
        &self.mapped
    }

    pub(super) fn asks_loader(&self) -> bool {
        self.loader
    }

    /// The value of a path variable, made absolute.
    pub(super) fn path(&self, variable: &str) -> Option<PathBuf> {
        let value = self.variables.get(variable)?;
        (!value.is_empty()).then(|| self.absolute(Path::new(value)))
    }

    pub(super) fn absolute(&self, path: &Path) -> PathBuf {
        // `Path::is_absolute` follows the system that runs this, which need not be the one
        // that is described here.
        let text = path.to_string_lossy();
        let drive = text.as_bytes().get(1) == Some(&b':');
        let rooted = text.starts_with('/') || text.starts_with('\\');
        let absolute = if self.platform.is_windows() {
            drive || rooted
        } else {
            text.starts_with('/')
        };
        if absolute {
            path.to_owned()
        } else {
            // Taking it apart and together again drops every `.` in it.
            self.current_folder.join(path).components().collect()
        }
    }
}

/// The shared libraries mapped into this process, where the system tells.
fn mapped_files() -> Vec<PathBuf> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    std::fs::read("/proc/self/maps")
        .map(|maps| parse_maps(&String::from_utf8_lossy(&maps)))
        .unwrap_or_default()
}

/// The files named in a text such as `/proc/self/maps`, each once, in order.
fn parse_maps(maps: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for line in maps.lines() {
        // A path starts at the first slash, and may have spaces in it. A deleted file cannot
        // be opened by its name any more.
        let Some(start) = line.find('/') else {
            continue;
        };
        let Some(text) = line.get(start..) else {
            continue;
        };
        let path = Path::new(text);
        if !text.ends_with(" (deleted)") && files.last().is_none_or(|f| f != path) {
            files.push(path.to_owned());
        }
    }
    files.sort();
    files.dedup();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_files_are_read_with_spaces_and_without_deleted_ones() {
        let maps = "\
7f00-7f01 r--p 00000000 00:1f 12 /opt/a b/lib/libnvrtc.so.13
7f01-7f02 r-xp 00001000 00:1f 12 /opt/a b/lib/libnvrtc.so.13
7f02-7f03 r--p 00000000 00:1f 13 /tmp/libnvvm.so.4 (deleted)
7f03-7f04 rw-p 00000000 00:00 0 [heap]
7f04-7f05 rw-p 00000000 00:00 0
";
        assert_eq!(
            parse_maps(maps),
            [PathBuf::from("/opt/a b/lib/libnvrtc.so.13")]
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_c_library_counts_as_mapped_in_this_process() {
        let mapped = mapped_files();
        assert!(
            mapped.iter().any(|f| f.to_string_lossy().contains("libc")),
            "{mapped:?}"
        );
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let environment =
            Environment::new(Platform::LinuxX86_64, Arc::new(Disk)).with_variable("CUDA_HOME", "");
        assert_eq!(environment.path("CUDA_HOME"), None);
    }

    #[test]
    fn a_relative_variable_starts_from_the_current_folder() {
        let environment = Environment::new(Platform::LinuxX86_64, Arc::new(Disk))
            .with_current_folder("/srv/project")
            .with_variable("CUDA_HOME", "cuda");
        assert_eq!(
            environment.path("CUDA_HOME"),
            Some(PathBuf::from("/srv/project/cuda"))
        );
    }

    #[test]
    fn a_drive_is_absolute_on_windows_alone() {
        let path = Path::new(r"D:\cuda");
        let windows = Environment::new(Platform::WindowsX86_64, Arc::new(Disk));
        assert_eq!(windows.absolute(path), path);
        let linux = Environment::new(Platform::LinuxX86_64, Arc::new(Disk));
        assert_eq!(linux.absolute(path), Path::new("/").join(path));
    }
}
