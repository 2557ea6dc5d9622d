//! The file beside a precompiled header that says who made it, and of what.

use std::ffi::{CString, OsString};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::contents::{Contents, Source, hash};

/// This process, by more than its number, which others had before and will have.
pub(super) fn process() -> String {
    static TOKEN: OnceLock<u64> = OnceLock::new();
    let token = TOKEN.get_or_init(|| {
        std::collections::hash_map::RandomState::new()
            .build_hasher()
            .finish()
    });
    format!("{} {token:016x}", std::process::id())
}

/// Where it lies.
pub(super) fn beside(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".made-by");
    PathBuf::from(name)
}

/// The current folder, which relative names are read in.
fn folder() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}

/// What it says, in lines of words, the last of which is a name.
pub(super) fn write(library: &Path, precompiled: &[u8], contents: &Contents) -> String {
    let mut lines = vec![
        format!("process {}", process()),
        format!("library {}", library.display()),
        format!("folder {}", folder()),
        format!("is {} {:016x}", precompiled.len(), hash(precompiled)),
    ];
    for (name, hash) in &contents.memory {
        lines.push(format!("memory {hash:016x} {name}"));
    }
    for (name, source) in &contents.disk {
        let Source {
            hash,
            size,
            modified,
        } = source;
        lines.push(format!("disk {hash:016x} {size} {modified} {name}"));
    }
    lines.join("\n") + "\n"
}

fn read(record: &str) -> Option<Contents> {
    let mut contents = Contents::default();
    for line in record.lines().skip(4) {
        let (kind, rest) = line.split_once(' ')?;
        let (hash, rest) = rest.split_once(' ')?;
        let hash = u64::from_str_radix(hash, 16).ok()?;
        match kind {
            "memory" => {
                contents.memory.insert(rest.to_owned(), hash);
            }
            "disk" => {
                let (size, rest) = rest.split_once(' ')?;
                let (modified, name) = rest.split_once(' ')?;
                let source = Source {
                    hash,
                    size: size.parse().ok()?,
                    modified: modified.parse().ok()?,
                };
                contents.disk.insert(name.to_owned(), source);
            }
            _ => return None,
        }
    }
    Some(contents)
}

/// Why a precompiled header may not be used, where it may not.
pub(super) fn problem(
    library: &Path,
    precompiled: &[u8],
    record: &str,
    headers: &[(CString, CString)],
) -> Option<String> {
    let says = |line: String| record.lines().any(|there| there == line);
    if !says(format!("process {}", process())) {
        return Some("it was made by another process, and NVRTC uses it nowhere else".to_owned());
    }
    if !says(format!("library {}", library.display())) {
        return Some("it was made by another NVRTC".to_owned());
    }
    if !says(format!(
        "is {} {:016x}",
        precompiled.len(),
        hash(precompiled)
    )) {
        return Some("it has changed since it was made, or is cut off".to_owned());
    }
    match read(record) {
        Some(contents) if contents.is_relative() && !says(format!("folder {}", folder())) => Some(
            "it was made in another current folder, and has files by names relative to that"
                .to_owned(),
        ),
        Some(contents) => contents.changed(headers),
        None => Some("the file that says what it was made of is damaged".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn contents() -> Contents {
        let mut contents = Contents::default();
        contents.memory.insert("a b.h".to_owned(), 1);
        let source = Source {
            hash: 2,
            size: 3,
            modified: 4,
        };
        contents.disk.insert("/no where/c.h".to_owned(), source);
        contents
    }

    #[test]
    fn what_is_written_is_read_again() {
        let record = write(Path::new("lib"), b"pch", &contents());
        assert_eq!(read(&record), Some(contents()));
    }

    #[test]
    fn another_current_folder_is_a_problem_where_a_file_has_a_relative_name() {
        let elsewhere = |contents: &Contents| {
            let record = write(Path::new("lib"), b"pch", contents)
                .replace(&format!("folder {}", folder()), "folder /elsewhere");
            problem(Path::new("lib"), b"pch", &record, &[])
        };
        assert_eq!(elsewhere(&Contents::default()), None);
        let mut relative = Contents::default();
        let source = Source {
            hash: 0,
            size: 0,
            modified: 0,
        };
        relative.disk.insert("include/h.h".to_owned(), source);
        let problem = elsewhere(&relative).unwrap();
        assert!(problem.contains("another current folder"), "{problem}");
    }

    #[rstest]
    #[case::process("process", "process 1", "another process")]
    #[case::library("library lib", "library bil", "another NVRTC")]
    #[case::size("is 3", "is 4", "cut off")]
    #[case::kind("memory", "mem", "damaged")]
    #[case::number("disk 00", "disk zz", "damaged")]
    #[case::header("memory", "memory", "a b.h in memory")]
    fn a_record_of_something_else_is_a_problem(
        #[case] from: &str,
        #[case] to: &str,
        #[case] says: &str,
    ) {
        let record = write(Path::new("lib"), b"pch", &contents()).replace(from, to);
        let problem = problem(Path::new("lib"), b"pch", &record, &[]).unwrap();
        assert!(problem.contains(says), "{problem}");
    }
}
