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
    (&["restrict"], Field("language.restrict")),
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
    (&["pch", "create-pch", "use-pch"], Field("pch.mode")),
    (&["pch-dir"], Field("pch.folder")),
    (&["pch-verbose"], Field("pch.verbose")),
    (&["pch-messages"], Field("pch.messages")),
    (
        &["instantiate-templates-in-pch"],
        Field("pch.instantiate_templates"),
    ),
    (&["fdevice-time-trace", "time"], Field("time_trace")),
    (
        &["dlto", "dlink-time-opt", "gen-opt-lto"],
        Do("compile to `LtoIr` instead"),
    ),
    (
        &["modify-stack-limit"],
        Do("leave it out: the crate gives the compiler a stack of its own"),
    ),
    (
        &["fdevice-syntax-only", "optix-ir"],
        Do("leave it out: it leaves nothing of what was asked for"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Library;
    use crate::nvrtc::flags::flags;
    use crate::nvrtc::{FastCompile, Options, PchMode, Standard};
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
        language.restrict = true;
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
        said.warnings_as_errors = true;
        said.version_ident = Some(true);
        options.debug.full = true;
        options.debug.line_info = true;
        options.debug.optimised = true;
        options.pch.mode = PchMode::Create("made.pch".into());
        options.pch.folder = Some("pch".into());
        options.pch.verbose = true;
        options.pch.messages = Some(true);
        options.pch.instantiate_templates = Some(true);
        options.time_trace = Some(folder.path().join("trace.json"));

        let newest = (u32::MAX, 0);
        let library = Library {
            name: "NVRTC".to_owned(),
            version: None,
            path: "libnvrtc.so".into(),
        };
        let mut all = flags(&options, newest, &library).unwrap();
        // The crate's own.
        all.retain(|flag| flag != "--modify-stack-limit=false");
        options.diagnostics.error_numbers = Some(false);
        options.pch.mode = PchMode::Use("made.pch".into());
        all.extend(
            flags(&options, newest, &library)
                .unwrap()
                .into_iter()
                .filter(|flag| flag.starts_with("--no-display") || flag.starts_with("--use-pch")),
        );
        all.extend(["--pch", "--gpu-architecture=sm_100"].map(str::to_owned));
        assert!(all.len() > 50, "{all:?}");
        assert_fields_are_known(&all, FLAGS);
    }
}
