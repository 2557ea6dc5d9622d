//! Programs of the kinds that people write, by every toolkit to every output.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{NEWEST, toolkit};
use cuda_program::nvrtc::{Options, Output, Program, Standard};
use cuda_program::{Arch, Cubin, Linker, LtoIr, Ptx};
use rstest::rstest;

/// What is known of a program.
struct Sample {
    file: &'static str,
    source: &'static str,
    /// Headers that the program brings along.
    headers: &'static [(&'static str, &'static str)],
    /// Names to ask for beside those of the kernels.
    names: &'static [&'static str],
    /// Each kernel as the source calls it, and how many parameters it has.
    kernels: &'static [(&'static str, usize)],
    /// The oldest architecture that it is tried for.
    oldest: Arch,
    set: fn(&mut Options),
    /// What the kernels take on sm_90.
    takes: &'static [(&'static str, Takes)],
}

/// What a kernel takes of a GPU.
enum Takes {
    /// Static shared memory, in bytes.
    Shared(u64),
    /// At least so many registers.
    Registers(u32),
    /// At most so many threads in a block.
    Threads(u64),
}

macro_rules! sample {
    ($file:literal, $kernels:expr $(, $field:ident: $value:expr)*) => {
        #[allow(clippy::needless_update, reason = "some name every field")]
        Sample {
            $($field: $value,)*
            file: $file,
            source: include_str!(concat!("../fixtures/cuda/", $file)),
            kernels: $kernels,
            ..PLAIN
        }
    };
}

const PLAIN: Sample = Sample {
    file: "",
    source: "",
    headers: &[],
    names: &[],
    kernels: &[],
    oldest: Arch::SM_75,
    set: |_| {},
    takes: &[],
};

const BOX: &[(&str, &str)] = &[
    (
        "shapes/box.h",
        include_str!("../fixtures/cuda/shapes/box.h"),
    ),
    (
        "detail/side.h",
        include_str!("../fixtures/cuda/shapes/detail/side.h"),
    ),
];

const SAMPLES: &[Sample] = &[
    sample!(
        "templates.cu",
        &[
            ("shop::scale<float, 64>", 2),
            ("shop::scale<double, 8>", 2),
            ("(void (*)(int *))shop::pick<int>", 1),
            ("(void (*)(int *, int))shop::pick<int>", 2),
        ],
        names: &["&shop::stock::count", "&shop::stock::price", "&shop::stock::limit<int>"]
    ),
    sample!(
        "shared.cu",
        &[("block_sums", 2), ("reversed", 2)],
        takes: &[("block_sums", Takes::Shared(1024)), ("reversed", Takes::Shared(0))]
    ),
    sample!("groups.cu", &[("tile_sums", 2)]),
    sample!("half.cu", &[("axpy", 3), ("axpy_in_pairs", 3)]),
    sample!("bfloat.cu", &[("squares", 2)]),
    sample!("constants.cu", &[("polynomial", 2)], names: &["&coefficients"]),
    sample!("printing.cu", &[("report", 2)]),
    sample!("nested.cu", &[("volumes", 2)], headers: BOX),
    sample!(
        "atomics.cu",
        &[("histogram", 3), ("maximum", 3)],
        takes: &[("histogram", Takes::Shared(1024))]
    ),
    sample!("shuffles.cu", &[("prefix_sums", 2), ("votes", 2)]),
    // Each thread holds its part of three fragments.
    sample!("matrices.cu", &[("multiply", 3)], takes: &[("multiply", Takes::Registers(20))]),
    sample!(
        "math.cu",
        &[("single", 2), ("twice_as_precise", 2)],
        takes: &[("twice_as_precise", Takes::Registers(16))]
    ),
    sample!("textures.cu", &[("blur", 4)]),
    sample!(
        "dynamic.cu",
        &[("child", 2), ("parent", 1)],
        set: |options| options.code.relocatable = true
    ),
    sample!(
        "modern.cu",
        &[("run", 3)],
        set: |options| options.language.device_by_default = true
    ),
    sample!(
        "concepts.cu",
        &[("squares<float>", 1), ("lengths", 1)],
        set: |options| options.language.standard = Some(Standard::Cpp20)
    ),
    sample!(
        "clusters.cu",
        &[("exchange", 2)],
        oldest: Arch::SM_90,
        takes: &[("exchange", Takes::Shared(256)), ("exchange", Takes::Threads(64))]
    ),
    sample!("standard.cu", &[("row_sums", 2)]),
];

fn sample(file: &str) -> &'static Sample {
    SAMPLES.iter().find(|s| s.file == file).unwrap()
}

impl Sample {
    fn program(&self, version: &str) -> Program {
        let program = Program::new(&toolkit(version), self.file, self.source).unwrap();
        for (name, source) in self.headers {
            program.add_header(name, source).unwrap();
        }
        for name in self.kernels.iter().map(|(name, _)| name).chain(self.names) {
            program.add_name_expression(name).unwrap();
        }
        program
    }

    fn compile<T: Output>(&self, program: &Program, arch: Arch) -> T {
        let mut options = Options::new(arch);
        (self.set)(&mut options);
        program
            .compile(&options)
            .unwrap_or_else(|e| panic!("{} for {arch}: {e:#}", self.file))
    }

    fn check_ptx(&self, ptx: &Ptx) {
        let file = self.file;
        assert_eq!(ptx.target(), self.oldest, "{file}");
        let mut found: Vec<_> = ptx
            .kernels()
            .iter()
            .map(|k| (k.name.as_str(), k.parameters.len()))
            .collect();
        let mut expected: Vec<_> = self
            .kernels
            .iter()
            .map(|&(name, count)| (ptx.lowered_name(name).unwrap(), count))
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{file}");
        for name in self.names {
            let lowered = ptx.lowered_name(name).unwrap();
            assert!(ptx.as_str().contains(lowered), "{file}: {lowered}");
        }
        // What is left to a linker is the launches' alone.
        let left = ptx.externs().iter().filter(|e| !e.is_provided());
        for symbol in left {
            assert!(
                file == "dynamic.cu" && symbol.name.starts_with("cuda")
                    || symbol.name.starts_with("__cuda"),
                "{file}: {symbol:?}"
            );
        }
    }

    fn check_cubin(&self, cubin: &Cubin) {
        let file = self.file;
        assert_eq!(cubin.arch(), Arch::SM_90, "{file}");
        assert_eq!(cubin.kernels().len(), self.kernels.len(), "{file}");
        for &(name, count) in self.kernels {
            let lowered = cubin.lowered_name(name).unwrap();
            let kernel = cubin.kernel(lowered).unwrap();
            assert_eq!(kernel.parameters.len(), count, "{file}: {name}");
            assert!((1..=255).contains(&kernel.registers), "{file}: {kernel:?}");
        }
        for (name, takes) in self.takes {
            let kernel = cubin.kernel(name).unwrap();
            match *takes {
                Takes::Shared(bytes) => assert_eq!(kernel.shared_bytes, bytes, "{file}: {name}"),
                Takes::Registers(least) => assert!(kernel.registers >= least, "{file}: {kernel:?}"),
                Takes::Threads(most) => {
                    assert_eq!(kernel.max_threads, Some(most), "{file}: {name}")
                }
            }
        }
    }

    fn check_lto(&self, lto: &LtoIr) {
        assert_eq!(lto.arch(), Some(Arch::SM_90), "{}", self.file);
        assert_eq!(
            lto.lowered_names().len(),
            self.kernels.len() + self.names.len(),
            "{}",
            self.file
        );
    }
}

#[rstest]
fn every_sample_becomes_ptx_a_cubin_and_lto_ir(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    // Those behind the first third take longest, for their headers.
    #[values(0, 1, 2)] third: usize,
) {
    for sample in SAMPLES.iter().skip(third).step_by(3) {
        let program = sample.program(version);
        sample.check_ptx(&sample.compile(&program, sample.oldest));
        sample.check_cubin(&sample.compile(&program, Arch::SM_90));
        sample.check_lto(&sample.compile(&program, Arch::SM_90));
    }
}

#[rstest]
#[case::clusters_before_hopper("clusters.cu", Arch::SM_80, "__cluster_dims__ is not supported")]
#[case::concepts_in_cpp17("concepts.cu", Arch::SM_90, "\"concept\" is undefined")]
#[case::a_header_left_out("nested.cu", Arch::SM_90, "`shapes/box.h` was not found")]
fn what_no_version_can_do_fails_for_its_reason(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    #[case] file: &str,
    #[case] arch: Arch,
    #[case] reason: &str,
) {
    let program = Program::new(&toolkit(version), file, sample(file).source).unwrap();
    let error = program.compile::<Ptx>(&Options::new(arch)).unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
}

#[rstest]
#[case("12.0", Some("execution space annotations"))]
#[case("12.4", Some("execution space annotations"))]
#[case("12.9", Some("execution space annotations"))]
#[case("13.0", Some("execution space annotations"))]
#[case("13.5", None)]
fn a_generic_lambda_without_a_mark_is_for_the_device_from_13_5_on(
    #[case] version: &str,
    #[case] reason: Option<&str>,
) {
    let program = sample("modern.cu").program(version);
    let compiled = program.compile::<Ptx>(&Options::new(Arch::SM_90));
    match reason {
        None => assert_eq!(compiled.unwrap().kernels().len(), 1),
        Some(reason) => {
            let error = compiled.unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}

#[rstest]
#[case("12.0", "__cudaCDP2")]
#[case("12.4", "required runtime APIs are not declared")]
#[case("13.5", "required runtime APIs are not declared")]
fn a_launch_from_the_device_needs_relocatable_code(#[case] version: &str, #[case] reason: &str) {
    let error = sample("dynamic.cu")
        .program(version)
        .compile::<Cubin>(&Options::new(Arch::SM_90))
        .unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
}

#[rstest]
#[case("12.9", "cuda_runtime/lib/libcudadevrt.a")]
#[case(NEWEST, "cu13/lib/libcudadevrt.a")]
fn a_launch_from_the_device_is_finished_by_a_link(#[case] version: &str, #[case] library: &str) {
    let sample = sample("dynamic.cu");
    let cubin: Cubin = sample.compile(&sample.program(version), Arch::SM_90);
    assert!(cubin.is_relocatable() && !cubin.undefined().is_empty());
    let runtime = format!(
        "{}/target/toolkits/{version}/nvidia/{library}",
        env!("CARGO_MANIFEST_DIR")
    );
    let linked: Cubin = Linker::new(&toolkit(version), Arch::SM_90)
        .add(cubin)
        .add_file(runtime)
        .link()
        .unwrap();
    assert!(linked.kernel("parent").is_some());
    assert!(!linked.is_relocatable());
}
