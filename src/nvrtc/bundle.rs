//! The headers that NVRTC carries inside, unpacked into a folder.

use std::ffi::CString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::attempt::NotDone;
use super::failure;
use crate::error::{Error, Result, Stage};
use crate::fresh::fresh;
use crate::guard::guarded;
use crate::nvvm::escaped;
use crate::sys::{Nvrtc, NvrtcFailed};
use crate::toolkit::{Opened, Toolkit};

/// What is done with the headers that NVRTC carries inside, from 13.3 on: those of half precision,
/// cooperative groups, tensor cores and the C++ libraries.
///
/// The folder is one that may be kept and shared, such as a cache of the user's; a folder in it for
/// each version is made by the first compilation, in some tenths of a second, and used from then on.
/// Nobody else should be able to write there. To the flag `--use-bundled-headers` it stands as a
/// folder that other processes find whole or not at all, and that may be read-only once it is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BundledHeaders {
    /// They are not used.
    #[default]
    Off,
    /// They are unpacked below this folder and searched before those of the toolkit.
    Folder(PathBuf),
    /// As `Folder`, where headers of the toolkit that could be among them are not found or not
    /// searched; otherwise not used.
    WhereMissing(PathBuf),
}

/// The headers that one NVRTC carries inside.
///
/// ```
/// use cuda_program::{Arch, Ptx, Toolkit, nvrtc};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # /*
/// let (toolkit, cache) = (Toolkit::discover()?, dirs.cache_dir());
/// # */
/// # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
/// # let folder = tempfile::tempdir()?;
/// # let cache = folder.path();
/// let bundle = nvrtc::HeaderBundle::of(&toolkit)?;
/// println!("{} headers, {} bytes", bundle.files(), bundle.bytes());
/// let installed = bundle.install(cache)?;
/// assert!(installed.include_folders()[0].join("cuda_fp16.h").is_file());
///
/// // A compilation installs them by itself.
/// let source = "#include <cuda/std/cstdint>\n__global__ void k(cuda::std::uint8_t *p) { *p = 1; }";
/// let mut options = nvrtc::Options::new(Arch::SM_90);
/// options.preprocessor.bundled_headers = nvrtc::BundledHeaders::Folder(cache.into());
/// let ptx = nvrtc::Program::new(&toolkit, "k.cu", source)?.compile::<Ptx>(&options)?;
/// # assert_eq!(ptx.kernels().len(), 1);
///
/// assert!(bundle.remove(cache)?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct HeaderBundle {
    nvrtc: Arc<Opened<Nvrtc>>,
    version: (u32, u32),
    size: Size,
    compressed_bytes: u64,
}

/// What a whole folder of headers comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Size {
    files: u64,
    bytes: u64,
}

/// Headers that lie in a folder, whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct InstalledHeaders {
    include: [PathBuf; 2],
}

impl InstalledHeaders {
    fn at(place: &Path) -> Self {
        InstalledHeaders {
            include: [place.to_owned(), place.join("cccl")],
        }
    }

    /// The folders for `include_folders`, in order: that of the headers, and that of the C++ libraries
    /// in it.
    #[must_use]
    pub fn include_folders(&self) -> &[PathBuf] {
        &self.include
    }

    /// The folder that holds all of them.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.include[0]
    }
}

impl HeaderBundle {
    /// The headers inside the toolkit's NVRTC.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where there is no NVRTC; [`Error::Unsupported`] where it carries no headers:
    /// that needs NVRTC 13.3; [`Error::Library`] where its builtins library is missing, which holds
    /// them.
    #[doc(alias = "nvrtcGetBundledHeadersInfo")]
    pub fn of(toolkit: &Toolkit) -> Result<Self> {
        Self::inside(toolkit.nvrtc()?)
    }

    pub(super) fn inside(nvrtc: &Arc<Opened<Nvrtc>>) -> Result<Self> {
        let none = || Error::Unsupported {
            what: "headers from inside the compiler".to_owned(),
            needs: "NVRTC 13.3 or newer".to_owned(),
            library: nvrtc.library.clone(),
        };
        let info = guarded(|guard| nvrtc.api.bundle_info(guard))?
            .ok_or_else(none)?
            .map_err(|(code, log)| failed(nvrtc, Stage::Query, code, &log))?;
        if info.available == 0 || info.numFiles == 0 {
            return Err(none());
        }
        let number = |n| u32::try_from(n).unwrap_or(0);
        Ok(HeaderBundle {
            nvrtc: nvrtc.clone(),
            version: (number(info.cudaVersionMajor), number(info.cudaVersionMinor)),
            size: Size {
                files: info.numFiles.into(),
                bytes: info.uncompressedSize as u64,
            },
            compressed_bytes: info.compressedSize as u64,
        })
    }

    /// The CUDA version that they belong to, major and minor.
    #[must_use]
    pub fn cuda_version(&self) -> (u32, u32) {
        self.version
    }

    /// How many files there are.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.size.files
    }

    /// The bytes of the files, unpacked.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.size.bytes
    }

    /// The bytes that they take inside the library.
    #[must_use]
    pub fn compressed_bytes(&self) -> u64 {
        self.compressed_bytes
    }

    /// The headers below `folder`, where an earlier [`install`](HeaderBundle::install) left them and
    /// they are whole.
    #[must_use]
    pub fn installed(&self, folder: impl AsRef<Path>) -> Option<InstalledHeaders> {
        let place = folder.as_ref().join(self.name());
        self.is_whole(&place).then(|| InstalledHeaders::at(&place))
    }

    /// Unpacks them into a folder of their own below `folder`, unless they are there.
    ///
    /// Another process finds them whole or not at all, and any number may install at once. What is
    /// there and not whole is replaced. Nothing is written where they are whole, so the folder may be
    /// read-only by then.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOptions`] for a path that is no UTF-8 or holds a NUL byte; [`Error::Io`];
    /// [`Error::Library`] for what the library cannot write, such as a path of more than about a
    /// thousand bytes; [`Error::WrongOutput`] where it reported success and files are missing.
    #[doc(alias = "nvrtcInstallBundledHeaders")]
    pub fn install(&self, folder: impl AsRef<Path>) -> Result<InstalledHeaders> {
        let folder = folder.as_ref();
        check_path(folder)?;
        if let Some(there) = self.installed(folder) {
            return Ok(there);
        }
        fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, &e))?;
        // The library must be given the same folder that is renamed, wherever the process may go.
        let folder = &std::path::absolute(folder).map_err(|e| Error::io("find", folder, &e))?;
        self.sweep(folder, Some(ABANDONED))?;
        let part = Part::new(folder, &self.name())?;
        self.unpack(&part.0)?;
        let place = folder.join(self.name());
        loop {
            match fs::rename(&part.0, &place) {
                Ok(()) => break,
                Err(_) if self.is_whole(&place) => break,
                // Something else is in the place; it goes away whole, too.
                Err(e) if fs::symlink_metadata(&place).is_err() => {
                    return Err(Error::io("move into place", &part.0, &e));
                }
                Err(_) => put_away(&place, folder, &self.name())?,
            }
        }
        Ok(InstalledHeaders::at(&place))
    }

    /// Removes what [`install`](HeaderBundle::install) made below `folder` for this version, and what
    /// interrupted calls left; whether there were headers. Everything else in the folder is left
    /// alone, and the folder itself.
    ///
    /// The library's own function is not called: it removes all that lies in a folder, whosever it is.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    #[doc(alias = "nvrtcRemoveBundledHeaders")]
    pub fn remove(&self, folder: impl AsRef<Path>) -> Result<bool> {
        let folder = folder.as_ref();
        let place = folder.join(self.name());
        let there = fs::symlink_metadata(&place).is_ok();
        if there {
            put_away(&place, folder, &self.name())?;
        }
        self.sweep(folder, None)?;
        Ok(there)
    }

    /// One name for each content, as far as the library tells, since builds of one version may differ.
    fn name(&self) -> String {
        let ((major, minor), Size { files, bytes }) = (self.version, self.size);
        format!("nvrtc-headers-{major}.{minor}-{files}-{bytes}")
    }

    fn unpack(&self, part: &Path) -> Result<()> {
        let path = c_path(part)?;
        let unpacked = guarded(|guard| self.nvrtc.api.install_bundle(&path, guard))?;
        if let Some(Err((code, log))) = unpacked {
            return Err(failed(&self.nvrtc, Stage::Install, code, &log));
        }
        let found = size_of(part).map_err(|e| Error::io("list", part, &e))?;
        if found == self.size {
            return Ok(());
        }
        Err(Error::WrongOutput {
            problem: format!(
                "{} of {} headers are there, with {} of {} bytes",
                found.files, self.size.files, found.bytes, self.size.bytes
            ),
            hint: format!("see that nothing else writes to {}", part.display()),
            library: self.nvrtc.library.clone(),
            diagnostics: Vec::new(),
        })
    }

    /// Programs that clean up remove single files, and a crash of the machine empties some.
    fn is_whole(&self, place: &Path) -> bool {
        size_of(place).is_ok_and(|found| found == self.size)
    }

    /// Removes what calls that never came to their end left, where it is at least this old.
    fn sweep(&self, folder: &Path, age: Option<Duration>) -> Result<()> {
        let entries = match fs::read_dir(folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(|e| Error::io("list", folder, &e))?,
        };
        let prefix = format!(".{}.", self.name());
        for entry in entries.filter_map(std::result::Result::ok) {
            let old = age.is_none_or(|age| {
                let modified = entry.metadata().and_then(|m| m.modified()).ok();
                modified
                    .and_then(|at| at.elapsed().ok())
                    .is_some_and(|is| is > age)
            });
            if old && entry.file_name().to_string_lossy().starts_with(&prefix) {
                // Where it cannot be removed, it does no harm.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        Ok(())
    }
}

/// An install takes less than a second.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A folder that is removed unless it was renamed.
struct Part(PathBuf);

impl Part {
    fn new(folder: &Path, name: &str) -> Result<Self> {
        let (path, made) = fresh(folder, name, |path| fs::create_dir(path));
        match made {
            Ok(()) => Ok(Part(path)),
            Err(e) => Err(Error::io("create", &path, &e)),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes what is in the place, so that nobody sees half of it.
fn put_away(place: &Path, folder: &Path, name: &str) -> Result<()> {
    let away = Part::new(folder, name)?;
    let inside = away.0.join("old");
    match fs::rename(place, &inside) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io("remove", place, &e)),
        _ => Ok(()),
    }
}

/// The files below a folder but those of the library's own that begin with a dot.
fn size_of(folder: &Path) -> std::io::Result<Size> {
    fn add(folder: &Path, size: &mut Size) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                add(&entry.path(), size)?;
            } else {
                size.files += 1;
                size.bytes += metadata.len();
            }
        }
        Ok(())
    }
    let mut size = Size::default();
    add(folder, &mut size)?;
    Ok(size)
}

fn check_path(folder: &Path) -> Result<()> {
    if folder.as_os_str().is_empty() || folder.to_str().is_none_or(|path| path.contains('\0')) {
        return Err(Error::invalid_options(
            format!("the folder for headers, {folder:?}, is empty, no UTF-8, or holds a NUL byte"),
            "name one such as `nvrtc` in the user's folder for caches",
        ));
    }
    Ok(())
}

fn c_path(path: &Path) -> Result<CString> {
    check_path(path)?;
    let text = path.to_string_lossy().into_owned();
    CString::new(text).map_err(|e| Error::io("use", path, &e.into()))
}

fn failed(nvrtc: &Opened<Nvrtc>, stage: Stage, code: NvrtcFailed, log: &[u8]) -> Error {
    let failed = NotDone {
        log: escaped(log),
        ..NotDone::new(stage, code)
    };
    failure::library_error(nvrtc, failed, &[], Vec::new()).into()
}
