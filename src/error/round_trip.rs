//! Errors go through serde and come back: worker processes send them, and services keep them.

use rstest::rstest;

use super::*;
use crate::diagnostic::Severity;

fn library() -> Library {
    Library {
        name: "libNVVM".to_owned(),
        version: Some("13.5".to_owned()),
        path: "/somewhere/libnvvm.so".into(),
    }
}

fn diagnostics() -> Vec<Diagnostic> {
    vec![Diagnostic::new(Severity::Warning, "a warning").at_line(3)]
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[rstest]
#[case(NotFound {
    part: text("libNVVM"),
    tried: vec![Attempt {
        path: "/a".into(),
        because: text("CUDA_HOME"),
        failure: text("no file"),
    }],
    hint: text("install it"),
}.into())]
#[case(Error::Unsupported { what: text("a"), needs: text("b"), library: library() })]
#[case(InvalidInput {
    input: text("m"),
    line: Some(7),
    snippet: None,
    problem: text("p"),
    hint: text("h"),
}.into())]
#[case(Error::invalid_options("p", "h"))]
#[case(Error::InvalidArch { text: text("sm_1"), problem: text("too old") })]
#[case(LibraryError {
    stage: Stage::Compile,
    code: 9,
    code_name: text("NVVM_ERROR_COMPILATION"),
    input: None,
    diagnostics: diagnostics(),
    log: text("log"),
    options: vec![text("-g")],
    library: library(),
    hint: None,
}.into())]
#[case(Error::WrongOutput {
    problem: text("p"),
    hint: text("h"),
    library: library(),
    diagnostics: diagnostics(),
})]
#[case(Error::Unresolved(Box::new(Unresolved {
    kind: text("PTX"),
    symbols: vec![UnresolvedSymbol {
        name: text("f"),
        used_by: vec![text("m")],
        hint: text("define it"),
    }],
    library: library(),
    diagnostics: Vec::new(),
})))]
#[case(Error::KernelsDropped {
    kernels: vec![text("k")],
    library: library(),
    diagnostics: Vec::new(),
})]
#[case(Error::Cancelled { reason: text("r") })]
#[case(Error::io("read", "/f", &std::io::Error::other("no")))]
#[case(Error::OutOfMemory { what: text("a stack"), reason: text("none") })]
#[case(Error::Forked { parent: 7 })]
#[case(CompilerDied {
    job: text("j"),
    signal: Some(11),
    code: None,
    stderr: text("ouch"),
}.into())]
#[case(Error::TimedOut { job: text("j"), after: std::time::Duration::from_millis(1500) })]
#[case(Error::MemoryCeiling { job: text("j"), limit: 1 << 30, text: text("bad_alloc") })]
#[case(Error::NoWorker { problem: text("p"), hint: text("h") })]
#[case(Error::FirstCallCycle { cycle: vec![text("a"), text("a")] })]
#[case(Error::FirstCallPanicked { kernel: text("k"), message: text("m") })]
#[case(Error::WarmUp { kernel: text("k"), failures: vec![(1, Error::Forked { parent: 7 })] })]
fn an_error_comes_back_as_it_was(#[case] error: Error) {
    let json = serde_json::to_string(&error).unwrap();
    assert_eq!(
        serde_json::from_str::<Error>(&json).unwrap(),
        error,
        "{json}"
    );
    // No key is there twice.
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(value["kind"].is_string(), "{json}");
    assert_eq!(
        json.matches("\"kind\":").count(),
        1 + usize::from(json.contains("failures"))
    );
}
