use super::*;

/// What is read of a home with these files.
fn read(files: &[(&str, &str)]) -> Vec<Import> {
    let home = Path::new("/home/p");
    all(home, &|path| {
        let known = files.iter().find(|(name, _)| home.join(name) == path);
        known.map(|(_, text)| (*text).to_owned())
    })
}

fn import(
    agent: &'static str,
    file: &str,
    (provider, model): (&str, Option<&str>),
    address: Option<(&str, Protocol)>,
    key: ImportedKey,
) -> Import {
    Import {
        agent,
        file: Path::new("/home/p").join(file),
        provider: provider.to_owned(),
        model: model.map(str::to_owned),
        address: address.map(|(url, protocol)| (url.to_owned(), protocol)),
        key,
    }
}

fn in_file(file: &str, fields: &[&str]) -> ImportedKey {
    ImportedKey::File(Path::new("/home/p").join(file), fields.iter().map(|field| (*field).to_owned()).collect())
}

#[test]
fn each_agents_settings_are_understood() {
    let variable = |name: &str| ImportedKey::Variable(name.to_owned());
    let axiomate = r#"{"models":{"big":{"model":"deepseek-chat","protocol":"openai-chat","baseUrl":"https://api.deepseek.com/v1","apiKey":"sk-1"},
        "own":{"model":"q","protocol":"anthropic","baseUrl":"http://10.0.0.1/v1"}},"model":{"defaultRoute":"d","routes":{"d":{"primary":"big"}}}}"#;
    let codex = "model = \"gpt-5\"\nmodel_provider = \"lab\"\n[model_providers.lab]\nbase_url = \"http://10.0.0.2/v1\"\nenv_key = \"LAB_KEY\"\nwire_api = \"responses\"\n";
    let aichat = "# mine\nmodel: lab:qwen3 # the small one\nclients:\n- type: openai\n  api_key: sk-0\n- type: openai-compatible\n  name: lab\n  api_base: http://10.0.0.3/v1\n  api_key: sk-9\n";
    for (file, text, expected) in [
        (
            ".axiomate.json",
            axiomate,
            import(
                "axiomate",
                ".axiomate.json",
                ("deepseek", Some("deepseek-chat")),
                None,
                in_file(".axiomate.json", &["models", "big", "apiKey"]),
            ),
        ),
        (
            ".codex/config.toml",
            codex,
            import(
                "codex",
                ".codex/config.toml",
                ("lab", Some("gpt-5")),
                Some(("http://10.0.0.2/v1", Protocol::OpenAiResponses)),
                variable("LAB_KEY"),
            ),
        ),
        (
            ".codex/auth.json",
            r#"{"OPENAI_API_KEY":"sk-2"}"#,
            import(
                "codex",
                ".codex/config.toml",
                ("openai", None),
                None,
                in_file(".codex/auth.json", &["OPENAI_API_KEY"]),
            ),
        ),
        (
            ".claude/settings.json",
            r#"{"model":"opus","apiKeyHelper":"pass show claude"}"#,
            import(
                "claude",
                ".claude/settings.json",
                ("anthropic", None),
                None,
                ImportedKey::Command("pass show claude".to_owned()),
            ),
        ),
        (
            ".gemini/settings.json",
            r#"{"model":{"name":"gemini-2.5-pro"}}"#,
            import(
                "gemini-cli",
                ".gemini/settings.json",
                ("gemini", Some("gemini-2.5-pro")),
                None,
                variable("GEMINI_API_KEY"),
            ),
        ),
        (
            ".config/opencode/opencode.json",
            r#"{"model":"mine/m/1","provider":{"mine":{"options":{"baseURL":"http://10.0.0.4/v1","apiKey":"{env:MINE}"}}}}"#,
            import(
                "opencode",
                ".config/opencode/opencode.json",
                ("mine", Some("m/1")),
                Some(("http://10.0.0.4/v1", Protocol::OpenAiChat)),
                variable("MINE"),
            ),
        ),
        (
            ".config/aichat/config.yaml",
            aichat,
            import(
                "aichat",
                ".config/aichat/config.yaml",
                ("lab", Some("qwen3")),
                Some(("http://10.0.0.3/v1", Protocol::OpenAiChat)),
                in_file(".config/aichat/config.yaml", &["api_key", "lab"]),
            ),
        ),
    ] {
        assert_eq!(read(&[(file, text)]), [expected], "{file}");
    }
    assert_eq!(key_in(axiomate, &["models", "big", "apiKey"].map(str::to_owned)).as_deref(), Some("sk-1"));
    assert_eq!(key_in(aichat, &["api_key", "lab"].map(str::to_owned)).as_deref(), Some("sk-9"));
    assert_eq!(
        key_in("# k\nexport GEMINI_API_KEY=\"g-1\"\n", &["GEMINI_API_KEY".to_owned()]).as_deref(),
        Some("g-1")
    );
}

#[test]
fn a_file_that_is_broken_or_of_another_kind_is_nothing() {
    assert_eq!(read(&[]), []);
    let files = [
        ".axiomate.json",
        ".codex/config.toml",
        ".claude/settings.json",
        ".gemini/settings.json",
        ".config/opencode/opencode.json",
        ".config/aichat/config.yaml",
    ];
    for text in ["{", "[1]", "model = [", "null", "\u{0}\u{1b}[2J", "{\"models\": 3, \"model\": []}"] {
        for file in files {
            let read = read(&[(file, text)]);
            assert!(
                read.iter().all(|import| import.model.is_none() && import.address.is_none()),
                "{file}: {read:?}"
            );
        }
    }
}
