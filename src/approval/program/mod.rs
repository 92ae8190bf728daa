//! What is known of each shell program before its words are read: the rows of `rows/`, which the build lays out.
//!
//! A row is `names => clause; clause`, with rows for its sub-commands indented below; [`Program`] and [`Trait`] say
//! what each clause means. Whoever judges, counts, keeps or offers asks here and has no list of programs of its own.

/// What happens to a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// It is gone, or what is in it.
    Remove,
    /// It is somewhere else, content and all.
    Move,
    /// Its content is replaced.
    Overwrite,
    /// It is made, or more is added to it.
    Change,
    /// Only what its name, mode or owner says changes.
    Attributes,
}

/// Lists that the modules with a grammar look words up in; `rows/lists.words` says what each is.
pub(crate) mod lists {
    use super::Words;

    include!(concat!(env!("OUT_DIR"), "/program_words.rs"));
}

/// One row: a program, or one sub-command of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// Its names, or the words of the sub-command.
    pub(crate) words: Words,
    /// `looks`, `prints`, `searches`: it only looks, and this is what it does with files.
    pub(crate) looks: Option<Looks>,
    /// `unless FLAGS`: with these it does more than look.
    pub(crate) unless: Flags,
    /// `only FLAGS`: with any other flag it does. A name without dashes fits behind any number of them.
    pub(crate) only: Words,
    /// `most N`: with more arguments that are no flags it does. `plain N`: the same, and with any flag.
    pub(crate) most: Option<u8>,
    /// `valued FLAGS`: flags whose value is the next word.
    pub(crate) valued: Words,
    /// `pattern FLAGS`: with these its first argument is no pattern but a file.
    pub(crate) pattern: Flags,
    /// `writes`, `destroys`, `network`, `disk`, `halts`: what it does, or does more than look. `destroys with FLAGS`:
    /// only with these.
    pub(crate) does: Option<Does>,
    /// See `does`.
    pub(crate) with: Flags,
    /// `destroys at WORDS`, `halts at WORDS`: with one of these among its arguments it does that.
    pub(crate) at: Words,
    /// See `at`.
    pub(crate) at_does: Does,
    /// `removes`, `moves`, `overwrites`, `changes`: which of its arguments, and how.
    changes: Span,
    /// `grammar NAME`: a module of its own reads its words.
    pub(crate) grammar: Grammar,
    /// `runs HOW`: it runs another program that its words name.
    pub(crate) runs: Option<Runs>,
    /// `skips N`: so many words stand between the flags of a wrapper and the command it runs.
    pub(crate) skips: u8,
    /// `before FLAGS`: what may stand in front of a sub-command, with `=` where a value follows.
    pub(crate) before_valued: Words,
    /// See `before_valued`.
    pub(crate) before: Words,
    /// `help below WORDS`: its sub-commands answer `--help`, and so do those one deeper behind these words.
    pub(crate) help_below: Words,
    /// `help at WORDS`: only these of its sub-commands do.
    pub(crate) help_at: Words,
    /// `rule N`: how many words a rule for it needs; 1 where nothing is said.
    pub(crate) rule: u8,
    /// `carries FLAGS`, `carries at WORDS`: what carries a command line of its own.
    pub(crate) carries: Flags,
    /// See `carries`.
    pub(crate) carries_at: Words,
    /// `says TEXT`: what it prints, as far as it matters.
    pub(crate) says: Text,
    /// `names links`, `names copies`, `names moves`: how it gives new names to what has one.
    pub(crate) naming: Option<Naming>,
    /// The words of one meaning each, as bits.
    traits: u32,
    below: Span,
}

/// What a program that only looks does with the files it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    /// It prints what is in them, or something made of it.
    Contents,
    /// As `Contents`; the first argument is a pattern or a program.
    AfterPattern,
    /// It only looks at names and facts.
    Names,
}

/// What a program does that does not only look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// It changes files and loses nothing.
    Writes,
    /// It loses content, or stops what runs.
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
    /// The command behind its flags.
    Behind,
    /// The same, with more power than the command has by itself: it is judged, too.
    Raised,
    /// The text it is given, or its input, as a script.
    Shell,
    /// As the built-in command of that name does.
    Builtin,
    /// The command behind variables it sets.
    Env,
    /// What it finds is given to the command in its expression.
    Find,
    /// The same, where a flag says so.
    Fd,
    /// Names from its input are given to the command.
    Xargs,
    /// Its words, joined by blanks, as a script.
    Joined,
    /// Something that cannot be seen for certain.
    Unseen,
    /// Something on another machine.
    Remote,
}

/// How a program gives new names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Links lead to the old one.
    Links,
    /// Copies, and with some flags links.
    Copies,
    /// The old one is gone.
    Moves,
}

/// Which of its arguments a program touches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touches {
    /// What happens to them.
    pub(crate) action: Action,
    /// Which of those that are no flags.
    pub(crate) which: Which,
    /// The value of one of these flags; it comes before the last argument where both are said.
    pub(crate) flags: Words,
    /// Whether everything below goes with them.
    pub(crate) below: bool,
}

/// Which arguments that are no flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Nothing,
    All,
    /// All but the last; all, where a flag says what the last would.
    Rest,
    Last,
    AfterFirst,
}

/// What is said of a program in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trait {
    /// It suffers no flag at all: `plain`.
    Plain,
    /// It becomes another user, which the sandbox forbids.
    BecomesUser,
    /// It is the language of its argument's text; its name may have a version behind it.
    Interpreter,
    /// It runs what is written to its input, now or later.
    RunsInput,
    /// Alone with `--help` or `--version` it only answers. Who only looks and who has sub-commands does, too.
    Helps,
    /// Its sub-commands answer `--help`: see `help_below`.
    HelpsBelow,
    /// It tells its version by `-v`, and reads nothing of the project first.
    SmallV,
    /// To it `-h` is a host.
    HostH,
    /// What it prints is not what anybody has seen in its input.
    Decodes,
    /// What it prints comes from the network.
    Fetches,
    /// It hands on the names of files it reads.
    PassesNames,
    /// A rule for it names all words: any others would mean anything at all.
    Exact,
    /// Where its name stands among the words of an unknown program it may be run.
    Suspect,
    /// Its name in a text looks like a loss.
    Loses,
    /// Alone with `-l` it lists disks.
    Lists,
    /// It takes names away and does nothing else with what had them.
    Unlinks,
    /// It gives something a second name or another one, or writes before it removes.
    Renames,
    /// It changes no file but those it is told to, whatever it reaches.
    Asks,
    /// It writes names nobody can read off its words.
    Unpacks,
    /// It leaves the files of the workspace as they are.
    Keeps,
    /// The line goes on in another directory after it.
    ChangesDirectory,
    /// One of the built-in commands that POSIX calls special.
    Special,
    /// A built-in command that evaluates an index inside the names it is given.
    Evaluates,
    /// What it does beside looking changes this machine for all who use it, which no sandbox lets it: `machine`.
    Machine,
    /// What it does beside looking hands something to others, out of this machine.
    Sends,
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

/// A piece of the table's text: where it starts and how long it is, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text(u16, u16);

/// Some words of the table: where the first stands and how many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words(u16, u16);

/// Some rows or changes of the table: where the first stands and how many there are.
#[derive(Debug, Clone, Copy)]
struct Span(u16, u16);

/// All rows; no reference stands in one, so that nothing of it is relocated at a start.
struct Table {
    text: &'static str,
    words: &'static [Text],
    changes: &'static [Touches],
    /// Names in order, with their rows.
    names: &'static [(Text, u16)],
    /// Beginnings of names.
    starts: &'static [(Text, u16)],
    rows: &'static [Program],
}

static TABLE: Table = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

impl Trait {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl Program {
    /// What is known of a program of which nothing is.
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
            says: text,
            naming: None,
            traits: 0,
            below: Span(0, 0),
        }
    };

    /// The row of a program by its name without directories.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        let known = TABLE.names.binary_search_by(|(known, _)| known.as_str().cmp(name));
        let row = match known {
            Ok(at) => TABLE.names.get(at),
            Err(_) => TABLE.starts.iter().find(|(start, _)| name.starts_with(start.as_str())),
        };
        row.and_then(|(_, row)| TABLE.rows.get(usize::from(*row)))
    }

    /// The row of a program by its name, with or without a version behind it.
    pub(crate) fn versioned(name: &str) -> Option<&'static Self> {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Self::named(name).or_else(|| Self::named(base).filter(|row| row.is(Trait::Interpreter)))
    }

    /// Tells whether something is said of it.
    pub(crate) const fn is(&self, what: Trait) -> bool {
        self.traits & what.bit() != 0
    }

    /// Which of its arguments it touches.
    pub(crate) fn touches(&self) -> &'static [Touches] {
        let Span(from, count) = self.changes;
        TABLE.changes.get(usize::from(from)..).and_then(|rest| rest.get(..usize::from(count))).unwrap_or_default()
    }

    /// The rows of its sub-commands.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_finds_its_own_row() {
        assert!(TABLE.names.len() > 700, "{}", TABLE.names.len());
        for (name, row) in TABLE.names {
            let found = Program::named(name.as_str()).unwrap();
            assert!(std::ptr::eq(found, &raw const TABLE.rows[usize::from(*row)]), "{}", name.as_str());
            assert!(found.words.contains(name.as_str()), "{}", name.as_str());
        }
        assert!(Program::named("mkfs.ext4").unwrap().words.contains("mkfs*"));
        assert!(Program::named("no-such-program").is_none());
        assert_eq!(Program::versioned("python3.11").unwrap().grammar, Grammar::Python);
        assert!(Program::versioned("cat2").is_none());
    }

    #[test]
    fn a_row_says_what_its_clauses_say() {
        let move_ = Program::named("mv").unwrap();
        assert_eq!((move_.does, move_.naming), (Some(Does::Writes), Some(Naming::Moves)));
        let touched: Vec<_> = move_.touches().iter().map(|touches| (touches.action, touches.which)).collect();
        assert_eq!(touched, [(Action::Move, Which::Rest), (Action::Change, Which::Last)]);
        let show = Program::named("ip").unwrap().below().iter().find(|row| row.words.iter().eq(["addr", "show"]));
        assert_eq!(show.unwrap().looks, Some(Looks::Names));
        assert!(lists::GIT_COMMANDS.contains("commit"));
    }
}
