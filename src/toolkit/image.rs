//! A look at the head of a library file, so that a refusal says what the file is.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::environment::Platform;
use crate::bytes::{u16_at, u32_at, u64_at};

/// How much of a file is looked at, in bytes: its headers lie well within.
const HEAD: u64 = 4096;

/// Why the file cannot be a library of this platform, if that can be told from its head.
///
/// The loader's own messages for these cases name neither the machine nor the cause, and a cut
/// file that it does accept kills the process at the first touch of a missing page.
pub(super) fn check(path: &Path, platform: Platform) -> Result<(), String> {
    // A pipe would block for ever, so nothing but a regular file is opened.
    let metadata = std::fs::metadata(path).map_err(|e| {
        if std::fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink()) {
            format!("it is a link that leads nowhere ({e})")
        } else if e.kind() == std::io::ErrorKind::NotFound {
            "no such file".to_owned()
        } else {
            format!("it cannot be read: {e}")
        }
    })?;
    if metadata.is_dir() {
        return Err("it is a folder".to_owned());
    }
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD).read_to_end(&mut head))
        .map_err(|e| format!("it cannot be read: {e}"))?;
    check_head(&head, metadata.len(), platform)
}

/// The same for the first bytes of a file and its length.
fn check_head(head: &[u8], length: u64, platform: Platform) -> Result<(), String> {
    let wanted = match platform {
        Platform::LinuxX86_64 => "a 64-bit x86-64 ELF library",
        Platform::LinuxAarch64 => "a 64-bit Arm ELF library",
        Platform::WindowsX86_64 => "a 64-bit x86-64 Windows library",
    };
    let is = what(head);
    let fits = matches!(
        (platform, is),
        (Platform::LinuxX86_64, Is::Elf64(62))
            | (Platform::LinuxAarch64, Is::Elf64(183))
            | (Platform::WindowsX86_64, Is::Pe(0x8664))
    );
    if !fits {
        return Err(format!("not {wanted}: it is {}", is.name()));
    }
    match platform {
        Platform::WindowsX86_64 => Ok(()),
        _ => check_elf(head, length),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Empty,
    Elf64(u16),
    Elf32(u16),
    Pe(u16),
    Archive,
    Text,
    Unknown,
}

impl Is {
    fn name(self) -> String {
        match self {
            Is::Empty => "empty".into(),
            Is::Elf64(62) => "a 64-bit x86-64 ELF library".into(),
            Is::Elf64(183) => "a 64-bit Arm ELF library".into(),
            Is::Elf64(machine) => format!("a 64-bit ELF file for machine {machine}"),
            Is::Elf32(3) => "a 32-bit x86 ELF library".into(),
            Is::Elf32(40) => "a 32-bit Arm ELF library".into(),
            Is::Elf32(machine) => format!("a 32-bit ELF file for machine {machine}"),
            Is::Pe(0x8664) => "a 64-bit x86-64 Windows library".into(),
            Is::Pe(0x014c) => "a 32-bit Windows library".into(),
            Is::Pe(0xaa64) => "a 64-bit Arm Windows library".into(),
            Is::Pe(machine) => format!("a Windows file for machine {machine:#x}"),
            Is::Archive => "a static archive".into(),
            Is::Text => "text".into(),
            Is::Unknown => "of no known kind".into(),
        }
    }
}

fn what(head: &[u8]) -> Is {
    if head.is_empty() {
        Is::Empty
    } else if head.starts_with(b"\x7fELF") {
        match (head.get(4), u16_at(head, 18)) {
            (Some(2), Some(machine)) => Is::Elf64(machine),
            (Some(1), Some(machine)) => Is::Elf32(machine),
            _ => Is::Unknown,
        }
    } else if head.starts_with(b"MZ") {
        let machine = u32_at(head, 0x3c)
            .and_then(|at| usize::try_from(at).ok())
            .filter(|&at| head.get(at..).is_some_and(|pe| pe.starts_with(b"PE\0\0")))
            .and_then(|at| u16_at(head, at.checked_add(4)?));
        machine.map_or(Is::Unknown, Is::Pe)
    } else if head.starts_with(b"!<arch>\n") {
        Is::Archive
    } else if head
        .iter()
        .all(|&b| b >= 0x20 || matches!(b, b'\t' | b'\n' | b'\r'))
    {
        Is::Text
    } else {
        Is::Unknown
    }
}

/// Whether a 64-bit ELF file is a whole shared library.
fn check_elf(head: &[u8], length: u64) -> Result<(), String> {
    const SHARED: u16 = 3;
    const LOADED: u32 = 1;
    if u16_at(head, 16) != Some(SHARED) {
        return Err("it is an ELF file, but no shared library".to_owned());
    }
    let cut = || format!("it is cut short, with {length} bytes; install it again");
    let (Some(table), Some(size), Some(count)) =
        (u64_at(head, 32), u16_at(head, 54), u16_at(head, 56))
    else {
        return Err(cut());
    };
    for index in 0..u64::from(count) {
        let at = table.saturating_add(index.saturating_mul(u64::from(size)));
        if at.saturating_add(u64::from(size)) > length {
            return Err(cut());
        }
        // A table beyond the head that was read is unusual, and left to the loader.
        let Some(entry) = usize::try_from(at).ok().and_then(|at| head.get(at..)) else {
            break;
        };
        let (Some(kind), Some(offset), Some(bytes)) =
            (u32_at(entry, 0), u64_at(entry, 8), u64_at(entry, 32))
        else {
            break;
        };
        if kind == LOADED && offset.saturating_add(bytes) > length {
            return Err(cut());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn elf(class: u8, machine: u16, kind: u16, loaded: u64) -> Vec<u8> {
        let mut head = vec![0; 120];
        head[..4].copy_from_slice(b"\x7fELF");
        head[4] = class;
        head[16..18].copy_from_slice(&kind.to_le_bytes());
        head[18..20].copy_from_slice(&machine.to_le_bytes());
        head[32..40].copy_from_slice(&64u64.to_le_bytes());
        head[54..56].copy_from_slice(&56u16.to_le_bytes());
        head[56..58].copy_from_slice(&1u16.to_le_bytes());
        head[64..68].copy_from_slice(&1u32.to_le_bytes());
        head[96..104].copy_from_slice(&loaded.to_le_bytes());
        head
    }

    fn pe(machine: u16) -> Vec<u8> {
        let mut head = vec![0; 0x90];
        head[..2].copy_from_slice(b"MZ");
        head[0x3c] = 0x80;
        head[0x80..0x84].copy_from_slice(b"PE\0\0");
        head[0x84..0x86].copy_from_slice(&machine.to_le_bytes());
        head
    }

    #[rstest]
    #[case(Platform::LinuxX86_64, elf(2, 62, 3, 120))]
    #[case(Platform::LinuxAarch64, elf(2, 183, 3, 120))]
    #[case(Platform::WindowsX86_64, pe(0x8664))]
    fn a_library_of_the_platform_passes(#[case] platform: Platform, #[case] head: Vec<u8>) {
        assert_eq!(check_head(&head, head.len() as u64, platform), Ok(()));
    }

    #[rstest]
    #[case(elf(1, 3, 3, 120), "a 32-bit x86 ELF library")]
    #[case(elf(2, 183, 3, 120), "a 64-bit Arm ELF library")]
    #[case(elf(2, 62, 2, 120), "no shared library")]
    #[case(elf(2, 62, 3, 121), "cut short, with 120 bytes")]
    #[case(elf(2, 62, 3, 120)[..60].to_vec(), "cut short, with 60 bytes")]
    #[case(elf(2, 62, 3, 120)[..10].to_vec(), "of no known kind")]
    #[case(pe(0x8664), "a 64-bit x86-64 Windows library")]
    #[case(b"INPUT(libnvvm.so.4)\n".to_vec(), "it is text")]
    #[case(b"!<arch>\nfoo".to_vec(), "a static archive")]
    #[case(b"MZ\xff\xff".to_vec(), "of no known kind")]
    #[case(vec![], "it is empty")]
    fn any_other_file_is_refused_with_what_it_is(#[case] head: Vec<u8>, #[case] says: &str) {
        let problem = check_head(&head, head.len() as u64, Platform::LinuxX86_64).unwrap_err();
        assert!(problem.contains(says), "{problem}");
    }

    #[test]
    fn every_cut_of_a_library_is_refused() {
        let whole = elf(2, 62, 3, 120);
        for length in 0..whole.len() {
            let cut = &whole[..length];
            assert!(
                check_head(cut, length as u64, Platform::LinuxX86_64).is_err(),
                "{length}"
            );
        }
    }

    #[test]
    fn no_head_makes_the_check_panic() {
        let whole = elf(2, 62, 3, 120);
        for index in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = whole.clone();
                changed[index] = value;
                let verdict = check_head(&changed, 120, Platform::LinuxX86_64);
                assert!(verdict.is_ok() || verdict.is_err_and(|e| !e.is_empty()));
            }
        }
    }
}
