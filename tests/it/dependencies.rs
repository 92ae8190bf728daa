//! What is in the tree of crates: licences that allow passing axi on, and one version of what must be one.
//!
//! Reads `cargo metadata` without the network, for the target the tests run on and without dev-dependencies,
//! which nobody receives.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::support::rust_source::repository;

/// Licences a user of axi can live with, by SPDX identifier: permissive, or copyleft for the file only.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates whose licence is judged by hand: name, and why it may stay.
const LICENCE_EXCEPTIONS: &[(&str, &str)] = &[];

/// Crates of which there is exactly one version, and why two would hurt.
const EXACTLY_ONE: &[(&str, &str)] = &[
    ("crossterm", "two would each keep their own raw mode and event reader of one terminal"),
    ("rustls", "two would each want a process-wide crypto provider"),
    ("ring", "the one crypto provider: two are minutes of build and a megabyte"),
    ("tokio", "a future of one runtime panics on another"),
    ("reedline", "it is pinned and wrapped in one file"),
    ("pulldown-cmark", "streamed and whole markdown must be parsed alike"),
];

/// Crates that must not come in, and why.
const NONE_OF: &[(&str, &str)] = &[
    ("aws-lc-rs", "a second crypto provider: nine minutes of C to build"),
    ("aws-lc-sys", "a second crypto provider: nine minutes of C to build"),
    ("openssl", "needs a C library and its headers on the user's machine"),
    ("openssl-sys", "needs a C library and its headers on the user's machine"),
    ("native-tls", "a second TLS beside rustls"),
    ("onig", "a C library: syntect runs on fancy-regex here"),
    ("libsqlite3-sys", "a C library: what we keep is append-only text"),
];

/// Crates that may stand twice, and why nothing can be done about it today.
const MAY_REPEAT: &[(&str, &str)] = &[
    ("base64", "crossterm 0.29 asks for 0.22, reqwest for 0.23; both are small"),
    ("miniz_oxide", "png 0.18 asks for 0.8 by itself and for 0.9 through flate2; it is small"),
    ("getrandom", "ring 0.17 asks for 0.2"),
    ("syn", "build time only: the derive macros move to the next major one by one"),
    ("vte", "strip-ansi-escapes (reedline) asks for 0.14, the emulator vt100 for 0.15; both are small"),
    ("unicode-width", "termimad 0.35 asks for 0.1"),
];

struct Tree {
    packages: BTreeMap<String, Package>,
    /// What is compiled into axi or runs to build it, without dev-dependencies.
    shipped: BTreeSet<String>,
}

struct Package {
    name: String,
    version: String,
    licence: String,
}

fn tree() -> Tree {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-gnu" };
    let host = format!("{}-{system}", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", &host])
        .current_dir(repository())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    read_tree(&serde_json::from_slice(&output.stdout).expect("cargo prints JSON"))
}

fn read_tree(metadata: &Value) -> Tree {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let packages = list(&metadata["packages"])
        .iter()
        .map(|package| {
            let (name, version) = (text(&package["name"]), text(&package["version"]));
            (text(&package["id"]), Package { name, version, licence: text(&package["license"]) })
        })
        .collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"]["nodes"]).into_iter().map(|node| (text(&node["id"]), node)).collect();
    let mut waiting = vec![text(&metadata["resolve"]["root"])];
    let mut shipped = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        for dependency in list(&nodes[&id]["deps"]) {
            let used = list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev");
            let next = text(&dependency["pkg"]);
            if used && shipped.insert(next.clone()) {
                waiting.push(next);
            }
        }
    }
    Tree { packages, shipped }
}

impl Tree {
    fn shipped(&self) -> impl Iterator<Item = &Package> {
        self.shipped.iter().map(|id| &self.packages[id])
    }

    fn versions(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for package in self.shipped() {
            versions.entry(&package.name).or_default().push(&package.version);
        }
        versions
    }

    fn licence_faults(&self) -> Vec<String> {
        let excepted = |package: &Package| LICENCE_EXCEPTIONS.iter().any(|(name, _)| *name == package.name);
        self.shipped()
            .filter(|package| !excepted(package) && !satisfied(&package.licence))
            .map(|package| format!("{} {}: `{}`", package.name, package.version, package.licence))
            .collect()
    }

    fn version_faults(&self) -> Vec<String> {
        let versions = self.versions();
        let mut faults = Vec::new();
        for (name, why) in NONE_OF {
            faults.extend(versions.get(name).map(|found| format!("{name} {found:?} came in: {why}")));
        }
        for (name, why) in EXACTLY_ONE {
            let found = versions.get(name).cloned().unwrap_or_default();
            if found.len() != 1 {
                faults.push(format!("{name} {found:?}, wanted exactly one: {why}"));
            }
        }
        for (name, found) in &versions {
            let listed = MAY_REPEAT.iter().chain(EXACTLY_ONE).any(|(known, _)| known == name);
            if found.len() > 1 && !listed {
                faults.push(format!(
                    "{name} {found:?}: two versions of one job; align them or give MAY_REPEAT a reason"
                ));
            }
        }
        faults
    }
}

/// Tells whether an SPDX expression can be satisfied with [`LICENCES`]. `/` is the old way to write `OR`.
fn satisfied(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Expression { words: &words, at: 0 };
    let holds = reader.any();
    holds && reader.at == words.len()
}

/// A reader of `A OR B AND (C WITH D)`; `AND` binds closer than `OR`. What it cannot read does not hold.
struct Expression<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl Expression<'_> {
    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|own| own.eq_ignore_ascii_case(word));
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> bool {
        let mut holds = self.all();
        while self.take("OR") {
            let right = self.all();
            holds |= right;
        }
        holds
    }

    fn all(&mut self) -> bool {
        let mut holds = self.one();
        while self.take("AND") {
            let right = self.one();
            holds &= right;
        }
        holds
    }

    fn one(&mut self) -> bool {
        if self.take("(") {
            let holds = self.any();
            return self.take(")") && holds;
        }
        let Some(name) = self.words.get(self.at).copied() else {
            // Past the end for good, so that `MIT OR` does not hold by its first half.
            self.at = self.words.len() + 1;
            return false;
        };
        self.at += 1;
        if !self.take("WITH") {
            return LICENCES.contains(&name.trim_end_matches('+'));
        }
        let exception = self.words.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        LICENCES.contains(&format!("{name} WITH {exception}").as_str())
    }
}

#[test]
fn every_licence_allows_passing_axi_on() {
    let faults = tree().licence_faults();
    assert!(faults.is_empty(), "licences outside the list, which needs a decision: {faults:#?}");
}

#[test]
fn nothing_stands_twice_without_a_reason() {
    let faults = tree().version_faults();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_licence_check_can_fail() {
    for good in [
        "MIT",
        "GPL-3.0 OR MIT",
        "MIT/Apache-2.0",
        "Apache-2.0 / MIT",
        "(Apache-2.0 OR GPL-2.0) AND BSD-3-Clause",
        "Apache-2.0 WITH LLVM-exception",
        "GPL-2.0 AND ISC OR MIT",
    ] {
        assert!(satisfied(good), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT",
        "MIT)",
        "MIT OR",
        "MIT MIT",
        "AGPL-3.0-only OR SSPL-1.0",
        "GPL-2.0 WITH Classpath-exception-2.0",
        "MIT AND (GPL-2.0 OR AGPL-3.0)",
    ] {
        assert!(!satisfied(bad), "{bad}");
    }
}

#[test]
fn the_version_check_can_fail() {
    let package = |id: &str, name: &str, version: &str, licence: &str| serde_json::json!({ "id": id, "name": name, "version": version, "license": licence });
    let uses = |pkg: &str, kind: Value| serde_json::json!({ "pkg": pkg, "dep_kinds": [{ "kind": kind }] });
    let metadata = serde_json::json!({
        "packages": [
            package("root", "axi", "0.1.0", "MIT"), package("a1", "a", "1.0.0", "MIT"), package("a2", "a", "2.0.0", "GPL-3.0"),
            package("c1", "crossterm", "0.28.0", "MIT"), package("c2", "crossterm", "0.29.0", "MIT"),
            package("o", "openssl", "0.10.0", "Apache-2.0"), package("d", "d", "1.0.0", "SSPL-1.0"),
        ],
        "resolve": { "root": "root", "nodes": [
            { "id": "root", "deps": [uses("a1", Value::Null), uses("c1", Value::Null), uses("d", "dev".into())] },
            { "id": "a1", "deps": [uses("a2", "build".into()), uses("c2", Value::Null), uses("o", Value::Null)] },
            { "id": "a2", "deps": [] }, { "id": "c1", "deps": [] }, { "id": "c2", "deps": [] }, { "id": "o", "deps": [] },
        ] },
    });
    let tree = read_tree(&metadata);
    assert_eq!(tree.licence_faults(), ["a 2.0.0: `GPL-3.0`"]);
    let faults = tree.version_faults().join("\n");
    for expected in ["openssl", "crossterm [\"0.28.0\", \"0.29.0\"]", "a [\"1.0.0\", \"2.0.0\"]", "rustls []"] {
        assert!(faults.contains(expected), "{expected} is missing in {faults}");
    }
}
