//! Options as the flags that NVRTC takes, and the version that each needs.

use std::fmt::Display;
use std::path::Path;

use super::options::{FastCompile, Options, PchMode, Standard};
use crate::error::{Error, Library, Result};

/// Major and minor; the oldest of the measured versions that takes a flag.
type Needs = (u32, u32);
const ALL: Needs = (0, 0);

/// The flags of the typed fields but the architecture's, then `extra`.
///
/// # Errors
///
/// For a flag that this version lacks, and for what `extra` may not hold.
pub(super) fn flags(options: &Options, version: Needs, library: &Library) -> Result<Vec<String>> {
    let mut list = List(Vec::new());
    code(options, &mut list);
    language(options, &mut list);
    diagnostics(options, &mut list);
    pch(options, &mut list)?;
    if let Some(percent) = options.code.jump_table_density.filter(|&p| p > 101) {
        return Err(refused(
            format!("`code.jump_table_density` is {percent}"),
            "it is a percentage from 0 to 101, where 101 means never",
        ));
    }
    if options.language.float128 && options.arch < crate::Arch::SM_100 {
        return Err(refused(
            format!(
                "`language.float128` is there from sm_100 on, not for {}",
                options.arch
            ),
            "compile for sm_100 or newer, or leave it out",
        ));
    }
    if let Some(file) = &options.time_trace {
        // The library ends the process where it cannot write there.
        check_writable(file)?;
        list.value("--fdevice-time-trace", Some(path(file)?), (12, 9));
    }
    check_extra(&options.extra)?;
    if let Some((flag, (major, minor))) = list.0.iter().find(|(_, needs)| *needs > version) {
        return Err(Error::Unsupported {
            what: format!("the option `{flag}`"),
            needs: format!("NVRTC {major}.{minor} or newer"),
            library: library.clone(),
        });
    }
    let mut flags: Vec<String> = list.0.into_iter().map(|(flag, _)| flag).collect();
    for define in &options.preprocessor.defines {
        flags.push(format!("--define-macro={define}"));
    }
    for undefine in &options.preprocessor.undefines {
        flags.push(format!("--undefine-macro={undefine}"));
    }
    for folder in &options.preprocessor.include_folders {
        flags.push(format!("--include-path={}", path(folder)?));
    }
    for header in &options.preprocessor.pre_includes {
        flags.push(format!("--pre-include={header}"));
    }
    // The limit belongs to the process; the guard's own stack is deep enough.
    flags.push("--modify-stack-limit=false".to_owned());
    flags.extend(options.extra.iter().cloned());
    match flags.iter().find(|flag| flag.contains('\0')) {
        Some(flag) => Err(refused(
            format!("an option holds {flag:?}"),
            "take the NUL byte out",
        )),
        None => Ok(flags),
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
    list.value("--split-compile", code.split_compile, (12, 9));
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
    list.when(language.restrict, "--restrict", ALL);
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
    list.when(
        said.warnings_as_errors,
        "--warning-as-error=all-warnings",
        (13, 5),
    );
    list.value("--version-ident", said.version_ident, ALL);
}

fn pch(options: &Options, list: &mut List) -> Result<()> {
    const PCH: Needs = (12, 9);
    let pch = &options.pch;
    match &pch.mode {
        PchMode::Off => {}
        PchMode::Automatic => list.when(true, "--pch", PCH),
        PchMode::Create(file) => list.value("--create-pch", Some(path(file)?), PCH),
        PchMode::Use(file) => list.value("--use-pch", Some(path(file)?), PCH),
    }
    let folder = pch.folder.as_deref().map(path).transpose()?;
    list.value("--pch-dir", folder, PCH);
    list.when(pch.verbose, "--pch-verbose=true", PCH);
    list.value("--pch-messages", pch.messages, PCH);
    list.value(
        "--instantiate-templates-in-pch",
        pch.instantiate_templates,
        PCH,
    );
    Ok(())
}

fn refused(problem: String, hint: &str) -> Error {
    Error::InvalidOptions {
        problem,
        hint: hint.to_owned(),
    }
}

fn path(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        refused(
            format!("the path {} is no UTF-8", path.display()),
            "give the library a path that is",
        )
    })
}

fn check_writable(file: &Path) -> Result<()> {
    let there = file.exists();
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

/// The beginnings of flags that have a field, and the field.
const TYPED: &[(&[&str], &str)] = &[
    (&["--gpu-architecture", "-arch"], "arch"),
    (&["--define-macro", "-D"], "preprocessor.defines"),
    (&["--undefine-macro", "-U"], "preprocessor.undefines"),
    (&["--include-path", "-I"], "preprocessor.include_folders"),
    (&["--pre-include", "-include"], "preprocessor.pre_includes"),
    (&["--use-bundled-headers"], "preprocessor.bundled_headers"),
    (&["--std", "-std"], "language.standard"),
    (&["--device-debug", "-G"], "debug.full"),
    (&["--generate-line-info", "-lineinfo"], "debug.line_info"),
    (
        &["--relocatable-device-code", "-rdc", "--device-c", "-dc"],
        "code.relocatable",
    ),
    (&["--fdevice-time-trace"], "time_trace"),
    (
        &["--pch", "-pch", "--create-pch", "--use-pch", "--pch-dir"],
        "pch",
    ),
    (&["--split-compile"], "code.split_compile"),
];

fn check_extra(extra: &[String]) -> Result<()> {
    for flag in extra {
        let name = flag.split_once('=').map_or(flag.as_str(), |(name, _)| name);
        let short = |typed: &str| typed.len() == 2 && typed != "-G" && flag.starts_with(typed);
        let typed = TYPED
            .iter()
            .find(|(names, _)| names.iter().any(|typed| *typed == name || short(typed)));
        let hint = match typed {
            Some((_, field)) => format!("set the field `{field}` instead"),
            None if ["-dlto", "--dlink-time-opt", "--gen-opt-lto"].contains(&name) => {
                "compile to `LtoIr` instead".to_owned()
            }
            None if ["--modify-stack-limit", "-modify-stack-limit"].contains(&name) => {
                "leave it out: the crate gives the compiler a stack of its own".to_owned()
            }
            None if ["--fdevice-syntax-only", "--optix-ir", "-optix-ir"].contains(&name) => {
                "leave it out: it leaves nothing of what was asked for".to_owned()
            }
            None if !flag.starts_with('-') => "a flag begins with `-`".to_owned(),
            None if flag.trim() != flag => "take the blanks around it off".to_owned(),
            None => continue,
        };
        return Err(refused(format!("`extra` holds {flag:?}"), &hint));
    }
    Ok(())
}
