//! Puts a request into the envelope that an in-house gateway wants. Pure.

use reqwest::Url;
use serde_json::Value;

use super::http::Call;
use super::settings::Gateway;

/// Puts a request into the envelope.
pub(crate) fn dress(gateway: &Gateway, mut call: Call) -> Call {
    if !gateway.query.is_empty()
        && let Ok(mut url) = call.url.parse::<Url>()
    {
        url.query_pairs_mut().extend_pairs(&gateway.query);
        call.url = url.into();
    }
    call.added.extend(gateway.headers.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())));
    if let (Some(envelope), Some(body)) = (&gateway.envelope, &mut call.body) {
        let mut outer = envelope.fixed.clone();
        let inner = String::from_utf8_lossy(body).into_owned();
        outer.insert(envelope.field.clone(), Value::String(inner));
        *body = Value::Object(outer).to_string().into_bytes();
    }
    call
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::provider::settings::{Envelope, Secret};

    #[test]
    fn a_body_is_put_into_its_envelope_and_headers_and_query_are_added() {
        let fixed = json!({"app": "axi", "kind": "chat"});
        let gateway = Gateway {
            headers: vec![("x-team".into(), Secret::new("blue"))],
            query: vec![("api-version".into(), "v 1".into())],
            envelope: Some(Envelope {
                field: "payload".into(),
                fixed: fixed.as_object().unwrap().clone(),
                answer: "data.out".into(),
            }),
        };
        let call =
            Call { url: "http://x/v1/chat?alt=sse".into(), body: Some(b"{\"a\":1}".to_vec()), ..Call::default() };
        let dressed = dress(&gateway, call);
        assert_eq!(dressed.url, "http://x/v1/chat?alt=sse&api-version=v+1");
        assert_eq!(dressed.added, [("x-team".to_owned(), "blue".to_owned())]);
        let body: Value = serde_json::from_slice(&dressed.body.unwrap()).unwrap();
        assert_eq!(body, json!({"app": "axi", "kind": "chat", "payload": "{\"a\":1}"}));
        assert!(!format!("{gateway:?}").contains("blue"), "a header may be a secret");
    }
}
