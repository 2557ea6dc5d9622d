//! Each option does what its field says.

use cuda_program::nvrtc::{FastCompile, Options, Standard, WarningKind};
use cuda_program::{Arch, Cubin, LtoIr, Ptx, Severity};
use rstest::rstest;

use crate::common::NEWEST;
use crate::{program, sm_80};

/// PTX with one option set, and the same without it.
fn both(source: &str, arch: Arch, set: fn(&mut Options)) -> [String; 2] {
    let program = program(NEWEST, source);
    let plain = Options::new(arch);
    let mut options = plain.clone();
    set(&mut options);
    [options, plain].map(|options| {
        let ptx: Ptx = program.compile(&options).unwrap();
        ptx.as_str().to_owned()
    })
}

const FLOATS: &str = "extern \"C\" __global__ void k(float *p, float a, float b) {
    p[0] = a / b; p[1] = sqrtf(a); p[2] = a * b + p[2]; p[3] = sinf(a); p[4] = a + 0.0f;
    p[5] = a != a ? 1.0f : 2.0f;
}";
const ADD: &str = "extern \"C\" __global__ void k(float *p, float a) { *p = *p * a + a; }";
const ARRAY: &str = "extern \"C\" __global__ void k(char *p, int n) {
    char a[64]; for (int i = 0; i < n; ++i) a[i] = p[i]; p[0] = a[p[1]];
}";
const SWITCH: &str = "extern \"C\" __global__ void k(int *p) { switch (*p) {
    case 0: p[1] = 7; break; case 1: p[2] = 3; break; case 2: p[5] = 1; break;
    case 3: p[9] = 4; break; case 4: p[3] = 2; break; case 5: p[8] = 8; break;
} }";
const CALLS: &str = "__device__ __noinline__ int f(int x) { return x * 3; }
extern \"C\" __global__ void k(int *p) { *p = f(*p); }";
#[rstest]
#[case::relocatable(CALLS, |o: &mut Options| o.code.relocatable = true, ".visible .func")]
#[case::ftz(FLOATS, |o: &mut Options| o.code.ftz = Some(true), ".ftz.f32")]
#[case::sqrt(FLOATS, |o: &mut Options| o.code.prec_sqrt = Some(false), "sqrt.approx")]
#[case::div(FLOATS, |o: &mut Options| o.code.prec_div = Some(false), "div.full")]
#[case::fmad(ADD, |o: &mut Options| o.code.fmad = Some(false), "mul.rn.f32")]
#[case::fast_math(FLOATS, |o: &mut Options| o.code.fast_math = true, "sin.approx.ftz")]
#[case::jump_table(SWITCH, |o: &mut Options| o.code.jump_table_density = Some(10), "brx.idx")]
#[case::debug(CALLS, |o: &mut Options| o.debug.full = true, ".debug_info")]
#[case::lines(CALLS, |o: &mut Options| o.debug.line_info = true, ".loc")]
fn an_option_puts_into_the_ptx_what_is_not_there_without_it(
    #[case] source: &str,
    #[case] set: fn(&mut Options),
    #[case] holds: &str,
) {
    let [with, without] = both(source, Arch::SM_80, set);
    assert!(with.contains(holds), "{with}");
    assert!(!without.contains(holds), "{without}");
}

#[rstest]
#[case::finite_math(FLOATS, |o: &mut Options| o.code.finite_math = true)]
#[case::no_signed_zeros(FLOATS, |o: &mut Options| o.code.no_signed_zeros = true)]
#[case::fast_compile(FLOATS, |o: &mut Options| o.code.fast_compile = Some(FastCompile::Max))]
#[case::optimised(FLOATS, |o: &mut Options| { o.debug.full = true; o.debug.optimised = true; })]
fn an_option_changes_the_ptx(#[case] source: &str, #[case] set: fn(&mut Options)) {
    let [with, without] = both(source, Arch::SM_80, set);
    assert_ne!(with, without);
}

#[test]
fn debugging_information_for_numba_is_another() {
    let full = |o: &mut Options| o.debug.full = true;
    let numba = |o: &mut Options| {
        o.debug.full = true;
        o.debug.numba = true;
    };
    assert_ne!(
        both(ARRAY, Arch::SM_80, full)[0],
        both(ARRAY, Arch::SM_80, numba)[0]
    );
}

#[test]
fn lto_ir_can_be_optimised() {
    let program = program(NEWEST, FLOATS);
    let plain: LtoIr = program.compile(&sm_80()).unwrap();
    let mut options = sm_80();
    options.code.optimised_lto = true;
    let optimised: LtoIr = program.compile(&options).unwrap();
    assert_ne!(plain.as_bytes(), optimised.as_bytes());
    assert_eq!(optimised.arch(), Some(Arch::SM_80));
}

#[test]
fn registers_are_limited_and_stacks_guarded_in_a_cubin() {
    let program = program(NEWEST, ARRAY);
    let plain: Cubin = program.compile(&sm_80()).unwrap();
    let mut options = sm_80();
    options.code.stack_protector = Some(true);
    let guarded: Cubin = program.compile(&options).unwrap();
    assert_ne!(guarded.as_bytes(), plain.as_bytes());
    let lines = |line: fn(usize) -> String| (0..64).map(line).collect::<String>();
    let loads = lines(|n| format!("int a{n} = p[{n}];"));
    let stores = lines(|n| format!("p[{n}] = a{};", 63 - n));
    let barrier = "__syncthreads();";
    let many = crate::program(NEWEST, &format!("{INT} {{ {loads} {barrier} {stores} }}"));
    let registers = |options: &Options| {
        let cubin: Cubin = many.compile(options).unwrap();
        cubin.kernel("k").unwrap().registers
    };
    let all = registers(&sm_80());
    options = sm_80();
    options.code.max_registers = Some(32);
    assert!(registers(&options) <= 32 && all > 32, "{all}");
}

#[test]
fn flags_of_the_assembler_reach_it_and_its_words_come_back_as_notes() {
    let mut options = sm_80();
    options.code.ptxas = vec!["-v".to_owned(), "--maxrregcount=24".to_owned()];
    let cubin: Cubin = program(NEWEST, CALLS).compile(&options).unwrap();
    let said = cubin.diagnostics();
    assert!(
        said.iter()
            .any(|d| d.severity == Severity::Note && d.message.contains("Used ")),
        "{said:?}"
    );
    options.code.ptxas = vec!["--no-such-flag".to_owned()];
    let error = program(NEWEST, CALLS)
        .compile::<Cubin>(&options)
        .unwrap_err();
    assert!(error.to_string().contains("no-such-flag"), "{error}");
}

const INT: &str = "extern \"C\" __global__ void k(int *p) ";

/// Whether it compiles with one option, and whether without.
#[rstest]
#[case::define("{ *p = SEVEN; }", |o: &mut Options| { o.preprocessor.define("SEVEN", "7"); }, [true, false])]
#[case::defined(
    ";\n#ifdef GONE\n#error it is there\n#endif\n",
    |o: &mut Options| {
        o.preprocessor.define("GONE", "1");
    },
    [false, true]
)]
#[case::undefined_again(
    ";\n#ifdef GONE\n#error it is there\n#endif\n",
    |o: &mut Options| {
        o.preprocessor.define("GONE", "1");
        o.preprocessor.undefines.push("GONE".to_owned());
    },
    [true, true]
)]
#[case::pre_include(
    "{ *p = __half2int_rn(__half(2.5f)); }",
    |o: &mut Options| o.preprocessor.pre_includes.push("cuda_fp16.h".to_owned()),
    [true, false]
)]
#[case::std_move(
    "{ *p = std::move(p[1]); }",
    |o: &mut Options| o.language.builtin_move_forward = Some(false),
    [false, true]
)]
#[case::initializer_list(
    "{ for (int i : std::initializer_list<int>{1, 2}) *p += i; }",
    |o: &mut Options| o.language.builtin_initializer_list = Some(false),
    [false, true]
)]
#[case::default_device(
    "; int f(int x) { return x; }",
    |o: &mut Options| o.language.device_by_default = true,
    [true, false]
)]
#[case::int128("{ *p = (__int128)*p >> 3; }", |o: &mut Options| o.language.int128 = true, [true, false])]
#[case::float128("{ *p = (__float128)*p; }", |o: &mut Options| o.language.float128 = true, [true, false])]
#[case::minimal("{ cudaTextureObject_t t = *p; *p = t; }", |o: &mut Options| o.language.minimal = true, [false, true])]
#[case::conversion(
    "{ long long x = *p; *p = x; }",
    |o: &mut Options| o.diagnostics.warnings_as_errors = vec![WarningKind::Conversion],
    [false, true]
)]
#[case::reorder(
    "; struct S { int a, b; __device__ S() : b(1), a(2) {} };",
    |o: &mut Options| o.diagnostics.warnings_as_errors = vec![WarningKind::Reorder],
    [false, true]
)]
#[case::deprecated(
    "; [[deprecated]] __device__ void f(); __device__ void g() { f(); }",
    |o: &mut Options| o.diagnostics.warnings_as_errors = vec![WarningKind::DeprecatedDeclarations],
    [false, true]
)]
#[case::all_warnings(
    "{ int unused; }",
    |o: &mut Options| o.diagnostics.warnings_as_errors = vec![WarningKind::AllWarnings],
    [false, true]
)]
#[case::diag_error("{ int unused; }", |o: &mut Options| o.diagnostics.errors = vec![177], [false, true])]
#[case::diag_warn(
    "{ int a[2]; *p = a[1 ? -1 : 2147483648]; }",
    |o: &mut Options| o.diagnostics.warnings = vec![68, 61],
    [true, true]
)]
fn an_option_decides_whether_a_source_compiles(
    #[case] source: &str,
    #[case] set: fn(&mut Options),
    #[case] compiles: [bool; 2],
) {
    let program = program(NEWEST, &format!("{INT}{source}"));
    let plain = Options::new(Arch::SM_100);
    let mut options = plain.clone();
    set(&mut options);
    let compiled = [options, plain].map(|o| program.compile::<Ptx>(&o));
    assert_eq!(
        compiled.each_ref().map(Result::is_ok),
        compiles,
        "{compiled:?}"
    );
}

#[rstest]
#[case::cpp03(Standard::Cpp03, 199_711)]
#[case::cpp11(Standard::Cpp11, 201_103)]
#[case::cpp14(Standard::Cpp14, 201_402)]
#[case::cpp17(Standard::Cpp17, 201_703)]
#[case::cpp20(Standard::Cpp20, 202_002)]
#[case::cpp23(Standard::Cpp23, 202_302)]
fn the_standard_is_the_one_asked_for(#[case] standard: Standard, #[case] number: u32) {
    let source = format!("#if __cplusplus != {number}L\n#error another\n#endif\n{CALLS}");
    let mut options = sm_80();
    options.language.standard = Some(standard);
    program(NEWEST, &source).compile::<Ptx>(&options).unwrap();
}

#[test]
fn a_folder_is_searched_in_the_order_given() {
    let folders = [1, 2].map(|n| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("n.h"), format!("#define N {n}\n")).unwrap();
        folder
    });
    let program = program(NEWEST, &format!("#include <n.h>\n{INT} {{ *p = N; }}"));
    for order in [[0, 1], [1, 0]] {
        let mut options = sm_80();
        options.preprocessor.include_folders = order.map(|n| folders[n].path().into()).to_vec();
        let ptx: Ptx = program.compile(&options).unwrap();
        let first = format!("{};", order[0] + 1);
        assert!(ptx.as_str().contains(&first), "{}", ptx.as_str());
    }
}

#[rstest]
#[case::none(|_: &mut Options| (), &["warning[177-D]: k.cu:2:7: variable", "int unused"])]
#[case::brief(|o: &mut Options| o.diagnostics.brief = Some(true), &["warning[177-D]: k.cu:2: variable"])]
#[case::no_numbers(
    |o: &mut Options| o.diagnostics.error_numbers = Some(false),
    &["warning: k.cu:2:7: variable"]
)]
#[case::disabled(|o: &mut Options| o.diagnostics.disable_warnings = true, &[])]
#[case::suppressed(|o: &mut Options| o.diagnostics.suppress = vec![177], &[])]
#[case::conversion(|o: &mut Options| o.diagnostics.conversion = true, &["]: k.cu:3"])]
#[case::reorder(|o: &mut Options| o.diagnostics.reorder = true, &["]: k.cu:5"])]
#[case::remarks(
    |o: &mut Options| o.diagnostics.inline_remarks = true,
    &["note: k.cu:", " inlined into "]
)]
#[case::times(|o: &mut Options| o.timings = Some("-".into()), &["note: File name", "NVVM"])]
fn an_option_decides_what_is_said(#[case] set: fn(&mut Options), #[case] says: &[&str]) {
    let source = "extern \"C\" __global__ void k(int *p) {
  int unused;
  long long x = *p; *p = x;
}
struct S { int a, b; __device__ S() : b(1), a(2) {} };
__device__ int f(int x) { return x * 5 + 3; }
__global__ void l(int *p) { *p = f(*p); }
";
    let mut options = sm_80();
    set(&mut options);
    let ptx: Ptx = program(NEWEST, source).compile(&options).unwrap();
    let said: Vec<String> = ptx.diagnostics().iter().map(|d| format!("{d:#}")).collect();
    let said = said.join("\n");
    assert!(says.iter().all(|s| said.contains(s)), "{said}");
    assert!(!says.is_empty() || said.is_empty(), "{said}");
    // Once asked for, the library makes them for every later program, too.
    assert_eq!(
        said.contains(" inlined into "),
        options.diagnostics.inline_remarks,
        "{said}"
    );
    // The line itself is at hand, and shown without the library's help.
    let brief = options.diagnostics.brief == Some(true);
    assert_eq!(said.contains('^'), !brief && !says.is_empty(), "{said}");
}

#[test]
fn so_many_errors_are_the_last() {
    let mut options = sm_80();
    let errors = |options: &Options| {
        let error = program(NEWEST, "int a = b;\nint c = d;\nint e = f;\n")
            .compile::<Ptx>(options)
            .unwrap_err();
        let said = error.diagnostics().iter();
        said.filter(|d| d.severity == Severity::Error && d.line.is_some())
            .count()
    };
    assert!(errors(&options) > 2);
    options.diagnostics.max_errors = Some(1);
    assert_eq!(errors(&options), 1);
}
