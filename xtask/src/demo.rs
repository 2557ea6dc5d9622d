//! `cargo xtask demo`: shows on two kernels what the library does.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use cuda_program::{Arch, Diagnostic, LtoIr, Ptx, Toolkit, gpu, nvvm};

use crate::error::{Error, Result};
use crate::toolkit;
use crate::workspace::Workspace;

/// The kernels, below `fixtures`: the second needs libdevice.
const KERNELS: [&str; 2] = ["saxpy.ll", "gelu.ll"];

const ARCH: Arch = Arch::SM_90;

/// Lines of PTX that are shown, comments and blank lines left out.
const PTX_LINES: usize = 24;

/// Compiles the kernels with the toolkit of this machine, or else with one installed for it.
pub fn run(workspace: &Workspace) -> Result<()> {
    let mut own = None;
    let toolkit = match Toolkit::discover().and_then(usable) {
        Ok(toolkit) => toolkit,
        // A toolkit that was named and is not there is a mistake to show, not to work around.
        Err(error) if std::env::var_os("CUDA_PROGRAM_TOOLKIT").is_some_and(|v| !v.is_empty()) => {
            return Err(error.into());
        }
        Err(_) => {
            println!("No toolkit was found on this machine; the demo uses its own, below target/.");
            let newest = toolkit::newest();
            toolkit::install(workspace, &[newest])?;
            own = Some(workspace.toolkits().join(newest.version));
            usable(Toolkit::at(workspace.toolkits().join(newest.version))?)?
        }
    };
    print!("{}", show(workspace, &toolkit)?);
    println!("\n{}", launch(workspace, &toolkit)?);
    if let Some(own) = own {
        println!(
            "\nTo use this toolkit from your own program:\n  export CUDA_PROGRAM_TOOLKIT={}",
            own.display()
        );
    }
    Ok(())
}

/// The toolkit, if it has what the demo needs.
fn usable(toolkit: Toolkit) -> cuda_program::Result<Toolkit> {
    toolkit.nvvm()?;
    toolkit.libdevice()?;
    Ok(toolkit)
}

fn show(workspace: &Workspace, toolkit: &Toolkit) -> Result<String> {
    let mut report = String::from("Toolkit\n");
    for source in toolkit.sources() {
        _ = writeln!(report, "  {source}");
    }
    for kernel in KERNELS {
        let path = workspace.root().join("fixtures").join(kernel);
        report.push_str(&compile(toolkit, kernel, &path)?);
    }
    Ok(report)
}

/// Loads and launches the first kernel where there is a GPU, and checks its numbers.
fn launch(workspace: &Workspace, toolkit: &Toolkit) -> Result<String> {
    const N: u32 = 10_000;
    const A: f32 = 3.0;
    let context = match gpu::context(0) {
        Ok(context) => context,
        Err(cuda_program::Error::NoDriver(missing)) => {
            return Ok(format!("Not launched: {missing}"));
        }
        Err(error) => return Err(error.into()),
    };
    let path = workspace.root().join("fixtures").join(KERNELS[0]);
    let program = nvvm::Program::new(toolkit)?;
    program.add_module(
        KERNELS[0],
        std::fs::read(&path).map_err(Error::io("read", &path))?,
    )?;
    let saxpy = program.load(&context)?.kernel("saxpy")?;
    let stream = context.default_stream();
    let x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let on_device = stream.clone_htod(&x)?;
    let mut y = stream.clone_htod(&vec![1.0_f32; x.len()])?;
    let config = gpu::LaunchConfig::for_elements(N);
    // SAFETY: the kernel takes an i32, a float and two pointers, and touches N elements of each.
    unsafe { saxpy.launch(&stream, config, (N, A, &on_device, &mut y))? };
    let y = stream.clone_dtoh(&y)?;
    let wrong = y.iter().zip(&x).filter(|&(y, x)| *y != A * x + 1.0).count();
    if wrong > 0 {
        return Err(Error::WrongNumbers { wrong, of: y.len() });
    }
    let device = context.name()?;
    Ok(format!(
        "Launched on {device}: saxpy of {N} elements, all right"
    ))
}

fn compile(toolkit: &Toolkit, name: &str, path: &Path) -> Result<String> {
    let ir = std::fs::read(path).map_err(Error::io("read", path))?;
    let mut report = format!("\n{name} for {ARCH}: {} bytes of NVVM IR\n", ir.len());

    let program = nvvm::Program::new(toolkit)?;
    program.add_module(name, &ir)?;
    let options = nvvm::Options::new(ARCH);
    let (ptx, ptx_time) = timed(|| program.compile::<Ptx>(&options))?;
    let (lto, lto_time) = timed(|| program.compile::<LtoIr>(&options))?;

    let kernels: Vec<_> = ptx.kernels().iter().map(|k| k.name.as_str()).collect();
    _ = writeln!(
        report,
        "  PTX {}: {} bytes in {ptx_time}, kernels: {}",
        ptx.isa_version(),
        ptx.as_bytes().len(),
        kernels.join(", "),
    );
    _ = writeln!(
        report,
        "  LTO IR: {} bytes in {lto_time}, kernels: {}",
        lto.as_bytes().len(),
        lto.kernels().join(", "),
    );
    if program
        .modules()
        .iter()
        .flat_map(|(_, module)| module.undefined())
        .any(|function| function.name.starts_with(b"__nv_"))
    {
        report
            .push_str("  libdevice was added by itself, for the `__nv_*` functions it declares\n");
    }
    for diagnostic in said(ptx.diagnostics(), lto.diagnostics()) {
        _ = writeln!(report, "  {diagnostic}");
    }
    let code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    for line in ptx.as_str().lines().filter(code).take(PTX_LINES) {
        _ = writeln!(report, "    {}", line.replace('\t', "  "));
    }
    report.push_str("    ...\n");
    Ok(report)
}

/// What the compiler said of either output, each message once.
fn said<'a>(one: &'a [Diagnostic], other: &'a [Diagnostic]) -> Vec<&'a Diagnostic> {
    let more = other.iter().filter(|d| !one.contains(d));
    one.iter().chain(more).collect()
}

fn timed<T>(work: impl FnOnce() -> cuda_program::Result<T>) -> Result<(T, String)> {
    let start = Instant::now();
    let value = work()?;
    let time = format!("{:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    Ok((value, time))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    fn the_demo_compiles_both_kernels_with_every_toolkit(
        #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    ) {
        let workspace = Workspace::current();
        let toolkit = Toolkit::at(workspace.toolkits().join(version))
            .unwrap_or_else(|e| panic!("run `cargo xtask toolkit {version}` first: {e}"));
        let report = show(&workspace, &usable(toolkit).unwrap()).unwrap();
        for expected in [
            "libdevice",
            "kernels: saxpy",
            "kernels: gelu",
            "    .target sm_90",
            "    .visible .entry gelu(",
        ] {
            assert!(report.contains(expected), "{expected} in\n{report}");
        }
        // No extern is left: libdevice was linked in.
        assert!(!report.contains("__nv_tanhf"), "{report}");
    }
}
