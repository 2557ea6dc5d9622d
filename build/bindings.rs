//! Rust types, constants and function types from NVIDIA's C headers.
//!
//! Shared by `build.rs` (feature `buildtime-bindgen`) and `cargo xtask bindgen`, so that both make
//! the same thing of the same header. Result codes come out as plain integers: a code that a newer
//! library returns must never be undefined behaviour. Functions come out as types, since the
//! libraries are opened at run time and nothing may be linked. Comments are left out: they are
//! NVIDIA's.

use std::collections::BTreeSet;
use std::path::Path;

use bindgen::EnumVariation;
use quote::format_ident;
use syn::{ForeignItem, Item};

/// One C header, and what is wanted of it.
pub struct Header {
    /// The module that the bindings become, as in `nvvm`.
    pub module: &'static str,
    /// The file, as in `nvvm.h`.
    pub file: &'static str,
    /// Where wheels, NVIDIA's installer and conda put it, below the toolkit's root.
    pub folders: &'static [&'static str],
    /// A regular expression for the items wanted.
    pub allow: &'static str,
    /// The definitions the header is read with.
    pub defines: &'static [&'static str],
}

/// The headers that the crate binds.
pub const HEADERS: &[Header] = &[
    Header {
        module: "nvvm",
        file: "nvvm.h",
        folders: &[
            "nvidia/cu13/include",
            "nvidia/cuda_nvcc/nvvm/include",
            "nvvm/include",
            "include",
        ],
        allow: "_?(nvvm|NVVM).*",
        defines: &[],
    },
    Header {
        module: "nvrtc",
        file: "nvrtc.h",
        folders: &[
            "nvidia/cu13/include",
            "nvidia/cuda_nvrtc/include",
            "include",
            "targets/x86_64-linux/include",
        ],
        allow: "_?(nvrtc|NVRTC).*",
        defines: &[],
    },
    Header {
        module: "nvjitlink",
        file: "nvJitLink.h",
        folders: &[
            "nvidia/cu13/include",
            "nvidia/nvjitlink/include",
            "include",
            "targets/x86_64-linux/include",
        ],
        allow: "(nvJitLink|NVJITLINK).*",
        defines: &["-DNVJITLINK_NO_INLINE"],
    },
];

impl Header {
    /// The header below a toolkit's root.
    pub fn find(&self, root: &Path) -> Option<std::path::PathBuf> {
        self.folders
            .iter()
            .map(|folder| root.join(folder).join(self.file))
            .find(|path| path.is_file())
    }

    /// The items of this header as Rust.
    pub fn read(&self, path: &Path) -> Result<syn::File, String> {
        let text = bindgen::Builder::default()
            .header(path.display().to_string())
            .clang_args(self.defines)
            .clang_args(system_includes())
            .allowlist_function(self.allow)
            .allowlist_type(self.allow)
            .allowlist_var(self.allow)
            .default_enum_style(EnumVariation::Consts)
            .prepend_enum_name(false)
            .generate_comments(false)
            .layout_tests(false)
            .use_core()
            .generate()
            .map_err(|e| format!("bindgen cannot read {}: {e}", path.display()))?
            .to_string();
        let mut file = syn::parse_file(&text)
            .map_err(|e| format!("what bindgen made of {} is no Rust: {e}", path.display()))?;
        file.items = file
            .items
            .into_iter()
            .flat_map(functions_to_types)
            .collect();
        Ok(file)
    }
}

/// `extern "C" { pub fn f(…); }` as `pub type f_fn = unsafe extern "C" fn(…);`.
fn functions_to_types(item: Item) -> Vec<Item> {
    let Item::ForeignMod(block) = item else {
        return vec![item];
    };
    block
        .items
        .into_iter()
        .filter_map(|item| {
            let ForeignItem::Fn(function) = item else {
                return None;
            };
            let name = format_ident!("{}_fn", function.sig.ident);
            let inputs = &function.sig.inputs;
            let output = &function.sig.output;
            Some(syn::parse_quote! {
                pub type #name = unsafe extern "C" fn(#inputs) #output;
            })
        })
        .collect()
}

/// The compiler's own headers: a libclang without its resource folder does not know them.
fn system_includes() -> Vec<String> {
    let found = std::process::Command::new("cc")
        .arg("-print-file-name=include")
        .output();
    match found {
        Ok(output) if output.status.success() => {
            let folder = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            vec!["-isystem".to_owned(), folder]
        }
        _ => Vec::new(),
    }
}

/// The name that an item defines.
pub fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Adds what `newer` defines and `file` lacks: a header of an older toolkit has fewer functions,
/// and the tables name them all.
pub fn complete(file: &mut syn::File, newer: syn::File) {
    let known: BTreeSet<_> = file.items.iter().filter_map(name_of).collect();
    file.items.extend(
        newer
            .items
            .into_iter()
            .filter(|item| name_of(item).is_some_and(|name| !known.contains(&name))),
    );
}

/// The file's text.
pub fn print(file: &syn::File) -> String {
    prettyplease::unparse(file)
}
