//! Damaged inputs of every kind through a pool: the owner lives, and each job ends in time.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cuda_program::compile::{Compiler, Emit, Job};
use cuda_program::isolate::{Isolated, Options};
use cuda_program::nvvm::Libdevice;
use cuda_program::{Arch, Error, nvrtc, nvvm};
use libtest_mimic::Trial;

use crate::common::{NEWEST, resident_kib, toolkit};
use crate::mutate::{cut, damage, edited, nudged, spliced};
use crate::random::Random;
use crate::{jobs, owners, trial};

pub fn all() -> Vec<Trial> {
    let long = trial("ten_thousand_damaged_inputs_harm_nobody", 3600, || {
        proof(10_000)
    });
    vec![
        trial("damaged_inputs_harm_nobody", 300, || proof(240)),
        long.with_ignored_flag(true),
    ]
}

const DEADLINE: Duration = Duration::from_secs(10);

/// Files that the newest library compiles as they are: for any architecture, and from sm_100 on.
const BITCODE: [&[&str]; 2] = [
    &[
        "bitcode/every.llvm7.bc",
        "bitcode/every.llvm14.bc",
        "bitcode/inline_assembly.llvm14.bc",
        "guards/debug_list.llvm14.bc",
        "guards/pointed.llvm14.bc",
    ],
    &["bitcode/every.llvm16.bc", "bitcode/every.llvm22.bc"],
];
const TEXT: [&[&str]; 2] = [
    &[
        "saxpy.ll",
        "gelu.ll",
        "text/every.typed.ll",
        "text/inline_assembly.ll",
        "guards/debug_list.ll",
        "guards/pointed.ll",
    ],
    &["text/every.opaque.ll", "text/freeze.ll"],
];

/// What sound inputs there are.
struct Sound {
    libdevice: Vec<u8>,
}

impl Sound {
    fn read() -> Self {
        Sound {
            libdevice: std::fs::read(&toolkit(NEWEST).libdevice().unwrap().path).unwrap(),
        }
    }

    /// One of the files that are for the architecture.
    fn any(files: [&[&str]; 2], arch: Arch, random: &mut Random) -> Vec<u8> {
        let [all, newer] = files;
        let newer = if arch >= Arch::SM_100 { newer } else { &[] };
        let files = [all, newer].concat();
        let file = files[random.below(files.len())];
        std::fs::read(format!("{}/fixtures/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    }

    /// The job of a number; none where it cannot be said at all.
    fn job(&self, number: usize) -> Option<Job> {
        let mut random = Random(0x9e37_79b9 + number as u64);
        let random = &mut random;
        let arch = [Arch::SM_80, Arch::SM_100][random.below(2)];
        let emit = [Emit::Ptx, Emit::LtoIr, Emit::Cubin][random.below(3)];
        let nvvm = |ir| Job::nvvm("m", ir, nvvm::Options::new(arch), emit);
        Some(match number % 8 {
            // Light damage is what gets far into the library.
            0 | 1 => nvvm(nudged(&Self::any(BITCODE, arch, random), random)),
            2 => {
                let one = Self::any(BITCODE, arch, random);
                nvvm(match random.below(3) {
                    0 => damage(&one, random),
                    1 => cut(&one, random).to_vec(),
                    _ => spliced(&one, &Self::any(BITCODE, arch, random), random),
                })
            }
            3 | 4 => {
                let other = Self::any(TEXT, arch, random);
                nvvm(edited(&Self::any(TEXT, arch, random), &other, random))
            }
            5 => {
                let mut job = nvvm(crate::common::calls("k", "__nv_sinf").into());
                if let cuda_program::compile::Source::Nvvm(nvvm) = &mut job.source {
                    nvvm.libdevice = Libdevice::Bytes(nudged(&self.libdevice, random).into());
                }
                job
            }
            6 => {
                let source = edited(CPP, CPP, random);
                let source = String::from_utf8_lossy(&source).into_owned();
                Job::cpp("k.cu", source, nvrtc::Options::new(arch), emit)
            }
            _ => {
                let job = if random.below(2) == 0 {
                    jobs::stores(1)
                } else {
                    jobs::cpp(1, emit)
                };
                let said = serde_json::to_string(&job).unwrap();
                serde_json::from_slice(&edited(said.as_bytes(), said.as_bytes(), random)).ok()?
            }
        })
    }
}

const CPP: &[u8] = br#"
template <typename T, int N> struct Row { T at[N]; __device__ T sum() const { T s = 0; for (T x : at) s += x; return s; } };
__constant__ float factors[4] = {1.0f, 2.0f, 3.0f, 4.0f};
extern "C" __global__ void k(float *x, int n) {
    __shared__ Row<float, 4> rows[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { rows[threadIdx.x % 32].at[i & 3] = x[i] * factors[i % 4]; __syncthreads(); x[i] = rows[0].sum(); }
}
"#;

fn proof(count: usize) {
    let sound = Sound::read();
    let options = Options::new().workers(2).deadline(DEADLINE).memory(8 << 30);
    let compiler = Isolated::with_options(&toolkit(NEWEST), options);
    compiler.warm(2).unwrap();
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let (open, resident) = (descriptors(), resident_kib());
    let next = AtomicUsize::new(0);
    let ends = Mutex::new(BTreeMap::<String, usize>::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let end = match sound.job(number) {
                        None => "no job".to_owned(),
                        Some(job) => end(&compiler, &job, number),
                    };
                    *ends.lock().unwrap().entry(end).or_default() += 1;
                }
            });
        }
    });
    let ends = ends.into_inner().unwrap();
    println!("{ends:?}, {:?}", compiler.stats());
    assert_eq!(ends.values().sum::<usize>(), count);
    // The canary.
    compiler.compile(&jobs::stores(1)).unwrap();
    compiler.warm(2).unwrap();
    assert!(
        descriptors() <= open + 2,
        "{} descriptors, {open} before",
        descriptors()
    );
    let grown = resident_kib() - resident;
    assert!(grown < 100 << 10, "{grown} KiB more");
    let mut workers = compiler.idle_processes();
    workers.sort_unstable();
    drop(compiler);
    assert!(!workers.iter().any(|worker| owners::exists(*worker)));
}

/// How a job ended, in a word.
fn end(compiler: &Isolated, job: &Job, number: usize) -> String {
    let start = Instant::now();
    let result = compiler.compile(job);
    let took = start.elapsed();
    // With one more try, and two starts.
    assert!(took < DEADLINE * 3, "{number} took {took:?}");
    match result {
        Ok(_) => "done".to_owned(),
        Err(Error::CompilerDied(died)) => {
            let signal = died.signal_name().map(str::to_owned);
            signal.unwrap_or_else(|| format!("{:?} {:?}", died.signal, died.code))
        }
        Err(Error::TimedOut { .. }) => "timed out".to_owned(),
        Err(Error::MemoryCeiling { .. }) => "memory".to_owned(),
        Err(error @ Error::NoWorker { .. }) => panic!("{number}: {error}"),
        Err(_) => "refused".to_owned(),
    }
}
