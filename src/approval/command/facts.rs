//! What a part does to files, as the row of its program and its words tell: for whoever keeps copies of them, or says how
//! far a child may reach. Looks at no disk.

use super::effect::git_command_at;
use super::judgement::{Judged, Part};
use crate::approval::Class;
use crate::approval::program::{Grammar, Naming, Program, Trait, lists};
use crate::secret::printed;

/// How a part gives new names to what has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewNames {
    /// By a link that says the old name, read from where the link stands.
    Symbolic,
    /// By anything whose old name is read from where the program runs.
    Plain,
    /// As above; but what is no link gets a copy, or loses its old name.
    OnlyLinks,
}

/// What git does to the files of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GitChanges {
    /// It leaves them as they are.
    Nothing,
    /// It may change or throw away any.
    Files {
        /// Also those it is told to ignore.
        ignored: bool,
    },
}

/// Letters of curl that take no value (curl 8.14, `curl --help all`).
const ALONE: &str = "012346#aBfgGiIjJklLMnNOpqRsSvVZ";

impl Judged {
    /// Its words, the program first; `None` where one is only known when it runs.
    pub(super) fn words(&self) -> &[Option<String>] {
        match &self.part {
            Part::Command { words, .. } => words,
            Part::Redirection { .. } => &[],
        }
    }

    /// Its words as they are known when it runs: those that the line sets before, too.
    pub(crate) fn as_run(&self) -> &[Option<String>] {
        self.run.as_deref().unwrap_or_else(|| self.words())
    }

    /// Tells whether it is known to print a secret with no name beside it: `op read …`, `gh auth token`.
    pub(super) fn prints_secret(&self) -> bool {
        let words: Vec<&str> = self.as_run().iter().flatten().map(String::as_str).collect();
        printed::prints_secret(&words)
    }

    fn row(&self) -> Option<&'static Program> {
        row_of(self.words())
    }

    fn is(&self, what: Trait) -> bool {
        self.row().is_some_and(|row| row.is(what))
    }

    /// Tells whether it takes names away and does nothing else with what had them.
    pub(crate) fn only_unlinks(&self) -> bool {
        self.is(Trait::Unlinks) || self.is_find_that_deletes()
    }

    fn is_find_that_deletes(&self) -> bool {
        let does_more =
            |word: &str| ["-exec", "-ok", "-fprint", "-fls"].iter().any(|start| word.starts_with(start));
        let words = self.words();
        self.row().is_some_and(|row| row.grammar == Grammar::Find)
            && words.iter().flatten().any(|word| word == "-delete")
            && words.iter().all(|word| word.as_deref().is_some_and(|word| !does_more(word)))
    }

    /// Tells whether it gives something a second name or another one, or writes before it removes.
    pub(crate) fn renames(&self) -> bool {
        self.is(Trait::Renames)
    }

    /// The flag by which it sends the login that `~/.netrc` has for a host, as it is written.
    pub(crate) fn uses_logins(&self) -> Option<&str> {
        let logins = self.row()?.logins;
        let is_one = |word: &&str| {
            let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            // Behind a letter with a value stands that value.
            let has = |letters: &str| {
                let alone = letters.chars().take_while(|letter| ALONE.contains(*letter));
                alone.into_iter().any(|letter| logins.letters.as_str().contains(letter))
            };
            logins.longs.iter().any(|long| long.trim_start_matches('-') == word.trim_start_matches('-'))
                && word.starts_with("--")
                || short.is_some_and(has)
        };
        self.words().iter().skip(1).flatten().map(String::as_str).find(is_one)
    }

    /// Tells whether it puts something in the place of a link, and does not write what the link leads to.
    pub(crate) fn replaces_links(&self) -> bool {
        self.row()
            .is_some_and(|row| matches!(row.naming, Some(Naming::Moves | Naming::Links)) || row.is(Trait::Replaces))
    }

    /// Tells whether it changes no file but those it is told to, whatever it reaches.
    pub(crate) fn only_asks(&self) -> bool {
        self.is(Trait::Asks)
    }

    /// Tells whether it writes names nobody can read off its words.
    pub(crate) fn unpacks(&self) -> bool {
        self.is(Trait::Unpacks)
    }

    /// Tells whether the line goes on in another directory after it.
    pub(crate) fn changes_directory(&self) -> bool {
        self.is(Trait::ChangesDirectory)
    }

    /// Tells whether it, or what runs it, becomes another user.
    pub(crate) fn becomes_user(&self) -> bool {
        let becomes = |words: &[Option<String>]| row_of(words).is_some_and(|row| row.is(Trait::BecomesUser));
        match &self.part {
            Part::Command { words, outer } => becomes(words) || outer.iter().any(|words| becomes(words)),
            Part::Redirection { .. } => false,
        }
    }

    /// Tells whether it changes this machine for all who use it, which no sandbox lets it.
    pub(crate) fn changes_machine(&self) -> bool {
        self.class != Class::ReadOnly && self.is(Trait::Machine)
    }

    /// Tells whether it hands something to others, out of this machine.
    pub(crate) fn sends(&self) -> bool {
        let below = |row: &'static Program| {
            let words = self.words().get(1..).unwrap_or_default();
            let named = |word: &Option<String>, row: &Program| row.words.iter().eq(word.as_deref());
            row.below().iter().any(|row| row.is(Trait::Sends) && words.iter().any(|word| named(word, row)))
        };
        self.class != Class::ReadOnly && self.row().is_some_and(|row| row.is(Trait::Sends) || below(row))
    }

    /// Tells whether it may take something off the machine. Each command may that reaches the network, except those that are
    /// known to fetch only.
    pub(crate) fn leaves(&self) -> bool {
        self.sends() || self.class == Class::Network && !self.only_fetches()
    }

    /// Tells whether it is known to fetch and to send nothing: a package manager, git that does not push.
    pub(super) fn only_fetches(&self) -> bool {
        let mut words = self.words().iter().flatten();
        let program = words.next().map_or("", String::as_str);
        let name = program.rsplit('/').next().unwrap_or(program);
        let below = words.find(|word| !word.starts_with('-'));
        lists::FETCHING_PROGRAMS.contains(name) || name == "git" && below.is_some_and(|word| word != "push")
    }

    /// What it does to the files of the workspace where it is git.
    pub(crate) fn git_changes(&self) -> Option<GitChanges> {
        let row = self.row().filter(|row| row.grammar == Grammar::Git)?;
        let words = self.words();
        let command = git_command_at(words).and_then(|at| words.get(at)?.as_deref());
        let named = |row: &&Program| command.is_some_and(|command| row.words.iter().eq([command]));
        if row.below().iter().filter(named).any(|row| row.is(Trait::Keeps)) {
            return Some(GitChanges::Nothing);
        }
        let is_flag = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(['x', 'X']);
        // A word that is not known may be that flag.
        let ignored = command == Some("clean") && words.iter().any(|word| word.as_deref().is_none_or(is_flag));
        Some(GitChanges::Files { ignored })
    }

    /// Tells whether it may change files beside those that were found to be its targets.
    pub(crate) fn changes_unseen(&self) -> bool {
        let changes = self.paths.iter().any(|(_, only_read)| !only_read);
        match self.class {
            Class::ReadOnly => false,
            Class::Write | Class::Destructive => !changes || self.unpacks() || self.git_changes().is_some(),
            Class::Network => !self.only_asks(),
            Class::Execute => true,
        }
    }

    /// Tells whether the names that globs stand for are others from then on.
    pub(crate) fn changes_globs(&self) -> bool {
        let words = self.words();
        match words.first().and_then(Option::as_deref) {
            Some("shopt" | "setopt" | "unsetopt" | "emulate") => true,
            Some("set") => words.iter().skip(1).any(|word| {
                word.as_deref()
                    .is_none_or(|word| word == "noglob" || word.starts_with(['-', '+']) && word.contains('f'))
            }),
            _ => false,
        }
    }

    /// How it gives new names, if it does.
    pub(crate) fn new_names(&self) -> Option<NewNames> {
        let has = |letters: &str, names: &[&str]| {
            self.words().iter().skip(1).flatten().any(|word| {
                let short = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
                short.is_some_and(|rest| rest.contains(|letter| letters.contains(letter)))
                    || names.contains(&word.as_str())
            })
        };
        match self.row()?.naming? {
            Naming::Links if has("s", &["--symbolic"]) && !has("r", &["--relative"]) => Some(NewNames::Symbolic),
            Naming::Links => Some(NewNames::Plain),
            Naming::Copies if has("sl", &["--symbolic-link", "--link"]) => Some(NewNames::Plain),
            Naming::Copies if has("adPRr", &["--archive", "--no-dereference", "--recursive"]) => {
                Some(NewNames::OnlyLinks)
            }
            Naming::Copies => None,
            Naming::Moves => Some(NewNames::OnlyLinks),
        }
    }

    /// What it gives new names to, and its last word where that says the new one; `None` where a word is not known.
    pub(crate) fn old_names(&self) -> Option<(Vec<&str>, Option<&str>)> {
        let given: Vec<&str> = self.words().iter().skip(1).map(Option::as_deref).collect::<Option<_>>()?;
        let into = given.iter().any(|word| word.starts_with("-t") || word.starts_with("--target"));
        let mut sources: Vec<&str> = given.into_iter().filter(|word| !word.starts_with('-')).collect();
        let last = if into { None } else { sources.pop() };
        Some((sources, last))
    }
}

/// The row of the program that these words run.
fn row_of(words: &[Option<String>]) -> Option<&'static Program> {
    let word = words.first()?.as_deref()?;
    Program::named(word.rsplit('/').next().unwrap_or_default())
}
