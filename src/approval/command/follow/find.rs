//! `find`: what it runs, deletes and writes.

use std::sync::Arc;

use super::super::effect::{Field, Finding, Input, Touched};
use super::super::known::{Chunk, Origin, PathPattern, Value};
use super::super::search::{Handed, Root, Search, Test};
use super::flow::Flow;
use super::wrapper::Opening;
use super::xargs::replace;
use crate::approval::program::Action;
use crate::approval::program::lists;
use crate::approval::{Class, Glob, Unparsed};
use crate::secret::files::is_secret;

/// A search that begins at more directories than this is not followed.
const MOST_ROOTS: usize = 64;
/// Nor one that begins at more names that another search hands on: each doubles them.
const MOST_HANDED: usize = 8;

/// Which symbolic links `find` follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    None,
    /// Those among its arguments.
    Named,
    /// All.
    All,
}

/// Returns values for names behind links below these roots: they may lie anywhere.
fn anywhere(roots: &[Value]) -> Vec<Value> {
    let anywhere = |root: &Value| {
        let mut value = root.clone();
        value.push_text("/");
        value.chunks.push(Chunk::Unknown);
        value
    };
    roots.iter().map(anywhere).chain(roots.iter().cloned()).collect()
}

/// Where `find` begins, and which links it follows.
struct Beginning {
    roots: Vec<Value>,
    follows: Follows,
    /// Whether an unknown word among the roots may be an action.
    may_be_any: bool,
}

impl Beginning {
    /// Reads the flags and the roots; returns the expression behind them, too.
    fn read(arguments: &[Field]) -> (Self, &[Field]) {
        let (mut follows, mut at) = (Follows::None, 0);
        let mut roots: Vec<Value> = Vec::new();
        while let Some(field) = arguments.get(at) {
            let start = field.value.start();
            match start {
                "-D" => at += 1,
                // BSD's `find` names a root by a flag.
                "-f" => {
                    at += 1;
                    roots.extend(arguments.get(at).map(|field| field.value.clone()));
                }
                "--" => {}
                _ if start.starts_with("-O") => {}
                _ if start.len() > 1
                    && start.starts_with('-')
                    && start[1..].chars().all(|c| "HLPEXdsx".contains(c)) =>
                {
                    follows = start.chars().fold(follows, |follows, letter| match letter {
                        'H' => Follows::Named,
                        'L' => Follows::All,
                        'P' => Follows::None,
                        _ => follows,
                    });
                }
                _ => break,
            }
            at += 1;
        }
        let mut may_be_any = false;
        while let Some(field) = arguments.get(at) {
            let start = field.value.start();
            if start.starts_with('-') || matches!(start, "(" | ")" | "!" | ",") {
                break;
            }
            // An unknown word, or a file whose name was chosen to look like a flag, may be `-delete`.
            may_be_any |= start.is_empty();
            roots.push(field.value.clone());
            at += 1;
        }
        if roots.is_empty() {
            roots.push(Value::text("."));
        }
        (Self { roots, follows, may_be_any }, arguments.get(at..).unwrap_or_default())
    }

    /// Adds what words of the expression say about roots and links.
    fn extend(&mut self, expression: &[Field]) {
        let says = |flag: &str| expression.iter().any(|field| field.value.start() == flag);
        if says("-follow") {
            self.follows = Follows::All;
        }
        if says("-files0-from") {
            self.roots.push(Value::unknown());
        }
        // A slash behind the name means what the link leads to.
        if self.follows != Follows::None {
            for root in &mut self.roots {
                root.push_text("/.");
            }
        }
    }
}

/// What the actions of `find` are applied to.
struct Found {
    roots: Vec<Value>,
    follows: Follows,
    /// Whether tests leave out some of the files.
    filtered: bool,
    /// The search, if the disk can be asked what it finds.
    search: Option<Arc<Search>>,
    /// The names that are passed on.
    items: Vec<Value>,
}

impl Found {
    fn new(opening: &Opening<'_, '_, '_>, begins: Beginning, expression: &[Field]) -> Self {
        let Beginning { roots, follows, may_be_any } = begins;
        let search =
            if may_be_any || follows != Follows::None { None } else { search(opening, &roots, expression) };
        let filtered = is_filtered(expression) || search.as_ref().is_some_and(|search| search.is_telling());
        let name = expression.iter().zip(expression.iter().skip(1)).find_map(|(flag, value)| {
            matches!(flag.value.start(), "-name" | "-iname" | "-path" | "-wholename").then(|| value.value.shown())
        });
        let items = if follows == Follows::All {
            anywhere(&roots)
        } else if filtered || finds_secret(name.as_deref()) {
            opening.state.some_below(&roots, name.as_deref())
        } else {
            // Without a filter `find` passes on the directory itself, and all names below it.
            let mut items = opening.state.some_below(&roots, None);
            items.extend(roots.clone());
            items
        };
        let some = search.clone().map_or(Origin::Some, Origin::Search);
        let items = items.into_iter().map(|item| Value { origin: some.clone(), ..item }).collect();
        Self { roots, follows, filtered, search, items }
    }

    /// Judges each action of the expression.
    fn act(&self, opening: &mut Opening<'_, '_, '_>, expression: &[Field], finding: &mut Finding) {
        let mut at = 0;
        while let Some(field) = expression.get(at) {
            let test = field.value.start();
            at += 1;
            match test {
                "-delete" => self.delete(finding),
                "-exec" | "-execdir" | "-ok" | "-okdir" => {
                    let (length, certain) = command_end(test, &expression[at..]);
                    if !certain {
                        finding.class = finding.class.max(Class::Execute);
                    }
                    self.run(opening, &expression[at..at + length], test.ends_with("dir"));
                    // What some end there goes on with the expression.
                    at += if certain { length + 1 } else { 0 };
                }
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                    finding.class = finding.class.max(Class::Write);
                    if let Some(file) = expression.get(at) {
                        let (value, action) = (file.value.clone(), Action::Overwrite);
                        finding.touched.push(Touched { value, action, recursive: false, filtered: false });
                    }
                    at += 1;
                }
                "-files0-from" | "" => finding.class = finding.class.max(Class::Execute),
                _ if lists::FIND_FILTERS.contains(test)
                    || lists::FIND_VALUED.contains(test)
                    || test.starts_with("-newer") =>
                {
                    at += 1;
                }
                _ => {}
            }
        }
    }

    fn delete(&self, finding: &mut Finding) {
        finding.class = Class::Destructive;
        let origin = self.search.clone().map_or(Origin::Perhaps, Origin::Search);
        let roots = self.roots.iter().map(|value| Value { origin: origin.clone(), ..value.clone() });
        // It follows each link on its way.
        let linked = self.items.iter().filter(|_| self.follows == Follows::All).cloned();
        for value in roots.chain(linked) {
            let (action, filtered) = (Action::Remove, self.filtered);
            finding.touched.push(Touched { value, action, recursive: true, filtered });
        }
    }

    /// Runs a command for what is found, in the directories of the found files if `inside` is set.
    fn run(&self, opening: &mut Opening<'_, '_, '_>, command: &[Field], inside: bool) {
        let items: Vec<Field> =
            self.items.iter().map(|value| Field { value: value.clone(), written: None }).collect();
        // There a relative name means another file.
        let is_file = |field: &Field| !matches!(field.value.start(), "{}" | "./{}");
        let named = command.iter().skip(1).filter(|field| !field.value.start().starts_with('-')).any(is_file);
        let command = replace(command, "{}", &items);
        if inside && named {
            opening.run_anywhere(&command);
        } else {
            opening.run(&command);
        }
    }
}

/// Judges a call of find.
pub(crate) fn open<'s>(opening: &mut Opening<'_, '_, 's>, arguments: &[Field]) -> Flow<'s> {
    let (mut begins, expression) = Beginning::read(arguments);
    let is_handed = |root: &&Value| matches!(root.origin, Origin::Some | Origin::Search(_));
    if begins.roots.len() > MOST_ROOTS || begins.roots.iter().filter(is_handed).count() > MOST_HANDED {
        opening.note(Class::Execute, Some(Unparsed::TooLong));
        begins.roots = vec![Value::unknown()];
    }
    begins.extend(expression);
    let mut finding = Finding::new(if begins.may_be_any { Class::Execute } else { Class::ReadOnly });
    let found = Found::new(opening, begins, expression);
    found.act(opening, expression, &mut finding);
    opening.note_finding(&finding);
    Flow::same(opening.state.clone(), Input::Names(found.items))
}

/// Reads what a call finds: simple tests, and at most one action behind them. `None` if it may also find other
/// files.
fn search(opening: &Opening<'_, '_, '_>, roots: &[Value], expression: &[Field]) -> Option<Arc<Search>> {
    let [Some(_)] = opening.state.directories.as_slice() else { return None };
    let patterns: Vec<_> = roots.iter().flat_map(|root| root.patterns(&opening.state.directories)).collect();
    if patterns.iter().any(|pattern| pattern.is_unresolved() || pattern.has_any_depth()) {
        return None;
    }
    let root = |pattern: &PathPattern| {
        let (path, globs) = pattern.walk()?;
        Some(Root { written: pattern.shown().to_owned(), path, globs })
    };
    let mut search = Search {
        roots: patterns.iter().filter_map(root).collect(),
        depths: (0, usize::MAX),
        tests: Vec::new(),
        deletes: false,
        handed: Handed::Split,
        leaves_out: false,
        with_all_below: false,
    };
    let texts: Option<Vec<String>> = expression.iter().map(|field| field.value.known()).collect();
    // `;` and names with brackets are known, too; a word that is not completely known is no test.
    let texts = texts?;
    let mut texts = texts.iter().map(String::as_str);
    let mut negated = false;
    while let Some(text) = texts.next() {
        let not = std::mem::take(&mut negated);
        match text {
            "!" | "-not" => negated = !not,
            "-a" | "-and" | "-depth" | "-d" if !not => {}
            "-name" | "-iname" | "-type" => search.tests.push(test(text, texts.next()?, not)?),
            "(" => search.tests.push(Test::Any { tests: alternatives(&mut texts)?, negated: not }),
            "-empty" => search.leaves_out = true,
            _ if lists::FIND_FILTERS.contains(text) || text.starts_with("-newer") => {
                texts.next()?;
                search.leaves_out = true;
            }
            "-mindepth" if !not => search.depths.0 = texts.next()?.parse().ok()?,
            "-maxdepth" if !not => search.depths.1 = texts.next()?.parse().ok()?,
            "-print" if !not && texts.next().is_none() => {}
            "-print0" if !not && texts.next().is_none() => search.handed = Handed::Whole,
            "-delete" if !not && texts.next().is_none() => {
                search.deletes = true;
                search.handed = Handed::Whole;
            }
            "-exec" if !not => {
                search.handed = Handed::Whole;
                let mut before = "";
                loop {
                    match texts.next()? {
                        ";" => break,
                        "+" if before == "{}" => break,
                        "+" => return None,
                        word => before = word,
                    }
                }
                if texts.next().is_some() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    Some(Arc::new(search))
}

/// Returns how many words the command behind an action has, and whether every `find` ends it there: at `;`, or at a
/// `+` behind `{}`. Busybox ends it at any `+`, GNU's `-ok` at none.
fn command_end(action: &str, words: &[Field]) -> (usize, bool) {
    let is = |at: usize, mark: &str| words.get(at).is_some_and(|field| field.value.start() == mark);
    let at_once = |at: usize| !action.starts_with("-ok") && is(at, "+") && at > 0 && is(at - 1, "{}");
    let length = (0..words.len()).find(|at| is(*at, ";") || at_once(*at)).unwrap_or(words.len());
    (length, !(0..length).any(|at| is(at, "+")))
}

/// Reads a test of a name or a kind.
fn test(flag: &str, value: &str, negated: bool) -> Option<Test> {
    match (flag, value) {
        ("-name", _) => Some(Test::Name { pattern: Glob::parse(value), negated }),
        ("-iname", _) => Some(Test::Name { pattern: Glob::parse(value).folding_case(), negated }),
        ("-type", "d" | "f") => Some(Test::Kind { directory: value == "d", negated }),
        _ => None,
    }
}

/// Reads what stands between brackets: single tests, joined by `-o`.
fn alternatives<'t>(words: &mut impl Iterator<Item = &'t str>) -> Option<Vec<Test>> {
    let mut tests = Vec::new();
    loop {
        let mut flag = words.next()?;
        let negated = matches!(flag, "!" | "-not");
        if negated {
            flag = words.next()?;
        }
        tests.push(test(flag, words.next()?, negated)?);
        match words.next()? {
            "-o" | "-or" => {}
            ")" => return Some(tests),
            _ => return None,
        }
    }
}

/// Judges a call of fd that runs a command for what it finds; `None` for any other call, which the table covers.
pub(crate) fn open_fd<'s>(opening: &mut Opening<'_, '_, 's>, arguments: &[Field]) -> Option<Flow<'s>> {
    let runs = |field: &Field| matches!(field.value.start(), "-x" | "-X" | "--exec" | "--exec-batch");
    let at = arguments.iter().position(runs)?;
    let (head, rest) = (&arguments[..at], &arguments[at + 1..]);
    // An unknown word may be that flag, and a cluster may contain it.
    let plain = |field: &Field| {
        let start = field.value.start();
        !start.is_empty() && (start.starts_with("--") || !start.starts_with('-') || !start.contains(['x', 'X']))
    };
    let ends = rest.iter().position(|field| field.value.start() == ";");
    if !head.iter().all(plain) || rest.is_empty() || ends.is_some_and(|ends| ends + 1 != rest.len()) {
        return None;
    }
    let inner = &rest[..ends.unwrap_or(rest.len())];
    // A pattern among the words does no harm: it counts as one more directory.
    let roots = head.iter().filter(|field| !field.value.start().starts_with('-')).map(|field| field.value.clone());
    let mut roots: Vec<Value> = roots.collect();
    roots.push(Value::text("."));
    let mut items = opening.state.some_below(&roots, None);
    // Without an extension, or a pattern with a letter in it, it finds everything there.
    let pattern = head.first().map(|field| field.value.shown()).unwrap_or_default();
    let by_name = !pattern.starts_with('-') && pattern.contains(char::is_alphanumeric);
    let by_ending = head.iter().any(|field| matches!(field.value.start(), "-e" | "--extension"));
    let holders = inner.iter().any(|field| field.value.shown().contains("{//}"));
    let strays = |field: &Field| {
        let start = field.value.start();
        ["--follow", "--base-directory", "--search-path", "-C"].iter().any(|flag| start.starts_with(flag))
            || start.starts_with('-') && !start.starts_with("--") && start.contains('L')
    };
    if head.iter().any(strays) {
        items = anywhere(&roots);
    } else if holders || !by_name && !by_ending {
        items.extend(roots);
    }
    let items: Vec<Field> = items.into_iter().map(|value| Field { value, written: None }).collect();
    let marks = ["{}", "{/}", "{//}", "{.}", "{/.}"];
    let marked = inner.iter().any(|field| marks.iter().any(|mark| field.value.shown().contains(mark)));
    let mut inner = inner.to_vec();
    if marked {
        for mark in marks {
            inner = replace(&inner, mark, &items);
        }
    } else {
        inner.extend(items);
    }
    opening.run(&inner);
    opening.note(Class::ReadOnly, None);
    Some(opening.same())
}

fn finds_secret(name: Option<&str>) -> bool {
    name.is_some_and(|name| is_secret(std::path::Path::new(name), None))
}

fn is_filtered(expression: &[Field]) -> bool {
    let texts: Vec<String> = expression.iter().map(|field| field.value.shown()).collect();
    if texts.iter().any(|text| matches!(text.as_str(), "-o" | "-or" | "!" | "-not" | ",")) {
        return false;
    }
    texts.iter().enumerate().any(|(index, text)| {
        let value = texts.get(index + 1).map(String::as_str).unwrap_or_default();
        text == "-empty"
            || (lists::FIND_FILTERS.contains(text.as_str())
                && value.chars().any(char::is_alphanumeric)
                && !value.contains('…'))
    })
}
