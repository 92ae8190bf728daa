//! `@path` in a line: where each stands and what it names. Pure.

use std::borrow::Cow;
use std::ops::Range;

/// One `@path` of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Its bytes in the line, the `@` and quotes included.
    pub(crate) range: Range<usize>,
    /// The path, without quotes.
    pub(crate) path: String,
}

/// Finds the mentions of a line. An `@` inside a word (an address, a decorator after a dot) is none.
pub(crate) fn mentions(line: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = line[from..].find('@').map(|index| from + index) {
        from = at + 1;
        if !opens(&line[..at]) {
            continue;
        }
        let rest = &line[at + 1..];
        let (path, end) = if let Some(quoted) = rest.strip_prefix('"') {
            // A quote that is not closed reaches to the end of the row.
            let close = quoted_end(quoted);
            let mark = usize::from(quoted[close..].starts_with('"'));
            (unquoted(&quoted[..close]), at + 2 + close + mark)
        } else {
            let word = bare(rest);
            (word.to_owned(), at + 1 + word.len())
        };
        if !path.is_empty() {
            found.push(Mention { range: at..end, path });
            from = end;
        }
    }
    found
}

/// Returns the mention that is being written at the end of `before`: where its `@` stands and what was typed.
pub(crate) fn open_mention(before: &str) -> Option<(usize, Cow<'_, str>)> {
    let mut best = None;
    for (at, _) in before.match_indices('@') {
        if !opens(&before[..at]) {
            continue;
        }
        let rest = &before[at + 1..];
        let typed = match rest.strip_prefix('"') {
            Some(quoted) if quoted_end(quoted) < quoted.len() => continue,
            Some(quoted) => Cow::Owned(unquoted(quoted)),
            None if rest.contains(char::is_whitespace) => continue,
            None => Cow::Borrowed(rest),
        };
        best = Some((at, typed));
        break;
    }
    best
}

/// Writes a path as a mention, quoted when it has to be.
pub(crate) fn write_mention(path: &str) -> String {
    let bare_enough = bare(path) == path;
    if bare_enough {
        format!("@{path}")
    } else {
        format!("@\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// Returns the path of a mention that [`write_mention`] has written.
pub(crate) fn mention_path(mention: &str) -> String {
    let written = mention.trim_start_matches('@');
    written.strip_prefix('"').map_or_else(|| written.to_owned(), |quoted| unquoted(&quoted[..quoted_end(quoted)]))
}

/// Returns where quoted text ends, in bytes: at the closing quote, or at the end of the row.
fn quoted_end(quoted: &str) -> usize {
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' | '\n' => return at,
            '\\' if quoted[at + 1..].starts_with(['"', '\\']) => drop(letters.next()),
            _ => {}
        }
    }
    quoted.len()
}

/// Takes the backslashes away that stand before a quote or another backslash.
fn unquoted(quoted: &str) -> String {
    let mut path = String::with_capacity(quoted.len());
    let mut letters = quoted.chars().peekable();
    while let Some(letter) = letters.next() {
        match letters.next_if(|next| letter == '\\' && matches!(next, '"' | '\\')) {
            Some(escaped) => path.push(escaped),
            None => path.push(letter),
        }
    }
    path
}

fn opens(before: &str) -> bool {
    before.chars().next_back().is_none_or(|last| {
        last.is_whitespace()
            || matches!(
                last,
                '(' | '['
                    | '{'
                    | '<'
                    | '"'
                    | '\''
                    | '`'
                    | ','
                    | ';'
                    | ':'
                    | '（'
                    | '「'
                    | '，'
                    | '、'
                    | '：'
                    | '。'
            )
    })
}

/// Tells whether a character ends a sentence, or closes brackets around a path: at the end of a path it does not
/// belong to it.
const CLOSING: [char; 13] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '>', '"', '\'', '`'];
/// Ends a path wherever it stands: between words of Chinese or Japanese there is no space.
const WIDE: [char; 10] = ['，', '。', '、', '；', '：', '！', '？', '）', '」', '”'];

/// The path at the beginning of `rest`: up to white space, without the punctuation that ends a sentence.
fn bare(rest: &str) -> &str {
    let ends = |character: char| character.is_whitespace() || character.is_control() || WIDE.contains(&character);
    let end = rest.find(ends).unwrap_or(rest.len());
    rest[..end].trim_end_matches(CLOSING)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(line: &str) -> Vec<String> {
        mentions(line).into_iter().map(|mention| mention.path).collect()
    }

    #[test]
    fn mentions_are_found_anywhere() {
        assert_eq!(paths("@a.rs and (@src/) or @\"my file.txt\"."), ["a.rs", "src/", "my file.txt"]);
        assert_eq!(paths("看 @文档/说明.md，然后 @b"), ["文档/说明.md", "b"]);
        assert_eq!(paths("see @main.rs."), ["main.rs"]);
        assert_eq!(paths("me@example.com @ @\"\" x"), Vec::<String>::new());
        assert_eq!(paths("@\"my dir/\nnext @x"), ["my dir/", "x"]);
        assert_eq!(
            paths("@../up @~/home @/etc/hosts @.gitignore"),
            ["../up", "~/home", "/etc/hosts", ".gitignore"]
        );
    }

    #[test]
    fn ranges_cover_quotes() {
        let line = "x @\"a b\" y";
        assert_eq!(&line[mentions(line)[0].range.clone()], "@\"a b\"");
    }

    #[test]
    fn the_mention_at_the_cursor_is_open() {
        assert_eq!(open_mention("see @src/ma"), Some((4, "src/ma".into())));
        assert_eq!(open_mention("@"), Some((0, "".into())));
        assert_eq!(open_mention("@a @b"), Some((3, "b".into())));
        assert_eq!(open_mention("@\"my fi"), Some((0, "my fi".into())));
        assert_eq!(open_mention("@\"a \\\"b"), Some((0, "a \"b".into())));
        assert_eq!(open_mention("@\"my file\" x"), None);
        assert_eq!(open_mention("@a x"), None);
        assert_eq!(open_mention("me@ex"), None);
        assert_eq!(open_mention("plain"), None);
    }

    #[test]
    fn written_mentions_are_found_again() {
        for path in [
            "src/main.rs",
            "a b",
            "dir/",
            "文件 名.txt",
            "odd,name.",
            "end)",
            "x@y",
            "tab\there",
            "it's \"q\".txt",
            "back\\slash \\\\ \\\"",
            "\"",
        ] {
            assert_eq!(paths(&format!("see {} now", write_mention(path))), [path]);
        }
    }
}
