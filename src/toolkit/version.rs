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
        .or_else(|| folder(&environment.files().canonicalize(root)?))
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
    use rstest::rstest;

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
