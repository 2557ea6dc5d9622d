//! The reader, against one program as many LLVMs write it, against libdevice, and against damage.

#![allow(clippy::unwrap_used, clippy::panic)] // Clippy looks for `#[test]` alone.

use std::path::PathBuf;

use cuda_program::nvvm::reader::{
    Linkage, ModuleInfo, ModuleKind, NvvmIrVersion, Symbol, SymbolKind, look,
};
use rstest::rstest;

#[path = "reader/damage.rs"]
mod damage;
#[path = "../src/testing/mutate.rs"]
mod mutate;
#[path = "../src/testing/random.rs"]
mod random;

fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The libdevice of every installed toolkit; `cargo xtask toolkit` installs them.
fn libdevices() -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/toolkits");
    let inside = [
        "nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
        "nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc",
        "nvvm/libdevice/libdevice.10.bc",
    ];
    let toolkits = std::fs::read_dir(&root)
        .unwrap_or_else(|e| panic!("{}: {e}; install a toolkit there", root.display()));
    let found: Vec<_> = toolkits
        .filter_map(|entry| {
            let toolkit = entry.ok()?.path();
            let bytes = inside
                .iter()
                .find_map(|p| std::fs::read(toolkit.join(p)).ok())?;
            Some((toolkit.display().to_string(), bytes))
        })
        .collect();
    assert!(!found.is_empty(), "no libdevice under {}", root.display());
    found
}

/// One line a symbol: what a person would compare.
fn listed(info: &ModuleInfo) -> String {
    let line = |s: &Symbol| {
        let defined = if s.defined { "defined" } else { "declared" };
        let kernel = if s.kernel { " kernel" } else { "" };
        format!(
            "{} {defined} {:?} {:?}{kernel}",
            s.name_lossy(),
            s.linkage,
            s.kind
        )
    };
    let mut lines: Vec<_> = info.symbols.iter().map(line).collect();
    // Bitcode lists variables before functions and aliases last, text as they are written.
    lines.sort();
    lines.join("\n")
}

const FILES: [&str; 5] = [
    "bitcode/every.llvm7.bc",
    "bitcode/every.llvm14.bc",
    "bitcode/every.llvm16.bc",
    "bitcode/every.llvm19.bc",
    "bitcode/every.llvm22.bc",
];

#[rstest]
fn one_program_reads_the_same_in_every_form(
    #[values(
        "bitcode/every.llvm7.bc",
        "bitcode/every.llvm14.bc",
        "bitcode/every.llvm16.bc",
        "bitcode/every.llvm19.bc",
        "bitcode/every.llvm22.bc",
        "text/every.typed.ll",
        "text/every.opaque.ll"
    )]
    file: &str,
) {
    let info = look(&fixture(file)).unwrap();
    insta::allow_duplicates! {
        insta::assert_snapshot!(listed(&info), @r"
        __nv_sinf declared External Function
        __nv_unused declared External Function
        by_convention defined External Function kernel
        by_note defined External Function kernel
        helper defined Internal Function
        hidden_kernel defined Internal Function kernel
        no_kernel defined External Function
        other_name defined External Alias
        outside declared External Variable
        tile defined Internal Variable
        weak_one defined Weak Function
        ");
    }
    assert_eq!(info.triple.as_deref(), Some("nvptx64-nvidia-cuda"));
    let layout = info.data_layout.unwrap();
    assert!(
        layout.starts_with("e-p:64:64:64-i1:8:8") && layout.ends_with("n16:32:64"),
        "{layout}"
    );
    assert_eq!(
        info.nvvmir_version,
        Some(NvvmIrVersion::new((2, 0), Some((3, 1))))
    );
    assert_eq!(info.nvvmir_version_malformed, None);
    assert!(info.certain);
}

#[rstest]
#[case("bitcode/every.llvm7.bc", Some((7, 0, 0)), None)]
#[case("bitcode/every.llvm14.bc", Some((14, 0, 6)), None)]
#[case("bitcode/every.llvm16.bc", Some((16, 0, 6)), Some(("opaque pointers", None)))]
#[case("bitcode/every.llvm19.bc", Some((19, 1, 7)), Some(("opaque pointers", None)))]
#[case("bitcode/every.llvm22.bc", Some((22, 1, 0)), Some(("opaque pointers", None)))]
#[case("text/every.typed.ll", None, None)]
#[case("text/every.opaque.ll", None, Some(("the type `ptr`", Some(9))))]
fn the_writer_and_its_dialect_are_told(
    #[case] file: &str,
    #[case] version: Option<(u32, u32, u32)>,
    #[case] modern: Option<(&str, Option<u32>)>,
) {
    let info = look(&fixture(file)).unwrap();
    assert_eq!(info.producer.as_ref().and_then(|p| p.version), version);
    let epoch = info.producer.and_then(|p| p.epoch);
    assert_eq!(epoch, version.map(|_| 0));
    assert_eq!(
        info.modern.as_ref().map(|m| (m.what.as_str(), m.line)),
        modern
    );
    assert_eq!(info.opaque_pointers, modern.is_some());
}

#[test]
fn text_says_the_line_of_each_symbol() {
    let info = look(&fixture("text/every.typed.ll")).unwrap();
    let lines: Vec<_> = info
        .symbols
        .iter()
        .map(|s| format!("{} {}", s.line.unwrap(), s.name_lossy()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    6 tile
    7 outside
    9 other_name
    11 __nv_sinf
    13 __nv_unused
    15 by_note
    26 by_convention
    31 hidden_kernel
    35 no_kernel
    39 helper
    44 weak_one
    ");
}

#[test]
fn what_others_can_use_and_what_must_come_from_them() {
    let info = look(&fixture("bitcode/every.llvm14.bc")).unwrap();
    let visible: Vec<_> = info.visible_definitions().map(Symbol::name_lossy).collect();
    assert_eq!(
        visible,
        [
            "by_note",
            "by_convention",
            "no_kernel",
            "weak_one",
            "other_name"
        ]
    );
    let undefined: Vec<_> = info.undefined().map(Symbol::name_lossy).collect();
    assert_eq!(undefined, ["outside", "__nv_sinf", "__nv_unused"]);
    let kernels: Vec<_> = info.kernels().map(Symbol::name_lossy).collect();
    assert_eq!(kernels, ["by_note", "by_convention", "hidden_kernel"]);
}

#[test]
fn libdevice_of_every_toolkit_is_read() {
    for (toolkit, bytes) in libdevices() {
        let info = look(&bytes).unwrap();
        assert_eq!(info.kind, ModuleKind::Bitcode);
        let producer = info.producer.as_ref().unwrap();
        assert_eq!(producer.version, Some((3, 8, 0)), "{toolkit}");
        assert_eq!(info.triple.as_deref(), Some("nvptx64-nvidia-gpulibs"));
        assert_eq!(
            info.data_layout.as_deref(),
            Some("e-i64:64-v16:16-v32:32-n16:32:64")
        );
        assert_eq!(info.nvvmir_version, Some(NvvmIrVersion::new((2, 0), None)));
        assert_eq!(info.modern, None, "{toolkit}");
        assert!(info.certain && !info.opaque_pointers);

        let ours = |s: &&Symbol| s.kind == SymbolKind::Function && s.name.starts_with(b"__nv_");
        let defined: Vec<_> = info
            .symbols
            .iter()
            .filter(ours)
            .filter(|s| s.defined)
            .collect();
        assert!(
            (348..=360).contains(&defined.len()),
            "{toolkit}: {}",
            defined.len()
        );
        for name in ["__nv_sinf", "__nv_pow", "__nv_popcll", "__nv_brev"] {
            assert!(
                defined.iter().any(|s| s.name == name.as_bytes()),
                "{toolkit}: {name}"
            );
        }
        assert!(info.symbols.iter().all(|s| !s.name.is_empty()));
        assert!(
            info.undefined()
                .all(|s| { s.name.starts_with(b"llvm.") || s.name == b"__nvvm_reflect" })
        );
        assert_eq!(info.kernels().count(), 0);
        let table = info
            .symbols
            .iter()
            .find(|s| s.name == b"__cudart_i2opi_f")
            .unwrap();
        assert_eq!(
            (table.kind, table.linkage),
            (SymbolKind::Variable, Linkage::Internal)
        );
    }
}

#[rstest]
#[case("attribute", "the attribute `mustprogress`")]
#[case("typed_attribute", "the attribute `byval` with a type or range")]
#[case("freeze", "the instruction `freeze`")]
#[case("atomicrmw", "the instruction `atomicrmw` as later LLVMs write it")]
#[case("cmpxchg", "the instruction `cmpxchg` as later LLVMs write it")]
#[case("inline_assembly", "inline assembly as later LLVMs write it")]
#[case("bfloat", "the type `bfloat`")]
fn what_llvm_7_cannot_read_in_bitcode_is_named(#[case] name: &str, #[case] what: &str) {
    let info = look(&fixture(&format!("bitcode/{name}.llvm14.bc"))).unwrap();
    let modern = info.modern.unwrap();
    assert_eq!((modern.what.as_str(), modern.line), (what, None));
}

#[rstest]
#[case(b"", "the module is empty; give NVVM IR as text or as bitcode")]
#[case(
    b".version 8.0\n",
    "this is PTX, no NVVM IR; it is compiled already: give it to the linker"
)]
#[case(
    b"version https://git-lfs.github.com/spec/v1\n",
    "this is a Git LFS pointer, no NVVM IR; fetch the file itself with `git lfs pull`"
)]
#[case(
    b"\0\x01\x02\x03",
    "this is binary data of an unknown kind, no NVVM IR; give NVVM IR as text or as bitcode"
)]
fn what_is_no_module_is_named_with_a_way_out(#[case] bytes: &[u8], #[case] said: &str) {
    assert_eq!(look(bytes).unwrap_err().to_string(), said);
}

#[test]
fn an_error_takes_the_name_of_its_input_along() {
    let error = look(b"BC\xc0\xde").unwrap_err().for_input("helpers.bc");
    insta::assert_snapshot!(error, @"helpers.bc: bitcode ends in the middle of the identification block; write the file again, or fetch a whole copy of it");
}

#[test]
fn what_was_found_serialises_with_names_as_text() {
    let info = look(b"declare ptx_kernel void @\"k\\FF\"()").unwrap();
    let symbols = serde_json::to_value(&info.symbols).unwrap();
    insta::assert_snapshot!(symbols, @r#"[{"annotated":false,"defined":false,"kernel":true,"kind":"function","line":1,"linkage":"external","name":"k�","odd_parameter":null,"parameter_bytes":null,"returns_void":null}]"#);
}
