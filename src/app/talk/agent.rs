//! The agent of a conversation, from settings, flags and environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::super::commands::machine;
use super::super::console::Console;
use super::super::context::App;
use super::super::failed::Failed;
use super::super::findings::Diagnostic;
use super::super::hooks;
use super::super::models;
use super::super::new_session::random_number;
use super::super::servers::servers;
use super::super::tokens::Keeping;
use super::secrets::stand_ins;
use super::session::{FrontendKind, new_session, resumed};
use super::tries;
use crate::agent::prompt::SystemPrompt;
use crate::agent::{
    Agent, Beginning, Setup, Shortening, Wishes, catalogue, instructions, next_beginning, prompt, skills, take_up,
};
use crate::approval::{Decision, Mode, Policy, Rule, RuleError, Source};
use crate::cli::{AgentKind, RunOptions};
use crate::command::{Problem, session_damage};
use crate::config::{Config, Given, OnOff, Permissions};
use crate::conversation::{Conversation, Ledger, Money};
use crate::frontend::exit::Exit;
use crate::frontend::words;
use crate::locale::word;
use crate::provider::{Effort, NoModel, Provider, RetryPlan};
use crate::session::{Fork, LeftOver, Session, is_held, load_lines};
use crate::tool::devtool::DevTools;
use crate::tool::{ProposeCommandTool, Roots, ShellTool, TerminalTool, Tool, Toolbox, WebSearchTool, table};

/// The rules of settings files, with what they decide and whose they are.
pub(super) const fn lists(permissions: &Permissions) -> [(&Vec<String>, Decision, Source); 5] {
    let Permissions { allow, ask, deny } = permissions;
    [
        (&allow.own, Decision::Allow, Source::User),
        (&ask.own, Decision::Ask, Source::User),
        (&deny.own, Decision::Deny, Source::User),
        (&ask.project, Decision::Ask, Source::Project),
        (&deny.project, Decision::Deny, Source::Project),
    ]
}

fn without_rules(options: &RunOptions) -> Policy {
    let mode = match options.agent {
        AgentKind::Build => Mode::Build,
        AgentKind::Plan => Mode::Plan,
        AgentKind::Explore => Mode::Explore,
    };
    Policy::new(mode, options.yes)
}

pub(super) fn policy(app: &App, options: &RunOptions) -> Result<Policy, Failed> {
    let mut policy = without_rules(options);
    let config = app.config();
    let of_flags = [(&options.allow, Decision::Allow, Source::Flag), (&options.deny, Decision::Deny, Source::Flag)];
    for (rules, decision, source) in lists(&config.permissions).into_iter().chain(of_flags) {
        for text in rules {
            let added =
                Rule::parse_for(text, table::kind_of).and_then(|rule| policy.add_rule(decision, rule, source));
            if let Err(error) = added {
                let told = rule_problem(app, text, &error, source);
                // Nobody's file but one's own stops one; this rule could only have made things stricter.
                if source == Source::Project {
                    Console::new(&app.locale).warn(&told.what);
                    continue;
                }
                return Err(Failed::new(told, Exit::Usage));
            }
        }
    }
    Ok(policy)
}

/// Says what is wrong with a rule, and where it stands, if in a file.
fn rule_problem(app: &App, text: &str, error: &RuleError, source: Source) -> Problem {
    let of_project = source == Source::Project;
    let own = app.paths.settings();
    let is_it =
        |given: &&Given| given.text == text && (own.as_deref() != Some(given.spot.file.as_path())) == of_project;
    let settings = app.settings();
    let given = settings.given.iter().filter(|_| source != Source::Flag).find(is_it);
    if let Some(told) = given.and_then(|given| Diagnostic::of_text(&app.locale, given)) {
        return Problem { what: told.whole(&app.paths), hint: told.hint };
    }
    let cause = &words::rule_error(&app.locale, error);
    let hint = app.locale.text(word::error::RULE_HINT).to_owned();
    Problem { what: app.locale.with(word::error::Rule { rule: text, cause }), hint }
}

fn setup(app: &App, options: &RunOptions, occasion: FrontendKind) -> Setup {
    let roots = app.project.roots();
    let variable = |name| app.process.variable(name);
    let shell = variable("AXI_SHELL").or_else(|| variable("SHELL"));
    let shell = shell.as_deref().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    let (handoff, language) = (occasion == FrontendKind::Handoff, app.locale.tag());
    let small_system = prompt::small_prompt(&facts(&roots, shell.as_deref(), handoff, language));
    let secrets = Arc::new(stand_ins(app, !options.no_session));
    let trusted = app.project.trusted();
    let system = {
        let (roots, own, folders) = (roots.clone(), app.paths.config.clone(), skill_folders(app));
        let secrets = Arc::clone(&secrets);
        move || {
            let instructions = instructions(&roots, trusted, own.as_deref());
            let skills = catalogue(&skills(&folders));
            let system =
                prompt::system_prompt(&facts(&roots, shell.as_deref(), handoff, language), &instructions, &skills);
            let hidden = secrets.hide(&system.text);
            hidden.map_or(system.clone(), |(text, _)| SystemPrompt { text, ..system })
        }
    };
    // Both are to know the same of what is made of secret files.
    let sandbox = app.sandbox();
    Setup {
        system: Box::new(system),
        small_system,
        hooks: hooks::reader(app),
        trusted,
        secrets,
        surroundings: app.project.surroundings(sandbox.secret_files(), app.shell.definitions()),
        roots,
        max_steps: options.max_steps.unwrap_or(u32::try_from(app.config().max_steps).unwrap_or(u32::MAX)),
        max_output_tokens: None,
        output_dir: app.throwaway.clone().or_else(|| app.paths.outputs()).unwrap_or_else(std::env::temp_dir),
        journal: app.paths.journal(),
        sandbox,
        fallbacks: Vec::new(),
        retry: RetryPlan::default(),
        now: SystemTime::now,
        random: random_unit,
    }
}

fn facts<'a>(
    roots: &'a Roots,
    shell: Option<&'a str>,
    handoff: bool,
    language: &'a str,
) -> prompt::PromptFacts<'a> {
    prompt::PromptFacts { roots, system: std::env::consts::OS, shell, handoff, language }
}

/// Where skills are: the project's, where the person trusts it, then the person's own.
fn skill_folders(app: &App) -> Vec<PathBuf> {
    let folders = app.project.cwd.ancestors().take_while(|folder| folder.starts_with(&app.project.root));
    let project = folders.filter(|_| app.project.trusted()).map(Path::to_owned);
    let below = |folder: PathBuf| [folder.join(".agents/skills"), folder.join(".claude/skills")];
    let own = app.paths.config.iter().map(|config| config.join("skills"));
    project.flat_map(below).chain(own).chain(app.paths.home.iter().cloned().flat_map(below)).collect()
}

fn tools(app: &App, occasion: FrontendKind) -> Toolbox {
    let trusted = models::trusted(&app.config(), &app.process.variables);
    let mut tools = table::standard(app.process.program.clone(), trusted.clone());
    let is_hooked = || app.process.variable("AXI_SESSION").is_some();
    if occasion == FrontendKind::Handoff || occasion == FrontendKind::Repl && is_hooked() {
        let (program, person) = (|| app.process.program.clone(), || Arc::clone(app.shell.person()));
        let beside: [Arc<dyn Tool>; 2] = [
            Arc::new(ShellTool::new(program()).beside(person())),
            Arc::new(TerminalTool::new(program()).beside(person())),
        ];
        for tool in beside {
            let name = tool.spec().name;
            if let Some(known) = tools.iter_mut().find(|known| known.spec().name == name) {
                *known = tool;
            }
        }
    }
    if occasion == FrontendKind::Handoff {
        tools.push(Arc::new(ProposeCommandTool));
    }
    if let Some(search) = WebSearchTool::at(&app.config().web_search, trusted) {
        tools.push(Arc::new(search));
    }
    let mut tools = Toolbox::new(tools);
    // A hand-off is over before a server has started.
    if occasion != FrontendKind::Handoff
        && let Some(servers) = servers(app, Keeping::AsBefore)
    {
        tools.add_servers(servers);
    }
    if occasion != FrontendKind::Handoff {
        tools.add_dev_tools(DevTools::new(machine(app), app.process.program.clone()));
    }
    tools
}

/// Connects to the models that stand in; one without a key is told now, and not when it is needed.
fn fallbacks(app: &App, options: &RunOptions) -> Result<Vec<Arc<dyn Provider>>, Failed> {
    let config = app.config();
    let named = options.fallback_model.as_ref().or(config.fallback_model.as_ref());
    let client = models::client(&app.config(), &app.process.variables);
    let mut found = Vec::new();
    for name in named.iter().flat_map(|names| names.split(',')).map(str::trim).filter(|name| !name.is_empty()) {
        match models::connect(app, name, &client, &app.locale) {
            Ok(provider) => found.push(provider),
            // A word on the command line is meant now.
            Err(problem) if options.fallback_model.is_some() => {
                return Err(Failed::new(problem, Exit::NotConfigured));
            }
            Err(problem) => {
                let cause = &problem.what;
                Console::new(&app.locale).warn(&app.locale.with(word::repl::NoFallback { model: name, cause }));
            }
        }
    }
    Ok(found)
}

/// An earlier conversation that is gone on with.
pub(super) struct GoneOn {
    /// What it is called.
    pub(super) title: String,
    /// Whether axi was killed in its last turn.
    pub(super) broken_off: bool,
}

pub(super) fn make(
    app: &App,
    options: &RunOptions,
    provider: Arc<dyn Provider>,
    occasion: FrontendKind,
) -> Result<(Agent, Option<GoneOn>), Failed> {
    let policy = policy(app, options)?;
    let fallbacks = fallbacks(app, options)?;
    let resumed = resumed(app, options, occasion)?;
    if let Some(damage) = resumed.as_ref().and_then(|(loaded, _)| session_damage(&app.locale, loaded)) {
        Console::new(&app.locale).warn(&damage);
    }
    let keep = !options.no_session;
    let gone_on = resumed
        .as_ref()
        .map(|(loaded, path)| GoneOn { title: loaded.heading(), broken_off: loaded.was_cut_off(path) });
    let mut left = LeftOver::default();
    let (session, conversation, ledger) = match resumed {
        Some((loaded, path)) if keep && is_held(&path) => {
            Console::new(&app.locale).note(app.locale.text(word::repl::SESSION_BUSY));
            // As far as it is written: what arrives there meanwhile is that one's.
            let loaded = load_lines(&path).unwrap_or(loaded);
            let session = new_session(app, occasion, true).begin_as(Fork::of(&loaded));
            (session, loaded.conversation, Ledger::default())
        }
        Some((loaded, path)) if keep => {
            left = loaded.left;
            let session = Session::resume(loaded.id, loaded.directory, path, app.redactor());
            (session, loaded.conversation, loaded.ledger)
        }
        Some((loaded, _)) => (new_session(app, occasion, false), loaded.conversation, loaded.ledger),
        None => (new_session(app, occasion, keep), Conversation::new(), Ledger::default()),
    };
    app.shell.set(session.id());
    let mut agent = assembled(app, options, provider, occasion, (policy, fallbacks));
    tries::calls(app, &mut agent);
    *agent.wishes() = wishes(&app.config(), options);
    agent.wishes().goes_on = occasion != FrontendKind::Print;
    agent.set_session(session, conversation, ledger);
    take_up(&mut agent, left);
    Ok((agent, gone_on))
}

/// An agent with nothing said yet, whose session is kept nowhere.
fn assembled(
    app: &App,
    options: &RunOptions,
    provider: Arc<dyn Provider>,
    occasion: FrontendKind,
    (policy, fallbacks): (Policy, Vec<Arc<dyn Provider>>),
) -> Agent {
    let session = new_session(app, occasion, false);
    let setup = Setup { fallbacks, ..setup(app, options, occasion) };
    let mut agent = Agent::new(provider, tools(app, occasion), policy, session, setup);
    agent.allow_exploring();
    agent
}

/// Returns what the first request to a small model will begin with, before that model is here.
pub(super) fn beginning(app: &App, options: &RunOptions, occasion: FrontendKind) -> Beginning {
    let provider = Arc::new(NoModel::small());
    // Rules judge calls; what is told of tools is the same.
    next_beginning(&assembled(app, options, provider, occasion, (without_rules(options), Vec::new())))
}

/// Returns what the first request of the REPL will begin with, before its model is here.
pub(in crate::app) fn first_request(app: &App, options: &RunOptions) -> Beginning {
    beginning(app, options, FrontendKind::Repl)
}

/// An agent that only runs tools, for another program: its policy and its reach are those of any other, its session is
/// kept nowhere.
pub(super) fn for_tools(app: &App, tools: Vec<Arc<dyn Tool>>) -> Result<Agent, Failed> {
    let options = RunOptions { no_session: true, ..RunOptions::default() };
    let setup = setup(app, &options, FrontendKind::Print);
    let session = new_session(app, FrontendKind::Print, false);
    Ok(Agent::new(Arc::new(NoModel::default()), Toolbox::new(tools), policy(app, &options)?, session, setup))
}

pub(super) fn wishes(config: &Config, options: &RunOptions) -> Wishes {
    // The command line's shape lets nothing through that is no amount.
    let flag = options.budget.as_ref().and_then(|text| text.parse().ok());
    Wishes {
        shortening: if config.compact == OnOff::Off { Shortening::Off } else { Shortening::On },
        goes_on: true,
        effort: config.effort.and_then(|choice| Effort::parse(choice.word())),
        budget: flag.or(config.budget.map(|budget| budget.0)).map(Money::dollars),
        tell_price: config.tell_price_from.map(|from| Money::dollars(from.0)),
        max_steps: None,
    }
}

fn random_unit() -> f64 {
    f64::from(random_number()) / f64::from(u16::MAX)
}
