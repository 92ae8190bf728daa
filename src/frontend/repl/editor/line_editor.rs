//! The line editor: the one file that puts reedline together.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use fuzzy_matcher::skim::SkimMatcherV2;
use reedline::{
    Completer, CompletionResult, CompletionStatus, Emacs, Reedline, ReedlineMenu, Vi, default_emacs_keybindings,
    default_vi_insert_keybindings, default_vi_normal_keybindings, default_vi_visual_keybindings,
};

use super::bindings::{self, HISTORY, KeyBinding, WORDS};
use super::highlighter::LineHighlighter;
use super::in_step::InStep;
use super::keys::{Complete, LineMode};
use super::kick;
use super::prompt_marks::PromptMarks;
use crate::frontend::prompt::{LinePrompt, PromptParts, columns};
use crate::frontend::repl::drafts::{Drafts, LineView};
use crate::frontend::repl::files::{Clipboard, FileIndex, KEY_WAIT, NoPicture};
use crate::frontend::repl::ghost::{
    Exchange, LineHinter, SessionWords, Suggest, SuggestTiming, Suggestions, from_history,
};
use crate::frontend::repl::history::{HistoryOptions, HistoryStore, LineHistory};
use crate::frontend::repl::line::{LateUp, PasteStore, SharedState};
use crate::frontend::repl::menu::{CommandMenu, HistorySource, LineMenu, MenuLists, Source, WordSource};
use crate::locale::grouped;
use crate::secret::Known;
use crate::terminal::{Pending, Theme};

/// How long a message from another thread may wait to be seen.
const POLL: Duration = Duration::from_millis(50);

/// How long Tab waits for the list of a line that is not painted yet: otherwise it would take an item that nobody has seen.
const COMPLETE_WAIT: Duration = Duration::from_millis(500);

/// The keys' manners.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EditStyle {
    /// As in emacs and most shells.
    #[default]
    Emacs,
    /// As in vi.
    Vi,
}

/// The words the editor shows, in the person's language.
#[derive(Debug, Clone, Default)]
pub struct EditorWords {
    /// What stands for a long paste of several lines; `{lines}` is their number.
    pub pasted_lines: String,
    /// What stands for a long paste of one line; `{bytes}` is its size.
    pub pasted_bytes: String,
}

/// Runs a program that takes the terminal over, and waits for it. Gives the program the terminal in the mode the
/// person's shell had left it in.
pub type Foreground = Box<dyn FnMut(&mut Command) -> io::Result<ExitStatus>>;

/// All an editor is made of.
pub struct EditorOptions {
    /// The history.
    pub history: HistoryOptions,
    /// The slash commands.
    pub commands: CommandMenu,
    /// The directory `@` paths are relative to.
    pub directory: PathBuf,
    /// The home directory, for `@~/`.
    pub home: Option<PathBuf>,
    /// Emacs or vi.
    pub style: EditStyle,
    /// Keys of the person's own.
    pub keys: Vec<KeyBinding>,
    /// Styles.
    pub theme: Theme,
    /// Whether colours may be used.
    pub color: bool,
    /// Words.
    pub words: EditorWords,
    /// `$VISUAL` or `$EDITOR`: a command line; `vi` if absent.
    pub external_editor: Option<String>,
    /// How programs are run that take the terminal over.
    pub foreground: Option<Foreground>,
    /// How long a lone ESC waits until it is believed, see [`crate::terminal::escape_wait`].
    pub escape_wait: Duration,
    /// What is typed and not sent: the editor's line is the one under way there.
    pub pending: Pending,
    /// Set by another thread to make [`Editor::read`] return [`ReadOutcome::Broken`].
    pub interrupt: Option<Arc<AtomicBool>>,
}

/// How a line came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadOutcome {
    /// It was sent. Pastes are whole again; never blank.
    Line(String),
    /// Ctrl+C on an empty line.
    Interrupted,
    /// Ctrl+D on an empty line, or Ctrl+C twice within a second: leave.
    End,
    /// `?` on an empty line.
    Help,
    /// Shift+Tab: the editor keeps the line where it is, the next [`Editor::read`] goes on with it.
    NextMode,
    /// Ctrl+Z: the editor keeps the line, the next [`Editor::read`] goes on with it.
    Suspended,
    /// The interrupt was set: the editor keeps the line. A copy of it is here, with pasted text in full.
    Broken(String),
    /// There is no picture to attach; the editor keeps the line.
    NoPicture(NoPicture),
    /// The external editor could not be run; the editor keeps the line.
    EditorFailed {
        /// What was run.
        command: String,
        /// What the system said.
        reason: String,
    },
}

/// The line editor.
pub struct Editor {
    pub(super) reedline: Reedline,
    pub(super) prompt: LinePrompt,
    pub(super) state: SharedState,
    pub(super) pastes: PasteStore,
    pub(super) paste_label: Arc<dyn Fn(&str) -> String + Send + Sync>,
    pub(super) history: HistoryStore,
    pub(super) commands: Arc<RwLock<CommandMenu>>,
    pub(super) spoken: Arc<RwLock<EditorWords>>,
    pub(super) in_step: InStep,
    background: Background,
    pub(super) session_words: SessionWords,
    pub(super) outside: Option<String>,
    pub(super) clipboard: Clipboard,
    pub(super) foreground: Foreground,
}

/// Work that is done once, when it was waited long enough for.
type Waiting = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

/// reedline asks its completer whether work is going on in the background, and polls only then. It asks when all is
/// painted and it is about to wait for a key: what can wait for the paint is done then.
#[derive(Clone)]
struct Background {
    files: FileIndex,
    lists: Option<MenuLists>,
    /// What can wait for the first paint.
    waiting: Waiting,
    history: HistoryStore,
    suggestions: Option<Arc<Suggestions>>,
    state: SharedState,
    in_step: InStep,
}

impl Completer for Background {
    fn complete(&mut self, _: &str, _: usize) -> CompletionResult {
        CompletionResult::fresh(Vec::new())
    }

    fn poll_completion(&mut self) -> CompletionStatus {
        self.history.after_paint();
        if let Some(work) = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take() {
            work();
        }
        self.state.pending().tell();
        if self.in_step.sleeps() {
            LateUp::wake();
        }
        kick::wake_reader();
        let (lists, suggestions) = (self.lists.as_ref(), self.suggestions.as_ref());
        // Whether more is coming is asked first: what comes between the two questions is news.
        let asking = suggestions.is_some_and(|suggestions| suggestions.is_asking());
        let working = asking
            || self.history.is_working()
            || self.files.is_working()
            || lists.is_some_and(MenuLists::is_fetching);
        let ghost_text = suggestions.is_some_and(|suggestions| suggestions.take_news()) | self.history.take_news();
        let mut state = self.state.lock();
        state.repaint = ghost_text;
        if ghost_text && state.late_up.answer_has_come() {
            LateUp::wake();
        }
        drop(state);
        if self.history.older.take_news_of_letters()
            | self.files.take_news()
            | lists.is_some_and(MenuLists::take_news)
            | ghost_text
        {
            CompletionStatus::Ready
        } else if working {
            CompletionStatus::Pending
        } else {
            CompletionStatus::Idle
        }
    }
}

impl Editor {
    /// Puts an editor together. Reads no file and does not touch the terminal.
    pub fn new(options: EditorOptions) -> Self {
        let state = SharedState::new(options.pending);
        let in_step = InStep::default();
        let pastes = PasteStore::default();
        let spoken = Arc::new(RwLock::new(options.words));
        let labels = Arc::clone(&spoken);
        let paste_label: Arc<dyn Fn(&str) -> String + Send + Sync> =
            Arc::new(move |text| label(&labels.read().unwrap_or_else(PoisonError::into_inner), text));
        let history = HistoryStore::new(options.history, pastes.clone(), Arc::clone(&paste_label));
        let commands = Arc::new(RwLock::new(options.commands));
        let files = FileIndex::new(options.directory, options.home, state.clone());
        let theme = options.theme;
        let session_words = SessionWords::default();
        let words = || WordSource {
            commands: Arc::clone(&commands),
            files: files.clone(),
            state: state.clone(),
            matcher: SkimMatcherV2::default(),
            patience: KEY_WAIT,
        };
        let past = HistorySource { history: history.clone(), matcher: SkimMatcherV2::default() };
        let menu = |name: &str, source: Box<dyn Source>| {
            ReedlineMenu::HistoryMenu(Box::new(LineMenu::new(name, source, state.clone(), &theme)))
        };
        let highlighter = LineHighlighter {
            state: state.clone(),
            pastes: pastes.clone(),
            commands: Arc::clone(&commands),
            theme,
        };
        let mode = LineMode::new(
            edit_mode(options.style, &options.keys),
            state.clone(),
            pastes.clone(),
            Arc::clone(&paste_label),
            complete_unpainted(WordSource { patience: COMPLETE_WAIT, ..words() }, history.clone()),
        )
        .with_in_step(in_step.clone())
        .with_own_keys(options.keys)
        .with_escape_wait(options.escape_wait);
        let background = Background {
            files: files.clone(),
            lists: None,
            waiting: Waiting::default(),
            history: history.clone(),
            suggestions: None,
            state: state.clone(),
            in_step: in_step.clone(),
        };
        let mut reedline = Reedline::create()
            .with_hinter(Box::new(LineHinter::new(
                history.clone(),
                session_words.clone(),
                state.clone(),
                theme.dim,
            )))
            .with_history(Box::new(LineHistory { store: history.clone(), state: state.clone() }))
            .with_highlighter(Box::new(highlighter))
            .with_completer(Box::new(background.clone()))
            .with_menu(menu(WORDS, Box::new(words())))
            .with_menu(menu(HISTORY, Box::new(past)))
            .with_edit_mode(Box::new(mode))
            .with_quick_completions(false)
            .with_partial_completions(false)
            .with_poll_interval(POLL)
            .with_ansi_colors(options.color)
            .use_bracketed_paste(true)
            .with_semantic_markers(Some(Box::new(PromptMarks)));
        if let Some(interrupt) = options.interrupt {
            reedline = reedline.with_break_signal(interrupt);
        }
        Self {
            reedline,
            prompt: LinePrompt { parts: PromptParts::default(), width: columns(), theme, color: options.color },
            state,
            pastes,
            paste_label,
            history,
            commands,
            spoken,
            in_step,
            background,
            session_words,
            outside: options.external_editor,
            clipboard: Clipboard::default(),
            foreground: options.foreground.unwrap_or_else(|| Box::new(Command::status)),
        }
    }

    /// Lets a model suggest what the history does not know.
    ///
    /// While an answer is on its way the line looks every 50 ms whether it has come; else it sleeps until a key.
    /// reedline's own signal for a paint would have it look for ever.
    #[must_use]
    pub fn with_suggest(mut self, suggest: Box<dyn Suggest>, timing: SuggestTiming) -> Self {
        // Without a thread there is no ghost text; the editor works without it.
        self.background.suggestions = Suggestions::start(suggest, timing).ok().map(Arc::new);
        let (hinter, background) = (self.hinter(), self.background.clone());
        self.rebuild(|reedline| reedline.with_hinter(Box::new(hinter)).with_completer(Box::new(background)));
        self
    }

    /// What a model suggests, where one is asked.
    pub(super) fn suggestions(&self) -> Option<&Suggestions> {
        self.background.suggestions.as_deref()
    }

    fn hinter(&self) -> LineHinter {
        let (words, state) = (self.session_words.clone(), self.state.clone());
        let mut hinter = LineHinter::new(self.history.clone(), words, state, self.prompt.theme.dim);
        hinter.suggestions.clone_from(&self.background.suggestions);
        hinter
    }

    /// Hears what a turn was about: its words are offered as ghost text, its end leads to the next message.
    pub fn hear(&mut self, exchange: Exchange) {
        self.session_words.hear(&exchange.said);
        self.session_words.hear(&exchange.answered);
        if let Some(suggestions) = self.suggestions() {
            suggestions.set_exchange(exchange);
        }
    }

    /// Takes over the session's file, from which the title is read.
    pub fn is_in_session(&self, session: Option<PathBuf>) {
        if let Some(suggestions) = self.suggestions() {
            suggestions.set_session(session);
        }
    }

    /// Changes reedline, whose builder takes it by value.
    pub(super) fn rebuild(&mut self, change: impl FnOnce(Reedline) -> Reedline) {
        let reedline = std::mem::replace(&mut self.reedline, Reedline::create());
        self.reedline = change(reedline);
    }

    /// Never writes a line to the history that has one of these values in it.
    pub fn keep_out(&mut self, secrets: Known) {
        self.history.keep_out(secrets);
    }

    /// Keeps a line in the history that was sent without being edited here, such as one sent while a turn ran.
    pub fn remember(&self, line: &str) {
        if let Err(error) = self.history.keep(line) {
            tracing::warn!(%error, "a line is not in the history");
        }
    }

    /// Lets the line be kept in case axi does not come to its end.
    pub fn keep_drafts(&self, drafts: &Drafts) {
        let (pastes, history) = (self.pastes.clone(), self.history.clone());
        let view = LineView {
            whole: Box::new(move |line| pastes.expand(line)),
            is_private: Box::new(move |text| history.is_secret(text)),
        };
        drafts.watch(self.state.pending(), view);
    }

    /// The mentions, as written, that were taken from the picker in any line so far.
    pub(crate) fn picked(&self) -> HashSet<String> {
        self.state.lock().attached.clone()
    }

    /// Reads pictures from this clipboard.
    pub fn use_clipboard(&mut self, clipboard: Clipboard) {
        self.clipboard = clipboard;
    }

    /// Has something done when the first prompt is painted; quickly, for a key may be pressed then.
    pub fn after_first_paint(&mut self, work: impl FnOnce() + Send + 'static) {
        *self.background.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(work));
    }

    /// Paints the menu again when one of these lists has come.
    pub fn watch_lists(&mut self, lists: MenuLists) {
        self.background.lists = Some(lists);
        let background = self.background.clone();
        self.rebuild(|reedline| reedline.with_completer(Box::new(background)));
    }

    /// Replaces the slash commands: after a change of language, of the project's own commands.
    pub fn set_commands(&mut self, commands: CommandMenu) {
        *self.commands.write().unwrap_or_else(PoisonError::into_inner) = commands;
    }

    /// Speaks another language from now on.
    pub fn set_words(&mut self, words: EditorWords) {
        *self.spoken.write().unwrap_or_else(PoisonError::into_inner) = words;
    }

    /// Replaces what the prompt says.
    pub fn set_prompt(&mut self, parts: PromptParts) {
        self.prompt.parts = parts;
    }

    /// Uses these styles from now on, if they are others.
    pub fn set_theme(&mut self, theme: Theme) {
        if self.prompt.theme == theme {
            return;
        }
        self.prompt.theme = theme;
        let highlighter = LineHighlighter {
            state: self.state.clone(),
            pastes: self.pastes.clone(),
            commands: Arc::clone(&self.commands),
            theme,
        };
        let hinter = self.hinter();
        self.rebuild(|reedline| reedline.with_highlighter(Box::new(highlighter)).with_hinter(Box::new(hinter)));
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.background.files.stop();
    }
}

/// What Tab does to a line that is not painted yet: it takes the first row of the menu, else the ghost text.
fn complete_unpainted(mut words: WordSource, history: HistoryStore) -> Complete {
    Box::new(move |line| {
        let offer = words.offer(line, line.len());
        let row = offer.and_then(|offer| Some((offer.span.start, offer.rows.into_iter().next()?.value)));
        row.or_else(|| Some((line.len(), from_history(&history, line)?)))
    })
}

fn edit_mode(style: EditStyle, own: &[KeyBinding]) -> Box<dyn reedline::EditMode> {
    match style {
        EditStyle::Emacs => {
            let mut keys = default_emacs_keybindings();
            bindings::bind(&mut keys, own);
            Box::new(Emacs::new(keys))
        }
        EditStyle::Vi => {
            let mut inserting = default_vi_insert_keybindings();
            bindings::bind(&mut inserting, own);
            Box::new(Vi::new(inserting, default_vi_normal_keybindings(), default_vi_visual_keybindings()))
        }
    }
}

/// Says what stands for a long paste.
fn label(words: &EditorWords, text: &str) -> String {
    let lines = text.lines().count();
    if lines > 1 {
        words.pasted_lines.replace("{lines}", &grouped(lines as u64))
    } else {
        words.pasted_bytes.replace("{bytes}", &grouped(text.len() as u64))
    }
}

#[cfg(test)]
#[path = "line_editor_tests.rs"]
mod tests;
