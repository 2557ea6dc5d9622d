//! Modules of another LLVM than the library has.

use cuda_program::nvvm::Options;
use cuda_program::{Arch, Error};
use rstest::rstest;

use crate::common::{NEWEST, TARGET, ending, store};
use crate::{compile, fixture, messages};

fn opaque() -> String {
    let text = store("k", 1).replace("void (i32*)*", "ptr");
    text.replace("i32*", "ptr")
}

#[test]
fn opaque_pointers_below_compute_100_take_the_newer_compiler_or_are_refused_with_their_line() {
    let options = Options::new(Arch::SM_75);
    let ptx = compile(NEWEST, &[opaque()], &options).unwrap();
    let said = messages(ptx.diagnostics());
    assert!(
        said.contains("-nvvm-latest") && said.contains("line 3"),
        "{said}"
    );
    let error = compile("12.9", &[opaque()], &options).unwrap_err();
    let Error::Dialect(dialect) = &error else {
        panic!("{error}")
    };
    assert_eq!((dialect.line, dialect.reads), (Some(3), 7));
    compile("12.9", &[opaque()], &Options::new(Arch::SM_100)).unwrap();
}

#[rstest]
#[case("text/attribute.ll")]
#[case("text/freeze.ll")]
#[case("bitcode/every.llvm16.bc")]
fn words_of_a_newer_llvm_take_the_newer_compiler_or_are_refused_by_name(#[case] name: &str) {
    let options = Options::new(Arch::SM_75);
    let module = fixture(name);
    compile(NEWEST, &[&module], &options).unwrap();
    let error = compile("12.9", &[&module], &options).unwrap_err();
    assert!(matches!(error, Error::Dialect(_)), "{error}");
    // The library's own words are riddles.
    assert!(!error.to_string().contains("kind ("), "{error}");
}

#[test]
fn target_lines_behind_metadata_are_moved_where_the_newer_compiler_wants_them_first() {
    let text = store("k", 1);
    let (target, rest) = text.split_at(TARGET.len());
    let (code, ending) = rest.split_at(rest.len() - ending(&[("void (i32*)*", "k")]).len());
    let late = format!("{ending}{target}{code}");
    for arch in crate::BOTH {
        compile(NEWEST, &[&late], &Options::new(arch)).unwrap();
    }
    let off = Options::new(Arch::SM_100).repair(cuda_program::nvvm::Repair::Off);
    let said = compile(NEWEST, &[&late], &off).unwrap_err().to_string();
    assert!(said.contains("target"), "{said}");
}

#[test]
fn older_ptx_is_written_where_it_is_asked_for_on_either_way() {
    let version = cuda_program::artifact::IsaVersion { major: 8, minor: 6 };
    for arch in crate::BOTH {
        let options = Options::new(arch).ptx_version(version);
        let ptx = compile(NEWEST, &[store("k", 1)], &options).unwrap();
        assert_eq!(ptx.isa_version(), version);
    }
    // Where the library would ignore it, that is said.
    let options = Options::new(Arch::SM_75).ptx_version(version);
    let error = compile("13.0", &[store("k", 1)], &options).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}
