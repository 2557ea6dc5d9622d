#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use rstest::rstest;

use super::{Cpp, Fields, Folders};
use crate::Arch;
use crate::cache::key::{Key, Uncacheable};
use crate::nvrtc::{Options, PchMode};
use crate::testing::folder_of;

fn options() -> Options {
    Options::new(Arch::SM_90)
}

fn key(
    name: &str,
    source: &str,
    headers: &[(&str, &str)],
    options: &Options,
    toolkit: &[&Path],
) -> Result<Key, Uncacheable> {
    let mut fields = Fields::new();
    let cpp = Cpp {
        name,
        source,
        headers: headers.to_vec(),
        options,
    };
    let toolkit: Vec<PathBuf> = toolkit.iter().map(|path| path.to_path_buf()).collect();
    cpp.hash(&mut fields, &Folders::default(), &toolkit)?;
    Ok(fields.finish())
}

fn refused(source: &str, headers: &[(&str, &str)], options: &Options) -> String {
    key("k.cu", source, headers, options, &[])
        .unwrap_err()
        .reason
}

#[test]
fn a_source_without_includes_depends_on_no_folder() {
    let mut options = options();
    options.preprocessor.include_folders.push("/".into());
    assert!(key("k.cu", "int x;", &[], &options, &[Path::new("/")]).is_ok());
    let source = "#include \"x.h\"\n#include <y.h>";
    let headers = [("x.h", "#include <y.h>"), ("y.h", "")];
    assert!(key("k.cu", source, &headers, &options, &[Path::new("/")]).is_ok());
}

#[test]
fn a_declared_folder_counts_by_its_content() {
    let source = "#include <x.h>";
    let with = |text: &str| {
        let folder = folder_of(&[("x.h", text)]);
        let mut options = options();
        let folders = &mut options.preprocessor.include_folders;
        folders.push(folder.path().to_owned());
        key("k.cu", source, &[], &options, &[]).unwrap()
    };
    assert_eq!(with("1"), with("1"));
    assert_ne!(with("1"), with("2"));
}

#[test]
fn the_headers_of_the_toolkit_count_by_content_and_place_where_they_are_asked_for() {
    let (one, other) = (folder_of(&[("x.h", "1")]), folder_of(&[("x.h", "1")]));
    let mut options = options();
    let key_of = |options: &Options, toolkit: &tempfile::TempDir| {
        key("k.cu", "#include <x.h>", &[], options, &[toolkit.path()]).unwrap()
    };
    let first = key_of(&options, &one);
    assert_eq!(key_of(&options, &one), first);
    assert_ne!(key_of(&options, &other), first);
    fs::write(one.path().join("x.h"), "2").unwrap();
    assert_ne!(key_of(&options, &one), first);
    options.preprocessor.toolkit_headers = false;
    assert_eq!(key_of(&options, &one), key_of(&options, &other));
}

/// A toolkit's headers include what macros stand for, and a user may name their folder too.
#[test]
fn a_declared_folder_of_the_toolkit_is_trusted_as_the_toolkit_is() {
    let toolkit = folder_of(&[("x.h", "#include HEADER"), ("sub/y.h", "#include HEADER")]);
    let mut options = options();
    for folder in [toolkit.path().to_owned(), toolkit.path().join("sub")] {
        options.preprocessor.include_folders = vec![folder];
        assert!(key("k.cu", "#include <x.h>", &[], &options, &[toolkit.path()]).is_ok());
        assert!(key("k.cu", "#include <x.h>", &[], &options, &[]).is_err());
    }
}

#[test]
fn a_file_beside_the_source_is_undeclared_until_it_is_in_memory_or_not_looked_at() {
    let beside = folder_of(&[("x.h", "")]);
    let name = beside.path().join("k.cu");
    let name = name.to_str().unwrap();
    let source = "#include \"x.h\"";
    let reason = key(name, source, &[], &options(), &[]).unwrap_err().reason;
    assert!(reason.contains("no_source_include"), "{reason}");
    assert!(key(name, source, &[("x.h", "")], &options(), &[]).is_ok());
    assert!(key(name, "#include <x.h>", &[], &options(), &[]).is_ok());
    let mut not_looked_at = options();
    not_looked_at.preprocessor.no_source_include = true;
    assert!(key(name, source, &[], &not_looked_at, &[]).is_ok());
}

#[test]
fn a_file_beside_a_header_in_memory_is_undeclared_too() {
    let beside = folder_of(&[("x.h", "")]);
    let header = beside.path().join("m.h");
    let headers = [(header.to_str().unwrap(), "#include \"x.h\"")];
    let reason = refused("int x;", &headers, &options());
    assert!(reason.contains("x.h"), "{reason}");
}

#[rstest]
#[case("#include HEADER", "macro")]
#[case("#include \"/etc/passwd\"", "in memory")]
#[case("#include <../x.h>", "in memory")]
#[case("#if __has_include(\"../x.h\")\n#endif", "in memory")]
#[case("const char *built = __DATE__;", "time")]
fn what_a_source_reads_undeclared_is_said(#[case] source: &str, #[case] says: &str) {
    for (source, headers) in [(source, vec![]), ("", vec![("m.h", source)])] {
        let reason = refused(source, &headers, &options());
        assert!(reason.contains(says), "{reason}");
    }
}

#[test]
fn an_option_that_names_a_file_or_the_time_is_said() {
    type Set = fn(&mut Options);
    let table: [(Set, &str); 7] = [
        (|o| o.pch.mode = PchMode::Automatic, "`pch`"),
        (|o| o.pch.mode = PchMode::Use("x.pch".into()), "`pch`"),
        (|o| o.time_trace = Some("x.json".into()), "`time_trace`"),
        (|o| o.preprocessor.pre_includes.push("x.h".into()), "x.h"),
        (|o| o.extra.push("--foo=x".into()), "`extra`"),
        (|o| o.code.ptxas.push("-optf".into()), "`code.ptxas`"),
        (|o| o.preprocessor.defines.push("T=__TIME__".into()), "time"),
    ];
    for (set, says) in table {
        let mut options = options();
        set(&mut options);
        let reason = refused("int x;", &[], &options);
        assert!(reason.contains(says), "{reason}");
    }
}

#[test]
fn a_header_that_is_included_first_may_be_in_memory() {
    let mut options = options();
    options.preprocessor.pre_includes.push("x.h".into());
    assert!(key("k.cu", "int x;", &[("x.h", "")], &options, &[]).is_ok());
}

#[test]
fn the_current_folder_counts_where_it_is_in_the_result() {
    let plain = key("k.cu", "int x;", &[], &options(), &[]).unwrap();
    let mut with_lines = options();
    with_lines.debug.line_info = true;
    assert_ne!(key("k.cu", "int x;", &[], &with_lines, &[]).unwrap(), plain);
}
