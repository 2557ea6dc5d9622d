//! The version of the toolkit that a file came with, from what lies around it.

use std::path::Path;

use super::environment::Environment;
use super::layout::numbers;
use super::part::Part;

/// How much of a `version.json` is read, in bytes; real ones have about 3,000.
const LIMIT: u64 = 1 << 20;

/// The toolkit's version, as in `13.5`, where the files around a part tell it.
///
/// Asked in this order: the wheel's `dist-info` folder, conda's record of the package, the
/// installer's `version.json`, the name of the toolkit's folder.
pub(super) fn version_of(environment: &Environment, part: Part, root: &Path) -> Option<String> {
    wheel(environment, part, root)
        .or_else(|| conda(environment, part, root))
        .or_else(|| installer(environment, root))
        .or_else(|| folder(root))
        .or_else(|| {
            // A link to a toolkit may have any name; what it leads to tells.
            let real = environment.files().canonicalize(root)?;
            wheel(environment, part, &real).or_else(|| folder(&real))
        })
}

fn wheel(environment: &Environment, part: Part, root: &Path) -> Option<String> {
    let nvidia = root.ancestors().take(2).find(|a| a.ends_with("nvidia"))?;
    let since_13 = root
        .file_name()
        .and_then(|name| name.to_str()?.strip_prefix("cu"))
        .is_some_and(|version| numbers(version).is_some());
    let wheels_of_12 = !since_13;
    let head = match (part, wheels_of_12) {
        (Part::Nvvm | Part::Libdevice, true) => "nvidia_cuda_nvcc_cu12-",
        (Part::Nvvm | Part::Libdevice, false) => "nvidia_nvvm-",
        (Part::Nvrtc, true) => "nvidia_cuda_nvrtc_cu12-",
        (Part::Nvrtc, false) => "nvidia_cuda_nvrtc-",
        (Part::NvJitLink, true) => "nvidia_nvjitlink_cu12-",
        (Part::NvJitLink, false) => "nvidia_nvjitlink-",
    };
    newest(environment, nvidia.parent()?, |name| {
        name.strip_prefix(head)?.strip_suffix(".dist-info")
    })
}

fn conda(environment: &Environment, part: Part, root: &Path) -> Option<String> {
    let heads: &[&str] = match part {
        Part::Nvvm | Part::Libdevice => &["cuda-nvvm-impl-", "libnvvm-", "cuda-nvcc-impl-"],
        Part::Nvrtc => &["cuda-nvrtc-"],
        Part::NvJitLink => &["libnvjitlink-"],
    };
    // On Windows the files lie in `Library`, one folder below the prefix.
    root.ancestors().take(2).find_map(|prefix| {
        let records = prefix.join("conda-meta");
        heads.iter().find_map(|head| {
            newest(environment, &records, |name| {
                name.strip_prefix(head)?.split('-').next()
            })
        })
    })
}

/// The newest version among the names of a folder.
fn newest(
    environment: &Environment,
    folder: &Path,
    version: impl Fn(&str) -> Option<&str>,
) -> Option<String> {
    environment
        .files()
        .list(folder)
        .iter()
        .filter_map(|name| numbers(version(name.to_str()?)?))
        .max()
        .and_then(|all| major_minor(&all))
}

fn installer(environment: &Environment, root: &Path) -> Option<String> {
    let bytes = environment
        .files()
        .read(&root.join("version.json"), LIMIT)?;
    cuda_version(&String::from_utf8_lossy(&bytes))
}

/// The version of the entry `cuda` in the text of a `version.json`.
fn cuda_version(json: &str) -> Option<String> {
    // The file is flat and written by one program, so a reader of all JSON is not worth its
    // weight; an odd file only leaves the version unknown.
    let (_, entry) = json.split_once("\"cuda\"")?;
    let (entry, _) = entry.split_once('}')?;
    let (_, value) = entry.split_once("\"version\"")?;
    let (_, value) = value.split_once('"')?;
    let (version, _) = value.split_once('"')?;
    major_minor(&numbers(version)?)
}

fn folder(root: &Path) -> Option<String> {
    let name = root.file_name()?.to_str()?;
    let version = ["cuda-", "v"]
        .into_iter()
        .find_map(|head| name.strip_prefix(head))
        .unwrap_or(name);
    major_minor(&numbers(version)?)
}

fn major_minor(all: &[u32]) -> Option<String> {
    match all {
        [major, minor, ..] => Some(format!("{major}.{minor}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;

    use super::super::environment::{Disk, Platform};
    use super::*;

    #[rstest]
    #[case(
        r#"{ "cuda" : { "name" : "CUDA SDK", "version" : "12.4.1" }, "x": {} }"#,
        Some("12.4")
    )]
    #[case(r#"{"cuda":{"version":"13.10.20240301"}}"#, Some("13.10"))]
    #[case(r#"{"cuda":{"name":"CUDA SDK"},"cuda_nvcc":{"version":"9.9"}}"#, None)]
    #[case(r#"{"cuda":{"version":"new"}}"#, None)]
    #[case("", None)]
    fn version_json_tells_the_version(#[case] json: &str, #[case] version: Option<&str>) {
        assert_eq!(cuda_version(json).as_deref(), version);
    }

    /// The version of NVRTC in a root of a folder that has these files.
    fn version_in(files: &[(&str, &str)], root: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let environment = Environment::new(Platform::current(), Arc::new(Disk));
        version_of(&environment, Part::Nvrtc, &folder.path().join(root))
    }

    #[rstest]
    #[case::wheel_of_13(
        "s/nvidia_cuda_nvrtc-13.5.37.dist-info/RECORD",
        "s/nvidia/cu13",
        Some("13.5")
    )]
    #[case::wheel_of_12(
        "s/nvidia_cuda_nvrtc_cu12-12.9.86.dist-info/RECORD",
        "s/nvidia",
        Some("12.9")
    )]
    #[case::wheel_of_12_for_13(
        "s/nvidia_cuda_nvrtc_cu12-12.9.86.dist-info/RECORD",
        "s/nvidia/cu13",
        None
    )]
    #[case::wheel_of_another_part("s/nvidia_nvvm-13.5.37.dist-info/RECORD", "s/nvidia/cu13", None)]
    #[case::conda("p/conda-meta/cuda-nvrtc-12.4.127-h1_0.json", "p", Some("12.4"))]
    #[case::conda_on_windows("p/conda-meta/cuda-nvrtc-12.4.127-0.json", "p/Library", Some("12.4"))]
    #[case::conda_of_another_part("p/conda-meta/cuda-nvrtc-dev-12.4.127-0.json", "p", None)]
    #[case::folder("cuda-13.1/readme", "cuda-13.1", Some("13.1"))]
    fn what_lies_around_a_part_tells_its_version(
        #[case] file: &str,
        #[case] root: &str,
        #[case] version: Option<&str>,
    ) {
        assert_eq!(version_in(&[(file, "")], root).as_deref(), version);
    }

    #[test]
    fn version_json_goes_before_the_name_of_the_folder() {
        let json = r#"{"cuda":{"version":"13.2.1"}}"#;
        let files = [("cuda-13.1/version.json", json)];
        assert_eq!(version_in(&files, "cuda-13.1").as_deref(), Some("13.2"));
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_a_versioned_folder_has_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("cuda-13.3"), folder.path().join("cuda"));
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let environment = Environment::new(Platform::current(), Arc::new(Disk));
        let version = version_of(&environment, Part::Nvvm, &link);
        assert_eq!(version.as_deref(), Some("13.3"));
    }

    #[rstest]
    #[case("/usr/local/cuda-13.5", Some("13.5"))]
    #[case("/programs/v12.9", Some("12.9"))]
    #[case("/target/toolkits/13.0", Some("13.0"))]
    #[case("/usr/local/cuda", None)]
    #[case("/usr/local/cuda-13", None)]
    #[case("/", None)]
    fn a_folder_name_tells_the_version(#[case] root: &str, #[case] version: Option<&str>) {
        assert_eq!(folder(Path::new(root)).as_deref(), version);
    }
}
