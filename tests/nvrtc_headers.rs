//! Headers of the toolkit, headers inside NVRTC, and what is said where one is missing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../src/testing/process.rs"]
mod process;

use std::fs;
use std::path::{Path, PathBuf};

use common::{NEWEST, toolkit};
use cuda_program::nvrtc::{BundledHeaders, HeaderBundle, Options, Program};
use cuda_program::{Arch, Error, Ptx, Toolkit};
use process::again_in_a_process_of_its_own;
use rstest::rstest;
use tempfile::TempDir;

fn including(header: &str) -> String {
    format!("#include <{header}>\nextern \"C\" __global__ void k(int *p) {{ *p = 1; }}\n")
}

fn compile(toolkit: &Toolkit, header: &str, options: &Options) -> cuda_program::Result<Ptx> {
    Program::new(toolkit, "k.cu", including(header))?.compile(options)
}

fn sm_90() -> Options {
    Options::new(Arch::SM_90)
}

fn bundled(headers: BundledHeaders) -> Options {
    let mut options = sm_90();
    options.preprocessor.toolkit_headers = false;
    options.preprocessor.bundled_headers = headers;
    options
}

/// The files of NVRTC in a tree of their own, without what lies beside them, under these names.
fn nvrtc_alone(version: &str, files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/toolkits")
        .join(version)
        .join(lib(version));
    let to = folder.path().join(lib(version));
    fs::create_dir_all(&to).unwrap();
    for (file, name) in files {
        // No symbolic link, since a library is followed to where it really lies.
        if fs::hard_link(from.join(file), to.join(name)).is_err() {
            fs::copy(from.join(file), to.join(name)).unwrap();
        }
    }
    folder
}

fn lib(version: &str) -> &'static str {
    if version.starts_with("12") {
        "nvidia/cuda_nvrtc/lib"
    } else {
        "nvidia/cu13/lib"
    }
}

fn nvrtc_13() -> TempDir {
    let builtins = "libnvrtc-builtins.so.13.5";
    nvrtc_alone(
        NEWEST,
        &[("libnvrtc.so.13", "libnvrtc.so.13"), (builtins, builtins)],
    )
}

// The toolkit's own.

#[rstest]
fn headers_of_the_toolkit_are_found_by_themselves(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let headers = [
        "cuda_fp16.h",
        "cuda_bf16.h",
        "cooperative_groups.h",
        "mma.h",
        "nv/target",
        "cuda/std/type_traits",
        "k.h",
    ];
    let source: String = headers.map(|h| format!("#include <{h}>\n")).concat();
    let program = Program::new(&toolkit(version), "k.cu", source).unwrap();
    program
        .add_header("k.h", including("cuda/std/cstdint"))
        .unwrap();
    let ptx: Ptx = program.compile(&sm_90()).unwrap();
    assert!(ptx.kernel("k").is_some());
}

// Where one is missing.

fn missing(version: &str, header: &str) -> String {
    let toolkits = concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits");
    compile(&toolkit(version), header, &sm_90())
        .unwrap_err()
        .to_string()
        .replace(toolkits, "[toolkits]")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[rstest]
#[case::curand("curand_kernel.h", "nvidia-curand-cu12,", "nvidia-curand,")]
#[case::mathdx("cublasdx.hpp", "nvidia-mathdx,", "nvidia-mathdx,")]
#[case::cublas("cublas_v2.h", "nvidia-cublas-cu12,", "nvidia-cublas,")]
#[case::vector("vector", "no counterpart", "no counterpart")]
#[case::cmath("cmath", "include `<cuda/std/cmath>`", "include `<cuda/std/cmath>`")]
#[case::cstdint("cstdint", "`<cuda/std/cstdint>`", "`<cuda/std/cstdint>`")]
#[case::stdint("stdint.h", "`<cuda/std/cstdint>`", "`<cuda/std/cstdint>`")]
#[case::traits("type_traits", "`<cuda/std/type_traits>`", "`<cuda/std/type_traits>`")]
#[case::stdio("stdio.h", "`printf` needs no header", "`printf` needs no header")]
#[case::nobodys("mine.h", "add_header", "include_folders")]
fn a_missing_header_says_where_was_looked_and_who_has_it(
    #[values("12.0", "12.9", "13.5")] version: &str,
    #[case] header: &str,
    #[case] of_12: &str,
    #[case] of_13: &str,
) {
    let said = missing(version, header);
    let expected = if version.starts_with("12") {
        of_12
    } else {
        of_13
    };
    assert!(said.contains(expected), "{said}");
    assert!(
        said.contains(&format!("`{header}` was not found")),
        "{said}"
    );
    let searched = format!("searched in [toolkits]/{version}/nvidia/");
    assert!(said.contains(&searched), "{said}");
}

#[test]
fn what_a_person_reads_of_a_missing_header() {
    insta::assert_snapshot!(missing("12.9", "curand_kernel.h"), @r#"NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): k.cu:1:27: cannot open source file "curand_kernel.h"; `curand_kernel.h` was not found (searched in [toolkits]/12.9/nvidia/cuda_runtime/include, [toolkits]/12.9/nvidia/cuda_nvcc/include, [toolkits]/12.9/nvidia/cuda_cccl/include); it is in the package nvidia-curand-cu12, which pip installs; it is found by itself in [toolkits]/12.9/nvidia/curand/include, and elsewhere by `preprocessor.include_folders`"#);
    insta::assert_snapshot!(missing("13.5", "cmath"), @r#"NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): k.cu:1:17: cannot open source file "cmath"; `cmath` was not found (searched in [toolkits]/13.5/nvidia/cu13/include, [toolkits]/13.5/nvidia/cu13/include/cccl); NVRTC has none of the headers of standard C and C++; include `<cuda/std/cmath>` and use `cuda::std::`"#);
    insta::assert_snapshot!(missing("13.5", "mine.h"), @r#"NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): k.cu:1:18: cannot open source file "mine.h"; `mine.h` was not found (searched in [toolkits]/13.5/nvidia/cu13/include, [toolkits]/13.5/nvidia/cu13/include/cccl); add it with `add_header`, or its folder to `preprocessor.include_folders`"#);
}

#[rstest]
#[case::of_12(
    "12.0",
    &["nvidia-cuda-runtime-cu12==12.0.*", "nvidia-cuda-nvcc-cu12==12.0.*", "nvidia-cuda-cccl-cu12,"]
)]
#[case::of_13(
    "13.5",
    &["nvidia-cuda-runtime==13.5.*", "nvidia-cuda-crt==13.5.*", "nvidia-cuda-cccl,"]
)]
fn without_the_toolkits_headers_each_names_its_package_and_its_place(
    #[case] version: &str,
    #[case] packages: &[&str],
) {
    let mut options = sm_90();
    options.preprocessor.toolkit_headers = false;
    for (header, package) in ["cuda_fp16.h", "crt/mma.h", "cub/cub.cuh"]
        .iter()
        .zip(packages)
    {
        let said = compile(&toolkit(version), header, &options)
            .unwrap_err()
            .to_string();
        assert!(said.contains(package), "{said}");
        assert!(said.contains("no folder was searched"), "{said}");
        assert!(
            said.contains("is searched where `preprocessor.toolkit_headers` is set"),
            "{said}"
        );
        assert_eq!(
            said.contains("bundled_headers"),
            version == "13.5",
            "{said}"
        );
    }
}

// The builtins library.

fn without_builtins(version: &str, files: &[(&str, &str)]) -> String {
    let tree = nvrtc_alone(version, files);
    let toolkit = Toolkit::at(tree.path()).unwrap();
    let error = compile(&toolkit, "mine.h", &sm_90()).unwrap_err();
    assert_eq!(error.raw_code(), Some(7), "{error}");
    error
        .to_string()
        .replace(tree.path().to_str().unwrap(), "[tree]")
}

#[rstest]
#[case("12.0", "libnvrtc.so.12", "nvidia-cuda-nvrtc-cu12==12.0.*")]
#[case("12.9", "libnvrtc.so.12", "nvidia-cuda-nvrtc-cu12==12.9.*")]
#[case("13.0", "libnvrtc.so.13", "nvidia-cuda-nvrtc==13.0.*")]
#[case("13.5", "libnvrtc.so.13", "nvidia-cuda-nvrtc==13.5.*")]
fn a_missing_builtins_library_is_named_with_its_package(
    #[case] version: &str,
    #[case] library: &str,
    #[case] package: &str,
) {
    again_in_a_process_of_its_own(&[], || {
        let said = without_builtins(version, &[(library, library)]);
        let file = format!(
            "libnvrtc-builtins.so.{version} must lie beside [tree]/{}/{library}, and it does not",
            lib(version)
        );
        assert!(said.contains(&file), "{said}");
        assert!(said.contains(package), "{said}");
    });
}

#[test]
fn without_builtins_whether_an_architecture_is_known_is_an_error_and_no_answer() {
    again_in_a_process_of_its_own(&[], || {
        let tree = nvrtc_alone("13.5", &[("libnvrtc.so.13", "libnvrtc.so.13")]);
        let toolkit = Toolkit::at(tree.path()).unwrap();
        let program = cuda_program::nvrtc::Program::new(&toolkit, "k.cu", "").unwrap();
        let error = program.supports(cuda_program::Arch::SM_90).unwrap_err();
        assert_eq!(error.raw_code(), Some(7), "{error}");
        assert!(error.to_string().contains("must lie beside"), "{error}");
    });
}

#[test]
fn the_builtins_of_another_version_are_named_as_what_does_not_fit() {
    again_in_a_process_of_its_own(&[], || {
        let said = without_builtins(
            "12.9",
            &[
                ("libnvrtc.so.12", "libnvrtc.so.12"),
                ("libnvrtc-builtins.so.12.9", "libnvrtc-builtins.so.12.8"),
            ],
        );
        assert!(
            said.contains("libnvrtc-builtins.so.12.8 lies there, which does not fit"),
            "{said}"
        );
    });
}

#[test]
fn other_builtins_under_the_right_name_are_called_damaged() {
    again_in_a_process_of_its_own(&[], || {
        let tree = nvrtc_alone("13.5", &[("libnvrtc.so.13", "libnvrtc.so.13")]);
        let other = nvrtc_alone(
            "13.0",
            &[("libnvrtc-builtins.so.13.0", "libnvrtc-builtins.so.13.0")],
        );
        let folder = tree.path().join(lib("13.5"));
        fs::copy(
            other
                .path()
                .join(lib("13.0"))
                .join("libnvrtc-builtins.so.13.0"),
            folder.join("libnvrtc-builtins.so.13.5"),
        )
        .unwrap();
        let toolkit = Toolkit::at(tree.path()).unwrap();
        let said = compile(&toolkit, "mine.h", &sm_90())
            .unwrap_err()
            .to_string();
        assert!(said.contains("damaged or of another version"), "{said}");
        let said = HeaderBundle::of(&toolkit).unwrap_err().to_string();
        assert!(said.contains("damaged or of another version"), "{said}");
    });
}

#[test]
fn builtins_that_are_cut_off_are_an_error_and_not_the_end_of_the_process() {
    again_in_a_process_of_its_own(&[], || {
        let tree = nvrtc_alone("13.5", &[("libnvrtc.so.13", "libnvrtc.so.13")]);
        let real = toolkit("13.5").nvrtc().unwrap().library.path.clone();
        let name = "libnvrtc-builtins.so.13.5";
        let whole = fs::read(real.with_file_name(name)).unwrap();
        let place = tree.path().join(lib("13.5")).join(name);
        fs::write(place, &whole[..whole.len() / 2]).unwrap();
        let error = Toolkit::at(tree.path()).unwrap_err();
        assert!(matches!(error, Error::NotFound(_)), "{error:?}");
        assert!(
            error
                .to_string()
                .contains(&format!("{name}: it is cut short")),
            "{error}"
        );
    });
}

// Headers inside NVRTC.

fn bundle() -> HeaderBundle {
    HeaderBundle::of(&toolkit(NEWEST)).unwrap()
}

/// What lies directly in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[rstest]
fn an_older_nvrtc_carries_no_headers(#[values("12.0", "12.4", "12.9", "13.0")] version: &str) {
    let folder = tempfile::tempdir().unwrap();
    let options = bundled(BundledHeaders::Folder(folder.path().into()));
    for error in [
        HeaderBundle::of(&toolkit(version)).unwrap_err(),
        compile(&toolkit(version), "cuda_fp16.h", &options).unwrap_err(),
    ] {
        assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
        assert!(error.to_string().contains("NVRTC 13.3"), "{error}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_compilation_installs_the_headers_once_and_finds_them() {
    let folder = tempfile::tempdir().unwrap();
    let options = bundled(BundledHeaders::Folder(folder.path().join("new/cache")));
    for header in [
        "cuda_fp16.h",
        "cooperative_groups.h",
        "mma.h",
        "cuda/std/type_traits",
    ] {
        compile(&toolkit(NEWEST), header, &options).unwrap();
    }
    let cache = folder.path().join("new/cache");
    let installed = bundle().installed(&cache).unwrap();
    assert_eq!(names(&cache).len(), 1, "{:?}", names(&cache));
    let before = names(installed.path());
    compile(&toolkit(NEWEST), "cuda_fp16.h", &options).unwrap();
    assert_eq!(names(installed.path()), before);
    assert_eq!(bundle().cuda_version(), (13, 5));
    assert!(bundle().files() > 2000 && bundle().bytes() > bundle().compressed_bytes());
}

#[test]
fn where_the_toolkit_has_its_headers_none_are_installed_for_want_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = sm_90();
    options.preprocessor.bundled_headers = BundledHeaders::WhereMissing(folder.path().into());
    compile(&toolkit(NEWEST), "cuda_fp16.h", &options).unwrap();
    assert!(names(folder.path()).is_empty());
    // Older libraries are asked for nothing that they lack.
    compile(&toolkit("12.0"), "cuda_fp16.h", &options).unwrap();
}

#[test]
fn where_nvrtc_lies_alone_its_own_headers_stand_in() {
    again_in_a_process_of_its_own(&[], || {
        let tree = nvrtc_13();
        let alone = Toolkit::at(tree.path()).unwrap();
        let error = compile(&alone, "cuda_fp16.h", &sm_90()).unwrap_err();
        assert!(error.to_string().contains("bundled_headers"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let mut options = sm_90();
        options.preprocessor.bundled_headers = BundledHeaders::WhereMissing(folder.path().into());
        compile(&alone, "cuda_fp16.h", &options).unwrap();
        compile(&alone, "cuda/std/type_traits", &options).unwrap();
    });
}

fn no_header(place: &Path) {
    fs::remove_file(place.join("cccl/cuda/std/type_traits")).unwrap();
}

fn an_empty_header(place: &Path) {
    fs::write(place.join("cuda_fp16.h"), "").unwrap();
}

fn one_too_many(place: &Path) {
    fs::write(place.join("mine.h"), "").unwrap();
}

fn a_file_in_its_place(place: &Path) {
    fs::remove_dir_all(place).unwrap();
    fs::write(place, "").unwrap();
}

fn an_empty_folder_in_its_place(place: &Path) {
    fs::remove_dir_all(place).unwrap();
    fs::create_dir(place).unwrap();
}

#[test]
fn headers_that_are_not_whole_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let installed = bundle().install(folder.path()).unwrap();
    for damage in [
        no_header,
        an_empty_header,
        one_too_many,
        a_file_in_its_place,
        an_empty_folder_in_its_place,
    ] {
        damage(installed.path());
        assert_eq!(bundle().installed(folder.path()), None);
        assert_eq!(bundle().install(folder.path()).unwrap(), installed);
        assert_eq!(bundle().installed(folder.path()).as_ref(), Some(&installed));
        assert_eq!(names(folder.path()).len(), 1);
    }
}

#[test]
fn removing_takes_the_headers_and_what_was_interrupted_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!bundle().remove(folder.path().join("nowhere")).unwrap());
    let installed = bundle().install(folder.path()).unwrap();
    let name = installed.path().file_name().unwrap().to_str().unwrap();
    fs::create_dir(folder.path().join(format!(".{name}.1.0"))).unwrap();
    fs::write(folder.path().join("mine.h"), "mine").unwrap();
    assert!(bundle().remove(folder.path()).unwrap());
    assert_eq!(names(folder.path()), ["mine.h"]);
    assert!(!bundle().remove(folder.path()).unwrap());
}

#[rstest]
#[case::empty(PathBuf::new())]
#[case::nul(PathBuf::from("a\0b"))]
fn a_path_that_the_library_cannot_take_is_refused(#[case] folder: PathBuf) {
    let error = bundle().install(&folder).unwrap_err();
    assert!(matches!(error, Error::InvalidOptions { .. }), "{error:?}");
}

#[test]
fn a_file_where_the_folder_should_be_and_a_path_too_long_are_errors_that_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = bundle().install(&file).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");

    let long = (0..8).fold(folder.path().to_owned(), |p, _| p.join("x".repeat(200)));
    let error = bundle().install(&long).unwrap_err();
    assert!(matches!(error, Error::Library(_)), "{error:?}");
    assert!(error.to_string().contains("install its headers"), "{error}");
    assert!(names(&long).is_empty());
}

#[test]
fn the_raw_flag_is_refused_in_favour_of_the_field() {
    let mut options = sm_90();
    options
        .extra
        .push("--use-bundled-headers=/tmp/x".to_owned());
    let error = compile(&toolkit(NEWEST), "cuda_fp16.h", &options).unwrap_err();
    assert!(error.to_string().contains("bundled_headers"), "{error}");
}

#[test]
fn processes_and_threads_that_install_at_once_never_see_half() {
    const FOLDER: &str = "CUDA_PROGRAM_TEST_FOLDER";
    if process::inside() {
        let folder = std::env::var_os(FOLDER).unwrap();
        let options = bundled(BundledHeaders::Folder(folder.into()));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| compile(&toolkit(NEWEST), "cuda_fp16.h", &options).unwrap());
            }
        });
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bundle = bundle();
    let children: Vec<_> = (0..2)
        .map(|_| {
            let mut again = process::again(&[(FOLDER, folder.path())]);
            let piped = std::process::Stdio::piped;
            again.stdout(piped()).stderr(piped()).spawn().unwrap()
        })
        .collect();
    // The first sight of a name that is not one in the making is of a whole folder.
    let seen = |folder: &Path| names(folder).iter().any(|name| !name.starts_with('.'));
    common::within(120, || {
        while !seen(folder.path()) {
            std::thread::yield_now();
        }
    });
    assert!(bundle.installed(folder.path()).is_some());
    for child in children {
        process::check(&child.wait_with_output().unwrap());
    }
    assert!(bundle.installed(folder.path()).is_some());
    assert_eq!(names(folder.path()).len(), 1, "{:?}", names(folder.path()));
}
