//! Python and its pip, which know this platform's wheels and this machine's index settings.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

use super::pins::Package;
use crate::error::{Error, Result};

const UNPACK: &str = include_str!("unpack.py");

/// Lines of another program's output that are worth showing.
const LAST_LINES: usize = 8;

/// An interpreter that has pip.
#[derive(Debug)]
pub struct Python {
    program: OsString,
}

impl Python {
    /// The interpreter named by the variable `PYTHON`, or else that of `PATH`.
    pub fn find() -> Result<Self> {
        let named = std::env::var_os("PYTHON").filter(|name| !name.is_empty());
        let candidates = match named {
            Some(name) => vec![name],
            None => vec![OsString::from("python3"), OsString::from("python")],
        };
        // Kept while the others are tried: Windows has a `python3` that only names a shop.
        let mut without_pip = None;
        for program in &candidates {
            let output = Command::new(program)
                .args(["-m", "pip", "--version"])
                .output();
            match output {
                Ok(output) if output.status.success() => {
                    return Ok(Python {
                        program: program.clone(),
                    });
                }
                Ok(output) => {
                    without_pip.get_or_insert(Error::NoPip {
                        python: program.to_string_lossy().into_owned(),
                        said: last_lines(&output.stderr),
                    });
                }
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(Error::io("run", program)(e)),
            }
        }
        if let Some(error) = without_pip {
            return Err(error);
        }
        let tried: Vec<_> = candidates.iter().map(|c| c.to_string_lossy()).collect();
        Err(Error::NoPython {
            tried: tried.join(", "),
        })
    }

    /// Downloads a package and unpacks it into `place`; `scratch` is for the wheel meanwhile.
    ///
    /// Returns the size of the wheel in bytes.
    pub fn fetch(&self, package: &Package, place: &Path, scratch: &Path) -> Result<u64> {
        let download = self.run(&[
            "-m".as_ref(),
            "pip".as_ref(),
            "download".as_ref(),
            "--quiet".as_ref(),
            "--no-input".as_ref(),
            "--disable-pip-version-check".as_ref(),
            "--no-deps".as_ref(),
            "--only-binary=:all:".as_ref(),
            "--dest".as_ref(),
            scratch.as_os_str(),
            format!("{}=={}", package.name, package.version).as_ref(),
        ])?;
        if !download.status.success() {
            return Err(Error::Download {
                package: package.name.to_owned(),
                version: package.version.to_owned(),
                said: last_lines(&download.stderr),
            });
        }

        let mut bytes = 0;
        for entry in fs::read_dir(scratch).map_err(Error::io("list", scratch))? {
            let wheel = entry.map_err(Error::io("list", scratch))?.path();
            bytes += fs::metadata(&wheel)
                .map_err(Error::io("read", &wheel))?
                .len();
            let unpack = self.run(&[
                "-c".as_ref(),
                UNPACK.as_ref(),
                wheel.as_os_str(),
                place.as_os_str(),
            ])?;
            if !unpack.status.success() {
                return Err(Error::Unpack {
                    package: package.name.to_owned(),
                    version: package.version.to_owned(),
                    said: last_lines(&unpack.stderr),
                });
            }
            fs::remove_file(&wheel).map_err(Error::io("remove", &wheel))?;
        }
        Ok(bytes)
    }

    fn run(&self, arguments: &[&OsStr]) -> Result<Output> {
        Command::new(&self.program)
            .args(arguments)
            .output()
            .map_err(Error::io("run", &self.program))
    }
}

fn last_lines(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let shown = lines
        .get(lines.len().saturating_sub(LAST_LINES)..)
        .unwrap_or_default();
    if shown.is_empty() {
        return "  (nothing)".to_owned();
    }
    let shown: Vec<_> = shown.iter().map(|l| format!("  {l}")).collect();
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::silence("", "  (nothing)")]
    #[case::blank_lines_are_dropped("a\n\nb\n", "  a\n  b")]
    #[case::only_the_end(
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n",
        "  3\n  4\n  5\n  6\n  7\n  8\n  9\n  10"
    )]
    fn the_last_lines_of_what_was_said_are_shown(#[case] said: &str, #[case] shown: &str) {
        assert_eq!(last_lines(said.as_bytes()), shown);
    }
}
