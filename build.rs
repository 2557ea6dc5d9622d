//! Nothing, unless the feature `buildtime-bindgen` asks for bindings made from the headers of an
//! installed toolkit.

#[cfg(feature = "buildtime-bindgen")]
#[path = "build/bindings.rs"]
mod bindings;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "buildtime-bindgen")]
    if let Err(reason) = from_headers() {
        println!("cargo:warning={reason}");
        std::process::exit(1);
    }
}

#[cfg(feature = "buildtime-bindgen")]
fn from_headers() -> Result<(), String> {
    use std::path::PathBuf;

    println!("cargo:rerun-if-changed=build/bindings.rs");
    const VARIABLES: [&str; 3] = ["CUDA_PROGRAM_TOOLKIT", "CUDA_HOME", "CUDA_PATH"];
    for variable in VARIABLES {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let roots: Vec<PathBuf> = VARIABLES
        .iter()
        .filter_map(std::env::var_os)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
        .chain([PathBuf::from("/usr/local/cuda")])
        .collect();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);

    for header in bindings::HEADERS {
        let path = roots
            .iter()
            .find_map(|root| header.find(root))
            .ok_or_else(|| {
                format!(
                    "the feature `buildtime-bindgen` found no {} below {}; set \
                     CUDA_PROGRAM_TOOLKIT or CUDA_HOME to a toolkit with headers",
                    header.file,
                    roots
                        .iter()
                        .map(|root| root.display().to_string())
                        .collect::<Vec<_>>()
                        .join(", ")
                )
            })?;
        println!("cargo:rerun-if-changed={}", path.display());
        let mut file = header.read(&path)?;
        let name = format!("{}.rs", header.module);
        let checked_in = std::fs::read_to_string(format!("src/sys/bindings/{name}"))
            .map_err(|e| format!("cannot read the checked-in bindings {name}: {e}"))?;
        let checked_in = syn::parse_file(&checked_in)
            .map_err(|e| format!("the checked-in bindings {name} are no Rust: {e}"))?;
        bindings::complete(&mut file, checked_in);
        std::fs::write(out.join(&name), bindings::print(&file))
            .map_err(|e| format!("cannot write {name}: {e}"))?;
    }
    Ok(())
}
