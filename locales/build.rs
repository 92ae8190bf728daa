//! Lists the files of this directory at compile time, so that adding a language is adding one file.

use std::fmt::Write as _;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=locales");
    let mut tags: Vec<String> = std::fs::read_dir("locales")
        .expect("locales/ is part of the crate")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    tags.sort();
    let mut table = String::from("&[\n");
    for tag in tags {
        let path = std::env::current_dir().expect("cargo sets it").join("locales").join(format!("{tag}.json"));
        writeln!(table, "    ({tag:?}, include_str!({path:?})),").expect("a string takes everything");
    }
    table.push_str("]\n");
    let out = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(Path::new(&out).join("locales.rs"), table).expect("OUT_DIR can be written");
}
