//! Data layouts: their grammar, and what they say.
//!
//! libNVVM of CUDA 12 ends the process at a layout that it cannot parse, and later ones do so while
//! verifying. The grammar here is that of LLVM 7 and of a current one at once.

use std::collections::{BTreeMap, BTreeSet};

/// A layout, without what it leaves to LLVM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::nvvm) struct Layout {
    big_endian: bool,
    /// Size and alignment of the pointers of each address space, in bits.
    pointers: BTreeMap<u32, (u32, u32)>,
    /// Alignment in bits, by kind of type and size.
    alignments: BTreeMap<(char, u32), u32>,
    native: BTreeSet<u32>,
    /// Specifications that the layout of libNVVM does not have.
    others: BTreeSet<String>,
}

/// Where two layouts differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nvvm) enum Difference {
    /// In integers of so many bits.
    Integer(u32),
    /// In pointers of this address space.
    Pointer(u32),
    /// In something else.
    Other,
}

type Parsed<T> = Result<T, String>;

impl Layout {
    /// Reads a layout; the error says what is wrong with it.
    pub(in crate::nvvm) fn parse(text: &str) -> Parsed<Layout> {
        let mut layout = Layout::default();
        for part in text.split('-') {
            layout
                .take(part)
                .ok_or_else(|| format!("`{part}` is no specification"))?;
        }
        Ok(layout)
    }

    /// The size of a generic pointer, where the layout says one.
    pub(in crate::nvvm) fn pointer_bits(&self) -> Option<u32> {
        self.pointers.get(&0).map(|(size, _)| *size)
    }

    fn take(&mut self, part: &str) -> Option<()> {
        let first = part.chars().next()?;
        let rest = part.get(first.len_utf8()..)?;
        match first {
            'e' | 'E' if rest.is_empty() => self.big_endian = first == 'E',
            'p' => {
                let (space, sizes) = rest.split_once(':')?;
                let space = if space.is_empty() {
                    0
                } else {
                    number(space, 24)?
                };
                let (size, rest) = sizes.split_once(':')?;
                let size = bytes(size).filter(|size| *size > 0)?;
                let mut rest = rest.split(':');
                let align = alignment(rest.next()?).filter(|align| *align > 0)?;
                let preferred = rest.next().map_or(Some(align), alignment)?;
                let index = rest.next().map_or(Some(size), bytes)?;
                if preferred < align || index == 0 || index > size || rest.next().is_some() {
                    return None;
                }
                self.pointers.insert(space, (size, align));
            }
            'i' | 'v' | 'f' | 'a' => {
                let (size, rest) = rest.split_once(':')?;
                let size = match (first, size) {
                    ('a', "" | "0") => 0,
                    ('a', _) => return None,
                    _ => number(size, 24).filter(|size| *size > 0)?,
                };
                let mut rest = rest.split(':');
                let align = alignment(rest.next()?)?;
                let preferred = rest.next().map_or(Some(align), alignment)?;
                let fits = (first == 'a' || align > 0) && preferred >= align;
                let byte = (first, size) != ('i', 8) || align == 8;
                if !fits || !byte || rest.next().is_some() {
                    return None;
                }
                self.alignments.insert((first, size), align);
            }
            'n' if rest.starts_with("i:") => {
                for space in rest.get(2..)?.split(':') {
                    number(space, 24).filter(|space| *space > 0)?;
                }
                self.others.insert(part.to_owned());
            }
            'n' => {
                for width in rest.split(':') {
                    self.native.insert(number(width, 24).filter(|w| *w > 0)?);
                }
            }
            'S' => {
                alignment(rest)?;
                self.others.insert(part.to_owned());
            }
            'A' | 'P' => {
                number(rest, 24)?;
                self.others.insert(part.to_owned());
            }
            'm' => {
                matches!(rest, ":e" | ":l" | ":o" | ":m" | ":w" | ":x").then_some(())?;
                self.others.insert(part.to_owned());
            }
            // LLVM takes and ignores it.
            's' if rest.starts_with(':') => {}
            _ => return None,
        }
        Some(())
    }

    /// Where this says something else than another.
    pub(in crate::nvvm) fn differences(&self, other: &Layout) -> Vec<Difference> {
        let mut found = Vec::new();
        if self.big_endian != other.big_endian
            || self.native != other.native
            || self.others != other.others
        {
            found.push(Difference::Other);
        }
        let spaces: BTreeSet<u32> = self
            .pointers
            .keys()
            .chain(other.pointers.keys())
            .copied()
            .collect();
        for space in spaces {
            if self.pointer(space) != other.pointer(space) {
                found.push(Difference::Pointer(space));
            }
        }
        let kinds: BTreeSet<(char, u32)> = self
            .alignments
            .keys()
            .chain(other.alignments.keys())
            .copied()
            .collect();
        for kind in kinds {
            if self.alignment(kind) != other.alignment(kind) {
                found.push(match kind {
                    ('i', bits) => Difference::Integer(bits),
                    _ => Difference::Other,
                });
            }
        }
        found
    }

    fn pointer(&self, space: u32) -> (u32, u32) {
        let generic = || self.pointers.get(&0).copied().unwrap_or((64, 64));
        self.pointers.get(&space).copied().unwrap_or_else(generic)
    }

    fn alignment(&self, (kind, size): (char, u32)) -> u32 {
        if let Some(align) = self.alignments.get(&(kind, size)) {
            return *align;
        }
        match (kind, size) {
            ('i', 1) => 8,
            ('i', 64) => 32,
            // A wider integer is aligned as the widest of which that is said.
            ('i', 65..) => {
                let widest = self.alignments.range(('i', 64)..('i', size)).next_back();
                widest.map_or(32, |(_, align)| *align)
            }
            ('a', _) => 0,
            _ => size.next_power_of_two(),
        }
    }
}

fn number(text: &str, bits: u32) -> Option<u32> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|n: &u32| *n < 1 << bits)
}

/// A number of bits that is one of whole bytes.
fn bytes(text: &str) -> Option<u32> {
    number(text, 24).filter(|bits| bits % 8 == 0)
}

/// A number of bits that is a power of two of bytes, or 0.
fn alignment(text: &str) -> Option<u32> {
    bytes(text).filter(|bits| *bits == 0 || (bits.is_power_of_two() && *bits < 1 << 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvvm::modules::LAYOUT;
    use rstest::rstest;

    #[rstest]
    #[case("")]
    #[case("zork")]
    #[case("i1")]
    #[case("i64:7")]
    #[case("i64:24")]
    #[case("i8:16")]
    #[case("i0:8")]
    #[case("i99999999:8")]
    #[case("i64:64:32")]
    #[case("i 64:64")]
    #[case("i64:+64")]
    #[case("i64:")]
    #[case("e ")]
    #[case("p:64")]
    #[case("p:64:0")]
    #[case("p:0:0:0")]
    #[case("p16777216:64:64")]
    #[case("v64")]
    #[case("S7")]
    #[case("m:z")]
    #[case("n0")]
    #[case("G1")]
    #[case("Fi8")]
    #[case("é")]
    fn what_ends_the_process_of_some_library_is_no_layout(#[case] part: &str) {
        assert!(Layout::parse(part).is_err());
        assert!(Layout::parse(&format!("{LAYOUT}-{part}")).is_err());
        assert!(Layout::parse(&format!("{part}-{LAYOUT}")).is_err());
    }

    #[rstest]
    #[case("e", &[Difference::Other])]
    #[case(LAYOUT, &[])]
    #[case("e-i64:64-i128:128-v16:16-v32:32-n16:32:64", &[])]
    #[case("e-i64:64-v16:16-v32:32-n16:32:64", &[Difference::Integer(128)])]
    #[case("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64", &[Difference::Pointer(6), Difference::Integer(256)])]
    #[case("e-p3:32:32-i64:64-i128:128-n16:32:64", &[Difference::Pointer(3)])]
    #[case("e-i64:64-i128:128-n32:64", &[Difference::Other])]
    #[case("e-i64:64-i128:128-v64:128-n16:32:64", &[Difference::Other])]
    #[case("e-i64:64-i128:128-S128-n16:32:64", &[Difference::Other])]
    fn what_differs_from_the_layout_of_libnvvm_is_found(
        #[case] layout: &str,
        #[case] expected: &[Difference],
    ) {
        let canonical = Layout::parse(LAYOUT).unwrap();
        let mut found = Layout::parse(layout).unwrap().differences(&canonical);
        if layout == "e" {
            found.retain(|d| *d == Difference::Other);
        }
        assert_eq!(found, expected);
    }
}
