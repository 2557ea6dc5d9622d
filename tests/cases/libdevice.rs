//! libdevice that is missing, there twice, or something else.

use cuda_program::nvvm::{Libdevice, Options, Program};
use cuda_program::{Arch, Error, Ptx, Toolkit};

use crate::alone;
use crate::common::{NEWEST, calls, store, toolkit};

fn program(toolkit: &Toolkit, function: &str) -> Program {
    let program = Program::new(toolkit).unwrap();
    program.add_module("user.ll", calls("k", function)).unwrap();
    program
}

const OPTIONS: fn() -> Options = || Options::new(Arch::SM_75);

#[test]
fn without_libdevice_the_places_that_were_searched_are_named() {
    let folder = alone(&toolkit(NEWEST).nvvm().unwrap().library.path);
    let toolkit = Toolkit::builder()
        .root(folder.path())
        .only()
        .build()
        .unwrap();
    let error = program(&toolkit, "__nv_sinf")
        .compile::<Ptx>(&OPTIONS())
        .unwrap_err();
    let Error::NotFound(missing) = &error else {
        panic!("{error}")
    };
    assert!(!missing.tried.is_empty(), "{error}");
    let root = folder.path().to_str().unwrap();
    assert!(error.to_string().contains(root), "{error}");
}

#[test]
fn a_function_that_libdevice_lacks_is_an_error_and_none_of_those_it_has() {
    let toolkit = toolkit(NEWEST);
    let ptx: Ptx = program(&toolkit, "__nv_sinf").compile(&OPTIONS()).unwrap();
    assert_eq!(ptx.externs(), []);
    let error = program(&toolkit, "__nv_sinusf")
        .compile::<Ptx>(&OPTIONS())
        .unwrap_err();
    assert!(matches!(&error, Error::Unresolved(e) if e.symbols[0].name == "__nv_sinusf"));
}

#[test]
fn libdevice_that_a_user_adds_besides_does_no_harm() {
    let toolkit = toolkit(NEWEST);
    let libdevice = toolkit.libdevice().unwrap().bytes.clone();
    let program = program(&toolkit, "__nv_sinf");
    let expected: Ptx = program.compile(&OPTIONS()).unwrap();
    program.add_lazy_module("libdevice", &libdevice).unwrap();
    program.set_libdevice(Libdevice::Always).unwrap();
    let ptx: Ptx = program.compile(&OPTIONS()).unwrap();
    assert_eq!(ptx.as_str(), expected.as_str());
}

#[test]
fn text_is_neither_libdevice_nor_a_lazy_module() {
    let toolkit = toolkit(NEWEST);
    let program = program(&toolkit, "__nv_sinf");
    let text = store("__nv_sinf", 1).into_bytes();
    let error = program.add_lazy_module("lazy.ll", &text).unwrap_err();
    assert!(error.to_string().contains("must be bitcode"), "{error}");
    for wrong in [text, Vec::new(), b"BC\xc0\xde".to_vec()] {
        let error = program
            .set_libdevice(Libdevice::Bytes(wrong.into()))
            .unwrap_err();
        assert!(error.to_string().starts_with("libdevice: "), "{error}");
    }
    program.compile::<Ptx>(&OPTIONS()).unwrap();
}
