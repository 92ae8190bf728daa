//! Text that holds no secret: this house's own sources and pages. A false alarm costs the model a hole in what it reads.
//!
//! `AXI_ORDINARY=LIST` names a file with paths, one a line: what is found in those is printed, and counted by the megabyte.

use std::path::{Path, PathBuf};

use super::*;

/// What is found in our own files, most of it examples of credentials.
const FOUND: usize = 13;

fn hits(paths: &[PathBuf]) -> (usize, Vec<String>) {
    let (mut bytes, mut hits) = (0, Vec::new());
    for path in paths {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        bytes += text.len();
        for range in find(&text, &Known::default(), Level::Kept) {
            let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
            let before = &text[start..range.start];
            hits.push(format!("{}: {before}⟦{}⟧", path.display(), &text[range]));
        }
    }
    (bytes, hits)
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

#[test]
fn our_own_sources_stay_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["src/agent", "src/app", "src/mcp", "src/provider/http", "docs", "shell-hooks"]
        .map(|folder| root.join(folder));
    let mut paths: Vec<PathBuf> = folders.iter().flat_map(|folder| below(folder)).collect();
    paths
        .extend(["README.md", "AGENTS.md", "CHANGELOG.md", "Cargo.toml", "Cargo.lock"].map(|name| root.join(name)));
    let is_test = |path: &PathBuf| path.to_string_lossy().contains("tests");
    paths.retain(|path| !is_test(path));
    let (bytes, hits) = hits(&paths);
    assert!(bytes > 1_500_000, "{bytes}");
    assert!(hits.len() <= FOUND, "{} in {bytes} bytes: {hits:#?}", hits.len());
    if let Ok(list) = std::env::var("AXI_ORDINARY") {
        let others: Vec<PathBuf> = std::fs::read_to_string(list).unwrap().lines().map(PathBuf::from).collect();
        let (bytes, hits) = self::hits(&others);
        let shown = hits.join("\n");
        panic!("{shown}\n{} in {bytes} bytes", hits.len());
    }
}
