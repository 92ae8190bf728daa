//! Print mode: one message, one turn.

use std::io::IsTerminal;
use std::rc::Rc;
use std::time::SystemTime;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::{Failed, runtime};
use super::super::models::{self, Missing, choose};
use super::human::human_options;
use super::session::FrontendKind;
use super::tries::TrialReport;
use super::{agent, piped, tries};
use crate::cli::{Output as Form, RunOptions};
use crate::command::Problem;
use crate::conversation::Message;
use crate::frontend::exit::Exit;
use crate::frontend::human::{Human, Nobody};
use crate::frontend::print;
use crate::frontend::signals::Signals;
use crate::locale::word;
use crate::terminal::escape_json;

pub(in crate::app) fn print(app: &Rc<App>, options: &RunOptions, stdin_terminal: bool) -> Result<Exit, Failed> {
    let message = print_message(app, options.message.as_deref(), stdin_terminal)?;
    let runtime = runtime(&app.locale)?;
    let client = models::client(&app.config(), &app.process.variables);
    let first = || Some(agent::beginning(app, options, FrontendKind::Print));
    let (provider, found) = choose(app, options.model.as_deref(), &client, &runtime, Missing::Offer(&first))?;
    if let Some(found) = found {
        Console::new(&app.locale).note(&found);
    }
    let (mut agent, _) = agent::make(app, options, provider, FrontendKind::Print)?;
    let tried = tries::begin(app, options, &mut agent, false).filter(|_| options.json || !options.apply);
    crate::tool::sweep_aside(agent.outputs(), agent.temporary(), SystemTime::now());
    let cancel = CancellationToken::new();
    let signals = Signals::start(None);
    signals.watch(Some(cancel.clone()));
    if let Some(tools) = agent.tools().servers() {
        tools.servers().begin();
        runtime.block_on(async {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                () = tools.servers().settled() => {}
            }
        });
    }
    let place = app.project.roots();
    let form = match options.output {
        Form::Text if std::io::stdout().is_terminal() => {
            let looks = app.display().looks();
            let screen = app.display().screen(&looks);
            let mut human = Human::new(screen, human_options(app, &agent, looks, Box::new(Nobody)));
            let end = runtime.block_on(agent.run_turn(Message::user(message), &mut human, &cancel));
            signals.watch(None);
            return Ok(told(app, options, tried.as_ref(), &[], Exit::from(&end)));
        }
        Form::Text => print::Form::Text,
        Form::Json => print::Form::Json,
        Form::StreamJson => print::Form::StreamJson,
    };
    let message = Message::user(message);
    let mut answer = Vec::new();
    let exit = if tried.is_some() && form == print::Form::Text {
        // What would change is what programs read there: the answer is not mixed with it.
        let streams = (std::io::stderr(), std::io::stderr());
        runtime.block_on(print::run(&mut agent, message, form, streams, &app.locale, &place, &cancel))
    } else if tried.is_some() && form == print::Form::Json {
        let streams = (&mut answer, std::io::stderr().lock());
        runtime.block_on(print::run(&mut agent, message, form, streams, &app.locale, &place, &cancel))
    } else {
        let streams = (std::io::stdout().lock(), std::io::stderr().lock());
        runtime.block_on(print::run(&mut agent, message, form, streams, &app.locale, &place, &cancel))
    };
    signals.watch(None);
    Ok(told(app, options, tried.as_ref(), &answer, exit))
}

/// Prints what a turn in a trial would change: in the one object of the `answer`, as one more event, or alone.
fn told(app: &App, options: &RunOptions, tried: Option<&tries::Printed>, answer: &[u8], exit: Exit) -> Exit {
    let Some(tried) = tried else { return exit };
    let text = match (tries::taken(tried, options), options.output) {
        (TrialReport::Patch(patch), _) => patch,
        (TrialReport::Json(changes), Form::Text) => escape_json(format!("{changes:#}\n")),
        (TrialReport::Json(changes), Form::Json) => match serde_json::from_slice::<Value>(answer) {
            Ok(mut object) => {
                object["trial"] = changes;
                escape_json(object.to_string()) + "\n"
            }
            Err(_) => String::from_utf8_lossy(answer).into_owned(),
        },
        (TrialReport::Json(mut changes), Form::StreamJson) => {
            changes["type"] = "trial".into();
            escape_json(changes.to_string()) + "\n"
        }
    };
    match Console::new(&app.locale).print(&text) {
        Exit::Done => exit,
        failed => failed,
    }
}

/// Joins the message and the piped text, which follows it.
fn print_message(app: &App, message: Option<&str>, stdin_terminal: bool) -> Result<String, Failed> {
    let mut text = message.unwrap_or_default().to_owned();
    if !stdin_terminal {
        let piped = piped::read(&mut std::io::stdin().lock()).map_err(|error| {
            let what = app.locale.with(word::error::Stdin { cause: &error.to_string() });
            Failed::new(Problem { what, hint: String::new() }, Exit::Failed)
        })?;
        if piped.left_out > 0 {
            Console::new(&app.locale).warn(
                &app.locale.with(word::error::StdinCut {
                    all: &megabytes(piped.all),
                    left_out: &megabytes(piped.left_out),
                }),
            );
        }
        let piped = piped.text;
        if !piped.trim().is_empty() {
            if text.is_empty() {
                piped.trim_end().clone_into(&mut text);
            } else {
                text = format!("{text}\n\n<stdin>\n{}\n</stdin>", piped.trim_end());
            }
        }
    }
    if text.trim().is_empty() {
        let problem = Problem {
            what: app.locale.text(word::error::NO_MESSAGE).to_owned(),
            hint: app.locale.text(word::error::NO_MESSAGE_HINT).to_owned(),
        };
        return Err(Failed::new(problem, Exit::Usage));
    }
    Ok(text)
}

/// Formats bytes as megabytes with one decimal, rounded up, so that it never shows 0.0 for something.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.div_ceil(100_000);
    format!("{}.{}", tenths / 10, tenths % 10)
}
