//! What a server is: how it is started or reached, as the settings or a project's `.mcp.json` say.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::failure::Failure;
use super::given_client::GivenClient;

/// How long a call may take without a sign of life, in seconds, if nothing else is said.
const CALL_SECONDS: u64 = 120;

/// How long a server may take to start and to tell its tools, if nothing else is said.
const START: Duration = Duration::from_secs(10);

/// A server by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// What its tools' names begin with.
    pub name: String,
    /// How it is reached.
    pub way: Way,
    /// Whether its tools are always told to the model in full.
    pub always_load: bool,
    /// How long a call may take without a sign of life, in seconds.
    pub call_seconds: u64,
    /// How long it may take to start, to tell its tools, and to answer what is no call.
    pub start: Duration,
    /// As whom axi signs in to it, where that is said.
    pub client: Option<GivenClient>,
    /// Whether a project brought it: then the person is asked first.
    pub of_project: bool,
}

/// How a server is reached. Texts are as they were written, variables in them not filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Way {
    /// A program that speaks on its standard input and output.
    Process {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// What is set in its environment.
        env: BTreeMap<String, String>,
    },
    /// An address of the web.
    Address {
        /// The address.
        url: String,
        /// What is sent along with each request.
        headers: BTreeMap<String, String>,
    },
}

/// The servers of a project's file, and what is wrong with others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Those that can be used.
    pub found: Vec<Definition>,
    /// Those that cannot, with the reason.
    pub wrong: Vec<(String, DefinitionError)>,
}

/// What is wrong with a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// The whole file is no JSON.
    #[error("not JSON: {cause}")]
    Syntax {
        /// What the parser said.
        cause: String,
    },
    /// What should list the servers is no object. Where, both from 1.
    #[error("{line}:{column}: mcpServers is no object")]
    NoObject {
        /// The line.
        line: usize,
        /// The character in it.
        column: usize,
    },
    /// It has neither `command` nor `url`, or what it has is of the wrong kind.
    #[error("it needs a command or a url")]
    NoWay,
    /// Its name would not do in a tool's name.
    #[error("a name is letters, digits, - and _, at most 32, without __")]
    Name,
    /// A nearer file, an editor or the settings define one of this name.
    #[error("another server of this name comes first")]
    Shadowed,
}

impl Definition {
    /// Makes one that the person wrote.
    #[must_use]
    pub fn own(name: &str, way: Way) -> Self {
        Self {
            name: name.to_owned(),
            way,
            always_load: false,
            call_seconds: CALL_SECONDS,
            start: START,
            client: None,
            of_project: false,
        }
    }

    /// Tells whether a name can begin the names of tools: models and providers take few characters.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        !name.is_empty() && name.len() <= 32 && name.chars().all(fits) && !name.contains("__")
    }

    /// Names what was agreed to: another command, argument, variable or address is another server.
    #[must_use]
    pub fn digest(&self) -> String {
        let way = serde_json::to_string(&self.way).unwrap_or_default();
        let mut text = String::new();
        for byte in digest(&SHA256, format!("{}\n{way}", self.name).as_bytes()).as_ref() {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// The whole command line, or the address, with all that is set or sent along: what a person agrees to.
    #[must_use]
    pub fn line(&self) -> String {
        let quoted =
            |text: &str| shlex::try_quote(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned);
        match &self.way {
            Way::Process { command, args, env } => {
                let set = env.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
                let words = std::iter::once(quoted(command)).chain(args.iter().map(|word| quoted(word)));
                set.chain(words).collect::<Vec<_>>().join(" ")
            }
            Way::Address { url, headers } => {
                let sent = headers.iter().map(|(name, value)| format!("{name}: {value}"));
                std::iter::once(url.clone()).chain(sent).collect::<Vec<_>>().join("  ")
            }
        }
    }

    /// Fills in the variables.
    ///
    /// # Errors
    /// [`Failure::Unset`].
    pub(super) fn filled(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Way, Failure> {
        let fill = |text: &String| filled(text, variable);
        let all = |texts: &BTreeMap<String, String>| {
            texts.iter().map(|(name, text)| Ok((name.clone(), fill(text)?))).collect::<Result<_, Failure>>()
        };
        Ok(match &self.way {
            Way::Process { command, args, env } => Way::Process {
                command: fill(command)?,
                args: args.iter().map(fill).collect::<Result<_, _>>()?,
                env: all(env)?,
            },
            Way::Address { url, headers } => Way::Address { url: fill(url)?, headers: all(headers)? },
        })
    }
}

/// Fills in the variables of the client.
///
/// # Errors
/// [`Failure::Unset`].
pub(super) fn filled_client(
    given: &GivenClient,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<GivenClient, Failure> {
    let secret = given.secret.as_ref().map(|secret| filled(secret, variable)).transpose()?;
    Ok(GivenClient { id: filled(&given.id, variable)?, secret })
}

/// A variable that a text names is not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unset {
    /// Its name.
    pub variable: String,
}

impl From<Unset> for Failure {
    fn from(Unset { variable }: Unset) -> Self {
        Self::Unset { variable }
    }
}

/// Fills in `${NAME}` and `${NAME:-what stands for it}`; any other `$` is itself.
///
/// # Errors
/// [`Unset`].
pub fn filled(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, Unset> {
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(end) = rest[at..].find('}') else { break };
        let inside = &rest[at + 2..at + end];
        let (name, instead) = inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
        whole.push_str(&rest[..at]);
        rest = &rest[at + end + 1..];
        let value = variable(name).filter(|value| !value.is_empty() || instead.is_none());
        match value.or_else(|| instead.map(str::to_owned)) {
            Some(value) => whole.push_str(&value),
            None => return Err(Unset { variable: name.to_owned() }),
        }
    }
    whole.push_str(rest);
    Ok(whole)
}

/// Reads a project's `.mcp.json`, as other agents write it.
#[must_use]
pub fn read_project(text: &str) -> Definitions {
    let mut definitions = Definitions::default();
    let file: Value = match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(file) => file,
        Err(error) => {
            definitions.wrong.push((String::new(), DefinitionError::Syntax { cause: error.to_string() }));
            return definitions;
        }
    };
    let servers = match file.get("mcpServers") {
        None | Some(Value::Null) if file.is_object() => return definitions,
        Some(Value::Object(servers)) => servers,
        None | Some(_) => {
            definitions.wrong.push((String::new(), no_object(text)));
            return definitions;
        }
    };
    for (name, value) in servers {
        if !Definition::is_name(name) {
            definitions.wrong.push((name.clone(), DefinitionError::Name));
            continue;
        }
        match way(value) {
            Some(way) => definitions.found.push(Definition {
                always_load: value.get("alwaysLoad").and_then(Value::as_bool).unwrap_or_default(),
                client: client(value),
                of_project: true,
                ..Definition::own(name, way)
            }),
            None => definitions.wrong.push((name.clone(), DefinitionError::NoWay)),
        }
    }
    definitions
}

/// Says where the list of servers stands, or should.
fn no_object(text: &str) -> DefinitionError {
    let before = &text[..text.find("\"mcpServers\"").unwrap_or_default()];
    let in_line = before.rsplit('\n').next().unwrap_or_default();
    DefinitionError::NoObject { line: before.matches('\n').count() + 1, column: in_line.chars().count() + 1 }
}

/// As whom one signs in, as other agents write it. A secret does not stand in a project's file.
fn client(value: &Value) -> Option<GivenClient> {
    let id = value.get("oauth")?.get("clientId")?.as_str()?;
    Some(GivenClient { id: id.to_owned(), secret: None })
}

fn way(value: &Value) -> Option<Way> {
    let texts = |name: &str| match value.get(name) {
        None | Some(Value::Null) => Some(BTreeMap::new()),
        Some(Value::Object(fields)) => {
            fields.iter().map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned()))).collect()
        }
        Some(_) => None,
    };
    if let Some(command) = value.get("command") {
        let args = match value.get("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(list) => {
                list.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<_>>()?
            }
        };
        let command = command.as_str().filter(|command| !command.trim().is_empty())?.to_owned();
        return Some(Way::Process { command, args, env: texts("env")? });
    }
    let url = value.get("url")?.as_str()?.to_owned();
    Some(Way::Address { url, headers: texts("headers")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Definition {
        let definitions = read_project(text);
        assert_eq!(definitions.wrong, []);
        definitions.found.into_iter().next().unwrap()
    }

    #[test]
    fn a_file_of_other_agents_is_read() {
        let file = r#"{"mcpServers": {"files": {"type": "stdio", "command": "npx", "args": ["-y", "a b"],
            "env": {"ROOT": "${HOME:-/root}"}}}}"#;
        let definition = only(file);
        assert_eq!(definition.line(), "ROOT='${HOME:-/root}' npx -y 'a b'");
        assert!(definition.of_project);
        let wrong =
            read_project(r#"{"mcpServers": {"a__b": {"command": "x"}, "no": {"args": []}, "w": {"command": 1}}}"#);
        let names: Vec<&str> = wrong.wrong.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, wrong.found.len()), (vec!["a__b", "no", "w"], 0));
        assert!(matches!(read_project("{").wrong[..], [(_, DefinitionError::Syntax { .. })]));
        for none in ["{}", "{\"mcpServers\": null}", "{\"mcpServers\": {}}"] {
            assert_eq!(read_project(none), Definitions::default(), "{none}");
        }
    }

    #[test]
    fn a_list_of_servers_that_is_no_object_is_wrong_where_it_stands() {
        for (text, line, column) in [
            ("{\n  \"mcpServers\": [{\"command\": \"x\"}]\n}", 2, 3),
            ("{\"é\": 1, \"mcpServers\": \"x\"}", 1, 10),
            ("[]", 1, 1),
        ] {
            let wrong = vec![(String::new(), DefinitionError::NoObject { line, column })];
            assert_eq!(read_project(text), Definitions { found: Vec::new(), wrong }, "{text}");
        }
    }

    #[test]
    fn variables_are_filled_in_and_a_missing_one_is_named() {
        let variable = |name: &str| match name {
            "HOME" => Some("/home/me".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let fill = |text: &str| filled(text, &variable);
        assert_eq!(fill("${HOME}/a $HOME ${X:-b c}${EMPTY:-e}${EMPTY}"), Ok("/home/me/a $HOME b ce".to_owned()));
        assert_eq!(fill("a ${"), Ok("a ${".to_owned()));
        // What a variable holds is not filled in again.
        assert_eq!(filled("${A}", &|_| Some("${B}".to_owned())), Ok("${B}".to_owned()));
        assert_eq!(fill("${TOKEN}"), Err(Unset { variable: "TOKEN".to_owned() }));
    }

    #[test]
    fn whatever_changes_of_a_definition_is_another_server() {
        let base = r#"{"mcpServers": {"a": {"command": "x", "args": ["1", "2"], "env": {"A": "1"}}}}"#;
        let known = only(base).digest();
        assert_eq!(only(base).digest(), known);
        for (from, to) in
            [("\"x\"", "\"y\""), ("\"1\", \"2\"", "\"1 2\""), ("\"A\"", "\"B\""), ("{\"a\"", "{\"b\"")]
        {
            assert_ne!(only(&base.replace(from, to)).digest(), known, "{from}");
        }
    }
}
