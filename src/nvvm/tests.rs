//! What the real library cannot be made to do on demand, on a fake that counts.

use super::fake;
use crate::error::{Error, Stage};
use crate::nvvm::{Dialect, Libdevice, Options, Program};
use crate::testing::random::Random;
use crate::{Arch, Ptx, Result};

fn compile(program: &Program) -> Result<Ptx> {
    program.compile(&Options::new(Arch::SM_90))
}

#[test]
fn libdevice_is_added_once_over_many_compilations_and_targets() {
    let program = fake::program();
    for arch in [Arch::SM_80, Arch::SM_90, Arch::SM_100] {
        program.compile::<Ptx>(&Options::new(arch)).unwrap();
        program.verify(&Options::new(arch)).unwrap();
    }
    fake::with(|fake| {
        assert_eq!(
            (fake.created, fake.libdevice_adds, fake.compiled),
            (1, 1, 6)
        );
    });
}

#[test]
fn a_failed_add_of_libdevice_is_an_error_and_the_next_compilation_tries_again() {
    let program = fake::program();
    fake::with(|fake| fake.fail_libdevice_adds = 1);
    let Err(Error::Library(error)) = compile(&program) else {
        panic!("the add was to fail")
    };
    assert_eq!((error.stage, error.code), (Stage::Add, 1));
    assert_eq!(error.input.as_deref(), Some("libdevice"));
    fake::with(|fake| assert_eq!(fake.libdevice_adds, 0));
    compile(&program).unwrap();
    compile(&program).unwrap();
    fake::with(|fake| assert_eq!((fake.libdevice_adds, fake.compiled), (1, 2)));
}

#[test]
fn a_failed_compilation_does_not_add_libdevice_again() {
    let program = fake::program();
    fake::with(|fake| fake.fail_compiles = 1);
    assert_eq!(compile(&program).unwrap_err().raw_code(), Some(9));
    compile(&program).unwrap();
    fake::with(|fake| {
        assert_eq!(
            (fake.created, fake.libdevice_adds, fake.compiled),
            (1, 1, 1)
        );
    });
}

#[test]
fn no_handle_outlives_its_program_and_none_is_made_before_it_is_needed() {
    let program = fake::program();
    fake::with(|fake| assert_eq!(fake.created, 0));
    compile(&program).unwrap();
    program.set_libdevice(Libdevice::Always).unwrap();
    program
        .replace_module(
            "k.ll",
            "target triple = \"nvptx64-nvidia-cuda\"\ntarget datalayout = \"e-p:64:64:64\"\n\
             !nvvmir.version = !{!1}\n!1 = !{i32 2, i32 0}\n",
        )
        .unwrap();
    compile(&program).unwrap();
    drop(program);
    fake::with(|fake| {
        assert_eq!(fake.created, 2);
        assert!(fake.programs.iter().all(Option::is_none));
    });
}

/// Bytes flipped, cut out and doubled, the same each time.
fn damaged(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut roll = |sides| random.below(sides);
    let mut bytes = whole.to_vec();
    for _ in 0..=roll(4) {
        let at = roll(bytes.len());
        let end = (at + roll(40)).min(bytes.len());
        match roll(4) {
            0 => bytes[at] ^= 1 << roll(8),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.extend_from_within(at..end),
            _ => bytes.truncate(at.max(bytes.len() / 2)),
        }
        if bytes.is_empty() {
            bytes.push(b' ');
        }
    }
    bytes
}

/// All looks, checks and repairs run before the fake sees anything; a panic would end this test.
#[rstest::rstest]
fn damage_never_panics_on_its_way_to_the_library(
    #[values(
        "guards/debug_list.ll",
        "guards/assembly.ll",
        "guards/intrinsic.ll",
        "guards/parameters.ll",
        "guards/pointed.ll",
        "guards/unversioned.ll",
        "guards/debug_list.llvm14.bc",
        "guards/assembly.llvm14.bc",
        "guards/intrinsic.llvm22.bc",
        "bitcode/every.llvm7.bc",
        "text/every.typed.ll"
    )]
    file: &str,
) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/");
    let whole = std::fs::read(format!("{root}{file}")).unwrap();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut seen = [0; 2];
    for n in 0..400 {
        let program = fake::program();
        // Which the fake insists on.
        program.set_libdevice(Libdevice::Always).unwrap();
        // The fake knows nothing of the questions that modern modules and conventions lead to.
        let options = if n % 2 == 0 && file.starts_with("guards") {
            Options::new(Arch::SM_90).dialect(Dialect::Legacy)
        } else {
            Options::new(Arch::SM_100)
        };
        let result = program
            .replace_module("k.ll", damaged(&whole, &mut random))
            .and_then(|()| program.verify(&options));
        seen[usize::from(result.is_ok())] += 1;
    }
    assert!(seen[0] > 0, "nothing was refused");
}
