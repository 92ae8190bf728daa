//! Builds a person's front end.

use std::rc::Rc;
use std::time::Instant;

use super::super::console::terminal_size;
use super::super::context::App;
use super::super::desktop;
use super::rules;
use crate::agent::{Agent, surroundings};
use crate::frontend::human::{Asker, HumanOptions, Looks, Notifier};
use crate::secret::{self, Level};
use crate::terminal::Output;

pub(super) fn human_options(
    app: &Rc<App>,
    agent: &Agent,
    looks: Looks,
    asker: Box<dyn Asker<Output>>,
) -> HumanOptions<Output> {
    let cache = app.display().background_cache();
    let variables = app.process.variables;
    let keys = Rc::clone(app);
    let notifier = Notifier {
        desktop: Box::new(move |title, text| desktop::notify(title, text, variables)),
        redact: Box::new(move |text| secret::redact(text, &keys.known_secrets(), Level::Sent).0),
    };
    HumanOptions {
        size: terminal_size,
        looks,
        locale: app.locale.clone(),
        place: surroundings(agent).clone(),
        asker,
        rules: rules::offer(app),
        tools: agent.tools().clone(),
        keep_background: Box::new(move |background| cache.write(background)),
        notifier,
        clock: Box::new(Instant::now),
    }
}
