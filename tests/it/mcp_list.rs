//! `axi mcp list`: what is defined, and what of it is not used.

use serde_json::Value;

use crate::support::home::Home;
use crate::support::talk::run;

#[test]
fn what_defines_no_server_is_listed_with_the_reason() {
    let home = Home::new();
    home.write("work/.git/HEAD", "ref: refs/heads/main\n");
    home.write("config/axi/config.toml", "[mcp.lab]\nurl = \"http://127.0.0.1:9/mcp\"\n");
    let listed = |json: &[&str]| run(home.axi().args(["mcp", "list"]).args(json)).out;
    home.write(
        "work/.mcp.json",
        r#"{"mcpServers": {"lab": {"command": "x"}, "odd": 5, "a__b": {"command": "x"}}}"#,
    );
    let out = listed(&[]);
    for line in
        ["lab  another server of this name comes first", "odd  it needs a command or a url", "a__b  a name is"]
    {
        assert_eq!(out.matches(line).count(), 1, "{line}: {out}");
    }
    let rows: Value = serde_json::from_str(&listed(&["--json"])).unwrap();
    let failures = rows.as_array().unwrap().iter().filter(|row| row["state"] == "unused");
    let failures: Vec<&str> = failures.map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!((rows.as_array().unwrap().len(), failures), (4, vec!["odd", "a__b", "lab"]), "{rows}");
    home.write("work/.mcp.json", "{");
    assert!(listed(&[]).contains("none of its servers is used: EOF"), "{}", listed(&[]));
    // What a server elsewhere prints on its standard error nobody here keeps.
    let ran = run(home.axi().args(["mcp", "test", "lab"]));
    assert!(
        !ran.err.contains("standard error") && ran.err.contains("curl -i http://127.0.0.1:9/mcp"),
        "{}",
        ran.err
    );
}
