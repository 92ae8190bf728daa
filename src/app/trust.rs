//! The first time in a place that brings files of its own: they are shown, and trusted only by a yes.

use super::Base;
use super::console::Console;
use crate::config::{self, PlaceFile, Standing, TrustStore};
use crate::frontend::dialog::{NoChoice, Terminal};
use crate::frontend::exit::Exit;
use crate::frontend::signals::Signals;
use crate::locale::word;
use crate::terminal::{Depth, sanitize_line};

/// How many files are shown with their first lines, and how many lines of each.
const SHOWN_FILES: usize = 6;
const SHOWN_LINES: usize = 6;

impl Base {
    /// Whether the person trusts what this place brings: settings that choose, commands, servers, hooks.
    pub(super) fn trusted(&self) -> bool {
        self.standing == Standing::Trusted
    }

    fn trust_store(&self) -> Option<TrustStore> {
        self.paths.state.as_ref().map(|state| TrustStore::new(state.join("trust.json")))
    }

    /// Asks about this place's files where nobody was asked yet; with a yes they hold from now on.
    ///
    /// # Errors
    /// How axi ends when the person wants neither: [`Exit::Interrupted`].
    pub(super) fn settle_trust(&mut self) -> Result<(), Exit> {
        let changed = match self.standing {
            Standing::Unknown => false,
            Standing::Changed => true,
            Standing::Nothing | Standing::Trusted | Standing::Refused => return Ok(()),
        };
        let console = Console::new(&self.locale);
        let place = &self.paths.shown(self.place_files.root());
        console.note(&if changed {
            self.locale.with(word::trust::Changed { place })
        } else {
            self.locale.with(word::trust::First { place })
        });
        self.show_place(SHOWN_FILES, SHOWN_LINES);
        console.note(self.locale.text(word::trust::WHY));
        let Some(trusted) = self.ask_trust()? else { return Ok(()) };
        if let Some(store) = self.trust_store()
            && let Err(error) = store.remember(&self.place_files, trusted)
        {
            Console::new(&self.locale).warn(&self.locale.with(word::trust::NotKept { cause: &error.to_string() }));
        }
        if !trusted {
            self.standing = Standing::Refused;
            return Ok(());
        }
        self.standing = Standing::Trusted;
        // The files as they were shown, not as they are by now.
        match config::load(self.paths.settings().as_deref(), &self.place_files, true) {
            Ok(loaded) => self.config = loaded.config,
            Err(error) => tracing::warn!(%error, "the settings were read before and cannot be read now"),
        }
        Ok(())
    }

    /// Yes, no, or `None` for neither: then it is asked next time.
    fn ask_trust(&self) -> Result<Option<bool>, Exit> {
        let asker = Terminal {
            color: self.depth() >= Depth::Ansi,
            plain: self.linear(),
            tty: None,
            signals: Signals::default(),
        };
        let text = |key| self.locale.text(key).to_owned();
        let items = [('n', text(word::trust::NO)), ('y', text(word::trust::YES)), ('v', text(word::trust::SHOW))];
        loop {
            match asker.decide(self.locale.text(word::trust::QUESTION), self.locale.text(word::trust::HINT), &items)
            {
                Ok(0) => return Ok(Some(false)),
                Ok(1) => return Ok(Some(true)),
                Ok(_) => self.show_place(usize::MAX, usize::MAX),
                Err(NoChoice::Escaped) => return Ok(None),
                Err(NoChoice::Interrupted) => return Err(Exit::Interrupted),
            }
        }
    }

    fn show_place(&self, files: usize, lines: usize) {
        let console = Console::new(&self.locale);
        for (index, PlaceFile { path, text }) in self.place_files.wanting().iter().enumerate() {
            console.note(&format!("  {}", sanitize_line(&self.place().shown(path).display().to_string())));
            if index >= files {
                continue;
            }
            let rows: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            for row in rows.iter().take(lines) {
                console.note(&format!("    {}", sanitize_line(row)));
            }
            if let Some(more) = rows.len().checked_sub(lines).filter(|more| *more > 0) {
                let more = self.locale.with(word::approve::TooLong { count: &more.to_string() });
                console.note(&format!("    {more}"));
            }
        }
    }

    /// Where nobody can be asked: says what is left out.
    pub(super) fn tell_untrusted(&self) {
        match self.standing {
            Standing::Unknown | Standing::Changed => {}
            Standing::Nothing | Standing::Trusted | Standing::Refused => return,
        }
        let names: Vec<String> = self
            .place_files
            .wanting()
            .iter()
            .map(|file| sanitize_line(&self.place().shown(&file.path).display().to_string()).into_owned())
            .collect();
        let files = match names.as_slice() {
            [first, second, third, rest @ ..] if !rest.is_empty() => {
                format!("{first}, {second}, {third} +{}", rest.len())
            }
            names => names.join(", "),
        };
        Console::new(&self.locale).warn(&self.locale.with(word::trust::Ignored { files: &files }));
    }
}

/// What is known of a place with these files.
pub(super) fn standing(paths: &config::Paths, files: &config::PlaceFiles) -> Standing {
    match &paths.state {
        Some(state) => TrustStore::new(state.join("trust.json")).standing(files),
        None if files.wanting().is_empty() => Standing::Nothing,
        None => Standing::Unknown,
    }
}
