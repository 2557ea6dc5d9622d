//! Finding and starting the driver.

use rstest::rstest;

use super::fake::{self, Fake};
use crate::error::{DriverProblem, Error};
use crate::gpu::Driver;

#[rstest]
#[case::no_device(|fake: &mut Fake| fake.init = 100, DriverProblem::NoDevice, Some(100))]
#[case::none_left(|fake: &mut Fake| fake.devices = 0, DriverProblem::NoDevice, None)]
#[case::stub(|fake: &mut Fake| fake.init = 34, DriverProblem::Stub, Some(34))]
#[case::mismatch(|fake: &mut Fake| fake.init = 803, DriverProblem::Unusable, Some(803))]
fn a_driver_that_does_not_start_is_an_error_which_says_how(
    #[case] set: fn(&mut Fake),
    #[case] problem: DriverProblem,
    #[case] code: Option<i32>,
) {
    let first = fake::driver(set).unwrap_err();
    let Error::NoDriver(said) = &first else {
        panic!("{first}");
    };
    assert_eq!((said.problem, said.code), (problem, code));
    for _ in 0..1000 {
        assert_eq!(fake::driver(set).unwrap_err(), first);
    }
}

#[test]
fn a_driver_tells_its_version_and_the_ptx_it_reads() {
    let driver = fake::driver(|fake| fake.version = 12080).unwrap();
    assert_eq!(driver.version(), (12, 8));
    assert_eq!(driver.reads_ptx().unwrap().to_string(), "8.7");
    assert_eq!(driver.library().to_string(), "the CUDA driver 12.8 (fake)");
}

#[test]
fn the_second_and_the_thousandth_try_are_like_the_first() {
    // On a machine with a driver each is a success, and without one each is the same error.
    let first = Driver::get().map(|driver| driver.version());
    for _ in 0..1000 {
        assert_eq!(Driver::get().map(|driver| driver.version()), first);
    }
}

/// The driver as the system's loader finds it, in a folder of the test's.
#[cfg(target_os = "linux")]
mod found_by_the_loader {
    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::testing::again_in_a_process_of_its_own;

    /// A libcuda with every function, each of which returns `code`, and writes nothing.
    fn compile(to: &Path, code: i32, functions: &[&str]) {
        let folder = to.parent().unwrap();
        std::fs::create_dir_all(folder).unwrap();
        let source = folder.join("fake.c");
        let text: String = functions
            .iter()
            .map(|name| format!("int {name}(int *to) {{ {} return {code}; }}\n", body(name)))
            .collect();
        std::fs::write(&source, text).unwrap();
        // Another file first: the loader maps what it finds under the name.
        let draft = folder.join("draft.so");
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-o"])
            .arg(&draft)
            .arg(&source)
            .status()
            .unwrap();
        assert!(made.success());
        std::fs::rename(draft, to).unwrap();
    }

    fn body(name: &str) -> &'static str {
        match name {
            "cuDriverGetVersion" => "*to = 13000;",
            "cuDeviceGetCount" => "*to = 1;",
            _ => "",
        }
    }

    const ALL: &[&str] = &[
        "cuInit",
        "cuDriverGetVersion",
        "cuGetErrorName",
        "cuDeviceGetCount",
        "cuDeviceGetAttribute",
        "cuCtxGetCurrent",
        "cuCtxSetCurrent",
        "cuCtxPushCurrent_v2",
        "cuCtxPopCurrent_v2",
        "cuCtxSynchronize",
        "cuStreamSynchronize",
        "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2",
        "cuFuncGetAttribute",
        "cuFuncSetAttribute",
        "cuLaunchKernel",
        "cuLaunchCooperativeKernel",
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        "cuOccupancyMaxPotentialBlockSize",
    ];

    fn problem() -> Option<DriverProblem> {
        match Driver::get() {
            Ok(_) => None,
            Err(Error::NoDriver(e)) => Some(e.problem),
            Err(other) => panic!("{other}"),
        }
    }

    fn in_folder(test: impl FnOnce(&Path)) {
        let folder = tempfile::tempdir().unwrap();
        // Where the test runs inside, the folder is that of the process that started it.
        let path = std::env::var_os("CUDA_PROGRAM_TEST_FOLDER")
            .map_or_else(|| folder.path().to_owned(), Into::into);
        // The loader notes which folders there are, once.
        std::fs::create_dir_all(path.join("stubs")).unwrap();
        let text = path.to_str().unwrap().to_owned();
        let library_path = format!("{text}/stubs:{text}");
        let variables = [
            ("CUDA_PROGRAM_TEST_FOLDER", text.as_str()),
            ("LD_LIBRARY_PATH", library_path.as_str()),
        ];
        again_in_a_process_of_its_own(&variables, || test(&path));
    }

    #[test]
    fn a_driver_that_comes_later_is_found_later() {
        in_folder(|folder| {
            let file = folder.join("libcuda.so.1");
            std::fs::write(&file, "no library").unwrap();
            for _ in 0..1000 {
                assert_eq!(problem(), Some(DriverProblem::Missing));
            }
            std::fs::remove_file(&file).unwrap();
            compile(&file, 0, ALL);
            assert_eq!(problem(), None);
        });
    }

    #[test]
    fn a_stub_is_told_by_its_folder_and_closed_again() {
        in_folder(|folder| {
            compile(&folder.join("stubs/libcuda.so.1"), 0, ALL);
            for _ in 0..10 {
                assert_eq!(problem(), Some(DriverProblem::Stub));
            }
            std::fs::remove_file(folder.join("stubs/libcuda.so.1")).unwrap();
            compile(&folder.join("libcuda.so.1"), 0, ALL);
            assert_eq!(problem(), None);
        });
    }

    #[test]
    fn a_stub_elsewhere_is_told_by_its_code() {
        in_folder(|folder| {
            compile(&folder.join("libcuda.so.1"), 34, ALL);
            assert_eq!(problem(), Some(DriverProblem::Stub));
        });
    }

    #[test]
    fn a_library_without_the_functions_is_no_driver() {
        in_folder(|folder| {
            compile(&folder.join("libcuda.so.1"), 0, &ALL[..3]);
            assert_eq!(problem(), Some(DriverProblem::Unusable));
            let said = Driver::get().unwrap_err().to_string();
            assert!(said.contains("cuDeviceGetCount"), "{said}");
        });
    }

    #[test]
    fn cudarc_is_not_reached_where_there_is_no_driver() {
        in_folder(|folder| {
            std::fs::write(folder.join("libcuda.so.1"), "no library").unwrap();
            for _ in 0..1000 {
                let context = crate::gpu::context(0).map(drop);
                assert!(matches!(context, Err(Error::NoDriver(_))));
                assert!(matches!(
                    crate::gpu::device_count(),
                    Err(Error::NoDriver(_))
                ));
            }
        });
    }
}
