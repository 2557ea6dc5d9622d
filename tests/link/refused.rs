//! What is refused, before the library sees it or by the library.

use cuda_program::error::Stage;
use cuda_program::link::{InputKind, Options};
use cuda_program::{Arch, Cubin, Error, Linker, LtoIr, Ptx};
use rstest::rstest;

use crate::common::{NEWEST, toolkit};
use crate::raw;

const FUNCTION: &str = r#"extern "C" __device__ int f(int x) { return x + 1; }"#;

fn ptx(target: &str, body: &str) -> Ptx {
    let head = format!(".version 8.0\n.target {target}\n.address_size 64\n");
    Ptx::from_text(head + body).unwrap()
}

fn linker(arch: Arch) -> Linker {
    Linker::new(&toolkit(NEWEST), arch)
}

fn refused(linker: Linker) -> String {
    match linker.link::<Cubin>().unwrap_err() {
        Error::InvalidInput(e) => e.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn lto_ir_of_a_newer_architecture_is_refused_by_name() {
    let lto = raw::nvrtc_ltoir(&toolkit(NEWEST), FUNCTION, "sm_90");
    let error = refused(linker(Arch::SM_80).add_bytes("a.ltoir", InputKind::LtoIr, lto));
    insta::assert_snapshot!(error, @"a.ltoir: it is LTO IR for sm_90, and the link is for sm_80, which is older; compile it for compute_80, or link for sm_90");
}

#[rstest]
#[case("sm_90", Arch::SM_80)]
#[case("sm_90a", Arch::SM_100)]
#[case("sm_90a", Arch::SM_90)]
#[case("sm_100a", Arch::SM_100F)]
#[case("sm_100f", Arch::SM_120)]
fn ptx_for_another_architecture_is_refused_by_name(#[case] target: &str, #[case] arch: Arch) {
    let input = ptx(target, ".visible .entry k() { ret; }\n");
    let error = refused(linker(arch).add_named("k.ptx", input));
    assert!(
        error.starts_with(&format!("k.ptx: it is PTX for {target}")),
        "{error}"
    );
}

#[rstest]
#[case("12.0", "12.4")]
#[case("12.4", "12.9")]
#[case("12.9", "13.0")]
#[case("13.0", "13.5")]
fn lto_ir_newer_than_the_library_is_refused_with_both_versions(
    #[case] old: &str,
    #[case] new: &str,
) {
    let lto = raw::nvrtc_ltoir(&toolkit(new), FUNCTION, "sm_80");
    let input = LtoIr::from_bytes(lto).unwrap();
    let linker = Linker::new(&toolkit(old), Arch::SM_80).add_named("new.ltoir", input);
    let path = linker.library().unwrap().path.display().to_string();
    let error = refused(linker);
    let by = format!("new.ltoir: it was written by CUDA {new}");
    assert!(error.starts_with(&by), "{error}");
    assert!(
        error.contains(&format!("nvJitLink {old}")) && error.contains(&path),
        "{error}"
    );
}

#[rstest]
#[case("12.0")]
#[case("12.9")]
fn lto_ir_of_an_older_toolkit_links_with_a_newer_library(#[case] old: &str) {
    let source = r#"extern "C" __global__ void k(int *p) { *p = 1; }"#;
    let lto = raw::nvrtc_ltoir(&toolkit(old), source, "sm_80");
    let input = LtoIr::from_bytes(lto).unwrap().with_kernels(["k"]);
    linker(Arch::SM_80).add(input).link::<Cubin>().unwrap();
}

#[rstest]
fn a_name_that_two_inputs_define_is_refused(
    #[values(false, true)] first_is_cubin: bool,
    #[values(false, true)] second_is_cubin: bool,
) {
    let input = ptx(
        "sm_80",
        ".visible .func f() { ret; }\n.visible .entry k() { ret; }\n",
    );
    let other = ptx("sm_80", ".visible .func f() { ret; }\n");
    let mut linker = linker(Arch::SM_80);
    for (name, ptx, is_cubin) in [("a", input, first_is_cubin), ("b", other, second_is_cubin)] {
        linker = if is_cubin {
            let options = Options::new().relocatable(true);
            let alone = Linker::new(&toolkit(NEWEST), Arch::SM_80)
                .options(options)
                .add(ptx);
            linker.add_named(name, alone.link::<Cubin>().unwrap())
        } else {
            linker.add_named(name, ptx)
        };
    }
    let error = refused(linker);
    assert!(
        error.starts_with("b: it defines `f`, and so does a"),
        "{error}"
    );
}

#[test]
fn weak_and_static_functions_may_share_a_name() {
    for head in [".weak .func", ".func"] {
        let body = format!("{head} f() {{ ret; }}\n");
        let kernel = format!("{body}.visible .entry k() {{ call f; ret; }}\n");
        let other = format!("{body}.visible .entry l() {{ call f; ret; }}\n");
        let linker = linker(Arch::SM_80)
            .add(ptx("sm_80", &kernel))
            .add(ptx("sm_80", &other));
        let cubin: Cubin = linker.link().unwrap();
        assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k", "l"]);
    }
}

#[test]
fn a_name_that_two_inputs_of_lto_ir_define_is_an_error_of_the_library() {
    let lto = LtoIr::from_bytes(raw::nvrtc_ltoir(&toolkit(NEWEST), FUNCTION, "sm_80")).unwrap();
    let error = linker(Arch::SM_80)
        .add(&lto)
        .add(&lto)
        .link::<Cubin>()
        .unwrap_err();
    assert!(matches!(error, Error::Library(_)), "{error}");
}

#[rstest]
fn an_undefined_function_is_an_error_with_its_name_and_the_input(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let input = ptx(
        "sm_80",
        ".extern .func f();\n.visible .entry k() { call f; ret; }\n",
    );
    let error = Linker::new(&toolkit(version), Arch::SM_80)
        .add_named("k.ptx", input)
        .link::<Cubin>()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("add the input that defines `f`, which k.ptx uses"),
        "{error}"
    );
}

#[rstest]
fn a_failed_add_fails_the_link_with_its_reason(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let good = ptx("sm_80", ".visible .entry k() { ret; }\n");
    let bad = ptx("sm_80", ".visible .entry l() { bogus; }\n");
    let linker = Linker::new(&toolkit(version), Arch::SM_80)
        .add(&good)
        .add_named("bad.ptx", bad)
        .add(ptx("sm_80", ".visible .entry m() { ret; }\n"));
    for _ in 0..2 {
        let Error::Library(error) = linker.link::<Cubin>().unwrap_err() else {
            panic!("the library was to refuse it")
        };
        assert_eq!(
            (error.stage, error.input.as_deref()),
            (Stage::Add, Some("bad.ptx"))
        );
        assert!(error.log.contains("bogus"), "{error}");
    }
    Linker::new(&toolkit(version), Arch::SM_80)
        .add(good)
        .link::<Cubin>()
        .unwrap();
}

#[rstest]
fn a_failed_create_is_an_error_and_nothing_else(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    #[values("-bogus", "-O9")] flag: &str,
) {
    let linker = Linker::new(&toolkit(version), Arch::SM_80)
        .add(ptx("sm_80", ".visible .entry k() { ret; }\n"))
        .options(Options::new().extra(flag));
    let linked = linker.link::<Cubin>();
    if (version, flag) == ("12.0", "-O9") {
        // That library looks at the level when it optimises, which PTX is not.
        return assert!(linked.is_ok());
    }
    let Error::Library(error) = linked.unwrap_err() else {
        panic!("the library was to refuse it")
    };
    assert_eq!(error.stage, Stage::Create);
}

#[rstest]
#[case::nul(b".version 8.0\n.target sm_80\n.address_size 64\n\0.visible .entry k() { ret; }\n")]
#[case::in_a_comment(
    b".version 8.0\n.target sm_80\n.address_size 64\n// \0\n.visible .entry k() { ret; }"
)]
fn ptx_with_a_nul_byte_inside_is_refused(#[case] bytes: &[u8]) {
    let error = refused(linker(Arch::SM_80).add_bytes("k.ptx", InputKind::Ptx, bytes));
    assert!(error.starts_with("k.ptx:4: "), "{error}");
}

#[test]
fn one_nul_byte_at_the_end_of_ptx_does_no_harm() {
    let bytes = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\0";
    let linker = linker(Arch::SM_80).add_bytes("k.ptx", InputKind::Ptx, bytes);
    assert_eq!(
        raw::cubin_kernels(linker.link::<Cubin>().unwrap().as_bytes()),
        ["k"]
    );
}

#[test]
fn kernels_that_the_library_dropped_are_named() {
    // What libNVVM itself makes, without a pin.
    let foreign = LtoIr::from_bytes(include_bytes!("../../fixtures/link/unpinned.ltoir")).unwrap();
    let linker = linker(Arch::SM_80);
    let said = linker
        .clone()
        .add(foreign.clone().with_kernels(["k"]))
        .link::<Cubin>()
        .unwrap_err();
    assert!(
        matches!(&said, Error::KernelsDropped { kernels, .. } if kernels == &["k"]),
        "{said}"
    );
    let unsaid = linker.add(foreign).link::<Cubin>().unwrap_err();
    assert!(matches!(unsaid, Error::WrongOutput { .. }), "{unsaid}");
}

#[test]
fn names_reach_messages_as_they_are_and_none_with_a_nul_byte() {
    let bad = ptx("sm_80", ".visible .entry k() { bogus; }\n");
    for name in ["größe 漢字.ptx", "a'b\"c\n.ptx", "%s%n", ""] {
        let Error::Library(error) = linker(Arch::SM_80)
            .add_named(name, &bad)
            .link::<Cubin>()
            .unwrap_err()
        else {
            panic!("the library was to refuse it")
        };
        assert_eq!(error.input.as_deref(), Some(name));
    }
    let error = refused(linker(Arch::SM_80).add_named("a\0b", &bad));
    assert!(
        error.starts_with("a\\0b: its name holds a NUL byte"),
        "{error}"
    );
}

#[rstest]
#[case("-lto", "`lto`")]
#[case("-dlto", "`lto`")]
#[case("--no-cache", "`no_cache`")]
#[case("-lineinfo=true", "`line_info`")]
#[case("-ptx", "link to `Ptx`")]
#[case("-arch=sm_1", "Linker::new")]
#[case("-maxrregcount=3", "`max_registers`")]
#[case("-Xptxas=-v", "`ptxas`")]
#[case("-kernels-used=k", "`kernels_used`")]
#[case("lto", "begins with `-`")]
#[case("-a\0", "NUL byte")]
fn an_extra_flag_that_has_a_field_or_cannot_be_one_is_refused(
    #[case] flag: &str,
    #[case] hint: &str,
) {
    let options = Options::new().extra(flag);
    let error = linker(Arch::SM_80)
        .options(options)
        .link::<Cubin>()
        .unwrap_err();
    assert!(
        matches!(&error, Error::InvalidOptions { hint: h, .. } if h.contains(hint)),
        "{error}"
    );
}

#[test]
fn a_link_of_nothing_and_of_a_missing_file_are_errors() {
    let nothing = linker(Arch::SM_80).link::<Cubin>().unwrap_err();
    assert!(matches!(nothing, Error::InvalidOptions { .. }), "{nothing}");
    let file = linker(Arch::SM_80)
        .add_file("no/such/file.ptx")
        .link::<Cubin>()
        .unwrap_err();
    assert!(matches!(file, Error::Io { .. }), "{file}");
}
