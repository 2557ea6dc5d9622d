//! What a disk or a network keeps of an artifact: bytes that tell whether they are whole.

use std::ops::Range;
use std::time::Duration;

use super::key::Key;
use crate::bytes::u64_at;

/// The last byte counts the versions of this format.
const MAGIC: [u8; 8] = *b"cudaprg\x01";
const KEY_AT: usize = MAGIC.len();
const COST_AT: usize = KEY_AT + 32;
const LENGTH_AT: usize = COST_AT + 8;
const PAYLOAD_AT: usize = LENGTH_AT + 8;
const SUM: usize = 32;

/// What sealing adds, in bytes.
pub(super) const OVERHEAD: usize = PAYLOAD_AT + SUM;

/// A payload with its key, what it cost to make, and a checksum over all of it.
///
/// The key is in it so that an entry under another's name is found, and not only a damaged one.
pub(super) fn seal(key: &Key, cost: Duration, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + OVERHEAD);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(key.as_bytes());
    bytes.extend_from_slice(&saturated(cost.as_micros()).to_le_bytes());
    bytes.extend_from_slice(&saturated(payload.len() as u128).to_le_bytes());
    bytes.extend_from_slice(payload);
    let sum = blake3::hash(&bytes);
    bytes.extend_from_slice(sum.as_bytes());
    bytes
}

/// Where the payload lies in sealed bytes, and what it cost to make; none where anything in them is
/// not as it was sealed.
pub(super) fn open(key: &Key, bytes: &[u8]) -> Option<(Range<usize>, Duration)> {
    let sum_at = bytes.len().checked_sub(SUM)?;
    let (sealed, sum) = bytes.split_at_checked(sum_at)?;
    let whole = sealed.starts_with(&MAGIC)
        && sealed.get(KEY_AT..COST_AT)? == key.as_bytes()
        && u64_at(sealed, LENGTH_AT)? == sum_at.checked_sub(PAYLOAD_AT)? as u64
        && blake3::hash(sealed).as_bytes() == sum;
    let cost = Duration::from_micros(u64_at(sealed, COST_AT)?);
    whole.then_some((PAYLOAD_AT..sum_at, cost))
}

fn saturated(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key::from_bytes([7; 32]);
    const COST: Duration = Duration::from_micros(1234);

    #[test]
    fn what_was_sealed_opens_with_its_cost() {
        for payload in [&b""[..], b"x", &[0; 5000]] {
            let sealed = seal(&KEY, COST, payload);
            assert_eq!(sealed.len(), payload.len() + OVERHEAD);
            let (range, cost) = open(&KEY, &sealed).unwrap();
            assert_eq!((&sealed[range], cost), (payload, COST));
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let sealed = seal(&KEY, COST, b"some bytes of an artifact");
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(&KEY, &flipped), None, "bit {bit}");
        }
    }

    #[test]
    fn every_cut_and_every_addition_is_found() {
        let sealed = seal(&KEY, COST, b"some bytes of an artifact");
        for length in 0..sealed.len() {
            assert_eq!(open(&KEY, &sealed[..length]), None, "{length}");
        }
        let mut longer = sealed.clone();
        longer.push(0);
        assert_eq!(open(&KEY, &longer), None);
        assert_eq!(open(&KEY, &sealed[1..]), None);
    }

    #[test]
    fn an_entry_under_another_key_is_found() {
        let sealed = seal(&KEY, COST, b"some bytes of an artifact");
        assert_eq!(open(&Key::from_bytes([8; 32]), &sealed), None);
    }
}
