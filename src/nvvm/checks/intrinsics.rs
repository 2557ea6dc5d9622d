//! Intrinsics that end the process, or that a compiler has no code for.

mod table;

use super::program::Path;
use super::refusal::Refusal;
use crate::nvvm::reader::ModuleInfo;
use table::{Said, Table};

/// Refuses the first intrinsic that the compiler of this path has no code for.
///
/// The oldest library has less, and the newest, too.
pub(super) fn check(info: &ModuleInfo, path: Path, age: Age) -> Result<(), Refusal> {
    for intrinsic in &info.intrinsics {
        if let Some((problem, hint)) = judge(&intrinsic.name, path, age) {
            let problem = format!("`{}` {problem}", intrinsic.name);
            return Err(Refusal::new(problem, hint).at(intrinsic.line));
        }
    }
    Ok(())
}

/// How old a library is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Age {
    /// That of CUDA 12.0.
    First,
    /// Any other.
    Middle,
    /// That of CUDA 13.5, or later.
    Last,
}

/// What only marks code, with metadata or types of any shape: every compiler drops it.
const MARKS: [&str; 6] = [
    "dbg.",
    "lifetime.",
    "invariant.",
    "experimental.noalias.scope.decl",
    "ptr.annotation",
    "var.annotation",
];

/// What speaks against an intrinsic, and what to use instead. This is the one place that decides.
fn judge(name: &str, path: Path, age: Age) -> Option<(&'static str, String)> {
    let name = name.strip_prefix("llvm.")?;
    if MARKS.iter().any(|mark| name.starts_with(mark)) {
        return None;
    }
    match Table::of(path).says(name) {
        Said::Taken if age == Age::Last && path == Path::Modern && Table::last().refuses(name) => {
            Some((
                "has no code in this version of the compiler",
                way_out(name, path),
            ))
        }
        Said::Taken
            if age == Age::First && path == Path::Legacy && Table::first().refuses(name) =>
        {
            Some((
                "has no code in libNVVM of CUDA 12.0",
                "take a newer libNVVM, or write it out in instructions".to_owned(),
            ))
        }
        Said::Taken => None,
        // Newer libraries have more of them, and what comes back of an older one is looked at.
        Said::Nothing if name.starts_with("nvvm.") => None,
        Said::Nothing => Some((
            "is no intrinsic that any compiler for GPUs is known to have code for",
            format!(
                "write it out in instructions, or in functions of libdevice (`__nv_*`){}",
                newer(name, path)
            ),
        )),
        Said::Refused => Some(("has no code in this compiler", way_out(name, path))),
    }
}

/// What to write in its stead.
fn way_out(name: &str, path: Path) -> String {
    let (function, type_) = name.split_once('.').unwrap_or((name, ""));
    if !is_in_libdevice(function) {
        return format!("write it out in instructions{}", newer(name, path));
    }
    let suffix = if type_.starts_with("f64") { "" } else { "f" };
    match type_.split('.').next().unwrap_or_default() {
        "f32" | "f64" => format!("call `__nv_{function}{suffix}` of libdevice instead"),
        "f16" | "bf16" => format!(
            "widen it to float, call `__nv_{function}f` of libdevice, and narrow what comes back"
        ),
        _ => format!("call `__nv_{function}{suffix}` of libdevice for each element instead"),
    }
}

/// That the other compiler has it, where it has.
fn newer(name: &str, path: Path) -> &'static str {
    match path {
        Path::Legacy if Table::of(Path::Modern).says(name) == Said::Taken => {
            ", or ask for `Dialect::Latest` where libNVVM has it, whose compiler takes it"
        }
        _ => "",
    }
}

/// Functions that libdevice has by the name of the intrinsic, with an `f` behind it for float.
fn is_in_libdevice(function: &str) -> bool {
    const FUNCTIONS: [&str; 36] = [
        "acos",
        "asin",
        "atan",
        "atan2",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "exp",
        "exp10",
        "exp2",
        "fabs",
        "floor",
        "fma",
        "frexp",
        "ldexp",
        "llrint",
        "llround",
        "log",
        "log10",
        "log2",
        "lrint",
        "lround",
        "modf",
        "nearbyint",
        "pow",
        "powi",
        "rint",
        "round",
        "sin",
        "sincos",
        "sincospi",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
    ];
    FUNCTIONS.contains(&function)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("llvm.exp.f32", Path::Legacy, "call `__nv_expf` of libdevice instead")]
    #[case(
        "llvm.powi.f64.i32",
        Path::Modern,
        "call `__nv_powi` of libdevice instead"
    )]
    #[case("llvm.log2.f16", Path::Modern, "widen it to float")]
    #[case("llvm.exp.v16f16", Path::Modern, "for each element")]
    #[case("llvm.umul.with.overflow.i65", Path::Legacy, "write it out")]
    #[case("llvm.smul.with.overflow.i300", Path::Legacy, "write it out")]
    #[case("llvm.bswap.i40", Path::Legacy, "write it out")]
    #[case("llvm.sqrt.f128", Path::Legacy, "")]
    #[case("llvm.minnum.ppcf128", Path::Legacy, "write it out")]
    #[case("llvm.smax.i32", Path::Legacy, "`Dialect::Latest`")]
    #[case("llvm.vector.reduce.add.v4i32", Path::Legacy, "`Dialect::Latest`")]
    #[case("llvm.x86.sse2.pause", Path::Modern, "write it out")]
    #[case("llvm.coro.begin", Path::Legacy, "write it out")]
    fn what_has_no_code_is_refused_with_a_way_out(
        #[case] name: &str,
        #[case] path: Path,
        #[case] way: &str,
    ) {
        let (_, hint) = judge(name, path, Age::Middle).unwrap();
        assert!(hint.contains(way), "{hint}");
    }

    #[test]
    fn what_the_oldest_library_alone_dies_of_is_refused_for_it_alone() {
        let judged = |age| judge("llvm.stacksave", Path::Legacy, age);
        assert_eq!(judged(Age::Middle), None);
        assert_eq!(judged(Age::Last), None);
        assert!(judged(Age::First).unwrap().0.contains("CUDA 12.0"));
    }

    #[test]
    fn what_the_newest_library_alone_has_no_code_for_is_refused_for_it_alone() {
        let judged = |age| judge("llvm.tan.f32", Path::Modern, age);
        assert_eq!(judged(Age::Middle), None);
        assert!(judged(Age::Last).unwrap().1.contains("`__nv_tanf`"));
    }

    #[rstest]
    #[case("llvm.sqrt.f32")]
    #[case("llvm.fma.v2f64")]
    #[case("llvm.memcpy.p0i8.p1i8.i64")]
    #[case("llvm.memcpy.p0.p1.i64")]
    #[case("llvm.memset.p0s_struct.Foos.i64")]
    #[case("llvm.masked.load.v4f32.p1v4f32")]
    #[case("llvm.ctpop.v16i64")]
    #[case("llvm.fma.v16f32")]
    #[case("llvm.dbg.value")]
    #[case("llvm.lifetime.start.p0i8")]
    #[case("llvm.nvvm.barrier0")]
    #[case("llvm.nvvm.of.a.later.library")]
    #[case("my.function")]
    fn what_both_compilers_take_or_newer_libraries_may_have_passes(#[case] name: &str) {
        for path in [Path::Legacy, Path::Modern] {
            assert_eq!(judge(name, path, Age::Middle), None);
        }
    }
}
