//! The header is that of the crate. Where it is not, the new one lies beside what Cargo builds, to be copied.

use std::path::Path;

#[test]
fn the_header_is_made_from_the_crate() {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("headrace.h");
    cbindgen::generate(env!("CARGO_MANIFEST_DIR")).expect("the crate has a header").write_to_file(&made);
    let is = std::fs::read_to_string(&made).expect("it was just written");
    assert!(is == include_str!("../include/headrace.h"), "copy {} to include/headrace.h", made.display());
}
