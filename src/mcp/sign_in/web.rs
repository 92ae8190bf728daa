//! The few requests of signing in: no redirect is followed, nothing endless is read, no address in clear but on this
//! machine, and there only for a server of this machine.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, Url};
use serde_json::Value;

use super::error::SignInError;
use crate::cause::innermost;
use crate::mcp::plain::visible;

/// Makes what reaches an address, or says why not.
pub(in crate::mcp) type MakeClient = Arc<dyn Fn(&str) -> Result<reqwest::Client, String> + Send + Sync>;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(15);
/// The most characters of somebody's own words.
const MOST_WORDS: usize = 200;
/// The most bytes of an answer.
const MOST: usize = 1024 * 1024;

/// Asks for one server.
pub(super) struct Web {
    client: MakeClient,
    /// Whether the server itself runs on this machine.
    near: bool,
}

/// A status and what was said, `Null` where it is no JSON.
pub(super) struct Answered {
    pub(super) is_success: bool,
    pub(super) body: Value,
}

impl Web {
    pub(super) fn new(client: MakeClient, server: &Url) -> Self {
        Self { client, near: is_near(server) }
    }

    /// Reads an address that may be asked.
    pub(super) fn address(&self, text: &str) -> Result<Url, SignInError> {
        let no_https =
            || SignInError::NotHttps { address: text.split(['?', '#']).next().unwrap_or_default().to_owned() };
        let url: Url = text.parse().map_err(|_| no_https())?;
        let fits = url.scheme() == "https" || url.scheme() == "http" && self.near && is_near(&url);
        let bare = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
        if fits && bare { Ok(url) } else { Err(no_https()) }
    }

    pub(super) async fn get(&self, url: &Url) -> Result<Answered, SignInError> {
        self.sent(url, |client| client.get(url.clone())).await
    }

    pub(super) async fn post(&self, url: &Url, body: &Value) -> Result<Answered, SignInError> {
        let body = body.to_string();
        self.sent(url, |client| client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body)).await
    }

    pub(super) async fn post_form(
        &self,
        url: &Url,
        fields: &[(&str, &str)],
        basic: Option<(&str, &str)>,
    ) -> Result<Answered, SignInError> {
        let body = form(fields);
        let send = |client: &reqwest::Client| {
            let request =
                client.post(url.clone()).header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(body);
            match basic {
                // RFC 6749, 2.3.1: each part as in a form.
                Some((name, word)) => request.basic_auth(form_text(name), Some(form_text(word))),
                None => request,
            }
        };
        self.sent(url, send).await
    }

    async fn sent(
        &self,
        url: &Url,
        request: impl FnOnce(&reqwest::Client) -> RequestBuilder,
    ) -> Result<Answered, SignInError> {
        let unreached = |cause: String| SignInError::Unreached { address: bare(url), cause };
        let client = (self.client)(url.as_str()).map_err(unreached)?;
        let asking = async {
            let mut response = request(&client).header(ACCEPT, "application/json").send().await?;
            let is_success = response.status().is_success();
            let mut body = Vec::new();
            while let Some(bytes) = response.chunk().await? {
                if body.len() + bytes.len() > MOST {
                    return Ok(Answered { is_success: false, body: Value::Null });
                }
                body.extend_from_slice(&bytes);
            }
            Ok(Answered { is_success, body: serde_json::from_slice(&body).unwrap_or_default() })
        };
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(answered) => answered.map_err(|error: reqwest::Error| unreached(innermost(&error))),
            Err(_) => Err(unreached(format!("{} s", PATIENCE.as_secs()))),
        }
    }
}

/// An address without what may be secret or long in it.
pub(super) fn bare(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Only an address that cannot have them refuses, and then it has none.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.to_string()
}

/// Somebody's own words, as far as they can be seen.
pub(super) fn short(text: &str) -> String {
    visible(text).chars().take(MOST_WORDS).collect::<String>().replace(['\n', '\t'], " ")
}

/// Writes fields as a form does.
pub(super) fn form(fields: &[(&str, &str)]) -> String {
    // The address is only where the crate keeps its writer of forms.
    let Ok(mut url) = Url::parse("http://form/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

fn form_text(text: &str) -> String {
    form(&[(text, "")]).trim_end_matches('=').to_owned()
}

fn is_near(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_is_asked_and_this_machine_for_a_server_of_this_machine() {
        let web = |server: &str| {
            let client: MakeClient = Arc::new(|_| Err(String::new()));
            Web::new(client, &server.parse().unwrap())
        };
        let (far, near) = (web("https://mcp.example/a"), web("http://127.0.0.1:8080/mcp"));
        for text in ["https://auth.example/x?y=1", "https://127.0.0.1/x"] {
            assert!(far.address(text).is_ok() && near.address(text).is_ok(), "{text}");
        }
        assert!(near.address("http://127.0.0.1:9/token").is_ok() && near.address("http://localhost/token").is_ok());
        for text in [
            "http://auth.example/token",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "--version",
            "https://user:pw@auth.example/",
            "https://auth.example/#x",
            "http://127.0.0.1.evil.example/",
            "",
        ] {
            assert!(matches!(near.address(text), Err(SignInError::NotHttps { .. })), "{text}");
        }
        assert!(
            far.address("http://127.0.0.1:9/token").is_err(),
            "what is behind this machine's door is not asked"
        );
    }

    #[test]
    fn a_form_is_written_as_browsers_do() {
        assert_eq!(form(&[("a", "b c&d"), ("ü", "=")]), "a=b+c%26d&%C3%BC=%3D");
        assert_eq!(form_text("a b="), "a+b%3D");
        assert_eq!(bare(&"https://u:p@a.b/c?d=e#f".parse().unwrap()), "https://a.b/c");
    }
}
