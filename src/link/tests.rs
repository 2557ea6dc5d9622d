//! Links in a process that writes a decimal comma.

use super::{Linker, Options};
use crate::testing::{CommaLocale, again_in_a_process_of_its_own};
use crate::{Arch, Cubin, Error, Ptx, Toolkit};

fn linker() -> Linker {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toolkits/13.5");
    let toolkit = Toolkit::at(root).expect("install it with `cargo xtask toolkit 13.5`");
    let ptx = Ptx::from_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .f64 g = 3.25;\n",
    );
    Linker::new(&toolkit, Arch::SM_80).add(ptx.unwrap())
}

#[test]
fn numbers_keep_their_fraction_under_a_decimal_comma() {
    again_in_a_process_of_its_own(&[], || {
        let linker = linker();
        let _locale = CommaLocale::for_the_process();
        let cubin: Cubin = linker.link().unwrap();
        let holds = |value: f64| {
            cubin
                .as_bytes()
                .windows(8)
                .any(|w| w == value.to_le_bytes())
        };
        assert!(holds(3.25));
        assert!(!holds(3.0));
    });
}

#[test]
fn threads_of_the_librarys_own_are_refused_under_a_decimal_comma_of_the_process() {
    again_in_a_process_of_its_own(&[], || {
        let threads = linker().options(Options::new().split_compile_extended(4));
        threads.link::<Cubin>().unwrap();
        {
            let _locale = CommaLocale::for_this_thread();
            threads.link::<Cubin>().unwrap();
        }
        let _locale = CommaLocale::for_the_process();
        let error = threads.link::<Cubin>().unwrap_err();
        assert!(
            matches!(&error, Error::InvalidOptions { problem, .. } if problem.contains("comma")),
            "{error}"
        );
        let one = linker().options(Options::new().split_compile_extended(1));
        one.link::<Cubin>().unwrap();
    });
}
