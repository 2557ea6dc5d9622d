//! Architectures: what each library takes, and what is said of the others.

use cuda_program::arch::Suffix;
use cuda_program::{Arch, Cubin, Error, LtoIr, Ptx};
use rstest::rstest;

use crate::{Options, STORE, program};

/// The names with a letter, as they are seen to compile.
#[rstest]
#[case::of_12_0("12.0", &["sm_90a"])]
#[case::of_12_4("12.4", &["sm_90a"])]
#[case::of_12_9("12.9", &[
    "sm_90a", "sm_100a", "sm_100f", "sm_101a", "sm_101f", "sm_103a", "sm_103f", "sm_120a", "sm_120f",
    "sm_121a", "sm_121f",
])]
#[case::of_13_0("13.0", &[
    "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f", "sm_120a", "sm_120f",
    "sm_121a", "sm_121f",
])]
#[case::of_13_5("13.5", &[
    "sm_90a", "sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_107a", "sm_107f", "sm_110a", "sm_110f",
    "sm_120a", "sm_120f", "sm_121a", "sm_121f",
])]
fn a_letter_compiles_where_the_library_takes_it_and_else_the_error_lists_those_that_do(
    #[case] version: &str,
    #[case] takes: &[&str],
) {
    let program = program(version, STORE);
    let letters = Arch::KNOWN.iter().filter(|a| a.suffix() != Suffix::None);
    for &arch in letters {
        let options = Options::new(arch);
        let taken = takes.contains(&arch.sm().as_str());
        assert_eq!(program.supports(arch).unwrap(), taken, "{arch}");
        if taken {
            let ptx: Ptx = program.compile(&options).unwrap();
            assert_eq!(ptx.target(), arch);
            let cubin: Cubin = program.compile(&options).unwrap();
            assert_eq!(cubin.arch().number(), arch.number());
            let lto: LtoIr = program.compile(&options).unwrap();
            assert_eq!(lto.arch(), Some(arch));
            continue;
        }
        let error = program.compile::<Ptx>(&options).unwrap_err();
        assert!(matches!(error, Error::InvalidArch { .. }), "{error:?}");
        let said = error.to_string();
        let (_, nearest) = said.split_once("the nearest that it knows: ").unwrap();
        let (nearest, _) = nearest.split_once(';').unwrap();
        for known in nearest.split(", ") {
            let known: Arch = known.parse().unwrap();
            assert!(program.supports(known).unwrap(), "{known}: {said}");
        }
        let parts = said.split([' ', ',', '(', ')', ':', ';', '`']);
        let named = parts.filter(|part| *part == arch.sm()).count();
        assert_eq!(named, 1, "{said}");
    }
}

#[rstest]
#[case::too_new("12.0", Arch::SM_100, "sm_90")]
#[case::too_new_with_a_letter("12.4", Arch::SM_120F, "sm_90a")]
#[case::too_old("13.5", Arch::SM_70, "sm_75")]
#[case::renamed("13.0", Arch::SM_101A, "sm_110a")]
fn a_number_that_the_library_lacks_is_refused_with_those_that_it_has(
    #[case] version: &str,
    #[case] arch: Arch,
    #[case] has: &str,
) {
    let options = Options::new(arch);
    let program = program(version, STORE);
    let error = program.compile::<Cubin>(&options).unwrap_err();
    assert!(matches!(error, Error::InvalidArch { .. }), "{error:?}");
    assert!(error.to_string().contains(has), "{error}");
    assert!(!program.supports(arch).unwrap());
}

#[test]
fn a_source_that_fails_for_an_arch_with_a_letter_is_not_the_letters_fault() {
    let error = program("13.5", "int x = y;")
        .compile::<Ptx>(&Options::new(Arch::SM_90A))
        .unwrap_err();
    assert_eq!(error.raw_code(), Some(6), "{error:?}");
}
