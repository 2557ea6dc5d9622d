#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::hash::{Fields, GATHERED};
use crate::cache::key::Key;

fn hash(value: &impl Serialize) -> Key {
    let mut fields = Fields::new();
    fields.field("value", value).unwrap();
    fields.finish()
}

#[derive(Serialize)]
enum Choice {
    One,
    Two(u8),
    Three { x: u8 },
    Four(u8, u8),
}

#[derive(Serialize)]
struct Two<A, B> {
    a: A,
    b: B,
}

/// Where parts only stood one after the other, several of these would be the same bytes.
#[test]
fn different_values_have_different_hashes() {
    let hashes = [
        hash(&vec!["ab", "c"]),
        hash(&vec!["a", "bc"]),
        hash(&vec!["abc"]),
        hash(&"abc"),
        hash(&vec![vec!["a"], vec!["b"]]),
        hash(&vec![vec!["a", "b"], vec![]]),
        hash(&vec![Vec::<&str>::new(), vec!["a", "b"]]),
        hash(&(Some(1), None::<u8>)),
        hash(&(None::<u8>, Some(1))),
        hash(&1_u8),
        hash(&1_i8),
        hash(&true),
        hash(&1.0_f32),
        hash(&'1'),
        hash(&()),
        hash(&None::<u8>),
        hash(&Choice::One),
        hash(&Choice::Two(1)),
        hash(&Choice::Three { x: 1 }),
        hash(&Choice::Four(1, 1)),
        hash(&Two { a: 1, b: "" }),
        hash(&Two { a: "", b: 1 }),
        hash(&BTreeMap::from([("a", "b")])),
        hash(&BTreeMap::from([("b", "a")])),
        hash(&"x".repeat(GATHERED - 9)),
        hash(&"x".repeat(GATHERED)),
        hash(&"x".repeat(GATHERED + 1)),
        hash(&"x".repeat(5 * GATHERED)),
    ];
    for (n, one) in hashes.iter().enumerate() {
        assert!(!hashes[..n].contains(one), "{n}");
    }
}

#[test]
fn the_name_of_a_field_counts() {
    let mut other = Fields::new();
    other.field("valu", &1).unwrap();
    assert_ne!(other.finish(), hash(&1));
}

#[test]
fn the_same_value_has_the_same_hash_however_it_is_gathered() {
    for length in [0, 1, GATHERED - 1, GATHERED, 3 * GATHERED] {
        let value = || vec!["y".repeat(length), "z".repeat(length / 2)];
        assert_eq!(hash(&value()), hash(&value()), "{length}");
    }
}

#[test]
#[cfg(unix)]
fn a_path_that_is_no_text_has_no_hash() {
    use std::os::unix::ffi::OsStringExt as _;
    let path = PathBuf::from(std::ffi::OsString::from_vec(vec![b'/', 0xff]));
    let error = Fields::new().field("path", &path).unwrap_err();
    assert!(error.to_string().contains("UTF-8"), "{error}");
}
