//! Builds the REPL.

use std::io::IsTerminal as _;
use std::rc::Rc;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::super::commands::later_search;
use super::super::context::App;
use super::super::failed::{Failed, runtime};
use super::super::models;
use super::agent::GoneOn;
use super::first_run::Chosen;
use super::ghost::{self, GhostUsage};
use super::human::human_options;
use super::prewarm::prewarm;
use super::reload::Reload;
use super::session::FrontendKind;
use super::stage::stage;
use super::world::Outside;
use super::{agent, first_run, menu_lists, session, tries};
use crate::agent::Agent;
use crate::cli::RunOptions;
use crate::config::{EditMode, InlineImages};
use crate::frontend::exit::Exit;
use crate::frontend::human::Human;
use crate::frontend::repl::{
    Clipboard, CommandMenu, Drafts, EditStyle, Editor, EditorOptions, Foreground, HistoryOptions, NewSession, Repl,
    ReplParts, ResumeSession, SetUpAgain, ShellLines, SuggestTiming, editor_words,
};
use crate::frontend::words::Speaking;
use crate::locale::word;
use crate::provider::Client;
use crate::session::{Loaded, Session};
use crate::terminal::{Depth, Output, Pending, PictureProtocol, Theme, escape_wait};

/// The line editor and the questions paint on standard error: of `axi 2>FILE` they belong on the terminal all the same.
fn paint_on_the_terminal() {
    if !std::io::stderr().is_terminal()
        && let Err(error) = crate::platform::stdio::dup2_stderr(std::io::stdout())
    {
        tracing::warn!(%error, "standard error is no terminal and cannot be made one");
    }
}

/// How long axi waits before it asks developer tools for their versions: a person who has just started axi types
/// first.
const QUIET: Duration = Duration::from_secs(3);

pub(super) fn repl(app: &Rc<App>, options: RunOptions) -> Result<Exit, Failed> {
    paint_on_the_terminal();
    let runtime = Rc::new(runtime(&app.locale)?);
    let client = models::client(&app.config(), &app.process.variables);
    let (provider, found, taken) = first_run::begin(app, &options, &client, &runtime)?;
    let local = provider.model().local;
    let (mut agent, gone_on) = agent::make(app, &options, provider, FrontendKind::Repl)?;
    // The person reviews each; nothing is printed.
    drop(tries::begin(app, &options, &mut agent, true));
    let stage = taken.map_or_else(|| stage(app, &runtime), Ok)?;
    let plain = stage.plain;
    let looks = app.display().looks();
    let lender = Rc::clone(&stage.tty);
    let foreground: Foreground = Box::new(move |command| {
        let _lent = lender.lend();
        command.status()
    });
    let private = options.no_session || options.no_history;
    let pending = Pending::default();
    let mut editor = editor(app, &looks.theme, private, foreground, pending.clone());
    editor.keep_out(app.known_secrets());
    let pictures = app.paths.cache.as_ref().map(|cache| cache.join("pictures"));
    editor.use_clipboard(Clipboard::of(&app.process.variables, pictures));
    let lists = menu_lists::menu_lists(app);
    editor.watch_lists(lists.clone());
    look_after_first_paint(app, &mut editor, &agent);
    let drafts = app.paths.drafts().filter(|_| !private && !plain);
    let drafts = drafts.map(|folder| Drafts::new(folder, app.project.cwd.clone())).unwrap_or_default();
    editor.keep_drafts(&drafts);
    let last = drafts.clone();
    stage.signals.before_the_end(move || last.flush());
    let ghost_usage = GhostUsage::default();
    if let Some(suggest) = ghost::suggest(app, &ghost_usage).filter(|_| !plain) {
        editor = editor.with_suggest(Box::new(suggest), SuggestTiming::default());
    }
    let screen = app.display().screen(&looks);
    let mut human = Human::new(screen, human_options(app, &agent, looks, Box::new(stage.terminal.clone())));
    human.speaking = Speaking::AtPrompt;
    greet(app, &mut human, found.as_deref(), gone_on.as_ref());
    warm_up(app, &mut human, &agent, &client, (options.message.is_some(), local));
    let directory = app.paths.shown(&app.project.cwd);
    let shell =
        (app.process.variables)("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".to_owned());
    let pager = pager(app);
    let (new_session, resume_session) = session_makers(app, !options.no_session);
    let path = (app.process.variables)("PATH").unwrap_or_default();
    let set_up = set_up(app, &options, &client, &runtime);
    let mut reload = Reload::new(Rc::clone(app), options.clone(), client.clone());
    let mut repl = Repl::new(ReplParts {
        agent,
        human,
        editor,
        pending,
        drafts,
        stage,
        set_up,
        reload: Box::new(move |agent, locale| reload.look(agent, locale)),
        world: Box::new(Outside::new(Rc::clone(app), client, runtime, ghost_usage, options.clone())),
        new_session,
        resume_session,
        directory,
        told: app.display().directories(),
        shell: ShellLines::new(
            shell,
            app.process.program.clone(),
            path,
            app.project.surroundings(app.sandbox().secret_files(), app.shell.definitions()),
        ),
        pictures: PictureProtocol::choose(
            if plain { InlineImages::Off } else { app.config().inline_images }.word(),
            &app.display().terminal,
        ),
        pager,
        lists,
        own: menu_lists::user_commands(app),
    });
    if let Some(GoneOn { broken_off, .. }) = gone_on {
        repl.last_screenful(broken_off && options.message.is_none());
    }
    Ok(repl.run(options.message))
}

/// Says what was found at the first run, and which conversation goes on.
fn greet(app: &App, human: &mut Human<Output>, found: Option<&str>, gone_on: Option<&GoneOn>) {
    if let Some(found) = found {
        human.painter().say(found);
    }
    if let Some(GoneOn { title, .. }) = gone_on {
        let said = app.locale.with(word::repl::Resumed { title });
        human.painter().say(&said);
    }
}

/// Prepares the first request while the person types.
fn warm_up(
    app: &App,
    human: &mut Human<Output>,
    agent: &Agent,
    client: &Client,
    (has_message, local): (bool, bool),
) {
    if agent.model().is_own() {
        // The model reads its prompt while the person types; a message given at the start is sent at once instead.
        if !has_message {
            human.painter().say(&app.locale.with(word::local::Loading { model: &agent.model().id() }));
            agent.prepare();
        }
    } else if !local {
        prewarm(client);
    }
}

/// Has servers and developer tools looked for once the person sees the prompt.
fn look_after_first_paint(app: &Rc<App>, editor: &mut Editor, agent: &Agent) {
    let (servers, search) = (agent.tools().servers().map(|tools| tools.servers().clone()), later_search(app));
    editor.after_first_paint(move || {
        // The thread ends with its search, or with axi.
        drop(std::thread::Builder::new().name("after-paint".to_owned()).spawn(move || {
            if let Some(servers) = servers {
                // The look-up reads files.
                servers.begin();
            }
            std::thread::sleep(QUIET);
            search(false)
        }));
    });
}

/// Returns what begins a session, and what goes on with one.
fn session_makers(app: &Rc<App>, keep: bool) -> (NewSession, ResumeSession) {
    let (for_new, for_resume) = (Rc::clone(app), Rc::clone(app));
    let new = Box::new(move || {
        let session = session::new_session(&for_new, FrontendKind::Repl, keep);
        for_new.shell.set(session.id());
        session
    });
    let resume = Box::new(move |loaded: &Loaded, path| {
        for_resume.shell.set(&loaded.id);
        Session::resume(loaded.id.clone(), loaded.directory.clone(), path, for_resume.redactor())
    });
    (new, resume)
}

/// Sets up again, as `/setup` asks; returns the model that was chosen, or what failed.
fn set_up(app: &Rc<App>, options: &RunOptions, client: &Client, runtime: &Rc<Runtime>) -> SetUpAgain {
    let (app, options, client, runtime) = (Rc::clone(app), options.clone(), client.clone(), Rc::clone(runtime));
    Box::new(move |asker, locale| match first_run::chosen(&app, &options, asker, (&client, &runtime), locale) {
        Ok(Chosen::Model(name)) => Ok(Some(name)),
        Ok(Chosen::Nothing) => Ok(None),
        Err(Failed { problem, .. }) if problem.what.is_empty() => Ok(None),
        Err(Failed { problem, .. }) => Err(problem),
    })
}

/// Returns the person's pager as a command line. `less` gets the options that git gives it, unless the person has
/// set some: show colours, print without paging what fits on the screen, leave the text on the screen.
fn pager(app: &App) -> String {
    let variable = |name| (app.process.variables)(name).filter(|value| !value.is_empty());
    let pager = variable("PAGER").unwrap_or_else(|| "less".to_owned());
    if variable("LESS").is_some() { pager } else { format!("LESS=FRX {pager}") }
}

fn editor(app: &App, theme: &Theme, private: bool, foreground: Foreground, pending: Pending) -> Editor {
    let external = ["VISUAL", "EDITOR"]
        .iter()
        .find_map(|name| (app.process.variables)(name).filter(|value| !value.is_empty()));
    Editor::new(EditorOptions {
        history: HistoryOptions {
            path: app.paths.history(),
            directory: app.project.cwd.display().to_string(),
            enabled: !private,
        },
        // The loop fills it before each line, in its language.
        commands: CommandMenu::default(),
        directory: app.project.cwd.clone(),
        home: app.paths.home.clone(),
        style: match app.config().edit_mode {
            EditMode::Emacs => EditStyle::Emacs,
            EditMode::Vi => EditStyle::Vi,
        },
        keys: app.display().own_keys(),
        theme: *theme,
        color: app.display().depth() >= Depth::Ansi,
        words: editor_words(&app.locale),
        external_editor: external,
        foreground: Some(foreground),
        escape_wait: escape_wait(app.display().is_remote()),
        pending,
        interrupt: None,
    })
}
