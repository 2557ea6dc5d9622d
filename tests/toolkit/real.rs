//! The toolkits that NVIDIA ships, as they are.

use std::path::Path;

use cuda_program::Toolkit;
use cuda_program::toolkit::Part;
use rstest::rstest;

use crate::machine::real;

#[rstest]
#[case("12.0")]
#[case("12.4")]
#[case("12.9")]
#[case("13.0")]
#[case("13.5")]
fn every_part_of_a_toolkit_opens_and_tells_its_version(#[case] version: &str) {
    let root = real(version);
    let toolkit = Toolkit::at(&root).unwrap();
    toolkit.nvrtc().unwrap();
    toolkit.nvjitlink().unwrap();
    toolkit.libdevice().unwrap();

    let sources = toolkit.sources();
    let parts: Vec<Part> = sources.iter().map(|s| s.part).collect();
    assert_eq!(parts, Part::ALL);
    for source in &sources {
        assert_eq!(source.version.as_deref(), Some(version), "{source}");
        assert!(source.path.starts_with(&root), "{source}");
    }
    assert!(!toolkit.is_mixed(), "{sources:?}");
}

#[rstest]
#[case("13.5", "nvidia")]
#[case("13.5", "nvidia/cu13")]
#[case("12.9", "nvidia")]
fn a_folder_inside_a_toolkit_is_a_toolkit_too(#[case] version: &str, #[case] inside: &str) {
    let toolkit = Toolkit::at(real(version).join(inside)).unwrap();
    assert_eq!(
        toolkit.nvvm().unwrap().library.version.as_deref(),
        Some(version)
    );
    assert!(toolkit.nvjitlink().is_ok());
}

#[test]
fn nvrtc_opens_with_the_builtins_beside_it() {
    let toolkit = Toolkit::at(real("13.5")).unwrap();
    let nvrtc = toolkit.nvrtc().unwrap();
    let folder = nvrtc.library.path.parent().unwrap();
    assert!(folder.join("libnvrtc-builtins.so.13.5").is_file());
}

#[test]
fn a_mix_of_two_toolkits_is_allowed_and_shown() {
    let (new, old) = (real("13.5"), real("12.9"));
    let nvvm = new.join("nvidia/cu13/lib/libnvvm.so.4");
    let toolkit = Toolkit::builder()
        .nvvm(&nvvm)
        .root(&old)
        .only()
        .build()
        .unwrap();
    assert_eq!(toolkit.nvvm().unwrap().library.path, nvvm);
    assert!(!toolkit.is_mixed(), "one part is no mix");
    let nvjitlink = toolkit.nvjitlink().unwrap();
    assert_eq!(nvjitlink.library.version.as_deref(), Some("12.9"));
    assert!(toolkit.is_mixed());
    let roots: Vec<_> = toolkit
        .sources()
        .into_iter()
        .filter_map(|s| s.root)
        .collect();
    assert_eq!(roots, [new.join("nvidia/cu13"), old.join("nvidia")]);
}

#[test]
fn a_clone_shares_what_is_open() {
    let toolkit = Toolkit::at(real("13.5")).unwrap();
    let clone = toolkit.clone();
    assert!(std::sync::Arc::ptr_eq(
        toolkit.nvrtc().unwrap(),
        clone.nvrtc().unwrap()
    ));
}

#[test]
fn a_folder_that_is_not_there_is_an_error_that_names_it() {
    let error = Toolkit::at(Path::new("/no/such/toolkit")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("/no/such/toolkit (given in code): no such folder"),
        "{error}"
    );
}

#[test]
fn an_empty_path_is_refused_and_means_no_current_folder() {
    let error = Toolkit::at("").unwrap_err();
    assert!(error.to_string().contains("empty"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_link_of_any_name_to_a_toolkit_has_the_version_of_what_it_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("mine");
    std::os::unix::fs::symlink(real("13.5").join("nvidia/cu13"), &link).unwrap();
    let toolkit = Toolkit::at(&link).unwrap();
    let version = &toolkit.nvvm().unwrap().library.version;
    assert_eq!(version.as_deref(), Some("13.5"));
}
