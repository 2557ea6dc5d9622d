//! What the real library cannot be made to do on demand, on a fake that counts.

use super::fake;
use crate::error::{Error, Stage};
use crate::nvvm::{Libdevice, Options, Program};
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
