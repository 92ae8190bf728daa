use std::collections::HashSet;

use super::*;

fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
    |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
}

#[test]
fn rows_are_sound() {
    let mut names = HashSet::new();
    for row in TABLE {
        assert!(names.insert(row.name), "{} twice", row.name);
        // Azure has an address for each of its customers.
        if row.name != "azure" {
            assert_eq!(address::base_url(row.protocol, row.base_url), row.base_url, "{}", row.name);
        }
        assert_eq!(row.is_local(), row.default_model.is_empty(), "{}", row.name);
        assert!(row.is_local() || !row.key_variables.is_empty(), "{}", row.name);
        assert!(!row.base_url_variables.is_empty(), "{}", row.name);
    }
    for wanted in [
        "azure",
        "bedrock",
        "deepseek",
        "github",
        "groq",
        "litellm",
        "mistral",
        "moonshot",
        "qwen",
        "qwen-cn",
        "siliconflow",
        "vercel",
        "xai",
        "zai",
        "zhipu",
        "openai",
        "anthropic",
        "ollama",
        "lmstudio",
        "llamacpp",
        "vllm",
        "openrouter",
        "gemini",
    ] {
        assert!(find(wanted).is_some(), "{wanted}");
    }
}

#[test]
fn the_environment_names_key_and_address() {
    let pairs =
        [("OPENAI_API_KEY", " k "), ("OPENAI_BASE_URL", "http://127.0.0.1:8080/"), ("OLLAMA_HOST", "0.0.0.0")];
    let environment = environment(&pairs);
    let openai = find("openai").unwrap();
    assert_eq!(openai.key(&environment), Some(("OPENAI_API_KEY", Secret::new("k"))));
    assert_eq!(openai.base_url(&environment), "http://127.0.0.1:8080/v1");
    assert_eq!(find("ollama").unwrap().base_url(&environment), "http://127.0.0.1:11434");
    assert_eq!(find("anthropic").unwrap().base_url(&environment), "https://api.anthropic.com");
    assert_eq!(find("anthropic").unwrap().key(&environment), None);
    let pairs = [("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com/")];
    let azure = find("azure").unwrap();
    assert_eq!(azure.base_url(&self::environment(&pairs)), "https://x.openai.azure.com/openai/v1");
}

#[test]
fn bedrock_is_asked_in_the_region_that_the_environment_names() {
    let bedrock = find("bedrock").unwrap();
    let at = |pairs: &[(&str, &str)]| bedrock.settings("", None, &environment(pairs)).base_url;
    assert_eq!(at(&[]), "https://bedrock-runtime.us-east-1.amazonaws.com");
    let there = at(&[("AWS_REGION", "eu-west-1"), ("AWS_DEFAULT_REGION", "x")]);
    assert_eq!(there, "https://bedrock-runtime.eu-west-1.amazonaws.com");
    assert!(bedrock.is_home(&there), "a key is needed there, too");
    assert_eq!(
        at(&[("AWS_REGION", "eu-west-1"), ("BEDROCK_BASE_URL", "http://127.0.0.1:9")]),
        "http://127.0.0.1:9"
    );
    assert!(!bedrock.is_home("http://127.0.0.1:9"));
    let openai = find("openai").unwrap().settings("", None, &environment(&[("AWS_REGION", "eu-west-1")]));
    assert_eq!(openai.base_url, "https://api.openai.com/v1");
}

#[test]
fn settings_know_the_model_and_fall_back_to_the_default() {
    let nothing = |_: &str| None;
    let settings = find("openai").unwrap().settings("gpt-4o-mini", None, &nothing);
    assert_eq!((settings.context_window, settings.vision), (Some(128_000), true));
    assert_eq!(settings.quirks.output_limit, OutputLimit::MaxCompletionTokens);
    assert_eq!(settings.protocol, Protocol::OpenAiResponses, "at home");
    let settings = find("anthropic").unwrap().settings("", None, &nothing);
    assert_eq!(settings.model, "claude-sonnet-4-5");
    let pairs = [("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")];
    let settings = find("openai").unwrap().settings("any", None, &environment(&pairs));
    assert_eq!((settings.context_window, settings.quirks.output_limit), (None, OutputLimit::MaxTokens));
    assert_eq!(settings.protocol, Protocol::OpenAiChat, "imitators speak chat");
    let window = |provider: &str, model: &str| find(provider)?.settings(model, None, &nothing).context_window;
    for (provider, model, expected) in [
        ("anthropic", "claude-opus-4-5", 200_000),
        ("anthropic", "claude-opus-5-5", 1_000_000),
        ("anthropic", "claude-opus-9", 1_000_000),
        ("openai", "gpt-6-astra", 1_050_000),
        ("openai", "gpt-5.4-mini", 400_000),
        ("openai", "gpt-4-turbo", 128_000),
    ] {
        assert_eq!(window(provider, model), Some(expected), "{model}");
    }
}
