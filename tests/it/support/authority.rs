//! An MCP server that wants to know who asks, and the authority that gives tokens for it, on one loopback port.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::home::Home;
use super::server::{Answer, Recorded, Server};
use super::talk::Ran;

/// What the two say and know; a test changes it to make them lie.
pub(crate) struct Facts {
    /// What the server says of itself.
    pub(crate) resource: Value,
    /// What the authority says of itself.
    pub(crate) authority: Value,
    /// The token that is good just now.
    pub(crate) token: String,
    /// What stands in the header of a 401.
    pub(crate) challenge: String,
    /// The scope that a call needs beside it.
    pub(crate) wants: Option<String>,
    /// What the authority answers to whoever asks for a token; a good answer without it.
    pub(crate) refuses: Option<Answer>,
    tokens: usize,
}

/// Both of them.
pub(crate) struct Authority {
    pub(crate) server: Arc<Server>,
    pub(crate) facts: Arc<Mutex<Facts>>,
}

impl Authority {
    pub(crate) fn start() -> Self {
        let server = Arc::new(Server::start([]));
        let issuer = server.url("/as");
        let facts = Facts {
            resource: json!({"resource": server.url("/mcp"), "authorization_servers": [issuer], "scopes_supported": ["lab:read"]}),
            authority: json!({
                "issuer": issuer,
                "authorization_endpoint": server.url("/as/authorize?tenant=1"),
                "token_endpoint": server.url("/as/token"),
                "registration_endpoint": server.url("/as/register"),
                "code_challenge_methods_supported": ["S256"],
                "authorization_response_iss_parameter_supported": true,
            }),
            token: String::new(),
            challenge: format!(
                "Bearer resource_metadata=\"{}\"",
                server.url("/.well-known/oauth-protected-resource/mcp")
            ),
            wants: None,
            refuses: None,
            tokens: 0,
        };
        let facts = Arc::new(Mutex::new(facts));
        let known = Arc::clone(&facts);
        server.decide(move |request| Some(known.lock().unwrap().answer(request)));
        Self { server, facts }
    }

    /// Changes what they say.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Facts)) {
        change(&mut self.facts.lock().unwrap());
    }

    /// A home whose settings have the server `far`.
    pub(crate) fn home(&self) -> Home {
        let home = Home::new();
        home.write("config/axi/config.toml", &format!("[mcp.far]\nurl = \"{}\"\n", self.server.url("/mcp")));
        home
    }

    /// What was asked of a path.
    pub(crate) fn asked(&self, path: &str) -> Vec<Recorded> {
        let of_path = |request: &Recorded| request.path.split('?').next() == Some(path);
        self.server.requests().into_iter().filter(of_path).collect()
    }

    pub(crate) fn issuer(&self) -> String {
        self.server.url("/as")
    }
}

impl Facts {
    fn answer(&mut self, request: &Recorded) -> Answer {
        match request.path.split('?').next().unwrap_or_default() {
            "/mcp" => self.mcp(request),
            "/.well-known/oauth-protected-resource/mcp" => Answer::json(200, &self.resource),
            "/.well-known/oauth-authorization-server/as" => Answer::json(200, &self.authority),
            "/as/register" => {
                Answer::json(201, &json!({"client_id": "axi-7", "token_endpoint_auth_method": "none"}))
            }
            "/as/token" => self.refuses.clone().unwrap_or_else(|| self.new_token()),
            _ => Answer::json(404, &json!({})),
        }
    }

    fn new_token(&mut self) -> Answer {
        self.tokens += 1;
        self.token = format!("access-s3cret-{}", self.tokens);
        let refresh = format!("refresh-s3cret-{}", self.tokens);
        Answer::json(
            200,
            &json!({"access_token": self.token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh}),
        )
    }

    fn mcp(&self, request: &Recorded) -> Answer {
        let shown = request.header("authorization").and_then(|shown| shown.strip_prefix("Bearer "));
        if shown.is_none_or(|shown| shown != self.token) {
            return Answer::json(401, &json!({})).header("WWW-Authenticate", &self.challenge);
        }
        let result = match request.body["method"].as_str() {
            Some("server/discover") => json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}),
            Some("tools/list") => json!({"tools": [{"name": "echo"}]}),
            _ => match &self.wants {
                Some(scope) => {
                    let wants = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
                    return Answer::json(403, &json!({})).header("WWW-Authenticate", &wants);
                }
                None => json!({"content": [{"type": "text", "text": "fine"}]}),
            },
        };
        Answer::json(200, &json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result}))
    }
}

/// A sign-in that waits for the browser.
pub(crate) struct Waiting {
    child: Child,
    out: BufReader<ChildStdout>,
    /// The address that the person is to open, field by field; none where it came to nothing.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) address: String,
}

impl Waiting {
    /// Starts a sign-in and reads the address that it prints.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        out.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let fields = address.parse::<reqwest::Url>().map(|url| url.query_pairs().into_owned().collect());
        Self { child, out, fields: fields.unwrap_or_default(), address }
    }

    /// A field of the address.
    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// Comes back from the browser with these fields; gives the first line of the answer.
    pub(crate) fn returns(&self, fields: &[(&str, &str)]) -> String {
        visit(&self.back(fields))
    }

    /// Where the browser comes back to with these fields.
    pub(crate) fn back(&self, fields: &[(&str, &str)]) -> String {
        let mut url: reqwest::Url = self.field("redirect_uri").parse().unwrap();
        url.query_pairs_mut().extend_pairs(fields);
        url.to_string()
    }

    /// Types a line.
    pub(crate) fn types(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for its end.
    pub(crate) fn ends(mut self) -> Ran {
        let mut out = self.address;
        self.out.read_to_string(&mut out).unwrap();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        Ran { code: self.child.wait().unwrap().code(), out, err }
    }
}

/// Opens an address as a browser does; gives the first line of the answer.
pub(crate) fn visit(address: &str) -> String {
    let url: reqwest::Url = address.parse().unwrap();
    let mut stream = TcpStream::connect((url.host_str().unwrap(), url.port().unwrap())).unwrap();
    let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    write!(stream, "GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut first = String::new();
    BufReader::new(stream).read_line(&mut first).unwrap();
    first.trim().to_owned()
}
