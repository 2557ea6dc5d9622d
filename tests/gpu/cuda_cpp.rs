//! The numbers of programs in CUDA C++, the ones that `tests/nvrtc_samples.rs` compiles.

use cuda_program::gpu::{Kernel, LaunchConfig, Module};
use cuda_program::nvrtc::{BundledHeaders, Options, Program, Standard};
use cuda_program::{Cubin, Error, gpu};

use crate::{Gpu, Needs, Test, Tested};

pub fn tests() -> Vec<Test> {
    let test = |name: &str, least, run: fn(&Gpu) -> Tested| {
        Test(name.to_owned(), Needs::Nvrtc(least), Box::new(run))
    };
    vec![
        test(
            "templates_overloads_and_variables_are_found_by_name",
            75,
            templates,
        ),
        test("shared_memory_of_both_kinds_is_right", 75, shared),
        test("a_reduction_of_cooperative_groups_is_right", 75, groups),
        test("half_precision_is_right", 75, half_precision),
        test("bfloat16_is_right", 80, bfloat),
        test("constants_are_read_and_changed", 75, constants),
        test("a_program_with_headers_in_memory_is_right", 75, nested),
        test("atomics_are_right", 75, atomics),
        test("shuffles_and_votes_are_right", 75, shuffles),
        test("a_product_on_tensor_cores_is_right", 75, matrices),
        test("mathematical_functions_are_right", 75, math),
        test("cpp17_is_right", 75, modern),
        test("cpp20_is_right", 75, concepts),
        test("blocks_of_a_cluster_exchange_what_they_share", 90, clusters),
        test("standard_cpp_for_the_device_is_right", 75, standard),
    ]
}

macro_rules! source {
    ($file:literal) => {
        ($file, include_str!(concat!("../../fixtures/cuda/", $file)))
    };
}

/// What was compiled for the device, and loaded.
struct Loaded {
    cubin: Cubin,
    module: Module,
}

impl Loaded {
    fn new(gpu: &Gpu, source: (&str, &str)) -> cuda_program::Result<Self> {
        Self::with(gpu, source, |_, _| Ok(()))
    }

    fn with(
        gpu: &Gpu,
        (file, source): (&str, &str),
        set: impl FnOnce(&Program, &mut Options) -> cuda_program::Result<()>,
    ) -> cuda_program::Result<Self> {
        let program = Program::new(&gpu.toolkit, file, source)?;
        let mut options = Options::new(gpu::arch(&gpu.context)?);
        // A machine with a GPU may have NVRTC alone.
        let headers = tempfile::tempdir().map_err(|e| Error::io("create", "a folder", &e))?;
        options.preprocessor.bundled_headers = BundledHeaders::WhereMissing(headers.path().into());
        set(&program, &mut options)?;
        let cubin: Cubin = program.compile(&options)?;
        Ok(Loaded {
            module: Module::load(&gpu.context, &cubin)?,
            cubin,
        })
    }

    /// By the name in the source, where it was asked for, or else by the name in the cubin.
    fn kernel(&self, name: &str) -> cuda_program::Result<Kernel> {
        self.module
            .kernel(self.cubin.lowered_name(name).unwrap_or(name))
    }
}

/// One block of so many threads.
const fn block(threads: u32) -> LaunchConfig {
    LaunchConfig::new([1, 1, 1], [threads, 1, 1])
}

/// The bits of a number that half precision holds exactly.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    if value == 0.0 {
        return 0;
    }
    let exponent = ((bits >> 23) & 0xff) - 127 + 15;
    ((bits >> 16) & 0x8000 | exponent << 10 | (bits >> 13) & 0x3ff) as u16
}

fn templates(gpu: &Gpu) -> Tested {
    let scale = "shop::scale<float, 64>";
    let one = "(void (*)(int *))shop::pick<int>";
    let two = "(void (*)(int *, int))shop::pick<int>";
    let count = "&shop::stock::count";
    let loaded = Loaded::with(gpu, source!("templates.cu"), |program, _| {
        [scale, one, two, count]
            .iter()
            .try_for_each(|name| program.add_name_expression(name))
    })?;
    let mut x = gpu.stream.clone_htod(&[3.0_f32; 100])?;
    // SAFETY: the kernel takes these, and touches the first 64 elements.
    unsafe {
        let config = LaunchConfig::new([2, 1, 1], [50, 1, 1]);
        loaded
            .kernel(scale)?
            .launch(&gpu.stream, config, (&mut x, 1.5_f32))?;
    }
    let x = gpu.stream.clone_dtoh(&x)?;
    assert!(x[..64].iter().all(|v| *v == 4.5), "{x:?}");
    assert!(x[64..].iter().all(|v| *v == 3.0), "{x:?}");

    let mut out = gpu.stream.alloc_zeros::<i32>(4)?;
    // SAFETY: the kernel writes an element a thread.
    unsafe {
        loaded
            .kernel(one)?
            .launch(&gpu.stream, block(4), &mut out)?
    };
    assert_eq!(gpu.stream.clone_dtoh(&out)?, [8, 9, 10, 11]);
    let variable = loaded.cubin.lowered_name(count).ok_or("no name")?;
    let variable = loaded.module.global::<i32>(variable)?;
    assert_eq!(variable.read(&gpu.stream)?, [7]);
    variable.write(&gpu.stream, &[100])?;
    // SAFETY: as above.
    unsafe {
        loaded
            .kernel(one)?
            .launch(&gpu.stream, block(4), &mut out)?
    };
    assert_eq!(gpu.stream.clone_dtoh(&out)?, [101, 102, 103, 104]);
    // SAFETY: the kernel writes one element.
    unsafe {
        loaded
            .kernel(two)?
            .launch(&gpu.stream, block(1), (&mut out, 39_i32))?
    };
    assert_eq!(gpu.stream.clone_dtoh(&out)?[0], 42);
    Ok(())
}

fn shared(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("shared.cu"))?;
    let x: Vec<f32> = (0..512).map(|i| i as f32).collect();
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut sums = gpu.stream.alloc_zeros::<f32>(2)?;
    let config = LaunchConfig::new([2, 1, 1], [256, 1, 1]);
    // SAFETY: the kernel reads 256 elements a block, and writes one.
    unsafe {
        loaded
            .kernel("block_sums")?
            .launch(&gpu.stream, config, (&on_device, &mut sums))?;
    }
    let expected: Vec<f32> = x.chunks(256).map(|part| part.iter().sum()).collect();
    assert_eq!(gpu.stream.clone_dtoh(&sums)?, expected);

    let x: Vec<i32> = (0..100).collect();
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut y = gpu.stream.alloc_zeros::<i32>(100)?;
    // SAFETY: the kernel touches an element a thread of each slice and of what the launch shares.
    unsafe {
        let config = block(100).shared_bytes(400);
        loaded
            .kernel("reversed")?
            .launch(&gpu.stream, config, (&on_device, &mut y))?;
    }
    let expected: Vec<i32> = x.into_iter().rev().collect();
    assert_eq!(gpu.stream.clone_dtoh(&y)?, expected);
    Ok(())
}

fn groups(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("groups.cu"))?;
    let x: Vec<i32> = (0..128).map(|i| i * i).collect();
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut sums = gpu.stream.alloc_zeros::<i32>(8)?;
    // SAFETY: the kernel reads an element a thread, and writes one for each 16.
    unsafe {
        loaded
            .kernel("tile_sums")?
            .launch(&gpu.stream, block(128), (&on_device, &mut sums))?;
    }
    let expected: Vec<i32> = x.chunks(16).map(|part| part.iter().sum()).collect();
    assert_eq!(gpu.stream.clone_dtoh(&sums)?, expected);
    Ok(())
}

fn half_precision(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("half.cu"))?;
    let numbers: Vec<u16> = (0..64).map(|i| half(i as f32)).collect();
    let x = gpu.stream.clone_htod(&numbers)?;
    let mut y = gpu.stream.clone_htod(&vec![half(1.0); 64])?;
    // SAFETY: the kernels touch an element a thread, or two, of each slice.
    unsafe {
        let axpy = loaded.kernel("axpy")?;
        axpy.launch(&gpu.stream, block(64), (half(2.0), &x, &mut y))?;
        let in_pairs = loaded.kernel("axpy_in_pairs")?;
        in_pairs.launch(&gpu.stream, block(32), (0.5_f32, &x, &mut y))?;
    }
    let expected: Vec<u16> = (0..64).map(|i| half(2.5 * i as f32 + 1.0)).collect();
    assert_eq!(gpu.stream.clone_dtoh(&y)?, expected);
    Ok(())
}

fn bfloat(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("bfloat.cu"))?;
    let upper = |value: f32| (value.to_bits() >> 16) as u16;
    let x: Vec<u16> = (0..16).map(|i| upper(i as f32)).collect();
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut y = gpu.stream.alloc_zeros::<u16>(16)?;
    // SAFETY: the kernel touches an element a thread of each slice.
    unsafe {
        loaded
            .kernel("squares")?
            .launch(&gpu.stream, block(16), (&on_device, &mut y))?;
    }
    // 225 is the largest square here, and eight bits hold it.
    let expected: Vec<u16> = (0..16).map(|i| upper((i * i) as f32)).collect();
    assert_eq!(gpu.stream.clone_dtoh(&y)?, expected);
    Ok(())
}

fn constants(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("constants.cu"))?;
    let x = gpu.stream.clone_htod(&[0.0, 1.0, 2.0, -1.0])?;
    let mut y = gpu.stream.alloc_zeros::<f64>(4)?;
    let polynomial = loaded.kernel("polynomial")?;
    // SAFETY: the kernel touches an element a thread of each slice.
    unsafe { polynomial.launch(&gpu.stream, block(4), (&x, &mut y))? };
    assert_eq!(gpu.stream.clone_dtoh(&y)?, [1.0, 10.0, 49.0, -2.0]);
    let coefficients = loaded.module.global::<f64>("coefficients")?;
    coefficients.write(&gpu.stream, &[0.0, 0.0, 1.0, 0.0])?;
    // SAFETY: as above.
    unsafe { polynomial.launch(&gpu.stream, block(4), (&x, &mut y))? };
    assert_eq!(gpu.stream.clone_dtoh(&y)?, [0.0, 1.0, 4.0, 1.0]);
    Ok(())
}

fn nested(gpu: &Gpu) -> Tested {
    let loaded = Loaded::with(gpu, source!("nested.cu"), |program, _| {
        let (name, text) = source!("shapes/box.h");
        program.add_header(name, text)?;
        let (_, text) = source!("shapes/detail/side.h");
        program.add_header("detail/side.h", text)
    })?;
    let boxes = gpu.stream.clone_htod(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let mut out = gpu.stream.alloc_zeros::<f32>(2)?;
    // SAFETY: the kernel reads three elements a thread, and writes one.
    unsafe {
        loaded
            .kernel("volumes")?
            .launch(&gpu.stream, block(2), (&boxes, &mut out))?
    };
    assert_eq!(gpu.stream.clone_dtoh(&out)?, [6.0, 120.0]);
    Ok(())
}

fn atomics(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("atomics.cu"))?;
    let x: Vec<u8> = (0..100_000_u32).map(|i| (i * i % 251) as u8).collect();
    let mut expected = vec![0_u32; 256];
    x.iter()
        .for_each(|&value| expected[usize::from(value)] += 1);
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut bins = gpu.stream.alloc_zeros::<u32>(256)?;
    let config = LaunchConfig::new([40, 1, 1], [128, 1, 1]);
    let n = x.len() as i32;
    // SAFETY: the kernel reads n elements, and touches 256 bins.
    unsafe {
        loaded
            .kernel("histogram")?
            .launch(&gpu.stream, config, (&on_device, n, &mut bins))?;
    }
    assert_eq!(gpu.stream.clone_dtoh(&bins)?, expected);

    let x: Vec<f32> = (0..10_000)
        .map(|i| ((i * 7919) % 10_007) as f32 / 8.0)
        .collect();
    let most = x.iter().copied().fold(0.0, f32::max);
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut out = gpu.stream.alloc_zeros::<f32>(1)?;
    let config = LaunchConfig::for_elements(x.len() as u32);
    let n = x.len() as i32;
    // SAFETY: the kernel reads n elements, and touches one.
    unsafe {
        loaded
            .kernel("maximum")?
            .launch(&gpu.stream, config, (&on_device, n, &mut out))?;
    }
    assert_eq!(gpu.stream.clone_dtoh(&out)?, [most]);
    Ok(())
}

fn shuffles(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("shuffles.cu"))?;
    let x: Vec<i32> = (0..64).map(|i| i * 5 % 17).collect();
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut y = gpu.stream.alloc_zeros::<i32>(64)?;
    let mut odd = gpu.stream.alloc_zeros::<u32>(2)?;
    // SAFETY: the kernels touch an element a thread, and write one for each 32.
    unsafe {
        loaded
            .kernel("prefix_sums")?
            .launch(&gpu.stream, block(64), (&on_device, &mut y))?;
        loaded
            .kernel("votes")?
            .launch(&gpu.stream, block(64), (&on_device, &mut odd))?;
    }
    let mut expected = Vec::new();
    for warp in x.chunks(32) {
        expected.extend(warp.iter().scan(0, |sum, value| {
            *sum += value;
            Some(*sum)
        }));
    }
    assert_eq!(gpu.stream.clone_dtoh(&y)?, expected);
    let votes = |warp: &[i32]| {
        let lanes = warp.iter().enumerate();
        lanes.fold(0_u32, |sum, (lane, value)| {
            sum | ((value & 1) as u32) << lane
        })
    };
    let expected: Vec<u32> = x.chunks(32).map(votes).collect();
    assert_eq!(gpu.stream.clone_dtoh(&odd)?, expected);
    Ok(())
}

fn matrices(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("matrices.cu"))?;
    let a: Vec<f32> = (0..256).map(|i| (i % 7) as f32 - 3.0).collect();
    let b: Vec<f32> = (0..256).map(|i| (i % 5) as f32 - 2.0).collect();
    let halves = |m: &[f32]| m.iter().copied().map(half).collect::<Vec<_>>();
    let left = gpu.stream.clone_htod(&halves(&a))?;
    let right = gpu.stream.clone_htod(&halves(&b))?;
    let mut c = gpu.stream.alloc_zeros::<f32>(256)?;
    // SAFETY: one warp reads and writes 256 elements of each slice.
    unsafe {
        loaded
            .kernel("multiply")?
            .launch(&gpu.stream, block(32), (&left, &right, &mut c))?;
    }
    let expected: Vec<f32> = (0..256)
        .map(|i| {
            (0..16)
                .map(|k| a[i / 16 * 16 + k] * b[k * 16 + i % 16])
                .sum()
        })
        .collect();
    assert_eq!(gpu.stream.clone_dtoh(&c)?, expected);
    Ok(())
}

fn math(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("math.cu"))?;
    let x: Vec<f64> = (-64..64).map(|i| f64::from(i) / 16.0).collect();
    let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    let in_single = gpu.stream.clone_htod(&single)?;
    let in_double = gpu.stream.clone_htod(&x)?;
    let mut y = gpu.stream.alloc_zeros::<f32>(128)?;
    let mut z = gpu.stream.alloc_zeros::<f64>(128)?;
    // SAFETY: the kernels touch an element a thread of each slice.
    unsafe {
        loaded
            .kernel("single")?
            .launch(&gpu.stream, block(128), (&in_single, &mut y))?;
        let kernel = loaded.kernel("twice_as_precise")?;
        kernel.launch(&gpu.stream, block(128), (&in_double, &mut z))?;
    }
    let (y, z) = (gpu.stream.clone_dtoh(&y)?, gpu.stream.clone_dtoh(&z)?);
    for ((v, y), z) in x.into_iter().zip(y).zip(z) {
        let expected = 1.0 + libm::erf(v).max(0.0) + 1.0 / (v * v + 1.0).sqrt();
        assert!((f64::from(y) - expected).abs() < 2e-6, "single({v}) = {y}");
        let expected = v.abs().powf(1.5) + (-v).exp().ln_1p() + v.atan2(2.0) + v.hypot(3.0);
        assert!(
            (z - expected).abs() < 1e-13 * expected.abs().max(1.0),
            "double({v}) = {z}"
        );
    }
    Ok(())
}

fn modern(gpu: &Gpu) -> Tested {
    let loaded = Loaded::with(gpu, source!("modern.cu"), |_, options| {
        options.language.device_by_default = true;
        Ok(())
    })?;
    let mut single = gpu.stream.clone_htod(&[0.5_f32])?;
    let mut twice = gpu.stream.clone_htod(&[0.25_f64])?;
    // SAFETY: the kernel touches one element of each slice.
    unsafe {
        let arguments = (&mut single, &mut twice, 10_i32);
        loaded
            .kernel("run")?
            .launch(&gpu.stream, block(1), arguments)?;
    }
    // 0.5 + 10, then 10 + 11 + 1; and 0.25 + 10 + 10.
    assert_eq!(gpu.stream.clone_dtoh(&single)?, [32.5]);
    assert_eq!(gpu.stream.clone_dtoh(&twice)?, [20.25]);
    Ok(())
}

fn concepts(gpu: &Gpu) -> Tested {
    let loaded = Loaded::with(gpu, source!("concepts.cu"), |program, options| {
        options.language.standard = Some(Standard::Cpp20);
        program.add_name_expression("squares<float>")
    })?;
    let mut x = gpu.stream.clone_htod(&[1.5_f32, -2.0])?;
    let mut lengths = gpu.stream.alloc_zeros::<i32>(2)?;
    // SAFETY: the kernels touch an element a thread.
    unsafe {
        loaded
            .kernel("squares<float>")?
            .launch(&gpu.stream, block(2), &mut x)?;
        loaded
            .kernel("lengths")?
            .launch(&gpu.stream, block(2), &mut lengths)?;
    }
    assert_eq!(gpu.stream.clone_dtoh(&x)?, [2.25, 4.0]);
    assert_eq!(gpu.stream.clone_dtoh(&lengths)?, [7, 7]);
    Ok(())
}

fn clusters(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("clusters.cu"))?;
    let x: Vec<i32> = (0..256).map(|i| i * 3).collect();
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut y = gpu.stream.alloc_zeros::<i32>(256)?;
    // The kernel itself says how its blocks are grouped.
    let config = LaunchConfig::new([4, 1, 1], [64, 1, 1]);
    // SAFETY: the kernel touches 64 elements a block of each slice.
    unsafe {
        loaded
            .kernel("exchange")?
            .launch(&gpu.stream, config, (&on_device, &mut y))?;
    }
    let expected: Vec<i32> = (0..256).map(|i| x[i ^ 64]).collect();
    assert_eq!(gpu.stream.clone_dtoh(&y)?, expected);
    Ok(())
}

fn standard(gpu: &Gpu) -> Tested {
    let loaded = Loaded::new(gpu, source!("standard.cu"))?;
    let rows: Vec<u16> = (0..32).map(|i| i * 2000).collect();
    let on_device = gpu.stream.clone_htod(&rows)?;
    let mut sums = gpu.stream.alloc_zeros::<u32>(8)?;
    // SAFETY: the kernel reads four elements a thread, and writes one.
    unsafe {
        loaded
            .kernel("row_sums")?
            .launch(&gpu.stream, block(8), (&on_device, &mut sums))?;
    }
    let sum = |row: &[u16]| row.iter().map(|&v| u32::from(v)).sum();
    let expected: Vec<u32> = rows.chunks(4).map(sum).collect();
    assert_eq!(gpu.stream.clone_dtoh(&sums)?, expected);
    Ok(())
}
