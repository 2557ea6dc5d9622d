//! Links on many threads at once, good and bad ones.

use cuda_program::{Arch, Cubin, Linker, LtoIr, nvrtc};
use rstest::rstest;

use crate::common::{toolkit, within};
use crate::inputs_of_links::ptx;

fn lto(version: &str, source: &str) -> LtoIr {
    let program = nvrtc::Program::new(&toolkit(version), "k.cu", source).unwrap();
    program.compile(&nvrtc::Options::new(Arch::SM_80)).unwrap()
}

#[rstest]
fn links_on_many_threads_do_not_disturb_each_other(
    #[values("12.0", "12.4", "13.5")] version: &str,
) {
    let function = lto(
        version,
        r#"extern "C" __device__ int f(int x) { return x + 1; }"#,
    );
    let kernel = lto(
        version,
        r#"extern "C" __device__ int f(int); extern "C" __global__ void k(int *p) { *p = f(*p); }"#,
    );
    let toolkit = toolkit(version);
    let fresh = |name: &str| {
        let body = format!(".visible .entry {name}() {{ ret; }}\n");
        Linker::new(&toolkit, Arch::SM_80).add(ptx(&body))
    };
    let optimised = Linker::new(&toolkit, Arch::SM_80)
        .add(kernel.with_kernels(["k"]))
        .add(function);
    let bad = Linker::new(&toolkit, Arch::SM_80)
        .add_named("bad", ptx(".visible .entry l() { bogus; }\n"));
    let undefined = Linker::new(&toolkit, Arch::SM_80).add(ptx(
        ".extern .func g();\n.visible .entry m() { call g; ret; }\n",
    ));
    let code = optimised.link::<Cubin>().unwrap().kernels().to_vec();
    within(300, || {
        std::thread::scope(|scope| {
            for thread in 0..16_usize {
                let (optimised, bad, undefined) = (&optimised, &bad, &undefined);
                let (code, fresh) = (&code, &fresh);
                scope.spawn(move || {
                    for round in 0..12_usize {
                        match (thread + round) % 4 {
                            0 => {
                                let cubin: Cubin = optimised.link().unwrap();
                                assert_eq!(cubin.kernels(), code);
                            }
                            1 => {
                                let error = bad.link::<Cubin>().unwrap_err().to_string();
                                assert!(error.contains("on bad"), "{error}");
                            }
                            2 => {
                                let error = undefined.link::<Cubin>().unwrap_err().to_string();
                                assert!(error.contains("`g`"), "{error}");
                            }
                            _ => {
                                let name = format!("k{thread}");
                                let cubin: Cubin = fresh(&name).link().unwrap();
                                assert!(cubin.kernel(&name).is_some());
                            }
                        }
                    }
                });
            }
        });
        // It would hang on a lock that was leaked.
        let canary: Cubin = fresh("canary").link().unwrap();
        assert!(canary.kernel("canary").is_some());
    });
}
