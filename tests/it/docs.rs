//! What people read: each link between the pages leads somewhere, and README leads to each page.

use std::path::{Path, PathBuf};

use crate::support::rust_source::repository;

/// The places that a page links to, without those elsewhere on the network.
fn links(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let prose = page.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    let targets = prose.flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

/// A heading as the part of an address behind `#`, as GitHub and most others make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars().filter(|one| one.is_alphanumeric() || " -_".contains(*one)).collect::<String>().replace(' ', "-")
}

#[test]
fn every_link_between_pages_leads_somewhere_and_readme_leads_to_every_page() {
    let docs = std::fs::read_dir(repository().join("docs")).expect("docs/ is there");
    let pages: Vec<PathBuf> = docs.map(|entry| entry.expect("an entry").path()).collect();
    let readme = repository().join("README.md");
    for page in pages.iter().chain([&readme]) {
        let text = std::fs::read_to_string(page).expect("a page");
        for link in links(&text) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", page.display());
            let has = |place: &str, target: &Path| {
                let text = std::fs::read_to_string(target).unwrap();
                text.lines().any(|line| line.starts_with('#') && anchor(line) == place)
            };
            assert!(place.is_empty() || has(place, &target), "{}: {link}", page.display());
        }
    }
    let text = std::fs::read_to_string(&readme).unwrap();
    for page in pages {
        let name = format!("docs/{}", page.file_name().unwrap().to_str().unwrap());
        assert!(links(&text).contains(&name.as_str()), "README.md does not lead to {name}");
    }
}

#[test]
fn who_installs_by_binstall_looks_for_what_the_script_makes() {
    let read = |name: &str| std::fs::read_to_string(repository().join(name)).expect("it is there");
    let (cargo, script) = (read("Cargo.toml"), read(".ci/archive"));
    let value = |name: &str| {
        let line = cargo.lines().find_map(|line| line.strip_prefix(&format!("{name} = \"")));
        line.expect("it is there")
            .trim_end_matches('"')
            .replace("{ version }", "$version")
            .replace("{ target }", "$1")
    };
    // The archive's name is its only directory's, and the binary lies in that.
    assert!(script.contains("name=axi-$version-$1") && script.contains("$name.tar.gz"));
    assert!(value("pkg-url").ends_with("/axi-$version-$1.tar.gz"), "{}", value("pkg-url"));
    assert_eq!(value("bin-dir"), "axi-$version-$1/{ bin }{ binary-ext }");
    // The workflow's tags are those of the address.
    assert!(value("pkg-url").contains("/download/v$version/"));
    assert!(read(".github/workflows/release.yml").contains("tags: [\"v*\"]"));
}
