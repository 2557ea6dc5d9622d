//! Options as the flags that NVRTC takes, and the version that each needs.

use std::fmt::Display;
use std::path::Path;

use super::extra;
use super::options::{FastCompile, Options, Standard, WarningKind};
use crate::artifact::{Artifact, Cubin, LtoIr};
use crate::error::{Error, Result};
use crate::options::{check_extra, check_jump_table_density};

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
        // The library adds the ending to whatever it is given.
        let Some(stem) = path(file)?.strip_suffix(".json") else {
            return Err(refused(
                format!(
                    "`time_trace` is {}, which does not end in `.json`",
                    file.display()
                ),
                "give it that ending, which the library writes",
            ));
        };
        // The library ends the process where it cannot write there.
        check_writable(file)?;
        list.value("--fdevice-time-trace", Some(stem), (12, 9));
    }
    if let Some(file) = &options.timings {
        if file != Path::new("-") {
            check_writable(file)?;
        }
        list.value("--time", Some(path(file)?), (12, 4));
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
        flags.push(format!("--include-path={}", path(folder)?));
    }
    for header in &options.preprocessor.pre_includes {
        flags.push(format!("--pre-include={}", line("pre_includes", header)?));
    }
    // The limit belongs to the process; the guard's own stack is deep enough.
    flags.push("--modify-stack-limit=false".to_owned());
    flags.extend(options.extra.iter().cloned());
    match flags.iter().find(|flag| flag.contains('\0')) {
        Some(flag) => Err(refused(
            format!("an option holds {flag:?}"),
            "take the NUL byte out",
        )),
        None => Ok(Flags { list: flags, needs }),
    }
}

fn check(options: &Options, kind: Option<&str>) -> Result<()> {
    let code = &options.code;
    check_jump_table_density("code.jump_table_density", code.jump_table_density)?;
    if options.language.float128 && options.arch < crate::Arch::SM_100 {
        return Err(refused(
            format!(
                "`language.float128` is there from sm_100 on, not for {}",
                options.arch
            ),
            "compile for sm_100 or newer, or leave it out",
        ));
    }
    let for_ptxas = [
        ("max_registers", code.max_registers.is_some()),
        ("ptxas", !code.ptxas.is_empty()),
    ];
    if kind.is_some_and(|kind| kind != Cubin::KIND) {
        if let Some((field, _)) = for_ptxas.iter().find(|(_, set)| *set) {
            return Err(refused(
                format!("`code.{field}` is for ptxas, which makes cubins alone"),
                "compile to `Cubin`, or give it to the linker instead",
            ));
        }
    }
    if code.optimised_lto && kind.is_some_and(|kind| kind != LtoIr::KIND) {
        return Err(refused(
            "`code.optimised_lto` is for LTO IR alone".to_owned(),
            "compile to `LtoIr`, or leave it out",
        ));
    }
    if options.debug.numba && !options.debug.full {
        return Err(refused(
            "`debug.numba` is a form of full debugging information, which is off".to_owned(),
            "set `debug.full` too",
        ));
    }
    // The library ends the process over an empty one, and drops what is too large.
    let empty = [
        (
            "code.ptxas",
            code.ptxas.iter().any(|flag| flag.trim().is_empty()),
        ),
        (
            "code.random_seed",
            code.random_seed
                .as_ref()
                .is_some_and(|seed| seed.trim().is_empty()),
        ),
    ];
    if let Some((field, _)) = empty.iter().find(|(_, empty)| *empty) {
        return Err(refused(
            format!("`{field}` holds an empty text"),
            "say what the flag is to be, or leave it out",
        ));
    }
    if code
        .split_compile
        .is_some_and(|threads| i32::try_from(threads).is_err())
    {
        return Err(refused(
            "`code.split_compile` is larger than any number of threads".to_owned(),
            "set it to the threads that there are, or to 0 for all",
        ));
    }
    if code.max_registers == Some(0) {
        return Err(refused(
            "`code.max_registers` is 0".to_owned(),
            "set it to 16 or more, or leave it out",
        ));
    }
    if options.diagnostics.version_ident == Some(true) {
        return Err(refused(
            "`diagnostics.version_ident` puts a line into the PTX that no compiler of PTX reads"
                .to_owned(),
            "leave it out; `Library` tells the version of NVRTC",
        ));
    }
    if options.diagnostics.max_errors == Some(0) {
        return Err(refused(
            "`diagnostics.max_errors` is 0".to_owned(),
            "set it to 1 or more",
        ));
    }
    check_extra(&options.extra, extra::FLAGS)
}

/// A text that the library would cut at the end of its first line.
fn line<'a>(field: &str, text: &'a str) -> Result<&'a str> {
    if text.trim().is_empty() || (field == "pre_includes" && text.contains('"')) {
        return Err(refused(
            format!("`preprocessor.{field}` holds {text:?}"),
            "write the name alone, without quotes, or leave it out",
        ));
    }
    if text.contains(['\n', '\r']) {
        return Err(refused(
            format!("`preprocessor.{field}` holds {text:?}, which is more than one line"),
            "write it as one line, or put it into a header",
        ));
    }
    Ok(text)
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

fn refused(problem: String, hint: &str) -> Error {
    Error::invalid_options(problem, hint)
}

pub(super) fn path(path: &Path) -> Result<&str> {
    let text = path.to_str().ok_or_else(|| {
        refused(
            format!("the path {} is no UTF-8", path.display()),
            "give the library a path that is",
        )
    })?;
    if text.trim() != text {
        return Err(refused(
            format!("the path {text:?} begins or ends with a blank, which the library takes off"),
            "rename the file or folder",
        ));
    }
    Ok(text)
}

fn check_writable(file: &Path) -> Result<()> {
    let there = file.exists();
    if there && !file.is_file() {
        return Err(refused(
            format!("{} is no file", file.display()),
            "name a file, or one that does not exist yet",
        ));
    }
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .map_err(|e| Error::io("write", file, &e))?;
    if !there {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}
