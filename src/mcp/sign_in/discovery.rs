//! Where one signs in to a server: what it says of itself (RFC 9728), and what the one says that gives the tokens (RFC 8414,
//! OpenID Connect Discovery). Nobody is believed about anybody else.

use reqwest::Url;
use serde_json::Value;

use super::challenge::Challenge;
use super::error::SignInError;
use super::web::{Web, bare};

const OF_RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OF_ISSUER: [&str; 2] = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];

/// Who gives tokens for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authority {
    /// Its name, an address.
    pub(super) issuer: String,
    /// Where the browser goes.
    pub(super) authorization: Url,
    /// Where a token is given.
    pub(super) token: Url,
    /// Where a program makes itself known.
    pub(super) registration: Option<Url>,
    /// Whether a program may be known by an address that says what it is.
    pub(super) takes_documents: bool,
    /// Whether it says who it is when the browser comes back (RFC 9207).
    pub(super) says_issuer: bool,
    /// How a program with a secret may prove itself.
    pub(super) methods: Vec<String>,
    /// What may be asked for.
    pub(super) scopes: Vec<String>,
}

/// What a token is for, and who gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// What the token is to be good for (RFC 8707).
    pub(super) audience: String,
    /// What is asked for, if it is known.
    pub(super) scope: Option<String>,
    pub(super) authority: Authority,
}

/// Finds out where one signs in to a server; `is_asked` says that the server answered 401 or 403.
pub(super) async fn find(
    web: &Web,
    server: &Url,
    challenge: &Challenge,
    is_asked: bool,
) -> Result<Found, SignInError> {
    for place in resource_places(web, server, challenge)? {
        let answered = web.get(&place).await?;
        if !answered.is_success || !answered.body.is_object() {
            continue;
        }
        let (audience, issuer) = read_resource(&answered.body, server)?;
        // RFC 8414, 3.3; a slash at the end is where most implementers differ, and no other server.
        let same = |said: &str| said.trim_end_matches('/') == issuer.trim_end_matches('/');
        let authority = authority(web, &web.address(&issuer)?, &issuer, same).await?;
        let scope = challenge.scope.clone().or_else(|| joined(&texts(&answered.body, "scopes_supported")));
        return Ok(Found { audience, scope: with_offline(scope, &authority), authority });
    }
    if !is_asked {
        return Err(SignInError::NotWanted);
    }
    // Before the revision 2025-06-18 a server was its own authority, or stood beside it.
    let mut root = server.clone();
    root.set_path("");
    root.set_query(None);
    let issuer = root.as_str().trim_end_matches('/').to_owned();
    // It may call itself by another path of that origin.
    let beside = |said: &str| said.parse::<Url>().is_ok_and(|said| said.origin() == root.origin());
    let authority = match authority(web, &root, &issuer, beside).await {
        Err(SignInError::NoMetadata) => usual(&root, &issuer)?,
        authority => authority?,
    };
    Ok(Found { audience: canonical(server), scope: challenge.scope.clone(), authority })
}

/// The name of a server as a resource (RFC 8707, 2): its address without a fragment, and without a slash for nothing.
pub(in crate::mcp) fn canonical(server: &Url) -> String {
    let mut server = server.clone();
    server.set_fragment(None);
    let whole = server.to_string();
    if server.path() == "/" && server.query().is_none() { whole.trim_end_matches('/').to_owned() } else { whole }
}

/// The addresses of a server's metadata: the one of its challenge, else the well-known ones.
fn resource_places(web: &Web, server: &Url, challenge: &Challenge) -> Result<Vec<Url>, SignInError> {
    if let Some(said) = &challenge.metadata {
        return Ok(vec![web.address(said)?]);
    }
    let at = |path: &str| {
        let mut place = server.clone();
        place.set_query(None);
        place.set_path(path);
        place
    };
    let path = server.path().trim_end_matches('/');
    let mut places = vec![at(&format!("{OF_RESOURCE}{path}"))];
    if !path.is_empty() {
        places.push(at(OF_RESOURCE));
    }
    Ok(places)
}

/// What a token is to be good for, and the first who gives it.
fn read_resource(body: &Value, server: &Url) -> Result<(String, String), SignInError> {
    let said = body.get("resource").and_then(Value::as_str).ok_or(SignInError::NoMetadata)?;
    let covers = said.parse::<Url>().is_ok_and(|resource| {
        let path = resource.path().trim_end_matches('/');
        let below = server.path().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        resource.origin() == server.origin() && below
    });
    if !covers {
        return Err(SignInError::WrongResource { said: said.chars().take(200).collect() });
    }
    let issuer = texts(body, "authorization_servers").into_iter().next().ok_or(SignInError::NoMetadata)?;
    Ok((said.to_owned(), issuer))
}

/// Where an authority says what it is: the path of its name goes behind the well-known part, or before it.
fn authority_places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let mut paths: Vec<String> = OF_ISSUER.iter().map(|known| format!("{known}{path}")).collect();
    if !path.is_empty() {
        paths.push(format!("{path}{}", OF_ISSUER[1]));
    }
    let at = |path: String| {
        let mut place = issuer.clone();
        place.set_query(None);
        place.set_path(&path);
        place
    };
    paths.into_iter().map(at).collect()
}

/// Fetches an authority's metadata and checks that it is the issuer that was asked for.
async fn authority(
    web: &Web,
    issuer: &Url,
    wanted: &str,
    is_believed: impl Fn(&str) -> bool,
) -> Result<Authority, SignInError> {
    for place in authority_places(issuer) {
        let answered = web.get(&place).await?;
        if answered.is_success && answered.body.is_object() {
            return read_authority(web, &answered.body, wanted, is_believed);
        }
    }
    Err(SignInError::NoMetadata)
}

fn read_authority(
    web: &Web,
    body: &Value,
    wanted: &str,
    is_believed: impl Fn(&str) -> bool,
) -> Result<Authority, SignInError> {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let issuer = text("issuer").unwrap_or_default();
    if !is_believed(issuer) {
        let said = issuer.chars().take(200).collect();
        return Err(SignInError::WrongIssuer { said, wanted: wanted.to_owned() });
    }
    if !texts(body, "code_challenge_methods_supported").iter().any(|method| method == "S256") {
        return Err(SignInError::NoPkce { issuer: wanted.to_owned() });
    }
    let flag = |name: &str| body.get(name).and_then(Value::as_bool).unwrap_or_default();
    let address = |name: &str| web.address(text(name).ok_or(SignInError::NoMetadata)?);
    Ok(Authority {
        issuer: issuer.to_owned(),
        authorization: address("authorization_endpoint")?,
        token: address("token_endpoint")?,
        registration: text("registration_endpoint").map(|place| web.address(place)).transpose()?,
        takes_documents: flag("client_id_metadata_document_supported"),
        says_issuer: flag("authorization_response_iss_parameter_supported"),
        methods: texts(body, "token_endpoint_auth_methods_supported"),
        scopes: texts(body, "scopes_supported"),
    })
}

/// The addresses that the revision 2025-03-26 gives an authority that says nothing of itself.
fn usual(root: &Url, issuer: &str) -> Result<Authority, SignInError> {
    let at = |path: &str| root.join(path).map_err(|_| SignInError::NoOauth { address: bare(root) });
    Ok(Authority {
        issuer: issuer.to_owned(),
        authorization: at("/authorize")?,
        token: at("/token")?,
        registration: Some(at("/register")?),
        takes_documents: false,
        says_issuer: false,
        methods: Vec::new(),
        scopes: Vec::new(),
    })
}

/// Asks for a token that can be made anew where that must be asked for.
fn with_offline(scope: Option<String>, authority: &Authority) -> Option<String> {
    const OFFLINE: &str = "offline_access";
    let is_there = |scope: &str| scope.split(' ').any(|part| part == OFFLINE);
    match scope {
        Some(scope) if authority.scopes.iter().any(|known| known == OFFLINE) && !is_there(&scope) => {
            Some(format!("{scope} {OFFLINE}"))
        }
        scope => scope,
    }
}

fn texts(body: &Value, name: &str) -> Vec<String> {
    let list = body.get(name).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

fn joined(scopes: &[String]) -> Option<String> {
    (!scopes.is_empty()).then(|| scopes.join(" "))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn web() -> Web {
        Web::new(Arc::new(|_| Err(String::new())), &url("https://mcp.example/"))
    }

    fn places(found: &[Url]) -> Vec<&str> {
        found.iter().map(Url::as_str).collect()
    }

    #[test]
    fn what_is_said_of_a_server_is_looked_for_where_the_standards_put_it() {
        let challenge = Challenge::default();
        let found = |server: &str| resource_places(&web(), &url(server), &challenge).unwrap();
        assert_eq!(
            places(&found("https://a.b/v1/mcp?x=1")),
            [
                "https://a.b/.well-known/oauth-protected-resource/v1/mcp",
                "https://a.b/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(places(&found("https://a.b")), ["https://a.b/.well-known/oauth-protected-resource"]);
        assert_eq!(
            places(&authority_places(&url("https://a.b/t/1/"))),
            [
                "https://a.b/.well-known/oauth-authorization-server/t/1",
                "https://a.b/.well-known/openid-configuration/t/1",
                "https://a.b/t/1/.well-known/openid-configuration",
            ]
        );
        let said = Challenge { metadata: Some("http://evil.example/m".to_owned()), ..Challenge::default() };
        assert!(resource_places(&web(), &url("https://a.b"), &said).is_err());
    }

    #[test]
    fn a_server_speaks_for_itself_only() {
        let read = |resource: &str, server: &str| {
            let body = json!({"resource": resource, "authorization_servers": ["https://auth.example"]});
            read_resource(&body, &url(server))
        };
        for (resource, server) in [
            ("https://a.b/mcp", "https://a.b/mcp"),
            ("https://a.b", "https://a.b/mcp"),
            ("https://a.b/", "https://a.b/mcp"),
            ("https://a.b/mcp/", "https://a.b/mcp/x"),
        ] {
            assert_eq!(read(resource, server), Ok((resource.to_owned(), "https://auth.example".to_owned())));
        }
        for (resource, server) in [
            ("https://other.b/mcp", "https://a.b/mcp"),
            ("http://a.b/mcp", "https://a.b/mcp"),
            ("https://a.b:8443/mcp", "https://a.b/mcp"),
            ("https://a.b/mc", "https://a.b/mcp"),
            ("https://a.b/mcp/x", "https://a.b/mcp"),
            ("mcp", "https://a.b/mcp"),
        ] {
            assert!(matches!(read(resource, server), Err(SignInError::WrongResource { .. })), "{resource}");
        }
    }

    #[test]
    fn an_authority_is_who_was_asked_and_holds_a_sign_in_to_this_program() {
        let whole = json!({
            "issuer": "https://auth.example/t", "authorization_endpoint": "https://auth.example/authorize",
            "token_endpoint": "https://auth.example/token", "code_challenge_methods_supported": ["plain", "S256"],
        });
        let read = |change: Value| {
            let mut body = whole.clone();
            for (name, value) in change.as_object().unwrap() {
                body[name] = value.clone();
            }
            let same = |said: &str| said == "https://auth.example/t";
            read_authority(&web(), &body, "https://auth.example/t", same)
        };
        assert_eq!(read(json!({})).unwrap().token.path(), "/token");
        assert!(matches!(read(json!({"issuer": "https://evil.example"})), Err(SignInError::WrongIssuer { .. })));
        assert!(matches!(read(json!({"issuer": null})), Err(SignInError::WrongIssuer { .. })));
        for methods in [json!(null), json!(["plain"])] {
            let read = read(json!({"code_challenge_methods_supported": methods}));
            assert!(matches!(read, Err(SignInError::NoPkce { .. })));
        }
        for name in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
            for place in ["http://auth.example/x", "javascript:alert(1)", "-h", "http://127.0.0.1/x"] {
                let read = read(json!({ name: place }));
                assert!(matches!(read, Err(SignInError::NotHttps { .. })), "{name} {place}");
            }
        }
    }

    #[test]
    fn a_token_that_can_be_made_anew_is_asked_for_where_it_must_be() {
        let mut authority = usual(&url("https://a.b"), "https://a.b").unwrap();
        assert_eq!(with_offline(Some("x".into()), &authority).as_deref(), Some("x"));
        authority.scopes = vec!["offline_access".to_owned()];
        assert_eq!(with_offline(Some("x".into()), &authority).as_deref(), Some("x offline_access"));
        assert_eq!(with_offline(None, &authority), None);
    }
}
