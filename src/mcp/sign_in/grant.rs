//! A token: how it is got, made anew, and written down. It is for one server and goes to no other.

use reqwest::Url;
use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::client::Client;
use super::discovery::canonical;
use super::error::SignInError;
use super::web::{Answered, Web, bare, short};

/// What a person gave axi for one server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    /// The server, by its canonical address. The token is sent there and nowhere else.
    pub(super) server: String,
    /// What the token is good for.
    pub(super) audience: String,
    /// Who gave it.
    pub(super) issuer: String,
    /// Where it is made anew.
    token_endpoint: String,
    client: Client,
    access: String,
    refresh: Option<String>,
    pub(super) scope: Option<String>,
    /// What a call wanted that the token is not good for: the next sign-in asks for it, too.
    #[serde(default)]
    pub(super) wants: Option<String>,
}

/// The name under which the token for a server is kept.
pub(in crate::mcp) fn account(server: &Url) -> String {
    format!("mcp {}", canonical(server))
}

/// What a token is asked for with.
pub(super) struct Code<'a> {
    pub(super) text: &'a str,
    pub(super) verifier: &'a str,
    pub(super) uri: &'a str,
}

/// For whom and from whom a token is.
pub(super) struct Purpose<'a> {
    pub(super) server: &'a Url,
    pub(super) audience: &'a str,
    pub(super) issuer: &'a str,
    pub(super) scope: Option<&'a str>,
    pub(super) token_endpoint: &'a Url,
}

impl Grant {
    /// Reads what was kept; nothing where it is for another server.
    pub(super) fn read(text: &str, server: &Url) -> Option<Self> {
        let grant: Self = serde_json::from_str(text).ok()?;
        (grant.server == canonical(server)).then_some(grant)
    }

    pub(super) fn written(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The header that proves who asks; nothing where the token cannot be sent.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", self.access)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Gets a token for what the browser brought back.
    pub(super) async fn get(
        web: &Web,
        client: Client,
        code: Code<'_>,
        purpose: Purpose<'_>,
    ) -> Result<Self, SignInError> {
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code.text),
            ("redirect_uri", code.uri),
            ("code_verifier", code.verifier),
            ("resource", purpose.audience),
        ];
        fields.extend(client.fields());
        let answered = web.post_form(purpose.token_endpoint, &fields, client.basic()).await?;
        let secrets = [Some(code.text), Some(code.verifier), client.secret()];
        let tokens = tokens(&answered, purpose.token_endpoint, purpose.issuer, &secrets)?;
        Ok(Self {
            server: canonical(purpose.server),
            audience: purpose.audience.to_owned(),
            issuer: purpose.issuer.to_owned(),
            token_endpoint: purpose.token_endpoint.to_string(),
            client,
            access: tokens.access,
            refresh: tokens.refresh,
            scope: tokens.scope.or_else(|| purpose.scope.map(str::to_owned)),
            wants: None,
        })
    }

    /// Makes the token anew; nothing where there is nothing to do so with.
    pub(super) async fn renewed(&self, web: &Web) -> Result<Option<Self>, SignInError> {
        let Some(refresh) = &self.refresh else { return Ok(None) };
        let place = web.address(&self.token_endpoint)?;
        let mut fields = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.as_str()),
            ("resource", self.audience.as_str()),
        ];
        fields.extend(self.client.fields());
        let answered = web.post_form(&place, &fields, self.client.basic()).await?;
        let tokens = tokens(&answered, &place, &self.issuer, &[Some(refresh), self.client.secret()])?;
        Ok(Some(Self {
            access: tokens.access,
            refresh: tokens.refresh.or_else(|| self.refresh.clone()),
            scope: tokens.scope.or_else(|| self.scope.clone()),
            ..self.clone()
        }))
    }
}

struct Tokens {
    access: String,
    refresh: Option<String>,
    scope: Option<String>,
}

/// Reads what an authority answers (RFC 6749, 5). What of `secrets` stands in its words is taken out.
fn tokens(answered: &Answered, place: &Url, issuer: &str, secrets: &[Option<&str>]) -> Result<Tokens, SignInError> {
    let text = |name: &str| answered.body.get(name).and_then(Value::as_str);
    if let Some(error) = text("error") {
        let mut said =
            [Some(error), text("error_description")].into_iter().flatten().collect::<Vec<_>>().join(": ");
        for secret in secrets.iter().flatten().filter(|secret| !secret.is_empty()) {
            said = said.replace(secret, "…");
        }
        return Err(SignInError::Refused { issuer: issuer.to_owned(), said: short(&said) });
    }
    let no_oauth = || SignInError::NoOauth { address: bare(place) };
    let is_bearer = text("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"));
    let fits = |token: &&str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let access = text("access_token").filter(fits).filter(|_| answered.is_success && is_bearer);
    Ok(Tokens {
        access: access.ok_or_else(no_oauth)?.to_owned(),
        refresh: text("refresh_token").filter(|token| !token.is_empty()).map(str::to_owned),
        scope: text("scope").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn a_token_is_for_one_server_whatever_it_is_called() {
        let grant = Grant {
            server: canonical(&url("https://A.b:443/mcp#x")),
            audience: "https://a.b".to_owned(),
            issuer: "https://auth".to_owned(),
            token_endpoint: "https://auth/token".to_owned(),
            client: Client::new("me", None, "none"),
            access: "tok".to_owned(),
            refresh: None,
            scope: None,
            wants: None,
        };
        let text = grant.written();
        assert!(Grant::read(&text, &url("https://a.b/mcp")) == Some(grant));
        for other in ["https://a.b/mcp2", "https://a.b", "http://a.b/mcp", "https://a.b:1/mcp", "https://evil/mcp"]
        {
            assert!(Grant::read(&text, &url(other)).is_none(), "{other}");
            assert_ne!(account(&url(other)), account(&url("https://a.b/mcp")));
        }
        assert!(Grant::read("{", &url("https://a.b/mcp")).is_none());
    }

    #[test]
    fn an_authority_that_says_no_says_no_secret() {
        let read = |is_success: bool, body: Value| {
            let answered = Answered { is_success, body };
            tokens(&answered, &url("https://auth/token?x=y"), "https://auth", &[Some("c0de"), None])
                .map(|tokens| tokens.access)
        };
        let said = |said: &str| Err(SignInError::Refused { issuer: "https://auth".into(), said: said.into() });
        assert_eq!(
            read(false, json!({"error": "invalid_grant", "error_description": "the code c0de\u{1b}[31m is old"})),
            said("invalid_grant: the code … is old")
        );
        let no = || Err(SignInError::NoOauth { address: "https://auth/token".to_owned() });
        assert_eq!(read(true, json!({"access_token": "t", "token_type": "bearer"})), Ok("t".to_owned()));
        assert_eq!(read(false, json!({"access_token": "t", "token_type": "bearer"})), no());
        assert_eq!(read(true, json!({"access_token": "t", "token_type": "mac"})), no());
        assert_eq!(read(true, json!({"access_token": "t\r\nX: y", "token_type": "Bearer"})), no());
        assert_eq!(read(true, Value::Null), no());
    }
}
