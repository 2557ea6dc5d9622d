//! What some bytes are, by their first few.

use std::fmt;

use serde::Serialize;

/// What an input is, by its content alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputKind {
    /// Text that may be LLVM IR.
    Text,
    /// LLVM bitcode.
    Bitcode,
    /// LLVM bitcode inside the wrapper that says where it begins and ends.
    WrappedBitcode,
    /// The LTO IR that NVIDIA's compilers write for nvJitLink.
    LtoIr,
    /// PTX.
    Ptx,
    /// An ELF file: a cubin or a host object.
    Elf,
    /// A fat binary, which holds code for several architectures.
    Fatbin,
    /// An archive, as in `libcudadevrt.a`.
    Archive,
    /// The note that Git LFS leaves in place of a file it has not fetched.
    GitLfsPointer,
    /// Nothing, or nothing but blanks.
    Empty,
    /// Bytes of no kind known here.
    Binary,
}

impl fmt::Display for InputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InputKind::Text => "text",
            InputKind::Bitcode => "LLVM bitcode",
            InputKind::WrappedBitcode => "wrapped LLVM bitcode",
            InputKind::LtoIr => "NVIDIA LTO IR",
            InputKind::Ptx => "PTX",
            InputKind::Elf => "an ELF file (a cubin or an object)",
            InputKind::Fatbin => "a fat binary",
            InputKind::Archive => "an archive",
            InputKind::GitLfsPointer => "a Git LFS pointer",
            InputKind::Empty => "empty",
            InputKind::Binary => "binary data of an unknown kind",
        })
    }
}

pub(super) const BITCODE_MAGIC: [u8; 4] = [b'B', b'C', 0xc0, 0xde];
pub(super) const WRAPPER_MAGIC: [u8; 4] = [0xde, 0xc0, 0x17, 0x0b];
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const MAGICS: &[(&[u8], InputKind)] = &[
    (&BITCODE_MAGIC, InputKind::Bitcode),
    (&WRAPPER_MAGIC, InputKind::WrappedBitcode),
    (b"\xed\x43\x4e\x7f", InputKind::LtoIr),
    (b"\x7fELF", InputKind::Elf),
    (b"\x50\xed\x55\xba", InputKind::Fatbin),
    (b"\xb1\x43\x62\x46", InputKind::Fatbin),
    (b"!<arch>\n", InputKind::Archive),
    (b"!<thin>\n", InputKind::Archive),
    (
        b"version https://git-lfs.github.com/spec/",
        InputKind::GitLfsPointer,
    ),
];

/// Tells what some bytes are by their content.
///
/// A kind is no promise that the rest is sound: [`look`](super::look()) reads the rest.
///
/// ```
/// use cuda_program::nvvm::reader::{InputKind, kind_of};
///
/// assert_eq!(kind_of(b"BC\xc0\xde"), InputKind::Bitcode);
/// assert_eq!(kind_of(b"// made by hand\n.version 8.0"), InputKind::Ptx);
/// assert_eq!(kind_of(b"define void @f() { ret void }"), InputKind::Text);
/// ```
#[must_use]
pub fn kind_of(bytes: &[u8]) -> InputKind {
    for (magic, kind) in MAGICS {
        if bytes.starts_with(magic) {
            return *kind;
        }
    }
    // A file cut inside its first four bytes still says what it was to be.
    if !bytes.is_empty() && BITCODE_MAGIC.starts_with(bytes) {
        return InputKind::Bitcode;
    }
    if !bytes.is_empty() && WRAPPER_MAGIC.starts_with(bytes) {
        return InputKind::WrappedBitcode;
    }
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    // Text that came from C often brings its closing NUL along.
    if bytes.iter().all(|b| is_blank(*b) || *b == 0) {
        return InputKind::Empty;
    }
    if !looks_like_text(bytes) {
        return InputKind::Binary;
    }
    if first_ptx_token(bytes).starts_with(b".version") {
        return InputKind::Ptx;
    }
    InputKind::Text
}

fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Strings and comments may hold any byte, so a few odd ones do not make a text binary.
fn looks_like_text(bytes: &[u8]) -> bool {
    const SAMPLE: usize = 1024;
    let sample = bytes.get(..SAMPLE).unwrap_or(bytes);
    let first = sample.iter().find(|b| !is_blank(**b));
    let odd = sample
        .iter()
        .filter(|b| (**b < b' ' && !is_blank(**b)) || **b == 0x7f)
        .count();
    first.is_some_and(|b| (b' '..0x7f).contains(b)) && odd * 16 <= sample.len()
}

/// What follows the blanks and the C-style comments that PTX may open with.
fn first_ptx_token(mut rest: &[u8]) -> &[u8] {
    loop {
        rest = rest.trim_ascii_start();
        let after = if let Some(comment) = rest.strip_prefix(b"//") {
            comment.iter().position(|b| *b == b'\n')
        } else if rest.starts_with(b"/*") {
            let end = rest.windows(2).skip(2).position(|w| w == b"*/");
            end.map(|at| at + 4)
        } else {
            return rest;
        };
        rest = after
            .and_then(|at| {
                let from = if rest.starts_with(b"//") { at + 2 } else { at };
                rest.get(from..)
            })
            .unwrap_or_default();
        if rest.is_empty() {
            return rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(b"", InputKind::Empty)]
    #[case(b" \r\n\t\0", InputKind::Empty)]
    #[case(b"\xef\xbb\xbf\n", InputKind::Empty)]
    #[case(b"BC\xc0\xde\x35\x14", InputKind::Bitcode)]
    #[case(b"BC", InputKind::Bitcode)]
    #[case(b"BC1", InputKind::Text)]
    #[case(b"\xde\xc0\x17\x0b\0\0\0\0", InputKind::WrappedBitcode)]
    #[case(b"\xed\x43\x4e\x7f\x01", InputKind::LtoIr)]
    #[case(b"\x7fELF\x02\x01\x01", InputKind::Elf)]
    #[case(b"\x50\xed\x55\xba\x01\0\x10\0", InputKind::Fatbin)]
    #[case(b"!<arch>\n/", InputKind::Archive)]
    #[case(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0",
        InputKind::GitLfsPointer
    )]
    #[case(b".version 8.3\n.target sm_90", InputKind::Ptx)]
    #[case(b"//\n// .target\n//\n\n/* a\n*/ .version 8.3", InputKind::Ptx)]
    #[case(b"\xef\xbb\xbf.version 8.3", InputKind::Ptx)]
    #[case(b"// no more than a comment", InputKind::Text)]
    #[case(b"/* never closed .version 8.3", InputKind::Text)]
    #[case(b"; .version 8.3\ndeclare void @f()", InputKind::Text)]
    #[case(b"version = 3", InputKind::Text)]
    #[case(b"!0 = !{}", InputKind::Text)]
    #[case(b"; caf\xe9\n@s = constant [1 x i8] c\"\x01\"", InputKind::Text)]
    #[case(b"\0asm\x01\0\0\0", InputKind::Binary)]
    #[case(b"\x89PNG\r\n\x1a\n", InputKind::Binary)]
    #[case(b"d\0e\0f\0i\0n\0e\0", InputKind::Binary)]
    fn bytes_say_their_kind(#[case] bytes: &[u8], #[case] kind: InputKind) {
        assert_eq!(kind_of(bytes), kind);
    }
}
