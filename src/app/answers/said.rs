//! What servers that were asked for their models said of them. It corrects what is known from elsewhere, in this run and
//! in later ones. Only somebody who looks at a list has a server asked; a start asks none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::facts::{Facts, Listed, Server};
use crate::file::{self, Outlives};
use crate::provider::ProviderSettings;

/// How many bytes of lists are kept; those of servers that were not asked for long leave first.
const MOST: usize = 256 * 1024;

/// How many days a server is believed without being asked again.
const DAYS: u64 = 30;

/// What was said of listed models. Clones are the same: lists are made on other threads.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Said {
    in_this_run: Arc<Mutex<BTreeMap<(Server, String), Facts>>>,
    /// A row for each model: server, model, day, window, tools, vision.
    file: Option<PathBuf>,
}

impl Said {
    /// Keeps it in this folder of things that can be found out again.
    pub(in crate::app) fn kept_in(cache: Option<&Path>) -> Self {
        Self { file: cache.map(|cache| cache.join("listed.tsv")), ..Self::default() }
    }

    /// Keeps what these say.
    pub(in crate::app) fn keep(&self, listed: &[Listed], now: SystemTime) {
        let said =
            listed.iter().filter_map(|listed| Some(((listed.server?, model(&listed.id).to_owned()), listed.said)));
        let said: BTreeMap<_, _> = said.filter(|(_, facts)| *facts != Facts::default()).collect();
        if said.is_empty() {
            return;
        }
        if let Some(file) = &self.file
            && let Err(error) = file::replace(file, &rows(&said, &read(file), day(now)), Outlives::Kill)
        {
            tracing::debug!(%error, "what servers list could not be kept");
        }
        self.in_this_run.lock().unwrap_or_else(PoisonError::into_inner).extend(said);
    }

    /// Returns what was said of a model.
    pub(in crate::app) fn of(&self, settings: &ProviderSettings, now: SystemTime) -> Facts {
        let key = (Server::of(settings), settings.model.clone());
        let said = self.in_this_run.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
        said.or_else(|| find(&read(self.file.as_deref()?), key.0, &key.1, day(now))).unwrap_or_default()
    }
}

fn model(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, model)| model)
}

/// Days since 1970.
fn day(now: SystemTime) -> u64 {
    now.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs() / (24 * 60 * 60)
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// How a row of a server begins.
fn beginning(server: Server) -> String {
    format!("{:016x}\t", server.0)
}

/// The new rows, and below them the old ones of other servers, as far as there is room.
fn rows(said: &BTreeMap<(Server, String), Facts>, old: &str, today: u64) -> Vec<u8> {
    let word = |known: Option<bool>| known.map_or("", |yes| if yes { "yes" } else { "no" });
    let row = |((server, model), facts): (&(Server, String), &Facts)| {
        let window = facts.window.map(|tokens| tokens.to_string()).unwrap_or_default();
        let (server, tools, vision) = (beginning(*server), word(facts.tools), word(facts.vision));
        format!("{server}{model}\t{today}\t{window}\t{tools}\t{vision}")
    };
    let is_row = |((_, model), _): &(&(Server, String), &Facts)| !model.contains(char::is_control);
    let asked: Vec<String> = said.keys().map(|(server, _)| beginning(*server)).collect();
    let others = old.lines().filter(|line| !asked.iter().any(|asked| line.starts_with(asked)));
    let mut kept = String::new();
    for row in said.iter().filter(is_row).map(row).chain(others.map(str::to_owned)) {
        if kept.len() + row.len() >= MOST {
            break;
        }
        kept.push_str(&row);
        kept.push('\n');
    }
    kept.into_bytes()
}

/// What the file says of a model; nothing that is too old.
fn find(rows: &str, server: Server, model: &str, today: u64) -> Option<Facts> {
    let begins = format!("{}{model}\t", beginning(server));
    let mut fields = rows.lines().find_map(|row| row.strip_prefix(&begins))?.split('\t');
    let day: u64 = fields.next()?.parse().ok()?;
    // A day that is still to come is that of a clock that was wrong.
    if today.checked_sub(day)? > DAYS {
        return None;
    }
    let known = |word: &str| match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    let window = fields.next()?.parse().ok().filter(|tokens| *tokens > 0);
    Some(Facts { window, tools: known(fields.next()?), vision: known(fields.next()?) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::provider::{ModelEntry, Protocol};

    const DAY: Duration = Duration::from_hours(24);

    fn settings(url: &str, model: &str) -> ProviderSettings {
        ProviderSettings::custom("lab", Protocol::OpenAiChat, url, model)
    }

    fn listed(url: &str, models: &[(&str, Option<u64>)]) -> Vec<Listed> {
        let listed = models.iter().map(|(name, context_window)| {
            let (context_window, tools, vision) = (*context_window, context_window.map(|_| true), None);
            let entry = ModelEntry { name: (*name).to_owned(), context_window, tools, vision, size: None };
            Listed::of_server(&settings(url, "any"), &entry, &Config::default())
        });
        listed.collect()
    }

    #[test]
    fn what_a_server_said_is_known_in_the_next_run_of_that_address_alone_and_not_for_ever() {
        let home = tempfile::tempdir().unwrap();
        let now = UNIX_EPOCH + 20_000 * DAY;
        let run = || Said::kept_in(Some(home.path()));
        let window = |url: &str, model: &str, now| run().of(&settings(url, model), now).window;
        run().keep(&listed("http://a", &[("x/y", Some(64_000)), ("bare", None), ("odd\nname", Some(1))]), now);
        run().keep(&listed("http://b", &[("x/y", Some(8_000))]), now + DAY);
        let expected = Facts { window: Some(64_000), tools: Some(true), vision: None };
        assert_eq!(run().of(&settings("http://a", "x/y"), now), expected);
        assert_eq!([window("http://b", "x/y", now + DAY), window("http://c", "x/y", now)], [Some(8_000), None]);
        assert_eq!([window("http://a", "bare", now), window("http://a", "x", now)], [None, None]);
        assert_eq!(
            [window("http://a", "x/y", now + 30 * DAY), window("http://a", "x/y", now + 31 * DAY)],
            [Some(64_000), None]
        );
        assert_eq!(window("http://a", "x/y", now - DAY), None, "of a clock that was ahead");
        // Asked again, the whole list of the server is new.
        run().keep(&listed("http://a", &[("z", Some(1_000))]), now + DAY);
        assert_eq!([window("http://a", "x/y", now + DAY), window("http://a", "z", now + DAY)], [None, Some(1_000)]);
        assert_eq!(std::fs::read_to_string(home.path().join("listed.tsv")).unwrap().lines().count(), 2);
    }

    #[test]
    fn what_is_kept_has_a_size_and_what_is_no_list_says_nothing() {
        let home = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..20_000).map(|number| format!("model-{number}")).collect();
        let models: Vec<(&str, Option<u64>)> = names.iter().map(|name| (name.as_str(), Some(1_000))).collect();
        let said = Said::kept_in(Some(home.path()));
        said.keep(&listed("http://a", &models), UNIX_EPOCH);
        let file = home.path().join("listed.tsv");
        assert!(file.metadata().unwrap().len() <= MOST as u64);
        let server = beginning(Server::of(&settings("http://a", "m")));
        for odd in
            ["", "\0", "m\t", &format!("{server}m"), &format!("{server}m\t0"), &format!("{server}m\tx\t1\tyes\tno")]
        {
            std::fs::write(&file, odd).unwrap();
            assert_eq!(
                Said::kept_in(Some(home.path())).of(&settings("http://a", "m"), UNIX_EPOCH),
                Facts::default(),
                "{odd:?}"
            );
        }
    }
}
