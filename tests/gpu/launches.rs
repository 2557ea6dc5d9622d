//! Shapes and arguments of launches.

use cuda_program::gpu::cudarc::driver::DevicePtr as _;
use cuda_program::gpu::{ArgumentList, ByValue, DevicePtr, LaunchConfig, Module};
use cuda_program::{Error, Ptx};

use crate::sources::{BY_VALUE, MEET, RANK, REVERSE};
use crate::{Gpu, Needs, Test, Tested, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("a_struct_a_byte_and_a_raw_pointer_arrive", by_value),
        test("arguments_that_do_not_fit_are_refused", misfits),
        test("shared_memory_beyond_48_kib_is_raised", shared),
        test("a_cooperative_grid_runs_all_at_once", cooperative),
        test(
            "a_cooperative_grid_that_does_not_fit_is_an_error",
            too_large,
        ),
        Test(
            "blocks_of_a_cluster_know_their_rank".to_owned(),
            Needs::Capability(90),
            Box::new(cluster),
        ),
        test("attributes_and_occupancy_make_sense", attributes),
        test("a_shape_that_cannot_be_is_an_error", impossible),
        test("slices_keep_their_order_across_streams", across_streams),
    ]
}

fn load(gpu: &Gpu, ptx: &str) -> cuda_program::Result<Module> {
    Module::load(&gpu.context, &Ptx::from_text(ptx)?)
}

#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Parameters {
    scale: f64,
    counts: [i32; 3],
    tag: i8,
}

const PARAMETERS: ByValue<Parameters> = ByValue(Parameters {
    scale: 0.5,
    counts: [4, 3, 2],
    tag: -7,
});

const ONE: LaunchConfig = LaunchConfig::new([1, 1, 1], [1, 1, 1]);

fn by_value(gpu: &Gpu) -> Tested {
    let kernel = load(gpu, BY_VALUE)?.kernel("by_value")?;
    if let Some(parameters) = kernel.parameters() {
        let all: Vec<_> = parameters.iter().map(|p| (p.offset, p.size)).collect();
        assert_eq!(all, [(0, 24), (24, 8), (32, 1)]);
    }
    let mut out = gpu.stream.alloc_zeros::<f64>(1)?;
    let expected = 0.5 * 234.0 - 7.0 + 1.0;
    // SAFETY: the kernel takes these, and writes one element.
    unsafe { kernel.launch(&gpu.stream, ONE, (PARAMETERS, &mut out, true))? };
    assert_eq!(gpu.stream.clone_dtoh(&out)?, [expected]);

    gpu.stream.memset_zeros(&mut out)?;
    {
        let (address, _note) = out.device_ptr(&gpu.stream);
        let mut list = ArgumentList::new();
        list.push((PARAMETERS, DevicePtr(address))).push(1_u8);
        // SAFETY: as above.
        unsafe { kernel.launch(&gpu.stream, ONE, list)? };
    }
    assert_eq!(gpu.stream.clone_dtoh(&out)?, [expected]);
    Ok(())
}

fn misfits(gpu: &Gpu) -> Tested {
    let kernel = load(gpu, BY_VALUE)?.kernel("by_value")?;
    if kernel.parameters().is_none() {
        return Ok(());
    }
    let pointer = DevicePtr(0);
    // SAFETY: none of these is launched.
    let refused = unsafe {
        [
            kernel.launch(&gpu.stream, ONE, ()),
            kernel.launch(&gpu.stream, ONE, (PARAMETERS, pointer)),
            kernel.launch(&gpu.stream, ONE, (PARAMETERS, pointer, 1_u8, 1_u8)),
            kernel.launch(&gpu.stream, ONE, (PARAMETERS, pointer, 1_u32)),
            kernel.launch(&gpu.stream, ONE, (1_f64, pointer, 1_u8)),
        ]
    };
    for refused in refused {
        assert!(
            matches!(refused, Err(Error::InvalidInput(_))),
            "{refused:?}"
        );
    }
    Ok(())
}

fn shared(gpu: &Gpu) -> Tested {
    let kernel = load(gpu, REVERSE)?.kernel("reverse")?;
    // The least that every device since sm_75 allows is 64 KiB.
    for bytes in [1 << 10, 48 << 10, 64 << 10, 50 << 10] {
        let n: u32 = bytes / 4;
        let mut out = gpu.stream.alloc_zeros::<u32>(n as usize)?;
        let config = LaunchConfig::new([1, 1, 1], [256, 1, 1]).shared_bytes(bytes);
        // SAFETY: the kernel takes these, and writes n elements.
        unsafe { kernel.launch(&gpu.stream, config, (&mut out, n))? };
        let expected: Vec<u32> = (0..n).rev().collect();
        assert!(gpu.stream.clone_dtoh(&out)? == expected, "{bytes} bytes");
    }
    let config = ONE.shared_bytes(1 << 20);
    // SAFETY: it is not launched.
    let refused = unsafe { kernel.launch(&gpu.stream, config, (DevicePtr(0), 0_u32)) };
    assert!(
        matches!(refused, Err(Error::InvalidInput(_))),
        "{refused:?}"
    );
    Ok(())
}

fn cooperative(gpu: &Gpu) -> Tested {
    let kernel = load(gpu, MEET)?.kernel("meet")?;
    let blocks = kernel.max_cooperative_blocks(128, 0)?;
    // Less than all, for the tests beside this one.
    let blocks = (blocks / 4).max(1);
    let mut count = gpu.stream.alloc_zeros::<u32>(1)?;
    let mut out = gpu.stream.alloc_zeros::<u32>(blocks as usize)?;
    let config = LaunchConfig::new([blocks, 1, 1], [128, 1, 1]).cooperative(true);
    // SAFETY: the kernel takes these; all of its blocks run at once.
    unsafe { kernel.launch(&gpu.stream, config, (&mut count, &mut out))? };
    assert_eq!(gpu.stream.clone_dtoh(&count)?, [blocks]);
    assert!(gpu.stream.clone_dtoh(&out)?.iter().all(|&came| came == 1));
    Ok(())
}

fn too_large(gpu: &Gpu) -> Tested {
    let kernel = load(gpu, MEET)?.kernel("meet")?;
    let blocks = kernel.max_cooperative_blocks(128, 0)? + 1;
    let config = LaunchConfig::new([blocks, 1, 1], [128, 1, 1]).cooperative(true);
    // SAFETY: the driver refuses it.
    let refused = unsafe { kernel.launch(&gpu.stream, config, (DevicePtr(0), DevicePtr(0))) };
    assert_eq!(refused.unwrap_err().raw_code(), Some(720));
    Ok(())
}

fn cluster(gpu: &Gpu) -> Tested {
    let kernel = load(gpu, RANK)?.kernel("rank")?;
    let mut out = gpu.stream.alloc_zeros::<u32>(8)?;
    let config = LaunchConfig::new([8, 1, 1], [32, 1, 1]).cluster([4, 1, 1]);
    // SAFETY: the kernel takes a slice of one element a block.
    unsafe { kernel.launch(&gpu.stream, config, &mut out)? };
    assert_eq!(gpu.stream.clone_dtoh(&out)?, [0, 1, 2, 3, 0, 1, 2, 3]);
    let uneven = LaunchConfig::new([7, 1, 1], [32, 1, 1]).cluster([4, 1, 1]);
    // SAFETY: the driver refuses it.
    assert!(unsafe { kernel.launch(&gpu.stream, uneven, &mut out) }.is_err());
    Ok(())
}

fn attributes(gpu: &Gpu) -> Tested {
    let kernel = load(gpu, REVERSE)?.kernel("reverse")?;
    let attributes = kernel.attributes()?;
    let (major, minor) = gpu.context.compute_capability()?;
    assert_eq!(attributes.binary_version, (10 * major + minor) as u32);
    assert!((1..=255).contains(&attributes.registers), "{attributes:?}");
    assert_eq!(attributes.max_threads_per_block, 1024);
    let blocks = kernel.max_active_blocks(256, 0)?;
    assert!((1..=32).contains(&blocks), "{blocks}");
    assert!(kernel.max_active_blocks(256, 40 << 10)? < blocks);
    let suggested = kernel.suggested_block(0)?;
    assert!(
        suggested.threads % 32 == 0 && suggested.min_blocks > 0,
        "{suggested:?}"
    );
    Ok(())
}

fn impossible(gpu: &Gpu) -> Tested {
    let kernel = load(gpu, REVERSE)?.kernel("reverse")?;
    for (grid, block) in [([0, 1, 1], [1, 1, 1]), ([1, 1, 1], [2048, 1, 1])] {
        let config = LaunchConfig::new(grid, block);
        // SAFETY: the driver refuses it.
        let refused = unsafe { kernel.launch(&gpu.stream, config, (DevicePtr(0), 0_u32)) };
        let Err(Error::Driver(error)) = refused else {
            panic!("{refused:?}");
        };
        assert!(error.hint.is_some(), "{error}");
    }
    Ok(())
}

fn across_streams(gpu: &Gpu) -> Tested {
    let module = load(gpu, REVERSE)?;
    let kernel = module.kernel("reverse")?;
    let (a, b) = (gpu.context.new_stream()?, gpu.context.new_stream()?);
    let n = 12_000_u32;
    let config = LaunchConfig::new([1, 1, 1], [32, 1, 1]).shared_bytes(4 * n);
    let mut out = a.alloc_zeros::<u32>(n as usize)?;
    for round in 0..20 {
        a.memset_zeros(&mut out)?;
        // SAFETY: the kernel takes these, and writes n elements.
        unsafe { kernel.launch(&b, config, (&mut out, n))? };
        // The copy on `a` must wait for the kernel on `b`, which one warp makes slow.
        let read = a.clone_dtoh(&out)?;
        assert!(read.iter().copied().eq((0..n).rev()), "round {round}");
    }
    Ok(())
}
