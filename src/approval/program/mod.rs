//! What is known about each shell program before its words are read: the rows in `rows/`, which the build lays out.
//!
//! A row is `names => clause; clause`, with the rows of its sub-commands indented below. [`Program`] and [`Trait`]
//! explain the clauses. Judging, counting, copying and offering rules all ask this table; none of them has a list
//! of programs of its own.

mod into;

pub use into::needed_directory;

/// What happens to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is removed, or emptied.
    Remove,
    /// It is moved, with its content.
    Move,
    /// Its content is replaced.
    Overwrite,
    /// It is created, or appended to.
    Change,
    /// Only its name, mode or owner changes.
    Attributes,
}

/// Word lists for the modules with a grammar; `rows/lists.words` explains each.
pub(crate) mod lists {
    use super::Words;

    include!(concat!(env!("OUT_DIR"), "/program_words.rs"));
}

/// One row: a program, or one sub-command of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// Its names, or the words of the sub-command.
    pub(crate) words: Words,
    /// `looks`, `prints`, `searches`: it only looks, and this is how it uses files.
    pub(crate) looks: Option<Looks>,
    /// `unless FLAGS`: with one of these it does more than look.
    pub(crate) unless: Flags,
    /// `only FLAGS`: with any other flag it does more than look. A name without dashes matches behind any number of
    /// them.
    pub(crate) only: Words,
    /// `most N`: with more than N arguments that are no flags it does more than look. `plain N`: the same, and so
    /// it does with any flag.
    pub(crate) most: Option<u8>,
    /// `valued FLAGS`: the next word is the value of these flags.
    pub(crate) valued: Words,
    /// `bare FLAGS`: these flags of a wrapper take no value. A flag of a wrapper that no list has is asked about.
    pub(crate) bare: Words,
    /// `optional FLAGS`: a value of these flags of a wrapper is joined to them; the next word is none.
    pub(crate) optional: Words,
    /// `pattern FLAGS`: with one of these its first argument is a file, and no pattern; what looks at names only reads
    /// what is in the files then.
    pub(crate) pattern: Flags,
    /// `writes`, `destroys`, `network`, `disk`, `halts`: what it does if it does more than look. `destroys with
    /// FLAGS`: it does that only with one of these.
    pub(crate) does: Option<Does>,
    /// See `does`.
    pub(crate) with: Flags,
    /// `destroys at WORDS`, `halts at WORDS`: it does that if one of these is among its arguments.
    pub(crate) at: Words,
    /// See `at`.
    pub(crate) at_does: Does,
    /// `removes`, `moves`, `overwrites`, `changes`: which of its arguments, and how.
    changes: Span,
    /// `grammar NAME`: a module of its own reads its words.
    pub(crate) grammar: Grammar,
    /// `runs HOW`: its words name another program, which it runs.
    pub(crate) runs: Option<Runs>,
    /// `skips N`: N words stand between the flags of a wrapper and its command.
    pub(crate) skips: u8,
    /// `before FLAGS`: flags that may stand in front of a sub-command; `=` marks those with a value.
    pub(crate) before_valued: Words,
    /// See `before_valued`.
    pub(crate) before: Words,
    /// `help below WORDS`: its sub-commands answer `--help`, and behind these words so do those one level deeper.
    pub(crate) help_below: Words,
    /// `help at WORDS`: only these of its sub-commands answer `--help`.
    pub(crate) help_at: Words,
    /// `rule N`: how many words a rule for it needs; 1 if the row does not say.
    pub(crate) rule: u8,
    /// `carries FLAGS`, `carries at WORDS`: these arguments contain a command line.
    pub(crate) carries: Flags,
    /// See `carries`.
    pub(crate) carries_at: Words,
    /// `logins FLAGS`: with one of these it sends the login that `~/.netrc` has for a host.
    pub(crate) logins: Flags,
    /// `says TEXT`: what it prints, as far as the judgement depends on it.
    pub(crate) says: Text,
    /// `names links`, `names copies`, `names moves`: how it gives a new name to a file.
    pub(crate) naming: Option<Naming>,
    /// The clauses that are one word, as bits.
    traits: u32,
    below: Span,
}

/// How a program that only looks uses the files it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    /// It prints their contents, or something derived from them.
    Contents,
    /// As `Contents`, but the first argument is a pattern or a program.
    AfterPattern,
    /// It only looks at names and metadata.
    Names,
}

/// What a program does if it does more than look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// It changes files, and destroys nothing.
    Writes,
    /// It destroys content, or stops processes.
    Destroys,
    /// It reaches the network.
    Network,
    /// It overwrites a disk or a file system.
    Disk,
    /// It stops the machine.
    Halts,
}

/// How a program runs another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    /// It runs the command behind its flags.
    Behind,
    /// The same, but the command gets more power than it has by itself: both are judged.
    Raised,
    /// It runs its text, or its input, as a script.
    Shell,
    /// It runs a command as the built-in of the same name does.
    Builtin,
    /// It sets variables and runs the command behind them.
    Env,
    /// It passes the files it finds to the command in its expression.
    Find,
    /// The same, if a flag says so.
    Fd,
    /// It passes names from its input to the command.
    Xargs,
    /// It runs its words, joined by blanks, as a script.
    Joined,
    /// It runs something that cannot be read for certain.
    Unseen,
    /// It runs something on another machine.
    Remote,
}

/// How a program gives a new name to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By links that lead to the old one.
    Links,
    /// By copies, or with some flags by links.
    Copies,
    /// The old name disappears.
    Moves,
}

/// Which of its arguments a program changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touches {
    /// What happens to them.
    pub(crate) action: Action,
    /// Which of the arguments that are no flags.
    pub(crate) which: Which,
    /// The value of one of these flags; if both are given, it stands before the last argument. Of what all is removed, it
    /// is only with one of these, and else overwritten.
    pub(crate) flags: Words,
    /// Whether everything below them changes with them.
    pub(crate) below: bool,
}

/// Selects arguments that are no flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Nothing,
    All,
    /// All but the last; all of them if a flag names what the last one would.
    Rest,
    Last,
    AfterFirst,
}

/// What one word says about a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trait {
    /// `plain`: it allows no flag at all.
    Plain,
    /// It becomes another user, which the sandbox forbids.
    BecomesUser,
    /// It interprets the program text in its argument; a version number may follow its name.
    Interpreter,
    /// It runs its input, now or later.
    RunsInput,
    /// With `--help` or `--version` alone it only answers. So do programs that only look, and programs with
    /// sub-commands.
    Helps,
    /// Its sub-commands answer `--help`: see `help_below`.
    HelpsBelow,
    /// It prints its version for `-v`, without reading anything of the project first.
    SmallV,
    /// Its flag `-h` names a host.
    HostH,
    /// Its output is decoded: nobody has seen it in the input.
    Decodes,
    /// Its output comes from the network.
    Fetches,
    /// It passes on the file names in its input.
    PassesNames,
    /// A rule for it must name all words: with other words it could do anything.
    Exact,
    /// If its name is among the words of an unknown program, that program may run it.
    Suspect,
    /// A text with its name looks destructive.
    Loses,
    /// With `-l` alone it lists disks.
    Lists,
    /// It removes names, and changes nothing else.
    Unlinks,
    /// It gives a file a second or another name, or writes before it removes.
    Renames,
    /// It removes what is at a place before it writes there: a link is not followed.
    Replaces,
    /// It changes only files that it is told to change, whatever it reaches.
    Asks,
    /// It creates files whose names its words do not tell.
    Unpacks,
    /// It does not change the files of the workspace.
    Keeps,
    /// The line goes on in another directory after it.
    ChangesDirectory,
    /// One of the built-in commands that POSIX calls special.
    Special,
    /// A built-in command that evaluates an index in the names it is given.
    Evaluates,
    /// `machine`: if it does more than look, it changes the machine for all its users, which no sandbox allows.
    Machine,
    /// If it does more than look, it sends something from this machine to others.
    Sends,
    /// One dash in front of a flag means the same as two, and letters do not stand in clusters: Go, openssl, LLVM.
    AnyDashes,
    /// A word `@FILE` stands for the flags in that file.
    ResponseFiles,
}

/// The programs whose words a module of their own reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// The row says enough.
    None,
    Attributes,
    Awk,
    Bat,
    Builtin,
    Cat,
    Cmake,
    Compiler,
    Compressor,
    Date,
    Dd,
    Env,
    Fd,
    Find,
    Getent,
    Git,
    Jq,
    Kill,
    Kubectl,
    Ls,
    Pager,
    Perl,
    Printenv,
    Ps,
    Python,
    Rsync,
    Search,
    Sed,
    Sqlite,
    Sysctl,
    Tar,
    Tcpdump,
    Tee,
    Unzip,
}

/// Flags: letters that may stand in a cluster, and long names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flags {
    pub(crate) letters: Text,
    pub(crate) longs: Words,
}

/// A piece of the table's text: its start and its length, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text(u16, u16);

/// Several words of the table: the index of the first, and their number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words(u16, u16);

/// Several rows or changes of the table: the index of the first, and their number.
#[derive(Debug, Clone, Copy)]
struct Span(u16, u16);

/// All rows. It contains no references, so nothing in it has to be relocated at a start.
struct Table {
    text: &'static str,
    words: &'static [Text],
    changes: &'static [Touches],
    /// The names, sorted, each with its row.
    names: &'static [(Text, u16)],
    /// The beginnings of names.
    starts: &'static [(Text, u16)],
    rows: &'static [Program],
}

static TABLE: Table = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// The names that have a row, for tests that hold for all of them.
#[cfg(test)]
pub(crate) mod names {
    use super::{Looks, TABLE};

    /// Those that print what is in files, with what stands before the files.
    pub(crate) fn of_readers() -> impl Iterator<Item = (&'static str, &'static str)> {
        TABLE.names.iter().filter_map(|(name, row)| match TABLE.rows[usize::from(*row)].looks? {
            Looks::Contents => Some((name.as_str(), "")),
            Looks::AfterPattern => Some((name.as_str(), "x ")),
            Looks::Names => None,
        })
    }
}

impl Trait {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl Program {
    /// The row of a program about which nothing is known.
    const NOTHING: Self = {
        let (text, words) = (Text(0, 0), Words(0, 0));
        let flags = Flags { letters: text, longs: words };
        Self {
            words,
            looks: None,
            unless: flags,
            only: words,
            most: None,
            valued: words,
            bare: words,
            optional: words,
            pattern: flags,
            does: None,
            with: flags,
            at: words,
            at_does: Does::Destroys,
            changes: Span(0, 0),
            grammar: Grammar::None,
            runs: None,
            skips: 0,
            before_valued: words,
            before: words,
            help_below: words,
            help_at: words,
            rule: 1,
            carries: flags,
            carries_at: words,
            logins: flags,
            says: text,
            naming: None,
            traits: 0,
            below: Span(0, 0),
        }
    };

    /// Finds the row of a program by its name without directories.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        let known = TABLE.names.binary_search_by(|(known, _)| known.as_str().cmp(name));
        let row = match known {
            Ok(at) => TABLE.names.get(at),
            Err(_) => TABLE.starts.iter().find(|(start, _)| name.starts_with(start.as_str())),
        };
        row.and_then(|(_, row)| TABLE.rows.get(usize::from(*row)))
    }

    /// Finds the row of a program by its name, with or without a version number.
    pub(crate) fn versioned(name: &str) -> Option<&'static Self> {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Self::named(name).or_else(|| Self::named(base).filter(|row| row.is(Trait::Interpreter)))
    }

    /// Tells whether the row contains this trait.
    pub(crate) const fn is(&self, what: Trait) -> bool {
        self.traits & what.bit() != 0
    }

    /// Returns which of its arguments it changes.
    pub(crate) fn touches(&self) -> &'static [Touches] {
        let Span(from, count) = self.changes;
        TABLE.changes.get(usize::from(from)..).and_then(|rest| rest.get(..usize::from(count))).unwrap_or_default()
    }

    /// Returns the rows of its sub-commands.
    pub(crate) fn below(&self) -> &'static [Self] {
        let Span(from, count) = self.below;
        TABLE.rows.get(usize::from(from)..).and_then(|rest| rest.get(..usize::from(count))).unwrap_or_default()
    }
}

impl Text {
    pub(crate) fn as_str(self) -> &'static str {
        let from = usize::from(self.0);
        TABLE.text.get(from..from + usize::from(self.1)).unwrap_or_default()
    }
}

impl Words {
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static str> + Clone {
        let from = usize::from(self.0);
        TABLE.words.get(from..from + usize::from(self.1)).unwrap_or_default().iter().map(|text| text.as_str())
    }

    pub(crate) fn contains(self, word: &str) -> bool {
        self.iter().any(|known| known == word)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.1 == 0
    }

    pub(crate) fn len(self) -> usize {
        usize::from(self.1)
    }
}

impl Flags {
    pub(crate) const fn is_empty(self) -> bool {
        self.letters.1 == 0 && self.longs.1 == 0
    }
}

/// Tells whether the words behind a program's own flags are another command.
#[must_use]
pub fn runs_its_words(program: &str) -> bool {
    Program::named(program).and_then(|program| program.runs).is_some_and(|runs| match runs {
        Runs::Find | Runs::Fd => false,
        Runs::Behind
        | Runs::Raised
        | Runs::Shell
        | Runs::Builtin
        | Runs::Env
        | Runs::Xargs
        | Runs::Joined
        | Runs::Unseen
        | Runs::Remote => true,
    })
}

/// Tells whether the word behind this program and its flags is another program: `sudo`, `env`, `time`, `exec`.
#[must_use]
pub fn stands_before_program(program: &str) -> bool {
    let row = Program::named(program).filter(|row| row.skips == 0);
    row.and_then(|row| Some((row, row.runs?))).is_some_and(|(row, runs)| match runs {
        Runs::Behind | Runs::Raised | Runs::Env => true,
        // `command` and `exec` have flags and then a program; `eval` and `source` run a text.
        Runs::Builtin => !row.bare.is_empty(),
        Runs::Shell | Runs::Find | Runs::Fd | Runs::Xargs | Runs::Joined | Runs::Unseen | Runs::Remote => false,
    })
}

/// Tells whether bash does this itself (bash 5.2, `compgen -b`).
#[must_use]
pub fn is_builtin(program: &str) -> bool {
    lists::BUILTINS.contains(program)
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
