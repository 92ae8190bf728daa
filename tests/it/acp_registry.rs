//! The entry for the registry of agents: what the registry itself checks, as far as that needs no network
//! (github.com/agentclientprotocol/registry, FORMAT.md and CONTRIBUTING.md).

use serde_json::Value;

use crate::support::rust_source::repository;

#[test]
fn the_entry_is_this_version_and_runs_axi_as_an_agent() {
    let folder = repository().join(".ci/acp-registry/axi");
    let text = std::fs::read_to_string(folder.join("agent.json")).unwrap();
    let entry: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(entry["id"], "axi");
    assert_eq!(entry["version"], env!("CARGO_PKG_VERSION"));
    assert!(entry["name"].is_string() && entry["description"].is_string());
    let version = format!("/v{}/", env!("CARGO_PKG_VERSION"));
    let targets = entry["distribution"]["binary"].as_object().unwrap();
    assert!(!targets.is_empty());
    for (target, binary) in targets {
        assert!(["linux-aarch64", "linux-x86_64"].contains(&target.as_str()), "{target}");
        assert!(binary["archive"].as_str().unwrap().contains(&version), "{binary}");
        assert_eq!((&binary["cmd"], &binary["args"][0]), (&Value::from("./axi"), &Value::from("acp")));
    }
    let icon = std::fs::read_to_string(folder.join("icon.svg")).unwrap();
    assert!(icon.contains("width=\"16\" height=\"16\" viewBox=\"0 0 16 16\""));
    for part in icon.split(['<', ' ']).filter(|part| part.starts_with("fill=") || part.starts_with("stroke=")) {
        assert!(part.contains("\"none\"") || part.contains("\"currentColor\""), "{part}");
    }
}
