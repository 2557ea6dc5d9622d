//! LTO IR: what its header says.

use std::path::Path;

use cuda_program::{Arch, Diagnostic, Error, LtoIr, Severity};
use insta::assert_snapshot;
use rstest::rstest;

fn bytes(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ltoir");
    std::fs::read(folder.join(format!("{name}.ltoir"))).unwrap()
}

// `f` leaves no trace in a header, so `sm_100f` reads as `sm_100`.
#[rstest]
#[case("typed-12.0-sm_75", Arch::SM_75, 7, false)]
#[case("typed-12.9-sm_100f", Arch::SM_100, 20, true)]
#[case("typed-13.5-sm_90a", Arch::SM_90A, 7, false)]
#[case("typed-13.5-sm_103a", Arch::SM_103A, 23, true)]
#[case("debug-13.5-sm_120", Arch::SM_120, 23, true)]
fn the_header_says_architecture_and_dialect(
    #[case] name: &str,
    #[case] arch: Arch,
    #[case] llvm: u32,
    #[case] modern: bool,
) {
    let lto = LtoIr::from_bytes(bytes(name)).unwrap();
    assert_eq!(lto.arch(), Some(arch));
    assert_eq!(lto.llvm_version(), Some(llvm));
    assert_eq!(lto.is_modern(), modern);
    assert_eq!(lto.as_bytes(), bytes(name));
    assert!(lto.kernels().is_empty() && !lto.knows_kernels());
}

#[test]
fn other_bytes_are_refused() {
    assert_snapshot!(LtoIr::from_bytes([]).unwrap_err(), @"LTO IR: no LTO IR begins like this; give the bytes that `-dlto` of NVRTC or nvcc, or `-gen-lto` of libNVVM, made");
    assert_snapshot!(LtoIr::from_bytes(*b"BC\xc0\xde").unwrap_err(), @"LTO IR: no LTO IR begins like this; give the bytes that `-dlto` of NVRTC or nvcc, or `-gen-lto` of libNVVM, made");
    assert_snapshot!(LtoIr::from_bytes([0xed, 0x43, 0x4e, 0x7f, 1]).unwrap_err(), @"LTO IR: 5 bytes are too few for LTO IR; give the bytes that `-dlto` of NVRTC or nvcc, or `-gen-lto` of libNVVM, made");
}

#[rstest]
#[case::another_number(0x1a, 0x01)]
#[case::no_such_architecture(0x1a, 0x94)]
#[case::a_list_beyond_the_end(0x0d, 0xff)]
fn a_header_that_names_no_architecture_says_none(#[case] at: usize, #[case] byte: u8) {
    let mut bytes = bytes("typed-13.5-sm_90a");
    bytes[at] = byte;
    assert_eq!(LtoIr::from_bytes(bytes).unwrap().arch(), None);
}

#[test]
fn every_cut_and_every_changed_header_byte_is_taken_or_refused() {
    let whole = bytes("typed-13.5-sm_90a");
    let mut taken = 0;
    for length in 0..whole.len() {
        taken += usize::from(LtoIr::from_bytes(&whole[..length]).is_ok());
    }
    assert_eq!(taken, whole.len() - 0x1c);
    for at in 4..0x40 {
        for byte in 0..=u8::MAX {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            let lto = LtoIr::from_bytes(bytes).unwrap();
            assert!(lto.arch().is_none_or(|arch| arch.number() >= 50));
        }
    }
}

#[test]
fn serde_keeps_all_of_it_and_writes_base64_for_people() {
    let lto = LtoIr::from_bytes(bytes("typed-13.5-sm_90a"))
        .unwrap()
        .with_kernels(["sines", "empty"])
        .with_diagnostics(vec![Diagnostic::new(Severity::Note, "made")]);
    let json = serde_json::to_value(&lto).unwrap();
    assert!(json["bytes"].as_str().unwrap().starts_with("7UNOfw"));
    assert_eq!(serde_json::from_value::<LtoIr>(json.clone()).unwrap(), lto);
    assert_eq!(lto.kernels(), ["sines", "empty"]);

    let mut other = json.clone();
    other["arch"] = "sm_100f".into();
    assert_snapshot!(serde_json::from_value::<LtoIr>(other).unwrap_err(), @"LTO IR: it is said to be for `sm_100f`, and its header says `sm_90a`; compile it again for the architecture that is meant");
    let mut broken = json;
    broken["bytes"] = "7UNOfx".into();
    assert!(serde_json::from_value::<LtoIr>(broken).is_err());
}

#[test]
fn serde_keeps_the_family_that_a_header_cannot() {
    let lto = LtoIr::from_bytes(bytes("typed-12.9-sm_100f")).unwrap();
    let mut json = serde_json::to_value(&lto).unwrap();
    json["arch"] = "sm_100f".into();
    let told: LtoIr = serde_json::from_value(json).unwrap();
    assert_eq!(told.arch(), Some(Arch::SM_100F));
}

#[test]
fn debug_output_does_not_hold_the_bytes() {
    let lto = LtoIr::from_bytes(bytes("typed-13.5-sm_90a")).unwrap();
    assert!(format!("{lto:?}").len() < 300);
}

#[test]
fn a_refusal_is_an_invalid_input() {
    assert!(matches!(LtoIr::from_bytes([]), Err(Error::InvalidInput(_))));
}
