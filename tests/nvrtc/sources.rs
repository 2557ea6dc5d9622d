//! Sources and names of every kind.

use cuda_program::{Arch, Cubin, Error, Ptx, Severity};
use rstest::rstest;

use crate::common::{NEWEST, toolkit};
use crate::{Program, STORE, program, sm_80};

#[rstest]
#[case::comment(&format!("// größe 漢字 🦀\n{STORE}"))]
#[case::mark(&format!("\u{feff}{STORE}"))]
#[case::crlf(
    "// c\r\n#define A \\\r\n 1\r\nextern \"C\" __global__ void k(int *p) {\r\n*p = A;\r\n}\r\n"
)]
#[case::no_end_of_line("extern \"C\" __global__ void k(int *p) { *p = 1; } // end")]
#[case::form_feed(&format!("\u{c}{STORE}"))]
fn a_source_compiles_to_the_same_code_as_a_plain_one(
    #[case] source: &str,
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let plain: Ptx = program(version, STORE).compile(&sm_80()).unwrap();
    let ptx: Ptx = program(version, source).compile(&sm_80()).unwrap();
    let code = |ptx: &Ptx| ptx.as_str().split_once(".visible").unwrap().1.to_owned();
    assert_eq!(code(&ptx), code(&plain));
}

#[rstest]
fn strings_beyond_ascii_keep_their_bytes(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let source = "__device__ const char text[] = \"größe\";
extern \"C\" __global__ void k(char *p) { *p = text[*p]; }";
    let cubin: Cubin = program(version, source).compile(&sm_80()).unwrap();
    let holds = |text: &[u8]| cubin.as_bytes().windows(text.len()).any(|w| w == text);
    assert!(holds("größe\0".as_bytes()));
}

#[rstest]
fn an_identifier_beyond_ascii_is_an_error_of_its_line(#[values("12.0", "13.5")] version: &str) {
    let error = program(
        version,
        "\nextern \"C\" __global__ void größe(int *p) { *p = 1; }",
    )
    .compile::<Ptx>(&sm_80())
    .unwrap_err();
    let said = error.diagnostics();
    assert!(
        said.iter()
            .any(|d| d.line == Some(2) && d.message.contains("unrecognized token")),
        "{error:?}"
    );
}

#[rstest]
fn a_header_may_begin_with_a_mark_and_be_called_anything(
    #[values("12.0", "13.5")] version: &str,
    #[values("größe.h", "a b.h", "sub/漢.h", "a'b.h")] name: &str,
) {
    let source =
        format!("#include \"{name}\"\nextern \"C\" __global__ void k(int *p) {{ *p = N; }}");
    let program = program(version, &source);
    program.add_header(name, "\u{feff}#define N 1\n").unwrap();
    program.compile::<Ptx>(&sm_80()).unwrap();
}

#[rstest]
#[case::blank("a dir/my k.cu", "a dir/my k.cu\"")]
// The library escapes what is not ASCII by the octal numbers of its bytes.
#[case::beyond_ascii("größe.cu", "/gr\\303\\266\\303\\237e.cu\"")]
#[case::absolute("/no where/k.cu", "\"/no where/k.cu\"")]
fn a_name_is_that_of_the_file_in_debugging_information(
    #[case] name: &str,
    #[case] shown: &str,
    #[values("12.0", "13.5")] version: &str,
) {
    let program = Program::new(&toolkit(version), name, STORE).unwrap();
    let mut options = sm_80();
    options.debug.line_info = true;
    let ptx: Ptx = program.compile(&options).unwrap();
    let file = ptx
        .as_str()
        .lines()
        .find(|line| line.trim_start().starts_with(".file"))
        .unwrap();
    assert!(file.trim_end().ends_with(shown), "{file}");
    // What PTX says of it, the assembler takes.
    program.compile::<Cubin>(&options).unwrap();
}

#[rstest]
#[case::plain("k.cu")]
#[case::blank("my k.cu")]
#[case::beyond_ascii("größe 漢.cu")]
#[case::like_a_message("a(1): error: k.cu")]
fn messages_call_a_source_by_its_name(#[case] name: &str, #[values("12.0", "13.5")] version: &str) {
    let source = "extern \"C\" __global__ void k(int *p) {\n  int unused;\n}";
    let program = Program::new(&toolkit(version), name, source).unwrap();
    let ptx: Ptx = program.compile(&sm_80()).unwrap();
    let said = ptx.diagnostics();
    if name.contains("error") {
        // No reader can tell them apart; that there is one, and where it came from, is kept.
        assert!(
            said[0].module.as_deref() == Some("a")
                && said[0].message.starts_with("k.cu(2): warning"),
            "{said:?}"
        );
        return;
    }
    assert_eq!(said[0].module.as_deref(), Some(name), "{said:?}");
    assert_eq!(
        (said[0].severity, said[0].line),
        (Severity::Warning, Some(2))
    );
}

#[rstest]
#[case::quote("a\"b.cu")]
#[case::backslash("a\\b.cu")]
#[case::newline("a\nb.cu")]
#[case::nul("a\0.cu")]
#[case::empty("")]
fn a_name_that_would_break_lines_of_the_output_is_refused(#[case] name: &str) {
    let new = Program::new(&toolkit(NEWEST), name, STORE);
    assert!(matches!(new, Err(Error::InvalidInput(_))), "{new:?}");
    let added = program(NEWEST, STORE).add_header(name, "");
    assert!(matches!(added, Err(Error::InvalidInput(_))), "{added:?}");
}

#[test]
fn a_nul_byte_is_refused_where_the_library_would_stop_reading() {
    let new = Program::new(&toolkit(NEWEST), "k.cu", format!("{STORE}\0more"));
    assert!(
        matches!(&new, Err(Error::InvalidInput(e)) if e.problem.contains("NUL")),
        "{new:?}"
    );
    let program = program(NEWEST, STORE);
    let added = program.add_header("h.h", "\0");
    assert!(matches!(added, Err(Error::InvalidInput(_))), "{added:?}");
    let added = program.add_name_expression("k\0");
    assert!(matches!(added, Err(Error::InvalidInput(_))), "{added:?}");
    program.compile::<Ptx>(&sm_80()).unwrap();
}

#[rstest]
fn sources_without_an_end_to_what_they_begin_are_errors(
    #[values("12.0", "13.5")] version: &str,
    #[values(
        "/*",
        "\"",
        "R\"(",
        "#if 1",
        "#include",
        "{",
        "extern \"C\" {",
        "template <",
        "\u{1a}",
        "\\"
    )]
    source: &str,
) {
    match program(version, source).compile::<Ptx>(&sm_80()) {
        Err(Error::Library(e)) => assert!(!e.diagnostics.is_empty(), "{e:?}"),
        // A backslash or a comment at the end of everything is no more than a warning.
        Ok(ptx) => assert!(ptx.kernels().is_empty(), "{ptx:?}"),
        Err(other) => panic!("{other:?}"),
    }
}

#[rstest]
fn a_very_long_log_is_read_whole(#[values("12.0", "13.5")] version: &str) {
    const COUNT: usize = 20_000;
    let lines: Vec<String> = (0..COUNT).map(|n| format!("int u{n};")).collect();
    let source = format!(
        "extern \"C\" __global__ void k(int *p) {{\n{}\n}}",
        lines.join("\n")
    );
    let ptx: Ptx = program(version, &source).compile(&sm_80()).unwrap();
    let of_lines = ptx.diagnostics().iter().filter(|d| d.line.is_some());
    assert_eq!(of_lines.count(), COUNT);
    let line = "*p = undefined;\n".repeat(COUNT);
    let error = program(version, &format!("__global__ void k(int *p) {{\n{line}}}"))
        .compile::<Ptx>(&sm_80())
        .unwrap_err();
    // The library gives up after a hundred.
    assert!(!error.diagnostics().is_empty() && error.to_string().len() < 2000);
}

#[test]
fn one_line_of_a_mebibyte_compiles() {
    let source = format!("/*{}*/{STORE}", "x".repeat(1 << 20));
    program(NEWEST, &source).compile::<Ptx>(&sm_80()).unwrap();
    let name = format!("{}.cu", "n".repeat(200));
    let program = Program::new(&toolkit(NEWEST), name, "int x = y;").unwrap();
    program
        .compile::<Ptx>(&crate::Options::new(Arch::SM_90))
        .unwrap_err();
}
