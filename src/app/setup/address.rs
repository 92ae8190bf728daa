//! A server at an address of the person's own: where it is, which protocol it speaks, what it is called in settings.

use reqwest::Url;

use super::super::console::Console;
use super::scene::{Plan, Scene};
use crate::config::Config;
use crate::frontend::dialog::NoChoice;
use crate::locale::word;
use crate::provider::{Protocol, base_url, find};

/// Asks for both; `Ok(None)` leads back to the offers.
///
/// # Errors
/// How the person would not choose.
pub(super) fn ask_address(scene: &Scene<'_>) -> Result<Option<Plan>, NoChoice> {
    let Scene { app, asker, locale, .. } = scene;
    let console = Console::new(locale);
    console.note(locale.text(word::setup::ADDRESS_FORM));
    let Some(typed) = asker.feedback(locale.text(word::setup::ADDRESS)).filter(|text| !text.trim().is_empty())
    else {
        return Ok(None);
    };
    let items = Protocol::ALL.map(|protocol| match protocol {
        Protocol::OpenAiChat => locale.with(word::setup::UsualProtocol { protocol: protocol.name() }),
        _ => protocol.name().to_owned(),
    });
    let picked = asker.pick_one(locale.text(word::setup::PROTOCOL), &items)?;
    let plan = plan(&typed, Protocol::ALL[picked], &app.config());
    if plan.is_none() {
        console.warn(&locale.with(word::setup::NoAddress { address: typed.trim() }));
    }
    Ok(plan)
}

/// What is written for it; `None` where the text is no address of a server.
fn plan(typed: &str, protocol: Protocol, config: &Config) -> Option<Plan> {
    // Of an address without a host a path would be taken for one.
    let host = typed.trim().split_once("://").map_or(typed.trim(), |(_, host)| host);
    host.starts_with(|letter: char| letter.is_alphanumeric() || letter == '[').then_some(())?;
    let address = base_url(protocol, typed);
    let url = Url::parse(&address).ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    let provider = name(&url, &address, config)?;
    let section = vec![("protocol", protocol.name().to_owned()), ("base_url", address)];
    Some(Plan { provider, section, model: None })
}

/// A name for the server, made of its host: the first part that says something (`models.lab.example` is `models`),
/// numbers and all where it has no name. Another provider's name gets a number behind it.
fn name(url: &Url, address: &str, config: &Config) -> Option<String> {
    let host = url.host_str()?.trim_matches(['[', ']']);
    let is_number = host.parse::<std::net::IpAddr>().is_ok();
    let mut parts = host.split('.').filter(|part| !["www", "api"].contains(part));
    let plain = if is_number { host } else { parts.next()? };
    let letters = plain.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    let plain = letters.collect::<String>().to_ascii_lowercase().trim_matches('-').to_owned();
    let is_free = |name: &str| {
        let taken = config.providers.get(name).and_then(|section| section.base_url.as_deref());
        find(name).is_none() && taken.is_none_or(|taken| taken == address)
    };
    if plain.is_empty() {
        return None;
    }
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    std::iter::once(plain.clone()).chain(numbered).find(|name| is_free(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Provider;

    fn named(typed: &str, protocol: Protocol, config: &Config) -> Option<(String, String)> {
        let plan = plan(typed, protocol, config)?;
        Some((plan.provider, plan.section[1].1.clone()))
    }

    #[test]
    fn a_server_is_called_by_its_host_and_never_as_another_provider() {
        let mut config = Config::default();
        let cases = [
            ("http://192.168.1.5:8080", Protocol::OpenAiChat, "192-168-1-5", "http://192.168.1.5:8080/v1"),
            ("https://models.lab.example/v1/", Protocol::OpenAiChat, "models", "https://models.lab.example/v1"),
            ("https://api.lab.example", Protocol::Anthropic, "lab", "https://api.lab.example"),
            ("localhost:8080", Protocol::OpenAiResponses, "localhost", "http://localhost:8080/v1"),
            ("http://[::1]:9", Protocol::Ollama, "1", "http://[::1]:9"),
            ("https://openai.lab.example", Protocol::OpenAiChat, "openai-2", "https://openai.lab.example/v1"),
            ("https://LAB_A.example", Protocol::OpenAiChat, "lab-a", "https://LAB_A.example/v1"),
        ];
        for (typed, protocol, name, url) in cases {
            assert_eq!(named(typed, protocol, &config), Some((name.to_owned(), url.to_owned())), "{typed}");
        }
        let elsewhere = Provider { base_url: Some("http://elsewhere".to_owned()), ..Provider::default() };
        config.providers.insert("models".to_owned(), elsewhere);
        let again = named("https://models.lab.example", Protocol::OpenAiChat, &config);
        assert_eq!(again.unwrap().0, "models-2");
        for none in ["", "http://", "ftp://lab.example", "not an address"] {
            assert_eq!(named(none, Protocol::OpenAiChat, &config), None, "{none:?}");
        }
    }
}
