//! Decides how things are shown, by what the terminal can do, and by settings and flags.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use super::background::BackgroundCache;
use super::console::terminal_size;
use super::process::Process;
use crate::cli::{ColorChoice, CommonOptions};
use crate::config::{Config, Paths, WrapChoice};
use crate::frontend::human::{Looks, Palette, directory_address};
use crate::frontend::repl::{KeyBinding, parse_binding};
use crate::terminal::{self, Capabilities, Depth, Output, Screen, TerminalEnvironment, Theme, Wrap};

/// What decides how things are shown.
pub(super) struct Display<'a> {
    /// What the terminal behind standard output is like.
    pub(super) terminal: TerminalEnvironment,
    options: &'a CommonOptions,
    config: Arc<Config>,
    process: &'a Process,
    paths: &'a Paths,
    cwd: &'a Path,
}

impl<'a> Display<'a> {
    pub(super) fn new(
        options: &'a CommonOptions,
        config: Arc<Config>,
        process: &'a Process,
        paths: &'a Paths,
        cwd: &'a Path,
    ) -> Self {
        let terminal = TerminalEnvironment::read(std::io::stdout().is_terminal(), process.variables);
        Self { terminal, options, config, process, paths, cwd }
    }

    /// How much colour standard output gets.
    pub(super) fn depth(&self) -> Depth {
        self.terminal.depth(match self.options.color {
            // Linear output must have no escape sequences, and colours are some.
            ColorChoice::Auto if self.options.linear => terminal::ColorChoice::Never,
            ColorChoice::Auto => terminal::ColorChoice::Auto,
            ColorChoice::Always => terminal::ColorChoice::Always,
            ColorChoice::Never => terminal::ColorChoice::Never,
        })
    }

    /// Whether the terminal is at the other end of an ssh connection.
    pub(super) fn is_remote(&self) -> bool {
        ["SSH_CONNECTION", "SSH_TTY"].iter().any(|name| (self.process.variables)(name).is_some())
    }

    /// Whether the cursor is never moved.
    pub(super) fn linear(&self) -> bool {
        self.options.linear || self.terminal.is_dumb()
    }

    /// How everything looks.
    pub(super) fn looks(&self) -> Looks {
        let depth = self.depth();
        let background = self.terminal.background().or_else(|| self.background_cache().read());
        let palette = Palette { choice: self.config.theme, depth, background };
        let wrap = match self.config.wrap {
            WrapChoice::Word => Wrap::Word,
            WrapChoice::Soft => Wrap::Soft,
        };
        let hyperlinks = depth != Depth::Plain && !self.linear() && self.terminal.links();
        let file_links = hyperlinks && !self.terminal.remote;
        // Zellij shows an empty title as a title; and if the shell has set none, it restores none.
        let zellij = self.process.variable("ZELLIJ").is_some();
        let mut looks = Looks {
            theme: palette.theme(),
            palette,
            styles: self.own_styles(),
            wrap,
            hyperlinks,
            file_links,
            highlight: depth >= Depth::Ansi,
            reasoning: self.config.reasoning,
            notify: self.config.notify,
            notifications: self.config.notifications.clone(),
            notifies_by: self.terminal.notifies_by(),
            progress: !self.linear() && self.terminal.progress(),
            resting_title: if zellij { self.paths.shown(self.cwd) } else { String::new() },
        };
        looks.choose_theme();
        looks
    }

    /// The addresses of the directory that axi works in and of the one it was started in, for a terminal that takes them.
    pub(super) fn directories(&self) -> Option<(String, String)> {
        let started_in = self.process.begun_in.as_deref().unwrap_or(self.cwd);
        let is_told = !self.linear() && self.terminal.takes_directory();
        is_told.then(|| (directory_address(self.cwd), directory_address(started_in)))
    }

    /// Returns what the terminal said about its background before.
    pub(super) fn background_cache(&self) -> BackgroundCache {
        let surroundings = &self.terminal;
        BackgroundCache::new(self.paths.cache.as_deref(), &surroundings.term_program, &surroundings.term)
    }

    /// Returns the person's own styles. An invalid one was reported at the start, and is left out.
    fn own_styles(&self) -> Vec<(String, String)> {
        let usable = |(role, text): &(&String, &String)| Theme::plain().restyle(role, text).is_ok();
        let styles = self.config.styles.iter().filter(usable);
        styles.map(|(role, text)| (role.clone(), text.clone())).collect()
    }

    /// The person's own keys, as [`Self::own_styles`].
    pub(super) fn own_keys(&self) -> Vec<KeyBinding> {
        self.config.keys.iter().filter_map(|(key, action)| parse_binding(key, action).ok()).collect()
    }

    /// The screen of a conversation.
    pub(super) fn screen(&self, looks: &Looks) -> Screen<Output> {
        let (columns, rows) = terminal_size();
        let linear = self.linear();
        let capabilities =
            Capabilities { styles: self.depth() != Depth::Plain, links: looks.hyperlinks, marks: !linear };
        if linear {
            Screen::linear(Output::new(), capabilities)
        } else {
            Screen::new(Output::new(), columns, rows, capabilities)
        }
    }
}
