//! Files that are wrapped, padded, cut short or damaged.

use cuda_program::nvvm::reader::{InputKind, kind_of, look};
use rstest::rstest;

use super::{FILES, fixture, libdevices};
use crate::mutate::damage;
use crate::random::Random;

fn wrapped(bitcode: &[u8], padding: usize) -> Vec<u8> {
    let fields = [0x0b17_c0de, 0, 20, u32::try_from(bitcode.len()).unwrap(), 7];
    let mut file: Vec<u8> = fields.iter().flat_map(|f: &u32| f.to_le_bytes()).collect();
    file.extend(bitcode);
    file.extend(vec![0; padding]);
    file
}

#[test]
fn wrapped_bitcode_reads_as_what_is_inside() {
    let plain = fixture("bitcode/every.llvm19.bc");
    let file = wrapped(&plain, 12);
    assert_eq!(kind_of(&file), InputKind::WrappedBitcode);
    assert_eq!(look(&file), look(&plain));
}

#[test]
fn a_wrapper_that_promises_more_than_it_holds_is_refused() {
    let file = wrapped(&fixture("bitcode/every.llvm19.bc"), 0);
    for cut in 0..file.len() {
        assert!(look(&file[..cut]).is_err(), "{cut} bytes");
    }
    let error = look(&file[..file.len() - 4]).unwrap_err();
    insta::assert_snapshot!(error, @"bitcode ends in the middle of what its wrapper says it holds; write the file again, or fetch a whole copy of it");
}

#[test]
fn a_cut_file_says_what_it_ends_in() {
    let whole = fixture("bitcode/every.llvm14.bc");
    let mut said = Vec::new();
    for cut in (0..whole.len()).step_by(4) {
        let error = look(&whole[..cut]).unwrap_err();
        if said.last() != Some(&error.problem) {
            said.push(error.problem);
        }
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    the module is empty
    bitcode ends in the middle of the identification block
    bitcode ends in the middle of the header of a block
    bitcode ends in the middle of the identification block
    bitcode ends in the middle of the header of a block
    bitcode ends in the middle of the module block
    bitcode ends in the middle of the string table
    bitcode ends in the middle of the header of a block
    bitcode ends in the middle of the linker's symbol table
    bitcode ends in the middle of the string table
    bitcode ends in the middle of the header of a block
    bitcode ends in the middle of the string table
    ");
}

#[test]
fn every_cut_of_a_small_file_is_refused() {
    for file in FILES {
        let whole = fixture(file);
        for cut in 0..whole.len() {
            assert!(
                look(&whole[..cut]).is_err(),
                "{file}: {cut} of {} bytes",
                whole.len()
            );
        }
    }
}

#[test]
fn cuts_of_libdevice_are_refused() {
    let (_, whole) = libdevices().swap_remove(0);
    let step = whole.len() / 500;
    for cut in (0..whole.len())
        .step_by(step)
        .chain(whole.len() - 8..whole.len())
    {
        assert!(
            look(&whole[..cut]).is_err(),
            "{cut} of {} bytes",
            whole.len()
        );
    }
}

#[test]
fn a_file_padded_with_zeros_is_whole() {
    let mut file = fixture("bitcode/every.llvm14.bc");
    let info = look(&file);
    file.extend([0; 4]);
    assert_eq!(look(&file), info);
    file.extend([1, 0, 0, 0]);
    assert!(look(&file).is_err());
}

#[test]
fn two_modules_in_one_file_are_refused() {
    let mut file = fixture("bitcode/every.llvm14.bc");
    file.extend_from_within(4..);
    let error = look(&file).unwrap_err();
    insta::assert_snapshot!(error, @"the bitcode holds 2 modules; give each module for itself");
}

/// A panic, an endless walk or a vast allocation would end this test.
#[rstest]
fn damage_never_panics(
    #[values(
        "bitcode/every.llvm7.bc",
        "bitcode/every.llvm14.bc",
        "bitcode/every.llvm16.bc",
        "bitcode/every.llvm22.bc",
        "text/every.typed.ll",
        "guards/intrinsic.llvm22.bc",
        "guards/cycle_base.llvm14.bc",
        "guards/cycle_scope.llvm14.bc",
        "guards/assembly.llvm14.bc",
        "guards/parameters.llvm14.bc",
        "guards/parameters.ll",
        "guards/assembly.ll",
        "guards/debug_list.ll"
    )]
    file: &str,
) {
    let whole = fixture(file);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut refused = 0;
    for _ in 0..4000 {
        let bytes = damage(&whole, &mut random);
        match look(&bytes) {
            Ok(info) => assert!(info.symbols.len() <= bytes.len()),
            Err(error) => {
                assert!(!error.problem.is_empty() && !error.hint.is_empty());
                refused += 1;
            }
        }
    }
    // Text is refused only where its first bytes no longer look like text.
    assert_eq!(refused > 2000, file.ends_with(".bc"), "{refused} refused");
}

#[test]
fn random_bytes_behind_the_magic_never_panic() {
    let mut random = Random(7);
    for _ in 0..2000 {
        let mut bytes = b"BC\xc0\xde".to_vec();
        bytes.extend((0..random.below(100) * 4).map(|_| u8::try_from(random.below(256)).unwrap()));
        assert!(look(&bytes).is_err());
    }
}

/// One bit of one number, in files that are whole but for it; each ended libNVVM's process.
#[rstest]
#[case::a_type(
    "bitcode/every.llvm22.bc",
    219,
    5,
    7,
    "it has a type of another processor"
)]
#[case::blocks(
    "bitcode/every.llvm7.bc",
    1394,
    0x41,
    0x49,
    "a body has not as many blocks"
)]
#[case::a_value("bitcode/every.llvm7.bc", 1217, 3, 1, "a value is of another type")]
#[case::a_list(
    "guards/debug_list.llvm14.bc",
    1362,
    0x58,
    0xd8,
    "a list names what is no node"
)]
#[case::a_flag(
    "guards/debug_list.llvm14.bc",
    1336,
    0xc,
    0xd,
    "debug metadata refers to what"
)]
#[case::an_argument(
    "guards/debug_list.llvm14.bc",
    1808,
    0xff,
    0xfd,
    "a call is given metadata"
)]
#[case::an_intrinsic(
    "guards/debug_list.llvm14.bc",
    2096,
    0x6d,
    0x4d,
    "a function takes metadata"
)]
#[case::a_unit(
    "guards/debug_list.llvm14.bc",
    1313,
    0,
    1,
    "debug metadata refers to what"
)]
fn a_number_that_leads_nowhere_is_refused(
    #[case] file: &str,
    #[case] at: usize,
    #[case] sound: u8,
    #[case] damaged: u8,
    #[case] says: &str,
) {
    let mut bytes = fixture(file);
    assert_eq!(bytes[at], sound, "the file was written anew");
    assert!(look(&bytes).is_ok());
    bytes[at] = damaged;
    let error = look(&bytes).unwrap_err();
    assert!(error.problem.contains(says), "{error}");
}
