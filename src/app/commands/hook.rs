//! `axi init`, and what `axi doctor` says about the shell's hook.

use std::path::Path;

use super::super::console::Console;
use super::super::process::Variables;
use super::check::Check;
use crate::cli::InitOptions;
use crate::command::Problem;
use crate::file::{self, Outlives};
use crate::frontend::exit::Exit;
use crate::frontend::handoff::lineage;
use crate::locale::{Locale, word};
use crate::shell::{self, HookFacts, HookPlace, Key, KeyState, Settings};

/// Returns the texts that the hook of a shell shows, with the names it has for them. The hook fills in what only it
/// knows.
fn hook_words(locale: &Locale, shell: &str) -> [(&'static str, String); 8] {
    let (key, owner, keys) = ("{key}", "{owner}", "{keys}");
    [
        ("taken", locale.with(word::hook::Taken { key, owner, keys, shell })),
        ("zellij", locale.with(word::hook::Zellij { key, keys, shell })),
        ("readonly", locale.with(word::hook::Readonly { key, owner })),
        ("replaced", locale.text(word::hook::REPLACED).to_owned()),
        ("long", locale.text(word::hook::LONG).to_owned()),
        ("unkept", locale.text(word::hook::UNKEPT).to_owned()),
        ("history", locale.text(word::hook::HISTORY).to_owned()),
        ("lacks", locale.with(word::hook::Lacks { key, owner })),
    ]
}

/// Prints the hook of a shell, or what its keys run. `state` is the directory with the hook that start-up files
/// read; `comma` is whether the settings ask for the comma.
pub(in crate::app) fn init(
    locale: &Locale,
    variables: Variables,
    program: Option<&Path>,
    state: Option<&Path>,
    comma: bool,
    options: &InitOptions,
) -> Exit {
    let console = Console::new(locale);
    let key = options.key.as_deref().map(Key::parse).transpose();
    let (Some(shell), Ok(key)) = (shell::find(&options.shell), key) else {
        let argument = format!("--key: {}", options.key.as_deref().unwrap_or_default());
        let what = locale.with(word::usage::InvalidValue { argument: &argument });
        console.fail(&Problem { what, hint: locale.text(word::hook::KEY_HINT).to_owned() });
        return Exit::Usage;
    };
    let path = program.and_then(Path::to_str).filter(|_| !is_on_path(variables));
    let program = path.unwrap_or("axi");
    let words = hook_words(locale, shell.name);
    let file = state.map(|state| state.join(format!("hook.{}", shell.name)));
    if let Some(version) = &options.keys {
        // The first key pressed in each shell checks this, so the next shell already gets the hook of this axi.
        let old = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        if let (Some(file), Some(old)) = (&file, old)
            && let Some(new) = shell.renewed(&old, program, comma, &words).filter(|new| *new != old)
        {
            drop(file::replace(file, new.as_bytes(), Outlives::Kill));
        }
        if version != shell::HOOK_VERSION {
            let (what, hint) =
                (locale.text(word::hook::STALE).to_owned(), locale.text(word::hook::STALE_HINT).to_owned());
            console.fail(&Problem { what, hint });
            return Exit::Usage;
        }
        return console.print(&shell.keys(&words));
    }
    let settings = Settings { program, key, no_bind: options.no_bind, comma, words: &words };
    if let Some(file) = file.filter(|_| options.keep)
        // A shell may be reading it.
        && let Err(error) = file::replace(&file, shell.kept(&settings).as_bytes(), Outlives::Kill)
    {
        // This shell has its hook in any case.
        let (path, cause) = (&file.display().to_string(), &error.to_string());
        console.warn(&locale.with(word::error::Io { path, cause }));
    }
    console.print(&shell.hook(&settings))
}

fn is_on_path(variables: Variables) -> bool {
    let path = variables("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.is_absolute() && folder.join("axi").is_file())
}

/// Reports what the hook noted when the shell started, what stands between the shell and the terminal, and which
/// shells load the hook.
pub(in crate::app) fn doctor_rows(locale: &Locale, variables: Variables, home: Option<&Path>) -> Vec<Check> {
    let set = |name: &str| variables(name).filter(|value| !value.is_empty());
    let mut rows = shells(locale, &set, home);
    rows.extend(live(locale, &set));
    rows.extend(between(locale, &set));
    rows
}

/// The shells that are installed here, and whether their start-up files have the line.
fn shells(locale: &Locale, set: &dyn Fn(&str) -> Option<String>, home: Option<&Path>) -> Vec<Check> {
    let path = set("PATH").unwrap_or_default();
    let is_here = |shell: &&shell::Shell| {
        std::env::split_paths(&path).any(|folder| {
            [Some(shell.name), shell.program].into_iter().flatten().any(|name| folder.join(name).is_file())
        })
    };
    let row = |shell: &shell::Shell| {
        let shown = format!("~/{}", shell.start_up);
        let text =
            home.and_then(|home| std::fs::read_to_string(home.join(shell.start_up)).ok()).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let loads = lines.clone().any(|line| line.contains("axi init") || line.contains("axi/hook."));
        Check::good(
            shell.name,
            if loads {
                locale.with(word::doctor::HookInFile { path: &shown })
            } else {
                locale.with(word::doctor::HookNotInFile { path: &shown })
            },
        )
    };
    shell::SHELLS.iter().filter(is_here).map(row).collect()
}

/// What is known of the shell this runs in.
fn live(locale: &Locale, set: &dyn Fn(&str) -> Option<String>) -> Vec<Check> {
    let hook = locale.text(word::doctor::HOOK);
    let facts = set("AXI_HOOK").as_deref().and_then(HookFacts::parse);
    let elsewhere = match set("AXI_SESSION").map(|session| place(&session)) {
        Some(HookPlace::Elsewhere { shell, process }) => Some((shell, process)),
        // A shell's first prompt would have replaced these facts by its own.
        Some(HookPlace::Here { shell: name })
            if shell::find(&name)
                .is_some_and(|shell| facts.as_ref().is_none_or(|facts| facts.shell != shell.name)) =>
        {
            let (found, todo) =
                (locale.text(word::doctor::HOOK_UNSEEN), locale.text(word::doctor::HOOK_UNSEEN_HINT));
            return vec![Check::bad(hook, found, todo)];
        }
        Some(HookPlace::Here { .. } | HookPlace::Unknown) | None => None,
    };
    let line = |line: &str| locale.with(word::doctor::HookLine { line });
    if let (Some((name, process)), Some(facts)) = (&elsewhere, &facts) {
        let (outside, process) = (&format!("{} {}", facts.shell, facts.version), &process.to_string());
        let around = locale.with(word::doctor::HookAround { shell: name, process, hook: outside });
        return vec![match shell::find(name) {
            Some(shell) => Check::bad(hook, around, line(shell.install)),
            None => Check::good(hook, around),
        }];
    }
    let Some(facts) = facts else {
        let user = elsewhere.map(|(shell, _)| shell).or_else(|| set("SHELL")).unwrap_or_default();
        let name = Path::new(&user).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let install = shell::find(name).or_else(|| shell::find("zsh")).map_or("", |shell| shell.install);
        return vec![Check::bad(hook, locale.text(word::doctor::NO_HOOK), line(install))];
    };
    let mut rows = vec![
        Check::good(hook, format!("{} {}", facts.shell, facts.version)),
        key(locale, &facts, set("ZELLIJ").is_some()),
    ];
    for (name, plugins) in [(word::doctor::BEFORE, facts.before), (word::doctor::AFTER, facts.after)] {
        if !plugins.is_empty() {
            rows.push(Check::good(locale.text(name), plugins.join(", ")));
        }
    }
    rows
}

/// Lists what stands between the shell and the terminal.
fn between(locale: &Locale, set: &dyn Fn(&str) -> Option<String>) -> Vec<Check> {
    let version = || set("TERM_PROGRAM_VERSION").map(|version| format!(" {version}")).unwrap_or_default();
    let between = [("TMUX", "tmux"), ("STY", "screen"), ("ZELLIJ", "zellij")];
    let found = between.into_iter().filter(|(variable, _)| set(variable).is_some());
    let row = |(_, name)| {
        let version = if set("TERM_PROGRAM").as_deref() == Some(name) { version() } else { String::new() };
        Check::good(locale.text(word::doctor::MULTIPLEXER), format!("{name}{version}"))
    };
    found.map(row).collect()
}

/// Finds the shell whose hook has set `AXI_SESSION` to `session`: a shell inside of that one inherits its
/// variables.
fn place(session: &str) -> HookPlace {
    let listed = std::process::Command::new("ps").args(["-A", "-o", "pid=,ppid=,comm="]).output();
    let listed = listed.map(|listed| listed.stdout).unwrap_or_default();
    let listed = String::from_utf8_lossy(&listed);
    let above = lineage(&listed, std::process::id()).skip(1);
    let above: Vec<(u32, String)> = above.map(|(process, name)| (process, name.to_owned())).collect();
    let assigned = format!("AXI_SESSION={session}");
    shell::hook_place(session, &above, |process| {
        // Linux records the variables with which a process was started.
        let started = std::fs::read(format!("/proc/{process}/environ")).ok()?;
        Some(started.split(|byte| *byte == 0).any(|variable| variable == assigned.as_bytes()))
    })
}

fn key(locale: &Locale, facts: &HookFacts, zellij: bool) -> Check {
    let label = locale.text(word::doctor::KEY);
    let name = facts.key.as_deref().unwrap_or("-");
    let other = locale.text(word::doctor::KEY_OTHER);
    match &facts.state {
        KeyState::Bound if zellij && name == "ctrl-g" => {
            Check::bad(label, locale.with(word::doctor::KeyZellij { key: name }), other)
        }
        KeyState::Bound => Check::good(label, name),
        KeyState::Taken(owner) => {
            Check::bad(label, locale.with(word::doctor::KeyTaken { key: name, owner }), other)
        }
        KeyState::Locked(variable) => {
            let found = locale.with(word::doctor::KeyReadonly { variable });
            Check::bad(label, found, locale.text(word::doctor::KEY_READONLY_HINT))
        }
        KeyState::Lacking(library) => {
            let found = locale.with(word::doctor::KeyLacks { library });
            Check::bad(label, found, locale.with(word::doctor::KeyLacksHint { library }))
        }
        KeyState::Unbound => Check::good(label, locale.text(word::doctor::KEY_NONE)),
    }
}
