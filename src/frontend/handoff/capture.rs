//! Asks the multiplexer or terminal around the shell for the output of the last command, which it holds anyway.
//! Nothing is recorded, and no command is run again.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::Command;

use super::within::innermost;
use crate::tool::HANDOFF_VARIABLES;

/// How long a holder may take to answer. It runs on this machine and takes some 20 ms; on a busy machine it takes
/// longer, and only a holder that hangs takes the whole time.
const PATIENCE: Duration = Duration::from_secs(4);

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
    /// A variable that is set in its panes, and in those of another holder that was started there.
    sign: &'static str,
    /// The variable that names the pane.
    pane: &'static str,
    program: &'static str,
    /// The variable with the folder of the program, which need not be on the path (WezTerm in a Mac's applications, in
    /// an AppImage).
    folder: &'static str,
    /// `{pane}` and `{file}` are put in.
    arguments: &'static [&'static str],
    /// Whether it answers through the file.
    through_file: bool,
}

/// All the holders that can be asked. A second row for the same program is for older versions. kitty is asked only
/// if it listens on a socket: through the terminal itself, its answer would mix with typed keys.
const HOLDERS: &[Holder] = &[
    Holder {
        name: "tmux",
        sign: "TMUX",
        pane: "TMUX_PANE",
        program: "tmux",
        folder: "",
        arguments: &["capture-pane", "-p", "-J", "-S", "-{rows}", "-t", "{pane}"],
        through_file: false,
    },
    Holder {
        name: "zellij",
        sign: "ZELLIJ",
        pane: "ZELLIJ_PANE_ID",
        program: "zellij",
        folder: "",
        arguments: &["action", "dump-screen", "--pane-id", "terminal_{pane}", "--full"],
        through_file: false,
    },
    // Before 0.44: the pane with the focus, into a file.
    Holder {
        name: "zellij",
        sign: "ZELLIJ",
        pane: "ZELLIJ_PANE_ID",
        program: "zellij",
        folder: "",
        arguments: &["action", "dump-screen", "--full", "{file}"],
        through_file: true,
    },
    Holder {
        name: "screen",
        sign: "STY",
        pane: "WINDOW",
        program: "screen",
        folder: "",
        arguments: &["-S", "{sign}", "-p", "{pane}", "-X", "hardcopy", "-h", "{file}"],
        through_file: true,
    },
    Holder {
        name: "kitty",
        sign: "KITTY_LISTEN_ON",
        pane: "KITTY_WINDOW_ID",
        program: "kitty",
        folder: "",
        arguments: &["@", "get-text", "--match", "id:{pane}", "--extent", "all"],
        through_file: false,
    },
    Holder {
        name: "WezTerm",
        sign: "WEZTERM_PANE",
        pane: "WEZTERM_PANE",
        program: "wezterm",
        folder: "WEZTERM_EXECUTABLE_DIR",
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
    folder: Option<String>,
}

/// Finds the programs that may hold this shell's screen: each has set a variable.
pub(super) fn around(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<Around> {
    let text = |name: &str| variable(name)?.into_string().ok().filter(|value| !value.is_empty());
    let found = HOLDERS.iter().filter_map(|holder| {
        let (sign, pane) = (text(holder.sign)?, text(holder.pane)?);
        // The name of a pane is a number, perhaps with a sign; any other value does not come from the holder.
        let is_plain = pane.chars().all(|character| character.is_ascii_alphanumeric() || "%_-".contains(character));
        let folder = text(holder.folder).filter(|folder| Path::new(folder).is_absolute());
        (is_plain && !pane.starts_with('-')).then_some(Around { holder: *holder, sign, pane, folder })
    });
    let mut found: Vec<Around> = found.collect();
    found.dedup_by_key(|around| around.holder.name);
    found
}

/// Finds the holder around this process; `None` if there may be several and nobody can tell: an outer one also
/// shows other panes.
pub(super) async fn nearest(mut found: Vec<Around>) -> Option<Around> {
    if found.len() < 2 {
        return found.pop();
    }
    let mut command = Command::new("ps");
    command.args(["-A", "-o", "pid=,ppid=,comm="]);
    let printed = tokio::time::timeout(PATIENCE, output(command)).await.ok()?.ok()?;
    let programs: Vec<&str> = found.iter().map(|around| around.holder.program).collect();
    let at = innermost(&String::from_utf8_lossy(&printed), std::process::id(), &programs)?;
    Some(found.swap_remove(at))
}

/// What a command prints, when it goes well.
async fn output(mut command: Command) -> std::io::Result<Vec<u8>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    for name in HANDOFF_VARIABLES {
        command.env_remove(name);
    }
    let mut child = command.spawn()?;
    let mut bytes = Vec::new();
    if let Some(out) = child.stdout.take() {
        out.take(LIMIT).read_to_end(&mut bytes).await?;
    }
    let status = child.wait().await?;
    if status.success() { Ok(bytes) } else { Err(std::io::Error::other(status.to_string())) }
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
        let run = |program: &Path| {
            let mut command = Command::new(program);
            command.args(self.arguments(file));
            output(command)
        };
        let bytes = match (run(Path::new(self.holder.program)).await, &self.folder) {
            (Err(error), Some(folder)) if error.kind() == std::io::ErrorKind::NotFound => {
                run(&Path::new(folder).join(self.holder.program)).await?
            }
            (ran, _) => ran?,
        };
        if !self.holder.through_file {
            return Ok(bytes);
        }
        // The client has asked and its server now writes: the answer is complete when nothing more arrives.
        let mut before = Vec::new();
        for _ in 0..FILE_STEPS {
            match std::fs::read(file) {
                Ok(bytes) if !bytes.is_empty() && bytes == before => return Ok(bytes),
                Ok(bytes) => before = bytes,
                Err(_) => {}
            }
            tokio::time::sleep(FILE_STEP).await;
        }
        Err(std::io::Error::from(std::io::ErrorKind::TimedOut))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pairs: &[(&str, &str)]) -> Vec<Around> {
        around(&|name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value)))
    }

    fn asked(pairs: &[(&str, &str)], file: &str) -> Vec<Vec<String>> {
        find(pairs).iter().map(|around| around.arguments(Path::new(file))).collect()
    }

    #[test]
    fn whoever_left_a_variable_may_be_asked_about_this_pane() {
        assert_eq!(find(&[]), []);
        let pairs = [("WEZTERM_PANE", "3"), ("TMUX", "/tmp/s,1,0"), ("TMUX_PANE", "%7")];
        let tmux = ["capture-pane", "-p", "-J", "-S", "-3000", "-t", "%7"];
        let wezterm = ["cli", "get-text", "--pane-id", "3", "--start-line", "-3000"];
        assert_eq!(asked(&pairs, "f"), [tmux.as_slice(), wezterm.as_slice()]);
        assert_eq!(asked(&pairs[..1], "f"), [wezterm]);
        let screen = ["-S", "12.pts", "-p", "0", "-X", "hardcopy", "-h", "/x/f"];
        assert_eq!(asked(&[("STY", "12.pts"), ("WINDOW", "0")], "/x/f"), [screen]);
        assert_eq!(find(&[("ZELLIJ", "0"), ("ZELLIJ_PANE_ID", "2")]).len(), 1);
    }

    #[test]
    fn what_no_holder_wrote_is_not_handed_to_one() {
        assert_eq!(find(&[("TMUX", "x"), ("TMUX_PANE", "%1; kill-server")]), []);
        assert_eq!(find(&[("TMUX", "x"), ("TMUX_PANE", "-x")]), []);
        // kitty without a socket.
        assert_eq!(find(&[("KITTY_WINDOW_ID", "1")]), []);
    }
}
