//! Flags that are passed on as they are: whether one could name a file.

use crate::cache::key::Uncacheable;

/// Values that name no file.
const WORDS: &[&str] = &[
    "true", "false", "on", "off", "yes", "no", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "min",
    "mid", "max",
];
/// Flags whose file is the next flag, or whose effect is one.
const FILES: &[&str] = &[
    "o",
    "optf",
    "options-file",
    "output-file",
    "time",
    "input-as-string",
];

/// Refuses flags that could name a file, or that are not known not to.
///
/// # Errors
///
/// For the first such flag; `field` says where it stands.
pub(in crate::cache) fn check(field: &str, flags: &[String]) -> Result<(), Uncacheable> {
    match flags.iter().find(|flag| !is_plain(flag)) {
        Some(flag) => Err(Uncacheable::because(format!(
            "`{field}` holds {flag:?}, which could name a file: use the typed field of the option \
             where there is one"
        ))),
        None => Ok(()),
    }
}

fn is_plain(flag: &str) -> bool {
    let (name, value) = match flag.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (flag, None),
    };
    let Some(name) = name.strip_prefix('-') else {
        return is_number(flag);
    };
    let name = name.strip_prefix('-').unwrap_or(name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.chars().all(is_name)
        && !FILES.contains(&name)
        && value.is_none_or(|value| is_number(value) || WORDS.contains(&value))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("-v")]
    #[case("--verbose")]
    #[case("-O3")]
    #[case("-dlcm=cg")]
    #[case("--maxrregcount=32")]
    #[case("-opt-level=3")]
    #[case("--warn-on-spills")]
    #[case("4")]
    fn a_flag_that_names_no_file_is_fine(#[case] flag: &str) {
        assert_eq!(check("extra", &[flag.to_owned()]), Ok(()));
    }

    #[rstest]
    #[case("--foo=a.txt")]
    #[case("--foo=bar")]
    #[case("-L/usr/lib")]
    #[case("-optf")]
    #[case("-o")]
    #[case("--time=trace")]
    #[case("--foo=")]
    #[case("file")]
    #[case("@file")]
    #[case("-x y")]
    #[case("-é")]
    fn a_flag_that_could_name_a_file_is_refused_by_name(#[case] flag: &str) {
        let refused = check("extra", &["-v".to_owned(), flag.to_owned()]).unwrap_err();
        assert!(refused.reason.contains("`extra`"), "{refused}");
        assert!(refused.reason.contains(&format!("{flag:?}")), "{refused}");
    }
}
