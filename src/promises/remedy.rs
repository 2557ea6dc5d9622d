//! What to do about a name that nothing defines.

/// What the name itself tells, on top of what holds for any.
pub(crate) fn of_name(name: &str, otherwise: &str) -> String {
    if is_of_the_device_runtime(name) {
        return "it is of the device's runtime: compile with `code.relocatable`, and link with the \
                toolkit's `libcudadevrt.a` (`Linker::add_file`)"
            .to_owned();
    }
    if name.starts_with("__nv_") {
        return format!(
            "a function of libdevice is added by `nvvm::Program` where a module of its own declares it; \
             otherwise, {otherwise}"
        );
    }
    if name.starts_with("_Z") {
        return format!(
            "{otherwise}; where its definition has the plain name of C, declare it `extern \"C\"`"
        );
    }
    otherwise.to_owned()
}

/// Launches from the device, and what else `cuda_device_runtime_api.h` declares.
fn is_of_the_device_runtime(name: &str) -> bool {
    let name = name.strip_prefix("__").unwrap_or(name);
    name.strip_prefix("cuda")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("cudaDeviceSynchronize", "libcudadevrt.a")]
    #[case("__cudaCDP2LaunchDevice_ptsz", "libcudadevrt.a")]
    #[case("__nv_sinf", "function of libdevice")]
    #[case("_Z4helpf", "`extern \"C\"`")]
    #[case("helper", "define it")]
    #[case("cuda_helper", "define it")]
    fn a_name_tells_what_to_do(#[case] name: &str, #[case] says: &str) {
        let said = of_name(name, "define it");
        assert!(said.contains(says), "{said}");
    }
}
