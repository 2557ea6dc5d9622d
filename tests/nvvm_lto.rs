//! LTO IR of libNVVM keeps its kernels through a link by nvJitLink.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "common/raw.rs"]
mod raw;

use common::{NEWEST, TARGET, ending, toolkit};
use cuda_program::nvvm::{Dialect, Options, Program};
use cuda_program::{Arch, Error, LtoIr, Ptx, Severity};
use rstest::rstest;

/// A kernel that calls `helper`, which another module is to define.
fn caller(kernel: &str) -> String {
    format!(
        "{TARGET}declare float @helper(float)
define void @{kernel}(float* %p) {{
  %x = load float, float* %p
  %y = call float @helper(float %x)
  store float %y, float* %p
  ret void
}}
{}",
        ending(&[("void (float*)*", kernel)])
    )
}

/// The same, marked by its calling convention and with opaque pointers.
fn modern_caller(kernel: &str) -> String {
    format!(
        "{TARGET}declare float @helper(float)
define ptx_kernel void @{kernel}(ptr %p) {{
  %x = load float, ptr %p
  %y = call float @helper(float %x)
  store float %y, ptr %p
  ret void
}}
{}",
        ending(&[])
    )
}

const HELPER: &str = "extern \"C\" __device__ float helper(float x) { return x * 3.0f + 1.0f; }";

fn linked(sources: &[(&str, &[u8])], options: &Options, latest: bool) -> Vec<u8> {
    let toolkit = toolkit(NEWEST);
    let program = Program::new(&toolkit).unwrap();
    for (name, ir) in sources {
        program.add_module(name, ir).unwrap();
    }
    let ltoir: LtoIr = program.compile(options).unwrap();
    let helper = raw::nvrtc_ltoir(&toolkit, HELPER, &options.arch.sm());
    let arch = std::ffi::CString::new(format!("-arch={}", options.arch.sm())).unwrap();
    let mut flags = vec![arch.as_c_str(), c"-lto"];
    if latest {
        flags.push(c"-nvvm-latest");
    }
    raw::link(&toolkit, &[ltoir.as_bytes(), &helper], &flags)
}

#[rstest]
fn a_kernel_of_text_ir_survives_and_its_helper_is_inlined(
    #[values(Arch::SM_75, Arch::SM_90, Arch::SM_100)] arch: Arch,
    #[values(false, true)] latest: bool,
) {
    let dialect = if latest {
        Dialect::Latest
    } else {
        Dialect::Auto
    };
    let options = Options::new(arch).dialect(dialect);
    let cubin = linked(&[("k", caller("k").as_bytes())], &options, latest);
    assert_eq!(raw::cubin_kernels(&cubin), ["k"]);
    assert_eq!(raw::cubin_undefined(&cubin), [""; 0]);
}

#[rstest]
#[case(Arch::SM_75, true)]
#[case(Arch::SM_90, true)]
#[case(Arch::SM_100, false)]
fn a_kernel_marked_by_its_calling_convention_survives(#[case] arch: Arch, #[case] latest: bool) {
    let cubin = linked(
        &[("k", modern_caller("k").as_bytes())],
        &Options::new(arch),
        latest,
    );
    assert_eq!(raw::cubin_kernels(&cubin), ["k"]);
}

#[rstest]
#[case("every.llvm7.bc", Arch::SM_75, false)]
#[case("every.llvm14.bc", Arch::SM_90, true)]
#[case("every.llvm16.bc", Arch::SM_90, true)]
#[case("every.llvm19.bc", Arch::SM_100, false)]
#[case("every.llvm22.bc", Arch::SM_100, false)]
fn the_external_kernels_of_bitcode_survive_and_the_internal_one_is_told_of(
    #[case] file: &str,
    #[case] arch: Arch,
    #[case] latest: bool,
) {
    let path = format!("{}/fixtures/bitcode/{file}", env!("CARGO_MANIFEST_DIR"));
    let bitcode = std::fs::read(path).unwrap();
    let toolkit = toolkit(NEWEST);
    let program = Program::new(&toolkit).unwrap();
    program.add_module(file, &bitcode).unwrap();
    let ltoir: LtoIr = program.compile(&Options::new(arch)).unwrap();
    assert!(!ltoir.kernels().is_empty());
    let told = ltoir
        .diagnostics()
        .iter()
        .any(|d| d.severity == Severity::Warning && d.message.contains("internal"));
    assert!(told, "{:?}", ltoir.diagnostics());

    let cubin = linked(&[(file, &bitcode)], &Options::new(arch), latest);
    let mut promised = ltoir.kernels().to_vec();
    promised.sort();
    assert_eq!(raw::cubin_kernels(&cubin), promised);
}

#[test]
fn all_kernels_of_several_modules_survive_beside_a_users_own_llvm_used() {
    let own = format!(
        "{TARGET}@llvm.used = appending global [1 x i8*] [i8* bitcast (void (float*)* @b to i8*)], \
         section \"llvm.metadata\"
define void @b(float* %p) {{
  store float 1.0, float* %p
  ret void
}}
{}",
        ending(&[("void (float*)*", "b")])
    );
    let (a, c) = (caller("a"), caller("c"));
    let sources = [
        ("a", a.as_bytes()),
        ("b", own.as_bytes()),
        ("c", c.as_bytes()),
    ];
    let cubin = linked(&sources, &Options::new(Arch::SM_90), false);
    assert_eq!(raw::cubin_kernels(&cubin), ["a", "b", "c"]);
}

#[test]
fn debug_information_does_not_lose_the_kernel() {
    let options = Options::new(Arch::SM_90).debug(true);
    let cubin = linked(&[("k", caller("k").as_bytes())], &options, false);
    assert_eq!(raw::cubin_kernels(&cubin), ["k"]);
}

#[test]
fn ptx_is_the_same_after_lto_ir_pinned_the_kernels() {
    for (module, arch) in [
        (caller("k"), Arch::SM_75),
        (caller("k"), Arch::SM_100),
        (modern_caller("k"), Arch::SM_90),
        (common::calls("k", "__nv_sinf"), Arch::SM_90),
    ] {
        let program = Program::new(&toolkit(NEWEST)).unwrap();
        program.add_module("k", &module).unwrap();
        let options = Options::new(arch).external("helper");
        let before: Ptx = program.compile(&options).unwrap();
        program.compile::<LtoIr>(&options).unwrap();
        let after: Ptx = program.compile(&options).unwrap();
        assert_eq!(before.as_str(), after.as_str());
    }
}

#[test]
fn lto_ir_is_the_same_whether_ptx_came_first_or_not() {
    let lto = |ptx_first: bool| {
        let program = Program::new(&toolkit(NEWEST)).unwrap();
        program
            .add_module("k", common::calls("k", "__nv_sinf"))
            .unwrap();
        if ptx_first {
            program.compile::<Ptx>(&Options::new(Arch::SM_90)).unwrap();
        }
        let ltoir: LtoIr = program.compile(&Options::new(Arch::SM_90)).unwrap();
        raw::link(
            &toolkit(NEWEST),
            &[ltoir.as_bytes()],
            &[c"-arch=sm_90", c"-lto"],
        )
    };
    assert_eq!(raw::cubin_kernels(&lto(false)), ["k"]);
    assert_eq!(raw::cubin_kernels(&lto(true)), ["k"]);
}

#[test]
fn a_device_function_that_is_named_survives_too() {
    let module = format!(
        "{TARGET}define float @twice(float %x) {{
  %y = fmul float %x, 2.0
  ret float %y
}}
{}",
        ending(&[])
    );
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("lib", &module).unwrap();
    let functions = |options: &Options| {
        let ltoir: LtoIr = program.compile(options).unwrap();
        let ptx = raw::link_to_ptx(&toolkit(NEWEST), ltoir.as_bytes(), c"-arch=sm_90");
        Ptx::from_text(ptx).unwrap().functions().to_vec()
    };
    assert_eq!(
        functions(&Options::new(Arch::SM_90).keep("twice")),
        ["twice"]
    );
    assert_eq!(
        functions(&Options::new(Arch::SM_90)),
        [""; 0],
        "it is kept without being named"
    );
}

#[rstest]
#[case("absent")]
#[case("hidden")]
#[case("variable")]
#[case("other_name")]
#[case("inline")]
#[case("llvm.used")]
fn a_name_to_keep_must_be_one_that_can_be_kept(#[case] name: &str) {
    let module = format!(
        "{TARGET}@variable = addrspace(1) global i32 0
@llvm.used = appending global [1 x i8*] [i8* bitcast (void ()* @k to i8*)], section \"llvm.metadata\"
@other_name = alias void (), void ()* @k
define internal float @hidden(float %x) {{
  ret float %x
}}
define linkonce_odr float @inline(float %x) {{
  ret float %x
}}
define void @k() {{
  ret void
}}
{}",
        ending(&[])
    );
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("lib", &module).unwrap();
    let options = Options::new(Arch::SM_90).keep(name);
    for error in [
        program.compile::<LtoIr>(&options).unwrap_err(),
        program.compile::<Ptx>(&options).unwrap_err(),
    ] {
        assert!(matches!(error, Error::InvalidOptions { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    program
        .compile::<LtoIr>(&Options::new(Arch::SM_90))
        .unwrap();
    program.compile::<Ptx>(&Options::new(Arch::SM_90)).unwrap();
}

#[rstest]
#[case("i1 true")]
#[case("i32 2")]
#[case("i32 u0x1")]
#[case("i32 add (i32 0, i32 1)")]
#[case("i64 1")]
fn a_kernel_marked_by_any_value_but_zero_survives(#[case] value: &str) {
    let module = caller("k").replace("i32 1}", &format!("{value}}}"));
    let cubin = linked(
        &[("k", module.as_bytes())],
        &Options::new(Arch::SM_90),
        false,
    );
    assert_eq!(raw::cubin_kernels(&cubin), ["k"]);
}

#[test]
fn a_kernel_marked_by_another_module_than_the_one_that_defines_it_survives_or_is_an_error() {
    let definition = caller("k").replace("!nvvm.annotations", "!other");
    let mark = format!(
        "{TARGET}declare void @k(float*)\n{}",
        ending(&[("void (float*)*", "k")])
    );
    let sources = [
        ("definition", definition.as_bytes()),
        ("mark", mark.as_bytes()),
    ];
    let cubin = linked(&sources, &Options::new(Arch::SM_90), false);
    assert_eq!(raw::cubin_kernels(&cubin), ["k"]);

    // In this order the library loses the mark, which must not go unsaid.
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("mark", &mark).unwrap();
    program.add_module("definition", &definition).unwrap();
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_90))
        .unwrap_err();
    assert!(error.to_string().contains("lacks the kernels k"), "{error}");
}

#[test]
fn ptx_is_the_same_after_lto_ir_also_beside_a_users_own_llvm_used() {
    let module = format!(
        "{TARGET}@llvm.used = appending global [1 x i8*] [i8* bitcast (float (float)* @ext to i8*)], \
         section \"llvm.metadata\"
define void @k(float* %p) {{
  %y = call float @ext(float 1.0)
  store float %y, float* %p
  ret void
}}
define float @ext(float %x) {{
  ret float %x
}}
{}",
        ending(&[("void (float*)*", "k")])
    );
    for arch in [Arch::SM_90, Arch::SM_100] {
        let program = Program::new(&toolkit(NEWEST)).unwrap();
        program.add_module("k", &module).unwrap();
        let before: Ptx = program.compile(&Options::new(arch)).unwrap();
        program
            .compile::<LtoIr>(&Options::new(arch).keep("ext"))
            .unwrap();
        let after: Ptx = program.compile(&Options::new(arch)).unwrap();
        assert_eq!(before.as_str(), after.as_str());
    }
}

#[rstest]
#[case("linkonce_odr", "linkonce")]
#[case("internal", "internal to its module")]
fn a_kernel_that_cannot_be_kept_is_told_of_and_not_promised(
    #[case] linkage: &str,
    #[case] says: &str,
) {
    let module = caller("k").replace("define void", &format!("define {linkage} void"));
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", &module).unwrap();
    let ltoir: LtoIr = program.compile(&Options::new(Arch::SM_90)).unwrap();
    assert_eq!(ltoir.kernels(), [""; 0]);
    let warning = &ltoir.diagnostics()[0];
    assert_eq!(warning.severity, Severity::Warning);
    assert!(warning.message.contains(says), "{warning}");
}

#[test]
fn a_kernel_whose_name_ptx_cannot_spell_is_told_of() {
    let module = caller("k").replace("@k", "@\"my.kernel\"");
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", &module).unwrap();
    let ltoir: LtoIr = program.compile(&Options::new(Arch::SM_90)).unwrap();
    let warning = &ltoir.diagnostics()[0];
    assert!(warning.message.contains("`my.kernel`"), "{warning}");
}

#[test]
fn a_kernel_without_a_name_spoils_nothing() {
    let module = caller("k").replace("@k", "@0");
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", &module).unwrap();
    program.add_module("m", caller("m")).unwrap();
    let ltoir: LtoIr = program.compile(&Options::new(Arch::SM_90)).unwrap();
    assert_eq!(ltoir.kernels(), ["m"]);
    assert!(ltoir.diagnostics()[0].message.contains("has no name"));
}

#[rstest]
fn older_toolkits_keep_the_kernel_too(#[values("12.4", "12.9", "13.0")] version: &str) {
    let toolkit = toolkit(version);
    let program = Program::new(&toolkit).unwrap();
    program.add_module("k", caller("k")).unwrap();
    let ltoir: LtoIr = program.compile(&Options::new(Arch::SM_80)).unwrap();
    let helper = raw::nvrtc_ltoir(&toolkit, HELPER, "sm_80");
    let flags = [c"-arch=sm_80", c"-lto"];
    let cubin = raw::link(&toolkit, &[ltoir.as_bytes(), &helper], &flags);
    assert_eq!(raw::cubin_kernels(&cubin), ["k"]);
}

#[cfg(feature = "gpu")]
#[test]
fn every_cut_of_a_cubin_is_refused() {
    use cuda_program::Cubin;

    let options = Options::new(Arch::SM_90);
    let whole = linked(&[("k", caller("k").as_bytes())], &options, false);
    assert_eq!(Cubin::from_bytes(whole.clone()).unwrap().as_bytes(), whole);
    for length in 0..whole.len() {
        let cut = whole[..length].to_vec();
        Cubin::from_bytes(cut).expect_err(&format!("the first {length} bytes were taken"));
    }
}
