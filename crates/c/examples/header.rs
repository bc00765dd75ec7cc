//! Prints the header, made from the crate.

fn main() {
    cbindgen::generate(env!("CARGO_MANIFEST_DIR")).expect("the crate has a header").write(std::io::stdout());
}
