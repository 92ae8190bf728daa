//! What providers are reached by, as the settings have it.

use std::path::PathBuf;
use std::time::Duration;

use crate::config::Config;
use crate::provider::{Client, Environment, Patience};

/// Makes a client with the person's patience, which trusts the person's certificates.
pub(in crate::app) fn client(config: &Config, environment: &Environment<'_>) -> Client {
    let patience = Patience { idle: Duration::from_secs(config.idle_timeout), ..Patience::default() };
    Client::trusting(patience, trusted(config, environment))
}

/// Names the file of certificates that are trusted beside those of the system. `~` stands for the home.
pub(in crate::app) fn trusted(config: &Config, environment: &Environment<'_>) -> Option<PathBuf> {
    config.ca_file.as_deref().map(|path| match (path.strip_prefix("~/"), environment("HOME")) {
        (Some(below), Some(home)) => PathBuf::from(home).join(below),
        (Some(_) | None, _) => PathBuf::from(path),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_elsewhere_is_waited_for_as_long_as_the_settings_say_and_one_here_much_longer() {
        let config = Config { idle_timeout: 7, ..Config::default() };
        for (config, seconds) in [(config, 7), (Config::default(), 60)] {
            let client = client(&config, &|_: &str| None);
            assert_eq!(client.idle("https://far.example/v1"), Duration::from_secs(seconds));
            assert_eq!(client.idle("http://127.0.0.1:11434"), Duration::from_mins(30));
        }
    }
}
