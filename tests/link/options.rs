//! What each option does, and with which library.

use cuda_program::link::{FastCompile, Options};
use cuda_program::nvvm::OptLevel;
use cuda_program::{Arch, Cubin, Error, Linker, LtoIr, Ptx, nvrtc};
use rstest::rstest;

use crate::common::toolkit;

const SOURCE: &str = r#"extern "C" {
__device__ int unused = 3;
__global__ void other(float *p) { p[0] = 1; }
__global__ void k(float *p, int n) {
  float a[40];
  for (int i = 0; i < 40; i++) a[i] = p[i] / p[i + 1] + sqrtf(p[i]) * p[i + 2];
  p[n] = a[n];
}
}"#;

fn linker(version: &str) -> Linker {
    let toolkit = toolkit(version);
    let program = nvrtc::Program::new(&toolkit, "k.cu", SOURCE).unwrap();
    let lto: LtoIr = program.compile(&nvrtc::Options::new(Arch::SM_80)).unwrap();
    Linker::new(&toolkit, Arch::SM_80).add(lto.with_kernels(["k"]))
}

fn number(version: &str) -> (u32, u32) {
    let (major, minor) = version.split_once('.').unwrap();
    (major.parse().unwrap(), minor.parse().unwrap())
}

/// What a library that has the option makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// Other code.
    InTheCode,
    /// A note.
    ANote,
    /// Nothing that this program shows.
    Nothing,
}

#[rstest]
#[case::debug(Options::new().debug(true), (12, 0), Shows::InTheCode)]
#[case::line_info(Options::new().line_info(true), (12, 0), Shows::Nothing)]
#[case::verbose(Options::new().verbose(true), (12, 0), Shows::ANote)]
#[case::time(Options::new().time(true), (12, 0), Shows::ANote)]
#[case::max_registers(Options::new().max_registers(16), (12, 0), Shows::InTheCode)]
#[case::ftz(Options::new().ftz(true), (12, 0), Shows::InTheCode)]
#[case::prec_div(Options::new().prec_div(false), (12, 0), Shows::InTheCode)]
#[case::prec_sqrt(Options::new().prec_sqrt(false), (12, 0), Shows::Nothing)]
#[case::fma(Options::new().fma(false), (12, 0), Shows::InTheCode)]
#[case::kernel_used(Options::new().kernel_used("k"), (12, 0), Shows::InTheCode)]
#[case::variable_used(Options::new().variable_used("unused"), (12, 0), Shows::Nothing)]
#[case::optimize_unused(Options::new().optimize_unused_variables(true), (12, 0), Shows::InTheCode)]
#[case::ptxas(Options::new().ptxas("-O0"), (12, 0), Shows::InTheCode)]
#[case::nvvm(Options::new().nvvm("-opt=0"), (12, 0), Shows::InTheCode)]
#[case::opt(Options::new().opt(OptLevel::O0), (12, 4), Shows::InTheCode)]
#[case::split(Options::new().split_compile(2), (12, 4), Shows::Nothing)]
#[case::split_all(Options::new().split_compile_extended(2), (12, 4), Shows::Nothing)]
#[case::jump_table(Options::new().jump_table_density(50), (12, 4), Shows::Nothing)]
#[case::no_cache(Options::new().no_cache(true), (12, 9), Shows::Nothing)]
#[case::fast(Options::new().fast_compile(FastCompile::Max), (12, 9), Shows::InTheCode)]
#[case::protector(Options::new().device_stack_protector(true), (12, 9), Shows::Nothing)]
#[case::threshold(
    Options::new().device_stack_protector(true).stack_protector_threshold(1 << 20),
    (12, 9),
    Shows::Nothing
)]
fn an_option_is_honoured_or_refused_with_the_version_it_needs(
    #[case] options: Options,
    #[case] since: (u32, u32),
    #[case] shows: Shows,
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let plain = linker(version);
    let linked = plain.clone().options(options).link::<Cubin>();
    if number(version) < since {
        let error = linked.unwrap_err();
        let needs = format!("nvJitLink {}.{} or later", since.0, since.1);
        assert!(
            matches!(&error, Error::Unsupported { needs: n, .. } if *n == needs),
            "{error}"
        );
        return;
    }
    let (with, without) = (linked.unwrap(), plain.link::<Cubin>().unwrap());
    assert!(with.kernel("k").is_some());
    match shows {
        // The bytes of older libraries differ from run to run in ways that code does not.
        Shows::InTheCode => {
            let seen = |cubin: &Cubin| {
                let kernels = cubin.kernels().to_vec();
                (cubin.as_bytes().len(), kernels)
            };
            assert_ne!(seen(&with), seen(&without));
        }
        Shows::ANote => assert_ne!(with.diagnostics(), without.diagnostics()),
        Shows::Nothing => {}
    }
}

#[test]
fn the_newest_library_protects_the_stack_where_asked() {
    let plain = linker("13.5");
    let protected = plain
        .clone()
        .options(Options::new().device_stack_protector(true));
    let size = |linker: &Linker| linker.link::<Cubin>().unwrap().as_bytes().len();
    assert!(size(&protected) > size(&plain));
}

#[rstest]
fn a_flag_for_the_compiler_inside_that_it_lacks_is_an_error_that_says_so(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let linker = linker(version).options(Options::new().nvvm("-bogus"));
    let Error::Library(error) = linker.link::<Ptx>().unwrap_err() else {
        panic!("the library was to refuse it")
    };
    assert!(
        error.log.contains("-bogus is an unsupported option"),
        "{error}"
    );
}
