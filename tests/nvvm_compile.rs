//! Compiling on the real libNVVM of every supported toolkit.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{NEWEST, calls, store, toolkit};
use cuda_program::artifact::IsaVersion;
use cuda_program::nvvm::{Capabilities, Dialect, LlvmVersion, OptLevel, Options, Program, Repair};
use cuda_program::{Arch, Error, LtoIr, Ptx, Severity};
use rstest::rstest;

fn ptx(program: &Program, options: &Options) -> Ptx {
    program.compile(options).unwrap()
}

/// What a new program makes of these modules.
fn fresh(modules: &[(&str, &str)], options: &Options) -> Ptx {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    for (name, ir) in modules {
        program.add_module(name, ir).unwrap();
    }
    ptx(&program, options)
}

#[rstest]
fn text_compiles_to_ptx_and_lto_ir(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let program = Program::new(&toolkit(version)).unwrap();
    program.add_module("k.ll", store("k", 7)).unwrap();
    let options = Options::new(Arch::SM_80);

    let ptx: Ptx = program.compile(&options).unwrap();
    assert_eq!(ptx.target(), Arch::SM_80);
    assert_eq!(ptx.address_size(), 64);
    let kernel = ptx.kernel("k").unwrap();
    assert_eq!(kernel.parameters.len(), 1);
    assert_eq!(kernel.parameters[0].size, 8);
    assert!(!ptx.as_bytes().contains(&0), "the NUL at the end stayed");
    let release = format!("release {version}");
    assert!(
        ptx.producer().unwrap().contains(&release),
        "{:?}",
        ptx.producer()
    );

    let ltoir: LtoIr = program.compile(&options).unwrap();
    assert_eq!(ltoir.arch(), Some(Arch::SM_80));
    assert_eq!(ltoir.kernels(), ["k"]);

    let again: Ptx = program.compile(&options).unwrap();
    assert_eq!(
        again.as_str(),
        ptx.as_str(),
        "LTO IR in between changed the PTX"
    );
}

#[rstest]
#[case("every.llvm7.bc", Arch::SM_75)]
#[case("every.llvm7.bc", Arch::SM_100)]
#[case("every.llvm14.bc", Arch::SM_90)]
#[case("every.llvm16.bc", Arch::SM_90)]
#[case("every.llvm19.bc", Arch::SM_100)]
fn bitcode_compiles(#[case] file: &str, #[case] arch: Arch) {
    let path = format!("{}/fixtures/bitcode/{file}", env!("CARGO_MANIFEST_DIR"));
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program
        .add_module(file, std::fs::read(path).unwrap())
        .unwrap();
    let compiled = ptx(&program, &Options::new(arch));
    assert!(!compiled.kernels().is_empty(), "{}", compiled.as_str());
    assert!(compiled.externs().is_empty(), "{}", compiled.as_str());
}

#[test]
fn sm_and_compute_speak_of_one_architecture() {
    let sm: Arch = "sm_90".parse().unwrap();
    let compute: Arch = "compute_90".parse().unwrap();
    let source = [("k.ll", store("k", 7))];
    let source = [(source[0].0, source[0].1.as_str())];
    assert_eq!(
        fresh(&source, &Options::new(sm)).as_str(),
        fresh(&source, &Options::new(compute)).as_str()
    );
}

#[test]
fn modules_added_between_compilations_give_what_all_at_once_gives() {
    let options = Options::new(Arch::SM_90);
    let (a, b, c) = (
        store("a", 1),
        calls("b", "__nv_sinf"),
        calls("c", "__nv_cosf"),
    );
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("a", &a).unwrap();
    assert_eq!(ptx(&program, &options).kernels().len(), 1);
    program.add_module("b", &b).unwrap();
    assert_eq!(ptx(&program, &options).kernels().len(), 2);
    program.add_module("c", &c).unwrap();
    let all = fresh(&[("a", &a), ("b", &b), ("c", &c)], &options);
    assert_eq!(ptx(&program, &options).as_str(), all.as_str());
}

#[test]
fn a_module_is_taken_back_and_replaced_by_name() {
    let options = Options::new(Arch::SM_90);
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("a", store("a", 1)).unwrap();
    program.add_module("b", store("b", 2)).unwrap();
    ptx(&program, &options);

    program.remove_module("a").unwrap();
    let left = ptx(&program, &options);
    assert_eq!(
        left.as_str(),
        fresh(&[("b", &store("b", 2))], &options).as_str()
    );

    program.replace_module("b", store("b", 3)).unwrap();
    assert!(ptx(&program, &options).as_str().contains('3'));
    program.add_module("a", store("a", 1)).unwrap();
    let names: Vec<_> = program
        .modules()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["b", "a"]);
    assert_eq!(ptx(&program, &options).kernels().len(), 2);
}

#[test]
fn a_failed_replacement_leaves_the_module_that_was_there() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("a", store("a", 1)).unwrap();
    program.replace_module("a", "").unwrap_err();
    assert!(
        ptx(&program, &Options::new(Arch::SM_90))
            .kernel("a")
            .is_some()
    );
}

#[test]
fn one_program_compiles_for_many_targets_and_options_and_stays_the_same() {
    let source = store("k", 7);
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", &source).unwrap();
    let all: Vec<Options> = [Arch::SM_75, Arch::SM_90, Arch::SM_100, Arch::SM_120]
        .into_iter()
        .flat_map(|arch| {
            [
                Options::new(arch),
                Options::new(arch).opt(OptLevel::O0),
                Options::new(arch)
                    .ftz(true)
                    .fma(false)
                    .prec_div(false)
                    .prec_sqrt(false),
                Options::new(arch).dialect(Dialect::Latest),
            ]
        })
        .collect();
    for round in 0..2 {
        for options in &all {
            let of_fresh = fresh(&[("k", &source)], options);
            assert_eq!(
                ptx(&program, options).as_str(),
                of_fresh.as_str(),
                "round {round}, {options:?}"
            );
        }
    }
}

#[rstest]
#[case(Options::new(Arch::SM_90).ftz(true), "ftz")]
#[case(Options::new(Arch::SM_90).prec_div(false), "div.full")]
#[case(Options::new(Arch::SM_90).prec_sqrt(false), "sqrt.approx")]
#[case(Options::new(Arch::SM_90), "fma.rn")]
fn an_option_shows_in_the_ptx(#[case] options: Options, #[case] trace: &str) {
    let source = format!(
        "{}declare float @llvm.nvvm.sqrt.f(float)
define void @k(float* %p, float %a, float %b) {{
  %m = fmul float %a, %b
  %n = fadd float %m, %b
  %d = fdiv float %n, %a
  %s = call float @llvm.nvvm.sqrt.f(float %d)
  store float %s, float* %p
  ret void
}}
{}",
        common::TARGET,
        common::ending(&[("void (float*, float, float)*", "k")])
    );
    let with = fresh(&[("k", &source)], &options);
    assert!(with.as_str().contains(trace), "{}", with.as_str());
    let without = fresh(
        &[("k", &source)],
        &Options::new(Arch::SM_90)
            .fma(false)
            .prec_div(true)
            .prec_sqrt(true)
            .ftz(false),
    );
    assert!(!without.as_str().contains(trace), "{}", without.as_str());
}

#[test]
fn debug_brings_no_optimisation_along() {
    let source = store("k", 7);
    let debug = fresh(&[("k", &source)], &Options::new(Arch::SM_90).debug(true));
    let plain = fresh(
        &[("k", &source)],
        &Options::new(Arch::SM_90).opt(OptLevel::O0),
    );
    assert_eq!(debug.kernels(), plain.kernels());
}

#[rstest]
#[case(Options::new(Arch::SM_90).debug(true).opt(OptLevel::O3), "-g")]
#[case(Options::new(Arch::SM_90).jump_table_density(102), "jump_table_density")]
#[case(
    Options::new(Arch::SM_90).ptx_version(IsaVersion { major: 8, minor: 6 }).dialect(Dialect::Legacy),
    "ptx_version"
)]
#[case(
    Options::new(Arch::SM_100).ptx_version(IsaVersion { major: 8, minor: 10 }),
    "one digit"
)]
#[case(Options::new(Arch::SM_100).dialect(Dialect::Legacy), "LLVM 7")]
#[case(Options::new(Arch::SM_90).extra("-arch=compute_80"), "field `arch`")]
#[case(Options::new(Arch::SM_90).extra("-gen-lto"), "LtoIr")]
#[case(Options::new(Arch::SM_90).extra("-a\0b"), "NUL")]
#[case(Options::new(Arch::SM_90).extra("k.ll"), "begins with `-`")]
#[case(Options::new(Arch::SM_90).extra("-gen-lto "), "blanks")]
#[case(Options::new(Arch::SM_90).extra("-lto"), "LtoIr")]
fn options_that_cannot_be_honoured_are_refused_before_the_call(
    #[case] options: Options,
    #[case] says: &str,
) {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", store("k", 7)).unwrap();
    let error = program.compile::<Ptx>(&options).unwrap_err();
    assert!(matches!(error, Error::InvalidOptions { .. }), "{error:?}");
    assert!(error.to_string().contains(says), "{error}");
    ptx(&program, &Options::new(Arch::SM_90));
}

#[test]
fn an_option_that_the_library_lacks_is_its_error_with_the_options_passed() {
    let program = Program::new(&toolkit("12.0")).unwrap();
    program.add_module("k", store("k", 7)).unwrap();
    let options = Options::new(Arch::SM_80).jump_table_density(50);
    let error = program.compile::<Ptx>(&options).unwrap_err();
    assert_eq!(error.raw_code(), Some(7));
    let Error::Library(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.code_name, "NVVM_ERROR_INVALID_OPTION");
    assert_eq!(
        error.options,
        ["-arch=compute_80", "-jump-table-density=50"]
    );
    assert_eq!(error.library.version.as_deref(), Some("12.0"));
}

#[rstest]
#[case(Arch::SM_75)]
#[case(Arch::SM_90)]
#[case(Arch::SM_100)]
fn the_ptx_version_asked_for_is_the_one_written(#[case] arch: Arch) {
    let asked = IsaVersion { major: 8, minor: 6 };
    let compiled = fresh(
        &[("k", &store("k", 7))],
        &Options::new(arch).ptx_version(asked),
    );
    assert_eq!(compiled.isa_version(), asked);
    let told = compiled
        .diagnostics()
        .iter()
        .any(|d| d.severity == Severity::Note && d.message.contains("-nvvm-latest"));
    assert_eq!(told, arch < Arch::SM_100, "{:?}", compiled.diagnostics());
}

#[rstest]
#[case("12.9", Arch::SM_90)]
#[case("13.0", Arch::SM_90)]
fn a_ptx_version_that_the_library_cannot_write_is_an_error(
    #[case] version: &str,
    #[case] arch: Arch,
) {
    let program = Program::new(&toolkit(version)).unwrap();
    program.add_module("k", store("k", 7)).unwrap();
    let options = Options::new(arch).ptx_version(IsaVersion { major: 8, minor: 6 });
    let error = program.compile::<Ptx>(&options).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    assert!(error.to_string().contains(version), "{error}");
}

#[test]
fn an_unknown_architecture_is_an_error_that_lists_the_nearest() {
    let program = Program::new(&toolkit("13.5")).unwrap();
    program.add_module("k", store("k", 7)).unwrap();
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_70))
        .unwrap_err();
    assert!(matches!(error, Error::InvalidArch { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("nearest that it knows: compute_75, compute_80;"),
        "{text}"
    );
    assert!(text.contains("libNVVM 13.5"), "{text}");
}

#[rstest]
#[case("12.0", (2, 0), (3, 1), Arch::SM_50, LlvmVersion::Known(7))]
#[case("12.4", (2, 0), (3, 1), Arch::SM_90A, LlvmVersion::Known(7))]
#[case("12.9", (2, 0), (3, 2), Arch::SM_100F, LlvmVersion::Known(20))]
#[case("13.0", (2, 0), (3, 2), Arch::SM_75, LlvmVersion::Known(7))]
#[case("13.5", (2, 0), (3, 2), Arch::SM_90, LlvmVersion::Told(7))]
#[case("13.5", (2, 0), (3, 2), Arch::SM_120, LlvmVersion::Told(22))]
fn a_library_tells_what_it_can(
    #[case] version: &str,
    #[case] ir: (u32, u32),
    #[case] debug: (u32, u32),
    #[case] arch: Arch,
    #[case] llvm: LlvmVersion,
) {
    let capabilities = Capabilities::of(&toolkit(version)).unwrap();
    let told = capabilities.ir_version().unwrap();
    assert_eq!((told.ir, told.debug), (ir, Some(debug)));
    assert_eq!(capabilities.llvm_version(arch).unwrap(), Some(llvm));
    assert!(capabilities.supported_archs().unwrap().contains(&arch));
    assert_eq!(capabilities.has_newer_nvvm().unwrap(), version == "13.5");
}

#[rstest]
#[case("12.0", &[50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90])]
#[case("13.5", &[75, 80, 86, 87, 88, 89, 90, 100, 103, 107, 110, 120, 121])]
fn the_supported_architectures_are_those_that_compile(
    #[case] version: &str,
    #[case] numbers: &[u16],
) {
    let toolkit = toolkit(version);
    let archs = Capabilities::of(&toolkit)
        .unwrap()
        .supported_archs()
        .unwrap();
    let mut seen: Vec<u16> = archs.iter().map(|arch| arch.number()).collect();
    seen.dedup();
    assert_eq!(seen, numbers);
    let program = Program::new(&toolkit).unwrap();
    program.add_module("k", store("k", 7)).unwrap();
    for &arch in Arch::KNOWN {
        let compiled = program.compile::<Ptx>(&Options::new(arch));
        assert_eq!(
            compiled.is_ok(),
            archs.contains(&arch),
            "{arch}: {compiled:?}"
        );
    }
}

#[test]
fn warnings_of_a_successful_compilation_reach_the_caller() {
    let short = store("k", 7).replace("-i128:128:128", "");
    let program = Program::new(&toolkit("12.4")).unwrap();
    program.add_module("k.ll", short).unwrap();
    let compiled = ptx(&program, &Options::new(Arch::SM_80).repair(Repair::Off));
    let warning = &compiled.diagnostics()[0];
    assert_eq!(warning.severity, Severity::Warning);
    assert!(warning.message.contains("data layout"), "{warning}");
}

#[test]
fn lazy_modules_bring_only_what_is_used() {
    let path = |file: &str| format!("{}/fixtures/bitcode/{file}", env!("CARGO_MANIFEST_DIR"));
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", store("k2", 7)).unwrap();
    program
        .add_lazy_module("lib", std::fs::read(path("every.llvm7.bc")).unwrap())
        .unwrap();
    let compiled = ptx(&program, &Options::new(Arch::SM_90));
    let names: Vec<_> = compiled.kernels().iter().map(|k| k.name.as_str()).collect();
    assert_eq!(names, ["k2"]);
}

fn by_convention() -> String {
    store("k", 7)
        .replace("define void", "define ptx_kernel void")
        .replace("!nvvm.annotations", "!other")
}

#[rstest]
fn a_kernel_by_calling_convention_is_one_where_the_library_goes_by_it(
    #[values("12.9", "13.0", "13.5")] version: &str,
    #[values(Arch::SM_80, Arch::SM_100)] arch: Arch,
) {
    let program = Program::new(&toolkit(version)).unwrap();
    program.add_module("k", by_convention()).unwrap();
    assert!(ptx(&program, &Options::new(arch)).kernel("k").is_some());
}

#[rstest]
fn a_kernel_by_calling_convention_is_refused_where_the_library_ignores_it(
    #[values("12.0", "12.4")] version: &str,
) {
    let program = Program::new(&toolkit(version)).unwrap();
    program.add_module("k", by_convention()).unwrap();
    let options = Options::new(Arch::SM_80);
    for error in [
        program.compile::<Ptx>(&options).unwrap_err(),
        program.compile::<LtoIr>(&options).unwrap_err(),
    ] {
        assert!(matches!(error, Error::InvalidInput(_)), "{error}");
        assert!(error.to_string().contains("!nvvm.annotations"), "{error}");
    }
}

#[test]
fn an_internal_kernel_is_told_of_in_ptx_too() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    let module = store("k", 7).replace("define void", "define internal void");
    program.add_module("k.ll", module).unwrap();
    let compiled = ptx(&program, &Options::new(Arch::SM_90));
    assert_eq!(compiled.kernels(), []);
    let warning = &compiled.diagnostics()[0];
    assert_eq!(warning.severity, Severity::Warning);
    assert!(
        warning
            .to_string()
            .starts_with("warning: k.ll:3: the kernel `k`"),
        "{warning}"
    );
}
