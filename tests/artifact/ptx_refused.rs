//! Texts that are no PTX, and what is said of them.

use cuda_program::{Error, Ptx};
use insta::assert_snapshot;
use rstest::rstest;

use crate::random::Random;

const HEADER: &str = ".version 8.7\n.target sm_90\n.address_size 64\n";

fn refusal(text: impl Into<String>) -> String {
    Ptx::from_text(text).unwrap_err().to_string()
}

fn refused(body: &str) -> String {
    refusal(format!("{HEADER}{body}"))
}

#[test]
fn a_wrong_header_is_named() {
    assert_snapshot!(refusal(""), @"PTX:1: `.version`, which begins PTX, is expected, and the text ends; give the text that libNVVM, NVRTC, nvcc or nvJitLink made as PTX");
    assert_snapshot!(refusal("// only a comment\n"), @"PTX:2: `.version`, which begins PTX, is expected, and the text ends; give the text that libNVVM, NVRTC, nvcc or nvJitLink made as PTX");
    assert_snapshot!(refusal("target triple = \"nvptx64-nvidia-cuda\""), @"PTX:1: `.version`, which begins PTX, is expected, and `target` is there; give the text that libNVVM, NVRTC, nvcc or nvJitLink made as PTX");
    assert_snapshot!(refusal("\u{7f}ELF\u{2}\u{1}"), @r#"PTX:1: `.version`, which begins PTX, is expected, and `\u{7f}` is there; give the text that libNVVM, NVRTC, nvcc or nvJitLink made as PTX"#);
    assert_snapshot!(refusal(".version 9\n.target sm_90"), @"PTX:1: `9` is no version such as `8.0`; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refusal(".version 8.7\n.address_size 64"), @"PTX:2: `.target`, which follows `.version`, is expected, and `.address_size` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refusal(".version 8.7\n.target sm_91"), @"PTX:2: `.target` names `sm_91`: no such architecture exists; the nearest known are `sm_90` and `sm_100`; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refusal(".version 8.7\n.target compute_90"), @"PTX:2: `.target` takes the name `sm_90`, not `compute_90`; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refusal(".version 8.7\n.target sm_90,"), @"PTX:2: an option of `.target` is expected, and the text ends; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refusal(".version 8.7\n.target sm_90\n.address_size 48"), @"PTX:3: an address has 32 or 64 bits, not `48`; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".version 8.7"), @"PTX:4: `.version` stands at the beginning, once; mend the PTX, or have its compiler make it again");
}

#[test]
fn a_name_that_ptx_forbids_is_named_whole() {
    assert_snapshot!(refused(".visible .entry a.b.c(\n.param .u64 x) {ret;}"), @"PTX:4: `a.b.c` is no name that PTX allows; rename it in the source: letters, digits, `_` and `$`, and no digit first");
    assert_snapshot!(refused(".visible .entry 1abc() {ret;}"), @"PTX:4: `1abc` is no name that PTX allows; rename it in the source: letters, digits, `_` and `$`, and no digit first");
    assert_snapshot!(refused(".func (.param .b32 r) f.1 () {ret;}"), @"PTX:4: `f.1` is no name that PTX allows; rename it in the source: letters, digits, `_` and `$`, and no digit first");
    assert_snapshot!(refused(".visible .entry grün() {ret;}"), @"PTX:4: PTX allows ASCII alone outside comments and strings; give PTX as a compiler wrote it");
}

#[test]
fn a_text_that_is_cut_off_says_where_it_was_open() {
    assert_snapshot!(refused("\n.entry k() {\n ret;\n"), @"PTX:5: the `{` here is never closed; the text may be cut off; make it again");
    assert_snapshot!(refused(".entry k("), @"PTX:4: `.param` is expected, and the text ends; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k()"), @"PTX:4: the body of `k` is expected, and the text ends; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry"), @"PTX:4: the name of a kernel is expected, and the text ends; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".visible"), @"PTX:4: a directive is expected, and the text ends; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".global .b8 x[4] = {1, 2"), @"PTX:4: the `{` here is never closed; the text may be cut off; make it again");
    assert_snapshot!(refused(".global .b8 x[4]"), @"PTX:4: the `;` of a variable is expected, and the text ends; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused("/* a"), @"PTX:4: a comment begins here and never ends; give PTX as a compiler wrote it");
    assert_snapshot!(refused("\n.file 1 \"a"), @"PTX:5: a string begins here and never ends; give PTX as a compiler wrote it");
    assert_snapshot!(refused(".func (.param .b32 r"), @"PTX:4: the `(` here is never closed; the text may be cut off; make it again");
}

#[test]
fn a_wrong_signature_is_named() {
    assert_snapshot!(refused(".entry k(.param .pred x) {}"), @"PTX:4: `.pred` is no type of a kernel parameter; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.reg .b32 x) {}"), @"PTX:4: `.param` is expected, and `.reg` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .b32 x, ) {}"), @"PTX:4: `.param` is expected, and `)` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .b32 x y) {}"), @"PTX:4: `,` or `)` is expected, and `y` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param x) {}"), @"PTX:4: the type of a parameter is expected, and `x` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .b32) {}"), @"PTX:4: the name of a parameter is expected, and `)` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .b8 x[]) {}"), @"PTX:4: the size of an array is expected, and `]` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .b8 x[0]) {}"), @"PTX:4: `0` is no number of bytes or elements; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .b8 x[4*8]) {}"), @"PTX:4: `]` is expected, and `*` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .align 3 .b8 x[4]) {}"), @"PTX:4: an alignment is a power of two, not 3; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .b64 x[18446744073709551615]) {}"), @"PTX:4: the parameter `x` is larger than memory; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k(.param .b64 x[99999999999999999999]) {}"), @"PTX:4: `99999999999999999999` is no number of bytes or elements; mend the PTX, or have its compiler make it again");
}

#[test]
fn a_statement_that_is_none_is_named() {
    assert_snapshot!(refused("\n\nret;"), @"PTX:6: a directive is expected, and `ret` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused("}"), @"PTX:4: a directive is expected, and `}` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".visible .weak .entry k {}"), @"PTX:4: `.entry`, `.func` or a variable is expected, and `.weak` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".entry k()\n.visible .entry l() {}"), @"PTX:5: the body of `k` is expected, and `.visible` is there; mend the PTX, or have its compiler make it again");
    assert_snapshot!(refused(".section {"), @"PTX:4: the `{` here is never closed; the text may be cut off; make it again");
    assert_snapshot!(refused(".section 4 {}"), @"PTX:4: the `{` of a section is expected, and `4` is there; mend the PTX, or have its compiler make it again");
}

#[test]
fn a_nul_byte_is_refused_wherever_it_stands() {
    assert_snapshot!(refused(".entry k\0 {}"), @"PTX:4: there is a NUL byte here, inside the text; give PTX as a compiler wrote it");
    assert_snapshot!(refused("// a\n// b\0\n"), @"PTX:5: there is a NUL byte here, inside the text; give PTX as a compiler wrote it");
    assert_snapshot!(refused("/* a\n\n\0 */"), @"PTX:6: there is a NUL byte here, inside the text; give PTX as a compiler wrote it");
    assert_snapshot!(refused(".file 1 \"a\0b\""), @"PTX:4: a string begins here that holds a NUL byte; give PTX as a compiler wrote it");
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let mut bytes = format!("{HEADER}// ").into_bytes();
    bytes.push(0xff);
    assert_snapshot!(Ptx::from_bytes(bytes).unwrap_err(), @"PTX:4: there is a byte here that is no UTF-8, and so no PTX; give PTX as text; a cubin or LTO IR has a type of its own");
}

#[rstest]
fn a_message_does_not_repeat_a_text_of_any_length(
    #[values("x", ".x", "5", ".entry 1", ".entry k(.param .x")] start: &str,
) {
    let said = refused(&format!("{start}{}", "a".repeat(100_000)));
    assert!(said.len() < 400, "{} bytes", said.len());
}

#[test]
fn twenty_thousand_mutations_are_parsed_or_refused() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ptx");
    let mut originals: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "ptx"))
        .collect();
    originals.sort();
    let originals: Vec<Vec<u8>> = originals
        .iter()
        .map(|p| std::fs::read(p).unwrap())
        .collect();
    assert!(originals.len() >= 14);

    let marks = b".,;(){}[]\"/*\\\n\0#%$_09aZ \xc3\xff";
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut parsed, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut bytes = originals[round % originals.len()].clone();
        for _ in 0..=random.below(8) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] = marks[random.below(marks.len())],
                1 => bytes.insert(at, marks[random.below(marks.len())]),
                2 => bytes.truncate(at.max(1)),
                3 => drop(bytes.drain(at..(at + random.below(40)).min(bytes.len() - 1).max(at))),
                _ => {
                    let from = random.below(bytes.len());
                    let piece = bytes[from..(from + random.below(60)).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        match Ptx::from_bytes(bytes) {
            Ok(_) => parsed += 1,
            Err(Error::InvalidInput(e)) if e.line.is_some() => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    // Both happen, so that neither path goes untried.
    assert!(parsed > 2_000 && refused > 2_000, "{parsed} and {refused}");
}
