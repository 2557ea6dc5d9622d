//! Options as the flags that NVRTC takes, and the version that each needs.

use std::fmt::Display;

use super::checks::{check, check_writable, line, path, pre_include, trace_stem};
use super::options::{FastCompile, Options, Standard, WarningKind};
use crate::error::{Error, Result};

/// Major and minor; the oldest of the measured versions that takes a flag.
pub(super) type Needs = (u32, u32);
const ALL: Needs = (0, 0);

/// What the library is given, and what is known of it.
#[derive(Debug)]
pub(super) struct Flags {
    pub(super) list: Vec<String>,
    needs: Vec<(String, Needs)>,
}

impl Flags {
    /// The flag that the library of this version did not take, by its log, and what would take it.
    ///
    /// The library is asked by giving it the flag: versions between the measured ones may take it,
    /// and none drops a flag without a word.
    pub(super) fn lacking(&self, version: Needs, log: &str) -> Option<(&str, Needs)> {
        self.needs
            .iter()
            .find(|(flag, needs)| {
                let name = flag.split('=').next().unwrap_or(flag);
                *needs > version && log.contains(name)
            })
            .map(|(flag, needs)| (flag.as_str(), *needs))
    }

    /// Adds a flag that needs a version.
    pub(super) fn push(&mut self, flag: String, needs: Needs) {
        self.list.push(flag.clone());
        self.needs.push((flag, needs));
    }
}

/// The flags of the typed fields but those of the architecture and of precompiled headers' files,
/// then `extra`.
///
/// # Errors
///
/// For options that contradict each other or cannot be, and for what `extra` may not hold. `kind` is
/// the artifact's; none where nothing is made.
pub(super) fn flags(options: &Options, kind: Option<&str>) -> Result<Flags> {
    check(options, kind)?;
    let mut list = List(Vec::new());
    code(options, &mut list);
    language(options, &mut list);
    diagnostics(options, &mut list);
    pch(options, &mut list);
    if let Some(file) = &options.time_trace {
        list.value("--fdevice-time-trace", Some(trace_stem(file)?), (12, 9));
    }
    if let Some(file) = &options.timings {
        let name = path("timings", file)?;
        if name != "-" {
            check_writable(file)?;
        }
        list.value("--time", Some(name), (12, 4));
    }
    let needs = list.0;
    let mut flags: Vec<String> = needs.iter().map(|(flag, _)| flag.clone()).collect();
    for define in &options.preprocessor.defines {
        flags.push(format!("--define-macro={}", line("defines", define)?));
    }
    for undefine in &options.preprocessor.undefines {
        flags.push(format!("--undefine-macro={}", line("undefines", undefine)?));
    }
    for folder in &options.preprocessor.include_folders {
        flags.push(format!(
            "--include-path={}",
            path("preprocessor.include_folders", folder)?
        ));
    }
    for header in &options.preprocessor.pre_includes {
        flags.push(format!("--pre-include={}", pre_include(header)?));
    }
    // The limit belongs to the process; the guard's own stack is deep enough.
    flags.push("--modify-stack-limit=false".to_owned());
    flags.extend(options.extra.iter().cloned());
    match flags.iter().find(|flag| flag.contains('\0')) {
        Some(flag) => Err(Error::invalid_options(
            format!("an option holds {flag:?}"),
            "take the NUL byte out",
        )),
        None => Ok(Flags { list: flags, needs }),
    }
}

struct List(Vec<(String, Needs)>);

impl List {
    fn when(&mut self, set: bool, flag: &str, needs: Needs) {
        if set {
            self.0.push((flag.to_owned(), needs));
        }
    }

    fn value(&mut self, flag: &str, value: Option<impl Display>, needs: Needs) {
        if let Some(value) = value {
            self.0.push((format!("{flag}={value}"), needs));
        }
    }

    fn each(&mut self, flag: &str, values: &[impl Display]) {
        for value in values {
            self.value(flag, Some(value), ALL);
        }
    }
}

fn code(options: &Options, list: &mut List) {
    let code = &options.code;
    list.when(code.relocatable, "--relocatable-device-code=true", ALL);
    list.when(
        code.extensible_whole_program,
        "--extensible-whole-program",
        ALL,
    );
    list.value("--maxrregcount", code.max_registers, ALL);
    list.when(code.fast_math, "--use_fast_math", ALL);
    list.value("--ftz", code.ftz, ALL);
    list.value("--prec-sqrt", code.prec_sqrt, ALL);
    list.value("--prec-div", code.prec_div, ALL);
    list.value("--fmad", code.fmad, ALL);
    list.when(
        code.extra_vectorization,
        "--extra-device-vectorization",
        ALL,
    );
    list.each("--ptxas-options", &code.ptxas);
    list.value("--split-compile", code.split_compile, ALL);
    list.when(code.optimised_lto, "--gen-opt-lto", ALL);
    list.when(code.finite_math, "--ffinite-math-only", (13, 5));
    list.when(code.no_signed_zeros, "--fno-signed-zeros", (13, 5));
    let fast = code.fast_compile.map(|fast| match fast {
        FastCompile::Off => "0",
        FastCompile::Min => "min",
        FastCompile::Mid => "mid",
        FastCompile::Max => "max",
    });
    list.value("--Ofast-compile", fast, (12, 9));
    list.value("--jump-table-density", code.jump_table_density, (12, 4));
    list.value("--device-stack-protector", code.stack_protector, (12, 9));
    list.value("--frandom-seed", code.random_seed.as_ref(), (12, 9));
    list.when(code.no_cache, "--no-cache", (12, 9));
    list.when(options.debug.full, "--device-debug", ALL);
    list.when(options.debug.line_info, "--generate-line-info", ALL);
    list.when(options.debug.optimised, "--dopt=on", ALL);
    list.when(options.debug.numba, "--numba-debug", (13, 5));
}

fn language(options: &Options, list: &mut List) {
    let language = &options.language;
    if let Some(standard) = language.standard {
        let (name, needs) = match standard {
            Standard::Cpp03 => ("c++03", ALL),
            Standard::Cpp11 => ("c++11", ALL),
            Standard::Cpp14 => ("c++14", ALL),
            Standard::Cpp17 => ("c++17", ALL),
            Standard::Cpp20 => ("c++20", ALL),
            Standard::Cpp23 => ("c++23", (13, 5)),
        };
        list.value("--std", Some(name), needs);
    }
    list.value("--builtin-move-forward", language.builtin_move_forward, ALL);
    list.value(
        "--builtin-initializer-list",
        language.builtin_initializer_list,
        ALL,
    );
    list.when(
        language.device_by_default,
        "--device-as-default-execution-space",
        ALL,
    );
    list.when(language.int128, "--device-int128", ALL);
    list.when(language.float128, "--device-float128", (12, 9));
    list.when(language.minimal, "--minimal", (12, 4));
    list.when(
        options.preprocessor.no_source_include,
        "--no-source-include",
        ALL,
    );
}

fn diagnostics(options: &Options, list: &mut List) {
    let said = &options.diagnostics;
    list.when(said.disable_warnings, "--disable-warnings", ALL);
    list.each("--diag-error", &said.errors);
    list.each("--diag-suppress", &said.suppress);
    list.each("--diag-warn", &said.warnings);
    list.when(said.inline_remarks, "--optimization-info=inline", ALL);
    list.when(
        said.error_numbers == Some(true),
        "--display-error-number",
        ALL,
    );
    list.when(
        said.error_numbers == Some(false),
        "--no-display-error-number",
        ALL,
    );
    list.value("--brief-diagnostics", said.brief, (12, 4));
    list.when(said.reorder, "--Wreorder", (13, 5));
    list.when(said.conversion, "--Wconversion", (13, 5));
    if !said.warnings_as_errors.is_empty() {
        let kinds = said.warnings_as_errors.iter().map(|kind| match kind {
            WarningKind::AllWarnings => "all-warnings",
            WarningKind::Reorder => "reorder",
            WarningKind::DeprecatedDeclarations => "deprecated-declarations",
            WarningKind::Conversion => "conversion",
        });
        let kinds: Vec<&str> = kinds.collect();
        list.value("--warning-as-error", Some(kinds.join(",")), (13, 5));
    }
    list.value("--fmax-errors", said.max_errors, (13, 5));
    list.value("--version-ident", said.version_ident, ALL);
}

/// The oldest of the measured versions with precompiled headers.
pub(super) const PCH: Needs = (12, 9);

fn pch(options: &Options, list: &mut List) {
    let pch = &options.pch;
    list.value("--pch-verbose", pch.verbose, PCH);
    list.value("--pch-messages", pch.messages, PCH);
    list.value(
        "--instantiate-templates-in-pch",
        pch.instantiate_templates,
        PCH,
    );
}
