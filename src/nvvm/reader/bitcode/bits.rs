//! A cursor over bits, lowest bit of each byte first.

use super::fault::{Fault, Read};

#[derive(Debug, Clone)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// The next bit, counted from the first of the bytes.
    at: u64,
    len: u64,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let len = (bytes.len() as u64).saturating_mul(8);
        Bits { bytes, at: 0, len }
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn left(&self) -> u64 {
        self.len.saturating_sub(self.at)
    }

    /// The next `width` bits, at most 32 of them.
    #[inline]
    pub(super) fn fixed(&mut self, width: u32) -> Read<u64> {
        debug_assert!(width <= 32);
        let end = self.at + u64::from(width);
        if end > self.len {
            return Err(Fault::Cut);
        }
        let from = usize::try_from(self.at / 8).map_err(|_| Fault::Cut)?;
        let rest = self.bytes.get(from..).unwrap_or_default();
        // 32 bits that begin anywhere in a byte lie within eight bytes.
        let word = match rest.first_chunk::<8>() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => last_word(rest),
        };
        let value = (word >> (self.at % 8)) & ((1 << width) - 1);
        self.at = end;
        Ok(value)
    }

    /// A number in chunks of `width` bits (2 to 32), the top bit of each saying that more follow.
    #[inline]
    pub(super) fn variable(&mut self, width: u32) -> Read<u64> {
        let more = 1_u64 << (width - 1);
        let first = self.fixed(width)?;
        if first & more == 0 {
            return Ok(first);
        }
        self.continued(width, first & (more - 1))
    }

    /// What remains of a number whose first chunk said that more follow.
    fn continued(&mut self, width: u32, mut value: u64) -> Read<u64> {
        const TOO_LARGE: Fault = Fault::Damaged("a number does not fit 64 bits");
        let more = 1_u64 << (width - 1);
        let mut shift = width - 1;
        loop {
            let chunk = self.fixed(width)?;
            let data = chunk & (more - 1);
            let placed = data.checked_shl(shift).unwrap_or(0);
            if placed.checked_shr(shift).unwrap_or(0) != data {
                return Err(TOO_LARGE);
            }
            value |= placed;
            if chunk & more == 0 {
                return Ok(value);
            }
            // Zero chunks without end would else pass for a number.
            if shift > 64 {
                return Err(TOO_LARGE);
            }
            shift += width - 1;
        }
    }

    /// Goes on at the next multiple of 32 bits.
    pub(super) fn align(&mut self) -> Read<()> {
        let aligned = self.at.next_multiple_of(32);
        if aligned > self.len {
            return Err(Fault::Cut);
        }
        self.at = aligned;
        Ok(())
    }

    /// Takes whole bytes, which begin at the next multiple of 32 bits and are padded to one.
    pub(super) fn blob(&mut self, len: u64) -> Read<&'a [u8]> {
        self.align()?;
        if len > self.left() / 8 {
            return Err(Fault::Cut);
        }
        let from = usize::try_from(self.at / 8).map_err(|_| Fault::Cut)?;
        let len = usize::try_from(len).map_err(|_| Fault::Cut)?;
        let bytes = self.bytes.get(from..from + len).ok_or(Fault::Cut)?;
        self.at += len as u64 * 8;
        self.align()?;
        Ok(bytes)
    }
}

/// The fewer than eight bytes at the end, as if zeros followed.
#[cold]
fn last_word(rest: &[u8]) -> u64 {
    let shift = |word: u64, byte: &u8| (word << 8) | u64::from(*byte);
    rest.iter().rev().fold(0, shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_cross_byte_borders() {
        let mut bits = Bits::new(&[0b1010_0110, 0b0000_0011, 0xff, 0xff, 0xff]);
        assert_eq!(bits.fixed(3), Ok(0b110));
        assert_eq!(bits.fixed(7), Ok(0b111_0100));
        assert_eq!(bits.fixed(30), Ok(0x3fff_ffc0));
        assert_eq!(bits.left(), 0);
        assert_eq!(bits.fixed(1), Err(Fault::Cut));
        assert_eq!(bits.fixed(0), Ok(0));
    }

    #[test]
    fn a_variable_number_joins_its_chunks() {
        // 100 in chunks of four bits: 4 with more to follow, 4 with more, then 1.
        let mut bits = Bits::new(&[0b1100_1100, 0b0000_0001]);
        assert_eq!(bits.variable(4), Ok(0b1_100_100));
    }

    #[test]
    fn a_variable_number_that_never_ends_is_refused() {
        let zeros_with_more = [0b1000_1000; 64];
        assert!(matches!(
            Bits::new(&zeros_with_more).variable(4),
            Err(Fault::Damaged(_))
        ));
        assert!(matches!(
            Bits::new(&[0xff; 64]).variable(6),
            Err(Fault::Damaged(_))
        ));
    }

    #[test]
    fn a_blob_is_aligned_on_both_sides() {
        let mut bits = Bits::new(&[1, 0, 0, 0, b'a', b'b', b'c', b'd', b'e', 0, 0, 0]);
        assert_eq!(bits.fixed(1), Ok(1));
        assert_eq!(bits.blob(5), Ok(&b"abcde"[..]));
        assert_eq!(bits.left(), 0);
        assert_eq!(Bits::new(&[0; 4]).blob(5), Err(Fault::Cut));
    }
}
