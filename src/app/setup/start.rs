//! Starting a model server that is installed on this machine and does not answer.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::super::console::Console;
use super::scene::Scene;
use crate::frontend::dialog::NoChoice;
use crate::locale::word;
use crate::platform::os::process::CommandExt as _;
use crate::provider::{self, Environment, FoundServer, ProviderSettings, Row, is_loopback};

/// How long a server may take to answer, and how often it is asked.
const PATIENCE: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(200);

/// Lists the servers of this machine that are installed, and are none of those that were found.
pub(super) fn sleeping(found: &[FoundServer], environment: &Environment<'_>) -> Vec<&'static Row> {
    let path = environment("PATH").unwrap_or_default();
    let sleeps = |row: &&'static Row| {
        let is_found = found.iter().any(|server| server.row == *row);
        !is_found && is_loopback(&row.base_url(environment)) && program(row, &path).is_some()
    };
    provider::TABLE.iter().filter(sleeps).collect()
}

/// The program that starts it.
fn program(row: &Row, path: &str) -> Option<PathBuf> {
    let name = row.start.first()?;
    let is_program = |file: &Path| {
        crate::platform::fs::access(file, crate::platform::fs::Access::EXEC_OK).is_ok() && file.is_file()
    };
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_absolute() && is_program(file))
}

/// Starts it and waits until it answers; tells whether it does. What was started goes on running after axi.
///
/// # Errors
/// The person does not wait.
pub(super) fn start(scene: &Scene<'_>, row: &Row) -> Result<bool, NoChoice> {
    let Scene { app, client, locale, .. } = scene;
    let console = Console::new(locale);
    let shown = row.start.join(" ");
    let path = (app.process.variables)("PATH").unwrap_or_default();
    let Some(program) = program(row, &path) else { return Ok(false) };
    let mut command = Command::new(program);
    command.args(&row.start[1..]).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(cause) => {
            console.warn(&locale.with(word::setup::NotStarted { command: &shown, cause: &cause.to_string() }));
            return Ok(false);
        }
    };
    let process = &child.id().to_string();
    console.note(&locale.with(word::setup::Starting { command: &shown, process }));
    let url = row.base_url(&app.process.variables);
    let settings = ProviderSettings::custom(row.name, row.protocol, &url, "");
    let answers = scene.wait(async {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let list = provider::list_models(&settings, client);
            if matches!(tokio::time::timeout_at(deadline, list).await, Ok(Ok(_))) {
                return Ok(());
            }
            // A command that starts a server elsewhere ends well, and at once.
            if let Ok(Some(ended)) = child.try_wait().map(|ended| ended.filter(|ended| !ended.success())) {
                return Err(ended.to_string());
            }
            if tokio::time::Instant::now() >= deadline {
                return Err(locale.with(word::setup::Silent { url: &url }));
            }
            tokio::time::sleep(STEP).await;
        }
    })?;
    if let Err(cause) = &answers {
        console.warn(&locale.with(word::setup::NotStarted { command: &shown, cause }));
    }
    Ok(answers.is_ok())
}

#[cfg(test)]
mod tests {
    use crate::platform::os::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_server_is_offered_where_its_program_is_and_nothing_answers() {
        let folder = tempfile::tempdir().unwrap();
        let named = |found: &[FoundServer], host: Option<&str>| {
            let path = format!("relative:{}", folder.path().display());
            let environment = |name: &str| match name {
                "PATH" => Some(path.clone()),
                "OLLAMA_HOST" => host.map(str::to_owned),
                _ => None,
            };
            sleeping(found, &environment).into_iter().map(|row| row.name).collect::<Vec<_>>()
        };
        let program = folder.path().join("ollama");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        assert_eq!(named(&[], None), [] as [&str; 0], "it cannot be run");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(named(&[], None), ["ollama"]);
        assert_eq!(named(&[], Some("far.example:11434")), [] as [&str; 0], "it is elsewhere");
        let row = provider::find("ollama").unwrap();
        let found = FoundServer { row, base_url: row.base_url.to_owned(), models: Vec::new() };
        assert_eq!(named(&[found], None), [] as [&str; 0], "it runs");
    }
}
