//! Compilations as plain values: what they say is kept, and what nobody knows is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use cuda_program::compile::{Compiler, Emit, InProcess, Job, Output};
use cuda_program::link::{self, InputKind};
use cuda_program::{Arch, nvrtc, nvvm};
use rstest::rstest;
use serde_json::Value;

mod common;
use common::{NEWEST, store, toolkit};

fn of_nvvm() -> Job {
    let options = nvvm::Options::new(Arch::SM_90);
    Job::nvvm("k.ll", store("k", 7), options, Emit::Ptx)
}

fn of_cpp() -> Job {
    let source = "#include \"value.h\"\ntemplate <class T> __global__ void k(T *p) { *p = VALUE; }";
    Job::cpp(
        "k.cu",
        source,
        nvrtc::Options::new(Arch::SM_90),
        Emit::LtoIr,
    )
    .with_header("value.h", "#define VALUE 3\n")
    .with_name("k<int>")
}

fn of_a_link() -> Job {
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n";
    Job::link(Arch::SM_90, link::Options::new(), Emit::Cubin).with_input(
        "k.ptx",
        InputKind::Ptx,
        ptx,
    )
}

#[rstest]
#[case(of_nvvm())]
#[case(of_cpp())]
#[case(of_a_link())]
fn a_job_that_went_through_json_is_the_same_and_makes_the_same(#[case] job: Job) {
    let text = serde_json::to_string(&job).unwrap();
    let back: Job = serde_json::from_str(&text).unwrap();
    assert_eq!(back, job);
    let compiler = InProcess::new(&toolkit(NEWEST));
    let made = compiler.compile(&job).unwrap();
    let again = compiler.compile(&back).unwrap();
    assert_eq!(made, again);
    let kernels = match &made {
        Output::Ptx(ptx) => ptx.kernels().len(),
        Output::LtoIr(lto) => usize::from(lto.kernel_for("k<int>").is_some()),
        Output::Cubin(cubin) => cubin.kernels().len(),
        _ => 0,
    };
    assert_eq!(kernels, 1);
}

#[rstest]
#[case::job(of_nvvm(), "")]
#[case::nvvm(of_nvvm(), "/source/nvvm")]
#[case::module(of_nvvm(), "/source/nvvm/modules/0")]
#[case::options_of_nvvm(of_nvvm(), "/source/nvvm/options")]
#[case::cpp(of_cpp(), "/source/cpp")]
#[case::header(of_cpp(), "/source/cpp/headers/0")]
#[case::options_of_cpp(of_cpp(), "/source/cpp/options")]
#[case::link(of_a_link(), "/source/link")]
#[case::input(of_a_link(), "/source/link/inputs/0")]
#[case::options_of_a_link(of_a_link(), "/source/link/options")]
fn a_field_that_nobody_knows_is_refused_by_its_name(#[case] job: Job, #[case] at: &str) {
    let mut json = serde_json::to_value(&job).unwrap();
    let Some(Value::Object(fields)) = json.pointer_mut(at) else {
        panic!("no object at {at} of {json}");
    };
    fields.insert("opt_levle".to_owned(), Value::from(3));
    let error = serde_json::from_value::<Job>(json).unwrap_err();
    assert!(
        error.to_string().starts_with("unknown field `opt_levle`"),
        "{error}"
    );
}
