//! libdevice's functions against double precision on the CPU, within the bounds of CUDA's
//! documentation of its mathematical functions.

use cuda_program::gpu::LaunchConfig;
use cuda_program::gpu::cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use cuda_program::nvvm;

use crate::random::Random;
use crate::sources::apply;
use crate::{Gpu, Needs, Test, Tested};

/// A function, its reference, its inputs from and to, and its bound in ulp for `float` and `double`.
struct Function {
    name: &'static str,
    arity: usize,
    of: fn(&[f64]) -> f64,
    range: (f64, f64),
    ulp: (u64, u64),
}

const fn function(
    name: &'static str,
    arity: usize,
    of: fn(&[f64]) -> f64,
    range: (f64, f64),
    ulp: (u64, u64),
) -> Function {
    Function {
        name,
        arity,
        of,
        range,
        ulp,
    }
}

const FUNCTIONS: &[Function] = &[
    function("sin", 1, |v| v[0].sin(), (-100.0, 100.0), (2, 2)),
    function("cos", 1, |v| v[0].cos(), (-100.0, 100.0), (2, 2)),
    function("tan", 1, |v| v[0].tan(), (-1.5, 1.5), (4, 2)),
    function("exp", 1, |v| v[0].exp(), (-80.0, 80.0), (2, 1)),
    function("log", 1, |v| v[0].ln(), (1e-30, 1e3), (1, 1)),
    function("log2", 1, |v| v[0].log2(), (1e-30, 1e3), (1, 1)),
    function("pow", 2, |v| v[0].powf(v[1]), (0.01, 8.0), (4, 2)),
    function("sqrt", 1, |v| v[0].sqrt(), (0.0, 1e6), (0, 0)),
    function("rsqrt", 1, |v| 1.0 / v[0].sqrt(), (1e-6, 1e6), (2, 1)),
    function("cbrt", 1, |v| v[0].cbrt(), (-1e6, 1e6), (1, 1)),
    function(
        "fma",
        3,
        |v| v[0].mul_add(v[1], v[2]),
        (-10.0, 10.0),
        (0, 0),
    ),
    function("tanh", 1, |v| v[0].tanh(), (-9.0, 9.0), (2, 2)),
    function("atan", 1, |v| v[0].atan(), (-50.0, 50.0), (2, 2)),
    function("erf", 1, |v| libm::erf(v[0]), (-3.0, 3.0), (2, 2)),
];

/// The functions' full names, types and numbers of arguments.
pub fn names() -> impl Iterator<Item = (String, &'static str, usize)> {
    FUNCTIONS.iter().flat_map(|function| {
        let name = |suffix| format!("__nv_{}{suffix}", function.name);
        [
            (name(f32::SUFFIX), f32::TYPE, function.arity),
            (name(f64::SUFFIX), f64::TYPE, function.arity),
        ]
    })
}

pub fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for function in FUNCTIONS {
        tests.push(Test(
            format!("{}_of_float_is_within_its_bound", function.name),
            Needs::Nothing,
            Box::new(|gpu| within::<f32>(gpu, function)),
        ));
        tests.push(Test(
            format!("{}_of_double_is_within_its_bound", function.name),
            Needs::Nothing,
            Box::new(|gpu| within::<f64>(gpu, function)),
        ));
    }
    tests
}

/// `f32` and `f64`.
trait Float: Copy + DeviceRepr + ValidAsZeroBits + std::fmt::Debug {
    const TYPE: &'static str;
    const SUFFIX: &'static str;

    fn of(value: f64) -> Self;
    fn double(self) -> f64;
    /// Its place among all floats of its type.
    fn place(self) -> i128;
    fn bound(function: &Function) -> u64;
}

impl Float for f32 {
    const TYPE: &'static str = "float";
    const SUFFIX: &'static str = "f";

    fn of(value: f64) -> Self {
        value as f32
    }

    fn double(self) -> f64 {
        f64::from(self)
    }

    fn place(self) -> i128 {
        let bits = i128::from(self.abs().to_bits());
        if self.is_sign_negative() { -bits } else { bits }
    }

    fn bound(function: &Function) -> u64 {
        function.ulp.0
    }
}

impl Float for f64 {
    const TYPE: &'static str = "double";
    const SUFFIX: &'static str = "";

    fn of(value: f64) -> Self {
        value
    }

    fn double(self) -> f64 {
        self
    }

    fn place(self) -> i128 {
        let bits = i128::from(self.abs().to_bits());
        if self.is_sign_negative() { -bits } else { bits }
    }

    fn bound(function: &Function) -> u64 {
        match function.ulp.1 {
            0 => 0,
            // The CPU's own function is off by as much as one.
            bound => bound + 1,
        }
    }
}

const COUNT: usize = 20_000;

fn inputs<T: Float>(seed: u64, (from, to): (f64, f64)) -> Vec<T> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed + 1));
    (0..COUNT)
        .map(|_| T::of(from + (to - from) * random.fraction()))
        .collect()
}

fn within<T: Float>(gpu: &Gpu, function: &Function) -> Tested {
    let name = format!("__nv_{}{}", function.name, T::SUFFIX);
    let program = nvvm::Program::new(&gpu.toolkit)?;
    program.add_module("math.ll", apply(&name, T::TYPE, function.arity))?;
    let kernel = program.load(&gpu.context)?.kernel("k")?;

    let stream = &gpu.stream;
    let all: Vec<Vec<T>> = (0..function.arity as u64)
        .map(|seed| inputs(seed, function.range))
        .collect();
    let mut on_device = Vec::new();
    for one in &all {
        on_device.push(stream.clone_htod(one)?);
    }
    let mut y = stream.alloc_zeros::<T>(COUNT)?;
    let mut list = cuda_program::gpu::ArgumentList::new();
    list.push(COUNT as i32).push(&mut y);
    for one in &on_device {
        list.push(one);
    }
    // SAFETY: the kernel takes a count, a slice to write and `arity` slices to read, all of that count.
    unsafe { kernel.launch(stream, LaunchConfig::for_elements(COUNT as u32), list)? };

    let (mut worst, mut at) = (0, Vec::new());
    for (i, got) in stream.clone_dtoh(&y)?.into_iter().enumerate() {
        let x: Vec<f64> = all.iter().map(|one| one[i].double()).collect();
        let expected = T::of((function.of)(&x));
        let off = (got.place() - expected.place()).unsigned_abs();
        if off > worst {
            (worst, at) = (off, x);
        }
    }
    let bound = T::bound(function);
    println!("{name}: off by at most {worst} ulp, of {bound}");
    assert!(
        worst <= u128::from(bound),
        "{name}{at:?} is off by {worst} ulp, of {bound}"
    );
    Ok(())
}
