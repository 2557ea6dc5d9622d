//! `cargo xtask bindgen`: writes `src/sys/bindings` from the headers of an installed toolkit.

use std::path::Path;

#[allow(dead_code, reason = "some of it is for build.rs alone")]
#[path = "../../build/bindings.rs"]
pub mod bindings;

/// Writes the bindings of every header below `toolkit` into the folder `into`.
pub fn write(toolkit: &Path, into: &Path) -> Result<(), String> {
    for header in bindings::HEADERS {
        let path = header
            .find(toolkit)
            .ok_or_else(|| format!("no {} below {}", header.file, toolkit.display()))?;
        let mut text = String::from("// Written by `cargo xtask bindgen`; not edited by hand.\n\n");
        text.push_str(&bindings::print(&header.read(&path)?));
        let target = into.join(format!("{}.rs", header.module));
        std::fs::write(&target, text)
            .map_err(|e| format!("cannot write {}: {e}", target.display()))?;
        println!("wrote {} from {}", target.display(), path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use super::bindings::{self, Header};
    use rstest::rstest;

    fn workspace() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    /// Each definition by its name, all printed alike: rustfmt moves commas, and headers differ in
    /// which pointers are to constants, which makes no difference to a call.
    fn definitions(file: &syn::File) -> BTreeMap<String, String> {
        let print = |item: &syn::Item| {
            bindings::print(&syn::File {
                shebang: None,
                attrs: Vec::new(),
                items: vec![item.clone()],
            })
            .replace("*const ", "*mut ")
        };
        file.items
            .iter()
            .filter_map(|item| Some((bindings::name_of(item)?, print(item))))
            .collect()
    }

    /// The header's items, under their plain names: before 13.5 nvJitLink declares its functions
    /// under names that end in its version, and the plain ones are inline.
    fn read(header: &Header, path: &Path, version: &str) -> syn::File {
        let header = Header {
            allow: "_*(nvvm|NVVM|nvrtc|NVRTC|nvJitLink|NVJITLINK).*",
            ..*header
        };
        let suffix = format!("_{}_fn", version.replace('.', "_"));
        let text = bindings::print(&header.read(path).unwrap())
            .replace("pub type __nvJitLink", "pub type nvJitLink")
            .replace(&suffix, "_fn");
        syn::parse_file(&text).unwrap()
    }

    /// The functions that a table of `src/sys` names for this header.
    fn called(header: &Header) -> Vec<String> {
        let table = workspace().join(format!("src/sys/{}.rs", header.module));
        let text = std::fs::read_to_string(table).unwrap();
        let prefix = if header.module == "nvjitlink" {
            "nvJitLink"
        } else {
            header.module
        };
        let mut names: Vec<String> = text
            .lines()
            .filter_map(|line| line.trim().split_once(": "))
            .filter(|(name, ty)| *ty == format!("{name}_fn,") && name.starts_with(prefix))
            .map(|(name, _)| name.to_owned())
            .collect();
        names.sort();
        assert!(
            names.len() > 10,
            "the table of {} was not understood",
            header.module
        );
        names
    }

    #[rstest]
    fn checked_in_bindings_agree_with_the_headers_for_every_function_we_call(
        #[values("12.9", "13.0", "13.5")] version: &str,
        #[values(0, 1, 2)] header: usize,
    ) {
        let header = &bindings::HEADERS[header];
        let root = workspace().join("target/toolkits").join(version);
        let path = header
            .find(&root)
            .unwrap_or_else(|| panic!("run `cargo xtask toolkit {version}` first"));
        let installed = definitions(&read(header, &path, version));
        let checked_in = workspace().join(format!("src/sys/bindings/{}.rs", header.module));
        let checked_in = std::fs::read_to_string(checked_in).unwrap();
        let checked_in = definitions(&syn::parse_file(&checked_in).unwrap());

        let mut compared = 0;
        for function in called(header) {
            let name = format!("{function}_fn");
            let ours = checked_in
                .get(&name)
                .unwrap_or_else(|| panic!("{function} is called but not bound"));
            match installed.get(&name) {
                Some(theirs) => {
                    assert_eq!(ours, theirs, "{function} differs in {}", path.display());
                    compared += 1;
                }
                None => assert_ne!(version, "13.5", "{function} is missing in 13.5"),
            }
        }
        assert!(compared > 10, "only {compared} functions were compared");

        for (name, theirs) in &installed {
            if let Some(ours) = checked_in.get(name) {
                assert_eq!(ours, theirs, "{name} differs in {}", path.display());
            }
        }
    }
}
