//! A person at a shell's prompt with axi's hook loaded: in a pseudo-terminal, alone or inside tmux.
//!
//! The prompt is `@@`. The command `probe` is the witness: it writes down the terminal's mode and the history, says
//! the exit code of the command before it, and waits for Enter, so that the terminal can be looked at while a
//! command has it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use rustix::termios::LocalModes;

use super::home::Home;
use super::pty::{Options, PATIENCE, Pty, View, read_up};
use super::server::Server;
use super::skip::has;
use super::talk::KEY;

/// A shell under test.
pub(crate) struct Row {
    /// Its name.
    pub(crate) shell: &'static str,
    /// The start-up file, under the home directory.
    file: &'static str,
    /// What is in it before the hook.
    before: &'static str,
    /// The line that loads the hook.
    pub(crate) load: &'static str,
}

/// The shells whose grammar axi knows.
pub(crate) const ROWS: [Row; 3] = [
    Row {
        shell: "zsh",
        file: ".zshrc",
        before: "PS1='@@ '\nHISTFILE=~/.history HISTSIZE=500 SAVEHIST=500\n\
            probe() {\n  local code=$?\n  stty -a >~/mode\n  fc -ln 1 >~/entries\n\
              print -rn -- \"code=$code \"\n  head -n 1 >/dev/null\n  printf '\\033[H\\033[2J'\n}\n",
        load: "eval \"$(axi init zsh)\"\n",
    },
    Row {
        shell: "bash",
        file: ".bashrc",
        before: "PS1='@@ '\nHISTFILE=~/.history HISTSIZE=500\n\
            probe() {\n  local code=$?\n  stty -a >~/mode\n  history >~/entries\n\
              printf 'code=%s ' \"$code\"\n  head -n 1 >/dev/null\n  printf '\\033[H\\033[2J'\n}\n",
        load: "eval \"$(axi init bash)\"\n",
    },
    Row {
        shell: "fish",
        file: "config/fish/config.fish",
        before: "function fish_prompt; echo '@@ '; end\nfunction fish_greeting; end\nfunction fish_title; end\n\
            function probe\n  set -l code $status\n  stty -a >~/mode\n  history search --reverse >~/entries\n\
              printf 'code=%s ' $code\n  head -n 1 >/dev/null\n  printf '\\033[H\\033[2J'\nend\n",
        load: "axi init fish | source\n",
    },
];

/// Those whose grammar it does not know. PowerShell is not here: no test has one.
pub(crate) const OTHERS: [Row; 3] = [
    Row {
        shell: "nu",
        file: "config/nushell/config.nu",
        before: "$env.config.show_banner = false\n$env.PROMPT_COMMAND = {|| '@@ ' }\n\
            $env.PROMPT_COMMAND_RIGHT = ''\n$env.PROMPT_INDICATOR = ''\n$env.PROMPT_MULTILINE_INDICATOR = ''\n\
            def probe [] {\n  let code = $env.LAST_EXIT_CODE\n  ^stty -a | save --force ~/mode\n\
              history | get command | each {|it| $it | str replace --all (char newline) '\\n' }\n\
              | str join (char newline) | save --force ~/entries\n\
              print --no-newline $\"code=($code) \"\n  ^head -n 1 | ignore\n\
              print --no-newline $\"(char --unicode '1b')[H(char --unicode '1b')[2J\"\n}\n",
        load: "",
    },
    Row {
        shell: "xonsh",
        file: ".xonshrc",
        before: "$PROMPT = '@@ '\n$MULTILINE_PROMPT = ' '\n\
            def _probe(arguments):\n    import os, subprocess\n    home = os.path.expanduser('~')\n\
            \x20   code = __xonsh__.env['LAST_RETURN_CODE']\n    tty = open('/dev/tty', 'rb', buffering=0)\n\
            \x20   with open(home + '/mode', 'w') as file: subprocess.run(['stty', '-a'], stdin=tty, stdout=file)\n\
            \x20   entries = [entry['inp'].rstrip().replace('\\n', '\\\\n') for entry in __xonsh__.history.items()]\n\
            \x20   with open(home + '/entries', 'w') as file: file.write('\\n'.join(entries))\n\
            \x20   os.write(2, b'code=%d ' % code)\n    tty.readline()\n    os.write(2, b'\\x1b[H\\x1b[2J')\n\
            __import__('xonsh.tools').tools.unthreadable(_probe)\naliases['probe'] = _probe\n",
        load: "exec($(axi init xonsh))\n",
    },
    Row {
        shell: "elvish",
        file: "config/elvish/rc.elv",
        // There is no exit code of the last command.
        before: "use str\nset edit:prompt = { put '@@ ' }\nset edit:rprompt = { }\n\
            fn probe {\n  e:stty -a > ~/mode\n\
              each {|it| echo (str:replace \"\\n\" '\\n' $it) } [(edit:command-history &cmd-only)] > ~/entries\n\
              print 'code=0 '\n  e:head -n 1 > /dev/null\n  print \"\\e[H\\e[2J\"\n}\n",
        load: "eval (axi init elvish | slurp)\n",
    },
];

/// A person at the prompt of a shell.
pub(crate) struct AtPrompt {
    pub(crate) pty: Pty,
    pub(crate) home: Home,
    shell: &'static str,
    tmux: Option<PathBuf>,
}

impl Row {
    /// Starts the shell in a terminal that answers nothing.
    pub(crate) fn start_mute(&self, server: &Server) -> Option<AtPrompt> {
        self.start_on(Pty::options().mute(), server, ("", None), false, &|_| {})
    }

    /// Starts the shell with the hook loaded by `load`, or by its own line; `settings` come before it. `None`, and
    /// says why, when the shell or tmux is not here.
    pub(crate) fn start(
        &self,
        server: &Server,
        settings: &str,
        load: Option<&str>,
        in_tmux: bool,
    ) -> Option<AtPrompt> {
        self.start_on(Pty::options(), server, (settings, load), in_tmux, &|_| {})
    }

    /// Starts the shell with `load` alone, once `prepare` has seen its home directory.
    pub(crate) fn start_prepared(&self, server: &Server, load: &str, prepare: &dyn Fn(&Path)) -> Option<AtPrompt> {
        self.start_on(Pty::options(), server, ("", Some(load)), false, prepare)
    }

    /// The shell's name.
    pub(crate) const fn name(&self) -> &'static str {
        self.shell
    }

    /// The program: another version of the shell where `AXI_TEST_BASH` and the like say so.
    pub(crate) fn program(&self) -> String {
        let other = std::env::var(format!("AXI_TEST_{}", self.shell.to_uppercase()));
        other.unwrap_or_else(|_| self.shell.to_owned())
    }

    fn start_on(
        &self,
        terminal: Options,
        server: &Server,
        (settings, load): (&str, Option<&str>),
        in_tmux: bool,
        prepare: &dyn Fn(&Path),
    ) -> Option<AtPrompt> {
        let shell = self.program();
        for program in [Some(shell.as_str()), in_tmux.then_some("tmux")].into_iter().flatten() {
            if !has(program) {
                return None;
            }
        }
        let home = Home::new();
        std::fs::create_dir(home.path().join("bin")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_axi"), home.path().join("bin/axi")).unwrap();
        prepare(home.path());
        home.write(self.file, &format!("{}{settings}{}", self.before, load.unwrap_or(self.load)));
        if self.shell == "nu" {
            // It reads no text while it runs.
            let hook = super::talk::run(home.axi().args(["init", "nu"])).out;
            home.write("config/nushell/autoload/axi.nu", &hook);
        }
        let program = shell.as_str();
        // elvish keeps its history behind a daemon, one for all that a user runs.
        let (socket, kept) = (home.path().join("sock"), home.path().join("db"));
        let own = ["-sock", socket.to_str().unwrap(), "-db", kept.to_str().unwrap()];
        let arguments: &[&str] = match self.shell {
            "bash" => &["--noprofile"],
            "elvish" => &own,
            _ => &[],
        };
        let socket = in_tmux.then(|| home.path().join("tmux"));
        let mut command = if let Some(socket) = &socket {
            home.write("tmux.conf", "set -g status off\nset -g default-terminal screen-256color\n");
            let mut command = home.command("tmux");
            command.arg("-S").arg(socket).arg("-f").arg(home.path().join("tmux.conf"));
            command.args(["new-session", program]).args(arguments);
            command
        } else {
            let mut command = home.command(program);
            command.args(arguments);
            command
        };
        let path = format!("{}/bin:/usr/local/bin:/usr/bin:/bin", home.path().display());
        command
            .env("PATH", path)
            .env("SHELL", format!("/bin/{}", self.shell))
            .env("OPENAI_BASE_URL", server.url("/v1"))
            .env("OPENAI_API_KEY", KEY)
            .env("AXI_MODEL", "openai/any");
        let pty = terminal.size(100, 40).spawn(&command);
        let person = AtPrompt { pty, home, shell: self.shell, tmux: socket };
        person.sees_line("");
        Some(person)
    }
}

impl AtPrompt {
    /// The shell's name.
    pub(crate) const fn name(&self) -> &'static str {
        self.shell
    }

    /// Types.
    pub(crate) fn types(&mut self, keys: impl AsRef<[u8]>) {
        self.pty.send(keys);
    }

    /// Types keys, again where nothing comes of them, until the prompt has this text behind it.
    pub(crate) fn types_until(&mut self, keys: &str, line: &str) {
        let expected = format!("@@ {line}");
        for _ in 0..10 {
            self.types(keys);
            let shown = |view: &mut View<'_>| before_cursor(view).trim_end() == expected.trim_end();
            if self.pty.wait_until(shown, Duration::from_secs(3)) {
                return;
            }
        }
        self.sees_line(line);
    }

    /// Types a line at an empty prompt, and Ctrl+G once it is shown.
    pub(crate) fn hands_over(&mut self, line: &str) {
        self.types(line);
        self.sees_line(line);
        self.types("\x07");
    }

    /// Types a command at an empty prompt and enters it once it is shown.
    pub(crate) fn enters(&mut self, line: &str) {
        self.types(line);
        self.sees_line(line);
        self.types("\r");
    }

    /// Pastes: what the terminal marks as pasted. bash before 4.4 knows no such marks: there it is typed, with Ctrl+V
    /// before each end of a line.
    pub(crate) fn pastes(&mut self, text: &str) {
        let version = std::env::var("AXI_TEST_BASH").ok().filter(|_| self.shell == "bash").and_then(|bash| {
            let told =
                Command::new(bash).args(["-c", "echo ${BASH_VERSINFO[0]}${BASH_VERSINFO[1]}"]).output().ok()?;
            String::from_utf8(told.stdout).ok()?.trim().parse().ok()
        });
        if version.is_some_and(|version: u32| version < 44) {
            return self.types(text.replace('\n', "\x16\n"));
        }
        // tmux keeps the marks to itself until the shell has asked for them, which it has when it reads a key.
        if self.tmux.is_some() {
            self.types("x");
            self.sees_line("x");
            self.types("\x7f");
            self.sees_line("");
        }
        self.types(format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Waits for a text on the screen.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        self.pty.wait_for(text);
    }

    /// Waits for something to be true of the screen.
    #[track_caller]
    pub(crate) fn waits(&self, condition: impl FnMut(&mut View<'_>) -> bool, what: &str) {
        assert!(self.pty.wait_until(condition, PATIENCE), "never saw {what} in:\n{}", self.pty.describe());
    }

    /// Waits for the prompt with this text behind it, up to the cursor.
    #[track_caller]
    pub(crate) fn sees_line(&self, text: &str) {
        let expected = format!("@@ {text}");
        let seen = self.pty.wait_until(|view| before_cursor(view).trim_end() == expected.trim_end(), PATIENCE);
        assert!(seen, "never saw the line {expected:?} in:\n{}", self.pty.describe());
    }

    /// Waits for the prompt with this text behind it, which may take several rows.
    #[track_caller]
    pub(crate) fn sees_wrapped(&self, text: &str) {
        let bare = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
        let expected = format!("@@{}", bare(text));
        let seen = self.pty.wait_until(|view| bare(&view.text()).ends_with(&expected), PATIENCE);
        assert!(seen, "never saw the line {text:?} in:\n{}", self.pty.describe());
    }

    /// The home, when the shell has ended.
    pub(crate) fn take_home(mut self) -> Home {
        std::mem::replace(&mut self.home, Home::new())
    }

    /// Where it began to work.
    pub(crate) fn work(&self) -> String {
        self.home.work().canonicalize().unwrap().display().to_string()
    }

    /// Waits for the cursor to stand behind this text.
    #[track_caller]
    pub(crate) fn sees_end(&self, text: &str) {
        let seen = self.pty.wait_until(|view| before_cursor(view).trim_end().ends_with(text), PATIENCE);
        assert!(seen, "never saw the cursor behind {text:?} in:\n{}", self.pty.describe());
    }

    /// Waits for these bytes to have been written.
    #[track_caller]
    pub(crate) fn sees_bytes(&self, text: &str) {
        let found = |view: &mut View<'_>| view.raw().windows(text.len()).any(|bytes| bytes == text.as_bytes());
        assert!(self.pty.wait_until(found, PATIENCE), "never saw {text:?} in:\n{}", self.pty.describe());
    }

    /// The lines of the scrollback that begin with the prompt, without it; empty ones left out.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let screen = self.pty.transcript();
        let lines = screen.lines().filter_map(|line| line.strip_prefix("@@"));
        lines.map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    }

    /// Checks everything that must hold after a hand-off: `code` is what the shell saw, and `history` is in the
    /// shell's history, nothing else.
    #[track_caller]
    pub(crate) fn settled(&mut self, case: &str, code: i32, history: &[String]) {
        self.enters("probe");
        self.sees(&format!("code={code} "));
        let (paste, hidden, alternate) = self.pty.view(|view| {
            let screen = view.screen();
            (screen.bracketed_paste(), screen.hide_cursor(), screen.alternate_screen())
        });
        assert!(!hidden, "{case}: the cursor is hidden");
        if self.tmux.is_none() {
            assert!(!paste && !alternate, "{case}: paste mode {paste}, alternate screen {alternate}");
            assert_eq!(self.keyboard_levels(), 0, "{case}: kitty's keyboard flags");
            let modes = self.pty.termios().local_modes;
            let cooked = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
            assert!(modes.contains(cooked), "{case}: {modes:?}");
        }
        let mode = self.home_file("mode");
        for word in ["echo", "icanon", "isig"] {
            assert!(mode.split_whitespace().any(|found| found == word), "{case}: {word} in {mode}");
        }
        let entries = self.entries();
        assert_eq!(entries, expected(self.shell, history), "{case}: history");
        // The witness clears the screen, so that the next case sees only its own.
        self.types("\r");
        let cleared = self.pty.wait_until(|view| view.text().trim_end() == "@@", PATIENCE);
        assert!(cleared, "{case}: the prompt is whole and once:\n{}", self.pty.describe());
        let place = if self.tmux.is_some() { "tmux" } else { "pty" };
        eprintln!("holds | {} | {place} | {case}", self.shell);
    }

    /// How many levels of kitty's keyboard flags are pushed: `CSI > n u` is one more, `CSI < n u` takes some back,
    /// never more than there are.
    fn keyboard_levels(&self) -> u32 {
        self.pty.view(|view| {
            let raw = String::from_utf8_lossy(view.raw()).into_owned();
            raw.split("\x1b[").skip(1).fold(0_u32, |levels, sequence| {
                let Some((number, _)) = sequence.get(1..).and_then(|rest| rest.split_once('u')) else {
                    return levels;
                };
                if !number.chars().all(|digit| digit.is_ascii_digit() || digit == ';') {
                    return levels;
                }
                match sequence.as_bytes().first() {
                    Some(b'>') => levels + 1,
                    Some(b'<') => levels.saturating_sub(number.parse().unwrap_or(1)),
                    _ => levels,
                }
            })
        })
    }

    /// Kills the axi that is running here, once it has read what the terminal answered: the shell would read the rest.
    pub(crate) fn kills(&self) {
        let axi = self.axi();
        let terminal = std::fs::read_link(format!("/proc/{}/fd/0", axi.as_raw_pid())).unwrap();
        let terminal = std::fs::File::open(terminal).unwrap();
        read_up(&terminal);
        rustix::process::kill_process(axi, Signal::KILL).unwrap();
    }

    fn axi(&self) -> Pid {
        let work = self.home.work().canonicalize().unwrap();
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let found = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()).find(|id| {
            let told = |name: &str| std::fs::read(format!("/proc/{id}/{name}")).unwrap_or_default();
            std::fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd == work)
                && told("cmdline").ends_with(b"axi\0handoff\0")
        });
        Pid::from_raw(found.unwrap()).unwrap()
    }

    fn home_file(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.path().join(name)).unwrap()
    }

    /// The history without the witness, newlines as `\n`.
    fn entries(&self) -> Vec<String> {
        let text = self.home_file("entries");
        let mut entries: Vec<String> = Vec::new();
        for line in text.lines() {
            match self.shell {
                // `   12  command`, and further lines of it as they are.
                "bash" => match line.trim_start().split_once("  ") {
                    Some((number, entry)) if number.parse::<u32>().is_ok() => entries.push(entry.to_owned()),
                    _ => entries.last_mut().unwrap().extend(["\\n", line]),
                },
                _ => entries.push(line.to_owned()),
            }
        }
        entries.retain(|entry| entry != "probe");
        if self.shell == "fish" {
            // fish orders what was added in one second as it likes.
            entries.sort();
        }
        entries
    }
}

/// History as the shell lists it. fish keeps one of equal entries and shows further lines as lines.
fn expected(shell: &str, history: &[String]) -> Vec<String> {
    if shell != "fish" {
        return history.iter().map(|entry| entry.replace('\n', "\\n")).collect();
    }
    let kept = history.iter().enumerate().filter(|(index, entry)| !history[index + 1..].contains(entry));
    let mut entries: Vec<String> = kept.flat_map(|(_, entry)| entry.lines().map(str::to_owned)).collect();
    entries.sort();
    entries
}

fn before_cursor(view: &View<'_>) -> String {
    let screen = view.screen();
    let (row, column) = screen.cursor_position();
    screen.rows(0, column).nth(usize::from(row)).unwrap_or_default()
}

impl Drop for AtPrompt {
    fn drop(&mut self) {
        if let Some(socket) = &self.tmux {
            stop(socket);
        }
    }
}

fn stop(socket: &Path) {
    // The server of this test alone; gone already is fine.
    let _ = Command::new("tmux").arg("-S").arg(socket).arg("kill-server").output();
}
