//! Links that succeed without a word for what is wrong, or end the process.

use cuda_program::link::{InputKind, Options};
use cuda_program::{Arch, Cubin, Error, Linker, LtoIr, Ptx, nvrtc, nvvm};
use rstest::rstest;

use crate::common::{NEWEST, store, toolkit};
use crate::fixture;

fn linker(arch: Arch) -> Linker {
    Linker::new(&toolkit(NEWEST), arch)
}

fn cpp(version: &str, source: &str) -> nvrtc::Program {
    nvrtc::Program::new(&toolkit(version), "a.cu", source).unwrap()
}

fn relocatable(arch: Arch) -> nvrtc::Options {
    let mut options = nvrtc::Options::new(arch);
    options.code.relocatable = true;
    options
}

const F: &str = "extern \"C\" __device__ int f(int x) { return x + 1; }";
const K: &str = "extern \"C\" __device__ int f(int);
extern \"C\" __global__ void k(int *p) { *p = f(*p); }";

#[test]
fn a_function_that_two_inputs_define_is_an_error_for_cubins_and_for_lto_ir() {
    let options = relocatable(Arch::SM_80);
    let (f, k) = (cpp(NEWEST, F), cpp(NEWEST, K));
    let cubin = |program: &nvrtc::Program| program.compile::<Cubin>(&options).unwrap();
    let linker = linker(Arch::SM_80);
    let error = linker
        .clone()
        .add_named("one", cubin(&f))
        .add_named("two", cubin(&f))
        .add_named("k", cubin(&k))
        .link::<Cubin>()
        .unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with("two: ") && said.contains("`f`") && said.contains("one"),
        "{said}"
    );
    let lto = |program: &nvrtc::Program| program.compile::<LtoIr>(&options).unwrap();
    let error = linker
        .add(lto(&f))
        .add(lto(&f))
        .add(lto(&k))
        .link::<Cubin>()
        .unwrap_err();
    assert!(matches!(error, Error::Library(_)), "{error}");
}

#[test]
fn a_kernel_of_libnvvm_survives_a_link_and_one_that_does_not_is_named() {
    let program = nvvm::Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k.ll", store("k", 1)).unwrap();
    let lto: LtoIr = program.compile(&nvvm::Options::new(Arch::SM_80)).unwrap();
    let cubin: Cubin = linker(Arch::SM_80).add(lto).link().unwrap();
    assert!(cubin.kernel("k").is_some());
    let unpinned = LtoIr::from_bytes(fixture("link/unpinned.ltoir")).unwrap();
    let error = linker(Arch::SM_80)
        .add(unpinned.with_kernels(["k"]))
        .options(Options::new().kernel_used("k"))
        .link::<Cubin>()
        .unwrap_err();
    assert!(matches!(&error, Error::KernelsDropped { kernels, .. } if kernels == &["k"]));
}

#[rstest]
#[case::unknown(Arch::SM_80, "-bogus")]
#[case::value(Arch::SM_80, "-optimize-unused-variables=7")]
#[case::no_longer_known(Arch::SM_70, "")]
fn a_link_that_cannot_begin_is_an_error_and_leaves_nothing_to_crash_at(
    #[case] arch: Arch,
    #[case] flag: &str,
) {
    let ptx =
        format!(".version 8.0\n.target {arch}\n.address_size 64\n.visible .entry k() {{ ret; }}");
    let mut options = Options::new();
    options
        .extra
        .extend((!flag.is_empty()).then(|| flag.to_owned()));
    let refused = linker(arch)
        .options(options)
        .add(Ptx::from_text(ptx).unwrap());
    for _ in 0..3 {
        refused.link::<Cubin>().unwrap_err();
    }
}

#[test]
fn lto_ir_for_a_newer_architecture_than_the_links_is_refused_with_both() {
    let program = cpp(NEWEST, F);
    let lto: LtoIr = program.compile(&nvrtc::Options::new(Arch::SM_90)).unwrap();
    let error = linker(Arch::SM_80)
        .add_named("a.ltoir", lto)
        .link::<Cubin>()
        .unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with("a.ltoir: it is LTO IR for sm_90, and the link is for sm_80"),
        "{said}"
    );
}

#[test]
fn lto_ir_of_a_newer_toolkit_is_refused_and_of_an_older_one_links() {
    let options = nvrtc::Options::new(Arch::SM_80);
    let kernel = "extern \"C\" __global__ void k(int *p) { *p = 1; }";
    let made = |version| cpp(version, kernel).compile::<LtoIr>(&options).unwrap();
    let old = Linker::new(&toolkit("12.4"), Arch::SM_80);
    let error = old
        .add_named("new.ltoir", made(NEWEST))
        .link::<Cubin>()
        .unwrap_err();
    let said = error.to_string();
    assert!(
        said.starts_with("new.ltoir: ") && said.contains("nvJitLink 12.4"),
        "{said}"
    );
    let cubin: Cubin = linker(Arch::SM_80).add(made("12.4")).link().unwrap();
    assert!(cubin.kernel("k").is_some());
}

#[test]
fn lto_ir_of_the_newer_dialect_links_below_sm_100_without_being_told() {
    let program = nvvm::Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k.ll", store("k", 1)).unwrap();
    let options = nvvm::Options::new(Arch::SM_75).dialect(nvvm::Dialect::Latest);
    let made: LtoIr = program.compile(&options).unwrap();
    // As one that was read from a file, of which nobody knows more than its bytes.
    let cubin: Cubin = linker(Arch::SM_75)
        .add_bytes("k.ltoir", InputKind::LtoIr, made.as_bytes())
        .link()
        .unwrap();
    assert!(cubin.kernel("k").is_some());
}

#[test]
fn an_undefined_function_is_named_with_its_input_whatever_bytes_the_log_holds() {
    let ptx: Ptx = cpp(NEWEST, K).compile(&relocatable(Arch::SM_80)).unwrap();
    for _ in 0..5 {
        let linker = linker(Arch::SM_80).add_named("a.ptx", &ptx);
        let error = linker.link::<Cubin>().unwrap_err();
        let said = error.to_string();
        assert!(said.contains("`f`, which a.ptx uses"), "{said}");
        assert!(!error.log().unwrap().contains('\0'), "{said}");
    }
}

#[test]
fn what_is_cut_off_is_refused_whatever_it_was() {
    let options = relocatable(Arch::SM_80);
    let program = cpp(NEWEST, K);
    let whole: Cubin = program.compile(&options).unwrap();
    for cut in (0..whole.as_bytes().len()).step_by(7) {
        let part = &whole.as_bytes()[..cut];
        let linker = linker(Arch::SM_80).add_bytes("k.cubin", InputKind::Cubin, part);
        let error = linker.link::<Cubin>().unwrap_err();
        assert!(matches!(error, Error::InvalidInput(_)), "{cut}: {error}");
    }
}
