//! Every setting, one row each. To add one: a row here, its sentence in `locales/`, and whoever reads it.
//!
//! A row is `name: type = default, what is declared of it`.

use std::collections::BTreeMap;

use toml_edit::Item;

use super::choices::{
    AgentCommands, Approvals, CommandSecrets, EditMode, EffortChoice, InlineImages, Notify, OnOff, PromptCache,
    ReasoningView, ThemeChoice, TryApply, WrapChoice,
};
use super::entry::{Entry, Reader, Section, Shaped};
use super::setting::Form::{
    Action, GhostModel, Language, Model, Models, Price, Protocol, Rule, Search, Secret, Style, Url, Variable,
};
use super::setting::Project::{Free, Tighten, Trusted};
use super::setting::{Setting, Shape};
use super::values::{Dollars, Named, Rules};
use crate::locale::word::setting::{
    self, handoff, history, mcp, notifications, permissions, providers,
    providers::{envelope, models},
    secrets, tried,
};

/// The key of a setting: its field's name, unless that is a word of Rust's.
macro_rules! key {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $word:literal) => {
        $word
    };
}

/// Makes the struct of a section, its defaults and its declarations.
macro_rules! section {
    ($(#[$doc:meta])* $section:ident { $($name:ident $(as $word:literal)?: $type:ty = $default:expr, $row:expr;)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $section {
            $(#[doc = concat!("`", stringify!($name), "`, as its row says.")] pub $name: $type,)*
        }

        impl Default for $section {
            fn default() -> Self {
                Self { $($name: $default),* }
            }
        }

        impl Shaped for $section {
            const SHAPE: Shape = Shape::Section(<Self as Section>::SETTINGS);
        }

        impl Entry for $section {
            fn take(&mut self, item: &Item, setting: &'static Setting, reader: &mut Reader<'_>) {
                reader.section(self, item, setting);
            }

            fn shown(&self) -> String {
                String::new()
            }
        }

        impl Section for $section {
            const SETTINGS: &'static [Setting] = &[$(Setting {
                name: key!($name $($word)?),
                shape: <$type as Shaped>::SHAPE,
                default: || <$type as Entry>::shown(&$default),
                ..$row
            }),*];

            fn entry(&mut self, name: &str) -> Option<&mut dyn Entry> {
                match name {
                    $(key!($name $($word)?) => Some(&mut self.$name),)*
                    _ => None,
                }
            }
        }
    };
}

/// The most minutes that are counted: a year, for a clock has an end.
const YEAR: u64 = 365 * 24 * 60;

section! {
    /// Every setting.
    Config {
        model: Option<String> = None, Setting::new(setting::MODEL, "0.1").form(Model).project(Trusted)
            .variable("AXI_MODEL").flag("--model");
        fallback_model: Option<String> = None, Setting::new(setting::FALLBACK_MODEL, "0.1").at_start().form(Models)
            .flag("--fallback-model");
        suggest_model: Option<String> = None, Setting::new(setting::SUGGEST_MODEL, "0.1").at_start().form(GhostModel)
            .variable("AXI_SUGGEST_MODEL");
        suggest_max_tokens: Option<u64> = None, Setting::new(setting::SUGGEST_MAX_TOKENS, "0.1").at_start()
            .variable("AXI_SUGGEST_MAX_TOKENS");
        local_idle_minutes: u64 = 10, Setting::new(setting::LOCAL_IDLE_MINUTES, "0.1").at_start().between(0, YEAR);
        model_mirror: Option<String> = None, Setting::new(setting::MODEL_MIRROR, "0.1").form(Url)
            .variable("AXI_MODEL_MIRROR");
        language: String = "auto".to_owned(), Setting::new(setting::LANGUAGE, "0.1").form(Language).project(Free)
            .flag("--lang");
        wrap: WrapChoice = WrapChoice::Word, Setting::new(setting::WRAP, "0.1").project(Free);
        theme: ThemeChoice = ThemeChoice::Auto, Setting::new(setting::THEME, "0.1");
        reasoning: ReasoningView = ReasoningView::Show, Setting::new(setting::REASONING, "0.1");
        approvals: Approvals = Approvals::Ask, Setting::new(setting::APPROVALS, "0.1").at_start();
        notify: Notify = Notify::Auto, Setting::new(setting::NOTIFY, "0.1");
        inline_images: InlineImages = InlineImages::Off, Setting::new(setting::INLINE_IMAGES, "0.1").at_start();
        edit_mode: EditMode = EditMode::Emacs, Setting::new(setting::EDIT_MODE, "0.1").at_start();
        session_days: u64 = 90, Setting::new(setting::SESSION_DAYS, "0.1").between(0, 36_500);
        budget: Option<Dollars> = None, Setting::new(setting::BUDGET, "0.1").flag("--budget");
        tell_price_from: Option<Dollars> = None, Setting::new(setting::TELL_PRICE_FROM, "0.1");
        effort: Option<EffortChoice> = None, Setting::new(setting::EFFORT, "0.1");
        web_search: String = "off".to_owned(), Setting::new(setting::WEB_SEARCH, "0.1").at_start().form(Search);
        prompt_cache: PromptCache = PromptCache::Minutes, Setting::new(setting::PROMPT_CACHE, "0.1")
            .decides_requests();
        stored_responses: OnOff = OnOff::Off, Setting::new(setting::STORED_RESPONSES, "0.1").decides_requests();
        idle_timeout: u64 = 60, Setting::new(setting::IDLE_TIMEOUT, "0.1").at_start().between(1, 3600);
        ca_file: Option<String> = None, Setting::new(setting::CA_FILE, "0.1").at_start();
        compact: OnOff = OnOff::On, Setting::new(setting::COMPACT, "0.1");
        sandbox: OnOff = OnOff::On, Setting::new(setting::SANDBOX, "0.1").at_start().project(Tighten);
        command_secrets: CommandSecrets = CommandSecrets::Named, Setting::new(setting::COMMAND_SECRETS, "0.1").at_start()
            .project(Tighten);
        max_steps: u64 = 100, Setting::new(setting::MAX_STEPS, "0.1").between(1, 100_000).project(Tighten)
            .flag("--max-steps");
        styles: BTreeMap<String, String> = BTreeMap::new(), Setting::new(setting::STYLES, "0.1").form(Style);
        keys: BTreeMap<String, String> = BTreeMap::new(), Setting::new(setting::KEYS, "0.1").at_start().form(Action);
        handoff: Handoff = Handoff::default(), Setting::new(handoff::SECTION, "0.1");
        history: History = History::default(), Setting::new(history::SECTION, "0.1");
        notifications: Notifications = Notifications::default(), Setting::new(notifications::SECTION, "0.1");
        secrets: Secrets = Secrets::default(), Setting::new(secrets::SECTION, "0.1");
        tried as "try": Tried = Tried::default(), Setting::new(tried::SECTION, "0.1");
        permissions: Permissions = Permissions::default(), Setting::new(permissions::SECTION, "0.1").project(Tighten);
        providers: Named<Provider> = Named::default(), Setting::new(providers::SECTION, "0.1").project(Trusted);
        mcp: Named<Server> = Named::default(), Setting::new(mcp::SECTION, "0.1");
    }
}

section! {
    /// The `[handoff]` section: what a shell's hook runs.
    Handoff {
        rewrite_timeout: u64 = 15, Setting::new(handoff::REWRITE_TIMEOUT, "0.1").between(1, 3600);
        rewrite_model: Option<String> = None, Setting::new(handoff::REWRITE_MODEL, "0.1").form(Model);
        comma: Option<bool> = None, Setting::new(handoff::COMMA, "0.1").at_start();
        mend_model: Option<String> = None, Setting::new(handoff::MEND_MODEL, "0.1").form(GhostModel);
    }
}

section! {
    /// The `[history]` section: what histories are told.
    History {
        agent_commands: AgentCommands = AgentCommands::Off, Setting::new(history::AGENT_COMMANDS, "0.1");
    }
}

section! {
    /// The `[notifications]` section: what a person who looks elsewhere is told, and how.
    Notifications {
        turns: OnOff = OnOff::On, Setting::new(notifications::TURNS, "0.1");
        questions: OnOff = OnOff::On, Setting::new(notifications::QUESTIONS, "0.1");
        long_turn: u64 = 10, Setting::new(notifications::LONG_TURN, "0.1").between(0, 24 * 60 * 60);
        bell: OnOff = OnOff::On, Setting::new(notifications::BELL, "0.1");
        terminal: OnOff = OnOff::On, Setting::new(notifications::TERMINAL, "0.1");
        desktop: OnOff = OnOff::Off, Setting::new(notifications::DESKTOP, "0.1");
    }
}

section! {
    /// The `[secrets]` section: for which secrets a model sees a stand-in.
    Secrets {
        values: OnOff = OnOff::On, Setting::new(secrets::VALUES, "0.1").at_start();
        shapes: OnOff = OnOff::On, Setting::new(secrets::SHAPES, "0.1").at_start();
    }
}

section! {
    /// The `[try]` section: what runs in a trial first, and what of it is applied by itself.
    Tried {
        apply: TryApply = TryApply::Off, Setting::new(tried::APPLY, "0.1").at_start();
        paths: Vec<String> = Vec::new(), Setting::new(tried::PATHS, "0.1").at_start();
    }
}

section! {
    /// The `[permissions]` section; the rules are parsed where they are used.
    Permissions {
        allow: Rules = Rules::default(), Setting::new(permissions::ALLOW, "0.1").form(Rule).flag("--allow");
        ask: Rules = Rules::default(), Setting::new(permissions::ASK, "0.1").form(Rule).project(Tighten);
        deny: Rules = Rules::default(), Setting::new(permissions::DENY, "0.1").form(Rule).project(Tighten)
            .flag("--deny");
    }
}

section! {
    /// A `[providers.NAME]` section.
    Provider {
        protocol: Option<String> = None, Setting::new(providers::PROTOCOL, "0.1").form(Protocol).project(Trusted)
            .decides_requests();
        base_url: Option<String> = None, Setting::new(providers::BASE_URL, "0.1").form(Url).project(Trusted)
            .decides_requests();
        api_key_env: Option<String> = None, Setting::new(providers::API_KEY_ENV, "0.1").form(Variable)
            .decides_requests();
        api_key_cmd: Option<String> = None, Setting::new(providers::API_KEY_CMD, "0.1").decides_requests();
        headers: BTreeMap<String, String> = BTreeMap::new(), Setting::new(providers::HEADERS, "0.1").form(Secret)
            .decides_requests();
        query: BTreeMap<String, String> = BTreeMap::new(), Setting::new(providers::QUERY, "0.1").form(Secret)
            .decides_requests();
        envelope: Envelope = Envelope::default(), Setting::new(envelope::SECTION, "0.1");
        models: Named<ModelFacts> = Named::default(), Setting::new(models::SECTION, "0.1").project(Trusted);
    }
}

section! {
    /// A `[providers.NAME.envelope]` section.
    Envelope {
        field: Option<String> = None, Setting::new(envelope::FIELD, "0.1").decides_requests();
        answer: Option<String> = None, Setting::new(envelope::ANSWER, "0.1").decides_requests();
        fixed: BTreeMap<String, String> = BTreeMap::new(), Setting::new(envelope::FIXED, "0.1").decides_requests();
    }
}

section! {
    /// A `[providers.NAME.models."MODEL"]` section.
    ModelFacts {
        context_window: Option<u64> = None, Setting::new(models::CONTEXT_WINDOW, "0.1").between(1, u64::MAX)
            .project(Trusted).decides_requests();
        tools: Option<bool> = None, Setting::new(models::TOOLS, "0.1").project(Trusted).decides_requests();
        vision: Option<bool> = None, Setting::new(models::VISION, "0.1").project(Trusted).decides_requests();
        price: Option<String> = None, Setting::new(models::PRICE, "0.1").form(Price).decides_requests();
    }
}

section! {
    /// A `[mcp.NAME]` section.
    Server {
        command: Option<String> = None, Setting::new(mcp::COMMAND, "0.1").at_start();
        args: Vec<String> = Vec::new(), Setting::new(mcp::ARGS, "0.1").at_start();
        env: BTreeMap<String, String> = BTreeMap::new(), Setting::new(mcp::ENV, "0.1").form(Secret).at_start();
        url: Option<String> = None, Setting::new(mcp::URL, "0.1").at_start().form(Url);
        headers: BTreeMap<String, String> = BTreeMap::new(), Setting::new(mcp::HEADERS, "0.1").form(Secret).at_start();
        client_id: Option<String> = None, Setting::new(mcp::CLIENT_ID, "0.1").at_start();
        client_secret: Option<String> = None, Setting::new(mcp::CLIENT_SECRET, "0.1").form(Secret).at_start();
        always_load: bool = false, Setting::new(mcp::ALWAYS_LOAD, "0.1").at_start();
        timeout: u64 = 120, Setting::new(mcp::TIMEOUT, "0.1").at_start().between(1, 24 * 60 * 60);
        start_timeout: u64 = 10, Setting::new(mcp::START_TIMEOUT, "0.1").at_start().between(1, 3600);
        enabled: bool = true, Setting::new(mcp::ENABLED, "0.1").at_start();
    }
}

/// Every setting by its dotted key, in order; `*` stands for a name of the person's choice.
#[must_use]
pub fn all() -> Vec<(String, &'static Setting)> {
    fn below(settings: &'static [Setting], above: &str, found: &mut Vec<(String, &'static Setting)>) {
        for setting in settings {
            let key = format!("{above}{}", setting.name);
            match setting.shape {
                Shape::Section(inner) => below(inner, &format!("{key}."), found),
                Shape::Named(inner) => below(inner, &format!("{key}.*."), found),
                Shape::Texts => found.push((format!("{key}.*"), setting)),
                Shape::Choice(_)
                | Shape::Number
                | Shape::Dollars
                | Shape::Switch
                | Shape::Text
                | Shape::List
                | Shape::Words => {
                    found.push((key, setting));
                }
            }
        }
    }
    let mut found = Vec::new();
    below(Config::SETTINGS, "", &mut found);
    found
}

/// Tells whether there is a name of the person's choice in the key of a setting. Such a name may hold dots: the key
/// cannot be taken apart at them.
#[must_use]
pub fn is_named(key: &str) -> bool {
    all().iter().all(|(known, _)| known != key)
}
