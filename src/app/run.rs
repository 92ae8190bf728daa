//! Putting together what talks to a model: the REPL, print mode; and `axi render`.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Instant, SystemTime};

use tokio_util::sync::CancellationToken;

use super::console::Console;
use super::setup::Failed;
use super::shell_session::Occasion;
use super::stage::stage;
use super::suggest::GhostUsage;
use super::world::Outside;
use super::{Base, piped, rules};
use crate::agent::Agent;
use crate::cli::{Output as Form, RenderOptions, RunOptions};
use crate::command::Problem;
use crate::conversation::Message;
use crate::frontend::exit::Exit;
use crate::frontend::human::{Asker, Human, HumanOptions, Looks, Nobody};
use crate::frontend::print;
use crate::frontend::render::{self, RenderError, Width, usable};
use crate::frontend::repl::{
    Clipboard, CommandMenu, Drafts, EditStyle, Editor, EditorOptions, Foreground, HistoryOptions, Repl,
    SuggestTiming, editor_words, title,
};
use crate::frontend::signals::Signals;
use crate::locale::word;
use crate::provider::Client;
use crate::session::Session;
use crate::terminal::{Depth, Dress, Layout, Output, PictureProtocol, Screen, Size, Theme, Wrap, escape_wait};

/// Where the whole outputs of a session go of which nothing is kept; dropped, they are gone. One that was killed is
/// swept later.
struct Once(PathBuf);

impl Once {
    fn beside(outputs: &Path) -> Self {
        Self(outputs.join(format!("{}{}", crate::tool::ONCE, std::process::id())))
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, path = %self.0.display(), "outputs were left behind");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

/// Runs the REPL, or one turn in print mode.
pub(super) fn run(mut base: Base, options: RunOptions) -> Exit {
    let stdin_terminal = std::io::stdin().is_terminal();
    let printing = options.print || !stdin_terminal || !std::io::stdout().is_terminal();
    if printing {
        base.tell_untrusted();
    } else if let Err(exit) = base.settle_trust() {
        return exit;
    }
    let once = options.no_session.then(|| Once::beside(&base.paths.outputs().unwrap_or_else(std::env::temp_dir)));
    base.once = once.as_ref().map(|once| once.0.clone());
    let base = Rc::new(base);
    let result = if printing { print_mode(&base, &options, stdin_terminal) } else { repl(&base, options) };
    result.unwrap_or_else(|Failed { problem, exit }| {
        Console::new(&base.locale).fail(&problem);
        exit
    })
}

pub(super) fn terminal_size() -> (u16, u16) {
    let size = Size::of_terminal(None, None);
    (size.columns, size.rows)
}

pub(super) fn screen(base: &Base, looks: &Looks) -> Screen<Output> {
    let (columns, rows) = terminal_size();
    let linear = base.linear();
    let dress = Dress { styles: base.depth() != Depth::Plain, links: looks.hyperlinks, marks: !linear };
    if linear { Screen::linear(Output::new(), dress) } else { Screen::new(Output::new(), columns, rows, dress) }
}

pub(super) fn human_options(
    base: &Rc<Base>,
    agent: &Agent,
    looks: Looks,
    asker: Box<dyn Asker<Output>>,
) -> HumanOptions<Output> {
    let cache = base.background_cache();
    HumanOptions {
        size: terminal_size,
        looks,
        locale: base.locale.clone(),
        place: base.place(),
        asker,
        rules: rules::offer(base),
        tools: agent.tools().clone(),
        keep_background: Box::new(move |background| cache.write(background)),
        clock: Box::new(Instant::now),
    }
}

fn print_mode(base: &Rc<Base>, options: &RunOptions, stdin_terminal: bool) -> Result<Exit, Failed> {
    let message = print_message(base, options.message.as_deref(), stdin_terminal)?;
    let runtime = base.runtime()?;
    let client = Client::default();
    let (provider, found) = base.provider(options.model.as_deref(), &client, &runtime)?;
    if let Some(found) = found {
        Console::new(&base.locale).note(&found);
    }
    let (mut agent, _) = base.agent(options, provider, Occasion::Print)?;
    crate::tool::sweep_aside(agent.outputs(), SystemTime::now());
    let cancel = CancellationToken::new();
    let signals = Signals::start(None);
    signals.watch(Some(cancel.clone()));
    let place = base.place();
    let form = match options.output {
        Form::Text if std::io::stdout().is_terminal() => {
            let looks = base.looks();
            let screen = screen(base, &looks);
            let mut human = Human::new(screen, human_options(base, &agent, looks, Box::new(Nobody)));
            let end = runtime.block_on(agent.run_turn(Message::user(message), &mut human, &cancel));
            return Ok(Exit::from(&end));
        }
        Form::Text => print::Form::Text,
        Form::Json => print::Form::Json,
        Form::StreamJson => print::Form::StreamJson,
    };
    let streams = (std::io::stdout().lock(), std::io::stderr().lock());
    let turn = print::run(&mut agent, Message::user(message), form, streams, &base.locale, &place, &cancel);
    Ok(runtime.block_on(turn))
}

/// Joins the message and what is piped in, under the message.
fn print_message(base: &Base, message: Option<&str>, stdin_terminal: bool) -> Result<String, Failed> {
    let mut text = message.unwrap_or_default().to_owned();
    if !stdin_terminal {
        let piped = piped::read(&mut std::io::stdin().lock()).map_err(|error| {
            let what = base.locale.with(word::error::Stdin { cause: &error.to_string() });
            Failed::new(Problem { what, hint: String::new() }, Exit::Failed)
        })?;
        if piped.left_out > 0 {
            Console::new(&base.locale).warn(
                &base.locale.with(word::error::StdinCut {
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
            what: base.locale.text(word::error::NO_MESSAGE).to_owned(),
            hint: base.locale.text(word::error::NO_MESSAGE_HINT).to_owned(),
        };
        return Err(Failed::new(problem, Exit::Usage));
    }
    Ok(text)
}

/// Bytes as megabytes with one digit behind the point, never none of what is there.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes.div_ceil(100_000);
    format!("{}.{}", tenths / 10, tenths % 10)
}

pub(super) fn repl(base: &Rc<Base>, options: RunOptions) -> Result<Exit, Failed> {
    let runtime = Rc::new(base.runtime()?);
    let client = Client::default();
    let (provider, found) = base.provider(options.model.as_deref(), &client, &runtime)?;
    let local = provider.model().local;
    let (agent, conversation) = base.agent(&options, provider, Occasion::Repl)?;
    let stage = stage(base, &runtime)?;
    let plain = stage.plain;
    let looks = base.looks();
    let lender = Rc::clone(&stage.tty);
    let foreground: Foreground = Box::new(move |command| {
        let _lent = lender.lend();
        command.status()
    });
    let private = options.no_session || options.no_history;
    let mut editor = editor(base, &looks.theme, private, foreground);
    editor.keep_out(base.keys());
    let pictures = base.paths.cache.as_ref().map(|cache| cache.join("pictures"));
    editor.use_clipboard(Clipboard::of(&base.variables, pictures));
    let lists = base.menu_lists();
    editor.watch_lists(lists.clone());
    let drafts = base.paths.drafts().filter(|_| !private && !plain);
    let drafts = drafts.map(|folder| Drafts::new(folder, base.cwd.clone())).unwrap_or_default();
    editor.keep_drafts(drafts.clone());
    let last = drafts.clone();
    stage.signals.before_the_end(move || last.flush());
    let ghost = GhostUsage::default();
    if let Some(suggest) = base.suggest(&ghost).filter(|_| !plain) {
        editor = editor.with_suggest(Box::new(suggest), SuggestTiming::default());
    }
    let screen = screen(base, &looks);
    let mut human = Human::new(screen, human_options(base, &agent, looks, Box::new(stage.terminal.clone())));
    if let Some(found) = found {
        human.say(&found);
    }
    if let Some(conversation) = conversation {
        let said = base.locale.with(word::repl::Resumed { title: &title(&conversation) });
        human.say(&said);
    }
    if agent.model().small {
        // Read while the person types; what is asked at once is read at once.
        if options.message.is_none() {
            human.say(&base.locale.with(word::local::Loading { model: &agent.model().id() }));
            agent.prepare();
        }
    } else if !local {
        prewarm(&client);
    }
    let directory = base.paths.shown(&base.cwd);
    let shell = (base.variables)("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".to_owned());
    let pager = pager(base);
    let (for_new, for_resume, keep) = (Rc::clone(base), Rc::clone(base), !options.no_session);
    let repl = Repl {
        agent,
        human,
        editor,
        stage,
        world: Box::new(Outside::new(Rc::clone(base), client, runtime, ghost)),
        new_session: Box::new(move || {
            let session = for_new.new_session(keep);
            for_new.tie(session.id());
            session
        }),
        resume_session: Box::new(move |loaded, path| {
            for_resume.tie(&loaded.id);
            Session::resume(loaded.id.clone(), loaded.directory.clone(), path, for_resume.redactor())
        }),
        directory,
        shell,
        program: base.program.clone(),
        pictures: PictureProtocol::choose(
            base.config.inline_images.as_deref().filter(|_| !plain).unwrap_or("off"),
            &base.surroundings(),
        ),
        ran: Vec::new(),
        swept: false,
        pager,
        drafts,
        lists,
        path: (base.variables)("PATH").unwrap_or_default(),
        hinted: Vec::new(),
        own: base.user_commands(),
        gone: false,
    };
    Ok(repl.run(options.message))
}

/// Loads the root certificates on a thread (5 to 12 ms), so that they are there before the first Enter without
/// holding the first prompt up. The thread ends by itself.
pub(super) fn prewarm(client: &Client) {
    let client = client.clone();
    let spawned = std::thread::Builder::new().name("prewarm".into()).spawn(move || client.prewarm());
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread for what can wait");
    }
}

/// The person's pager as a command line. `less` is told what git tells it, unless the person told it something:
/// colours as colours, what fits is printed, the text stays on the screen.
fn pager(base: &Base) -> String {
    let variable = |name| (base.variables)(name).filter(|value| !value.is_empty());
    let pager = variable("PAGER").unwrap_or_else(|| "less".to_owned());
    if variable("LESS").is_some() { pager } else { format!("LESS=FRX {pager}") }
}

fn editor(base: &Base, theme: &Theme, private: bool, foreground: Foreground) -> Editor {
    let external =
        ["VISUAL", "EDITOR"].iter().find_map(|name| (base.variables)(name).filter(|value| !value.is_empty()));
    Editor::new(EditorOptions {
        history: HistoryOptions {
            path: base.paths.history(),
            directory: base.cwd.display().to_string(),
            enabled: !private,
        },
        // The loop says what they are, in its language, before each line.
        commands: CommandMenu::default(),
        directory: base.cwd.clone(),
        home: base.paths.home.clone(),
        style: if base.config.edit_mode.as_deref() == Some("vi") { EditStyle::Vi } else { EditStyle::Emacs },
        keys: base.own_keys(),
        theme: *theme,
        color: base.depth() >= Depth::Ansi,
        words: editor_words(&base.locale),
        external_editor: external,
        foreground: Some(foreground),
        escape_wait: escape_wait(base.is_remote()),
        interrupt: None,
    })
}

/// Prints markdown from a file or standard input.
pub(super) fn render(base: &Base, options: &RenderOptions) -> Exit {
    let terminal = std::io::stdout().is_terminal();
    let looks = base.looks();
    let mut screen = if terminal {
        screen(base, &looks)
    } else {
        let dress = Dress { styles: base.depth() != Depth::Plain, ..Dress::PLAIN };
        Screen::linear(Output::new(), dress)
    };
    let width = match options.width {
        None if terminal => Width::Follows(terminal_size),
        Some(_) | None => Width::Fixed,
    };
    let columns = || if terminal { usable(terminal_size().0) } else { usize::from(terminal_size().0) };
    let wrap = if options.soft_wrap { Wrap::Soft } else { looks.wrap };
    let layout = Layout {
        width: options.width.map_or_else(columns, usize::from),
        wrap,
        theme: looks.theme,
        hyperlinks: looks.hyperlinks && terminal,
        highlight: looks.highlight,
    };
    let source: Result<Box<dyn Read>, (String, std::io::Error)> = match options.file.as_deref() {
        Some(path) if path.as_os_str() != "-" => std::fs::File::open(path)
            .map(|file| Box::new(file) as Box<dyn Read>)
            .map_err(|error| (path.display().to_string(), error)),
        Some(_) | None => Ok(Box::new(std::io::stdin())),
    };
    let rendered = source.and_then(|mut source| {
        render::run(&mut source, &mut screen, layout, width).map_err(|error| {
            let source =
                || options.file.as_ref().map_or_else(|| "stdin".to_owned(), |path| path.display().to_string());
            match error {
                RenderError::Read(error) => (source(), error),
                RenderError::Write(error) => ("stdout".to_owned(), error),
            }
        })
    });
    match rendered {
        Ok(()) => Exit::Done,
        Err((path, error)) => {
            let what = base.locale.with(word::error::Io { path: &path, cause: &error.to_string() });
            Console::new(&base.locale).fail(&Problem { what, hint: String::new() });
            Exit::Failed
        }
    }
}
