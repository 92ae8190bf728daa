//! Facts in, the user's words out: what is noticed beside a turn. Pure.

use std::path::Path;

use super::diagnostic::Diagnostic;
use super::failure_words::{Speaking, failure};
use super::words::{first_line, missing_sandbox};
use crate::agent::{Failure, FallbackPrice, Notice, Shortened};
use crate::command::{server_failure, trial_unapplied};
use crate::locale::{Locale, Word, word};
use crate::terminal::sanitize_line;

/// How many lines of a change that was not made are shown, of each text.
const WANTED_LINES: usize = 6;

/// Tells how a notice is labelled: what went as it was meant to is no warning.
#[must_use]
pub const fn notice_label(notice: &Notice) -> Word {
    match notice {
        Notice::Price { .. }
        | Notice::Searched { .. }
        | Notice::Shortened { .. }
        | Notice::Reviewed { .. }
        | Notice::SavedAgain { .. }
        | Notice::SecretsHidden { .. } => word::error::NOTE,
        // It ends the turn.
        Notice::BrokenMidway { .. } => word::error::LABEL,
        Notice::CutByLength
        | Notice::CutByRepeating
        | Notice::CallsCut
        | Notice::FilteredByProvider
        | Notice::NotSaved { .. }
        | Notice::SavedAnew { .. }
        | Notice::NoTrial { .. }
        | Notice::TrialLost { .. }
        | Notice::Repeating { .. }
        | Notice::HookUnkept { .. }
        | Notice::HookFailed { .. }
        | Notice::PriceUnknown { .. }
        | Notice::FellBack { .. }
        | Notice::EmptyAnswer
        | Notice::FewerTools { .. }
        | Notice::NotKept { .. }
        | Notice::NotChanged { .. }
        | Notice::NoUndo { .. }
        | Notice::Server { .. }
        | Notice::NoSandbox { .. } => word::error::WARNING,
    }
}

/// Words a notice.
#[must_use]
pub fn notice(locale: &Locale, notice: &Notice, speaking: Speaking) -> Diagnostic {
    let plain = |what: String| Diagnostic { what, hint: String::new() };
    match notice {
        Notice::CutByLength => plain(locale.text(word::notice::CUT_BY_LENGTH).to_owned()),
        Notice::CutByRepeating => plain(locale.text(word::notice::CUT_BY_REPEATING).to_owned()),
        Notice::CallsCut => plain(locale.text(word::notice::CALLS_CUT).to_owned()),
        Notice::FilteredByProvider => plain(locale.text(word::notice::FILTERED).to_owned()),
        Notice::BrokenMidway { error } => Diagnostic {
            what: locale
                .with(word::notice::BrokenMidway { cause: &failure(locale, error, Speaking::default()).what }),
            hint: locale.text(word::notice::BROKEN_MIDWAY_HINT).to_owned(),
        },
        Notice::NotSaved { path, cause } => {
            plain(locale.with(word::notice::NotSaved { path: &path.display().to_string(), cause }))
        }
        Notice::SavedAgain { path } => {
            plain(locale.with(word::notice::SavedAgain { path: &path.display().to_string() }))
        }
        Notice::SavedAnew { path } => {
            plain(locale.with(word::notice::SavedAnew { path: &path.display().to_string() }))
        }
        Notice::NoTrial { cause } => plain(locale.with(word::trial::NoTurn { cause })),
        Notice::TrialLost { cause } => plain(locale.with(word::trial::Gone { cause })),
        Notice::Reviewed { applied, dropped, refused, .. } => {
            let mut said = Vec::new();
            if *applied > 0 || *dropped == 0 {
                said.push(locale.count(word::trial::APPLIED, *applied));
            }
            if *dropped > 0 {
                said.push(locale.count(word::trial::DROPPED, *dropped));
            }
            said.extend(refused.iter().map(|(path, why)| trial_unapplied(locale, path, why)));
            plain(said.join("\n"))
        }
        Notice::Repeating { name } => plain(locale.with(word::notice::Repeating { name })),
        Notice::HookUnkept { command } => plain(locale.with(word::notice::HookUnkept { command })),
        Notice::HookFailed { command, cause } => plain(locale.with(word::notice::HookFailed { command, cause })),
        Notice::Price { forecast } => plain(locale.with(word::notice::Price {
            least: &forecast.least.rounded_down(),
            likely: &forecast.likely.to_string(),
        })),
        Notice::PriceUnknown { model } => Diagnostic {
            what: locale.with(word::notice::PriceUnknown { model }),
            hint: locale.text(word::notice::PRICE_UNKNOWN_HINT).to_owned(),
        },
        Notice::FellBack { from, to, error, price } => fell_back(locale, (from, to), error, *price),
        Notice::Searched { query } => {
            plain(locale.with(word::notice::Searched { query: &first_line(&sanitize_line(query)) }))
        }
        Notice::EmptyAnswer => plain(locale.text(word::notice::EMPTY_ANSWER).to_owned()),
        Notice::Shortened { shortened } => self::shortened(locale, shortened),
        Notice::FewerTools { left, of } => Diagnostic {
            what: locale.with(word::notice::FewerTools { left: &left.to_string(), of: &of.to_string() }),
            hint: locale.text(word::notice::FEWER_TOOLS_HINT).to_owned(),
        },
        Notice::SecretsHidden { count } => Diagnostic {
            what: locale.count(word::notice::SECRETS_HIDDEN, *count),
            hint: locale.text(word::notice::SECRETS_HIDDEN_HINT).to_owned(),
        },
        Notice::NotKept { files } => plain(locale.count(word::notice::NOT_KEPT, *files)),
        Notice::NotChanged { path, asked_again, wanted } => {
            plain(not_changed(locale, path, *asked_again, wanted.as_ref()))
        }
        Notice::NoUndo { path, cause } => {
            plain(locale.with(word::notice::NoUndo { path: &path.display().to_string(), cause }))
        }
        Notice::Server { name, failure } => Diagnostic {
            what: locale.with(word::notice::Server { name, cause: &server_failure(locale, failure) }),
            hint: if *failure == crate::mcp::Failure::SignIn {
                match speaking {
                    Speaking::ByFlags => locale.with(word::server::SignInHint { name }),
                    Speaking::AtPrompt => locale.with(word::notice::ServerSignInHint { name }),
                }
            } else {
                match speaking {
                    Speaking::ByFlags => locale.with(word::notice::ServerHintFlag { name }),
                    Speaking::AtPrompt => locale.with(word::notice::ServerHint { name }),
                }
            },
        },
        Notice::NoSandbox { missing } => {
            plain(locale.with(word::notice::NoSandbox { cause: missing_sandbox(locale, *missing) }))
        }
    }
}

/// Words which model stands in for which, why, and what it costs.
fn fell_back(locale: &Locale, (from, to): (&str, &str), error: &Failure, price: FallbackPrice) -> Diagnostic {
    let cause = &failure(locale, error, Speaking::default()).what;
    let what = locale.with(word::notice::FellBack { from, to, cause });
    let hint = match price {
        FallbackPrice::NotMore => String::new(),
        FallbackPrice::More { input, output } => locale.with(word::notice::FellBackPrice {
            to,
            input: &input.in_dollars().to_string(),
            output: &output.in_dollars().to_string(),
        }),
        FallbackPrice::Unknown => locale.with(word::notice::FellBackPriceUnknown { to }),
    };
    Diagnostic { what, hint }
}

/// Words what shortening a conversation came to.
#[must_use]
pub fn shortened(locale: &Locale, shortened: &Shortened) -> Diagnostic {
    let (before, after) = (&shortened.before.to_string(), &shortened.after.to_string());
    let what = match shortened.dropped {
        0 => locale.with(word::notice::Thinned { before, after }),
        dropped if shortened.summed_up => {
            locale.with(word::notice::Shortened { dropped: &dropped.to_string(), before, after })
        }
        dropped => locale.with(word::notice::ShortenedNoted { dropped: &dropped.to_string(), before, after }),
    };
    Diagnostic { what, hint: locale.text(word::notice::SHORTENED_HINT).to_owned() }
}

/// Words that an edit failed, whatever the model says, and what it was to do.
fn not_changed(locale: &Locale, path: &Path, asked_again: bool, wanted: Option<&(String, String)>) -> String {
    let path = &path.display().to_string();
    if asked_again {
        return locale.with(word::notice::NotChangedAgain { path });
    }
    let mut said = locale.with(word::notice::NotChanged { path });
    for (sign, text) in wanted.iter().flat_map(|(old, new)| [('-', old), ('+', new)]) {
        let mut lines = text.lines();
        said.extend(lines.by_ref().take(WANTED_LINES).map(|line| format!("\n{sign} {line}")));
        said.extend(lines.next().map(|_| format!("\n{sign} …")));
    }
    said
}
