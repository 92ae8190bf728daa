//! The providers axi knows by name, one row each. Data; the only logic is reading a row.

use super::address::{self, is_loopback};
use super::settings::{
    CallIds, OutputLimit, Protocol, ProviderSettings, Quirks, ReasoningEcho, ResultPictures, Secret,
};

/// How to look a variable of the environment up; blank values count as unset.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// One provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The name in `PROVIDER/MODEL`.
    pub name: &'static str,
    /// Its wire.
    pub protocol: Protocol,
    /// Its wire at its own address, where that is another than those who imitate it speak.
    pub at_home: Option<Protocol>,
    /// Its address when nothing else is said.
    pub base_url: &'static str,
    /// Variables that name another address, first found wins.
    pub base_url_variables: &'static [&'static str],
    /// Variables that hold the key, first found wins; empty when it needs none.
    pub key_variables: &'static [&'static str],
    /// The model to start with; empty when the server must be asked.
    pub default_model: &'static str,
    /// What is known of its models, by the beginning of their names; first match wins.
    pub models: &'static [KnownModels],
    /// Where it departs from its protocol.
    pub quirks: Quirks,
}

/// Models whose names begin alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownModels {
    /// The beginning of the name.
    pub prefix: &'static str,
    /// Context window in tokens.
    pub context_window: u64,
    /// Whether they see pictures.
    pub vision: bool,
}

const fn models(prefix: &'static str, context_window: u64, vision: bool) -> KnownModels {
    KnownModels { prefix, context_window, vision }
}

/// What the most imitators accept.
const PLAIN: Quirks = Quirks {
    call_ids: CallIds::Usual,
    reasoning_echo: ReasoningEcho::WithCalls,
    output_limit: OutputLimit::MaxTokens,
    result_pictures: ResultPictures::Behind,
};

/// Servers that answer HTTP 400 or 422 to fields they do not know.
const STRICT: Quirks = Quirks { reasoning_echo: ReasoningEcho::Never, ..PLAIN };

/// Both regions of Qwen have them.
const QWEN: &[KnownModels] = &[
    models("qwen3-coder-plus", 1_000_000, false),
    models("qwen3-vl", 262_144, true),
    models("qwen3-max", 262_144, false),
    models("qwen", 131_072, false),
];

/// All rows, in the order in which a key in the environment is preferred; local servers last.
///
/// Context windows are from the providers' model pages as of 2026; a model that is in no row has none, and the
/// settings may name it.
pub const TABLE: &[Row] = &[
    Row {
        name: "anthropic",
        protocol: Protocol::Anthropic,
        at_home: None,
        base_url: "https://api.anthropic.com",
        base_url_variables: &["ANTHROPIC_BASE_URL"],
        key_variables: &["ANTHROPIC_API_KEY"],
        default_model: "claude-sonnet-4-5",
        models: &[
            models("claude-opus-4-6", 1_000_000, true),
            models("claude-opus-4-7", 1_000_000, true),
            models("claude-opus-4-8", 1_000_000, true),
            models("claude-sonnet-4-6", 1_000_000, true),
            models("claude-haiku-", 200_000, true),
            models("claude-opus-4", 200_000, true),
            models("claude-sonnet-4", 200_000, true),
            models("claude-3", 200_000, true),
            // A newer one is as the newest that is known.
            models("claude-", 1_000_000, true),
        ],
        quirks: STRICT,
    },
    Row {
        name: "openai",
        protocol: Protocol::OpenAiChat,
        at_home: Some(Protocol::OpenAiResponses),
        base_url: "https://api.openai.com/v1",
        base_url_variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        key_variables: &["OPENAI_API_KEY"],
        default_model: "gpt-5-mini",
        models: &[
            models("gpt-5.4-", 400_000, true),
            models("gpt-5.4", 1_050_000, true),
            models("gpt-5.5", 1_050_000, true),
            models("gpt-5.6", 1_050_000, true),
            models("gpt-5", 400_000, true),
            models("gpt-4.1", 1_047_576, true),
            models("gpt-4o", 128_000, true),
            models("gpt-4-turbo", 128_000, true),
            models("gpt-4", 8_192, false),
            models("gpt-3.5", 16_385, false),
            models("o3-mini", 200_000, false),
            models("o1", 200_000, true),
            models("o3", 200_000, true),
            models("o4", 200_000, true),
            // A newer one is as the newest that is known.
            models("gpt-", 1_050_000, true),
        ],
        quirks: Quirks { output_limit: OutputLimit::MaxCompletionTokens, ..STRICT },
    },
    Row {
        name: "gemini",
        protocol: Protocol::Gemini,
        at_home: None,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        base_url_variables: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
        key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        default_model: "gemini-2.5-flash",
        models: &[models("gemini-", 1_048_576, true), models("models/gemini-", 1_048_576, true)],
        quirks: STRICT,
    },
    Row {
        name: "openrouter",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://openrouter.ai/api/v1",
        base_url_variables: &["OPENROUTER_BASE_URL"],
        key_variables: &["OPENROUTER_API_KEY"],
        default_model: "anthropic/claude-sonnet-4.5",
        models: &[
            models("anthropic/claude", 200_000, true),
            models("openai/gpt-5", 400_000, true),
            models("google/gemini", 1_048_576, true),
            models("deepseek/", 128_000, false),
            models("moonshotai/kimi-k2", 262_144, false),
        ],
        quirks: PLAIN,
    },
    Row {
        name: "deepseek",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.deepseek.com/v1",
        base_url_variables: &["DEEPSEEK_BASE_URL"],
        key_variables: &["DEEPSEEK_API_KEY"],
        default_model: "deepseek-chat",
        models: &[models("deepseek-v4", 1_000_000, false), models("deepseek-", 128_000, false)],
        quirks: PLAIN,
    },
    Row {
        name: "mistral",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.mistral.ai/v1",
        base_url_variables: &["MISTRAL_BASE_URL"],
        key_variables: &["MISTRAL_API_KEY"],
        default_model: "devstral-medium-latest",
        models: &[
            models("codestral", 256_000, false),
            models("devstral", 128_000, false),
            models("mistral-", 128_000, true),
            models("magistral", 128_000, true),
        ],
        quirks: Quirks { call_ids: CallIds::NineAlphanumerics, result_pictures: ResultPictures::Inside, ..STRICT },
    },
    Row {
        name: "groq",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.groq.com/openai/v1",
        base_url_variables: &["GROQ_BASE_URL"],
        key_variables: &["GROQ_API_KEY"],
        default_model: "openai/gpt-oss-120b",
        models: &[
            models("openai/gpt-oss", 131_072, false),
            models("llama-3", 131_072, false),
            models("moonshotai/kimi-k2", 262_144, false),
            models("qwen/qwen3", 131_072, false),
        ],
        quirks: STRICT,
    },
    Row {
        name: "xai",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.x.ai/v1",
        base_url_variables: &["XAI_BASE_URL"],
        key_variables: &["XAI_API_KEY"],
        default_model: "grok-4",
        models: &[
            models("grok-4-fast", 2_000_000, true),
            models("grok-4", 256_000, true),
            models("grok-code", 256_000, false),
            models("grok-3", 131_072, false),
        ],
        quirks: STRICT,
    },
    Row {
        name: "together",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.together.xyz/v1",
        base_url_variables: &["TOGETHER_BASE_URL"],
        key_variables: &["TOGETHER_API_KEY"],
        default_model: "openai/gpt-oss-120b",
        models: &[models("openai/gpt-oss", 131_072, false)],
        quirks: STRICT,
    },
    Row {
        name: "moonshot",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.moonshot.ai/v1",
        base_url_variables: &["MOONSHOT_BASE_URL"],
        key_variables: &["MOONSHOT_API_KEY", "KIMI_API_KEY"],
        default_model: "kimi-k2-turbo-preview",
        models: &[models("kimi-k2-0711", 131_072, false), models("kimi-", 262_144, false)],
        quirks: PLAIN,
    },
    Row {
        name: "zai",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.z.ai/api/paas/v4",
        base_url_variables: &["ZAI_BASE_URL"],
        key_variables: &["ZAI_API_KEY", "ZHIPUAI_API_KEY"],
        default_model: "glm-4.6",
        models: &[
            models("glm-4.5v", 65_536, true),
            models("glm-4.5", 131_072, false),
            models("glm-4.6", 200_000, false),
        ],
        quirks: PLAIN,
    },
    Row {
        name: "qwen",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        base_url_variables: &["DASHSCOPE_BASE_URL"],
        key_variables: &["DASHSCOPE_API_KEY"],
        default_model: "qwen3-coder-plus",
        models: QWEN,
        quirks: STRICT,
    },
    Row {
        name: "qwen-cn",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        base_url_variables: &["DASHSCOPE_CN_BASE_URL"],
        key_variables: &["DASHSCOPE_CN_API_KEY"],
        default_model: "qwen3-coder-plus",
        models: QWEN,
        quirks: STRICT,
    },
    Row {
        name: "moonshot-cn",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.moonshot.cn/v1",
        base_url_variables: &["MOONSHOT_CN_BASE_URL"],
        key_variables: &["MOONSHOT_CN_API_KEY"],
        default_model: "kimi-k2-turbo-preview",
        models: &[
            models("kimi-k2-0711", 131_072, false),
            models("kimi-k3", 1_048_576, true),
            models("kimi-", 262_144, false),
        ],
        quirks: PLAIN,
    },
    Row {
        name: "zhipu",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://open.bigmodel.cn/api/paas/v4",
        base_url_variables: &["ZHIPU_BASE_URL"],
        key_variables: &["ZHIPU_API_KEY", "ZHIPUAI_API_KEY"],
        default_model: "glm-4.6",
        models: &[
            models("glm-4.5v", 65_536, true),
            models("glm-4.5", 131_072, false),
            models("glm-5", 1_000_000, false),
            models("glm-4.6", 200_000, false),
        ],
        quirks: PLAIN,
    },
    Row {
        name: "siliconflow",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://api.siliconflow.cn/v1",
        base_url_variables: &["SILICONFLOW_BASE_URL"],
        key_variables: &["SILICONFLOW_API_KEY"],
        default_model: "zai-org/GLM-4.6",
        models: &[
            models("zai-org/GLM-4.6", 200_000, false),
            models("deepseek-ai/", 128_000, false),
            models("moonshotai/Kimi-K2", 262_144, false),
        ],
        quirks: PLAIN,
    },
    Row {
        name: "github",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://models.github.ai/inference",
        base_url_variables: &["GITHUB_MODELS_BASE_URL"],
        key_variables: &["GITHUB_MODELS_TOKEN"],
        default_model: "openai/gpt-4.1",
        models: &[models("openai/gpt-4.1", 1_047_576, true), models("openai/gpt-4o", 128_000, true)],
        quirks: STRICT,
    },
    Row {
        name: "vercel",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "https://ai-gateway.vercel.sh/v1",
        base_url_variables: &["AI_GATEWAY_BASE_URL"],
        key_variables: &["AI_GATEWAY_API_KEY"],
        default_model: "anthropic/claude-sonnet-4.5",
        models: &[
            models("anthropic/claude", 200_000, true),
            models("openai/gpt-5", 400_000, true),
            models("google/gemini", 1_048_576, true),
        ],
        quirks: PLAIN,
    },
    Row {
        name: "bedrock",
        protocol: Protocol::OpenAiResponses,
        at_home: None,
        base_url: "https://bedrock-mantle.us-east-1.api.aws/v1",
        base_url_variables: &["BEDROCK_BASE_URL"],
        key_variables: &["AWS_BEARER_TOKEN_BEDROCK"],
        default_model: "openai.gpt-oss-120b",
        models: &[models("openai.gpt-oss", 131_072, false)],
        quirks: STRICT,
    },
    Row {
        name: "azure",
        protocol: Protocol::OpenAiResponses,
        at_home: None,
        base_url: "",
        base_url_variables: &["AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT"],
        key_variables: &["AZURE_OPENAI_API_KEY"],
        default_model: "gpt-5-mini",
        models: &[
            models("gpt-5", 400_000, true),
            models("gpt-4.1", 1_047_576, true),
            models("gpt-4o", 128_000, true),
        ],
        quirks: STRICT,
    },
    Row {
        name: "ollama",
        protocol: Protocol::Ollama,
        at_home: None,
        base_url: "http://127.0.0.1:11434",
        base_url_variables: &["OLLAMA_HOST"],
        key_variables: &[],
        default_model: "",
        models: &[],
        quirks: PLAIN,
    },
    Row {
        name: "lmstudio",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "http://127.0.0.1:1234/v1",
        base_url_variables: &["LMSTUDIO_BASE_URL"],
        key_variables: &[],
        default_model: "",
        models: &[],
        quirks: PLAIN,
    },
    Row {
        name: "llamacpp",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "http://127.0.0.1:8080/v1",
        base_url_variables: &["LLAMACPP_BASE_URL"],
        key_variables: &["LLAMA_API_KEY"],
        default_model: "",
        models: &[],
        quirks: PLAIN,
    },
    Row {
        name: "vllm",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "http://127.0.0.1:8000/v1",
        base_url_variables: &["VLLM_BASE_URL"],
        key_variables: &["VLLM_API_KEY"],
        default_model: "",
        models: &[],
        quirks: PLAIN,
    },
    Row {
        name: "litellm",
        protocol: Protocol::OpenAiChat,
        at_home: None,
        base_url: "http://127.0.0.1:4000/v1",
        base_url_variables: &["LITELLM_BASE_URL"],
        key_variables: &["LITELLM_API_KEY"],
        default_model: "",
        models: &[],
        quirks: PLAIN,
    },
];

/// Finds a row by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.name == name)
}

fn lookup(environment: &Environment<'_>, names: &[&'static str]) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| {
        let value = environment(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| (*name, value.to_owned()))
    })
}

impl Row {
    /// Tells whether its usual address is on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        is_loopback(self.base_url)
    }

    /// Finds the key in the environment: the variable's name and the key.
    #[must_use]
    pub fn key(&self, environment: &Environment<'_>) -> Option<(&'static str, Secret)> {
        lookup(environment, self.key_variables).map(|(name, key)| (name, Secret::new(key)))
    }

    /// Returns its address, from the environment if that names one, brought into one form.
    #[must_use]
    pub fn base_url(&self, environment: &Environment<'_>) -> String {
        match lookup(environment, self.base_url_variables) {
            Some(("OLLAMA_HOST", host)) => address::ollama_host(&host),
            // A resource's own address, as Azure shows it, to which the wire's path belongs.
            Some(("AZURE_OPENAI_ENDPOINT", url)) if !url.contains("/openai/") => {
                address::base_url(self.protocol, &format!("{}/openai/v1", url.trim_end_matches('/')))
            }
            Some((_, url)) => address::base_url(self.protocol, &url),
            None => self.base_url.to_owned(),
        }
    }

    /// Returns what is known of a model.
    #[must_use]
    pub fn known(&self, model: &str) -> Option<&'static KnownModels> {
        self.models.iter().find(|known| model.starts_with(known.prefix))
    }

    /// Makes the settings of one of its models; an empty name takes the default model.
    #[must_use]
    pub fn settings(&self, model: &str, key: Option<Secret>, environment: &Environment<'_>) -> ProviderSettings {
        let model = if model.is_empty() { self.default_model } else { model };
        let known = self.known(model);
        let mut quirks = self.quirks;
        let base_url = self.base_url(environment);
        let at_home = self.at_home.filter(|_| base_url == self.base_url);
        // OPENAI_BASE_URL at a local server: `max_tokens` is the field that all imitators know.
        if base_url != self.base_url && quirks.output_limit == OutputLimit::MaxCompletionTokens {
            quirks = PLAIN;
        }
        ProviderSettings {
            name: self.name.to_owned(),
            protocol: at_home.unwrap_or(self.protocol),
            base_url,
            key,
            model: model.to_owned(),
            context_window: known.map(|known| known.context_window),
            tools: true,
            vision: known.is_some_and(|known| known.vision),
            quirks,
        }
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
