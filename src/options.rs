//! What the options of all three compilers have in common.

use crate::error::{Error, Result};

/// What to do instead of passing a flag.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Instead {
    /// Set this field.
    Field(&'static str),
    /// What these words say.
    Do(&'static str),
}

/// Flags that say what the crate says in another way: their names without the dashes, long and short,
/// and what to do instead. A name that ends in `*` takes its value without anything between.
pub(crate) type Known = &'static [(&'static [&'static str], Instead)];

/// Refuses the flags of `extra` that cannot be flags, and those that would say a thing twice.
///
/// The libraries do not agree on how many dashes a flag has and on what parts it from its value, so
/// every spelling that one of them takes counts for all.
pub(crate) fn check_extra(extra: &[String], known: Known) -> Result<()> {
    let mut before = None;
    for flag in extra {
        if let Some(hint) = instead(flag, before, known) {
            return Err(Error::invalid_options(
                format!("`extra` holds {flag:?}"),
                hint,
            ));
        }
        before = Some(flag.as_str());
    }
    Ok(())
}

fn instead(flag: &str, before: Option<&str>, known: Known) -> Option<String> {
    if flag.contains('\0') {
        return Some("take the NUL byte out".to_owned());
    }
    // A library may take blanks off, and so another flag than the one looked at here.
    if flag.trim() != flag {
        return Some("take the blanks around it off".to_owned());
    }
    let Some(bare) = flag.strip_prefix('-') else {
        return Some(match before.filter(|before| !before.contains('=')) {
            Some(before) if !flag.is_empty() => format!(
                "a flag begins with `-`; write a flag and its value as one, as in `{before}={flag}`"
            ),
            _ => "a flag begins with `-`".to_owned(),
        });
    };
    let long = bare.strip_prefix('-');
    let name = long.unwrap_or(bare);
    let name = name
        .split(|c: char| c == '=' || c.is_whitespace())
        .next()
        .unwrap_or_default();
    let is = |known: &&str| match known.strip_suffix('*') {
        Some(letter) => long.is_none() && name.starts_with(letter) || name == letter,
        None => *known == name,
    };
    let (_, instead) = known.iter().find(|(names, _)| names.iter().any(is))?;
    Some(match instead {
        Instead::Field(field) => format!("set the field `{field}` instead"),
        Instead::Do(what) => (*what).to_owned(),
    })
}

/// Refuses a density of jump tables that is none; `field` is the name that the user knows it by.
pub(crate) fn check_jump_table_density(field: &str, percent: Option<u8>) -> Result<()> {
    match percent {
        Some(percent) if percent > 101 => Err(Error::invalid_options(
            format!("`{field}` is {percent}"),
            "it is a percentage from 0 to 101, where 101 means never",
        )),
        _ => Ok(()),
    }
}

/// Methods that set one field each.
macro_rules! setters {
    ($($name:ident: $ty:ty => $wrap:expr;)*) => {
        $(
            #[doc = concat!("Sets [`", stringify!($name), "`](Options::", stringify!($name), ").")]
            #[must_use]
            pub fn $name(mut self, $name: $ty) -> Self {
                self.$name = $wrap($name);
                self
            }
        )*
    };
}
pub(crate) use setters;

/// Methods that add to one list each.
macro_rules! adders {
    ($($name:ident: $field:ident;)*) => {
        $(
            #[doc = concat!("Adds to [`", stringify!($field), "`](Options::", stringify!($field), ").")]
            #[must_use]
            pub fn $name(mut self, value: impl Into<String>) -> Self {
                self.$field.push(value.into());
                self
            }
        )*
    };
}
pub(crate) use adders;

#[cfg(test)]
pub(crate) mod tests {
    use rstest::rstest;

    use super::*;

    /// Holds that each flag which an options type writes is known to belong to a field.
    pub(crate) fn assert_fields_are_known(flags: &[String], known: Known) {
        assert!(flags.len() > 9, "{flags:?}");
        for flag in flags {
            let error = check_extra(std::slice::from_ref(flag), known).unwrap_err();
            assert!(error.to_string().contains("set the field"), "{error}");
        }
    }

    const KNOWN: Known = &[
        (&["arch", "gpu-architecture"], Instead::Field("arch")),
        (&["D*"], Instead::Field("defines")),
        (&["G"], Instead::Field("debug")),
        (&["lto"], Instead::Do("compile to `LtoIr` instead")),
    ];

    fn hint(extra: &[&str]) -> Option<String> {
        let extra: Vec<String> = extra.iter().map(|&flag| flag.to_owned()).collect();
        match check_extra(&extra, KNOWN) {
            Ok(()) => None,
            Err(Error::InvalidOptions { hint, .. }) => Some(hint),
            Err(other) => panic!("{other}"),
        }
    }

    #[rstest]
    fn a_flag_with_a_field_is_told_in_every_spelling(
        #[values("-", "--")] dashes: &str,
        #[values("arch", "gpu-architecture")] name: &str,
        #[values("=sm_90", "", " sm_90", "\tsm_90", " = sm_90", "=")] value: &str,
    ) {
        assert_eq!(
            hint(&[&format!("{dashes}{name}{value}")]).unwrap(),
            "set the field `arch` instead"
        );
    }

    #[rstest]
    #[case::value_of_its_own(&["--gpu-architecture", "sm_90"], "field `arch`")]
    #[case::behind_others(&["-x", "--y=1", "-arch=sm_90"], "field `arch`")]
    #[case::glued(&["-DA=1"], "field `defines`")]
    #[case::apart(&["-D", "A"], "field `defines`")]
    #[case::one_letter(&["-G"], "field `debug`")]
    #[case::advice(&["-lto"], "compile to `LtoIr`")]
    #[case::nul(&["-lto\0"], "NUL")]
    #[case::blank_behind(&["-lto "], "blanks")]
    #[case::blank_before(&[" -lto"], "blanks")]
    #[case::no_dash(&["lto"], "a flag begins with `-`")]
    #[case::nothing(&["-x", ""], "a flag begins with `-`")]
    #[case::loose_value(&["--x", "1"], "as in `--x=1`")]
    fn what_no_flag_may_be_is_refused(#[case] extra: &[&str], #[case] says: &str) {
        let hint = hint(extra).unwrap();
        assert!(hint.contains(says), "{hint}");
    }

    #[rstest]
    fn other_flags_pass(
        #[values(
            "-x", "--x=1", "-archive", "-Gx", "--Dx", "-ltos", "-", "--", "-=", "-x=-arch"
        )]
        flag: &str,
    ) {
        assert_eq!(hint(&[flag]), None);
    }

    #[test]
    fn a_density_is_a_percentage_or_never() {
        assert!(check_jump_table_density("density", Some(101)).is_ok());
        let error = check_jump_table_density("density", Some(102)).unwrap_err();
        assert!(error.to_string().contains("`density` is 102"), "{error}");
    }
}
