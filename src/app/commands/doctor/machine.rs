//! The system, and the files axi keeps.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::super::super::context::App;
use super::super::super::hooks;
use super::super::super::models;
use super::super::super::settings::settings_problem;
use super::super::check::Check;
use crate::agent::timestamp;
use crate::command::Problem;
use crate::locale::{Locale, Word, word};
use crate::platform::os::fs::PermissionsExt as _;

/// Less free room than this, in bytes, soon loses sessions.
const ROOM: u64 = 200_000_000;

/// Seconds from 1970 to the year this was written in: a clock before that is wrong.
const BEGIN_OF_2026: u64 = 1_767_225_600;
/// Certificates that are valid today will hardly be in twenty years.
const TOO_LATE: u64 = BEGIN_OF_2026 + 20 * 365 * 24 * 60 * 60;

pub(super) fn system(app: &App, locale: &Locale) -> Vec<Check> {
    let name = |key| locale.text(key);
    let mut checks = vec![
        Check::good(name(word::doctor::VERSION), format!("{}{}", env!("CARGO_PKG_VERSION"), left_out(locale))),
        Check::good(name(word::doctor::MACHINE), machine()),
        clock(locale, SystemTime::now()),
        languages(app, locale),
    ];
    if let Some(bytes) = available() {
        let bytes = &models::megabytes(bytes);
        checks.push(Check::good(name(word::doctor::MEMORY), locale.with(word::doctor::Available { bytes })));
    }
    checks
}

#[cfg(feature = "local")]
fn available() -> Option<u64> {
    models::available()
}

#[cfg(not(feature = "local"))]
const fn available() -> Option<u64> {
    None
}

/// The parts this build does not have.
fn left_out(locale: &Locale) -> String {
    let parts = [("keychain", cfg!(feature = "keychain")), ("local", cfg!(feature = "local"))];
    let missing: Vec<&str> = parts.iter().filter(|(_, has)| !has).map(|(part, _)| *part).collect();
    if missing.is_empty() {
        return String::new();
    }
    format!(" ({})", locale.with(word::doctor::LeftOut { parts: &missing.join(", ") }))
}

/// The system, its kernel and its processor's kind.
fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let name = read("/etc/os-release").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
        Some(line.trim_matches('"').to_owned())
    });
    let kernel = read("/proc/sys/kernel/osrelease").map(|kernel| kernel.trim().to_owned());
    let known = [name, kernel].into_iter().flatten();
    let system = std::env::consts::OS.to_owned();
    let parts: Vec<String> = std::iter::once(system).chain(known).collect();
    format!("{} · {}", parts.join(" · "), std::env::consts::ARCH)
}

fn clock(locale: &Locale, now: SystemTime) -> Check {
    let name = locale.text(word::doctor::CLOCK);
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let found = timestamp(now);
    if (BEGIN_OF_2026..TOO_LATE).contains(&seconds) {
        Check::good(name, found)
    } else {
        Check::bad(name, found, locale.text(word::doctor::CLOCK_WRONG))
    }
}

/// The languages the environment names, whether the system has them, and which one axi speaks.
fn languages(app: &App, locale: &Locale) -> Check {
    let name = locale.text(word::doctor::LANGUAGE);
    let variables = ["LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG", "LANGUAGE"];
    let set: Vec<(&str, String)> =
        variables.into_iter().filter_map(|name| Some((name, app.process.variable(name)?))).collect();
    let told: Vec<String> = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let found = [&[locale.tag().to_owned()], told.as_slice()].concat().join(" · ");
    let listed = std::process::Command::new("locale").arg("-a").output().ok();
    let listed = listed.map(|listed| String::from_utf8_lossy(&listed.stdout).into_owned()).unwrap_or_default();
    // `LANGUAGE` names languages, not locales.
    let missing = set.iter().find(|(name, value)| *name != "LANGUAGE" && !is_installed(value, &listed));
    match missing {
        Some((variable, value)) => {
            Check::bad(name, found, locale.with(word::doctor::LocaleMissing { variable, value }))
        }
        None => Check::good(name, found),
    }
}

/// Tells whether a system has a locale, by what `locale -a` prints; where that prints nothing, nobody knows.
fn is_installed(wanted: &str, listed: &str) -> bool {
    // `en_US.UTF-8` is listed as `en_US.utf8`.
    let plain = |name: &str| name.to_lowercase().replace('-', "");
    let wanted = plain(wanted);
    listed.is_empty()
        || matches!(wanted.as_str(), "c" | "posix")
        || listed.lines().any(|known| plain(known) == wanted)
}

pub(super) fn files(app: &App, locale: &Locale) -> Vec<Check> {
    let settings = match &app.broken {
        Some(error) => {
            let Problem { what, hint } = settings_problem(locale, &app.paths, error);
            Check::bad(locale.text(word::doctor::CONFIG), what, hint)
        }
        None => file(app, locale, word::doctor::CONFIG, app.paths.settings()),
    };
    let mut checks = vec![
        settings,
        file(app, locale, word::doctor::SESSIONS, app.paths.sessions()),
        file(app, locale, word::doctor::CACHE, app.paths.cache.clone()),
    ];
    checks.extend(app.paths.state.as_deref().and_then(|state| disk(app, locale, state)));
    checks.extend(
        hooks::mistakes(app)
            .into_iter()
            .map(|wrong| Check::bad(locale.text(word::doctor::HOOKS), wrong.place(&app.paths), wrong.hint)),
    );
    checks.extend(open_to_others(app, locale));
    checks
}

/// A file or directory that axi writes, and whether it can.
fn file(app: &App, locale: &Locale, name: Word, path: Option<PathBuf>) -> Check {
    let name = locale.text(name);
    let Some(path) = path else {
        return Check::bad(name, locale.text(word::doctor::MISSING), locale.text(word::doctor::NO_HOME));
    };
    let shown = app.paths.shown(&path);
    let found =
        if path.exists() { shown } else { format!("{shown} ({})", locale.text(word::doctor::NOT_THERE_YET)) };
    let place = existing(&path);
    let is_blocked = place != path && !place.is_dir();
    let access = if is_blocked {
        Err(std::io::ErrorKind::NotADirectory.into())
    } else {
        crate::platform::fs::access(place, crate::platform::fs::Access::WRITE_OK).map_err(std::io::Error::from)
    };
    match access {
        Ok(()) => Check::good(name, found),
        Err(cause) => {
            let place = &app.paths.shown(place);
            let cause = &cause.to_string();
            Check::bad(name, found, locale.with(word::doctor::CannotWrite { place, cause }))
        }
    }
}

/// The path, or the nearest directory above it that is there.
pub(super) fn existing(path: &Path) -> &Path {
    path.ancestors().find(|place| place.exists()).unwrap_or(path)
}

fn disk(app: &App, locale: &Locale, state: &Path) -> Option<Check> {
    let name = locale.text(word::doctor::DISK);
    let place = existing(state);
    let room = crate::platform::fs::statvfs(place).ok()?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    let found = locale.with(word::doctor::Free { bytes: &models::megabytes(free), place: &app.paths.shown(place) });
    Some(if free < ROOM {
        Check::bad(name, found, locale.text(word::doctor::DISK_FULL))
    } else {
        Check::good(name, found)
    })
}

/// Files with secrets or sessions that others on this machine could read.
fn open_to_others(app: &App, locale: &Locale) -> Option<Check> {
    let private = [app.paths.state.clone(), models::key_file(&app.process.variables)];
    let is_open = |path: &PathBuf| path.metadata().is_ok_and(|file| file.permissions().mode() & 0o077 != 0);
    let open = private.into_iter().flatten().find(is_open)?;
    let shown = app.paths.shown(&open);
    let todo = locale.with(word::doctor::OpenHint { path: &shown });
    Some(Check::bad(locale.text(word::doctor::PERMISSIONS), locale.with(word::doctor::Open { path: &shown }), todo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_wrong_is_told_with_what_to_do() {
        let locale = Locale::new("en");
        let at = |seconds| clock(&locale, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(BEGIN_OF_2026 + 1).todo, None);
        assert!(at(0).todo.is_some() && at(TOO_LATE).todo.is_some());
    }

    #[test]
    fn a_locale_is_missing_only_where_the_system_lists_others() {
        let listed = "C\nC.utf8\nPOSIX\nen_US.utf8\n";
        for (name, there) in
            [("en_US.UTF-8", true), ("C.UTF-8", true), ("POSIX", true), ("xx_YY.UTF-8", false), ("de_DE", false)]
        {
            assert_eq!(is_installed(name, listed), there, "{name}");
        }
        assert!(is_installed("xx_YY.UTF-8", ""));
    }
}
