//! The attributes in sections `.nv.info`.
//!
//! An attribute is a byte for its form, a byte for its kind, and two bytes: its value, or for
//! [`SIZED`] the length of the value that follows.

const SIZED: u8 = 4;

pub(super) const MAX_THREADS: u8 = 0x05;
pub(super) const MIN_STACK: u8 = 0x12;
pub(super) const PARAMETER: u8 = 0x17;
pub(super) const REGISTERS: u8 = 0x2f;
/// As [`PARAMETER`], for sizes that do not fit there; taken from CUDA 12.1 on.
pub(super) const LARGE_PARAMETER: u8 = 0x45;
pub(super) const BARRIERS: u8 = 0x4c;

/// An attribute: its kind and its value.
pub(super) type Attribute<'a> = (u8, &'a [u8]);

/// The attributes of a section, up to its end or to the first that is cut off.
pub(super) fn attributes(mut rest: &[u8]) -> impl Iterator<Item = Attribute<'_>> {
    std::iter::from_fn(move || {
        let (&[form, kind, low, high], after) = rest.split_first_chunk::<4>()?;
        let value;
        if form == SIZED {
            let length = usize::from(u16::from_le_bytes([low, high]));
            (value, rest) = after.split_at_checked(length)?;
        } else {
            value = rest.get(2..4)?;
            rest = after;
        }
        Some((kind, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_up_to_the_first_that_is_cut_off() {
        let bytes = [3, 0x1b, 0xff, 0, 4, 0x36, 2, 0, 7, 8, 4, 0x17, 200, 0, 1];
        let read: Vec<_> = attributes(&bytes).collect();
        assert_eq!(read, [(0x1b, &[0xff, 0][..]), (0x36, &[7, 8][..])]);
    }
}
