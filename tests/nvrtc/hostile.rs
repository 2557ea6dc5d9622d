//! What would end the process, wait for ever, or be dropped without a word.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use cuda_program::nvrtc::{CancelToken, Control, Options, PchMode, Program};
use cuda_program::{Cubin, Error, Ptx, link, nvvm};
use rstest::rstest;

use crate::common::{NEWEST, toolkit, within};
use crate::control::{counting, endless, is_cancelled, wait_for};
use crate::own_process::again_in_a_process_of_its_own;
use crate::pch_automatic::automatic;
use crate::{STORE, program, sm_80};

#[rstest]
#[case::empty_for_ptxas(|o: &mut Options| o.code.ptxas = vec![String::new()], "code.ptxas")]
#[case::blank_for_ptxas(|o: &mut Options| o.code.ptxas = vec![" ".into()], "code.ptxas")]
#[case::empty_seed(|o: &mut Options| o.code.random_seed = Some(String::new()), "code.random_seed")]
#[case::too_many_threads(|o: &mut Options| o.code.split_compile = Some(4097), "at most 4096 threads")]
#[case::threads_beyond_an_int(
    |o: &mut Options| o.code.split_compile = Some(1 << 31),
    "at most 4096 threads"
)]
#[case::no_registers(|o: &mut Options| o.code.max_registers = Some(0), "code.max_registers")]
#[case::unreadable_ptx(
    |o: &mut Options| o.diagnostics.version_ident = Some(true),
    "diagnostics.version_ident"
)]
#[case::empty_header(
    |o: &mut Options| o.preprocessor.pre_includes = vec![String::new()],
    "preprocessor.pre_includes"
)]
#[case::quoted_header(
    |o: &mut Options| o.preprocessor.pre_includes = vec!["\"x.h\"".into()],
    "preprocessor.pre_includes"
)]
#[case::empty_macro(
    |o: &mut Options| o.preprocessor.defines = vec![String::new()],
    "preprocessor.defines"
)]
#[case::header_in_angles(
    |o: &mut Options| o.preprocessor.pre_includes = vec!["<x.h>".into()],
    "angle brackets"
)]
#[case::blank_macro(
    |o: &mut Options| o.preprocessor.undefines = vec![" ".into()],
    "preprocessor.undefines"
)]
#[case::no_folder(
    |o: &mut Options| o.preprocessor.include_folders = vec!["".into()],
    "preprocessor.include_folders"
)]
#[case::blank_before_a_trace(|o: &mut Options| o.time_trace = Some(" t.json".into()), "time_trace")]
#[case::blank_within_a_trace(|o: &mut Options| o.time_trace = Some("t .json".into()), "time_trace")]
#[case::blank_behind_times(|o: &mut Options| o.timings = Some("t.csv\t".into()), "timings")]
#[case::no_times(|o: &mut Options| o.timings = Some("".into()), "timings")]
#[case::blank_behind_what_is_made(
    |o: &mut Options| o.pch.mode = PchMode::Create("k.pch ".into()),
    "k.pch "
)]
#[case::blank_before_what_is_used(
    |o: &mut Options| o.pch.mode = PchMode::Use(" k.pch".into()),
    " k.pch"
)]
#[case::blank_behind_a_folder(
    |o: &mut Options| o.preprocessor.include_folders = vec!["folder ".into()],
    "folder "
)]
#[case::no_file(|o: &mut Options| o.timings = Some("/".into()), "/")]
fn an_option_that_the_library_dies_of_or_drops_is_refused(
    #[case] set: fn(&mut Options),
    #[case] names: &str,
) {
    let mut options = sm_80();
    set(&mut options);
    let program = program(NEWEST, STORE);
    let error = program.compile::<Cubin>(&options).unwrap_err();
    let refused = matches!(error, Error::InvalidOptions { .. } | Error::Io { .. });
    assert!(refused && error.to_string().contains(names), "{error}");
    program.compile::<Ptx>(&sm_80()).unwrap();
}

#[rstest]
fn as_many_threads_as_may_be_are_started(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let mut options = sm_80();
    options.code.split_compile = Some(4096);
    let cubin: Cubin = program(version, STORE).compile(&options).unwrap();
    assert!(cubin.kernel("k").is_some());
}

#[cfg(unix)]
#[rstest]
#[case::trace(|o: &mut Options, pipe: &Path| o.time_trace = Some(pipe.into()))]
#[case::timings(|o: &mut Options, pipe: &Path| o.timings = Some(pipe.into()))]
#[case::pch(|o: &mut Options, pipe: &Path| o.pch.mode = PchMode::Create(pipe.into()))]
#[case::pch_to_use(|o: &mut Options, pipe: &Path| o.pch.mode = PchMode::Use(pipe.into()))]
fn a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(
    #[case] set: fn(&mut Options, &Path),
) {
    within(60, || {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.json");
        let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
        // SAFETY: a C string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let mut options = sm_80();
        set(&mut options, &pipe);
        let error = program(NEWEST, STORE).compile::<Ptx>(&options).unwrap_err();
        assert!(matches!(error, Error::InvalidOptions { .. }), "{error:?}");
        assert!(
            error
                .to_string()
                .contains("pipe.json is there and is no file"),
            "{error}"
        );
    });
}

#[test]
fn waiting_for_the_program_ends_when_it_is_called_off_and_what_is_no_compilation_never_waits() {
    within(300, || {
        let program = program(NEWEST, &endless());
        let (asked, counting) = counting();
        let (stop, token) = (CancelToken::new(), CancelToken::new());
        let (counting, control) = (counting.token(&stop), Control::new().token(&token));
        std::thread::scope(|threads| {
            let long = threads.spawn(|| program.compile_with::<Ptx>(&sm_80(), &counting));
            wait_for(&asked);
            let before = Instant::now();
            assert_eq!(program.pch_status(), None);
            program.add_header("a.h", "").unwrap();
            program.remove_header("a.h").unwrap();
            program.add_name_expression("nosuch").unwrap();
            program.remove_name_expression("nosuch").unwrap();
            let soon = Control::new().deadline(before + Duration::from_millis(50));
            is_cancelled(program.compile_with(&sm_80(), &soon), "deadline");
            let function = Control::new().stop_when(|| true);
            is_cancelled(program.compile_with(&sm_80(), &function), "function");
            let waiting = threads.spawn(|| program.compile_with::<Ptx>(&sm_80(), &control));
            std::thread::sleep(Duration::from_millis(50));
            token.cancel();
            is_cancelled(waiting.join().unwrap(), "token");
            // The other is in the middle still: nothing of this waited for it.
            assert!(!long.is_finished());
            stop.cancel();
            is_cancelled(long.join().unwrap(), "token");
            assert!(asked.load(Ordering::SeqCst) > 0);
        });
    });
}

#[rstest]
fn a_precompiled_header_of_another_current_folder_is_not_used(
    #[values("12.9", "13.5")] version: &str,
) {
    again_in_a_process_of_its_own(&[("VERSION", version)], || {
        let version = std::env::var("VERSION").unwrap();
        let root = tempfile::tempdir().unwrap();
        let below = tempfile::tempdir().unwrap();
        for (folder, number) in [("one", 61), ("other", 62)] {
            let inc = root.path().join(folder).join("inc");
            std::fs::create_dir_all(&inc).unwrap();
            std::fs::write(inc.join("rel.h"), format!("#define N {number}\n")).unwrap();
        }
        let source = "#include <rel.h>\nextern \"C\" __global__ void k(int *p) { *p = N; }\n";
        let program = program(&version, source);
        let mut options = automatic(below.path());
        options.preprocessor.include_folders = vec!["inc".into()];
        for (folder, number) in [("one", "61;"), ("other", "62;"), ("one", "61;")] {
            std::env::set_current_dir(root.path().join(folder)).unwrap();
            let ptx: Ptx = program.compile(&options).unwrap();
            assert!(ptx.as_str().contains(number), "{folder}: {}", ptx.as_str());
        }
    });
}

#[test]
fn a_name_expression_or_header_that_was_wrong_can_be_taken_back() {
    let program = program(
        NEWEST,
        "template<class T> __global__ void k(T *p) { *p = 1; }",
    );
    program.add_name_expression("k<int>").unwrap();
    program.add_name_expression("nosuch").unwrap();
    let error = program.compile::<Ptx>(&sm_80()).unwrap_err();
    insta::assert_snapshot!(error, @r#"NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): the name expression `nosuch`: identifier "nosuch" is undefined; a name expression names nothing in the source: correct it, or leave it out (`remove_name_expression`)"#);
    insta::assert_snapshot!(program.remove_name_expression("nosuc").unwrap_err(), @"nosuc: the program has no name expression of this name; it has k<int>, nosuch");
    program.remove_name_expression("nosuch").unwrap();
    let ptx: Ptx = program.compile(&sm_80()).unwrap();
    assert!(ptx.kernel_for("k<int>").is_some());

    insta::assert_snapshot!(program.remove_header("a.h").unwrap_err(), @"a.h: the program has no header of this name; it has none at all");
    program.add_header("a.h", "#error no").unwrap();
    program.remove_header("a.h").unwrap();
    program.add_header("a.h", "").unwrap();
    program.compile::<Ptx>(&sm_80()).unwrap();
}

#[rstest]
fn each_message_about_a_name_expression_says_which(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let program = program(
        version,
        "#include \"a.h\"\ntemplate<class T> __global__ void k(T *p) { *p = 1; }",
    );
    program.add_header("a.h", "").unwrap();
    for expression in ["k<nosuch>", "k<int>", "k<i", "0", "k"] {
        program.add_name_expression(expression).unwrap();
    }
    let error = program.compile::<Ptx>(&sm_80()).unwrap_err();
    let mut said: Vec<&str> = error
        .diagnostics()
        .iter()
        .filter_map(|d| d.module.as_deref())
        .collect();
    said.dedup();
    assert_eq!(
        said,
        ["0", "k", "k<i", "k<nosuch>"].map(|bad| format!("the name expression `{bad}`"))
    );
    for quoted in error
        .diagnostics()
        .iter()
        .filter_map(|d| d.snippet.as_ref())
    {
        assert!(!quoted.text.contains("#pragma"), "{quoted:?}");
    }
    let undefined = error
        .diagnostics()
        .iter()
        .find(|d| d.message.contains("\"nosuch\" is undefined"))
        .unwrap();
    if let Some(quoted) = &undefined.snippet {
        assert_eq!((&*quoted.text, quoted.column), ("k<nosuch>", Some(3)));
    }
}

#[rstest]
#[case::nothing("")]
#[case::blank("  ")]
#[case::two_lines("k<int>\nk<float>")]
fn an_input_without_a_usable_name_is_still_named_in_its_error(#[case] name: &str) {
    let program = program(NEWEST, STORE);
    let expression = program.add_name_expression(name).unwrap_err().to_string();
    assert!(
        expression.starts_with(&format!("the name expression {name:?}: ")),
        "{expression}"
    );
    if name.trim() == name {
        let source = Program::new(&toolkit(NEWEST), name, "\0").unwrap_err();
        let header = program.add_header(name, "\0").unwrap_err();
        for error in [source, header] {
            let error = error.to_string();
            assert!(
                error.starts_with(&format!("the name {name:?}: ")),
                "{error}"
            );
        }
    }
}

#[test]
fn a_message_about_a_header_in_memory_quotes_it() {
    let program = program("12.0", "#include \"a.h\"\n");
    program
        .add_header("a.h", "\n__device__ int f() { return x; }\n")
        .unwrap();
    let error = program.compile::<Ptx>(&sm_80()).unwrap_err();
    let said = &error.diagnostics()[0];
    assert_eq!((said.module.as_deref(), said.line), (Some("a.h"), Some(2)));
    let quoted = said.snippet.as_ref().unwrap();
    assert_eq!(quoted.text, "__device__ int f() { return x; }");
}

#[test]
fn brackets_deeper_than_the_library_survives_are_refused_with_their_line() {
    let nested = |depth| {
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        format!("__global__ void k(int *p) {{\n*p = {open}1{close};\n}}\n")
    };
    let error = Program::new(&toolkit(NEWEST), "k.cu", nested(100_000)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("k.cu:2: brackets nest deeper"),
        "{error}"
    );
    program(NEWEST, &nested(15_000))
        .compile::<Ptx>(&sm_80())
        .unwrap();
}

#[rstest]
#[case::group(serde_json::from_str::<Options>(r#"{"arch":"sm_80","cod":{}}"#).err())]
#[case::field(serde_json::from_str::<Options>(r#"{"arch":"sm_80","code":{"fastmath":true}}"#).err())]
#[case::nvvm(serde_json::from_str::<nvvm::Options>(r#"{"arch":"sm_80","fastmath":true}"#).err())]
#[case::link(serde_json::from_str::<link::Options>(r#"{"max_register":5}"#).err())]
fn an_option_that_is_misspelt_in_a_file_is_an_error(#[case] error: Option<serde_json::Error>) {
    let error = error.unwrap().to_string();
    assert!(error.starts_with("unknown field `"), "{error}");
}
