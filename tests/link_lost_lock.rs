//! A library that lost its own lock. In a process of its own, since the library never gives it back and
//! plain calls into it would hang from then on.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod common;
#[path = "common/inputs.rs"]
mod inputs;

use common::{toolkit, within};
use cuda_program::error::Stage;
use cuda_program::{Arch, Cubin, Error, Linker};
use inputs::{cubin, ptx};
use rstest::rstest;

/// A link of a cubin that passes the look before the call, and that the library refuses.
fn refused_by_the_library(version: &str) -> Linker {
    let (target, cubin) = if version.starts_with("13") {
        // Without the note that has the letter, it is taken for one that fits.
        let mut bytes = cubin(version, Arch::SM_90A).as_bytes().to_vec();
        let notes: Vec<usize> = (0..bytes.len() - 9)
            .filter(|&at| bytes[at..].starts_with(b"-arch sm_90a"))
            .collect();
        for at in notes {
            bytes[at + b"-arch sm_90".len()] = b' ';
        }
        (Arch::SM_90, Cubin::from_bytes(bytes).unwrap())
    } else {
        let mut bytes = cubin(version, Arch::SM_80).as_bytes().to_vec();
        // `e_version` of the header.
        bytes[0x14..0x18].fill(0xff);
        (Arch::SM_80, Cubin::from_bytes(bytes).unwrap())
    };
    Linker::new(&toolkit(version), target).add_named("odd.cubin", cubin)
}

/// The library then keeps a lock of its own for ever.
#[rstest]
fn a_cubin_that_the_library_refuses_hinders_no_link_on_another_thread(
    #[values("12.0", "12.4", "12.9", "13.5")] version: &str,
) {
    let good = cubin(version, Arch::SM_80);
    within(120, || {
        let refused = refused_by_the_library(version);
        let Error::Library(error) = refused.link::<Cubin>().unwrap_err() else {
            panic!("the library was to refuse it")
        };
        assert_eq!(error.stage, Stage::Add, "{error}");
        let next = Linker::new(&toolkit(version), Arch::SM_80);
        let ptx = next.clone().add(ptx(".visible .entry k() { ret; }\n"));
        let both = next.add(&good);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (refused, ptx, both) = (&refused, &ptx, &both);
                scope.spawn(move || {
                    for _ in 0..5 {
                        match thread % 4 {
                            0 => drop(refused.link::<Cubin>().unwrap_err()),
                            1 => assert!(both.link::<Cubin>().unwrap().kernel("k").is_some()),
                            _ => assert!(ptx.link::<Cubin>().unwrap().kernel("k").is_some()),
                        }
                    }
                });
            }
        });
        let canary = std::thread::spawn(move || ptx.link::<Cubin>().unwrap());
        assert!(canary.join().unwrap().kernel("k").is_some());
    });
}
