//! What the specification's HTML says should be seen, read without any of our own code: an independent expectation.

/// How a character is shown.
#[expect(clippy::struct_excessive_bools, reason = "looks are independent of each other")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) emphasis: bool,
    pub(crate) strong: bool,
    pub(crate) struck: bool,
    pub(crate) code: bool,
    pub(crate) link: bool,
    pub(crate) heading: bool,
    pub(crate) code_block: bool,
    /// How many quotes it stands in; not counted in code blocks, which stand at column 0.
    pub(crate) quotes: usize,
}

/// What is seen of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Each character with its look; white space is one space.
    pub(crate) characters: Vec<(char, Look)>,
    /// The lines of code blocks, each as it is.
    pub(crate) code: Vec<String>,
    /// Items: the numbers of ordered ones, none for bullets, and whether one is a task done.
    pub(crate) items: Vec<Option<u64>>,
    pub(crate) tasks: Vec<bool>,
    pub(crate) rules: usize,
    /// Where links lead that do not show it.
    pub(crate) targets: Vec<String>,
}

impl Seen {
    pub(crate) fn put(&mut self, character: char, look: Look) {
        if character.is_whitespace() && character != '\u{a0}' {
            self.space();
        } else {
            self.characters.push((character, look));
        }
    }

    pub(crate) fn space(&mut self) {
        if self.characters.last().is_some_and(|(last, _)| *last != ' ') {
            self.characters.push((' ', Look::default()));
        }
    }

    pub(crate) fn finish(mut self) -> Self {
        if self.characters.last().is_some_and(|(last, _)| *last == ' ') {
            self.characters.pop();
        }
        self
    }

    pub(crate) fn text(&self) -> String {
        self.characters.iter().map(|(character, _)| *character).collect()
    }
}

struct OpenLink {
    target: String,
    text: String,
    image: bool,
}

/// The tags that the specification's HTML is made of; any other is text.
const TAGS: &[&str] = &[
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "blockquote",
    "pre",
    "code",
    "em",
    "strong",
    "a",
    "img",
    "br",
    "hr",
    "del",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "input",
];

/// Reads the HTML of an example; tags that stand in the source as they are, are text.
pub(crate) fn read(html: &str, source: &str) -> Seen {
    let mut reader = Reader::default();
    let mut rest = html;
    while let Some(first) = rest.chars().next() {
        let tag = rest.find('>').filter(|_| first == '<').map(|end| &rest[..=end]);
        let name =
            tag.map(|tag| tag.trim_matches(['<', '>', '/']).split([' ', '/', '\n']).next().unwrap_or_default());
        let tag = tag.zip(name).filter(|(tag, name)| TAGS.contains(name) && !source.contains(*tag));
        if let Some((tag, name)) = tag {
            rest = &rest[tag.len()..];
            reader.tag(tag, name, html);
        } else {
            let (length, shown) = decode(rest);
            rest = &rest[length..];
            reader.text(&shown);
        }
    }
    reader.seen.finish()
}

/// What is open while HTML is read.
#[derive(Default)]
struct Reader {
    seen: Seen,
    look: Look,
    quotes: usize,
    lists: Vec<Option<u64>>,
    pre: Option<String>,
    links: Vec<OpenLink>,
    emphasis: usize,
    strong: usize,
    struck: usize,
}

impl Reader {
    fn text(&mut self, shown: &str) {
        if let Some(code) = &mut self.pre {
            code.push_str(shown);
        } else {
            self.look.link = !self.links.is_empty();
            self.put(shown);
        }
    }

    fn put(&mut self, shown: &str) {
        self.look.quotes = self.quotes;
        (self.look.emphasis, self.look.strong, self.look.struck) =
            (self.emphasis > 0, self.strong > 0, self.struck > 0);
        for character in shown.chars() {
            self.seen.put(character, self.look);
            for link in &mut self.links {
                link.text.push(character);
            }
        }
    }

    fn tag(&mut self, tag: &str, name: &str, html: &str) {
        let open = !tag.starts_with("</");
        let step = |count: &mut usize| if open { *count += 1 } else { *count -= 1 };
        match name {
            "em" => step(&mut self.emphasis),
            "strong" => step(&mut self.strong),
            "del" => step(&mut self.struck),
            "th" => {
                step(&mut self.strong);
                self.seen.space();
            }
            "blockquote" => {
                step(&mut self.quotes);
                self.seen.space();
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.look.heading = open;
                self.seen.space();
            }
            "code" if self.pre.is_none() => self.look.code = open,
            "pre" if open => {
                self.seen.space();
                self.pre = Some(String::new());
            }
            "pre" => self.end_code(html),
            "a" if open => {
                self.links.push(OpenLink { target: attribute(tag, "href"), text: String::new(), image: false });
            }
            "a" => self.end_link(),
            "img" => self.image(tag),
            "hr" => {
                self.seen.rules += 1;
                self.seen.space();
            }
            "ul" | "ol" if open => {
                self.lists.push((name == "ol").then(|| attribute(tag, "start").parse().unwrap_or(1)));
            }
            "ul" | "ol" => {
                self.lists.pop();
                self.seen.space();
            }
            "li" if open => {
                self.seen.space();
                if let Some(list) = self.lists.last_mut() {
                    self.seen.items.push(*list);
                    *list = list.map(|number| number + 1);
                }
            }
            "input" => self.seen.tasks.push(tag.contains("checked")),
            _ => self.seen.space(),
        }
    }

    fn end_code(&mut self, html: &str) {
        let code = self.pre.take().unwrap_or_default();
        let code = code.strip_suffix('\n').unwrap_or(&code);
        if !code.is_empty() || html.contains("\n</code>") {
            self.seen.code.extend(code.split('\n').map(str::to_owned));
        }
        self.seen.space();
    }

    fn image(&mut self, tag: &str) {
        self.links.push(OpenLink { target: attribute(tag, "src"), text: String::new(), image: true });
        let alt = attribute(tag, "alt");
        self.look.link = true;
        self.put(&if alt.is_empty() { last_part(&attribute(tag, "src")) } else { alt });
        self.end_link();
    }

    fn end_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        // A link in a link, or an image in one, shows no address of its own.
        if self.links.is_empty() && !(link.image && !link.text.is_empty() && is_same(&link.text, &link.target)) {
            note_target(&link.text, &link.target, &mut self.seen);
        }
    }
}

pub(crate) fn note_target(text: &str, target: &str, seen: &mut Seen) {
    if !target.is_empty() && !target.starts_with('#') && !is_same(text.trim(), target) {
        seen.targets.push(plain_address(target));
    }
}

fn is_same(text: &str, target: &str) -> bool {
    let bare = |address: &str| {
        let address = plain_address(address);
        let address = address.trim_end_matches('/');
        let address = address.strip_prefix("mailto:").unwrap_or(address);
        address.split_once("://").map_or(address, |(_, rest)| rest).to_owned()
    };
    bare(text) == bare(target)
}

fn last_part(target: &str) -> String {
    target.rsplit('/').next().unwrap_or_default().to_owned()
}

fn attribute(tag: &str, name: &str) -> String {
    let Some(start) = tag.find(&format!(" {name}=\"")) else { return String::new() };
    let value = &tag[start + name.len() + 3..];
    let mut value = &value[..value.find('"').unwrap_or(value.len())];
    let mut result = String::new();
    while !value.is_empty() {
        let (length, shown) = decode(value);
        result.push_str(shown.as_ref());
        value = &value[length..];
    }
    result
}

fn decode(text: &str) -> (usize, std::borrow::Cow<'_, str>) {
    for (reference, shown) in [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\"")] {
        if text.starts_with(reference) {
            return (reference.len(), shown.into());
        }
    }
    let length = text.chars().next().map_or(0, char::len_utf8);
    (length, text[..length].into())
}

/// Undoes percent-encoding, which the HTML does and a terminal need not.
pub(crate) fn plain_address(address: &str) -> String {
    let bytes = address.as_bytes();
    let mut plain = Vec::new();
    let mut position = 0;
    while position < bytes.len() {
        let code = bytes.get(position + 1..position + 3).and_then(|code| std::str::from_utf8(code).ok());
        if let Some(byte) =
            code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| bytes[position] == b'%')
        {
            plain.push(byte);
            position += 3;
        } else {
            plain.push(bytes[position]);
            position += 1;
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
