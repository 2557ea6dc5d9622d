//! Fat binaries, host objects and static libraries, as the runtime's own library is one.

use cuda_program::link::{InputKind, Options};
use cuda_program::{Arch, Cubin, Linker, LtoIr, Toolkit, nvrtc};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use rstest::rstest;

use crate::common::toolkit;

/// A kernel that launches another, for which the device runtime must be linked in.
const NESTED: &str = r#"extern "C" __global__ void child(int *p) { *p = 7; }
extern "C" __global__ void parent(int *p) { child<<<1, 1>>>(p); }"#;

/// `libcudadevrt.a` of a toolkit; the packages of 12.0 and 12.4 have none.
fn library(version: &str) -> (std::path::PathBuf, Vec<u8>) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toolkits");
    let folder = match version {
        "12.9" => "12.9/nvidia/cuda_runtime/lib".to_owned(),
        newer => format!("{newer}/nvidia/cu13/lib"),
    };
    let path = root.join(folder).join("libcudadevrt.a");
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes)
}

fn object(library: &[u8]) -> Vec<u8> {
    let archive = ArchiveFile::parse(library).unwrap();
    let member = archive.members().next().unwrap().unwrap();
    member.data(library).unwrap().to_vec()
}

fn fatbin(library: &[u8]) -> Vec<u8> {
    let object = object(library);
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*object).unwrap();
    let section = file.section_by_name("__nv_relfatbin").unwrap();
    section.data().unwrap().to_vec()
}

fn nested(toolkit: &Toolkit, arch: Arch) -> (Cubin, LtoIr) {
    let program = nvrtc::Program::new(toolkit, "nested.cu", NESTED).unwrap();
    let mut options = nvrtc::Options::new(arch);
    options.code.relocatable = true;
    let lto = program.compile::<LtoIr>(&options).unwrap();
    (
        program.compile(&options).unwrap(),
        lto.with_kernels(["child", "parent"]),
    )
}

fn names(cubin: &Cubin) -> Vec<&str> {
    let mut names: Vec<&str> = cubin.kernels().iter().map(|k| k.name.as_str()).collect();
    names.sort_unstable();
    // The device runtime has kernels of its own.
    names.retain(|name| !name.starts_with("__nv"));
    names
}

#[rstest]
fn a_library_an_object_and_a_fat_binary_complete_a_link(
    #[values("12.9", "13.0", "13.5")] version: &str,
    #[values(Arch::SM_80, Arch::SM_90, Arch::SM_100)] arch: Arch,
    #[values(InputKind::Library, InputKind::Object, InputKind::Fatbin)] kind: InputKind,
) {
    let toolkit = toolkit(version);
    let (path, library) = library(version);
    let (cubin, lto) = nested(&toolkit, arch);
    assert!(!cubin.undefined().is_empty());
    let bytes = match kind {
        InputKind::Object => object(&library),
        InputKind::Fatbin => fatbin(&library),
        _ => library,
    };
    let by_bytes = |linker: Linker| linker.add_bytes("cudadevrt", kind, &bytes);
    let alone = Linker::new(&toolkit, arch);
    for linker in [
        by_bytes(alone.clone().add(&cubin)),
        by_bytes(alone.clone().add(&lto)),
    ] {
        let whole: Cubin = linker.link().unwrap();
        assert_eq!(names(&whole), ["child", "parent"]);
        assert!(whole.undefined().is_empty());
    }
    if kind == InputKind::Library {
        let whole: Cubin = alone.add(cubin).add_file(path).link().unwrap();
        assert_eq!(names(&whole), ["child", "parent"]);
    }
}

/// A fat binary around one cubin, as the tools write it when nothing is compressed.
fn around(cubin: &Cubin) -> Vec<u8> {
    let size = cubin.as_bytes().len().next_multiple_of(8);
    let mut body = Vec::new();
    body.extend(2_u16.to_le_bytes());
    body.extend(0x101_u16.to_le_bytes());
    body.extend(64_u32.to_le_bytes());
    body.extend(u64::try_from(size).unwrap().to_le_bytes());
    body.extend([0; 8]);
    body.extend(0x0001_0007_u32.to_le_bytes());
    body.extend(u32::from(cubin.arch().number()).to_le_bytes());
    body.extend([0; 8]);
    body.extend(0x11_u64.to_le_bytes());
    body.extend([0; 16]);
    body.extend(cubin.as_bytes());
    body.resize(64 + size, 0);
    let mut all = 0xba55_ed50_u32.to_le_bytes().to_vec();
    all.extend([1, 0, 16, 0]);
    all.extend(u64::try_from(body.len()).unwrap().to_le_bytes());
    all.extend(body);
    all
}

#[rstest]
fn every_library_takes_a_fat_binary(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let toolkit = toolkit(version);
    let source = r#"extern "C" __global__ void k(int *p) { *p = 1; }"#;
    let program = nvrtc::Program::new(&toolkit, "k.cu", source).unwrap();
    let mut options = nvrtc::Options::new(Arch::SM_80);
    options.code.relocatable = true;
    let bytes = around(&program.compile(&options).unwrap());
    let linker =
        |arch| Linker::new(&toolkit, arch).add_bytes("k.fatbin", InputKind::Fatbin, &bytes);
    assert_eq!(names(&linker(Arch::SM_86).link().unwrap()), ["k"]);
    let error = linker(Arch::SM_90).link::<Cubin>().unwrap_err().to_string();
    assert!(
        error.starts_with(
            "k.fatbin: it holds device code for sm_80 alone, and the link is for sm_90"
        ),
        "{error}"
    );
}

/// The library would report success, and leave it out.
#[rstest]
fn a_fat_binary_of_finished_code_is_refused(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let toolkit = toolkit(version);
    let source = r#"extern "C" __global__ void k(int *p) { *p = 1; }"#;
    let program = nvrtc::Program::new(&toolkit, "k.cu", source).unwrap();
    let bytes = around(&program.compile(&nvrtc::Options::new(Arch::SM_80)).unwrap());
    let error = Linker::new(&toolkit, Arch::SM_80)
        .add_bytes("k.fatbin", InputKind::Fatbin, &bytes)
        .link::<Cubin>()
        .unwrap_err();
    insta::allow_duplicates! {
        insta::assert_snapshot!(error, @"k.fatbin: its device code is finished, and cannot be linked with others; compile it with relocatable device code (-rdc=true of nvcc)");
    }
}

#[rstest]
#[case(InputKind::Library)]
#[case(InputKind::Object)]
#[case(InputKind::Fatbin)]
fn what_is_cut_off_is_refused_by_name(#[case] kind: InputKind) {
    let (_, library) = library("13.5");
    let bytes = match kind {
        InputKind::Object => object(&library),
        InputKind::Fatbin => fatbin(&library),
        _ => library,
    };
    for length in [20, 2000, bytes.len() / 2] {
        let linker = Linker::new(&toolkit("13.5"), Arch::SM_90);
        let linker = linker.add_bytes("cut", kind, &bytes[..length]);
        let error = linker.link::<Cubin>().unwrap_err().to_string();
        assert!(
            error.starts_with("cut: it") && error.contains("cut off or damaged"),
            "{length}: {error}"
        );
    }
}

#[test]
fn an_object_without_device_code_is_refused() {
    let host = std::fs::read("/proc/self/exe").unwrap();
    let linker = Linker::new(&toolkit("13.5"), Arch::SM_90);
    let error = linker
        .add_bytes("host.o", InputKind::Object, &host)
        .options(Options::new())
        .link::<Cubin>()
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("host.o: there is no device code in it"),
        "{error}"
    );
}
