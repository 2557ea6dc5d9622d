//! What nvJitLink is asked to do.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Library, Result};
use crate::nvvm::{Dialect, OptLevel};
use crate::options::{self, Instead, Known, adders, setters};
use crate::promises::Externals;

/// Options of one link.
///
/// A field that is `None` leaves the library's default. Every option that nvJitLink of CUDA 13.5
/// documents has a field; [`extra`](Options::extra) is for all others. An option that a version of the
/// library lacks is refused.
///
/// ```
/// use cuda_program::link::Options;
///
/// let options = Options::new().max_registers(64).line_info(true);
/// assert_eq!(options.max_registers, Some(64));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// `-g`: full debugging information. Default: off.
    pub debug: bool,
    /// `-lineinfo`: line numbers for profilers. Default: off.
    pub line_info: bool,
    /// `-verbose`: what the assembler used, as notes. Default: off.
    pub verbose: bool,
    /// `-time`: how long the link took, as a note. Default: off.
    pub time: bool,
    /// `-lto`: link-time optimisation; set by itself where an input is LTO IR or the output is PTX or LTO IR. Default: off.
    pub lto: bool,
    /// `-r`: a partial link, whose result may lack definitions and is linked again. From nvJitLink 13.2 on. Default: off.
    pub relocatable: bool,
    /// What PTX may refer to that no input defines. Default: nothing, but anything with `relocatable`,
    /// which decides for a cubin: a GPU loads none that lacks something.
    pub externals: Externals,
    /// `-optimize-unused-variables`: takes variables away that device code does not use, though host code may. Default: off.
    pub optimize_unused_variables: bool,
    /// `-no-cache`: keeps no intermediate steps. From nvJitLink 12.9 on. Default: off.
    pub no_cache: bool,
    /// `--device-stack-protector=true`: stack canaries in device code. From nvJitLink 12.9 on. Default: off.
    pub device_stack_protector: bool,
    /// `--device-stack-protector-frame-size-threshold=…`: the stack, in bytes, from which on a function is protected. From nvJitLink 12.9 on. Default: the library's choice.
    pub stack_protector_threshold: Option<u32>,
    /// `-maxrregcount=…`: registers a thread may use. Default: the library's choice.
    pub max_registers: Option<u32>,
    /// `-O…`: how much is optimised. From nvJitLink 12.4 on. Default: 3.
    pub opt: Option<OptLevel>,
    /// `-Ofc=…`: trades speed of the code for speed of the link. From nvJitLink 12.9 on. Default: off.
    pub fast_compile: Option<FastCompile>,
    /// `-ftz=…`: flushes single-precision denormals to zero. Default: keep them.
    pub ftz: Option<bool>,
    /// `-prec-div=…`: IEEE single-precision division. Default: on.
    pub prec_div: Option<bool>,
    /// `-prec-sqrt=…`: the IEEE single-precision square root. Default: on.
    pub prec_sqrt: Option<bool>,
    /// `-fma=…`: contracts a multiply and an add into one. Default: on.
    pub fma: Option<bool>,
    /// `-split-compile=…`: threads to optimise with, 0 for all processors. From nvJitLink 12.4 on. Default: 1.
    pub split_compile: Option<u32>,
    /// `-split-compile-extended=…`: threads for the whole link of LTO IR, 0 for all processors; refused where the process writes a decimal comma, which those threads would read PTX with. From nvJitLink 12.4 on. Default: 1.
    pub split_compile_extended: Option<u32>,
    /// `-jump-table-density=…`: how dense the cases of a switch must be to become a jump table, in percent, 0 to 101. From nvJitLink 12.4 on. Default: 101, never.
    pub jump_table_density: Option<u8>,
    /// `-kernels-used=…`: each kernel that is used; where any is named, the others may be dropped.
    pub kernels_used: Vec<String>,
    /// `-variables-used=…`: each variable that host code uses; where any is named, the others may be dropped. Names are not checked: LTO IR does not show its variables.
    pub variables_used: Vec<String>,
    /// `-Xptxas=…`: each flag of the assembler.
    pub ptxas: Vec<String>,
    /// `-Xnvvm=…`: each flag of the compiler that a link of LTO IR runs.
    pub nvvm: Vec<String>,
    /// `-nvvm-latest`, or not: by default where LTO IR of the newer dialect is linked for an
    /// architecture below sm_100.
    pub dialect: Dialect,
    /// Flags passed as they are, behind all others.
    pub extra: Vec<String>,
}

/// How much speed of the code a link gives up to be done sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FastCompile {
    /// `min`: hardly any.
    Min,
    /// `mid`: expensive optimisations are left out.
    Mid,
    /// `max`: most optimisations are left out.
    Max,
}

impl FastCompile {
    fn name(self) -> &'static str {
        match self {
            FastCompile::Min => "min",
            FastCompile::Mid => "mid",
            FastCompile::Max => "max",
        }
    }
}

fn level(opt: OptLevel) -> u8 {
    match opt {
        OptLevel::O0 => 0,
        OptLevel::O3 => 3,
    }
}

impl Options {
    /// The library's defaults.
    #[must_use]
    pub fn new() -> Self {
        Options::default()
    }

    setters! {
        debug: bool => std::convert::identity;
        line_info: bool => std::convert::identity;
        verbose: bool => std::convert::identity;
        time: bool => std::convert::identity;
        lto: bool => std::convert::identity;
        relocatable: bool => std::convert::identity;
        externals: Externals => std::convert::identity;
        optimize_unused_variables: bool => std::convert::identity;
        no_cache: bool => std::convert::identity;
        device_stack_protector: bool => std::convert::identity;
        max_registers: u32 => Some;
        opt: OptLevel => Some;
        fast_compile: FastCompile => Some;
        ftz: bool => Some;
        prec_div: bool => Some;
        prec_sqrt: bool => Some;
        fma: bool => Some;
        split_compile: u32 => Some;
        split_compile_extended: u32 => Some;
        jump_table_density: u8 => Some;
        stack_protector_threshold: u32 => Some;
        dialect: Dialect => std::convert::identity;
    }

    adders! {
        kernel_used: kernels_used;
        variable_used: variables_used;
        ptxas: ptxas;
        nvvm: nvvm;
        extra: extra;
    }

    /// The flags of the typed fields, without `-lto` and `-nvvm-latest`, which depend on the inputs.
    pub(super) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        for (flag, set) in [
            ("-g", self.debug),
            ("-lineinfo", self.line_info),
            ("-verbose", self.verbose),
            ("-time", self.time),
            ("-r", self.relocatable),
            ("-optimize-unused-variables", self.optimize_unused_variables),
            ("-no-cache", self.no_cache),
            ("--device-stack-protector=true", self.device_stack_protector),
        ] {
            if set {
                flags.push(flag.to_owned());
            }
        }
        flags.extend(
            self.max_registers
                .map(|value| format!("-maxrregcount={}", value)),
        );
        flags.extend(self.opt.map(|value| format!("-O{}", level(value))));
        flags.extend(
            self.fast_compile
                .map(|value| format!("-Ofc={}", value.name())),
        );
        flags.extend(
            self.stack_protector_threshold
                .map(|value| format!("--device-stack-protector-frame-size-threshold={value}")),
        );
        flags.extend(self.ftz.map(|value| format!("-ftz={}", u8::from(value))));
        flags.extend(
            self.prec_div
                .map(|value| format!("-prec-div={}", u8::from(value))),
        );
        flags.extend(
            self.prec_sqrt
                .map(|value| format!("-prec-sqrt={}", u8::from(value))),
        );
        flags.extend(self.fma.map(|value| format!("-fma={}", u8::from(value))));
        flags.extend(
            self.split_compile
                .map(|value| format!("-split-compile={}", value)),
        );
        flags.extend(
            self.split_compile_extended
                .map(|value| format!("-split-compile-extended={}", value)),
        );
        flags.extend(
            self.jump_table_density
                .map(|value| format!("-jump-table-density={}", value)),
        );
        flags.extend(
            self.kernels_used
                .iter()
                .map(|value| format!("-kernels-used={value}")),
        );
        flags.extend(
            self.variables_used
                .iter()
                .map(|value| format!("-variables-used={value}")),
        );
        flags.extend(self.ptxas.iter().map(|value| format!("-Xptxas={value}")));
        flags.extend(self.nvvm.iter().map(|value| format!("-Xnvvm={value}")));
        flags
    }

    /// Refuses a field that a library of this version cannot honour.
    pub(super) fn check_version(&self, version: (u32, u32), library: &Library) -> Result<()> {
        for flag in self.flags() {
            let needs = NEEDS.iter().find(|(start, _)| flag.starts_with(start));
            if let Some((_, (major, minor))) = needs.filter(|(_, needs)| *needs > version) {
                return Err(Error::Unsupported {
                    what: format!("the option `{flag}`"),
                    needs: format!("nvJitLink {major}.{minor} or later"),
                    library: library.clone(),
                });
            }
        }
        Ok(())
    }

    /// Refuses what cannot be honoured.
    pub(super) fn check(&self) -> Result<()> {
        options::check_jump_table_density("jump_table_density", self.jump_table_density)?;
        if self.opt.is_some() && self.fast_compile.is_some() {
            return refuse(
                "`opt` and `fast_compile` both say how much is optimised".to_owned(),
                "leave one of them out",
            );
        }
        if self.max_registers == Some(0) {
            return refuse(
                "`max_registers` is 0".to_owned(),
                "leave it out, or name a number",
            );
        }
        let threads = self.split_compile_extended.unwrap_or(1);
        if threads != 1 && !crate::guard::process_writes_a_point() {
            return refuse(
                "the process writes a decimal comma, and the threads of `split_compile_extended` \
                 would read numbers in PTX by it"
                    .to_owned(),
                "set LC_NUMERIC of the process to C, leave the option out, or link in another process",
            );
        }
        let named = self
            .kernels_used
            .iter()
            .chain(&self.variables_used)
            .chain(&self.ptxas)
            .chain(&self.nvvm);
        for value in named {
            if value.is_empty() || value.contains('\0') {
                return refuse(
                    format!("an option's value is {value:?}"),
                    "give a name or a flag without a NUL byte",
                );
            }
        }
        options::check_extra(&self.extra, FLAGS)
    }
}

/// How the flags begin that older libraries lack, and the oldest of the measured versions that takes
/// them. The first that fits counts.
const NEEDS: &[(&str, (u32, u32))] = &[
    ("-no-cache", (12, 9)),
    ("-Ofc", (12, 9)),
    ("--device-stack-protector", (12, 9)),
    // 12.0 takes it, and fails where it optimises.
    ("-O", (12, 4)),
    ("-split-compile", (12, 4)),
    ("-jump-table-density", (12, 4)),
];

const FLAGS: Known = &[
    (&["g"], Instead::Field("debug")),
    (&["lineinfo"], Instead::Field("line_info")),
    (&["verbose"], Instead::Field("verbose")),
    (&["time"], Instead::Field("time")),
    (&["lto", "dlto"], Instead::Field("lto")),
    (&["r"], Instead::Field("relocatable")),
    (
        &["optimize-unused-variables"],
        Instead::Field("optimize_unused_variables"),
    ),
    (&["no-cache"], Instead::Field("no_cache")),
    (
        &["device-stack-protector"],
        Instead::Field("device_stack_protector"),
    ),
    (&["maxrregcount"], Instead::Field("max_registers")),
    (&["O", "O0", "O3"], Instead::Field("opt")),
    (&["Ofc"], Instead::Field("fast_compile")),
    (&["ftz"], Instead::Field("ftz")),
    (&["prec-div"], Instead::Field("prec_div")),
    (&["prec-sqrt"], Instead::Field("prec_sqrt")),
    (&["fma"], Instead::Field("fma")),
    (&["split-compile"], Instead::Field("split_compile")),
    (
        &["split-compile-extended"],
        Instead::Field("split_compile_extended"),
    ),
    (
        &["jump-table-density"],
        Instead::Field("jump_table_density"),
    ),
    (&["kernels-used"], Instead::Field("kernels_used")),
    (&["variables-used"], Instead::Field("variables_used")),
    (
        &["device-stack-protector-frame-size-threshold"],
        Instead::Field("stack_protector_threshold"),
    ),
    (&["Xptxas"], Instead::Field("ptxas")),
    (&["Xnvvm"], Instead::Field("nvvm")),
    (&["nvvm-latest"], Instead::Field("dialect")),
    (
        &["arch"],
        Instead::Do("give the architecture to `Linker::new`"),
    ),
    (&["ptx"], Instead::Do("link to `Ptx` instead")),
];

fn refuse(problem: String, hint: &str) -> Result<()> {
    Err(Error::invalid_options(problem, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_that_a_field_becomes_is_refused_among_the_extra_ones() {
        let mut flags = Options::new()
            .debug(true)
            .line_info(true)
            .verbose(true)
            .time(true)
            .relocatable(true)
            .optimize_unused_variables(true)
            .no_cache(true)
            .device_stack_protector(true)
            .max_registers(32)
            .opt(OptLevel::O0)
            .fast_compile(FastCompile::Min)
            .ftz(true)
            .prec_div(true)
            .prec_sqrt(true)
            .fma(true)
            .split_compile(2)
            .split_compile_extended(2)
            .jump_table_density(5)
            .kernel_used("k")
            .variable_used("v")
            .ptxas("-v")
            .nvvm("-opt=0")
            .stack_protector_threshold(8)
            .flags();
        flags.push(format!("-O{}", level(OptLevel::O3)));
        // Those that depend on the inputs.
        flags.extend(["-lto", "-nvvm-latest"].map(str::to_owned));
        options::tests::assert_fields_are_known(&flags, FLAGS);
    }
}
