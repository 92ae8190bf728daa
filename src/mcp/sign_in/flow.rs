//! A sign-in from its beginning to a token that is kept.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::json;
use tokio::sync::mpsc;

use super::TokenStore;
use super::challenge::Challenge;
use super::client::{self, Client};
use super::discovery::{self, Found};
use super::error::SignInError;
use super::grant::{Code, Grant, Purpose, account};
use super::redirect::{self, Landing, Redirect};
use super::web::{MakeClient, Web, bare, short};
use crate::mcp::given_client::GivenClient;
use crate::mcp::spoken::{self, SESSION};

pub use super::redirect::Pages;

/// Bytes of each random text.
const RANDOM: usize = 32;

/// Which server is signed in to, and with what.
pub(in crate::mcp) struct Asked {
    pub(in crate::mcp) server: Url,
    pub(in crate::mcp) headers: HeaderMap,
    pub(in crate::mcp) given: Option<GivenClient>,
    pub(in crate::mcp) client: MakeClient,
    pub(in crate::mcp) store: Arc<dyn TokenStore>,
}

/// A sign-in that waits for the person.
pub struct SignIn {
    /// Where the person signs in.
    pub issuer: String,
    /// What axi asks to be allowed there, if it is known.
    pub scope: Option<String>,
    /// What is to be opened in a browser: an address of the web, by `https` unless it is one of this machine.
    pub address: String,
    server: Url,
    found: Found,
    client: Client,
    landing: Landing,
    state: String,
    verifier: String,
    web: Web,
    store: Arc<dyn TokenStore>,
}

/// Finds out where one signs in, makes axi known there and opens the port to come back to.
pub(in crate::mcp) async fn begin(asked: Asked) -> Result<SignIn, SignInError> {
    let Asked { server, headers, given, client, store } = asked;
    let web = Web::new(Arc::clone(&client), &server);
    // Not even asked in clear.
    web.address(server.as_str())?;
    let (is_asked, mut challenge) = knock(&client, &server, headers).await?;
    let before = {
        let (store, account) = (Arc::clone(&store), account(&server));
        let text = tokio::task::spawn_blocking(move || store.find(&account)).await.ok().flatten();
        text.and_then(|text| Grant::read(&text, &server))
    };
    if let Some(wants) = before.and_then(|before| with(before.scope.as_deref(), before.wants.as_deref())) {
        challenge.scope = with(challenge.scope.as_deref(), Some(&wants));
    }
    let found = discovery::find(&web, &server, &challenge, is_asked).await?;
    let landing = Landing::bind().await.map_err(|error| SignInError::NotBegun { cause: error.to_string() })?;
    let client = client::choose(&web, &found.authority, given.as_ref(), &landing.uri).await?;
    let (state, verifier) = (random()?, random()?);
    let mut address = found.authority.authorization.clone();
    let hash = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
    address.query_pairs_mut().extend_pairs([
        ("response_type", "code"),
        ("client_id", client.id.as_str()),
        ("redirect_uri", landing.uri.as_str()),
        ("state", state.as_str()),
        ("code_challenge", hash.as_str()),
        ("code_challenge_method", "S256"),
        ("resource", found.audience.as_str()),
    ]);
    if let Some(scope) = &found.scope {
        address.query_pairs_mut().append_pair("scope", scope);
    }
    let (issuer, scope) = (found.authority.issuer.clone(), found.scope.clone());
    Ok(SignIn {
        issuer,
        scope,
        address: address.into(),
        server,
        found,
        client,
        landing,
        state,
        verifier,
        web,
        store,
    })
}

impl SignIn {
    /// How long the person may take in the browser, in minutes.
    pub const MINUTES: u64 = 5;

    /// Waits for the browser, or for the address where it ended as `pasted` by the person, gets the token and keeps it.
    /// Calls `strange` for each line pasted that is no address of this sign-in.
    ///
    /// # Cancel safety
    /// Dropped, nothing is kept.
    ///
    /// # Errors
    /// [`SignInError`].
    pub async fn finish(
        self,
        pages: &Pages,
        mut pasted: mpsc::Receiver<String>,
        strange: impl Fn(),
    ) -> Result<(), SignInError> {
        let typed = async {
            loop {
                let Some(line) = pasted.recv().await else { break std::future::pending().await };
                match redirect::read(&line, &self.state) {
                    Some(redirect) => return redirect,
                    None if line.trim().is_empty() => {}
                    None => strange(),
                }
            }
        };
        let back = async {
            tokio::select! {
                redirect = self.landing.wait(&self.state, pages) => redirect,
                redirect = typed => redirect,
            }
        };
        let minutes = Self::MINUTES;
        let back = tokio::time::timeout(Duration::from_mins(minutes), back).await;
        let back = back.map_err(|_| SignInError::Slow { minutes })?;
        let code = self.believed(back)?;
        let code = Code { text: &code, verifier: &self.verifier, uri: &self.landing.uri };
        let authority = &self.found.authority;
        let purpose = Purpose {
            server: &self.server,
            audience: &self.found.audience,
            issuer: &authority.issuer,
            scope: self.scope.as_deref(),
            token_endpoint: &authority.token,
        };
        let grant = Grant::get(&self.web, self.client, code, purpose).await?;
        let (store, account) = (Arc::clone(&self.store), account(&self.server));
        let kept = tokio::task::spawn_blocking(move || store.keep(&account, &grant.written())).await;
        let kept = kept.unwrap_or_else(|error| Err(error.to_string()));
        kept.map_err(|cause| SignInError::NotKept { cause })
    }

    /// Takes the code of who was asked, and of nobody else (RFC 9207, 2.4).
    fn believed(&self, back: Redirect) -> Result<String, SignInError> {
        let authority = &self.found.authority;
        match &back.issuer {
            None if !authority.says_issuer => {}
            Some(issuer) if *issuer == authority.issuer => {}
            said => {
                let said = short(said.as_deref().unwrap_or("-"));
                return Err(SignInError::WrongIssuer { said, wanted: authority.issuer.clone() });
            }
        }
        let refused = |said: String| SignInError::Refused { issuer: self.issuer.clone(), said: short(&said) };
        back.code.map_err(refused)
    }
}

/// Asks the server as one that nobody signed in to; tells whether it wants that, and what it says.
async fn knock(client: &MakeClient, server: &Url, headers: HeaderMap) -> Result<(bool, Challenge), SignInError> {
    let unreached = |cause: String| SignInError::Unreached { address: bare(server), cause };
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": SESSION,
        "capabilities": {},
        "clientInfo": spoken::client(),
    }});
    let request = client(server.as_str()).map_err(unreached)?.post(server.clone()).headers(headers);
    let request =
        request.header(CONTENT_TYPE, "application/json").header(ACCEPT, "application/json, text/event-stream");
    let response = request.timeout(Duration::from_secs(15)).body(hello.to_string()).send().await;
    let response = response.map_err(|error| unreached(error.without_url().to_string()))?;
    Ok((matches!(response.status().as_u16(), 401 | 403), Challenge::read(response.headers())))
}

/// Two lists of scopes as one.
fn with(scope: Option<&str>, more: Option<&str>) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for part in [scope, more].into_iter().flatten().flat_map(str::split_whitespace) {
        if !all.contains(&part) {
            all.push(part);
        }
    }
    (!all.is_empty()).then(|| all.join(" "))
}

/// A text that nobody can guess.
fn random() -> Result<String, SignInError> {
    let mut bytes = [0; RANDOM];
    let drawn = SystemRandom::new().fill(&mut bytes);
    drawn.map_err(|_| SignInError::NotBegun { cause: "no random numbers".to_owned() })?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
