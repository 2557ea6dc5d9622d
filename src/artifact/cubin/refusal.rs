//! What bytes are that are no cubin.

/// The size of the header of a 64-bit ELF file.
const HEADER: usize = 64;
/// Where an ELF file says how wide its addresses are, one byte, and which machine it is for, two.
const CLASS_AT: usize = 4;
const CLASS_64: u8 = 2;
const MACHINE_AT: usize = 18;
/// The machine of NVIDIA's GPUs.
const CUDA: u16 = 190;

/// Why the first bytes are none of a cubin, and what they are instead.
pub(super) fn problem(bytes: &[u8]) -> Option<String> {
    if !bytes.starts_with(b"\x7fELF") {
        return Some(match kind(bytes) {
            Some(kind) => format!("it is {kind}, and no cubin"),
            None => "no cubin begins like this".to_owned(),
        });
    }
    if bytes.len() < HEADER {
        return Some(format!("{} bytes are too few for a cubin", bytes.len()));
    }
    let machine = crate::bytes::u16_at(bytes, MACHINE_AT).unwrap_or(0);
    if machine != CUDA {
        let named = match machine {
            62 => " (x86-64)",
            183 => " (aarch64)",
            _ => "",
        };
        return Some(format!(
            "it is an ELF file for machine {machine}{named}, and a GPU's is {CUDA}"
        ));
    }
    if bytes.get(CLASS_AT) != Some(&CLASS_64) {
        return Some("it is an ELF file with 32-bit addresses, and a cubin's have 64".to_owned());
    }
    None
}

fn kind(bytes: &[u8]) -> Option<&'static str> {
    let text = bytes.trim_ascii_start();
    Some(match bytes {
        [] => "empty",
        [0xed, 0x43, 0x4e, 0x7f, ..] => "LTO IR",
        [0x50, 0xed, 0x55, 0xba, ..] => "a fatbin, which holds cubins and PTX",
        [b'B', b'C', 0xc0, 0xde, ..] => "LLVM bitcode",
        [b'!', b'<', b'a', b'r', b'c', b'h', b'>', ..] => "an archive",
        _ if text.starts_with(b".version") || text.starts_with(b"//") => "PTX",
        _ => return None,
    })
}
