//! Which options each library takes, and what is refused before it is asked.

use cuda_program::nvrtc::{FastCompile, Options, PchMode, Standard, WarningKind};
use cuda_program::{Arch, Cubin, Error, LtoIr, Ptx};
use rstest::rstest;

use crate::common::NEWEST;
use crate::{STORE, program, sm_80};

/// A typed option, the oldest of the tested versions that takes it, and how it is set.
type Case = (&'static str, (u32, u32), fn(&mut Options));

const ALL: (u32, u32) = (12, 0);

#[rustfmt::skip]
const CASES: &[Case] = &[
    ("relocatable", ALL, |o| o.code.relocatable = true),
    ("extensible", ALL, |o| o.code.extensible_whole_program = true),
    ("registers", ALL, |o| o.code.max_registers = Some(32)),
    ("ftz", ALL, |o| o.code.ftz = Some(true)),
    ("prec-sqrt", ALL, |o| o.code.prec_sqrt = Some(false)),
    ("prec-div", ALL, |o| o.code.prec_div = Some(false)),
    ("fmad", ALL, |o| o.code.fmad = Some(false)),
    ("fast math", ALL, |o| o.code.fast_math = true),
    ("finite math", (13, 5), |o| o.code.finite_math = true),
    ("signed zeros", (13, 5), |o| o.code.no_signed_zeros = true),
    ("vectorization", ALL, |o| o.code.extra_vectorization = true),
    ("ptxas", ALL, |o| o.code.ptxas.push("-v".to_owned())),
    ("split-compile", ALL, |o| o.code.split_compile = Some(2)),
    ("split-compile 0", ALL, |o| o.code.split_compile = Some(0)),
    ("optimised LTO IR", ALL, |o| o.code.optimised_lto = true),
    ("fast compile", (12, 9), |o| o.code.fast_compile = Some(FastCompile::Off)),
    ("fast compile min", (12, 9), |o| o.code.fast_compile = Some(FastCompile::Min)),
    ("fast compile mid", (12, 9), |o| o.code.fast_compile = Some(FastCompile::Mid)),
    ("fast compile max", (12, 9), |o| o.code.fast_compile = Some(FastCompile::Max)),
    ("jump tables", (12, 4), |o| o.code.jump_table_density = Some(101)),
    ("stack protector", (12, 9), |o| o.code.stack_protector = Some(true)),
    ("random seed", (12, 9), |o| o.code.random_seed = Some("a seed, and more".to_owned())),
    ("no cache", (12, 9), |o| o.code.no_cache = true),
    ("define", ALL, |o| { o.preprocessor.define("A", "\"b c\"").define("D", ""); }),
    ("undefine", ALL, |o| o.preprocessor.undefines.push("__CUDACC__".to_owned())),
    ("include folder", ALL, |o| o.preprocessor.include_folders.push("/no where".into())),
    ("pre-include", ALL, |o| o.preprocessor.pre_includes.push("cuda_fp16.h".to_owned())),
    ("source include", ALL, |o| o.preprocessor.no_source_include = true),
    ("move", ALL, |o| o.language.builtin_move_forward = Some(false)),
    ("initializer list", ALL, |o| o.language.builtin_initializer_list = Some(false)),
    ("default device", ALL, |o| o.language.device_by_default = true),
    ("int128", ALL, |o| o.language.int128 = true),
    ("float128", (12, 9), |o| { o.arch = Arch::SM_100; o.language.float128 = true; }),
    ("minimal", (12, 4), |o| o.language.minimal = true),
    ("c++03", ALL, |o| o.language.standard = Some(Standard::Cpp03)),
    ("c++11", ALL, |o| o.language.standard = Some(Standard::Cpp11)),
    ("c++14", ALL, |o| o.language.standard = Some(Standard::Cpp14)),
    ("c++17", ALL, |o| o.language.standard = Some(Standard::Cpp17)),
    ("c++20", ALL, |o| o.language.standard = Some(Standard::Cpp20)),
    ("c++23", (13, 5), |o| o.language.standard = Some(Standard::Cpp23)),
    ("warnings", ALL, |o| o.diagnostics.disable_warnings = true),
    ("errors", ALL, |o| o.diagnostics.errors = vec![177, 550]),
    ("suppress", ALL, |o| o.diagnostics.suppress = vec![177, 550]),
    ("warn", ALL, |o| o.diagnostics.warnings = vec![177, 550]),
    ("remarks", ALL, |o| o.diagnostics.inline_remarks = true),
    ("numbers", ALL, |o| o.diagnostics.error_numbers = Some(true)),
    ("no numbers", ALL, |o| o.diagnostics.error_numbers = Some(false)),
    ("brief", (12, 4), |o| o.diagnostics.brief = Some(true)),
    ("reorder", (13, 5), |o| o.diagnostics.reorder = true),
    ("conversion", (13, 5), |o| o.diagnostics.conversion = true),
    ("Werror", (13, 5), |o| o.diagnostics.warnings_as_errors = vec![WarningKind::AllWarnings]),
    ("Werror kinds", (13, 5), |o| o.diagnostics.warnings_as_errors = vec![
        WarningKind::Reorder, WarningKind::DeprecatedDeclarations, WarningKind::Conversion,
    ]),
    ("max errors", (13, 5), |o| o.diagnostics.max_errors = Some(1)),
    ("version", ALL, |o| o.diagnostics.version_ident = Some(false)),
    ("debug", ALL, |o| o.debug.full = true),
    ("lines", ALL, |o| o.debug.line_info = true),
    ("optimised", ALL, |o| { o.debug.full = true; o.debug.optimised = true; }),
    ("numba", (13, 5), |o| { o.debug.full = true; o.debug.numba = true; }),
    ("times in the log", (12, 4), |o| o.timings = Some("-".into())),
    ("pch", (12, 9), |o| o.pch.mode = PchMode::Automatic),
    ("pch verbose", (12, 9), |o| o.pch.verbose = Some(false)),
    ("pch messages", (12, 9), |o| o.pch.messages = Some(false)),
    ("pch templates", (12, 9), |o| o.pch.instantiate_templates = Some(false)),
];

#[rstest]
fn every_option_is_taken_from_the_version_on_that_is_said_and_refused_by_older_ones_with_it(
    #[values((12, 0), (12, 4), (12, 9), (13, 0), (13, 5))] version: (u32, u32),
) {
    let program = program(&format!("{}.{}", version.0, version.1), STORE);
    for (name, needs, set) in CASES {
        let (major, minor) = *needs;
        let mut options = sm_80();
        // An architecture that is missing, too, would be refused first.
        if *name != "float128" || version >= *needs {
            set(&mut options);
        } else {
            continue;
        }
        let made = if options.code.optimised_lto {
            program.compile::<LtoIr>(&options).map(drop)
        } else if options.code.ptxas.is_empty() && options.code.max_registers.is_none() {
            program.compile::<Ptx>(&options).map(drop)
        } else {
            program.compile::<Cubin>(&options).map(drop)
        };
        if version >= *needs {
            made.unwrap_or_else(|e| panic!("{name}: {e:#}"));
            continue;
        }
        let error = made.expect_err(name);
        assert!(
            matches!(error, Error::Unsupported { .. }),
            "{name}: {error:#}"
        );
        assert!(
            error
                .to_string()
                .contains(&format!("NVRTC {major}.{minor} or newer")),
            "{name}: {error}"
        );
        // It costs the program nothing.
        program.compile::<Ptx>(&sm_80()).unwrap();
    }
}

#[rstest]
#[case::arch("--gpu-architecture=sm_90", "arch")]
#[case::lto("-dlto", "LtoIr")]
#[case::optimised_lto("--gen-opt-lto", "code.optimised_lto")]
#[case::check("-fdevice-syntax-only", "Program::check")]
#[case::restrict("-restrict", "__restrict__")]
#[case::optix("--optix-ir", "OptiX IR")]
#[case::tile("--enable-tile", "Tile IR")]
#[case::tile_only("-tile-only", "Tile IR")]
#[case::utf8("--utf-8", "UTF-8")]
#[case::stack("-modify-stack-limit=true", "stack")]
#[case::time("-time=t.csv", "timings")]
#[case::blank("--dopt=on ", "blanks")]
#[case::define("-DA=1", "defines")]
fn what_extra_may_not_hold_is_refused(#[case] flag: &str, #[case] hint: &str) {
    let mut options = sm_80();
    options.extra.push(flag.to_owned());
    let error = program(NEWEST, STORE).compile::<Ptx>(&options).unwrap_err();
    assert!(error.to_string().contains(hint), "{error}");
}

#[rstest]
#[case::density(|o: &mut Options| o.code.jump_table_density = Some(102), "0 to 101")]
#[case::float128(|o: &mut Options| o.language.float128 = true, "sm_100")]
#[case::lto(|o: &mut Options| o.code.optimised_lto = true, "compile to `LtoIr`")]
#[case::registers(|o: &mut Options| o.code.max_registers = Some(24), "makes cubins alone")]
#[case::ptxas(|o: &mut Options| o.code.ptxas.push("-v".to_owned()), "give it to the linker")]
#[case::numba(|o: &mut Options| o.debug.numba = true, "debug.full")]
#[case::errors(|o: &mut Options| o.diagnostics.max_errors = Some(0), "1 or more")]
#[case::lines(
    |o: &mut Options| o.preprocessor.defines.push("A=1\nB".to_owned()),
    "more than one line"
)]
#[case::trace(|o: &mut Options| o.time_trace = Some("trace".into()), ".json")]
#[case::nul(|o: &mut Options| o.preprocessor.defines.push("A\0".to_owned()), "NUL")]
#[case::nul_in_folder(
    |o: &mut Options| o.preprocessor.include_folders.push("a\0b".into()),
    "NUL"
)]
#[case::nul_in_seed(|o: &mut Options| o.code.random_seed = Some("\0".to_owned()), "NUL")]
fn options_that_cannot_be_are_refused_before_the_library_is_asked(
    #[case] set: fn(&mut Options),
    #[case] says: &str,
) {
    let mut options = sm_80();
    set(&mut options);
    let error = program(NEWEST, STORE).compile::<Ptx>(&options).unwrap_err();
    assert!(matches!(error, Error::InvalidOptions { .. }), "{error:?}");
    assert!(error.to_string().contains(says), "{error}");
}

#[rstest]
#[case::trace(|o: &mut Options, file: &std::path::Path| o.time_trace = Some(file.into()))]
#[case::timings(|o: &mut Options, file: &std::path::Path| o.timings = Some(file.into()))]
fn a_file_for_times_is_written_and_one_that_cannot_be_is_an_error_and_no_end_of_the_process(
    #[case] set: fn(&mut Options, &std::path::Path),
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("time it.json");
    let program = program(version, STORE);
    let mut options = sm_80();
    set(&mut options, &file);
    program.compile::<Ptx>(&options).unwrap();
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("k.cu"), "{written}");
    for nowhere in ["/nowhere/time.json", "/proc/time.json"] {
        set(&mut options, nowhere.as_ref());
        let error = program.compile::<Ptx>(&options).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
    }
}

#[test]
fn serde_keeps_every_option_and_fills_in_what_is_left_out() {
    let mut options = sm_80();
    for (_, _, set) in CASES {
        set(&mut options);
    }
    let kept = serde_json::to_string(&options).unwrap();
    assert_eq!(serde_json::from_str::<Options>(&kept).unwrap(), options);
    let least: Options = serde_json::from_str(r#"{"arch":"sm_80"}"#).unwrap();
    assert_eq!(least, sm_80());
}
