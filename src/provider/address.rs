//! Addresses as people write them, made into the ones requests are sent to. Pure.

use std::net::IpAddr;

use reqwest::Url;

use super::settings::Protocol;

/// Ollama's port when none is named.
const OLLAMA_PORT: u16 = 11434;

/// Normalises a base URL so that its protocol can append a path: no slash at the end; `/v1` for the wires of OpenAI
/// when there is no path at all; no `/v1` for Anthropic; no endpoint that somebody pasted.
#[must_use]
pub fn base_url(protocol: Protocol, text: &str) -> String {
    let text = with_scheme(text.trim());
    let mut url = text.trim_end_matches('/');
    let endpoint = match protocol {
        Protocol::OpenAiChat => "/chat/completions",
        Protocol::OpenAiResponses => "/responses",
        Protocol::Anthropic => "/messages",
        Protocol::Gemini => "/models",
        Protocol::Bedrock => "/model",
        Protocol::Ollama => "/api/chat",
    };
    url = url.strip_suffix(endpoint).unwrap_or(url).trim_end_matches('/');
    match protocol {
        Protocol::OpenAiChat | Protocol::OpenAiResponses => with_path(url, "/v1"),
        Protocol::Gemini => with_path(url, "/v1beta"),
        Protocol::Bedrock => url.to_owned(),
        Protocol::Anthropic => url.strip_suffix("/v1").unwrap_or(url).trim_end_matches('/').to_owned(),
        Protocol::Ollama => {
            let url = url.strip_suffix("/v1").or_else(|| url.strip_suffix("/api")).unwrap_or(url);
            url.trim_end_matches('/').to_owned()
        }
    }
}

/// Adds the usual path where there is none at all.
fn with_path(url: &str, usual: &str) -> String {
    let path = url.split_once("://").map_or(url, |(_, rest)| rest).split_once('/');
    if path.is_none_or(|(_, path)| path.is_empty()) { format!("{url}{usual}") } else { url.to_owned() }
}

/// A bare host gets `http` on this machine and `https` elsewhere.
fn with_scheme(text: &str) -> String {
    if text.contains("://") {
        return text.to_owned();
    }
    let plain = format!("http://{text}");
    if is_loopback(&plain) { plain } else { format!("https://{text}") }
}

/// Reads `OLLAMA_HOST` in all the forms Ollama itself accepts: `host`, `host:port`, `:port`, `scheme://host[:port]`,
/// with a path. `0.0.0.0` and `[::]`, which servers listen on, become loopback addresses.
#[must_use]
pub fn ollama_host(value: &str) -> String {
    let value = value.trim().trim_matches(['"', '\'']);
    let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
    let (host_port, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let default_port = match (value.contains("://"), scheme) {
        (true, "http") => 80,
        (true, "https") => 443,
        _ => OLLAMA_PORT,
    };
    let bracketed = host_port.starts_with('[');
    let bare_ipv6 = !bracketed && host_port.matches(':').count() > 1;
    let colon = if bare_ipv6 { None } else { host_port.rfind(':').filter(|at| !host_port[*at..].contains(']')) };
    let (host, port) = match colon {
        Some(at) => (&host_port[..at], host_port[at + 1..].parse().unwrap_or(default_port)),
        None => (host_port, default_port),
    };
    let host = match host {
        "" | "0.0.0.0" => "127.0.0.1".to_owned(),
        "[::]" | "::" => "[::1]".to_owned(),
        host if bare_ipv6 => format!("[{host}]"),
        host => host.to_owned(),
    };
    let path = path.trim_end_matches('/');
    let slash = if path.is_empty() { "" } else { "/" };
    format!("{scheme}://{host}:{port}{slash}{path}")
}

/// Tells whether the address is this machine's.
#[must_use]
pub fn is_loopback(url: &str) -> bool {
    url.parse().is_ok_and(|url| is_loopback_url(&url))
}

pub(super) fn is_loopback_url(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let name = host.eq_ignore_ascii_case("localhost") || host.to_ascii_lowercase().ends_with(".localhost");
    name || host.parse().is_ok_and(|address: IpAddr| address.is_loopback() || address.is_unspecified())
}

/// Returns scheme, host and port of an address: without path, query, user and password.
#[must_use]
pub(crate) fn url_origin(url: &str) -> String {
    let Ok(url) = url.parse::<Url>() else { return "the configured address".to_owned() };
    let origin = url.origin();
    // An address without a host (`file:`) has an origin without a name.
    if origin.is_tuple() { origin.ascii_serialization() } else { format!("{}:", url.scheme()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_brought_into_one_form() {
        let cases = [
            (Protocol::OpenAiChat, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
            (Protocol::OpenAiChat, "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
            (Protocol::OpenAiChat, "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
            (Protocol::OpenAiChat, "https://x.example/api/v3", "https://x.example/api/v3"),
            (Protocol::OpenAiChat, "https://x.example/v1/chat/completions", "https://x.example/v1"),
            (Protocol::OpenAiChat, "localhost:8080", "http://localhost:8080/v1"),
            (Protocol::OpenAiResponses, "https://x.example/v1/responses/", "https://x.example/v1"),
            (Protocol::Gemini, "localhost:8080", "http://localhost:8080/v1beta"),
            (Protocol::Gemini, "https://x.example/v1/", "https://x.example/v1"),
            (Protocol::OpenAiResponses, "localhost:8080", "http://localhost:8080/v1"),
            (Protocol::OpenAiChat, "x.example/v1", "https://x.example/v1"),
            (Protocol::Anthropic, "https://api.anthropic.com", "https://api.anthropic.com"),
            (Protocol::Anthropic, "https://api.anthropic.com/v1/", "https://api.anthropic.com"),
            (Protocol::Anthropic, "http://h/anthropic/v1/messages", "http://h/anthropic"),
            (Protocol::Ollama, "http://127.0.0.1:11434/", "http://127.0.0.1:11434"),
            (Protocol::Ollama, "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434"),
            (Protocol::Ollama, "http://127.0.0.1:11434/api/chat", "http://127.0.0.1:11434"),
        ];
        for (protocol, given, expected) in cases {
            assert_eq!(base_url(protocol, given), expected, "{given}");
            assert_eq!(base_url(protocol, expected), expected, "twice: {given}");
        }
    }

    #[test]
    fn ollama_hosts_in_all_their_forms() {
        let cases = [
            ("127.0.0.1", "http://127.0.0.1:11434"),
            ("127.0.0.1:1234", "http://127.0.0.1:1234"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:5000", "http://127.0.0.1:5000"),
            ("http://0.0.0.0:5000/", "http://127.0.0.1:5000"),
            (":5000", "http://127.0.0.1:5000"),
            ("", "http://127.0.0.1:11434"),
            ("\"box.lan\"", "http://box.lan:11434"),
            ("http://box.lan", "http://box.lan:80"),
            ("https://box.lan/ollama/", "https://box.lan:443/ollama"),
            ("[::1]", "http://[::1]:11434"),
            ("[::]:7", "http://[::1]:7"),
            ("::1", "http://[::1]:11434"),
            ("box.lan:notaport", "http://box.lan:11434"),
        ];
        for (given, expected) in cases {
            assert_eq!(ollama_host(given), expected, "{given:?}");
        }
    }

    #[test]
    fn addresses_of_this_machine_are_known() {
        assert_eq!(url_origin("file:///etc/passwd"), "file:");
        assert_eq!(url_origin("https://me:secret@host.example/v1?key=1"), "https://host.example");
        for url in [
            "http://127.0.0.1:1/v1",
            "http://localhost",
            "https://[::1]:5",
            "http://0.0.0.0:8",
            "http://a.localhost",
        ] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["http://10.0.0.1", "https://api.openai.com/v1", "localhost", "", "http://localhost.example"] {
            assert!(!is_loopback(url), "{url}");
        }
    }

    #[test]
    fn an_origin_shows_no_password_and_no_path() {
        assert_eq!(url_origin("https://user:pass@host.example:8443/v1?key=x"), "https://host.example:8443");
        assert_eq!(url_origin("https://host.example/v1"), "https://host.example");
        assert_eq!(url_origin("not a url with sk-secret"), "the configured address");
    }
}
