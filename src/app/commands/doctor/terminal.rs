//! The terminal: what it is, and what it says it can do.

use std::io::IsTerminal as _;
use std::time::Duration;

use super::super::super::context::App;
use super::super::check::Check;
use super::page::Means;
use crate::locale::{Locale, word};
use crate::terminal::{Depth, PictureProtocol, SaidOfItself, Size, ask_terminal};

/// How long a terminal may take to answer; over ssh the line is part of it.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) fn checks(app: &App, locale: &Locale, means: Means) -> Vec<Check> {
    let name = |key| locale.text(key);
    if !std::io::stdout().is_terminal() {
        return vec![Check::good(name(word::doctor::TERMINAL), name(word::doctor::NOT_A_TERMINAL))];
    }
    let size = Size::of_terminal(None, None);
    let term = (app.process.variables)("TERM").unwrap_or_default();
    let size = locale.with(word::doctor::Size {
        columns: &size.columns.to_string(),
        rows: &size.rows.to_string(),
        term: &term,
    });
    let display = app.display();
    let program =
        app.process.variable("TERM_PROGRAM").into_iter().chain(app.process.variable("TERM_PROGRAM_VERSION"));
    let program: Vec<String> = std::iter::once(size).chain(program).collect();
    let found = program.join(" · ");
    let terminal = if term.is_empty() || term == "dumb" {
        Check::bad(name(word::doctor::TERMINAL), found, name(word::doctor::TERM_DUMB))
    } else {
        Check::good(name(word::doctor::TERMINAL), found)
    };
    let colours = match display.depth() {
        Depth::Plain => name(word::doctor::COLOUR_NONE),
        Depth::Monochrome => name(word::doctor::COLOUR_ATTRIBUTES),
        Depth::Ansi => "16",
        Depth::Fixed => "256",
        Depth::Truecolor => name(word::doctor::COLOUR_ALL),
    };
    let yes = |holds: bool| name(if holds { word::doctor::YES } else { word::doctor::NO });
    let pictures = match PictureProtocol::choose("auto", &display.terminal) {
        Some(PictureProtocol::Kitty) => "kitty",
        Some(PictureProtocol::Iterm) => "iterm2",
        Some(PictureProtocol::Sixel) => "sixel",
        None => name(word::doctor::NO),
    };
    let mut checks = vec![
        terminal,
        Check::good(name(word::doctor::COLOURS), colours),
        Check::good(name(word::doctor::LINKS), yes(display.terminal.links())),
        Check::good(name(word::doctor::PICTURES), pictures),
    ];
    let is_asked = means != Means::Look && std::io::stdin().is_terminal() && !display.linear();
    match is_asked.then(|| ask_terminal(PATIENCE)) {
        Some(Some(SaidOfItself { synchronized, focus, keyboard })) => checks.extend([
            Check::good(name(word::doctor::SYNCHRONIZED), yes(synchronized)),
            Check::good(name(word::doctor::KEYBOARD), yes(keyboard)),
            Check::good(name(word::doctor::FOCUS), yes(focus)),
        ]),
        Some(None) => checks.push(Check::good(name(word::doctor::SYNCHRONIZED), name(word::doctor::NO_ANSWER))),
        None => {}
    }
    checks
}
