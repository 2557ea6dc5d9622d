//! Files that were sound until something happened to them, the same in every run.

#![allow(dead_code, reason = "each test file uses a part")]

use super::random::Random;

/// One or two bits flipped, which most of what reads the file does not notice.
pub fn nudged(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    if bytes.is_empty() {
        return bytes;
    }
    for _ in 0..=random.below(2) {
        let at = random.below(bytes.len());
        bytes[at] ^= 1 << random.below(8);
    }
    bytes
}

/// Bits flipped, bytes replaced, stretches copied over others or blanked: up to eight of those.
pub fn damage(file: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    if bytes.is_empty() {
        return bytes;
    }
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
            2 => {
                let from = random.below(bytes.len());
                let len = random.below(64).min(bytes.len() - from.max(at));
                bytes.copy_within(from..from + len, at);
            }
            _ => {
                let len = random.below(16).min(bytes.len() - at);
                let fill = if random.below(2) == 0 { 0 } else { 0xff };
                bytes[at..at + len].fill(fill);
            }
        }
    }
    bytes
}

/// The beginning of one file and the end of another.
pub fn spliced(one: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let from = random.below(other.len() + 1);
    [cut(one, random), &other[from..]].concat()
}

/// The beginning of a file.
pub fn cut<'a>(file: &'a [u8], random: &mut Random) -> &'a [u8] {
    &file[..random.below(file.len() + 1)]
}

/// Text with up to two of its tokens dropped, doubled, swapped, or replaced by one of another text.
pub fn edited(text: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut tokens = tokens(text);
    let others = self::tokens(other);
    for _ in 0..=random.below(2) {
        if tokens.is_empty() {
            break;
        }
        let (at, with) = (random.below(tokens.len()), random.below(tokens.len()));
        match random.below(5) {
            0 => {
                tokens.remove(at);
            }
            1 => tokens.insert(at, tokens[at]),
            2 => tokens.swap(at, with),
            3 if !others.is_empty() => tokens[at] = others[random.below(others.len())],
            _ => tokens[at] = tokens[with],
        }
    }
    tokens.concat()
}

/// Words, and every other byte for itself.
fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    text.chunk_by(|a, b| word(*a) && word(*b)).collect()
}
