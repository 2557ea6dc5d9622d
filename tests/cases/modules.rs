//! Modules that libNVVM ends at, never ends with, misreads, or complains of in riddles.

use cuda_program::nvvm::{Options, Repair};
use cuda_program::{Arch, Error};
use rstest::rstest;

use crate::common::{NEWEST, TARGET, ending, store};
use crate::{BOTH, compile, fixture, messages, refusal};

const VERSION: &str = "!{i32 2, i32 0}";

#[rstest]
fn a_missing_version_is_added_and_another_one_is_named(#[values("12.0", NEWEST)] version: &str) {
    let options = Options::new(Arch::SM_80);
    let none: String = store("k", 1)
        .lines()
        .filter(|line| !line.contains("nvvmir.version") && !line.starts_with("!99"))
        .map(|line| format!("{line}\n"))
        .collect();
    let ptx = compile(version, &[&none], &options).unwrap();
    assert!(messages(ptx.diagnostics()).contains("nvvmir.version"));
    let said = refusal(version, &none, &options.clone().repair(Repair::Off));
    assert!(said.contains("nvvmir.version"), "{said}");
    let old = store("k", 1).replace(VERSION, "!{i32 1, i32 6}");
    let said = compile(version, &[&old], &options).unwrap_err().to_string();
    assert!(said.contains("1.6") && said.contains("2.0"), "{said}");
    let said = refusal(version, "; nothing\n", &options);
    assert!(said.contains("nothing to compile"), "{said}");
}

#[rstest]
#[case("!{i32 2, i32 0, i32 0, i32 0}", "0.0")]
#[case("!{i32 2, i32 0, i32 3, i32 3}", "3.3")]
fn a_debug_version_that_no_library_reads_is_named(#[case] node: &str, #[case] says: &str) {
    let module = store("k", 1).replace(VERSION, node);
    for arch in BOTH {
        match compile(NEWEST, &[&module], &Options::new(arch)) {
            // Without debug metadata there is nothing that it could be wrong about.
            Ok(ptx) => assert!(messages(ptx.diagnostics()).contains("nvvmir.version")),
            Err(error) => assert!(error.to_string().contains(says), "{error}"),
        }
    }
}

#[rstest]
fn a_missing_layout_or_triple_is_filled_in_or_refused_before_the_verifier_sees_it(
    #[values("datalayout", "triple")] what: &str,
    #[values("12.9", NEWEST)] version: &str,
) {
    let module: String = store("k", 1)
        .lines()
        .filter(|line| !line.contains(what))
        .map(|line| format!("{line}\n"))
        .collect();
    for arch in [Arch::SM_90, Arch::SM_100] {
        compile(version, &[&module], &Options::new(arch)).unwrap();
    }
    let off = Options::new(Arch::SM_100).repair(Repair::Off);
    let said = refusal(version, &module, &off);
    assert!(said.contains("layout") || said.contains("triple"), "{said}");
}

#[rstest]
fn a_malformed_layout_is_an_error_and_not_the_end_of_the_process(
    #[values("e-p:0:0:0", "e-p:64:64:64-zork")] layout: &str,
    #[values("12.0", "12.9", NEWEST)] version: &str,
) {
    let rest = &store("k", 1)[TARGET.find('\n').unwrap()..];
    let module = format!("target datalayout = \"{layout}\"{rest}");
    let said = refusal(version, &module, &Options::new(Arch::SM_80));
    assert!(
        said.starts_with("m0:1: ") && said.contains("layout"),
        "{said}"
    );
}

#[test]
fn an_intrinsic_that_no_compiler_survives_is_named_with_what_to_call_instead() {
    for arch in BOTH {
        let said = refusal(NEWEST, fixture("guards/intrinsic.ll"), &Options::new(arch));
        assert!(
            said.contains("llvm.powi") && said.contains("__nv_powi"),
            "{said}"
        );
    }
}

#[rstest]
#[case("!{}", "annotations")]
#[case("!{void (i32*)* @k, !\"kernel\"}", "\"kernel\"")]
#[case("!{!\"k\", !\"kernel\", i32 1}", "annotations")]
#[case(
    "!{void (i32*)* @k, !\"kernel\", i32 1, !\"maxntidx\"}",
    "\"maxntidx\""
)]
#[case("!{void (i32*)* @k, !\"kernel\", !\"1\"}", "\"kernel\"")]
fn an_annotation_of_another_shape_is_shown_with_its_line(#[case] node: &str, #[case] says: &str) {
    let module = store("k", 1).replace("!{void (i32*)* @k, !\"kernel\", i32 1}", node);
    for arch in BOTH {
        let said = refusal(NEWEST, &module, &Options::new(arch));
        assert!(said.starts_with("m0:10: ") && said.contains(says), "{said}");
    }
}

#[test]
fn a_version_of_another_shape_is_an_error() {
    for node in ["!{null, null}", "!{i32 2}", "!{}", "!{!\"2\", i32 0}"] {
        let module = store("k", 1).replace(VERSION, node);
        for arch in BOTH {
            let said = refusal(NEWEST, &module, &Options::new(arch));
            assert!(said.contains("nvvmir.version"), "{said}");
        }
    }
}

#[rstest]
#[case("cycle_base")]
#[case("cycle_inlined")]
#[case("cycle_scope")]
fn debug_metadata_that_leads_back_to_itself_is_refused_and_a_list_is_not(#[case] name: &str) {
    for arch in BOTH {
        let options = Options::new(arch).debug(true);
        let module = fixture(&format!("guards/{name}.ll"));
        let said = refusal(NEWEST, module, &options);
        assert!(said.contains("back to itself"), "{said}");
        compile(NEWEST, &[fixture("guards/debug_list.ll")], &options).unwrap();
    }
}

#[test]
fn two_modules_that_define_one_name_are_both_named() {
    let modules = [store("k", 1), store("k", 2)];
    for arch in BOTH {
        let error = compile(NEWEST, &modules, &Options::new(arch)).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("m1:3: it defines `k`, which m0 defines too"),
            "{said}"
        );
    }
}

#[rstest]
fn a_name_that_ptx_cannot_spell_is_respelt_and_found_by_the_old_one(
    #[values("a.b.c", "1abc", "WARP_SZ")] name: &str,
) {
    let module = store("k", 1).replace("@k", &format!("@\"{name}\""));
    for arch in BOTH {
        let ptx = compile(NEWEST, &[&module], &Options::new(arch)).unwrap();
        let kernel = ptx.kernel_for(name).unwrap();
        assert_ne!(kernel.name, name);
        // What the assembler refuses would fail here.
        let cubin: cuda_program::Cubin = cuda_program::Linker::new(&crate::toolkit(NEWEST), arch)
            .add(&ptx)
            .link()
            .unwrap();
        assert!(cubin.kernel(&kernel.name).is_some());
    }
    let off = Options::new(Arch::SM_75).repair(Repair::Off);
    assert!(refusal(NEWEST, &module, &off).contains(name));
}

fn returning() -> String {
    format!(
        "{TARGET}define i32 @k() {{\n  ret i32 1\n}}\n{}",
        ending(&[("i32 ()*", "k")])
    )
}

fn recursive() -> String {
    let body = store("k", 1).replace("define", "%T = type { %T, i32 }\ndefine");
    body.replace("  ret void", "  %a = alloca %T\n  ret void")
}

fn unknown() -> String {
    let declared = "declare i32 @llvm.nvvm.does.not.exist()\ndefine";
    let body = store("k", 1).replace("define", declared);
    let called = "  %v = call i32 @llvm.nvvm.does.not.exist()\n  store i32 %v,";
    body.replace("  store i32 1,", called)
}

#[rstest]
#[case(returning(), "returns a value")]
#[case(recursive(), "holds itself")]
#[case(unknown(), "llvm.nvvm.does.not.exist")]
fn what_the_compiler_lets_through_and_the_verifier_does_not_is_an_error_in_any_order(
    #[case] module: String,
    #[case] says: &str,
) {
    for arch in BOTH {
        let said = compile(NEWEST, &[&module], &Options::new(arch))
            .unwrap_err()
            .to_string();
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn assembly_that_means_nothing_is_no_success_once_it_is_finished() {
    let module = store("k", 1).replace(
        "  ret void",
        "  call void asm sideeffect \"wibble;\", \"\"()\n  ret void",
    );
    let program = cuda_program::nvvm::Program::new(&crate::toolkit(NEWEST)).unwrap();
    program.add_module("m", module).unwrap();
    let options = Options::new(Arch::SM_80);
    let error = program
        .compile::<cuda_program::Cubin>(&options)
        .unwrap_err();
    assert!(matches!(error, Error::Library(_)), "{error}");
    assert!(error.to_string().contains("wibble"), "{error}");
}
