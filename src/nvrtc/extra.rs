//! The flags of NVRTC that `extra` may not hold, in every spelling that the libraries were seen to take.

use crate::options::Instead::{Do, Field};
use crate::options::Known;

pub(super) const FLAGS: Known = &[
    (&["gpu-architecture", "arch"], Field("arch")),
    (
        &[
            "relocatable-device-code",
            "rdc",
            "device-c",
            "dc",
            "device-w",
            "dw",
        ],
        Field("code.relocatable"),
    ),
    (
        &["extensible-whole-program", "ewp"],
        Field("code.extensible_whole_program"),
    ),
    (&["maxrregcount"], Field("code.max_registers")),
    (&["ftz"], Field("code.ftz")),
    (&["prec-sqrt"], Field("code.prec_sqrt")),
    (&["prec-div"], Field("code.prec_div")),
    (&["fmad"], Field("code.fmad")),
    (&["use_fast_math"], Field("code.fast_math")),
    (&["ffinite-math-only"], Field("code.finite_math")),
    (&["fno-signed-zeros"], Field("code.no_signed_zeros")),
    (
        &["extra-device-vectorization"],
        Field("code.extra_vectorization"),
    ),
    (&["ptxas-options", "Xptxas"], Field("code.ptxas")),
    (&["split-compile"], Field("code.split_compile")),
    (&["Ofast-compile", "Ofc"], Field("code.fast_compile")),
    (
        &["jump-table-density", "jtd"],
        Field("code.jump_table_density"),
    ),
    (&["device-stack-protector"], Field("code.stack_protector")),
    (&["frandom-seed"], Field("code.random_seed")),
    (&["no-cache"], Field("code.no_cache")),
    (&["define-macro", "D*"], Field("preprocessor.defines")),
    (&["undefine-macro", "U*"], Field("preprocessor.undefines")),
    (
        &["include-path", "I*"],
        Field("preprocessor.include_folders"),
    ),
    (
        &["use-bundled-headers"],
        Field("preprocessor.bundled_headers"),
    ),
    (
        &["pre-include", "include"],
        Field("preprocessor.pre_includes"),
    ),
    (
        &["no-source-include"],
        Field("preprocessor.no_source_include"),
    ),
    (&["std"], Field("language.standard")),
    (
        &["builtin-move-forward"],
        Field("language.builtin_move_forward"),
    ),
    (
        &["builtin-initializer-list"],
        Field("language.builtin_initializer_list"),
    ),
    (
        &["device-as-default-execution-space", "default-device"],
        Field("language.device_by_default"),
    ),
    (&["device-int128"], Field("language.int128")),
    (&["device-float128"], Field("language.float128")),
    (&["minimal"], Field("language.minimal")),
    (
        &["disable-warnings", "w"],
        Field("diagnostics.disable_warnings"),
    ),
    (&["diag-error"], Field("diagnostics.errors")),
    (&["diag-suppress"], Field("diagnostics.suppress")),
    (&["diag-warn"], Field("diagnostics.warnings")),
    (
        &["optimization-info", "opt-info"],
        Field("diagnostics.inline_remarks"),
    ),
    (
        &[
            "display-error-number",
            "err-no",
            "no-display-error-number",
            "no-err-no",
        ],
        Field("diagnostics.error_numbers"),
    ),
    (
        &["brief-diagnostics", "brief-diag"],
        Field("diagnostics.brief"),
    ),
    (&["Wreorder"], Field("diagnostics.reorder")),
    (&["Wconversion"], Field("diagnostics.conversion")),
    (&["fmax-errors"], Field("diagnostics.max_errors")),
    (
        &["warning-as-error", "Werror"],
        Field("diagnostics.warnings_as_errors"),
    ),
    (&["version-ident", "dQ"], Field("diagnostics.version_ident")),
    (&["device-debug", "G"], Field("debug.full")),
    (
        &["generate-line-info", "lineinfo"],
        Field("debug.line_info"),
    ),
    (&["dopt"], Field("debug.optimised")),
    (&["numba-debug"], Field("debug.numba")),
    (&["pch", "create-pch", "use-pch"], Field("pch.mode")),
    (&["pch-dir"], Field("pch.folder")),
    (&["pch-verbose"], Field("pch.verbose")),
    (&["pch-messages"], Field("pch.messages")),
    (
        &["instantiate-templates-in-pch"],
        Field("pch.instantiate_templates"),
    ),
    (&["fdevice-time-trace"], Field("time_trace")),
    (&["time"], Field("timings")),
    (
        &["dlto", "dlink-time-opt"],
        Do("compile to `LtoIr` instead"),
    ),
    (&["gen-opt-lto"], Field("code.optimised_lto")),
    (
        &["modify-stack-limit"],
        Do("leave it out: the crate gives the compiler a stack of its own"),
    ),
    (
        &["restrict"],
        Do(
            "mark the pointers `__restrict__` instead: the library would keep the flag for all later \
             programs of the process",
        ),
    ),
    (
        &["fdevice-syntax-only"],
        Do("call `Program::check` instead"),
    ),
    (
        &["optix-ir"],
        Do("leave it out: OptiX IR is nothing that the crate makes"),
    ),
    (
        &[
            "enable-tile",
            "tile-only",
            "simt-only",
            "default-tile",
            "tile-as-default-execution-space",
            "tile-preview",
            "diagnose-implicit-tile-var",
        ],
        Do("leave it out: Tile IR is nothing that the crate makes, and would be lost"),
    ),
    (
        &["utf-8"],
        Do("leave it out: sources are UTF-8 as they are"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nvrtc::flags::flags;
    use crate::nvrtc::{FastCompile, Options, Standard, WarningKind};
    use crate::options::tests::assert_fields_are_known;

    #[test]
    fn every_flag_that_a_field_becomes_is_refused_among_the_extra_ones() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::new(crate::Arch::SM_100);
        let code = &mut options.code;
        code.relocatable = true;
        code.extensible_whole_program = true;
        code.max_registers = Some(32);
        code.ftz = Some(true);
        code.prec_sqrt = Some(true);
        code.prec_div = Some(true);
        code.fmad = Some(true);
        code.fast_math = true;
        code.finite_math = true;
        code.no_signed_zeros = true;
        code.optimised_lto = true;
        code.extra_vectorization = true;
        code.ptxas.push("-v".to_owned());
        code.split_compile = Some(2);
        code.fast_compile = Some(FastCompile::Min);
        code.jump_table_density = Some(5);
        code.stack_protector = Some(true);
        code.random_seed = Some("seed".to_owned());
        code.no_cache = true;
        let preprocessor = &mut options.preprocessor;
        preprocessor.define("A", "1");
        preprocessor.undefines.push("B".to_owned());
        preprocessor.include_folders.push("include".into());
        preprocessor.pre_includes.push("first.h".to_owned());
        preprocessor.no_source_include = true;
        let language = &mut options.language;
        language.standard = Some(Standard::Cpp20);
        language.builtin_move_forward = Some(false);
        language.builtin_initializer_list = Some(false);
        language.device_by_default = true;
        language.int128 = true;
        language.float128 = true;
        language.minimal = true;
        let said = &mut options.diagnostics;
        said.disable_warnings = true;
        said.errors.push(1);
        said.suppress.push(2);
        said.warnings.push(3);
        said.inline_remarks = true;
        said.error_numbers = Some(true);
        said.brief = Some(true);
        said.reorder = true;
        said.conversion = true;
        said.warnings_as_errors.push(WarningKind::AllWarnings);
        said.max_errors = Some(4);
        said.version_ident = Some(false);
        options.debug.full = true;
        options.debug.line_info = true;
        options.debug.optimised = true;
        options.debug.numba = true;
        options.pch.verbose = Some(true);
        options.pch.messages = Some(true);
        options.pch.instantiate_templates = Some(true);
        options.time_trace = Some(folder.path().join("trace.json"));

        options.timings = Some(folder.path().join("times.csv"));

        let mut all = flags(&options, None).unwrap().list;
        // The crate's own.
        all.retain(|flag| flag != "--modify-stack-limit=false");
        options.diagnostics.error_numbers = Some(false);
        let other = flags(&options, None).unwrap().list;
        all.extend(other.into_iter().filter(|f| f.starts_with("--no-display")));
        let elsewhere = [
            "--gpu-architecture=sm_100",
            "--pch",
            "--pch-dir=pch",
            "--create-pch=made.pch",
            "--use-pch=made.pch",
        ];
        all.extend(elsewhere.map(str::to_owned));
        assert!(all.len() > 50, "{all:?}");
        assert_fields_are_known(&all, FLAGS);
    }
}
