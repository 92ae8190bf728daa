//! Where the provider found what an answer says, as links behind it. Pure.

use std::fmt::Write as _;

/// The most links behind one answer.
const MOST: usize = 20;

/// The pages an answer cites, each once, in the order in which they were cited.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    pages: Vec<(String, String)>,
}

impl Sources {
    /// Adds a page, if this is the address of one.
    pub(crate) fn add(&mut self, url: Option<&str>, title: Option<&str>) {
        let url = url.unwrap_or_default().trim();
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        let is_whole =
            !url.contains(|letter: char| letter.is_whitespace() || letter.is_control() || "<>".contains(letter));
        let is_new = self.pages.iter().all(|(known, _)| known != url);
        if is_web && is_whole && is_new && self.pages.len() < MOST {
            let title = title.map(str::trim).filter(|title| !title.is_empty()).unwrap_or(url);
            self.pages.push((url.to_owned(), title.to_owned()));
        }
    }

    /// Writes them as a list of links in markdown, to stand behind the answer; nothing where there are none.
    pub(crate) fn text(&self) -> Option<String> {
        let mut text = String::from("\n\n");
        for (url, title) in &self.pages {
            text.push_str("- [");
            for letter in title.chars() {
                match letter {
                    letter if letter.is_control() => text.push(' '),
                    '[' | ']' | '\\' | '`' | '<' | '*' | '_' => text.extend(['\\', letter]),
                    letter => text.push(letter),
                }
            }
            // Writing to a String cannot fail.
            let _ = writeln!(text, "](<{url}>)");
        }
        (!self.pages.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_become_links_once_each_and_no_title_breaks_out_of_its_link() {
        let mut sources = Sources::default();
        assert_eq!(sources.text(), None);
        sources.add(Some("https://a.example/x_(y)"), Some("A ](https://evil)\n`b`"));
        sources.add(Some("https://a.example/x_(y)"), Some("again"));
        sources.add(Some("https://b.example"), None);
        for url in ["javascript:alert(1)", "https://x y", "https://x>", "", "file:///etc/passwd"] {
            sources.add(Some(url), Some("no"));
        }
        sources.add(None, Some("no"));
        let expected = "\n\n- [A \\](https://evil) \\`b\\`](<https://a.example/x_(y)>)\n- [https://b.example](<https://b.example>)\n";
        assert_eq!(sources.text().as_deref(), Some(expected));
    }
}
