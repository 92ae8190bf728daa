//! What a command line can ask for, and what can be wrong with one.

use std::ffi::OsString;
use std::path::PathBuf;

/// What a command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Invocation {
    /// The REPL, or one turn in print mode.
    Run(Box<RunOptions>),
    /// Prints a shell's hook.
    Init(InitOptions),
    /// What the shell's hook runs.
    Handoff(HandoffKind),
    /// An editor drives axi by the Agent Client Protocol.
    Acp {
        /// Asks for a provider's key instead.
        login: bool,
    },
    /// Prints markdown.
    Render(RenderOptions),
    /// Stores a provider's key.
    Login {
        /// Whose.
        provider: String,
        /// In a file, and not in the keychain.
        in_file: bool,
    },
    /// Forgets a provider's key.
    Logout(String),
    /// Lists models, of one provider or of all.
    Models {
        /// Of this provider.
        provider: Option<String>,
        /// As JSON.
        json: bool,
    },
    /// Says what all sessions cost.
    Usage {
        /// How far back: `7d`.
        since: Option<String>,
        /// As JSON.
        json: bool,
    },
    /// Lists the developer tools, and the agent's own.
    Tools {
        /// What it does.
        action: ToolsAction,
        /// As JSON.
        json: bool,
    },
    /// Works on the MCP servers.
    Mcp {
        /// What to do.
        action: McpAction,
        /// As JSON.
        json: bool,
    },
    /// Works on sessions.
    Sessions(SessionsOptions),
    /// Searches what was typed at shells and said in sessions.
    Recall {
        /// The words.
        text: String,
        /// As JSON.
        json: bool,
    },
    /// Writes the commands of a session that worked as a script.
    Script {
        /// The session; if none is named, the last one of the directory.
        session: Option<String>,
        /// `sh`, `makefile`, `justfile` or `task`.
        form: Option<String>,
    },
    /// Runs a session again without a model, in a trial.
    Replay {
        /// The session, or its file.
        session: String,
        /// In the trial itself: what to run is on standard input.
        inside: bool,
    },
    /// Runs a command in a trial.
    Try(TryOptions),
    /// Works on the settings.
    Config(ConfigAction),
    /// Works on the models inside of axi.
    Local(LocalAction),
    /// Says what works and what does not.
    Doctor {
        /// As JSON.
        json: bool,
        /// Calls each provider, too.
        network: bool,
    },
    /// Says whether what was installed works here.
    SelfCheck,
    /// Finds out what a model's server does with what it is asked.
    DoctorModel {
        /// `PROVIDER/MODEL`; if none is named, the model in use.
        model: Option<String>,
        /// As JSON.
        json: bool,
    },
    /// Resets a terminal that a program left in a bad mode.
    ResetTerminal,
    /// Prints completions for a shell.
    Completions(clap_complete::Shell),
    /// Prints the manual page.
    Manual,
    /// Prints this text and succeeds: help or version.
    Print(String),
}

/// What to do with the MCP servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpAction {
    /// List them.
    List,
    /// Start the one of this name and say what it answers.
    Test(String),
    /// Sign in to one behind an address.
    Login {
        /// Its name.
        server: String,
        /// Keeps the token in a file, and not in the keychain.
        in_file: bool,
    },
    /// Forget the token for the one of this name.
    Logout(String),
    /// Serve axi's own tools on standard input and output.
    Serve {
        /// Offers tools that may change something, too.
        all: bool,
    },
}

/// Options of the REPL and of print mode.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunOptions {
    /// The words of the message, joined by spaces.
    pub message: Option<String>,
    /// One turn, then exit.
    pub print: bool,
    /// How the answer is printed.
    pub output: Output,
    /// Goes on with the last session of the directory.
    pub resume_last: bool,
    /// Goes on with a session: `Some(None)` picks from a list.
    pub resume: Option<Option<String>>,
    /// `PROVIDER/MODEL`.
    pub model: Option<String>,
    /// The models that are asked while it is overloaded, separated by commas.
    pub fallback_model: Option<String>,
    /// How far the agent may go.
    pub agent: AgentKind,
    /// Yes to what would be asked.
    pub yes: bool,
    /// What writes runs in a trial of each turn.
    pub tries: bool,
    /// In print mode: what a trial changed is applied.
    pub apply: bool,
    /// In print mode: what a trial changed is printed as JSON.
    pub json: bool,
    /// Rules that allow.
    pub allow: Vec<String>,
    /// Rules that deny.
    pub deny: Vec<String>,
    /// The most requests a turn may make.
    pub max_steps: Option<u32>,
    /// What the session may cost, in dollars, as it was written.
    pub budget: Option<String>,
    /// Keeps nothing.
    pub no_session: bool,
    /// Stores no typed line, neither in the history nor as a draft.
    pub no_history: bool,
    /// What holds for every command.
    pub common: CommonOptions,
}

impl RunOptions {
    /// Returns the settings that flags override, as a settings file would have them.
    #[must_use]
    pub fn of_flag(&self, flag: &str) -> Option<String> {
        let list = |rules: &[String]| (!rules.is_empty()).then(|| format!("{rules:?}"));
        match flag {
            "--model" => self.model.as_ref().map(|model| format!("{model:?}")),
            "--fallback-model" => self.fallback_model.as_ref().map(|models| format!("{models:?}")),
            "--max-steps" => self.max_steps.map(|steps| steps.to_string()),
            "--budget" => self.budget.clone(),
            "--allow" => list(&self.allow),
            "--deny" => list(&self.deny),
            _ => None,
        }
    }
}

/// Options that hold for every command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommonOptions {
    /// Where to work.
    pub cwd: Option<PathBuf>,
    /// When to colour.
    pub color: ColorChoice,
    /// How much is logged: 0 to 3.
    pub verbose: u8,
    /// No cursor movement at all.
    pub linear: bool,
}

/// How a shell hands its line over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffKind {
    /// Runs as a job of its own: a turn on the terminal.
    Job,
    /// Runs inside the line editor: one command replaces the line.
    Rewrite,
}

/// How print mode prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// The final answer.
    #[default]
    Text,
    /// One JSON object when done.
    Json,
    /// One JSON object an event.
    StreamJson,
}

/// Which agent runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentKind {
    /// All tools.
    #[default]
    Build,
    /// Reads only, ends in a plan.
    Plan,
    /// Reads only.
    Explore,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Options of `axi render`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RenderOptions {
    /// The file; standard input when there is none, or when it is `-`.
    pub file: Option<PathBuf>,
    /// Columns.
    pub width: Option<u16>,
    /// Whether the terminal wraps.
    pub soft_wrap: bool,
    /// What holds for every command.
    pub common: CommonOptions,
}

/// Options of `axi init`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InitOptions {
    /// The shell's name.
    pub shell: String,
    /// The key that hands over, as the person writes it.
    pub key: Option<String>,
    /// Binds no key.
    pub no_bind: bool,
    /// Writes the hook into the file that a start-up file reads from then on.
    pub keep: bool,
    /// Prints what the keys run, for a hook of this version that is loaded.
    pub keys: Option<String>,
}

/// What `axi sessions` does, and whether it prints JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionsOptions {
    /// What it does.
    pub action: SessionsAction,
    /// Whether a program reads what it prints.
    pub json: bool,
}

/// What `axi sessions` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionsAction {
    /// Lists them.
    List {
        /// Only those that began in this: a word of the list.
        origin: Option<String>,
    },
    /// Prints one.
    Show(String),
    /// Prints one in a form: `md`, `json`, `html`.
    Export {
        /// Which one.
        id: String,
        /// The form.
        form: String,
    },
    /// Reads a session of another agent.
    Import(PathBuf),
    /// Deletes one.
    Delete {
        /// Which one.
        id: String,
        /// Without a question.
        sure: bool,
    },
    /// Lists those that contain a text.
    Search(String),
}

/// What `axi tools` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolsAction {
    /// Lists them.
    List,
    /// Asks all of them for their versions again, and lists them.
    Refresh,
    /// Says what looking for them took.
    Stats,
}

/// What `axi config` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigAction {
    /// Prints where the settings file is.
    Path,
    /// Prints the settings in force.
    Show,
    /// Opens the settings file in the editor.
    Edit,
    /// Prints the JSON schema.
    Schema,
    /// Looks for mistakes.
    Check {
        /// As JSON.
        json: bool,
    },
}

/// What `axi local` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalAction {
    /// Lists the models and where their weights are.
    List,
    /// Fetches the weights of a model.
    Pull {
        /// The model; if none is named, the default one.
        model: Option<String>,
        /// Without asking.
        yes: bool,
    },
    /// Removes the weights axi fetched.
    Remove(String),
    /// Prints where the weights of a model are, or where axi keeps them.
    Path(Option<String>),
}

/// A command line that axi does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError {
    /// What is wrong.
    pub fault: UsageFault,
    /// The argument it is about.
    pub argument: String,
    /// What helps, where something is known.
    pub suggestion: Option<Suggestion>,
}

/// What would have been understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggestion {
    /// What was probably meant: it is similar.
    Meant(String),
    /// All that there is.
    OneOf(Vec<String>),
}

/// What is wrong with a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageFault {
    /// There is no such option or command.
    Unknown,
    /// An option has no value.
    MissingValue,
    /// A value that is not possible.
    InvalidValue,
    /// An argument or a command is missing.
    Missing,
    /// Two that do not go together.
    Conflict,
    /// A command behind options that only a conversation takes.
    BehindOptions,
    /// An argument that is not UTF-8.
    NoText,
    /// Anything else.
    Other,
}

/// What `axi try` is told.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TryOptions {
    /// The program and its arguments; one word alone is a line for the shell.
    pub command: Vec<OsString>,
    /// What is printed.
    pub output: TryOutput,
    /// Whether the changes are applied.
    pub apply: bool,
    /// Whether it works in a copy, however large.
    pub copy: bool,
    /// From a question: the person decides on the terminal.
    pub ask: bool,
    /// From a question: it reaches no network.
    pub offline: bool,
    /// From a question: the session whose journal keeps what is applied over.
    pub session: Option<String>,
    /// From a question: what it may write besides the workspace.
    pub also: Vec<PathBuf>,
    /// The options of all commands.
    pub common: CommonOptions,
}

/// What `axi try` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TryOutput {
    /// A page for people.
    #[default]
    Page,
    /// The change set for programs.
    Json,
    /// A patch.
    Patch,
}
