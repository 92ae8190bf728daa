//! The shells' hooks beside what people load with them, before the hook and after it: an answer, a command back, ESC.
//!
//! Plugins are looked for under `AXI_TEST_PLUGINS` and where distributions put them; one that is not here is said and
//! skipped. Programs that a plugin only asks for its prompt or its history are stood in for by scripts.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::pty::is_installed;
use crate::support::server::{Gate, Server, answer};
use crate::support::shells::{ROWS, Row};
use crate::support::skip::skip;

/// What people load.
struct Plugin {
    name: &'static str,
    shell: &'static str,
    /// The file it is known by, in a folder of plugins; empty when it is only a program.
    file: &'static str,
    /// The program it needs; empty when none.
    program: &'static str,
    /// How it is loaded; `{}` is the folder.
    load: &'static str,
}

const fn plugin(
    shell: &'static str,
    name: &'static str,
    file: &'static str,
    program: &'static str,
    load: &'static str,
) -> Plugin {
    Plugin { name, shell, file, program, load }
}

const PLUGINS: &[Plugin] = &[
    plugin("zsh", "zsh-autosuggestions", "zsh-autosuggestions/zsh-autosuggestions.zsh", "", "source {}"),
    plugin(
        "zsh",
        "zsh-syntax-highlighting",
        "zsh-syntax-highlighting/zsh-syntax-highlighting.zsh",
        "",
        "source {}",
    ),
    plugin(
        "zsh",
        "zsh-vi-mode",
        "zsh-vi-mode/zsh-vi-mode.plugin.zsh",
        "",
        "ZVM_CURSOR_STYLE_ENABLED=false; source {}",
    ),
    plugin(
        "zsh",
        "oh-my-zsh",
        "ohmyzsh/oh-my-zsh.sh",
        "",
        "zstyle ':omz:update' mode disabled; DISABLE_AUTO_TITLE=true ZSH_DISABLE_COMPFIX=true ZSH=${:-{}}; \
         ZSH=${ZSH:h}; plugins=(git); source $ZSH/oh-my-zsh.sh; PS1='@@ '",
    ),
    plugin(
        "zsh",
        "powerlevel10k",
        "powerlevel10k/powerlevel10k.zsh-theme",
        "",
        "POWERLEVEL9K_DISABLE_CONFIGURATION_WIZARD=true POWERLEVEL9K_DISABLE_GITSTATUS=true \
         POWERLEVEL9K_INSTANT_PROMPT=off POWERLEVEL9K_MODE=ascii; prompt_at() { p10k segment -t '@@'; }; \
         POWERLEVEL9K_LEFT_PROMPT_ELEMENTS=(at) POWERLEVEL9K_RIGHT_PROMPT_ELEMENTS=() \
         POWERLEVEL9K_BACKGROUND= POWERLEVEL9K_LEFT_LEFT_WHITESPACE= POWERLEVEL9K_LEFT_RIGHT_WHITESPACE= \
         POWERLEVEL9K_LEFT_SEGMENT_END_SEPARATOR=' ' POWERLEVEL9K_LEFT_PROMPT_LAST_SEGMENT_END_SYMBOL= \
         POWERLEVEL9K_LEFT_PROMPT_FIRST_SEGMENT_START_SYMBOL=; source {}",
    ),
    plugin("zsh", "fzf", "fzf/key-bindings.zsh", "", "source {}"),
    plugin("bash", "fzf", "fzf/key-bindings.bash", "", "source {}"),
    plugin("fish", "fzf", "fzf/key-bindings.fish", "", "source {}; fzf_key_bindings"),
    plugin("zsh", "direnv", "", "direnv", "eval \"$(direnv hook zsh)\""),
    plugin("bash", "direnv", "", "direnv", "eval \"$(direnv hook bash)\""),
    plugin("fish", "direnv", "", "direnv", "direnv hook fish | source"),
    plugin("zsh", "zoxide", "", "zoxide", "eval \"$(zoxide init zsh)\""),
    plugin("bash", "zoxide", "", "zoxide", "eval \"$(zoxide init bash)\""),
    plugin("fish", "zoxide", "", "zoxide", "zoxide init fish | source"),
    plugin("bash", "bash-preexec", "bash-preexec/bash-preexec.sh", "", "source {}"),
    plugin(
        "bash",
        "ble.sh",
        "ble.sh/ble.sh",
        "",
        "source {} --norc; bleopt prompt_eol_mark= complete_auto_complete=",
    ),
    plugin("zsh", "atuin", "atuin/atuin.zsh", "", "source {}"),
    plugin("bash", "atuin", "atuin/atuin.bash", "", "source ${A%/*}/../bash-preexec/bash-preexec.sh; source {}"),
    plugin("fish", "atuin", "atuin/atuin.fish", "", "source {}"),
    plugin("zsh", "starship", "starship/starship.zsh", "", "source <(sed 's,::STARSHIP::,starship,' {})"),
    plugin("bash", "starship", "starship/starship.bash", "", "source <(sed 's,::STARSHIP::,starship,' {})"),
    plugin("fish", "starship", "starship/starship.fish", "", "sed 's,::STARSHIP::,starship,' {} | source"),
];

/// Prompts and histories of programs that are not here.
/// What ends a command of the history lives long enough to be disowned: atuin in fish loses that race by itself.
const STAND_INS: &[(&str, &str)] = &[
    (
        "starship",
        "#!/bin/sh\ncase $* in *--right*) ;; prompt*) printf '@@ ' ;; time) echo 1 ;; session) echo x ;; esac\n",
    ),
    ("atuin", "#!/bin/sh\ncase $1 in uuid) echo 0190 ;; history) [ $2 != end ] || sleep 1; echo 0191 ;; esac\n"),
];

fn file_of(plugin: &Plugin) -> Option<PathBuf> {
    let own = std::env::var_os("AXI_TEST_PLUGINS").map(PathBuf::from);
    let folders =
        own.into_iter().chain(["/usr/share", "/usr/share/doc", "/usr/share/doc/fzf/examples"].map(PathBuf::from));
    let found = folders.map(|folder| folder.join(plugin.file)).find(|path| path.is_file());
    found.or_else(|| {
        let examples = Path::new("/usr/share/doc/fzf/examples").join(Path::new(plugin.file).file_name()?);
        (plugin.name == "fzf" && examples.is_file()).then_some(examples)
    })
}

/// The line that loads it; `None`, and says so, when it is not here.
fn load(plugin: &Plugin) -> Option<String> {
    let is_here = if plugin.program.is_empty() { true } else { is_installed(plugin.program) };
    let file = if plugin.file.is_empty() { Some(PathBuf::new()) } else { file_of(plugin) };
    match file {
        Some(file) if is_here => {
            let file = file.display().to_string();
            Some(format!(
                "{}\n",
                plugin.load.replace("${A%/*}", file.rsplit_once('/').map_or("", |it| it.0)).replace("{}", &file)
            ))
        }
        Some(_) | None => {
            skip(format_args!("{} is not here for {}", plugin.name, plugin.shell));
            None
        }
    }
}

fn plays_well(row: &Row, plugin: &Plugin, is_first: bool) {
    let Some(other) = load(plugin) else { return };
    let ours = row.load;
    let both = if is_first { format!("{other}{ours}") } else { format!("{ours}{other}") };
    let case = format!("{} {} the hook", plugin.name, if is_first { "before" } else { "after" });
    let server = Server::start([]);
    let prepare = |home: &Path| {
        // The shell's own PATH is short: a program that is here is there too.
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program =
            std::env::split_paths(&path).map(|folder| folder.join(plugin.program)).find(|it| it.is_file());
        if let Some(program) = program.filter(|_| !plugin.program.is_empty()) {
            std::os::unix::fs::symlink(program, home.join("bin").join(plugin.program)).unwrap();
        }
        for (name, script) in STAND_INS {
            let path = home.join("bin").join(name);
            std::fs::write(&path, script).unwrap();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    };
    let Some(mut person) = row.start_prepared(&server, &both, &prepare) else { return };
    let mut history = Vec::new();

    server.push(answer::chat_text("It is two."));
    person.hands_over("what is 1+1?");
    person.sees("It is two.");
    person.sees_line("");
    history.push("what is 1+1?".to_owned());
    person.settled(&case, 0, &history);

    let arguments = serde_json::json!({"command": "touch entered", "why": "because"}).to_string();
    server.push(answer::chat_call("call_1", "propose_command", &arguments));
    person.hands_over("make a file");
    person.sees_line("touch entered");
    assert!(!person.home.work().join("entered").exists(), "{case}: nobody pressed Enter");
    person.types("\r");
    person.sees_line("");
    assert!(person.home.work().join("entered").exists(), "{case}");
    history.extend(["make a file", "touch entered"].map(str::to_owned));
    person.settled(&case, 0, &history);

    let gate = Gate::new();
    server.push(answer::chat_text("alpha beta gamma").gate_before(3, &gate));
    person.hands_over("tell me a story");
    person.sees("alpha beta");
    person.types("\x1b");
    person.sees_line("tell me a story");
    person.types("\x15");
    person.sees_line("");
    gate.open();
    history.push("tell me a story".to_owned());
    person.settled(&case, 0, &history);

    // What failed is known, whoever else watches the prompt. Mending has its own tests.
    person.home.write("config/axi/config.toml", "[handoff]\nmend_model = \"off\"\n");
    server.push(answer::chat_text("It ended with three."));
    person.enters("sh -c 'exit 3'");
    person.sees_line("");
    person.types("\x07");
    person.sees("It ended with three.");
    person.sees_line("");
    assert!(server.requests().last().unwrap().text.contains("its exit code: 3"), "{case}");

    // The doctor knows who was here first.
    let row = if is_first { "plugins before it:" } else { "plugins after it:" };
    person.enters("axi doctor");
    person.waits(
        |view| view.text().lines().any(|line| line.contains(row) && line.contains(plugin.name)),
        &format!("{} behind {row}", plugin.name),
    );
}

fn all_of(row: &Row) {
    let only = std::env::var("AXI_TEST_PLUGIN").ok();
    for plugin in PLUGINS.iter().filter(|plugin| plugin.shell == row.shell) {
        if only.as_ref().is_some_and(|only| only != plugin.name) {
            continue;
        }
        for is_first in [true, false] {
            plays_well(row, plugin, is_first);
        }
    }
}

#[test]
fn zsh_with_what_people_load() {
    all_of(&ROWS[0]);
}

#[test]
fn bash_with_what_people_load() {
    all_of(&ROWS[1]);
}

#[test]
fn fish_with_what_people_load() {
    all_of(&ROWS[2]);
}
