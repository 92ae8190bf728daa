//! What a command finds in its environment: nothing there waits for a person. Data only.

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

/// What a shell's hook tells axi at a hand-off, and which of the person's conversations this is: not for the programs
/// that axi runs. A line may hold a secret, and a second axi in the same conversation would mix with the first.
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
    "AXI_SESSION",
    "AXI_HOOK",
];

/// Taken away from every command: they would force colours against `NO_COLOR`.
pub(crate) const REMOVED: &[&str] = &["CLICOLOR_FORCE", "FORCE_COLOR", "SSH_ASKPASS", "GREP_COLORS"];

/// Of those, what is not set where a command can be lent the person's terminal: it may ask there.
pub(crate) const ASKING: &[&str] = &["GIT_TERMINAL_PROMPT", "GCM_INTERACTIVE", "TERM"];
