//! What was asked for on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::toolkit::{self, Pinned};

/// The help text.
pub const USAGE: &str = "\
The commands of the cuda-program workspace.

Usage: cargo xtask <COMMAND>

Commands:
  demo                  Compile two kernels to PTX and LTO IR, and show what was done. Installs the
                        newest toolkit if none is found.
  toolkit [VERSION...]  Install NVIDIA's compilers, unpacked, into target/toolkits/<VERSION>/.
                        Known: 12.0 12.4 12.9 13.0 13.5 (default: 13.5), or `all`.
  test [-- ARGS...]     Install what the tests need, then run all of them; ARGS go to the tests.
  bindgen               Write src/sys/bindings from the headers of the newest toolkit.
  intrinsics [--check [COUNT]]
                        Try every known intrinsic on every toolkit, which takes some minutes, and
                        write the tables in src/nvvm/checks/intrinsics; or only compare the tables
                        with all trials, or with COUNT of them.
  gpu-bundle [OUT]      Write a folder (default: target/gpu-bundle) whose run.sh runs the tests,
                        examples and benches on a GPU machine that has no Rust.
  help                  Print this text.

Variables:
  PYTHON                The Python interpreter to download with (default: python3 of PATH).
                        It needs pip.";

/// One command with its arguments.
#[derive(Debug, PartialEq)]
pub enum Command {
    /// Print the help text.
    Help,
    /// Install toolkits.
    Toolkit {
        /// Which, in the order asked for.
        versions: Vec<&'static Pinned>,
    },
    /// Show what the library does.
    Demo,
    /// Write the bindings.
    Bindgen,
    /// Try the intrinsics.
    Intrinsics(Intrinsics),
    /// Write the bundle for a GPU machine.
    GpuBundle {
        /// Where to.
        out: Option<PathBuf>,
    },
    /// Run all tests.
    Test {
        /// Arguments for the tests themselves.
        arguments: Vec<OsString>,
    },
}

/// How the intrinsics are tried.
#[derive(Debug, PartialEq)]
pub enum Intrinsics {
    /// All of them, to write the tables.
    Write,
    /// To compare the tables and write nothing.
    Check {
        /// How many of them are tried, if not all.
        sample: Option<usize>,
    },
    /// Those that another run of this command sends, which starts such processes.
    Serve {
        /// The toolkit's folder.
        toolkit: PathBuf,
        /// The compiler's options.
        options: Vec<String>,
    },
}

#[cfg(not(feature = "intrinsics"))]
impl Intrinsics {
    /// The command line that says so.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = vec![OsString::from("intrinsics")];
        match self {
            Intrinsics::Write => {}
            Intrinsics::Check { sample } => {
                arguments.push("--check".into());
                arguments.extend(sample.map(|count| count.to_string().into()));
            }
            Intrinsics::Serve { toolkit, options } => {
                arguments.extend(["--serve".into(), toolkit.into()]);
                arguments.extend(options.iter().map(OsString::from));
            }
        }
        arguments
    }
}

/// Reads the arguments after the program's name.
///
/// The error is a sentence for the person who typed them.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut arguments = arguments.into_iter();
    let Some(name) = arguments.next() else {
        return Err("no command was given".to_owned());
    };
    let rest: Vec<OsString> = arguments.collect();
    match name.to_str() {
        Some("help" | "--help" | "-h") => Ok(Command::Help),
        Some(_) if asks_for_help(&rest) => Ok(Command::Help),
        Some("toolkit") => Ok(Command::Toolkit {
            versions: versions(&rest)?,
        }),
        Some(name @ ("demo" | "bindgen")) if !rest.is_empty() => {
            Err(format!("`{name}` takes no arguments"))
        }
        Some("demo") => Ok(Command::Demo),
        Some("bindgen") => Ok(Command::Bindgen),
        Some("intrinsics") => intrinsics(&rest).map(Command::Intrinsics),
        Some("gpu-bundle") => match rest.as_slice() {
            [] => Ok(Command::GpuBundle { out: None }),
            [out] => Ok(Command::GpuBundle {
                out: Some(out.into()),
            }),
            _ => Err("`gpu-bundle` takes one folder at most".to_owned()),
        },
        Some("test") => Ok(Command::Test {
            arguments: after_dashes(rest)?,
        }),
        _ => Err(format!("there is no command `{}`", name.to_string_lossy())),
    }
}

fn intrinsics(arguments: &[OsString]) -> Result<Intrinsics, String> {
    match arguments {
        [] => Ok(Intrinsics::Write),
        [one] if one == "--check" => Ok(Intrinsics::Check { sample: None }),
        [one, count] if one == "--check" => match count.to_string_lossy().parse() {
            Ok(count) => Ok(Intrinsics::Check {
                sample: Some(count),
            }),
            Err(_) => Err(format!("`{}` is no count", count.to_string_lossy())),
        },
        [first, toolkit, options @ ..] if first == "--serve" => Ok(Intrinsics::Serve {
            toolkit: toolkit.into(),
            options: options
                .iter()
                .map(|option| option.to_string_lossy().into_owned())
                .collect(),
        }),
        _ => Err("`intrinsics` takes `--check` alone".to_owned()),
    }
}

/// What follows `--` belongs to somebody else.
fn asks_for_help(arguments: &[OsString]) -> bool {
    arguments
        .iter()
        .take_while(|a| *a != "--")
        .any(|a| a == "--help" || a == "-h")
}

fn after_dashes(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let mut arguments = arguments.into_iter();
    match arguments.next() {
        Some(first) if first != "--" => Err(format!(
            "`{}` is no argument of `test`; what is meant for the tests goes after `--`",
            first.to_string_lossy()
        )),
        _ => Ok(arguments.collect()),
    }
}

fn versions(arguments: &[OsString]) -> Result<Vec<&'static Pinned>, String> {
    if arguments.is_empty() {
        return Ok(vec![toolkit::newest()]);
    }
    let mut versions = Vec::new();
    for argument in arguments {
        if argument == "all" {
            versions.extend(toolkit::all());
        } else {
            let name = argument.to_string_lossy();
            versions.push(toolkit::find(&name).ok_or_else(|| {
                format!(
                    "CUDA {name} is not known here; known are {}",
                    toolkit::known()
                )
            })?);
        }
    }
    Ok(versions)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn toolkits(line: &str) -> Vec<&'static str> {
        match parsed(line) {
            Ok(Command::Toolkit { versions }) => versions.iter().map(|v| v.version).collect(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[rstest]
    #[case("toolkit", &["13.5"])]
    #[case("toolkit 12.4", &["12.4"])]
    #[case("toolkit 13.0 12.0", &["13.0", "12.0"])]
    #[case("toolkit all", &["12.0", "12.4", "12.9", "13.0", "13.5"])]
    fn toolkit_takes_versions_and_defaults_to_the_newest(
        #[case] line: &str,
        #[case] expected: &[&str],
    ) {
        assert_eq!(toolkits(line), expected);
    }

    #[test]
    fn an_unknown_version_is_refused_with_the_known_ones() {
        assert_eq!(
            parsed("toolkit 13.5 11.8"),
            Err("CUDA 11.8 is not known here; known are 12.0, 12.4, 12.9, 13.0, 13.5".to_owned())
        );
    }

    #[rstest]
    #[case("test", &[])]
    #[case("test --", &[])]
    #[case("test -- --help name", &["--help", "name"])]
    fn test_passes_on_what_follows_the_dashes(#[case] line: &str, #[case] expected: &[&str]) {
        let arguments = expected.iter().map(OsString::from).collect();
        assert_eq!(parsed(line), Ok(Command::Test { arguments }));
    }

    #[rstest]
    #[case("demo", Ok(Command::Demo))]
    #[case("bindgen", Ok(Command::Bindgen))]
    #[case("demo fast", Err("`demo` takes no arguments".to_owned()))]
    #[case("bindgen 13.5", Err("`bindgen` takes no arguments".to_owned()))]
    fn demo_and_bindgen_take_no_arguments(
        #[case] line: &str,
        #[case] expected: Result<Command, String>,
    ) {
        assert_eq!(parsed(line), expected);
    }

    #[rstest]
    #[case("gpu-bundle", Ok(Command::GpuBundle { out: None }))]
    #[case("gpu-bundle there", Ok(Command::GpuBundle { out: Some("there".into()) }))]
    #[case("gpu-bundle a b", Err("`gpu-bundle` takes one folder at most".to_owned()))]
    fn gpu_bundle_takes_a_folder(#[case] line: &str, #[case] expected: Result<Command, String>) {
        assert_eq!(parsed(line), expected);
    }

    #[rstest]
    #[case("intrinsics", Ok(Command::Intrinsics(Intrinsics::Write)))]
    #[case("intrinsics --check", Ok(Command::Intrinsics(Intrinsics::Check { sample: None })))]
    #[case(
        "intrinsics --check 40",
        Ok(Command::Intrinsics(Intrinsics::Check { sample: Some(40) }))
    )]
    #[case("intrinsics --check few", Err("`few` is no count".to_owned()))]
    #[case(
        "intrinsics --serve there -a -b",
        Ok(Command::Intrinsics(Intrinsics::Serve {
            toolkit: "there".into(),
            options: vec!["-a".to_owned(), "-b".to_owned()],
        }))
    )]
    #[case("intrinsics 13.5", Err("`intrinsics` takes `--check` alone".to_owned()))]
    fn intrinsics_are_written_or_compared(
        #[case] line: &str,
        #[case] expected: Result<Command, String>,
    ) {
        assert_eq!(parsed(line), expected);
    }

    #[test]
    fn an_argument_of_test_before_the_dashes_is_refused() {
        let said = parsed("test name").unwrap_err();
        assert!(said.contains("goes after `--`"), "{said}");
    }

    #[rstest]
    #[case("help")]
    #[case("--help")]
    #[case("toolkit --help")]
    #[case("toolkit 11.8 -h")]
    fn help_is_given_wherever_it_is_asked_for(#[case] line: &str) {
        assert_eq!(parsed(line), Ok(Command::Help));
    }

    #[test]
    fn every_known_version_is_in_the_help_text() {
        for pinned in toolkit::all() {
            assert!(USAGE.contains(pinned.version), "{}", pinned.version);
        }
    }
}
