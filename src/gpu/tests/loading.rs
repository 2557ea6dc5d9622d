//! What counts as loaded.

use std::path::{Path, PathBuf};

use rstest::rstest;

use super::fake::{self, Fake};
use crate::artifact::{LtoIr, Ptx};
use crate::error::{Error, Result};
use crate::gpu::context::Place;
use crate::gpu::prepare::{Prepared, prepare};
use crate::gpu::{LoadOptions, LoadPolicy, Module};
use crate::sys::cuda::consts::*;
use crate::toolkit::Toolkit;

fn toolkit(version: &str) -> Toolkit {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/toolkits")
        .join(version);
    Toolkit::at(root)
        .unwrap_or_else(|e| panic!("install it with `cargo xtask toolkit {version}`: {e}"))
}

/// A toolkit with a libNVVM and no nvJitLink.
fn without_nvjitlink() -> Toolkit {
    let whole = toolkit("13.5");
    let nvvm: PathBuf = whole.nvvm().unwrap().library.path.clone();
    Toolkit::builder().only().nvvm(nvvm).build().unwrap()
}

fn ptx(version: &str, target: &str) -> Ptx {
    Ptx::from_text(format!(
        ".version {version}\n.target {target}\n.address_size 64\n\
         .visible .entry saxpy() {{ ret; }}\n.visible .entry gelu() {{ ret; }}\n"
    ))
    .unwrap()
}

fn prepared(place: &Place, ptx: &Ptx, options: &LoadOptions) -> Result<Prepared> {
    prepare(place.driver, place.arch()?, ptx.into(), options)
}

fn load(set: impl FnOnce(&mut Fake)) -> Result<Module> {
    let place = fake::place(set);
    let options = LoadOptions::new().policy(LoadPolicy::Driver);
    let ready = prepared(&place, &ptx("8.0", "sm_75"), &options)?;
    Module::install(place, ready)
}

#[test]
fn what_the_driver_takes_is_loaded_and_stays_when_the_module_is_dropped() {
    let module = load(|_| ()).unwrap();
    assert_eq!(module.kernel_names(), ["saxpy", "gelu"]);
    drop(module);
    fake::with(|fake| {
        assert_eq!(fake.loaded(), 1);
        assert!(fake.current.is_empty(), "the context is still current");
    });
}

#[rstest]
#[case::code(|fake: &mut Fake| fake.load = ERROR_INVALID_PTX, 218)]
#[case::success_with_a_log(|fake: &mut Fake| fake.error_log = "line 1: Unsupported .version 9.5", 0)]
#[case::no_kernel(|fake: &mut Fake| fake.get_kernel = ERROR_UNSUPPORTED_PTX_VERSION, 222)]
#[case::no_function(|fake: &mut Fake| fake.get_function = ERROR_NO_BINARY_FOR_GPU, 209)]
#[case::log_and_no_kernel(
    |fake: &mut Fake| {
        fake.error_log = "Unsupported .version 9.5";
        fake.get_kernel = ERROR_UNSUPPORTED_PTX_VERSION;
    },
    222
)]
fn a_load_that_failed_is_an_error_and_leaves_nothing(
    #[case] set: fn(&mut Fake),
    #[case] code: i32,
) {
    let error = load(set).unwrap_err();
    let Error::Driver(error) = error else {
        panic!("{error}");
    };
    assert_eq!(error.code, code);
    fake::with(|fake| {
        assert_eq!(error.log, fake.error_log);
        assert_eq!(fake.loaded(), 0);
        assert!(fake.current.is_empty(), "the context is still current");
    });
}

#[test]
fn a_failed_load_shows_code_log_and_driver() {
    let error = load(|fake| {
        fake.error_log = "ptxas application ptx input, line 1; fatal : Unsupported .version 9.5\n";
        fake.get_kernel = ERROR_UNSUPPORTED_PTX_VERSION;
    })
    .unwrap_err();
    insta::assert_snapshot!(format!("{error:#}"), @r"
    cuLibraryGetKernel failed with CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222) on saxpy: ptx input:1: Unsupported .version 9.5; the PTX is newer than this compiler of PTX: make a cubin of it with a library as new as what wrote it, or ask for older PTX (`ptx_version`)
    error: ptx input:1: Unsupported .version 9.5
      1 | .version 8.0
    driver: the CUDA driver 13.0 (fake)
    log:
    ptxas application ptx input, line 1; fatal : Unsupported .version 9.5
    ");
}

#[test]
fn a_driver_before_cuda_12_is_too_old_and_says_so() {
    let error = load(|fake| {
        fake.version = 11080;
        fake.lacks = vec!["cuLibraryLoadData", "cuLibraryUnload", "cuLibraryGetKernel"];
    })
    .unwrap_err();
    insta::assert_snapshot!(error, @"cuLibraryLoadData, which this needs, needs a driver of CUDA 12.0 or later, and the CUDA driver 11.8 (fake) is not that");
}

#[test]
fn the_drivers_information_is_a_note_of_the_module() {
    let module = load(|fake| fake.info_log = "used 12 registers\n").unwrap();
    let notes: Vec<String> = module.diagnostics().iter().map(|d| d.to_string()).collect();
    assert_eq!(
        notes,
        [
            "note: the driver compiles the PTX",
            "note: used 12 registers"
        ]
    );
}

#[test]
fn ptx_newer_than_the_driver_is_refused_before_the_load() {
    let place = fake::place(|fake| fake.version = 12040);
    let options = LoadOptions::new().policy(LoadPolicy::Driver);
    let error = prepared(&place, &ptx("9.5", "sm_75"), &options).unwrap_err();
    insta::assert_snapshot!(error, @"the PTX is of version 9.5, and the CUDA driver 12.4 (fake) reads up to 8.4; make a cubin of it with nvJitLink (LoadPolicy::Cubin), compile it with a toolkit that is no newer than the driver, or update the driver");
}

#[test]
fn nvjitlink_makes_a_cubin_of_ptx_that_the_driver_does_not_read() {
    let place = fake::place(|fake| fake.version = 12040);
    let options = LoadOptions::new().toolkit(&toolkit("13.5"));
    let ready = prepared(&place, &ptx("9.5", "sm_75"), &options).unwrap();
    assert!(ready.code.starts_with(b"\x7fELF"));
    let note = ready.diagnostics.last().unwrap().to_string();
    assert!(
        note.starts_with("note: PTX 9.5 was made a cubin for sm_90 by nvJitLink 13.5"),
        "{note}"
    );
}

#[test]
fn the_driver_compiles_what_it_reads_where_nvjitlink_is_of_a_later_major_version() {
    let place = fake::place(|fake| fake.version = 12040);
    let options = LoadOptions::new().toolkit(&toolkit("13.5"));
    let ready = prepared(&place, &ptx("8.0", "sm_75"), &options).unwrap();
    assert!(ready.code.ends_with(b"}\n\0"));
    let note = ready.diagnostics.last().unwrap().to_string();
    assert!(
        note.contains("later major version than the driver"),
        "{note}"
    );
}

#[rstest]
#[case::there_is_none(without_nvjitlink(), "8.0", "nvJitLink was not found")]
#[case::it_is_older(toolkit("12.0"), "9.0", "reads no newer PTX than 8.0")]
fn the_driver_compiles_ptx_where_nvjitlink_cannot(
    #[case] toolkit: Toolkit,
    #[case] version: &str,
    #[case] why: &str,
) {
    let place = fake::place(|_| ());
    let options = LoadOptions::new().toolkit(&toolkit);
    let ready = prepared(&place, &ptx(version, "sm_75"), &options).unwrap();
    assert!(ready.code.ends_with(b"}\n\0"));
    let note = ready.diagnostics.last().unwrap().to_string();
    assert!(note.contains(why), "{note}");
}

#[test]
fn ptx_that_neither_can_finish_is_an_error_that_says_both() {
    let place = fake::place(|fake| fake.version = 12040);
    let options = LoadOptions::new().toolkit(&toolkit("12.4"));
    let error = prepared(&place, &ptx("9.5", "sm_75"), &options).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("reads up to 8.4"), "{text}");
    assert!(
        text.contains("nvJitLink cannot make a cubin of it"),
        "{text}"
    );
}

#[test]
fn ptx_of_another_architecture_is_refused() {
    let place = fake::place(|_| ());
    let error = prepared(&place, &ptx("8.8", "sm_100"), &LoadOptions::new()).unwrap_err();
    insta::assert_snapshot!(error, @"PTX: it is for sm_100, and the device is sm_90; compile it for compute_90");
}

#[test]
fn lto_ir_is_not_for_the_driver_alone() {
    let place = fake::place(|_| ());
    let bytes = include_bytes!("../../../fixtures/ltoir/typed-13.5-sm_90a.ltoir");
    let lto = LtoIr::from_bytes(bytes.to_vec()).unwrap();
    let options = LoadOptions::new().policy(LoadPolicy::Driver);
    let error = prepare(place.driver, place.arch().unwrap(), (&lto).into(), &options).unwrap_err();
    assert!(matches!(error, Error::InvalidOptions { .. }), "{error}");
}

#[test]
fn a_kernel_that_a_link_lost_is_an_error() {
    let place = fake::place(|_| ());
    let options = LoadOptions::new().toolkit(&toolkit("13.5"));
    let mut ready = prepared(&place, &ptx("8.0", "sm_75"), &options).unwrap();
    ready.kernels.push("lost".to_owned());
    // The fake reads what it loads as text.
    ready.code = b"cubin\0".to_vec();
    let error = Module::install(place, ready).unwrap_err();
    assert!(matches!(&error, Error::WrongOutput { problem, .. } if problem.contains("lost")));
    assert_eq!(fake::with(|fake| fake.loaded()), 0);
}

#[rstest]
#[case((9, 0), "sm_90")]
#[case((11, 5), "sm_110")]
#[case((10, 5), "sm_103")]
#[case((10, 8), "sm_107")]
fn a_device_that_is_not_known_counts_as_the_nearest_older_one(
    #[case] capability: (i32, i32),
    #[case] arch: &str,
) {
    let place = fake::place(|fake| fake.capability = capability);
    assert_eq!(place.arch().unwrap().to_string(), arch);
}
