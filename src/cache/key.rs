//! The name of an artifact in a cache, and why a job has none.

use std::fmt;
use std::str::FromStr;

/// What everything that a compilation depends on hashes to.
///
/// Two jobs with the same key give the same artifact. It is a blake3 hash, shown in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 32]);

impl Key {
    /// A key by its bytes, as in [`as_bytes`](Key::as_bytes).
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Key(bytes)
    }

    /// Its 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

impl FromStr for Key {
    type Err = crate::error::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        blake3::Hash::from_hex(text)
            .map(|hash| Key(*hash.as_bytes()))
            .map_err(|_| {
                crate::error::Error::invalid_options(
                    format!("{text:?} is no key of a cache"),
                    "a key is 64 hexadecimal digits",
                )
            })
    }
}

/// Why a job has no [`Key`]: something that it depends on cannot be known before it runs.
///
/// Such a job is compiled every time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct Uncacheable {
    /// What it depends on, and what to do where something can be done.
    pub reason: String,
}

impl Uncacheable {
    pub(super) fn because(reason: impl Into<String>) -> Self {
        Uncacheable {
            reason: reason.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back_from_what_it_is_shown_as() {
        let key = Key::from_bytes(std::array::from_fn(|n| n as u8 * 7));
        assert_eq!(key.to_string().parse::<Key>().unwrap(), key);
        for wrong in ["", "00", &"g".repeat(64), &"0".repeat(65)] {
            assert!(wrong.parse::<Key>().is_err(), "{wrong}");
        }
    }
}
