//! What to do where NVRTC misses a header, or its builtins.

use std::path::{Path, PathBuf};

use super::headers;
use super::owners::{NVRTC, Owner, Package, owner};
use crate::error::{Library, major_minor};
use crate::hints::Said;

/// What the builtins library's name begins with, on Linux and on Windows.
const BUILTINS: [&str; 2] = ["libnvrtc-builtins", "nvrtc-builtins"];

/// Whether the library's own other half is not there, or is damaged.
pub(crate) fn lacks_builtins(said: &Said<'_>) -> bool {
    builtins(said.log).is_some()
        || said.code.ends_with("BUILTIN_OPERATION_FAILURE") && said.log.trim().is_empty()
}

pub(crate) fn no_builtins(said: &Said<'_>) -> String {
    let file = builtins(said.log).unwrap_or("the builtins library");
    of_builtins(file, said.library)
}

/// What to do about a header that is not there.
pub(crate) fn no_header(said: &Said<'_>) -> Option<String> {
    Some(of_header(header(said.log)?, said.searched, said.library))
}

/// The header that the log misses. What a source says itself, by `#error`, is none.
fn header(log: &str) -> Option<&str> {
    const WORDS: &str = " open source file \"";
    log.lines().find_map(|line| {
        let (before, rest) = line.split_once(WORDS)?;
        let verb = ["could not", "cannot"]
            .into_iter()
            .find_map(|verb| before.strip_suffix(verb))?;
        let (header, _) = rest.split_once('"')?;
        (verb.is_empty() || verb.ends_with("error: ")).then_some(header)
    })
}

/// The file of the builtins that the log complains of.
fn builtins(log: &str) -> Option<&str> {
    let at = BUILTINS.iter().find_map(|name| log.find(name))?;
    let rest = log.get(at..)?;
    let end = rest
        .find(|c: char| c.is_whitespace() || c == '\'' || c == '"')
        .unwrap_or(rest.len());
    Some(rest.get(..end)?.trim_end_matches(['.', ',', ':']))
}

fn of_builtins(file: &str, library: &Library) -> String {
    let folder = library.path.parent().unwrap_or(Path::new(""));
    let there = folder.join(file).exists();
    let mut others: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| BUILTINS.iter().any(|b| name.starts_with(b)) && name != file)
        .collect();
    others.sort();
    let state = match (there, others.is_empty()) {
        (true, _) => "what lies there is damaged or of another version".to_owned(),
        (false, true) => "it does not".to_owned(),
        (false, false) => format!("{} lies there, which does not fit", others.join(", ")),
    };
    format!(
        "{file} must lie beside {}, and {state}; install the package {} anew, whole, or copy the \
         file from the same toolkit",
        library.path.display(),
        NVRTC.requirement(library.version.as_deref())
    )
}

fn of_header(header: &str, searched: &[PathBuf], library: &Library) -> String {
    let folders = if searched.is_empty() {
        "no folder was searched".to_owned()
    } else {
        format!("searched in {}", shown(searched, ", "))
    };
    let what = match owner(header) {
        Owner::Package(package, inside) => {
            let there = switched_off(header, searched, library);
            of_package(package, inside, there, library)
        }
        Owner::Standard(counterpart) => of_standard(header, counterpart, searched, library),
        Owner::Nobody => {
            "add it with `add_header`, or its folder to `preprocessor.include_folders`".to_owned()
        }
    };
    format!("`{header}` was not found ({folders}); {what}")
}

/// The toolkit's own folder that has it and was not searched.
fn switched_off(header: &str, searched: &[PathBuf], library: &Library) -> Option<PathBuf> {
    headers::folders(&library.path)
        .into_iter()
        .find(|folder| !searched.contains(folder) && folder.join(header).is_file())
}

/// Where a header is that is in a package; `there` is the folder of the toolkit that has it and was not
/// searched.
fn of_package(package: Package, inside: bool, there: Option<PathBuf>, library: &Library) -> String {
    let version = library.version.as_deref();
    let found = match (there, headers::place(&library.path, package.folder_12)) {
        (Some(there), _) => format!(
            "and lies in {}, which is searched where `preprocessor.toolkit_headers` is set",
            there.display()
        ),
        (None, Some(place)) => format!(
            "which pip installs; it is found by itself in {}, and elsewhere by \
             `preprocessor.include_folders`",
            place.display()
        ),
        (None, None) => {
            "which pip installs; its folder goes into `preprocessor.include_folders`".to_owned()
        }
    };
    let bundled = if inside && carries_headers(version) {
        "; this NVRTC also carries it inside: set `preprocessor.bundled_headers`"
    } else {
        ""
    };
    format!(
        "it is in the package {}, {found}{bundled}",
        package.requirement(version)
    )
}

fn of_standard(
    header: &str,
    counterpart: Option<&str>,
    searched: &[PathBuf],
    library: &Library,
) -> String {
    let none = "NVRTC has none of the headers of standard C and C++";
    match (header, counterpart) {
        ("cstdio" | "stdio.h", _) => format!("{none}, and `printf` needs no header"),
        (_, None) => format!(
            "{none}, and `<cuda/std/…>` has no counterpart for this one; it is for code of the host"
        ),
        (_, Some(name)) => {
            let there = searched
                .iter()
                .any(|folder| folder.join("cuda").join("std").join(name).is_file());
            if there {
                format!("{none}; include `<cuda/std/{name}>` and use `cuda::std::`")
            } else {
                let Owner::Package(package, inside) = owner("cuda/std/") else {
                    return none.to_owned();
                };
                format!(
                    "{none}; `<cuda/std/{name}>` stands in for it: {}",
                    of_package(package, inside, None, library)
                )
            }
        }
    }
}

/// Headers inside the compiler came with 13.3.
fn carries_headers(version: Option<&str>) -> bool {
    version
        .and_then(major_minor)
        .is_some_and(|version| version >= (13, 3))
}

fn shown(folders: &[PathBuf], between: &str) -> String {
    let shown: Vec<_> = folders.iter().map(|f| f.display().to_string()).collect();
    shown.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(
        "nvrtc: error: failed to open libnvrtc-builtins.so.12.9.\n  Make sure",
        Some("libnvrtc-builtins.so.12.9")
    )]
    #[case(
        "nvrtc: error: failed to open nvrtc-builtins64_135.dll.\n",
        Some("nvrtc-builtins64_135.dll")
    )]
    #[case(
        "nvrtc: error: libnvrtc-builtins.so.13.5 is corrupted",
        Some("libnvrtc-builtins.so.13.5")
    )]
    #[case("k.cu(1): error: builtins", None)]
    fn the_file_of_the_builtins_is_read_from_the_log(
        #[case] log: &str,
        #[case] file: Option<&str>,
    ) {
        assert_eq!(builtins(log), file);
    }

    #[rstest]
    #[case(
        "k.cu(1): catastrophic error: could not open source file \"my.h\" (no directories)",
        Some("my.h")
    )]
    #[case(
        "k.cu(1): catastrophic error: cannot open source file \"my.h\"",
        Some("my.h")
    )]
    #[case("could not open source file \"my.h\"", Some("my.h"))]
    #[case(
        "k.cu(1): error: #error directive: could not open source file \"my.h\"",
        None
    )]
    fn a_header_is_missing_where_the_compiler_says_so(
        #[case] log: &str,
        #[case] missing: Option<&str>,
    ) {
        assert_eq!(header(log), missing);
    }

    #[rstest]
    #[case(Some("13.3"), true)]
    #[case(Some("13.10"), true)]
    #[case(Some("14.0"), true)]
    #[case(Some("13.2"), false)]
    #[case(None, false)]
    fn headers_are_inside_from_13_3_on(#[case] version: Option<&str>, #[case] expected: bool) {
        assert_eq!(carries_headers(version), expected);
    }
}
