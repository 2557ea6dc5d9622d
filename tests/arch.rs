//! Names of GPU architectures: which are taken, which are refused, and what they say of devices.

#![allow(clippy::unwrap_used, reason = "a failed helper is a failed test")]

use cuda_program::Arch;
use cuda_program::arch::Suffix;
use insta::assert_snapshot;
use rstest::rstest;

fn arch(name: &str) -> Arch {
    name.parse().unwrap()
}

fn refusal(name: &str) -> String {
    name.parse::<Arch>().unwrap_err().to_string()
}

#[test]
fn every_known_name_reads_back_in_both_spellings() {
    for known in Arch::KNOWN {
        assert_eq!(arch(&known.sm()), *known);
        assert_eq!(arch(&known.compute()), *known);
        assert_eq!(Arch::try_from(known.sm().as_str()).unwrap(), *known);
    }
}

#[test]
fn known_names_are_in_order_and_distinct() {
    assert!(Arch::KNOWN.is_sorted_by(|a, b| a < b));
    assert_eq!(Arch::KNOWN.len(), 37);
}

#[rstest]
#[case("sm_75", 75, Suffix::None, 7, 5)]
#[case("compute_90a", 90, Suffix::ArchSpecific, 9, 0)]
#[case("sm_103f", 103, Suffix::FamilySpecific, 10, 3)]
#[case("sm_121", 121, Suffix::None, 12, 1)]
#[case("sm_130", 130, Suffix::None, 13, 0)]
#[case("sm_130f", 130, Suffix::FamilySpecific, 13, 0)]
#[case("compute_999a", 999, Suffix::ArchSpecific, 99, 9)]
fn a_name_is_taken_apart(
    #[case] name: &str,
    #[case] number: u16,
    #[case] suffix: Suffix,
    #[case] major: u16,
    #[case] minor: u16,
) {
    let arch = arch(name);
    assert_eq!(
        (arch.number(), arch.suffix(), arch.major(), arch.minor()),
        (number, suffix, major, minor)
    );
}

#[rstest]
fn other_spellings_are_refused(
    #[values(
        "",
        "sm_",
        "compute_",
        "90",
        "9.0",
        "sm90",
        "SM_90",
        "sm_90A",
        "Compute_90",
        " sm_90",
        "sm_90 ",
        "sm_ 90",
        "sm_090",
        "sm_0",
        "sm_9",
        "sm_9000",
        "sm_90b",
        "sm_90aa",
        "sm_90af",
        "sm_a",
        "sm_-90",
        "sm_+90",
        "sm_90\0",
        "lto_90",
        "sm_sm_90",
        "sm_\u{669}\u{660}",
        "compute_sm_90",
        "sm_1",
        "sm_20",
        "sm_49",
        "sm_51",
        "sm_91",
        "sm_99",
        "sm_102",
        "sm_111",
        "sm_75a",
        "sm_89a",
        "sm_90f",
        "sm_91a",
        "compute_75f"
    )]
    name: &str,
) {
    let error = name.parse::<Arch>().unwrap_err();
    assert!(
        matches!(&error, cuda_program::Error::InvalidArch { text, .. } if text == name),
        "{error}"
    );
}

#[test]
fn a_refusal_names_what_may_have_been_meant() {
    assert_snapshot!(refusal("sm_91"), @"`sm_91` cannot be the architecture: no such architecture exists; the nearest known are `sm_90` and `sm_100`");
    assert_snapshot!(refusal("sm_91a"), @"`sm_91a` cannot be the architecture: no such architecture exists; the nearest known are `sm_90a` and `sm_100a`");
    assert_snapshot!(refusal("sm_1"), @"`sm_1` cannot be the architecture: the oldest known is `sm_50`, and it names an older one");
    assert_snapshot!(refusal("compute_89a"), @"`compute_89a` cannot be the architecture: the letter `a` exists from `sm_90` on; the nearest known are `sm_89` and `sm_90a`");
    assert_snapshot!(refusal("sm_90f"), @"`sm_90f` cannot be the architecture: the letter `f` exists from `sm_100` on; the nearest known are `sm_90` and `sm_100f`");
    assert_snapshot!(refusal("SM_90A"), @"`SM_90A` cannot be the architecture: a name is `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`; write `sm_90a` if that is meant");
    assert_snapshot!(refusal("9.0"), @"`9.0` cannot be the architecture: a name is `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`; write `sm_90` if that is meant");
    assert_snapshot!(refusal("sm_0100f"), @"`sm_0100f` cannot be the architecture: a name is `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`; write `sm_100f` if that is meant");
    assert_snapshot!(refusal("hopper"), @"`hopper` cannot be the architecture: a name is `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`; the known names run from `sm_50` to `sm_121f`");
    assert_snapshot!(Arch::from_capability(9, 1).unwrap_err(), @"`9.1` cannot be the architecture: no such architecture exists; the nearest known are `sm_90` and `sm_100`");
    assert_snapshot!(Arch::from_capability(-1, 0).unwrap_err(), @"`-1.0` cannot be the architecture: a compute capability is a pair such as 9.0, with a minor from 0 to 9; the known names run from `sm_50` to `sm_121f`");
}

#[rstest]
#[case(7, 5, "sm_75")]
#[case(9, 0, "sm_90")]
#[case(12, 1, "sm_121")]
#[case(13, 0, "sm_130")]
fn a_compute_capability_becomes_a_portable_name(
    #[case] major: i32,
    #[case] minor: i32,
    #[case] name: &str,
) {
    assert_eq!(Arch::from_capability(major, minor).unwrap().sm(), name);
}

#[rstest]
fn an_impossible_compute_capability_is_refused(
    #[values((0, 0), (9, 10), (8, 60), (-9, 0), (9, -1), (100, 0), (i32::MAX, i32::MIN), (10, 2))]
    capability: (i32, i32),
) {
    assert!(Arch::from_capability(capability.0, capability.1).is_err());
}

#[test]
fn order_is_by_number_then_suffix() {
    let mut names = [
        "sm_120", "sm_90a", "sm_100f", "sm_75", "sm_100a", "sm_90", "sm_100",
    ];
    names.sort_by_key(|name| arch(name));
    assert_eq!(
        names,
        [
            "sm_75", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_120"
        ]
    );
}

// Held against ptxas 12.9 (up to sm_103, sm_120, sm_121) and nvJitLink 13.5 (sm_107, sm_110), which
// were asked to finish PTX of each left-hand name for every device on the right.
#[rstest]
#[case("sm_90", &[90, 100, 101, 103, 107, 110, 120, 121])]
#[case("sm_101", &[101, 103, 107, 110, 120, 121])]
#[case("sm_107", &[107, 110, 120, 121])]
#[case("sm_90a", &[90])]
#[case("sm_100a", &[100])]
#[case("sm_101a", &[101, 110])]
#[case("sm_107a", &[107])]
#[case("sm_110a", &[110])]
#[case("sm_100f", &[100, 103, 107])]
#[case("sm_101f", &[101, 110])]
#[case("sm_103f", &[103, 107])]
#[case("sm_107f", &[107])]
#[case("sm_110f", &[110])]
#[case("sm_120f", &[120, 121])]
#[case("sm_121f", &[121])]
fn ptx_runs_on_just_these_devices(#[case] name: &str, #[case] devices: &[u16]) {
    let runs: Vec<u16> = Arch::KNOWN
        .iter()
        .filter(|device| device.suffix() == Suffix::None && arch(name).ptx_runs_on(**device))
        .map(|device| device.number())
        .collect();
    assert_eq!(runs, devices);
}

#[test]
fn the_suffix_of_a_device_plays_no_part() {
    for target in Arch::KNOWN {
        for device in Arch::KNOWN {
            let plain = Arch::from_capability(device.major().into(), device.minor().into());
            assert_eq!(
                target.ptx_runs_on(*device),
                target.ptx_runs_on(plain.unwrap())
            );
        }
    }
}

#[test]
fn serde_writes_the_name_and_reads_either_spelling() {
    assert_eq!(serde_json::to_string(&Arch::SM_90A).unwrap(), r#""sm_90a""#);
    let read = |json: &str| serde_json::from_str::<Arch>(json);
    assert_eq!(read(r#""compute_100f""#).unwrap(), Arch::SM_100F);
    assert_eq!(read(r#""sm_\u0039\u0030""#).unwrap(), Arch::SM_90);
    assert_snapshot!(read(r#""sm_91""#).unwrap_err(), @"`sm_91` cannot be the architecture: no such architecture exists; the nearest known are `sm_90` and `sm_100`");
    assert!(read("90").is_err());
}

#[test]
fn display_honours_a_width() {
    assert_eq!(format!("[{:>8}]", Arch::SM_90A), "[  sm_90a]");
}
