//! PTX and LTO IR to a cubin, by nvJitLink.

use std::sync::OnceLock;

use crate::arch::{Arch, Suffix};
use crate::artifact::{Cubin, LtoIr, Ptx};
use crate::error::{Library, Result};
use crate::link::Linker;
use crate::toolkit::Toolkit;

/// The toolkit that was found for loads that name none; a failure to find one is not kept.
pub(super) fn default_toolkit() -> Result<Toolkit> {
    static FOUND: OnceLock<Toolkit> = OnceLock::new();
    if let Some(found) = FOUND.get() {
        return Ok(found.clone());
    }
    // Searched for before the cell is entered, so that no thread waits for another's search.
    let found = Toolkit::discover()?;
    Ok(FOUND.get_or_init(|| found).clone())
}

/// A cubin of PTX, for a device.
pub(super) fn ptx(toolkit: &Toolkit, ptx: &Ptx, device: Arch) -> Result<(Cubin, Library)> {
    finished(Linker::new(toolkit, target(Some(ptx.target()), device)).add_named("PTX", ptx))
}

/// A cubin of LTO IR, for a device.
pub(super) fn lto(toolkit: &Toolkit, lto: &LtoIr, device: Arch) -> Result<(Cubin, Library)> {
    finished(Linker::new(toolkit, target(lto.arch(), device)).add_named("LTO IR", lto))
}

fn finished(linker: Linker) -> Result<(Cubin, Library)> {
    Ok((linker.link()?, linker.library()?.clone()))
}

/// The architecture to finish for: the device's, with the `a` that the code asks for.
fn target(code: Option<Arch>, device: Arch) -> Arch {
    match code {
        // What is 101 to an older compiler is 110 to the device.
        Some(code) if code.suffix() == Suffix::ArchSpecific && code.ptx_runs_on(device) => {
            Arch::from_parts(device.number(), Suffix::ArchSpecific).unwrap_or(device)
        }
        _ => device,
    }
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::error::{Error, Stage};
    use crate::link::Options;
    use crate::nvvm::Dialect;
    use rstest::rstest;

    fn toolkit(version: &str) -> Toolkit {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("target/toolkits")
            .join(version);
        Toolkit::at(root)
            .unwrap_or_else(|e| panic!("install it with `cargo xtask toolkit {version}`: {e}"))
    }

    fn one_kernel(target: &str, body: &str) -> Ptx {
        Ptx::from_text(format!(
            ".version 8.0\n.target {target}\n.address_size 64\n.extern .func elsewhere();\n\
             .visible .entry k() {{ {body} ret; }}\n"
        ))
        .unwrap()
    }

    #[rstest]
    fn ptx_becomes_a_cubin_with_every_nvjitlink(
        #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
        #[values("sm_75", "sm_90a")] target: &str,
    ) {
        let (cubin, library) =
            ptx(&toolkit(version), &one_kernel(target, ""), Arch::SM_90).unwrap();
        assert!(cubin.as_bytes().len() > 64);
        assert_eq!(library.name, "nvJitLink");
    }

    #[rstest]
    fn what_is_wrong_with_ptx_comes_with_the_error(
        #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
        #[values("bogus;", "call elsewhere;")] body: &str,
    ) {
        let error = ptx(&toolkit(version), &one_kernel("sm_75", body), Arch::SM_90).unwrap_err();
        let Error::Library(error) = error else {
            panic!("{error}");
        };
        assert!(error.code != 0);
        if body == "bogus;" {
            assert!(error.log.contains("bogus"), "{error}");
        }
    }

    #[rstest]
    fn an_architecture_that_the_library_does_not_know_is_an_error(
        #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
        #[values("sm_130", "sm_999", "sm_130a")] arch: &str,
    ) {
        let device = arch.parse().unwrap();
        let error = ptx(&toolkit(version), &one_kernel("sm_75", ""), device).unwrap_err();
        assert!(error.raw_code().is_some_and(|code| code != 0), "{error}");
    }

    #[rstest]
    fn an_option_that_the_library_does_not_know_is_an_error(
        #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    ) {
        let toolkit = toolkit(version);
        let error = Linker::new(&toolkit, Arch::SM_90)
            .options(Options::new().extra("-no-such-option"))
            .add(one_kernel("sm_75", ""))
            .link::<Cubin>()
            .unwrap_err();
        assert!(matches!(error, Error::Library(e) if e.stage == Stage::Create));
    }

    #[rstest]
    #[case::llvm_7("12.4", Dialect::Auto)]
    #[case::llvm_7("13.5", Dialect::Auto)]
    #[case::newer("13.5", Dialect::Latest)]
    fn lto_ir_becomes_a_cubin(#[case] version: &str, #[case] dialect: Dialect) {
        let toolkit = toolkit(version);
        let program = crate::nvvm::Program::new(&toolkit).unwrap();
        let source = include_bytes!("../../fixtures/saxpy.ll");
        program.add_module("saxpy.ll", source).unwrap();
        let options = crate::nvvm::Options::new(Arch::SM_90).dialect(dialect);
        let linked: LtoIr = program.compile(&options).unwrap();
        let (cubin, _) = lto(&toolkit, &linked, Arch::SM_90).unwrap();
        let has = |name: &[u8]| cubin.as_bytes().windows(name.len()).any(|w| w == name);
        assert!(has(b".text.saxpy"));
    }

    #[rstest]
    #[case("sm_90a", "sm_90", "sm_90a")]
    #[case("sm_90", "sm_90", "sm_90")]
    #[case("sm_80", "sm_90", "sm_90")]
    #[case("sm_100f", "sm_103", "sm_103")]
    #[case("sm_101a", "sm_110", "sm_110a")]
    #[case("sm_101f", "sm_110", "sm_110")]
    fn code_is_finished_for_the_device(
        #[case] code: &str,
        #[case] device: &str,
        #[case] finished_for: &str,
    ) {
        let arch = |name: &str| name.parse::<Arch>().unwrap();
        assert_eq!(target(Some(arch(code)), arch(device)), arch(finished_for));
    }
}
