//! What a program in CUDA C++ is made to be for a device.

use std::path::Path;

use rstest::rstest;

use super::fake;
use crate::artifact::Cubin;
use crate::gpu::prepare::Prepared;
use crate::gpu::{LoadOptions, LoadPolicy, Module};
use crate::nvrtc::{Options, Program};
use crate::toolkit::Toolkit;

const SAXPY: &str = "extern \"C\" __global__ void saxpy(int *p) { *p = 1; }";

fn program(version: &str) -> Program {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/toolkits")
        .join(version);
    let toolkit = Toolkit::at(root)
        .unwrap_or_else(|e| panic!("install it with `cargo xtask toolkit {version}`: {e}"));
    Program::new(&toolkit, "k.cu", SAXPY).unwrap()
}

fn notes(prepared: &Prepared) -> String {
    let notes: Vec<&str> = prepared
        .diagnostics
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    notes.join("\n")
}

#[rstest]
#[case::known("13.5", 13000, (9, 0), LoadPolicy::Auto, Some("sm_90"), "")]
#[case::by_the_driver("13.5", 13050, (9, 0), LoadPolicy::Driver, None, "the driver compiles")]
#[case::older_driver("13.5", 12040, (9, 0), LoadPolicy::Cubin, Some("sm_90"), "")]
#[case::unknown("12.4", 13000, (10, 0), LoadPolicy::Driver, None, "compiled for compute_90")]
fn a_cubin_is_made_for_a_device_that_nvrtc_knows_and_ptx_otherwise(
    #[case] version: &str,
    #[case] driver: i32,
    #[case] capability: (i32, i32),
    #[case] policy: LoadPolicy,
    #[case] cubin: Option<&str>,
    #[case] says: &str,
) {
    let place = fake::place(|fake| {
        fake.version = driver;
        fake.capability = capability;
    });
    let load = LoadOptions::new().policy(policy);
    let prepared = program(version)
        .prepare_for(&place, |options| options, &load)
        .unwrap();
    let made = Cubin::from_bytes(prepared.code.clone()).ok();
    assert_eq!(made.map(|made| made.arch().sm()).as_deref(), cubin);
    assert!(notes(&prepared).contains(says), "{}", notes(&prepared));
    assert_eq!(prepared.kernels, ["saxpy"]);
    Module::install(place, prepared).unwrap();
}

#[test]
fn relocatable_code_is_linked_and_options_are_the_callers() {
    let place = fake::place(|_| ());
    let relocatable = |mut options: Options| {
        options.code.relocatable = true;
        options
    };
    let prepared = program("13.5")
        .prepare_for(&place, relocatable, &LoadOptions::new())
        .unwrap();
    assert!(notes(&prepared).contains("was made a cubin"));
    let older = |mut options: Options| {
        options.arch = crate::Arch::SM_75;
        options
    };
    let prepared = program("13.5")
        .prepare_for(&place, older, &LoadOptions::new())
        .unwrap();
    let made = Cubin::from_bytes(prepared.code).unwrap();
    assert_eq!(made.arch(), crate::Arch::SM_90);
}
