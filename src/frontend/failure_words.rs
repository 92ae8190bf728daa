//! What went wrong at the provider's, and the one thing to do about it now. Pure.

use super::diagnostic::Diagnostic;
use crate::agent::Failure;
use crate::locale::{Locale, Word, word};
use crate::provider::{self, KeyPlace, ModelError, cause};

/// How a person says something to axi where a failure is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Speaking {
    /// With flags and a message, and axi ends: slash commands would be no help.
    #[default]
    ByFlags,
    /// At axi's prompt.
    AtPrompt,
}

impl Speaking {
    /// How another model is chosen.
    fn other_model(self, locale: &Locale) -> &str {
        locale.text(match self {
            Self::ByFlags => word::failure::OTHER_BY_FLAG,
            Self::AtPrompt => word::failure::OTHER_AT_PROMPT,
        })
    }
}

/// Says that a request failed and is sent again: which repetition of how many, in how many milliseconds. A wait of less
/// than a second is told in tenths, a longer one in seconds, rounded up.
#[must_use]
pub fn retrying(
    locale: &Locale,
    error: &Failure,
    speaking: Speaking,
    (attempt, of): (u32, u32),
    wait_ms: u64,
) -> String {
    locale.with(word::activity::Retrying {
        what: &failure(locale, error, speaking).what,
        attempt: &attempt.to_string(),
        of: &of.to_string(),
        seconds: &match wait_ms.div_ceil(100) {
            10.. => wait_ms.div_ceil(1000).to_string(),
            tenths => format!("0.{}", tenths.max(1)),
        },
    })
}

/// Words a provider's failure.
#[must_use]
pub fn failure(locale: &Locale, failure: &Failure, speaking: Speaking) -> Diagnostic {
    use word::failure::{
        Broken, ContextOverflow, NoCopy, NoSuchModel, NoSuchModelHint, OwnModel, Protocol, Status, Timeout,
        TimeoutHint, Unauthorized, Unreachable,
    };
    let told = |what: String, hint| Diagnostic { what, hint: locale.text(hint).to_owned() };
    let other = speaking.other_model(locale);
    match failure {
        Failure::Unreachable { url, cause } => {
            let (words, hint) = network(locale, cause);
            told(locale.with(Unreachable { url, cause: words }), hint)
        }
        Failure::Broken { url, cause } => {
            let (words, _) = network(locale, cause);
            told(locale.with(Broken { url, cause: words }), word::failure::BROKEN_HINT)
        }
        Failure::Timeout { url, seconds } => Diagnostic {
            what: locale.with(Timeout { url, seconds: &seconds.to_string() }),
            hint: locale.with(TimeoutHint { other }),
        },
        // The key may be right: it is the place that is refused.
        Failure::Unauthorized { provider, status, message, place: _ } if says(message, REGION) => Diagnostic {
            what: locale.with(Status { provider, status: &status.to_string(), message }),
            hint: locale.with(word::failure::RegionHint { provider, other }),
        },
        Failure::Unauthorized { provider, status, message, place } => Diagnostic {
            what: locale.with(Unauthorized { provider, status: &status.to_string(), message }),
            hint: other_key(locale, provider, place.as_ref(), speaking),
        },
        Failure::NoSuchModel { provider: _, model, message: _, own: Some(error) } => {
            let message = &model_error(locale, error);
            told(locale.with(OwnModel { model, message }), word::failure::OWN_MODEL_HINT)
        }
        Failure::NoSuchModel { provider, model, message, own: None } => Diagnostic {
            what: locale.with(NoSuchModel { provider, model, message }),
            hint: locale.with(NoSuchModelHint { provider }),
        },
        Failure::ContextOverflow { message } => Diagnostic {
            what: locale.with(ContextOverflow { message }),
            hint: match speaking {
                Speaking::AtPrompt => locale.text(word::failure::CONTEXT_OVERFLOW_HINT).to_owned(),
                Speaking::ByFlags => locale.with(word::failure::ContextOverflowFlagHint { other }),
            },
        },
        Failure::Status { provider, status, message, retry_after_seconds } => Diagnostic {
            what: locale.with(Status { provider, status: &status.to_string(), message }),
            hint: status_hint(locale, (provider, *status, message), *retry_after_seconds, other),
        },
        Failure::Protocol { provider, cause } => {
            told(locale.with(Protocol { provider, cause }), word::failure::PROTOCOL_HINT)
        }
        Failure::Empty => {
            let hint = locale.with(word::failure::EmptyHint { other });
            Diagnostic { what: locale.text(word::failure::EMPTY).to_owned(), hint }
        }
        Failure::NoCopy { cause } => told(locale.with(NoCopy { cause }), word::failure::NO_COPY_HINT),
    }
}

/// Says why axi's own engine cannot use a model's file.
fn model_error(locale: &Locale, error: &ModelError) -> String {
    use word::failure::own::{Missing, Unfit, Unread, Unsupported};
    match error {
        ModelError::Io(cause) => locale.with(Unread { cause }),
        ModelError::NoModel => locale.text(word::failure::own::NO_MODEL).to_owned(),
        ModelError::Short => locale.text(word::failure::own::SHORT).to_owned(),
        ModelError::Unfit(name) => locale.with(Unfit { name }),
        ModelError::Missing(name) => locale.with(Missing { name }),
        ModelError::Changed => locale.text(word::failure::own::CHANGED).to_owned(),
        ModelError::Unsupported { name, value } => locale.with(Unsupported { name, value }),
    }
}

/// Words in which servers say that they do not serve a country, in lower case: OpenAI, Gemini, Anthropic.
const REGION: &[&str] = &["country, region", "location is not supported", "unsupported_country", "region is not"];

/// Words in which servers say that no money is left, in lower case: OpenAI, Anthropic, DeepSeek, OpenRouter, Z.ai.
const MONEY: &[&str] = &[
    "current quota",
    "billing",
    "credit balance",
    "insufficient balance",
    "insufficient credits",
    "requires more credits",
    "recharge",
];

fn says(message: &str, table: &[&str]) -> bool {
    let message = message.to_lowercase();
    table.iter().any(|words| message.contains(words))
}

/// Says how another key is given: where the refused one came from.
fn other_key(locale: &Locale, provider: &str, place: Option<&KeyPlace>, speaking: Speaking) -> String {
    use word::failure::{
        UnauthorizedCommandHint, UnauthorizedFileHint, UnauthorizedGivenHint, UnauthorizedHint,
        UnauthorizedKeychainHint, UnauthorizedNoneHint, UnauthorizedVariableHint,
    };
    let login = &match speaking {
        Speaking::ByFlags => format!("axi login {provider}"),
        Speaking::AtPrompt => format!("/login {provider}"),
    };
    match place {
        Some(KeyPlace::Variable(variable)) => locale.with(UnauthorizedVariableHint { variable, login }),
        Some(KeyPlace::Command) => locale.with(UnauthorizedCommandHint { provider }),
        Some(KeyPlace::Keychain) => locale.with(UnauthorizedKeychainHint { login }),
        Some(KeyPlace::File) => locale.with(UnauthorizedFileHint { provider }),
        Some(KeyPlace::Given) => locale.with(UnauthorizedGivenHint { login }),
        None => match provider::find(provider).and_then(|row| row.key_variables.first()) {
            Some(variable) => locale.with(UnauthorizedNoneHint { variable, login }),
            None => locale.with(UnauthorizedHint { login }),
        },
    }
}

fn status_hint(
    locale: &Locale,
    (provider, status, message): (&str, u16, &str),
    retry_after_seconds: Option<u64>,
    other: &str,
) -> String {
    use word::failure::{BillingHint, RefusedHint, RegionHint, StatusHint, ThrottledHint, ThrottledWaitHint};
    if says(message, REGION) {
        return locale.with(RegionHint { provider, other });
    }
    if status == 402 || says(message, MONEY) {
        return locale.with(BillingHint { provider, other });
    }
    match (status, retry_after_seconds) {
        (300..=399 | 404 | 405 | 501, _) => locale.text(word::failure::ADDRESS_HINT).to_owned(),
        (407, _) => locale.text(word::failure::PROXY_SIGN_IN_HINT).to_owned(),
        (413, _) => locale.text(word::failure::SIZE_HINT).to_owned(),
        (400..=428, _) => locale.with(RefusedHint { other }),
        (_, Some(seconds)) if seconds > 0 => {
            locale.with(ThrottledWaitHint { seconds: &seconds.to_string(), other })
        }
        (429, _) => locale.with(ThrottledHint { other }),
        _ => locale.with(StatusHint { other }),
    }
}

/// Words why the network failed, and what to do; causes nobody has words for stay in the system's own.
fn network<'a>(locale: &'a Locale, cause: &'a str) -> (&'a str, Word) {
    use word::failure as hint;
    let (words, hint) = match cause {
        cause::REFUSED => (word::cause::REFUSED, hint::REFUSED_CONNECTION_HINT),
        cause::NO_NAME => (word::cause::NO_NAME, hint::NO_NAME_HINT),
        cause::UNTRUSTED => (word::cause::UNTRUSTED, hint::UNTRUSTED_HINT),
        cause::CERTIFICATE_DATE => (word::cause::CERTIFICATE_DATE, hint::CERTIFICATE_DATE_HINT),
        cause::CERTIFICATE_EARLY => (word::cause::CERTIFICATE_EARLY, hint::CERTIFICATE_DATE_HINT),
        cause::CLOCK_BEHIND => (word::cause::CLOCK_BEHIND, hint::CLOCK_HINT),
        cause::CLOCK_AHEAD => (word::cause::CLOCK_AHEAD, hint::CLOCK_HINT),
        cause::PORTAL => (word::cause::PORTAL, hint::PORTAL_HINT),
        cause::SLEPT => (word::cause::SLEPT, hint::BROKEN_HINT),
        cause::CERTIFICATE_NAME => (word::cause::CERTIFICATE_NAME, hint::CERTIFICATE_NAME_HINT),
        cause::TLS => (word::cause::TLS, hint::TLS_HINT),
        cause::CONNECT_TIMEOUT => (word::cause::CONNECT_TIMEOUT, hint::UNREACHABLE_HINT),
        cause::NO_ROUTE => (word::cause::NO_ROUTE, hint::UNREACHABLE_HINT),
        cause::PROXY => (word::cause::PROXY, hint::PROXY_HINT),
        cause::BAD_PROXY => (word::cause::BAD_PROXY, hint::BAD_PROXY_HINT),
        cause::CERTIFICATE_FILE => (word::cause::CERTIFICATE_FILE, hint::CERTIFICATE_FILE_HINT),
        cause::CLOSED => (word::cause::CLOSED, hint::UNREACHABLE_HINT),
        cause::BAD_HEADER => (word::cause::BAD_HEADER, hint::BAD_HEADER_HINT),
        cause::BAD_URL => (word::cause::BAD_URL, hint::BAD_URL_HINT),
        unknown => return (unknown, hint::UNREACHABLE_HINT),
    };
    (locale.text(words), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16, message: &str, retry_after_seconds: Option<u64>) -> Failure {
        Failure::Status { provider: "openai".into(), status, message: message.into(), retry_after_seconds }
    }

    fn unauthorized(provider: &str, message: &str) -> Failure {
        Failure::Unauthorized { provider: provider.into(), status: 403, message: message.into(), place: None }
    }

    #[test]
    fn a_refused_key_is_changed_where_it_came_from_in_the_words_of_where_the_person_is() {
        let locale = Locale::new("en");
        let hint = |place, speaking| {
            let (provider, message) = ("openai".into(), "bad key".into());
            failure(&locale, &Failure::Unauthorized { provider, status: 401, message, place }, speaking).hint
        };
        for (place, flags, prompt) in [
            (Some(KeyPlace::Variable("LAB_KEY".into())), "comes from LAB_KEY", "comes from LAB_KEY"),
            (Some(KeyPlace::Command), "api_key_cmd of [providers.openai]", "api_key_cmd of [providers.openai]"),
            (Some(KeyPlace::Keychain), "keychain; keep another there: axi login openai", ": /login openai"),
            (Some(KeyPlace::File), "axi login openai --file", "axi login openai --file"),
            (Some(KeyPlace::Given), "this run; keep another: axi login openai", ": /login openai"),
            (None, "set OPENAI_API_KEY in the environment, or keep one: axi login openai", ": /login openai"),
        ] {
            let (by_flags, at_prompt) = (hint(place.clone(), Speaking::ByFlags), hint(place, Speaking::AtPrompt));
            assert!(by_flags.contains(flags), "{by_flags}");
            assert!(at_prompt.contains(prompt), "{at_prompt}");
        }
    }

    fn unreachable(cause: &str) -> Failure {
        Failure::Unreachable { url: "https://x".into(), cause: cause.into() }
    }

    fn all() -> Vec<(Failure, &'static str)> {
        vec![
            (status(402, "", None), "no credit"),
            (status(429, "You exceeded your current quota", Some(1)), "no credit"),
            (status(400, "Your credit balance is too low", None), "no credit"),
            (status(404, "no such page", None), "base_url"),
            (status(405, "", None), "base_url"),
            (status(407, "", None), "NAME:PASSWORD@"),
            (status(413, "", None), "smaller files"),
            (status(422, "extra field", None), "does not accept this request"),
            (status(429, "slow down", None), "wait a while"),
            (status(429, "slow down", Some(40)), "wait 40 s"),
            (status(529, "overloaded", None), "later"),
            (status(400, "User location is not supported for the API use.", None), "does not serve your region"),
            (unauthorized("openai", "Country, region, or territory not supported"), "does not serve your region"),
            (unauthorized("openai", "no key"), "set OPENAI_API_KEY"),
            (unauthorized("lab", "no key"), "login lab"),
            (unreachable(cause::PROXY), "NO_PROXY"),
            (unreachable(cause::UNTRUSTED), "SSL_CERT_FILE"),
            (unreachable(cause::BAD_PROXY), "http://HOST:PORT"),
            (unreachable(cause::CERTIFICATE_FILE), "PEM"),
            (unreachable(cause::CERTIFICATE_DATE), "clock"),
            (unreachable(cause::CERTIFICATE_EARLY), "clock"),
            (unreachable(cause::CLOCK_BEHIND), "timedatectl"),
            (unreachable(cause::CLOCK_AHEAD), "timedatectl"),
            (unreachable(cause::PORTAL), "browser"),
            (unreachable(cause::NO_NAME), "network up"),
            (Failure::Broken { url: "https://x".into(), cause: cause::SLEPT.into() }, "again"),
            (unreachable(cause::CERTIFICATE_NAME), "check the address"),
            (unreachable(cause::TLS), "http://"),
            (unreachable(cause::REFUSED), "start the server"),
            (unreachable(cause::BAD_URL), "https://HOST/v1"),
            (unreachable("something new"), "network up"),
            (Failure::Timeout { url: "https://x".into(), seconds: 60 }, "again"),
            (Failure::ContextOverflow { message: "m".into() }, ""),
            (Failure::Empty, "other words"),
            (Failure::NoCopy { cause: "No space left on device".into() }, "without --try"),
        ]
    }

    #[test]
    fn each_failure_says_what_to_do_about_it() {
        let locale = Locale::new("en");
        for (given, expected) in all() {
            for speaking in [Speaking::ByFlags, Speaking::AtPrompt] {
                let told = failure(&locale, &given, speaking);
                assert!(told.hint.contains(expected) && !told.hint.is_empty(), "{given:?}: {}", told.hint);
                assert!(!told.hint.contains('\n'), "one hint a failure: {}", told.hint);
            }
        }
    }

    #[test]
    fn a_key_is_not_blamed_for_the_place() {
        let refused = unauthorized("openai", "Country, region, or territory not supported");
        let told = failure(&Locale::new("en"), &refused, Speaking::ByFlags);
        assert!(!told.what.contains("key"), "{}", told.what);
    }

    #[test]
    fn slash_commands_are_named_at_the_prompt_only() {
        let locale = Locale::new("en");
        let mut at_prompt = 0;
        for (given, _) in all() {
            let has = |speaking| {
                let hint = failure(&locale, &given, speaking).hint;
                ["/model", "/new", "/compact"].iter().any(|command| hint.contains(command))
            };
            assert!(!has(Speaking::ByFlags), "{given:?}");
            at_prompt += u32::from(has(Speaking::AtPrompt));
        }
        assert!(at_prompt > 5, "{at_prompt}");
    }
}
