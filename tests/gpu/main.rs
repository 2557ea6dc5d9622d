//! What only a GPU can show. Every test is reported as ignored, with the reason, where there is none.
//!
//! The toolkit is the one that `CUDA_PROGRAM_TOOLKIT` names, or that of `target/toolkits`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod contexts;
mod cuda_cpp;
mod first_calls;
mod languages;
mod launches;
mod math;
mod modules;
mod numbers;
mod nvrtc_load;
#[path = "../../src/testing/random.rs"]
mod random;
#[path = "../common/raw.rs"]
mod raw;
mod sources;

use std::path::Path;
use std::sync::Arc;

use cuda_program::error::DriverProblem;
use cuda_program::gpu::cudarc::driver::{CudaContext, CudaStream};
use cuda_program::{Error, Toolkit, gpu};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

pub type Tested = Result<(), Box<dyn std::error::Error>>;

/// A device to test on.
pub struct Gpu {
    pub context: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
    pub toolkit: Toolkit,
}

impl Gpu {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let context = gpu::context(0)?;
        Ok(Gpu {
            stream: context.default_stream(),
            context,
            toolkit: toolkit()?,
        })
    }
}

fn toolkit() -> cuda_program::Result<Toolkit> {
    if std::env::var_os("CUDA_PROGRAM_TOOLKIT").is_some_and(|named| !named.is_empty()) {
        return Toolkit::discover();
    }
    Toolkit::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toolkits/13.5"))
}

/// What a test needs beyond one device.
pub enum Needs {
    Nothing,
    /// A compute capability of at least this.
    Capability(i32),
    Devices(usize),
    /// NVRTC, which a bundle leaves out, and a compute capability of at least this.
    Nvrtc(i32),
}

/// One test.
pub struct Test(
    pub String,
    pub Needs,
    pub Box<dyn FnOnce(&Gpu) -> Tested + Send>,
);

/// A test that needs nothing more.
pub fn test(name: &str, run: fn(&Gpu) -> Tested) -> Test {
    Test(name.to_owned(), Needs::Nothing, Box::new(run))
}

/// Whether there is nothing to test on, rather than something broken.
fn is_absent(problem: DriverProblem) -> bool {
    matches!(
        problem,
        DriverProblem::Missing | DriverProblem::Stub | DriverProblem::NoDevice
    )
}

/// Why a test cannot run here.
fn missing(needs: &Needs) -> Option<String> {
    let devices = match gpu::device_count() {
        Ok(count) => count,
        Err(Error::NoDriver(e)) if is_absent(e.problem) => return Some(e.what),
        // A driver that is there and broken is no reason to pass by.
        Err(e) => panic!("{e}"),
    };
    match *needs {
        Needs::Nothing => None,
        Needs::Devices(n) => {
            (devices < n).then(|| format!("it needs {n} devices, and there are {devices}"))
        }
        Needs::Capability(least) => too_old(least),
        Needs::Nvrtc(least) => match toolkit().and_then(|toolkit| toolkit.nvrtc().map(drop)) {
            Ok(()) => too_old(least),
            Err(e) => Some(format!("it needs NVRTC: {e}")),
        },
    }
}

fn too_old(least: i32) -> Option<String> {
    let (major, minor) = gpu::context(0).ok()?.compute_capability().ok()?;
    let has = 10 * major + minor;
    (has < least).then(|| format!("it needs sm_{least}, and the device is sm_{has}"))
}

fn main() {
    let mut arguments = Arguments::from_args();
    // While one test captures a stream, what synchronises the context is refused to all others.
    arguments.test_threads = Some(1);
    // Held, or the primary context would be made anew for each test.
    let _context = gpu::context(0);
    let trials = [
        numbers::tests(),
        cuda_cpp::tests(),
        nvrtc_load::tests(),
        languages::tests(),
        math::tests(),
        launches::tests(),
        modules::tests(),
        contexts::tests(),
        first_calls::tests(),
    ]
    .into_iter()
    .flatten()
    .map(|Test(name, needs, run)| {
        Trial::ignorable_test(name, move || {
            if let Some(reason) = missing(&needs) {
                return Ok(Completion::ignored_with(reason));
            }
            let gpu = Gpu::new().map_err(|e| Failed::from(e.to_string()))?;
            run(&gpu).map_err(|e| Failed::from(format!("{e:#}")))?;
            Ok(Completion::Completed)
        })
    })
    .chain([sources::test()])
    .collect();
    libtest_mimic::run(&arguments, trials).exit();
}
