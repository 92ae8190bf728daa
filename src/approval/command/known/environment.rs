//! Which variables change what programs do, and which hold secrets.

use super::super::read::{Word, WordPart};
use super::state::State;
use super::value::Value;
use crate::approval::Surroundings;

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

/// Parts of names, between underscores, with which a variable may say what a program runs, loads, reads or reaches.
const POWERFUL_PARTS: &[&str] = &[
    "ARG",
    "ARGS",
    "ASKPASS",
    "BIN",
    "BROWSER",
    "CMD",
    "COMMAND",
    "COMPILER",
    "CONF",
    "CONFIG",
    "CONTEXT",
    "DIR",
    "DIRS",
    "DRIVER",
    "EDITOR",
    "ENDPOINT",
    "ENGINE",
    "ENGINES",
    "EXE",
    "EXEC",
    "EXT",
    "EXTENSION",
    "FILE",
    "FILES",
    "FLAGS",
    "HOME",
    "HOOK",
    "HOOKS",
    "HOST",
    "IMPORT",
    "INCLUDE",
    "INIT",
    "INTERPRETER",
    "LIB",
    "LIBRARY",
    "LIBS",
    "LINKER",
    "LOAD",
    "LOADER",
    "MODULE",
    "MODULES",
    "OPT",
    "OPTIONS",
    "OPTS",
    "PAGER",
    "PATH",
    "PATHS",
    "PLUGIN",
    "PLUGINS",
    "PRELOAD",
    "PREFIX",
    "PROFILE",
    "PROGRAM",
    "PROXY",
    "RC",
    "REGISTRY",
    "REQUIRE",
    "ROOT",
    "RUNNER",
    "SCRIPT",
    "SHELL",
    "SOURCE",
    "SSH",
    "STARTUP",
    "TARGET",
    "TOOL",
    "TOOLCHAIN",
    "TOOLEXEC",
    "URI",
    "URL",
    "URLS",
    "WRAPPER",
];

/// Beginnings of names that belong to programs which take much from their environment.
const PROGRAMS_OWN: &[&str] = &[
    "AWS", "AZURE", "BAT", "BUN", "CLANG", "CMAKE", "COR", "DELTA", "DENO", "DOCKER", "DOTNET", "ELECTRON",
    "EMACS", "ERL", "EX", "FZF", "GCC", "GCONV", "GDK", "GEM", "GH", "GIO", "GLIBC", "GO", "GPG", "GREP", "GST",
    "GTK", "GZIP", "HELM", "JAVA", "JDK", "JJ", "JULIA", "KDE", "KUBE", "LESS", "LUA", "MAIL", "MAKE", "MALLOC",
    "MAN", "MAVEN", "MORE", "MVN", "MYSQL", "NIX", "NODE", "NPM", "OCAML", "OPENSSL", "PERL", "PG", "PHP", "PIP",
    "PKG", "PSQL", "PY", "QT", "R", "RAKE", "RSYNC", "RUBY", "RUST", "SQLITE", "SSL", "SVN", "SYSTEMD", "TAR",
    "TCL", "TERM", "TF", "UV", "VIM", "VI", "WGET", "X", "XZ", "ZIP", "UNZIP", "ZSTD", "npm",
];

/// Tells whether setting a variable to these values in front of a command changes nothing that matters.
pub(crate) fn is_harmless_variable(name: &str, values: &[Value]) -> bool {
    if HARMLESS.contains(&name) || name.starts_with("LC_") || is_own(name, values) {
        return true;
    }
    let pager = name == "PAGER" || name.ends_with("_PAGER") || name == "MANPAGER";
    pager && values.iter().all(|value| value.known().is_some_and(|text| matches!(text.as_str(), "" | "cat")))
}

/// Tells whether it is a setting of the person's own program, and a plain word or number: `FOO=1`, `LOG_LEVEL=debug`.
fn is_own(name: &str, values: &[Value]) -> bool {
    let upper = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ',');
    let word = |value: &Value| value.known().is_some_and(|text| !text.is_empty() && text.chars().all(plain));
    let powerful = POWERFUL.contains(&name)
        || POWERFUL_STARTS.iter().chain(PROGRAMS_OWN).any(|start| name.starts_with(start))
        || name.split('_').any(|part| POWERFUL_PARTS.contains(&part));
    upper && name.len() > 2 && values.len() == 1 && values.iter().all(word) && !powerful
}

/// Tells whether setting a variable of the shell itself matters to what runs after it.
pub(crate) fn variable_matters(name: &str, _place: &Surroundings) -> bool {
    POWERFUL.contains(&name)
        || name.ends_with("_PAGER")
        || name.ends_with("_EDITOR")
        || POWERFUL_STARTS.iter().any(|start| name.starts_with(start))
}

/// Tells whether a name is one of a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    SECRET_WORDS.iter().any(|word| upper.contains(word)) || upper.ends_with("_KEY")
}

/// The variable in a word that holds a secret, if any; one that the line itself set is none.
pub(crate) fn secret_variable(word: &Word, state: &State<'_>) -> Option<String> {
    word.parts.iter().find_map(|part| match part {
        WordPart::Variable { name, .. } if is_secret_name(name) && !state.variables.contains_key(name) => {
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
