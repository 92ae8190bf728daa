//! Lists the files of this directory at compile time, so that adding a language is adding one file.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=locales");
    let mut tags: Vec<String> = std::fs::read_dir("locales")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    tags.sort();
    let folder = std::env::current_dir()?.join("locales");
    let mut table = String::from("&[\n");
    for tag in tags {
        let path = folder.join(format!("{tag}.json"));
        writeln!(table, "    ({tag:?}, include_str!({:?})),", path.display().to_string())?;
    }
    table.push_str("]\n");
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("locales.rs"), table)?;
    Ok(())
}
