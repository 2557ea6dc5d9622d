//! A sample of the trials of intrinsics agrees with the tables that are shipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::Command;

#[test]
fn a_sample_of_the_intrinsics_gets_the_answers_of_the_tables_from_every_compiler() {
    let check = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["intrinsics", "--check", "150"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&check.stdout);
    assert!(
        check.status.success() && said.contains("trying 150 intrinsics on 13 compilers"),
        "{said}\n{}",
        String::from_utf8_lossy(&check.stderr)
    );
}
