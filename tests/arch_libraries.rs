//! Names of architectures, held against what the real libraries take.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "common/raw.rs"]
mod raw;

use std::collections::BTreeSet;
use std::ffi::CString;

use common::{NEWEST, store, toolkit};
use cuda_program::arch::Suffix;
use cuda_program::{Arch, Cubin, Linker, Ptx, nvrtc, nvvm};
use rstest::rstest;

const VERSIONS: [&str; 5] = ["12.0", "12.4", "12.9", "13.0", "13.5"];

/// Every name with a number in reach that this libNVVM takes, which is asked without a look before.
fn taken_by_libnvvm(version: &str) -> Vec<String> {
    const INVALID_OPTION: u32 = 7;
    let toolkit = toolkit(version);
    let names = (50..140).flat_map(|n| ["", "a", "f"].map(|letter| format!("compute_{n}{letter}")));
    names
        .filter(|name| {
            let flag = CString::new(format!("-arch={name}")).unwrap();
            raw::nvvm_compile(&toolkit, b"no module", &flag).0 != INVALID_OPTION
        })
        .collect()
}

fn known(name: &str) -> Arch {
    let arch: Arch = name.parse().unwrap();
    assert!(Arch::KNOWN.contains(&arch), "{name} is not known");
    arch
}

#[test]
fn the_known_names_are_those_that_some_libnvvm_takes() {
    let taken: BTreeSet<Arch> = VERSIONS
        .iter()
        .flat_map(|version| taken_by_libnvvm(version))
        .map(|name| known(&name))
        .collect();
    assert!(taken.iter().eq(Arch::KNOWN), "{taken:?}");
}

#[rstest]
fn every_number_that_nvrtc_lists_is_known(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let program = nvrtc::Program::new(&toolkit(version), "k.cu", "").unwrap();
    let listed = program.supported_archs().unwrap();
    assert!(listed.contains(&90), "{listed:?}");
    for number in listed {
        known(&format!("compute_{number}"));
    }
}

#[rstest]
fn what_libnvvm_takes_becomes_ptx_and_a_cubin_that_say_so(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let toolkit = toolkit(version);
    let program = nvvm::Program::new(&toolkit).unwrap();
    program.add_module("k.ll", store("k", 7)).unwrap();
    let archs = nvvm::Capabilities::of(&toolkit)
        .unwrap()
        .supported_archs()
        .unwrap();
    assert!(archs.len() >= 15, "{archs:?}");
    for arch in archs {
        let ptx: Ptx = program.compile(&nvvm::Options::new(arch)).unwrap();
        assert_eq!(ptx.target(), arch);
        let cubin: Cubin = Linker::new(&toolkit, arch).add(ptx).link().unwrap();
        assert_eq!(cubin.arch(), arch);
    }
}

// A linker takes PTX with a letter for devices spelt with one; a device has all the letters of its
// number.
#[test]
fn ptx_runs_just_where_the_newest_linker_finishes_it() {
    let toolkit = toolkit(NEWEST);
    let number = |n: u16| move |arch: &&Arch| arch.number() >= n;
    let devices = Arch::KNOWN.iter().filter(number(90));
    let devices: Vec<&Arch> = devices
        .filter(|device| device.suffix() == Suffix::ArchSpecific)
        // Renamed since: the linker has no such device.
        .filter(|device| device.number() != Arch::SM_101.number())
        .collect();
    for target in Arch::KNOWN.iter().filter(number(75)) {
        // The last PTX that has the old name.
        let version = match target.number() {
            101 => "8.8",
            _ => "9.5",
        };
        let ptx = format!(
            ".version {version}\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n"
        );
        for device in &devices {
            let finished = raw::finish_ptx(&toolkit, &ptx, &device.sm());
            assert_eq!(
                finished.is_ok(),
                target.ptx_runs_on(**device),
                "{target} on {device}: {:?}",
                finished.err()
            );
        }
    }
}
