//! What already holds the output of the last command: the multiplexer or terminal around the shell. Asked, never
//! replaced: nothing is recorded, nothing is run again.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use crate::tool::HANDOFF_VARIABLES;

/// How long a holder may take to answer: it runs on this machine, or it is not worth waiting for.
const PATIENCE: Duration = Duration::from_millis(1500);

/// How many rows above the screen are asked for.
const ROWS: &str = "3000";

/// The most that is read, in bytes.
const LIMIT: u64 = 4 * 1024 * 1024;

/// How long a holder that answers through a file may take to write it.
const FILE_STEP: Duration = Duration::from_millis(20);
const FILE_STEPS: usize = 25;

/// A program that holds what was on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Holder {
    /// Its name, as people know it.
    pub(super) name: &'static str,
    /// A variable that is set in its panes only; the innermost holder comes first.
    sign: &'static str,
    /// The variable that names the pane.
    pane: &'static str,
    program: &'static str,
    /// `{pane}` and `{file}` are put in.
    arguments: &'static [&'static str],
    /// Whether it answers through the file.
    through_file: bool,
}

/// Everybody who can be asked; of one who is here twice, the second row is for older versions. kitty only where it listens on a socket: through the terminal itself its answer would
/// mix with what is typed.
const HOLDERS: &[Holder] = &[
    Holder {
        name: "tmux",
        sign: "TMUX",
        pane: "TMUX_PANE",
        program: "tmux",
        arguments: &["capture-pane", "-p", "-J", "-S", "-{rows}", "-t", "{pane}"],
        through_file: false,
    },
    Holder {
        name: "zellij",
        sign: "ZELLIJ",
        pane: "ZELLIJ_PANE_ID",
        program: "zellij",
        arguments: &["action", "dump-screen", "--pane-id", "terminal_{pane}", "--full"],
        through_file: false,
    },
    // Before 0.44: the pane with the focus, into a file.
    Holder {
        name: "zellij",
        sign: "ZELLIJ",
        pane: "ZELLIJ_PANE_ID",
        program: "zellij",
        arguments: &["action", "dump-screen", "--full", "{file}"],
        through_file: true,
    },
    Holder {
        name: "screen",
        sign: "STY",
        pane: "WINDOW",
        program: "screen",
        arguments: &["-S", "{sign}", "-p", "{pane}", "-X", "hardcopy", "-h", "{file}"],
        through_file: true,
    },
    Holder {
        name: "kitty",
        sign: "KITTY_LISTEN_ON",
        pane: "KITTY_WINDOW_ID",
        program: "kitty",
        arguments: &["@", "get-text", "--match", "id:{pane}", "--extent", "all"],
        through_file: false,
    },
    Holder {
        name: "WezTerm",
        sign: "WEZTERM_PANE",
        pane: "WEZTERM_PANE",
        program: "wezterm",
        arguments: &["cli", "get-text", "--pane-id", "{pane}", "--start-line", "-{rows}"],
        through_file: false,
    },
];

/// A holder and what it takes to ask it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) holder: Holder,
    sign: String,
    pane: String,
}

/// Finds who holds the screen of this shell.
pub(super) fn around(variable: &dyn Fn(&str) -> Option<OsString>) -> Option<Around> {
    let text = |name: &str| variable(name)?.into_string().ok().filter(|value| !value.is_empty());
    HOLDERS.iter().find_map(|holder| {
        let (sign, pane) = (text(holder.sign)?, text(holder.pane)?);
        // What names a pane is a number, perhaps with a sign before it; anything else is not from the holder.
        let is_plain = pane.chars().all(|character| character.is_ascii_alphanumeric() || "%_-".contains(character));
        (is_plain && !pane.starts_with('-')).then_some(Around { holder: *holder, sign, pane })
    })
}

impl Around {
    /// The arguments to ask it with.
    fn arguments(&self, file: &Path) -> Vec<String> {
        let put_in = |argument: &&str| {
            argument
                .replace("{rows}", ROWS)
                .replace("{pane}", &self.pane)
                .replace("{sign}", &self.sign)
                .replace("{file}", &file.display().to_string())
        };
        self.holder.arguments.iter().map(put_in).collect()
    }

    /// Asks; `None` when it does not answer in time, or not at all.
    pub(super) async fn ask(&self) -> Option<String> {
        let folder = tempfile::tempdir().ok()?;
        let file = folder.path().join("screen");
        let mut answer = tokio::time::timeout(PATIENCE, self.answer(&file)).await;
        let older = HOLDERS.iter().find(|holder| holder.name == self.holder.name && **holder != self.holder);
        if let (Ok(Err(_)), Some(holder)) = (&answer, older) {
            let older = Self { holder: *holder, ..self.clone() };
            answer = tokio::time::timeout(PATIENCE, older.answer(&file)).await;
        }
        match answer {
            Ok(Ok(bytes)) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Ok(Err(error)) => {
                tracing::debug!(%error, holder = self.holder.name, "what was on the screen is not known");
                None
            }
            Err(_) => None,
        }
    }

    async fn answer(&self, file: &Path) -> std::io::Result<Vec<u8>> {
        let mut command = Command::new(self.holder.program);
        command.args(self.arguments(file)).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.kill_on_drop(true);
        for name in HANDOFF_VARIABLES {
            command.env_remove(name);
        }
        let mut child = command.spawn()?;
        let mut bytes = Vec::new();
        if let Some(out) = child.stdout.take() {
            out.take(LIMIT).read_to_end(&mut bytes).await?;
        }
        let status = child.wait().await?;
        if !status.success() {
            return Err(std::io::Error::other(status.to_string()));
        }
        if !self.holder.through_file {
            return Ok(bytes);
        }
        for _ in 0..FILE_STEPS {
            match std::fs::read(file) {
                Ok(bytes) if !bytes.is_empty() => return Ok(bytes),
                Ok(_) | Err(_) => tokio::time::sleep(FILE_STEP).await,
            }
        }
        Err(std::io::Error::from(std::io::ErrorKind::TimedOut))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pairs: &[(&str, &str)]) -> Option<Around> {
        around(&|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)))
    }

    #[test]
    fn the_innermost_holder_is_asked_about_this_pane() {
        assert_eq!(find(&[]), None);
        let pairs = [("WEZTERM_PANE", "3"), ("TMUX", "/tmp/s,1,0"), ("TMUX_PANE", "%7")];
        let found = find(&pairs).unwrap();
        assert_eq!(found.arguments(Path::new("f")), ["capture-pane", "-p", "-J", "-S", "-3000", "-t", "%7"]);
        let found = find(&pairs[..1]).unwrap();
        assert_eq!(found.arguments(Path::new("f")), ["cli", "get-text", "--pane-id", "3", "--start-line", "-3000"]);
        let found = find(&[("STY", "12.pts"), ("WINDOW", "0")]).unwrap();
        assert_eq!(found.arguments(Path::new("/x/f")), ["-S", "12.pts", "-p", "0", "-X", "hardcopy", "-h", "/x/f"]);
    }

    #[test]
    fn what_no_holder_wrote_is_not_handed_to_one() {
        assert_eq!(find(&[("TMUX", "x"), ("TMUX_PANE", "%1; kill-server")]), None);
        assert_eq!(find(&[("TMUX", "x"), ("TMUX_PANE", "-x")]), None);
        // kitty without a socket.
        assert_eq!(find(&[("KITTY_WINDOW_ID", "1")]), None);
    }
}
