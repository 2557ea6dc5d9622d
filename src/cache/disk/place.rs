//! Where the folder is, and how much it may hold.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Names the folder.
const FOLDER: &str = "CUDA_PROGRAM_CACHE_DIR";
/// Says how much it may hold.
const SIZE: &str = "CUDA_PROGRAM_CACHE_SIZE";
/// Turns it off.
const SWITCH: &str = "CUDA_PROGRAM_CACHE";

/// A folder that keeps artifacts for every process of one user.
///
/// Processes may use one folder at once, also on a network file system, and may be killed at any
/// instant. What is damaged, cannot be read or cannot be written is a miss and never an error; a
/// reason that lasts is in [`Stats::problems`](super::super::Stats::problems). The folder and its
/// files are for their owner alone. Files that were not used for longest go first.
///
/// ```
/// use cuda_program::cache::Disk;
///
/// let disk = Disk::at("/var/cache/kernels").max_bytes(256 << 20);
/// assert_eq!(disk.folder(), std::path::Path::new("/var/cache/kernels"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    folder: PathBuf,
    max_bytes: u64,
}

impl Disk {
    /// What a folder may hold where nobody says otherwise: 1 GiB.
    pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

    /// This folder, which the first artifact makes where it is missing.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Disk {
            folder: folder.into(),
            max_bytes: Self::DEFAULT_MAX_BYTES,
        }
    }

    /// The folder of this user: `CUDA_PROGRAM_CACHE_DIR`, or `cuda-program` in the system's place for
    /// such things (`XDG_CACHE_HOME` or `~/.cache`; `~/Library/Caches` on macOS; `LOCALAPPDATA` on
    /// Windows). `CUDA_PROGRAM_CACHE_SIZE` says how much it may hold, in bytes or as in `512M` and
    /// `2G`. None where `CUDA_PROGRAM_CACHE` is `0` or `off`, and where there is no such place.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidOptions`] for a variable that says neither.
    pub fn from_environment() -> Result<Option<Self>> {
        from_variables(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    /// Sets how much it may hold, in bytes. It is kept by the files' sizes, in whole blocks of
    /// 4 KiB, and shared out over parts of the folder: a single artifact may have an eighth of it, at
    /// most 8 MiB where that is more than 128 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How much it may hold, in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.max_bytes
    }
}

fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Disk>> {
    let refused = |name: &str, value: &OsString, hint: &str| {
        Error::invalid_options(format!("{name} is {}", value.to_string_lossy()), hint)
    };
    if let Some(value) = variable(SWITCH) {
        match value.to_str().map(str::to_ascii_lowercase).as_deref() {
            Some("0" | "off" | "false" | "no") => return Ok(None),
            Some("1" | "on" | "true" | "yes") => {}
            _ => {
                let hint = format!("set it to 0 or 1; the folder is named by {FOLDER}");
                return Err(refused(SWITCH, &value, &hint));
            }
        }
    }
    let Some(folder) = variable(FOLDER)
        .map(PathBuf::from)
        .or_else(|| usual_folder(&variable).map(|place| place.join("cuda-program")))
    else {
        return Ok(None);
    };
    let mut disk = Disk::at(folder);
    if let Some(value) = variable(SIZE) {
        let bytes = value.to_str().and_then(size);
        disk.max_bytes = bytes.ok_or_else(|| {
            refused(
                SIZE,
                &value,
                "set it to a number of bytes, or as in 512M or 2G",
            )
        })?;
    }
    Ok(Some(disk))
}

fn usual_folder(variable: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    // A relative path would mean another folder in every process.
    let absolute =
        |name: &str| Some(PathBuf::from(variable(name)?)).filter(|path| path.is_absolute());
    if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        absolute("HOME").map(|home| home.join("Library/Caches"))
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
    }
}

/// Bytes, by a number and a unit of 1,024 where there is one.
fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_uppercase();
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let power = match text.get(digits.len()..)?.trim() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 1,
        "M" | "MB" | "MIB" => 2,
        "G" | "GB" | "GIB" => 3,
        "T" | "TB" | "TIB" => 4,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << (10 * power))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn disk(variables: &[(&str, &str)]) -> Result<Option<Disk>> {
        from_variables(|name| {
            let found = variables.iter().find(|(there, _)| *there == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[rstest]
    #[case(&[("HOME", "/home/a")], "/home/a/.cache/cuda-program")]
    #[case(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "/c")], "/c/cuda-program")]
    #[case(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "c")], "/home/a/.cache/cuda-program")]
    #[case(&[("HOME", "/home/a"), ("CUDA_PROGRAM_CACHE_DIR", "/mine")], "/mine")]
    #[cfg(target_os = "linux")]
    fn the_folder_is_the_named_one_or_the_users(
        #[case] variables: &[(&str, &str)],
        #[case] folder: &str,
    ) {
        let disk = disk(variables).unwrap().unwrap();
        assert_eq!(disk.folder(), Path::new(folder));
        assert_eq!(disk.limit(), Disk::DEFAULT_MAX_BYTES);
    }

    #[rstest]
    #[case(&[])]
    #[case(&[("HOME", "relative")])]
    #[case(&[("CUDA_PROGRAM_CACHE_DIR", "/mine"), ("CUDA_PROGRAM_CACHE", "0")])]
    #[case(&[("CUDA_PROGRAM_CACHE_DIR", "/mine"), ("CUDA_PROGRAM_CACHE", "OFF")])]
    fn there_is_none_where_it_is_off_or_nobody_says_where(#[case] variables: &[(&str, &str)]) {
        assert_eq!(disk(variables).unwrap(), None);
    }

    #[rstest]
    #[case("0", 0)]
    #[case("1000", 1000)]
    #[case("512M", 512 << 20)]
    #[case(" 2 GiB ", 2 << 30)]
    #[case("3kb", 3 << 10)]
    fn a_size_is_a_number_with_a_unit(#[case] text: &str, #[case] bytes: u64) {
        let variables = [
            ("CUDA_PROGRAM_CACHE_DIR", "/mine"),
            ("CUDA_PROGRAM_CACHE_SIZE", text),
        ];
        assert_eq!(disk(&variables).unwrap().unwrap().limit(), bytes);
    }

    #[rstest]
    #[case("CUDA_PROGRAM_CACHE", "/tmp")]
    #[case("CUDA_PROGRAM_CACHE_SIZE", "")]
    #[case("CUDA_PROGRAM_CACHE_SIZE", "much")]
    #[case("CUDA_PROGRAM_CACHE_SIZE", "-1")]
    #[case("CUDA_PROGRAM_CACHE_SIZE", "99999999999T")]
    #[case("CUDA_PROGRAM_CACHE_SIZE", "1é")]
    fn a_variable_that_says_nothing_is_an_error(#[case] name: &str, #[case] value: &str) {
        let error = disk(&[("CUDA_PROGRAM_CACHE_DIR", "/mine"), (name, value)]).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}
