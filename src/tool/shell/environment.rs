//! The environment of a command: nothing in it waits for a person who cannot see it.

/// An editor that fails at once and says what to do.
const NO_EDITOR: &str = "sh -c 'echo \"no editor here: give the text as an argument (git commit -m, --no-edit) \
                         or set GIT_EDITOR=true\" >&2; exit 1' --";

/// Set for every command.
pub(crate) const SET: &[(&str, &str)] = &[
    // Pagers wait for keys (google-gemini/gemini-cli#13590).
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
    ("LESS", "-FRX"),
    // Editors wait for a person.
    ("EDITOR", NO_EDITOR),
    ("VISUAL", NO_EDITOR),
    ("GIT_EDITOR", NO_EDITOR),
    ("GIT_SEQUENCE_EDITOR", NO_EDITOR),
    // So do questions for names and passwords; an empty GIT_ASKPASS keeps git from SSH_ASKPASS as well.
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", ""),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("GCM_INTERACTIVE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    // Colours and moving cursors are noise to a model.
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// What a shell's hook tells axi at a hand-off, and which of the person's conversations this is. Programs that axi
/// runs must not get it: a line may contain a secret, and a second axi in the same conversation would interfere
/// with the first.
pub const HANDOFF: &[&str] = &[
    "AXI_LINE",
    "AXI_LAST_COMMAND",
    "AXI_LAST_STATUS",
    "AXI_STATUS",
    "AXI_LAST_SECONDS",
    "AXI_SHELL",
    "AXI_SHELL_VERSION",
    "AXI_ALIASES",
    "AXI_FUNCTIONS",
    "AXI_REPLY",
    "AXI_UNSENT",
    "AXI_SESSION",
    "AXI_HOOK",
];

/// Removed for every command: these variables would force colours against `NO_COLOR`.
pub(crate) const REMOVED: &[&str] = &["CLICOLOR_FORCE", "FORCE_COLOR", "SSH_ASKPASS", "GREP_COLORS"];

/// Those of them that are not set for a command that may be lent the person's terminal: it may ask there.
pub(crate) const ASKING: &[&str] = &["GIT_TERMINAL_PROMPT", "GCM_INTERACTIVE", "TERM"];

/// The variables that name an editor, and what runs the person's own where a command can be lent their terminal.
///
/// A command prints to a pipe and has no input; the editor is put on the terminal, and is lent it when it first writes
/// there. Which one git would take is git's own to say (git-var(1)): its settings name one, too.
pub(crate) fn editors(own: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, String)> {
    const NAMES: [&str; 4] = ["EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR"];
    let mut back = String::new();
    for name in NAMES {
        let own = own(name)
            .and_then(|value| shlex::try_quote(&value).map(|value| format!("export {name}={value}; ")).ok());
        back += &own.unwrap_or_else(|| format!("unset {name}; "));
    }
    let of_git = |name| format!("editor=$(git var {name} 2>/dev/null || git var GIT_EDITOR) || exit; ");
    let any = "editor=${VISUAL:-${EDITOR:-vi}}; ".to_owned();
    // Older git does not tell the second.
    let finds = [any.clone(), any, of_git("GIT_EDITOR"), of_git("GIT_SEQUENCE_EDITOR")];
    let run = r#"eval "$editor \"\$@\"" </dev/tty >/dev/tty 2>&1"#;
    let whole = |find: String| format!("sh -c {} --", quoted(&format!("{back}{find}{run}")));
    NAMES.into_iter().zip(finds.map(whole)).collect()
}

/// In single quotes, as every shell reads it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_own_editor_is_run_whatever_its_name_holds() {
        let folder = tempfile::tempdir().unwrap();
        let seen = folder.path().join("seen");
        let own = |name: &str| {
            let value = format!("printf '%s|' 'an editor' \"$EDITOR\" >{}; cat >/dev/null <", seen.display());
            (name == "VISUAL").then_some(value).or_else(|| (name == "EDITOR").then(|| "it's $HOME".to_owned()))
        };
        let editors = editors(own);
        // Without a terminal: on standard input and output instead.
        let visual = editors[1].1.replace("/dev/tty", "/dev/null");
        let file = folder.path().join("a file");
        std::fs::write(&file, "").unwrap();
        let line = format!("{visual} \"$1\"");
        let status = std::process::Command::new("sh").args(["-c", &line, "sh"]).arg(&file).status().unwrap();
        assert!(status.success());
        assert_eq!(std::fs::read_to_string(seen).unwrap(), "an editor|it's $HOME|");
    }
}
