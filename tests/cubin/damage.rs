//! Bytes that are no cubin, or no longer.

use cuda_program::Cubin;
use insta::assert_snapshot;
use rstest::rstest;

use crate::random::Random;
use crate::{cubin, names, path};

fn refused(bytes: &[u8]) -> String {
    Cubin::from_bytes(bytes).unwrap_err().to_string()
}

#[rstest]
#[case::empty(b"", "it is empty, and no cubin")]
#[case::ptx(b"\n.version 8.0", "it is PTX, and no cubin")]
#[case::lto_ir(b"\xed\x43\x4e\x7f", "it is LTO IR, and no cubin")]
#[case::fatbin(b"\x50\xed\x55\xba", "it is a fatbin, which holds cubins and PTX")]
#[case::bitcode(b"BC\xc0\xde", "it is LLVM bitcode")]
#[case::nothing_known(b"hello", "no cubin begins like this")]
#[case::cut(b"\x7fELF\x02", "5 bytes are too few")]
fn other_bytes_are_refused_by_what_they_are(#[case] bytes: &[u8], #[case] problem: &str) {
    let refused = refused(bytes);
    assert!(refused.contains(problem), "{refused}");
}

#[test]
fn a_program_of_this_machine_is_refused() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    assert!(refused(&program).contains("it is an ELF file for machine "));
}

#[rstest]
#[case::machine(18, 62)]
#[case::class(4, 1)]
#[case::byte_order(5, 2)]
#[case::abi(8, 9)]
#[case::architecture(49, 91)]
fn another_header_is_refused(#[case] at: usize, #[case] value: u8) {
    let mut bytes = cubin("local-13.5-sm_90").as_bytes().to_vec();
    bytes[at] = value;
    assert!(Cubin::from_bytes(bytes).is_err());
}

#[test]
fn an_abi_that_is_not_known_is_named() {
    let mut bytes = cubin("local-13.5-sm_90").as_bytes().to_vec();
    bytes[8] = 9;
    assert_snapshot!(refused(&bytes), @"cubin: it is a cubin of ABI version 9, and 7 and 8 are known; give the bytes that ptxas, nvcc -cubin, NVRTC or nvJitLink made; PTX and LTO IR have types of their own");
}

#[rstest]
#[case("local-12.0-sm_75")]
#[case("shared-13.5-sm_100-r")]
fn every_cut_is_refused(#[case] name: &str) {
    let whole = std::fs::read(path(name)).unwrap();
    for length in 0..whole.len() {
        let cut = Cubin::from_bytes(&whole[..length]);
        assert!(cut.is_err(), "{length} of {} bytes", whole.len());
    }
}

/// What is read is not more than what is there, however the tables are bent.
#[test]
fn twenty_thousand_changed_cubins_are_read_or_refused() {
    let whole: Vec<_> = names()
        .iter()
        .map(|n| std::fs::read(path(n)).unwrap())
        .collect();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut taken = 0;
    for round in 0..20_000 {
        let mut bytes = whole[round % whole.len()].clone();
        for _ in 0..=random.below(16) {
            // Half of them in the header or in the tables at the end, which decide the most.
            let length = bytes.len();
            let at = match random.below(4) {
                0 => random.below(64),
                1 => length - 1 - random.below(length.min(2048)),
                _ => random.below(length),
            };
            bytes[at] = u8::try_from(random.below(256)).unwrap();
        }
        if let Ok(cubin) = Cubin::from_bytes(bytes) {
            taken += 1;
            let kernels = cubin
                .kernels()
                .iter()
                .map(|k| k.name.len() + k.parameters.len());
            let functions = cubin.functions().iter().map(|f| f.name.len());
            let undefined = cubin.undefined().iter().map(|s| s.name.len());
            let read: usize = kernels.chain(functions).chain(undefined).sum();
            assert!(read <= cubin.as_bytes().len());
        }
    }
    assert!((1_000..19_000).contains(&taken), "{taken}");
}

/// Symbols that all have the one long name there is.
#[test]
fn names_that_overlap_ask_for_no_more_than_the_file_holds() {
    let mut bytes = cubin("device-13.5-sm_90-rdc").as_bytes().to_vec();
    let u64_at = |bytes: &[u8], at: usize| {
        usize::try_from(u64::from_le_bytes(*bytes[at..].first_chunk().unwrap())).unwrap()
    };
    let headers = u64_at(&bytes, 40);
    let section = |bytes: &[u8], n: usize, field: usize| u64_at(bytes, headers + n * 64 + field);
    // The second section is the strings, the third the symbols.
    let (strings, length) = (section(&bytes, 2, 24), section(&bytes, 2, 32));
    let (symbols, size) = (section(&bytes, 3, 24), section(&bytes, 3, 32));
    bytes[strings + 1..strings + length - 1].fill(b'a');
    for symbol in (symbols + 24..symbols + size).step_by(24) {
        bytes[symbol..symbol + 4].copy_from_slice(&1_u32.to_le_bytes());
        bytes[symbol + 4] = 0x12;
    }
    assert!(
        refused(&bytes).contains("parts overlap"),
        "{}",
        refused(&bytes)
    );
}
