//! What comes out of a link.

use std::path::Path;

use cuda_program::link::{InputKind, Options};
use cuda_program::{Arch, Cubin, Error, Linker, LtoIr, Ptx, Toolkit};
use rstest::rstest;

use crate::common::{NEWEST, toolkit};
use crate::inputs_of_links::ptx;
use crate::process::again_in_a_process_of_its_own;
use crate::raw;

const KERNEL: &str = r#"extern "C" __device__ int f(int);
extern "C" __global__ void k(int *p) { *p = f(*p); }"#;
const FUNCTION: &str = r#"extern "C" __device__ int f(int x) { return x + 1; }"#;

fn lto(version: &str, source: &str) -> LtoIr {
    LtoIr::from_bytes(raw::nvrtc_ltoir(&toolkit(version), source, "sm_80")).unwrap()
}

#[test]
fn lto_ir_is_linked_to_lto_ir_and_then_to_a_cubin() {
    let kernel = lto(NEWEST, KERNEL).with_kernels(["k"]);
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add(kernel)
        .add(lto(NEWEST, FUNCTION));
    let one: LtoIr = linker.link().unwrap();
    assert_eq!(one.kernels(), ["k"]);
    // The function's LTO IR could have held another.
    assert!(!one.knows_kernels());
    let cubin: Cubin = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add(one)
        .link()
        .unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k"]);
}

#[rstest]
fn what_an_older_library_cannot_write_is_unsupported(
    #[values("12.0", "12.4", "12.9", "13.0")] version: &str,
) {
    let linker = Linker::new(&toolkit(version), Arch::SM_80).add(lto(version, FUNCTION));
    let error = linker.link::<LtoIr>().unwrap_err().to_string();
    assert!(error.contains("needs nvJitLink 13.3 or later"), "{error}");
    let partial = linker.options(Options::new().relocatable(true));
    let error = partial.link::<Cubin>().unwrap_err();
    assert!(
        matches!(&error, Error::Unsupported { needs, .. } if needs.contains("13.2")),
        "{error}"
    );
}

#[test]
fn a_partial_link_is_completed_by_another() {
    let user = ptx(".extern .func f();\n.visible .entry k() { call f; ret; }\n");
    let partial: Cubin = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .options(Options::new().relocatable(true))
        .add(user)
        .link()
        .unwrap();
    assert_eq!(raw::cubin_undefined(partial.as_bytes()), ["f"]);
    let whole: Cubin = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add(partial)
        .add(ptx(".visible .func f() { ret; }\n"))
        .link()
        .unwrap();
    assert_eq!(raw::cubin_kernels(whole.as_bytes()), ["k"]);
    assert!(raw::cubin_undefined(whole.as_bytes()).is_empty());
}

#[test]
fn ptx_is_linked_of_lto_ir_alone() {
    let linker =
        Linker::new(&toolkit(NEWEST), Arch::SM_80).add(ptx(".visible .entry k() { ret; }\n"));
    let error = linker.link::<Ptx>().unwrap_err();
    assert!(matches!(error, Error::InvalidOptions { .. }), "{error}");
}

#[test]
fn unused_kernels_may_go_and_are_not_missed() {
    let two = ptx(".visible .entry k() { ret; }\n.visible .entry l() { ret; }\n");
    let cubin: Cubin = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .options(Options::new().kernel_used("k"))
        .add(two)
        .link()
        .unwrap();
    assert!(raw::cubin_kernels(cubin.as_bytes()).contains(&"k".to_owned()));
}

#[rstest]
fn what_the_linker_says_comes_with_the_cubin(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let cubin: Cubin = Linker::new(&toolkit(version), Arch::SM_80)
        .options(Options::new().verbose(true).time(true))
        .add(ptx(".visible .entry k() { ret; }\n"))
        .link()
        .unwrap();
    let said: Vec<&str> = cubin
        .diagnostics()
        .iter()
        .map(|d| d.message.as_str())
        .collect();
    assert!(
        said.iter().any(|line| line.contains("bytes gmem")),
        "{said:?}"
    );
    assert!(said.iter().any(|line| line.contains("time")), "{said:?}");
}

#[test]
fn every_option_of_the_newest_library_is_taken() {
    use cuda_program::link::FastCompile;
    let options = Options::new()
        .max_registers(32)
        .fast_compile(FastCompile::Min)
        .line_info(true)
        .ftz(true)
        .prec_div(false)
        .prec_sqrt(false)
        .fma(false)
        .kernel_used("k")
        .variable_used("v")
        .optimize_unused_variables(true)
        .ptxas("-v")
        .split_compile(2)
        .split_compile_extended(2)
        .jump_table_density(50)
        .no_cache(true);
    let kernel = lto(NEWEST, KERNEL).with_kernels(["k"]);
    let cubin: Cubin = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .options(options)
        .add(kernel)
        .add(lto(NEWEST, FUNCTION))
        .link()
        .unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k"]);
}

#[test]
fn files_are_linked_by_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.any"), folder.path().join("b.any"));
    lto(NEWEST, KERNEL).write_to(&a).unwrap();
    ptx(".visible .func (.param .b32 r) f(.param .b32 x) { ret; }\n")
        .write_to(&b)
        .unwrap();
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add_file(&a)
        .add_file(&b);
    let cubin: Cubin = linker.link().unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k"]);
    let nowhere = cubin.write_to(Path::new("/dev/null/k.cubin")).unwrap_err();
    assert!(matches!(nowhere, Error::Io { .. }), "{nowhere}");
}

#[test]
fn one_linker_links_the_same_from_many_threads() {
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add(lto(NEWEST, KERNEL).with_kernels(["k"]))
        .add(lto(NEWEST, FUNCTION));
    let alone: Cubin = linker.link().unwrap();
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| linker.link::<Cubin>().unwrap()))
            .collect();
        for one in all {
            assert_eq!(one.join().unwrap().as_bytes(), alone.as_bytes());
        }
    });
}

#[test]
fn two_levels_of_optimisation_exclude_each_other() {
    let options = Options::new()
        .opt(cuda_program::nvvm::OptLevel::O3)
        .fast_compile(cuda_program::link::FastCompile::Min);
    let error = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .options(options)
        .add(ptx(".visible .entry k() { ret; }\n"))
        .link::<Cubin>()
        .unwrap_err();
    assert!(matches!(error, Error::InvalidOptions { .. }), "{error}");
}

#[test]
fn a_copy_of_the_library_that_is_in_the_process_already_is_the_one_that_links() {
    let none = ["CUDA_PROGRAM_TOOLKIT", "CUDA_HOME", "CUDA_PATH"].map(|name| (name, ""));
    again_in_a_process_of_its_own(&none, || {
        let there = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("target/toolkits/12.4/nvidia/nvjitlink/lib/libnvJitLink.so.12")
            .canonicalize()
            .unwrap();
        // SAFETY: the library of a toolkit, which sets up nothing but itself.
        let mapped = unsafe { libloading::Library::new(&there) }.unwrap();
        let linker = Linker::new(&Toolkit::discover().unwrap(), Arch::SM_80)
            .add(ptx(".visible .entry k() { ret; }"));
        assert_eq!(
            linker.library().unwrap().path.canonicalize().unwrap(),
            there
        );
        assert!(linker.link::<Cubin>().unwrap().kernel("k").is_some());
        drop(mapped);
    });
}

#[rstest]
fn the_library_still_has_an_inputs_name_when_it_completes(
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    let head = ".version 7.0\n.target sm_80\n.address_size 64\n";
    let body = ".extern .func nowhere();\n.visible .entry k() {\n  call nowhere;\n  ret;\n}\n";
    let error = Linker::new(&toolkit(version), Arch::SM_80)
        .add_bytes("the name of it", InputKind::Ptx, format!("{head}{body}"))
        .link::<Cubin>()
        .unwrap_err();
    let said = "Undefined reference to 'nowhere' in 'the name of it'";
    assert!(error.log().unwrap().contains(said), "{error:?}");
}
