//! A manual page or a `--help`, as plain text: what it says of a program, a flag, a sub-command. Nothing here is made up:
//! every text is a part of the page.

/// More of a text is cut (characters).
const LONGEST: usize = 240;
/// So many heads may stand above one text.
const STACKED: usize = 6;

/// What is written about a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What a person calls it: `tar(1)`, `cargo build --help`.
    pub name: String,
    /// Its text, without formatting, a paragraph a line as far as it goes.
    pub text: String,
}

/// What a page says of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its own line: the flag with its other names and its value.
    pub head: String,
    /// The first sentence of what it says.
    pub says: String,
    /// Whether it takes the next word as its value, or the rest of this one.
    pub takes_value: bool,
}

impl Page {
    /// Returns what the program is, in one line.
    #[must_use]
    pub fn purpose(&self) -> Option<String> {
        let mut lines = self.text.lines().skip_while(|line| !is_heading(line, "NAME"));
        lines.next()?;
        let paragraph: Vec<&str> =
            lines.map(str::trim).skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
        let whole = paragraph.join(" ");
        let dashes = [" - ", " — ", " – ", " -- "];
        let (_, says) = dashes.iter().find_map(|dash| whole.split_once(dash))?;
        Some(cut(says.trim()))
    }

    /// Finds the line of a flag, with its dashes and without a value.
    #[must_use]
    pub fn flag(&self, flag: &str) -> Option<Entry> {
        if flag.len() < 2 {
            return None;
        }
        // `-5` stands in pages as `-<number>`, `-NUM`.
        let is_number = flag.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let is_numbers = |head: &str| {
            ["-<number>", "-<n>", "-NUM", "-num", "-number"].iter().any(|own| {
                head.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ' ']))
            })
        };
        self.entries(&|head| flags_of(head).any(|(name, _)| is_name(&name, flag)) || is_number && is_numbers(head))
            .map(|(head, says)| {
                let takes_value = !is_number && flags_of(&head).any(|(_, takes)| takes);
                Entry { head, says, takes_value }
            })
            .next()
    }

    /// Tells whether a flag stands anywhere in it.
    #[must_use]
    pub fn names(&self, flag: &str) -> bool {
        let is_inside = |letter: char| letter.is_alphanumeric() || letter == '-';
        self.text.match_indices(flag).any(|(at, _)| {
            !self.text[..at].ends_with(is_inside) && !self.text[at + flag.len()..].starts_with(is_inside)
        })
    }

    /// Finds the line of a sub-command, or of an operand such as `if=`.
    #[must_use]
    pub fn word(&self, word: &str) -> Option<Entry> {
        let begins = |head: &str| {
            let rest = head.strip_prefix(word);
            rest.is_some_and(|rest| word.ends_with('=') || rest.is_empty() || rest.starts_with([' ', ',', '|']))
        };
        self.entries(&begins).map(|(head, says)| Entry { head, says, takes_value: false }).next()
    }

    /// Goes through what stands as an entry: a head that fits, and the text beside or below it.
    fn entries<'a>(&'a self, fits: &'a dyn Fn(&str) -> bool) -> impl Iterator<Item = (String, String)> + 'a {
        let lines: Vec<&str> = self.text.lines().collect();
        (0..lines.len()).filter_map(move |at| {
            let (head, beside) = split(lines[at]);
            if head.is_empty() || indent(lines[at]) == 0 || !fits(&plain(head)) {
                return None;
            }
            let says = if beside.is_empty() { below(&lines, at) } else { with_more(&lines, at, beside) };
            (!says.is_empty()).then(|| (head.to_owned(), cut(&says)))
        })
    }
}

fn is_heading(line: &str, name: &str) -> bool {
    // In other languages the first section has another name.
    line.trim_end() == name
        || (name == "NAME" && ["名称", "名前", "NOM", "BEZEICHNUNG", "NOMBRE"].contains(&line.trim_end()))
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The head of a line and what stands beside it, behind two blanks.
fn split(line: &str) -> (&str, &str) {
    let trimmed = line.trim();
    match trimmed.find("  ").or_else(|| trimmed.find('\t')) {
        Some(gap) => (trimmed[..gap].trim_end(), trimmed[gap..].trim_start()),
        None => (trimmed, ""),
    }
}

/// The paragraph below a head: further in, behind further heads if there are some.
fn below(lines: &[&str], at: usize) -> String {
    let own = indent(lines[at]);
    let mut stacked = 0;
    let mut paragraph: Vec<&str> = Vec::new();
    for line in &lines[at + 1..] {
        if line.trim().is_empty() {
            if paragraph.is_empty() {
                continue;
            }
            break;
        }
        if indent(line) <= own {
            let is_head = plain(line.trim()).starts_with('-') && indent(line) == own;
            if !paragraph.is_empty() || !is_head || stacked == STACKED {
                break;
            }
            stacked += 1;
            let (_, beside) = split(line);
            if !beside.is_empty() {
                return beside.to_owned();
            }
            continue;
        }
        paragraph.push(line.trim());
    }
    paragraph.join(" ")
}

/// What stands beside a head, and the rest of its paragraph below.
fn with_more(lines: &[&str], at: usize, beside: &str) -> String {
    let own = indent(lines[at]);
    let more = lines[at + 1..].iter().take_while(|line| {
        !line.trim().is_empty() && indent(line) > own + 1 && !plain(line.trim()).starts_with('-')
    });
    let mut whole = beside.to_owned();
    for line in more {
        whole.push(' ');
        whole.push_str(line.trim());
    }
    whole
}

/// With the dashes that are typed: pages print others, which look better.
fn plain(text: &str) -> String {
    text.chars().map(|letter| if matches!(letter, '‐' | '‑' | '−' | '–') { '-' } else { letter }).collect()
}

/// The flags of a head, and whether each takes a value that must be there.
fn flags_of(head: &str) -> impl Iterator<Item = (String, bool)> {
    let mut found: Vec<(String, bool)> = Vec::new();
    let is_flag = |word: &str| word.starts_with(['-', '+']) && word.len() > 1;
    if is_flag(head) {
        let mut after_comma = true;
        for word in head.split([' ', '|', '/']).filter(|word| !word.is_empty()) {
            if is_flag(word) && after_comma {
                let bare = word.trim_end_matches([',', '.', ':']);
                let name_end = bare.find(['=', '<', '[']).filter(|at| !bare[*at..].starts_with("[no-]"));
                let (name, value) = match (bare.find("[no-]"), name_end) {
                    (Some(_), _) => (bare.split(['=', '<']).next().unwrap_or(bare), ""),
                    (None, Some(at)) => bare.split_at(at),
                    (None, None) => (bare, ""),
                };
                found.push((name.to_owned(), value.starts_with(['=', '<'])));
                after_comma = true;
                if !word.ends_with(',') && !head.contains('|') && !head.contains('/') {
                    after_comma = head.contains(&format!("{word} -"));
                }
            } else if let Some(last) = found.last_mut() {
                // A name of a value: `-f FILE`, `-o file`.
                last.1 |= !word.starts_with('[') && after_comma_is_value(word);
                after_comma = word.ends_with(',') || after_comma;
            }
        }
    }
    found.into_iter()
}

/// Whether a word behind a flag names its value.
fn after_comma_is_value(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// Whether a name in a head means a flag that was typed.
fn is_name(name: &str, flag: &str) -> bool {
    name == flag
        || name.split_once("[no-]").is_some_and(|(dashes, rest)| {
            flag.strip_prefix(dashes).is_some_and(|typed| typed.strip_prefix("no-").unwrap_or(typed) == rest)
        })
}

/// The first sentence, and no more than a few rows of it.
fn cut(text: &str) -> String {
    let end = text.match_indices(". ").map(|(at, _)| at + 1).find(|end| {
        let next = text[*end..].trim_start().chars().next();
        let before = text[..*end - 1].rsplit(' ').next().unwrap_or_default();
        let short = ["e.g", "i.e", "etc", "vs", "cf"].contains(&before.trim_start_matches('('));
        next.is_some_and(char::is_uppercase) && !short
    });
    let sentence = &text[..end.unwrap_or(text.len())];
    if sentence.chars().count() <= LONGEST {
        return sentence.to_owned();
    }
    let short: String = sentence.chars().take(LONGEST).collect();
    format!("{}…", short.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
LS(1)\n\nNAME\n       ls - list directory contents\n\nOPTIONS\n       -a, --all\n              do not ignore entries starting with .\n\n       -l     use a long\n              listing format. It is long.\n\n       -f, --file=ARCHIVE\n              Use archive file.  More.\n\n       -e\n       --exact\n              Be exact.\n\n     -p port\n             Port to connect to.\n\n       --[no-]verify\n              Whether hooks run.\n\n       start PATTERN...\n           Start units.\n\n       if=FILE\n              read from FILE instead of stdin\n\n       −w     With another dash.\n\n       -<number>, -n <number>\n              Limit it.\n";

    fn page() -> Page {
        Page { name: "ls(1)".into(), text: TEXT.into() }
    }

    fn flag(name: &str) -> Option<(String, String, bool)> {
        page().flag(name).map(|entry| (entry.head, entry.says, entry.takes_value))
    }

    #[test]
    fn a_flag_is_found_by_each_of_its_names_and_told_in_the_words_of_the_page() {
        let told = |head: &str, says: &str, takes: bool| Some((head.to_owned(), says.to_owned(), takes));
        assert_eq!(page().purpose().as_deref(), Some("list directory contents"));
        assert_eq!(flag("--all"), told("-a, --all", "do not ignore entries starting with .", false));
        assert_eq!(flag("-l"), told("-l", "use a long listing format.", false));
        assert_eq!(flag("-f"), told("-f, --file=ARCHIVE", "Use archive file.", true));
        assert_eq!(flag("-e"), told("-e", "Be exact.", false));
        assert_eq!(flag("-p"), told("-p port", "Port to connect to.", true));
        assert_eq!(flag("--no-verify"), told("--[no-]verify", "Whether hooks run.", false));
        assert_eq!(flag("-w"), told("−w", "With another dash.", false));
        assert_eq!(flag("-5").map(|(_, says, _)| says).as_deref(), Some("Limit it."));
        assert_eq!((flag("-x"), flag("--al"), flag("-")), (None, None, None));
        assert_eq!(page().word("start").map(|entry| entry.says).as_deref(), Some("Start units."));
        assert_eq!(page().word("if=").map(|entry| entry.head).as_deref(), Some("if=FILE"));
    }
}
