//! Modules that are whole but for one number, which end the process of the plain library.
#![cfg(unix)]

use std::ffi::CStr;
use std::os::unix::process::ExitStatusExt;

use cuda_program::Arch;
use cuda_program::nvvm::Options;
use rstest::rstest;

use crate::common::{NEWEST, toolkit};
use crate::process::{again, inside};
use crate::{fixture, raw, refusal};

#[rstest]
#[case::blocks("bitcode/every.llvm7.bc", 1394, 0x49, c"-arch=compute_75")]
#[case::a_value("bitcode/every.llvm7.bc", 1217, 1, c"-arch=compute_75")]
#[case::a_type("bitcode/every.llvm22.bc", 219, 7, c"-arch=compute_100")]
#[case::a_list("guards/debug_list.llvm14.bc", 1362, 0xd8, c"-arch=compute_100")]
#[case::a_flag("guards/debug_list.llvm14.bc", 1336, 0xd, c"-arch=compute_100")]
#[case::an_argument("guards/debug_list.llvm14.bc", 1808, 0xfd, c"-arch=compute_100")]
#[case::a_unit("guards/debug_list.llvm14.bc", 1313, 1, c"-arch=compute_100")]
fn damage_that_ends_the_plain_library_is_refused(
    #[case] file: &str,
    #[case] at: usize,
    #[case] damaged: u8,
    #[case] flag: &CStr,
) {
    let mut module = fixture(file);
    module[at] = damaged;
    if inside() {
        let (code, log) = raw::nvvm_compile(&toolkit(NEWEST), &module, flag);
        panic!("the library survived it with {code}: {log}");
    }
    let library = again::<&str>(&[]).output().unwrap();
    let said = String::from_utf8_lossy(&library.stderr);
    assert!(
        library.status.signal().is_some(),
        "{}: {said}",
        library.status
    );
    let arch = if flag == c"-arch=compute_75" {
        Arch::SM_75
    } else {
        Arch::SM_100
    };
    let said = refusal(NEWEST, &module, &Options::new(arch));
    assert!(said.contains("bitcode is damaged"), "{said}");
}
