//! nvJitLink counts down with each failure of some kinds, and then reports success for all that fails.

use cuda_program::link::InputKind;
use cuda_program::{Arch, Cubin, Linker};
use rstest::rstest;

use crate::common::toolkit;

const HEAD: &str = ".version 7.0\n.target sm_80\n.address_size 64\n";
const NONSENSE: &str = ".visible .entry k() {\n  foo.u32 %r1, 1;\n  ret;\n}\n";
const UNDEFINED: &str = ".extern .func f();\n.visible .entry k() {\n  call f;\n  ret;\n}\n";
const TOO_MUCH: &str = ".shared .b8 big[999999];\n.visible .entry k() {\n  .reg .b64 %rd;\n  \
                        mov.u64 %rd, big;\n  st.u8 [%rd], 1;\n  ret;\n}\n";
const GOOD: &str = ".visible .entry k() {\n  ret;\n}\n";

#[rstest]
fn a_link_that_fails_is_an_error_however_many_have_failed_before(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let toolkit = toolkit(version);
    let link = |body: &str| {
        Linker::new(&toolkit, Arch::SM_80)
            .add_bytes("k.ptx", InputKind::Ptx, format!("{HEAD}{body}"))
            .link::<Cubin>()
    };
    for round in 0..12 {
        for (what, body) in [
            ("nonsense", NONSENSE),
            ("undefined", UNDEFINED),
            ("too much", TOO_MUCH),
        ] {
            let made = link(body);
            assert!(made.is_err(), "round {round}, {what}");
        }
        let good = link(GOOD).unwrap();
        assert!(good.kernel("k").is_some(), "round {round}");
    }
}
