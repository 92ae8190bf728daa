//! Finds which file of src needs which: the paths a file names, followed through `use` and re-exports to the file
//! that defines what they name. A `pub use` alone needs nothing: it is a sign, not a user. Test code is left out.

use std::collections::{BTreeMap, BTreeSet};

use super::rust_source::{Placed, Token, tokens};

/// The segments of a path; `use` groups are spelled out and `self` at their end is dropped.
type Path = Vec<String>;

/// A path that a file names.
#[derive(Debug)]
struct Mention {
    segments: Path,
    line: usize,
}

/// A name that `use` brings into a file.
#[derive(Debug)]
struct Import {
    path: Path,
    name: String,
    line: usize,
    public: bool,
}

/// What is known of one file.
#[derive(Debug)]
struct Source {
    file: String,
    module: Path,
    imports: Vec<Import>,
    mentions: Vec<Mention>,
    methods: Vec<(String, usize)>,
    types: BTreeSet<String>,
}

/// The files of src and the arrows between them.
#[derive(Debug)]
pub(crate) struct FileGraph {
    sources: Vec<Source>,
    modules: BTreeMap<Path, usize>,
    arrows: Vec<BTreeMap<usize, usize>>,
}

impl FileGraph {
    /// Reads the files of src, each as (name, text).
    pub(crate) fn read(files: &[(String, String)]) -> Self {
        let sources: Vec<Source> = files
            .iter()
            .filter(|(file, _)| !file.ends_with("_tests.rs") && !file.ends_with("/tests.rs"))
            .map(|(file, text)| Source::read(file, text))
            .collect();
        let modules = sources.iter().enumerate().map(|(index, source)| (source.module.clone(), index)).collect();
        let mut graph = Self { sources, modules, arrows: Vec::new() };
        graph.arrows = (0..graph.sources.len()).map(|index| graph.arrows_of(index)).collect();
        graph
    }

    /// Every circle of files, sorted: each file of one needs each other one, directly or through others.
    pub(crate) fn circles(&self) -> Vec<Vec<&str>> {
        let reached: Vec<BTreeSet<usize>> = (0..self.sources.len()).map(|from| self.reached_from(from)).collect();
        let mut circles = BTreeSet::new();
        for from in 0..self.sources.len() {
            if reached[from].contains(&from) {
                let both_ways = reached[from].iter().filter(|to| reached[**to].contains(&from));
                let mut circle: Vec<_> = both_ways.map(|index| self.sources[*index].file.as_str()).collect();
                circle.sort_unstable();
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// Every circle in which a sub-room is: what stands in one folder, each sub-folder as one, as (folder, names).
    pub(crate) fn circles_of_folders(&self) -> Vec<(String, Vec<String>)> {
        let mut found = Vec::new();
        for folder in self.folders() {
            let name_in = |file: &str| {
                let rest = file.strip_prefix(folder.as_str())?.strip_prefix('/')?;
                Some(rest.split_inclusive('/').next()?.to_owned())
            };
            let names: Vec<_> = self.sources.iter().map(|source| name_in(&source.file)).collect();
            let mut arrows = BTreeMap::<&String, BTreeSet<&String>>::new();
            for (from, to) in
                self.arrows.iter().enumerate().flat_map(|(from, to)| to.keys().map(move |to| (from, *to)))
            {
                if let (Some(from), Some(to)) = (&names[from], &names[to])
                    && from != to
                {
                    arrows.entry(from).or_default().insert(to);
                }
            }
            let reached: BTreeMap<_, _> = arrows.keys().map(|from| (*from, reached(&arrows, from))).collect();
            let mut circles = BTreeSet::new();
            for (from, all) in reached.iter().filter(|(from, all)| all.contains(*from)) {
                let both_ways = all.iter().filter(|to| reached.get(**to).is_some_and(|back| back.contains(from)));
                let circle: Vec<String> = both_ways.map(|name| (*name).clone()).collect();
                if circle.iter().any(|name| name.ends_with('/')) {
                    circles.insert(circle);
                }
            }
            found.extend(circles.into_iter().map(|circle| (folder.clone(), circle)));
        }
        found
    }

    /// The arrows in a folder between what has these names, each as "from:line -> to".
    pub(crate) fn arrows_in(&self, folder: &str, names: &[String]) -> Vec<String> {
        let node = |file: &str| {
            let rest = file.strip_prefix(folder)?.strip_prefix('/')?.split_inclusive('/').next()?;
            names.iter().position(|name| name == rest)
        };
        let mut found = Vec::new();
        for (from, source) in self.sources.iter().enumerate() {
            for (to, line) in &self.arrows[from] {
                let (own, other) = (node(&source.file), node(&self.sources[*to].file));
                if own.is_some() && other.is_some() && own != other {
                    found.push(format!("{}:{line} -> {}", source.file, self.sources[*to].file));
                }
            }
        }
        found
    }

    /// The folders of the rooms; the rooms themselves have arrows of their own.
    fn folders(&self) -> BTreeSet<String> {
        let mut folders = BTreeSet::new();
        for source in &self.sources {
            let parts: Vec<&str> = source.file.split('/').collect();
            folders.extend((2..parts.len()).map(|depth| parts[..depth].join("/")));
        }
        folders
    }

    /// The arrows between these files, each as "from:line -> to".
    pub(crate) fn arrows_among(&self, files: &[&str]) -> Vec<String> {
        let inside = |index: usize| files.contains(&self.sources[index].file.as_str());
        let mut found = Vec::new();
        for (from, source) in self.sources.iter().enumerate().filter(|(index, _)| inside(*index)) {
            for (to, line) in self.arrows[from].iter().filter(|(to, _)| inside(**to)) {
                found.push(format!("{}:{line} -> {}", source.file, self.sources[*to].file));
            }
        }
        found
    }

    /// Every path that enters a sub-room past its face, as (file, line, path).
    pub(crate) fn past_a_face(&self) -> Vec<(&str, usize, String)> {
        let mut found = Vec::new();
        for source in &self.sources {
            let imported = source.imports.iter().map(|import| (&import.path, import.line));
            let mentioned = source.mentions.iter().map(|mention| (&mention.segments, mention.line));
            for (path, line) in imported.chain(mentioned) {
                let Some(path) = self.rooted(source, path) else { continue };
                let passes = (2..path.len()).any(|depth| {
                    let (face, inner) = (&path[..depth], &path[..=depth]);
                    self.modules.contains_key(face)
                        && self.modules.contains_key(inner)
                        && !source.module.starts_with(face)
                        && !self.shows(face, &path[depth])
                });
                if passes {
                    found.push((source.file.as_str(), line, path.join("::")));
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// How many methods each type has, and the files they stand in, by the type's name and the file that defines it.
    pub(crate) fn methods(&self) -> BTreeMap<(String, &str), (usize, BTreeSet<&str>)> {
        let mut found = BTreeMap::<_, (usize, BTreeSet<&str>)>::new();
        for (index, source) in self.sources.iter().enumerate() {
            for (name, count) in &source.methods {
                let home = if source.types.contains(name) { Some(index) } else { self.home_of(source, name) };
                let home = home.map_or("", |home| self.sources[home].file.as_str());
                let (methods, files) = found.entry((name.clone(), home)).or_default();
                *methods += count;
                files.insert(&source.file);
            }
        }
        found
    }

    /// The file that defines a type named in another.
    fn home_of(&self, source: &Source, name: &str) -> Option<usize> {
        let imported = source.imports.iter().find(|import| import.name == name)?;
        self.resolve(&self.rooted(source, &imported.path)?, 0)
    }

    /// Tells whether a face has this name for something else than the file of that name.
    fn shows(&self, face: &[String], name: &str) -> bool {
        self.sources[self.modules[face]].imports.iter().any(|import| import.public && import.name == name)
    }

    fn reached_from(&self, from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut waiting: Vec<usize> = self.arrows[from].keys().copied().collect();
        while let Some(next) = waiting.pop() {
            if reached.insert(next) {
                waiting.extend(self.arrows[next].keys());
            }
        }
        reached
    }

    fn arrows_of(&self, index: usize) -> BTreeMap<usize, usize> {
        let source = &self.sources[index];
        let mut arrows = BTreeMap::new();
        let mut add = |path: Option<Path>, line: usize| {
            if let Some(to) = path.and_then(|path| self.resolve(&path, 0)).filter(|to| *to != index) {
                arrows.entry(to).or_insert(line);
            }
        };
        for import in source.imports.iter().filter(|import| !import.public) {
            let path = self.rooted(source, &import.path);
            // A module alone needs nothing of it; what is named through it does.
            add(path.filter(|path| !self.modules.contains_key(path)), import.line);
        }
        for mention in &source.mentions {
            let (first, rest) = (&mention.segments[0], &mention.segments[1..]);
            let path = match source.imports.iter().find(|import| import.name == *first) {
                Some(import) => self.rooted(source, &import.path).map(|path| [&path, rest].concat()),
                None if rest.is_empty() => None,
                None => self.rooted(source, &mention.segments),
            };
            // A module alone needs nothing of it, as above.
            add(path.filter(|path| !rest.is_empty() || !self.modules.contains_key(path)), mention.line);
        }
        arrows
    }

    /// The path from the crate's root, where it is one of ours.
    fn rooted(&self, source: &Source, path: &[String]) -> Option<Path> {
        let (above, rest) = match path[0].as_str() {
            "crate" | "axi" => (&[][..], &path[1..]),
            "self" => (source.module.as_slice(), &path[1..]),
            "super" => {
                let climbed = path.iter().take_while(|segment| *segment == "super").count();
                (&source.module[..source.module.len().saturating_sub(climbed)], &path[climbed..])
            }
            _ => {
                let child = [source.module.as_slice(), &path[..1]].concat();
                self.modules.contains_key(&child).then_some(())?;
                (source.module.as_slice(), path)
            }
        };
        Some([above, rest].concat())
    }

    /// The file that defines what a path from the root names.
    fn resolve(&self, path: &[String], followed: usize) -> Option<usize> {
        let depth = (0..=path.len()).rev().find(|depth| self.modules.contains_key(&path[..*depth]))?;
        let source = &self.sources[self.modules[&path[..depth]]];
        let home = self.modules.get(&path[..depth]).copied();
        let Some(next) = path.get(depth) else { return home };
        // More hops than any sign has: two signs that name each other are left where they are.
        let Some(import) = source.imports.iter().find(|import| import.name == *next && followed < 8) else {
            return home;
        };
        match self.rooted(source, &import.path) {
            Some(target) => self.resolve(&[&target, &path[depth + 1..]].concat(), followed + 1),
            None => home,
        }
    }
}

/// What is reached by arrows, directly or through others.
fn reached<'a>(arrows: &BTreeMap<&'a String, BTreeSet<&'a String>>, from: &String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&String> = arrows.get(from).into_iter().flatten().copied().collect();
    while let Some(next) = waiting.pop() {
        if reached.insert(next) {
            waiting.extend(arrows.get(next).into_iter().flatten());
        }
    }
    reached
}

impl Source {
    fn read(file: &str, text: &str) -> Self {
        let tokens = without_tests(&tokens(text));
        let mut source = Self {
            file: file.to_owned(),
            module: module_of(file),
            imports: Vec::new(),
            mentions: Vec::new(),
            methods: methods(&tokens),
            types: BTreeSet::new(),
        };
        let mut at = 0;
        while let Some(placed) = tokens.get(at) {
            let Token::Word(word) = &placed.token else {
                at += 1;
                continue;
            };
            match word.as_str() {
                "use" => {
                    let public = at > 0 && (word_at(&tokens, at - 1) == Some("pub") || mark(&tokens, at - 1, ')'));
                    at = branch(&tokens, at + 1, &[], public, &mut source.imports);
                }
                // `pub(in crate::room)` says who may look, and needs nothing.
                "in" if at > 1 && word_at(&tokens, at - 2) == Some("pub") => at = segments(&tokens, at + 1).1,
                "mod" => at += 2,
                "struct" | "enum" => {
                    source.types.extend(word_at(&tokens, at + 1).map(str::to_owned));
                    at += 2;
                }
                _ => {
                    let (segments, next) = segments(&tokens, at);
                    if segments.len() > 1 || at == 0 || !mark(&tokens, at - 1, '.') {
                        source.mentions.push(Mention { segments, line: placed.line });
                    }
                    at = next;
                }
            }
        }
        source
    }
}

/// The module that a file is: empty for the crate's root.
fn module_of(file: &str) -> Path {
    let inside = file.strip_prefix("src/").unwrap_or(file);
    let stem = inside.strip_suffix(".rs").unwrap_or(inside);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    match stem {
        "lib" => Path::new(),
        // The binary names the crate from outside, and nobody names the binary.
        "main" => vec!["main".to_owned()],
        _ => stem.split('/').map(str::to_owned).collect(),
    }
}

fn word_at(tokens: &[Placed], at: usize) -> Option<&str> {
    match &tokens.get(at)?.token {
        Token::Word(word) => Some(word),
        Token::Text(_) | Token::Mark(_) => None,
    }
}

fn mark(tokens: &[Placed], at: usize, mark: char) -> bool {
    tokens.get(at).is_some_and(|placed| placed.token.is_mark(mark))
}

fn joined(tokens: &[Placed], at: usize) -> bool {
    mark(tokens, at, ':') && mark(tokens, at + 1, ':')
}

/// Reads `a::b::c` and returns it with the place after it.
fn segments(tokens: &[Placed], mut at: usize) -> (Path, usize) {
    let mut segments = Path::new();
    while let Some(word) = word_at(tokens, at) {
        segments.push(word.to_owned());
        at += 1;
        if !joined(tokens, at) || word_at(tokens, at + 2).is_none() {
            break;
        }
        at += 2;
    }
    (segments, at)
}

/// Reads one member of a `use` and returns the place after it.
fn branch(tokens: &[Placed], from: usize, prefix: &[String], public: bool, found: &mut Vec<Import>) -> usize {
    let line = tokens.get(from).map_or(0, |placed| placed.line);
    let (own, mut at) = segments(tokens, from);
    let mut path = [prefix, &own].concat();
    if joined(tokens, at) {
        at += 2;
    }
    if mark(tokens, at, '{') {
        at += 1;
        while at < tokens.len() && !mark(tokens, at, '}') {
            at = if mark(tokens, at, ',') { at + 1 } else { branch(tokens, at, &path, public, found) };
        }
        return at + 1;
    }
    if mark(tokens, at, '*') {
        at += 1;
        path.push("*".to_owned());
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let renamed = word_at(tokens, at) == Some("as");
    let name = if renamed { word_at(tokens, at + 1) } else { path.last().map(String::as_str) };
    let name = name.unwrap_or_default().to_owned();
    at += if renamed { 2 } else { 0 };
    if !path.is_empty() {
        found.push(Import { path, name, line, public });
    }
    // Always on, whatever stood here.
    at.max(from + 1)
}

/// The source without what `#[cfg(test)]` stands before.
pub(crate) fn without_tests(tokens: &[Placed]) -> Vec<Placed> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if is_test(tokens, at) {
            at = after_item(tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Tells whether `#[cfg(test)]` or `#[cfg(all(test, …))]` begins here.
fn is_test(tokens: &[Placed], at: usize) -> bool {
    let words = |first: usize, expected: &[&str]| {
        expected.iter().enumerate().all(|(offset, word)| word_at(tokens, first + offset * 2) == Some(word))
    };
    mark(tokens, at, '#')
        && mark(tokens, at + 1, '[')
        && (words(at + 2, &["cfg", "test"]) || words(at + 2, &["cfg", "all", "test"]))
}

/// The place after the item whose attributes begin here.
fn after_item(tokens: &[Placed], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(placed) = tokens.get(at) {
        at += 1;
        match placed.token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']') => depth -= 1,
            Token::Mark('}') => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            Token::Mark(';') if depth == 0 => break,
            Token::Word(_) | Token::Text(_) | Token::Mark(_) => {}
        }
    }
    at
}

/// The functions of every `impl` without a trait, as (type, how many).
fn methods(tokens: &[Placed]) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let begins_item = at == 0 || [';', '}', ']'].iter().any(|before| mark(tokens, at - 1, *before));
        if word_at(tokens, at) != Some("impl") || !begins_item {
            at += 1;
            continue;
        }
        let Some(opens) = (at..tokens.len()).find(|index| mark(tokens, *index, '{')) else { break };
        let end = after_item(tokens, opens);
        let head = &tokens[at + 1..opens];
        if !head.iter().any(|placed| placed.token.is_word("for")) {
            found.extend(named(head).map(|name| (name, functions(&tokens[opens..end]))));
        }
        at = end;
    }
    found
}

/// How many functions stand in a block, and not in a function of it.
fn functions(block: &[Placed]) -> usize {
    let (mut depth, mut count) = (0, 0);
    for placed in block {
        match &placed.token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth -= 1,
            Token::Word(word) if depth == 1 && word == "fn" => count += 1,
            Token::Word(_) | Token::Text(_) | Token::Mark(_) => {}
        }
    }
    count
}

/// The type an `impl` is for: the last word of its path, after its own generics and before the type's.
fn named(head: &[Placed]) -> Option<String> {
    let mut depth = 0;
    let mut name = None;
    for placed in head {
        match &placed.token {
            Token::Mark('<') if name.is_some() => return name,
            Token::Mark('<') => depth += 1,
            Token::Mark('>') => depth -= 1,
            Token::Word(word) if depth == 0 => name = Some(word.clone()),
            Token::Word(_) | Token::Text(_) | Token::Mark(_) => {}
        }
    }
    name
}

#[cfg(test)]
#[path = "file_graph_tests.rs"]
mod tests;
