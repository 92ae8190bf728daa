//! Which variables change what programs do, and which hold secrets.

use super::super::Surroundings;
use super::state::State;
use super::syntax::{Word, WordPart};
use super::value::Value;

/// Variables that only change how things look, or how much is said.
const HARMLESS: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "TZ",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "TERM",
    "COLORTERM",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "CI",
    "DEBUG",
    "VERBOSE",
    "V",
    "DEBIAN_FRONTEND",
    "NODE_ENV",
    "RAILS_ENV",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "GIT_TERMINAL_PROMPT",
    "GIT_OPTIONAL_LOCKS",
    "CARGO_TERM_COLOR",
    "CARGO_INCREMENTAL",
    "RUST_TEST_THREADS",
    "GREP_COLOR",
    "GREP_COLORS",
    "LS_COLORS",
    "TIMEFORMAT",
    "POSIXLY_CORRECT",
    "HISTTIMEFORMAT",
    "QUOTING_STYLE",
    "BLOCK_SIZE",
    "TIME_STYLE",
    "PROPTEST_CASES",
    "CARGO_NET_OFFLINE",
];

/// Variables through which other programs are run or found, wherever they are set.
const POWERFUL: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "GLOBIGNORE",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "HOME",
    "CDPATH",
    "FPATH",
    "ZDOTDIR",
    "SHELL",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "MANPAGER",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "RIPGREP_CONFIG_PATH",
    "MAKEFLAGS",
    "CC",
    "CXX",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "RUSTDOC",
    "GCONV_PATH",
    "TERMINFO",
    "LOCPATH",
    "TAR_OPTIONS",
    "GREP_OPTIONS",
    "BAT_PAGER",
    "DOCKER_HOST",
    "KUBECONFIG",
    "EXECIGNORE",
    "HISTFILE",
    "TMPDIR",
    "PWD",
    "OLDPWD",
    "BASH_XTRACEFD",
    "TMOUT",
    "INPUTRC",
    "precmd_functions",
    "preexec_functions",
    "chpwd_functions",
];

/// Beginnings of such names.
const POWERFUL_STARTS: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "PYTHON",
    "BASH_FUNC",
    "CARGO_",
    "npm_config_",
    "NPM_CONFIG_",
    "SSH_",
    "XDG_",
    "HG",
    "LUA_",
];

/// What makes a variable's name one of a secret.
const SECRET_WORDS: &[&str] = &[
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "API_KEY",
    "APIKEY",
    "PRIVATE_KEY",
    "ACCESS_KEY",
    "CREDENTIAL",
];

/// Tells whether setting a variable to these values in front of a command changes nothing that matters.
pub(crate) fn is_harmless(name: &str, values: &[Value]) -> bool {
    if HARMLESS.contains(&name) || name.starts_with("LC_") {
        return true;
    }
    let pager = name == "PAGER" || name.ends_with("_PAGER") || name == "MANPAGER";
    pager && values.iter().all(|value| value.known().is_some_and(|text| matches!(text.as_str(), "" | "cat")))
}

/// Tells whether setting a variable of the shell itself matters to what runs after it.
pub(crate) fn matters(name: &str, _place: &Surroundings) -> bool {
    POWERFUL.contains(&name)
        || name.ends_with("_PAGER")
        || name.ends_with("_EDITOR")
        || POWERFUL_STARTS.iter().any(|start| name.starts_with(start))
}

/// Tells whether a name is one of a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| upper.contains(word)) || upper.ends_with("_KEY")
}

/// The variable in a word that holds a secret, if any; one that the line itself set is none.
pub(crate) fn secret_variable(word: &Word, state: &State<'_>) -> Option<String> {
    word.parts.iter().find_map(|part| match part {
        WordPart::Variable { name, .. } if is_secret(name) && !state.variables.contains_key(name) => {
            Some(format!("${name}"))
        }
        WordPart::Variable { .. }
        | WordPart::Text { .. }
        | WordPart::Substitution { .. }
        | WordPart::Process { .. }
        | WordPart::Number { .. } => None,
    })
}

/// Tells whether a name is one of the built-in commands that POSIX calls special.
pub(crate) fn is_special_builtin(name: &str) -> bool {
    matches!(
        name,
        "." | ":"
            | "break"
            | "continue"
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "source"
            | "times"
            | "trap"
            | "unset"
    )
}

/// Tells whether a built-in command evaluates an index inside the names it is given.
pub(crate) fn evaluates_names(name: &str) -> bool {
    matches!(
        name,
        "[" | "test"
            | "printf"
            | "let"
            | "unset"
            | "declare"
            | "typeset"
            | "local"
            | "read"
            | "export"
            | "readonly"
            | "wait"
    )
}
