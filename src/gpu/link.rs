//! PTX and LTO IR to a cubin, by nvJitLink.

use std::ffi::CStr;
use std::sync::OnceLock;

use super::errors::messages;
use crate::arch::{Arch, Suffix};
use crate::artifact::{Cubin, LtoIr, Ptx};
use crate::diagnostic::Severity;
use crate::error::{Error, Library, LibraryError, Result, Stage};
use crate::guard::{Guarded, guarded};
use crate::sys::{Input, LinkFailed, NvJitLink, RawLinker, nvjitlink_code_name};
use crate::toolkit::{Opened, Toolkit};

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
    let mut options = Vec::new();
    if ptx.target_options().iter().any(|option| option == "debug") {
        options.push(c"-g");
    }
    // The driver wants a NUL at the end and nvJitLink takes it.
    let mut text = ptx.as_bytes().to_vec();
    text.push(0);
    link(
        toolkit.nvjitlink()?,
        target(Some(ptx.target()), device),
        &options,
        (Input::Ptx, &text, c"PTX"),
    )
}

/// A cubin of LTO IR, for a device.
pub(super) fn lto(toolkit: &Toolkit, lto: &LtoIr, device: Arch) -> Result<(Cubin, Library)> {
    let mut options = vec![c"-lto"];
    if lto.is_modern() && device < Arch::SM_100 {
        options.push(c"-nvvm-latest");
    }
    link(
        toolkit.nvjitlink()?,
        target(lto.arch(), device),
        &options,
        (Input::LtoIr, lto.as_bytes(), c"LTO IR"),
    )
}

/// The architecture to finish for: the device's, with the `a` that the code asks for.
fn target(code: Option<Arch>, device: Arch) -> Arch {
    match code {
        Some(code) if code.number() == device.number() && code.suffix() == Suffix::ArchSpecific => {
            code
        }
        _ => device,
    }
}

fn link(
    nvjitlink: &Opened<NvJitLink>,
    arch: Arch,
    options: &[&CStr],
    input: (Input, &[u8], &CStr),
) -> Result<(Cubin, Library)> {
    let library = &nvjitlink.library;
    let done = guarded(|guard| run(nvjitlink.api, arch, options, input, guard))?;
    let (bytes, said) = done.map_err(|(stage, LinkFailed { code, log })| {
        let log = crate::nvvm::escaped(&log);
        let shown = std::iter::once(format!("-arch={arch}"))
            .chain(options.iter().map(|o| o.to_string_lossy().into_owned()))
            .collect();
        Error::from(LibraryError {
            stage,
            code: i32::try_from(code).unwrap_or(i32::MAX),
            code_name: nvjitlink_code_name(code).to_owned(),
            input: Some(input.2.to_string_lossy().into_owned()),
            diagnostics: messages(&log, Severity::Error),
            log,
            options: shown,
            library: library.clone(),
            hint: None,
        })
    })?;
    let said = messages(&crate::nvvm::escaped(&said), Severity::Warning);
    match Cubin::from_bytes(bytes) {
        Ok(cubin) => Ok((cubin.with_diagnostics(said), library.clone())),
        Err(e) => Err(Error::WrongOutput {
            problem: e.to_string(),
            hint: "see that the input defines a kernel".to_owned(),
            library: library.clone(),
            diagnostics: said,
        }),
    }
}

type Run = Result<(Vec<u8>, Vec<u8>), (Stage, LinkFailed)>;

fn run(
    api: NvJitLink,
    arch: Arch,
    options: &[&CStr],
    (kind, data, name): (Input, &[u8], &CStr),
    guard: &Guarded,
) -> Run {
    RawLinker::create(api, arch, options, guard)
        .map_err(|e| (Stage::Create, e))?
        .add(kind, data, name, guard)
        .map_err(|e| (Stage::Add, e))?
        .cubin(guard)
        .map_err(|e| (Stage::Link, e))
}

#[cfg(all(test, not(loom)))]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
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
        let nvjitlink = toolkit.nvjitlink().unwrap();
        let input = (Input::Ptx, &b"?"[..], c"PTX");
        let error = link(nvjitlink, Arch::SM_90, &[c"-no-such-option"], input).unwrap_err();
        assert!(matches!(error, Error::Library(e) if e.stage == Stage::Create));
    }

    #[test]
    fn lto_ir_becomes_a_cubin() {
        let toolkit = toolkit("13.5");
        let program = crate::nvvm::Program::new(&toolkit).unwrap();
        let source = include_bytes!("../../fixtures/saxpy.ll");
        program.add_module("saxpy.ll", source).unwrap();
        let options = crate::nvvm::Options::new(Arch::SM_90);
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
    fn code_is_finished_for_the_device(
        #[case] code: &str,
        #[case] device: &str,
        #[case] finished_for: &str,
    ) {
        let arch = |name: &str| name.parse::<Arch>().unwrap();
        assert_eq!(target(Some(arch(code)), arch(device)), arch(finished_for));
    }
}
