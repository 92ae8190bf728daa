//! The agent of a conversation, from settings, flags and environment.

use std::sync::Arc;
use std::time::SystemTime;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::Failed;
use super::session::{Occasion, new_session, random_number, resumed};
use crate::agent::{Agent, Setup, prompt};
use crate::approval::{Decision, Mode, Policy, Rule, Source};
use crate::cli::{AgentKind, RunOptions};
use crate::command::Problem;
use crate::conversation::{Conversation, Usage};
use crate::frontend::exit::Exit;
use crate::frontend::words;
use crate::locale::word;
use crate::provider::{Provider, RetryPlan};
use crate::session::{Session, is_held};
use crate::tool::{ProposeCommandTool, Toolbox, table};

/// The most requests a turn may make when nothing is said.
const MAX_STEPS: u32 = 100;

pub(super) fn policy(app: &App, options: &RunOptions) -> Result<Policy, Failed> {
    let mode = match options.agent {
        AgentKind::Build => Mode::Build,
        AgentKind::Plan => Mode::Plan,
        AgentKind::Explore => Mode::Explore,
    };
    let mut policy = Policy::new(mode, options.yes);
    let settings = &app.config.permissions;
    let project = &app.config.project_permissions;
    let lists = [
        (&settings.allow, Decision::Allow, Source::User),
        (&settings.ask, Decision::Ask, Source::User),
        (&settings.deny, Decision::Deny, Source::User),
        (&project.ask, Decision::Ask, Source::Project),
        (&project.deny, Decision::Deny, Source::Project),
        (&options.allow, Decision::Allow, Source::Flag),
        (&options.deny, Decision::Deny, Source::Flag),
    ];
    for (rules, decision, source) in lists {
        for text in rules {
            let added =
                Rule::parse_for(text, table::kind_of).and_then(|rule| policy.add_rule(decision, rule, source));
            if let Err(error) = added {
                let problem = Problem {
                    what: app
                        .locale
                        .with(word::error::Rule { rule: text, cause: &words::rule_error(&app.locale, &error) }),
                    hint: app.locale.text(word::error::RULE_HINT).to_owned(),
                };
                return Err(Failed::new(problem, Exit::Usage));
            }
        }
    }
    Ok(policy)
}

fn setup(app: &App, options: &RunOptions, occasion: Occasion) -> Setup {
    let place = app.project.place();
    let variable = |name| app.process.variable(name);
    let shell = variable("AXI_SHELL").or_else(|| variable("SHELL"));
    let shell = shell.as_deref().and_then(|path| path.rsplit('/').next());
    let surroundings = prompt::Surroundings {
        place: &place,
        system: std::env::consts::OS,
        shell,
        handoff: occasion == Occasion::Handoff,
        language: app.locale.tag(),
    };
    let instructions = prompt::instructions(&place, app.paths.config.as_deref());
    let system = prompt::system_prompt(&surroundings, &instructions);
    Setup {
        system,
        small_system: prompt::small_prompt(&surroundings),
        surroundings: app.project.surroundings(),
        place,
        max_steps: options.max_steps.or(app.config.max_steps).unwrap_or(MAX_STEPS),
        max_output_tokens: None,
        output_dir: app.throwaway.clone().or_else(|| app.paths.outputs()).unwrap_or_else(std::env::temp_dir),
        journal: app.paths.journal(),
        sandbox: app.sandbox(),
        retry: RetryPlan::default(),
        now: SystemTime::now,
        random: random_unit,
    }
}

fn tools(app: &App, occasion: Occasion) -> Toolbox {
    let mut tools = table::standard(app.process.program.clone());
    if occasion == Occasion::Handoff {
        tools.push(Arc::new(ProposeCommandTool));
    }
    Toolbox::new(tools)
}

pub(super) fn make(
    app: &App,
    options: &RunOptions,
    provider: Arc<dyn Provider>,
    occasion: Occasion,
) -> Result<(Agent, Option<Conversation>), Failed> {
    let policy = policy(app, options)?;
    let resumed = resumed(app, options, occasion)?;
    let keep = !options.no_session;
    let (session, conversation, usage) = match resumed {
        Some((_, path)) if keep && is_held(&path) => {
            Console::new(&app.locale).note(app.locale.text(word::repl::SESSION_BUSY));
            (new_session(app, true), None, Usage::default())
        }
        Some((loaded, path)) if keep => {
            let session = Session::resume(loaded.id, loaded.directory, path, app.redactor());
            (session, Some(loaded.conversation), loaded.usage)
        }
        Some((loaded, _)) => (new_session(app, false), Some(loaded.conversation), loaded.usage),
        None => (new_session(app, keep), None, Usage::default()),
    };
    app.shell.set(session.id());
    let first = new_session(app, false);
    let mut agent = Agent::new(provider, tools(app, occasion), policy, first, setup(app, options, occasion));
    agent.allow_exploring();
    agent.set_session(session, conversation.clone().unwrap_or_default(), usage);
    Ok((agent, conversation))
}

fn random_unit() -> f64 {
    f64::from(random_number()) / f64::from(u16::MAX)
}
