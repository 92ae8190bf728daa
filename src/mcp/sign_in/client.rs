//! As whom axi signs in: as the settings say, as an address that says what axi is, or as a program that makes itself
//! known (RFC 7591).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::discovery::Authority;
use super::error::SignInError;
use super::web::{Web, bare, short};
use crate::mcp::given_client::GivenClient;

/// As whom a token was asked for.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    secret: Option<String>,
    /// Whether the secret goes into the form and not into a header.
    in_form: bool,
}

impl Client {
    pub(super) fn new(id: &str, secret: Option<&str>, method: &str) -> Self {
        let secret = secret.filter(|secret| !secret.is_empty()).map(str::to_owned);
        Self { id: id.to_owned(), secret, in_form: method == "client_secret_post" }
    }

    /// What goes into each form.
    pub(super) fn fields(&self) -> Vec<(&str, &str)> {
        let secret = self.secret.as_deref().filter(|_| self.in_form).map(|secret| ("client_secret", secret));
        std::iter::once(("client_id", self.id.as_str())).chain(secret).collect()
    }

    /// What goes into a header.
    pub(super) fn basic(&self) -> Option<(&str, &str)> {
        self.secret.as_deref().filter(|_| !self.in_form).map(|secret| (self.id.as_str(), secret))
    }

    pub(super) fn secret(&self) -> Option<&str> {
        self.secret.as_deref()
    }
}

/// Chooses as whom to sign in; makes axi known where it must.
pub(super) async fn choose(
    web: &Web,
    authority: &Authority,
    given: Option<&GivenClient>,
    uri: &str,
) -> Result<Client, SignInError> {
    let is_document = |given: &GivenClient| given.id.starts_with("https://");
    if let Some(given) = given.filter(|given| authority.takes_documents || !is_document(given)) {
        let knows = |method: &str| authority.methods.iter().any(|known| known == method);
        // RFC 8414, 2: where nothing is said it is the header.
        let in_form = knows("client_secret_post") && !knows("client_secret_basic");
        let method = if in_form { "client_secret_post" } else { "client_secret_basic" };
        return Ok(Client::new(&given.id, given.secret.as_deref(), method));
    }
    let Some(place) = &authority.registration else {
        return Err(SignInError::NoRegistration { issuer: authority.issuer.clone() });
    };
    let method = ["none", "client_secret_post", "client_secret_basic"]
        .into_iter()
        .find(|method| authority.methods.iter().any(|known| known == method))
        .unwrap_or("none");
    let about = json!({
        "client_name": "axi",
        "redirect_uris": [uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": "native",
    });
    let answered = web.post(place, &about).await?;
    let text = |name: &str| answered.body.get(name).and_then(Value::as_str);
    if !answered.is_success {
        let said = text("error_description").or_else(|| text("error")).unwrap_or("-");
        return Err(SignInError::Refused { issuer: authority.issuer.clone(), said: short(said) });
    }
    let id = text("client_id").ok_or_else(|| SignInError::NoOauth { address: bare(place) })?;
    Ok(Client::new(id, text("client_secret"), text("token_endpoint_auth_method").unwrap_or(method)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_goes_one_way_and_into_no_words() {
        let client = |method: &str| Client::new("me", Some("s3cret"), method);
        assert_eq!(client("client_secret_post").fields(), [("client_id", "me"), ("client_secret", "s3cret")]);
        assert_eq!(client("client_secret_post").basic(), None);
        assert_eq!(client("client_secret_basic").fields(), [("client_id", "me")]);
        assert_eq!(client("client_secret_basic").basic(), Some(("me", "s3cret")));
        assert_eq!(Client::new("me", Some(""), "client_secret_basic").basic(), None);
        let given = GivenClient { id: "me".to_owned(), secret: Some("s3cret".to_owned()) };
        assert!(!format!("{given:?}").contains("s3cret"));
    }
}
