//! Intrinsics that end the process, or that no compiler knows.

use super::program::Path;
use super::refusal::Refusal;
use crate::nvvm::reader::ModuleInfo;

/// Refuses the first intrinsic that the compiler of this path has no answer to.
pub(super) fn check(info: &ModuleInfo, path: Path) -> Result<(), Refusal> {
    for intrinsic in &info.intrinsics {
        if let Some((problem, hint)) = judge(&intrinsic.name, path) {
            let problem = format!("`{}` {problem}", intrinsic.name);
            return Err(Refusal::new(problem, hint).at(intrinsic.line));
        }
    }
    Ok(())
}

/// What speaks against an intrinsic, and what to use instead. This is the one place that decides.
fn judge(name: &str, path: Path) -> Option<(&'static str, String)> {
    let name = name.strip_prefix("llvm.")?;
    let (function, type_) = name.split_once('.')?;
    let fatal = match path {
        Path::Legacy => matches!(function, "powi" | "exp" | "exp2" | "log" | "log2" | "log10"),
        Path::Modern => {
            function == "powi"
                || type_ == "f16" && matches!(function, "exp" | "exp10" | "log" | "log2" | "log10")
        }
    };
    fatal.then(|| {
        let suffix = if type_.starts_with("f64") { "" } else { "f" };
        (
            "is none that this compiler survives",
            format!("call `__nv_{function}{suffix}` of libdevice instead"),
        )
    })
}
