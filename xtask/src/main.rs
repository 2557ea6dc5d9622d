#[cfg(feature = "bindgen")]
mod bindgen;
fn main() {
    #[cfg(feature = "bindgen")]
    bindgen::write(
        std::path::Path::new(&std::env::args().nth(2).unwrap()),
        std::path::Path::new("src/sys/bindings"),
    )
    .unwrap();
}
