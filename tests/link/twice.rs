//! What two inputs define is refused, whatever they are called and wherever it lies.

use cuda_program::link::{InputKind, Options};
use cuda_program::{Arch, Cubin, Error, Linker, LtoIr, Ptx, nvrtc};
use rstest::rstest;

use crate::common::{toolkit, within};

fn compile<T: nvrtc::Output>(version: &str, source: &str) -> T {
    let mut options = nvrtc::Options::new(Arch::SM_80);
    options.code.relocatable = true;
    let program = nvrtc::Program::new(&toolkit(version), "k.cu", source).unwrap();
    program.compile(&options).unwrap()
}

fn refused(linker: Linker) -> String {
    linker.link::<Cubin>().unwrap_err().to_string()
}

#[rstest]
fn a_definition_is_one_too_many_also_where_both_inputs_have_one_name(
    #[values("12.0", "13.5")] version: &str,
) {
    let linker = Linker::new(&toolkit(version), Arch::SM_80);
    let [one, other] = [1, 2].map(|n| {
        let source = format!("extern \"C\" __device__ int f() {{ return {n}; }}");
        compile::<Cubin>(version, &source)
    });
    let said = refused(linker.add_named("a", one).add_named("a", other));
    assert!(
        said.starts_with("a: it defines `f`, and so does a; "),
        "{said}"
    );
}

#[rstest]
fn a_kernel_of_lto_ir_is_one_too_many_beside_one_of_a_cubin_and_later_links_go_on(
    // 12.0 says it on standard error alone, where the LTO IR does not say which kernels it has.
    #[values("12.4", "12.9", "13.0", "13.5")] version: &'static str,
) {
    within(120, move || {
        let kernel = "extern \"C\" __global__ void k(int *p) { *p = 7; }";
        let variable = "__device__ int g = 3; extern \"C\" __global__ void l(int *p) { *p = g; }";
        let other = "__device__ int g = 4; extern \"C\" __global__ void m(int *p) { *p = g; }";
        for (lto, cubin) in [(kernel, kernel), (variable, other)] {
            let linker = Linker::new(&toolkit(version), Arch::SM_80)
                .add_named("a.ltoir", compile::<LtoIr>(version, lto))
                .add_named("b.cubin", compile::<Cubin>(version, cubin));
            let made = linker.link::<Cubin>();
            assert!(made.is_err(), "{cubin}: {made:?}");
            // On a thread that never failed, which would wait for ever for a lock that was lost.
            std::thread::spawn(move || {
                let linker = Linker::new(&toolkit(version), Arch::SM_80);
                let ptx = compile::<Ptx>(version, "__global__ void canary() {}");
                linker.add(ptx).link::<Cubin>().unwrap();
            })
            .join()
            .unwrap();
        }
    });
}

#[rstest]
fn a_kernel_that_both_inputs_name_is_refused_by_name(#[values("12.0", "13.5")] version: &str) {
    let kernel = "extern \"C\" __global__ void k(int *p) { *p = 7; }";
    let lto = compile::<LtoIr>(version, kernel).with_kernels(["k"]);
    let linker = Linker::new(&toolkit(version), Arch::SM_80);
    let said = refused(
        linker
            .clone()
            .add_named("a.ltoir", lto.clone())
            .add_named("b.cubin", compile::<Cubin>(version, kernel)),
    );
    assert!(
        said.starts_with("a.ltoir: it defines `k`, and so does b.cubin; "),
        "{said}"
    );
    let said = refused(linker.add_named("a", lto.clone()).add_named("b", lto));
    assert!(
        said.starts_with("b: it defines `k`, and so does a; "),
        "{said}"
    );
}

#[rstest]
fn a_variable_that_no_lto_ir_defines_is_an_error(
    #[values("12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let source =
        "extern __device__ int gone; extern \"C\" __global__ void k(int *p) { *p = gone; }";
    let linker = Linker::new(&toolkit(version), Arch::SM_80);
    let said = refused(linker.add(compile::<LtoIr>(version, source)));
    assert!(said.contains("gone"), "{said}");
}

#[rstest]
fn lto_ir_that_lacks_a_function_links_to_no_ptx(#[values("12.4", "13.5")] version: &str) {
    let source = "extern __device__ void gone(); __global__ void k() { gone(); }";
    let linker = Linker::new(&toolkit(version), Arch::SM_80);
    let error = linker
        .add(compile::<LtoIr>(version, source))
        .link::<Ptx>()
        .unwrap_err();
    assert!(matches!(error, Error::Unresolved(_)), "{error:?}");
    let empty = Linker::new(&toolkit(version), Arch::SM_80)
        .add(compile::<LtoIr>(
            version,
            "static __device__ int f() { return 1; }",
        ))
        .link::<Ptx>();
    assert!(empty.is_err());
}

#[test]
fn a_kernel_to_keep_that_no_input_has_is_refused_with_those_there_are() {
    let ptx: Ptx = compile(
        "13.5",
        "extern \"C\" __global__ void a() {} extern \"C\" __global__ void bb() {}",
    );
    let options = Options::new().kernel_used("a").kernel_used("bbb");
    let linker = Linker::new(&toolkit("13.5"), Arch::SM_80).options(options);
    insta::assert_snapshot!(refused(linker.add(ptx)), @"`kernels_used` names `bbb`, and no input has a kernel of this name; they have a, bb");
}

#[rstest]
#[case(Arch::SM_90A, Arch::SM_90, false)]
#[case(Arch::SM_90A, Arch::SM_90A, true)]
#[case(Arch::SM_90A, Arch::SM_100, false)]
#[case(Arch::SM_100A, Arch::SM_120, false)]
#[case(Arch::SM_90, Arch::SM_100, true)]
#[case(Arch::SM_100F, Arch::SM_103, true)]
#[case(Arch::SM_100F, Arch::SM_120, false)]
fn lto_ir_with_a_letter_links_where_its_letter_allows(
    #[case] made_for: Arch,
    #[case] target: Arch,
    #[case] fits: bool,
) {
    let program = nvrtc::Program::new(&toolkit("13.5"), "k.cu", "__global__ void k() {}").unwrap();
    let lto: LtoIr = program.compile(&nvrtc::Options::new(made_for)).unwrap();
    let linked = Linker::new(&toolkit("13.5"), target)
        .add_named("k", lto)
        .link::<Cubin>();
    match linked {
        Ok(cubin) => assert!(fits && !cubin.kernels().is_empty()),
        Err(error) => {
            let said = format!("k: it is LTO IR for {made_for} alone");
            assert!(!fits && error.to_string().starts_with(&said), "{error}");
        }
    }
}

#[test]
fn a_fat_binary_counts_for_what_it_defines() {
    let source = "extern \"C\" __device__ int f() { return 1; }";
    let cubin: Cubin = compile("13.5", source);
    let fat = fatbin(2, cubin.as_bytes());
    let linker = Linker::new(&toolkit("13.5"), Arch::SM_80)
        .add_named("a.cubin", cubin)
        .add_bytes("b.fatbin", InputKind::Fatbin, fat);
    let said = refused(linker);
    assert!(
        said.starts_with("b.fatbin: it defines `f`, and so does a.cubin"),
        "{said}"
    );
}

#[test]
fn lto_ir_inside_a_fat_binary_is_linked_as_such() {
    let lto: LtoIr = compile("13.5", "extern \"C\" __global__ void k(int *p) { *p = 7; }");
    let fat = fatbin(8, lto.as_bytes());
    let cubin: Cubin = Linker::new(&toolkit("13.5"), Arch::SM_80)
        .add_bytes("b.fatbin", InputKind::Fatbin, fat)
        .link()
        .unwrap();
    assert!(cubin.kernel("k").is_some());
}

/// A fat binary of one entry for sm_80, laid out as nvcc's are.
fn fatbin(kind: u16, payload: &[u8]) -> Vec<u8> {
    let options: &[u8] = if kind == 2 { b"" } else { b"-c\0\0\0\0\0\0" };
    let header = 64 + u32::try_from(options.len()).unwrap();
    let mut payload = payload.to_vec();
    payload.resize(payload.len().next_multiple_of(8), 0);
    let mut entry = Vec::new();
    entry.extend(kind.to_le_bytes());
    entry.extend(0x101_u16.to_le_bytes());
    entry.extend(header.to_le_bytes());
    entry.extend(u64::try_from(payload.len()).unwrap().to_le_bytes());
    entry.extend(0_u32.to_le_bytes());
    entry.extend(if kind == 2 { 0_u32 } else { 64 }.to_le_bytes());
    // The version 9.5, minor before major.
    entry.extend([5, 0, 9, 0]);
    entry.extend(80_u32.to_le_bytes());
    entry.extend([0; 8]);
    entry.extend(0x11_u64.to_le_bytes());
    entry.extend([0; 16]);
    entry.extend(options);
    entry.extend(payload);
    let mut all = 0xba55_ed50_u32.to_le_bytes().to_vec();
    all.extend([1, 0, 16, 0]);
    all.extend(u64::try_from(entry.len()).unwrap().to_le_bytes());
    all.extend(entry);
    all
}
