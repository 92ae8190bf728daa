//! Which proxy the environment names for an address, and what is wrong with that. Pure.
//!
//! reqwest reads the same variables when it sends a request. This file handles what reqwest silently ignores: a port
//! in `NO_PROXY`, `*` for an IP address, and a value that is no proxy.

use reqwest::Url;

use crate::provider::address::url_origin;

/// Returns the value of a variable of the environment.
pub(crate) type Variable = fn(&str) -> Option<String>;

/// How an address is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// Directly: no proxy is named.
    Direct,
    /// Directly, past the proxy: `NO_PROXY` names the address.
    Past,
    /// Through this proxy: scheme, host and port.
    Proxy(String),
    /// Not at all: this variable holds a value that is no proxy.
    Unusable(String),
}

/// The schemes of proxies that are known.
const SCHEMES: &[&str] = &["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// Finds the way to an address.
pub(super) fn way(url: &Url, variable: Variable) -> Way {
    if is_spared(url, &first(&["NO_PROXY", "no_proxy"], variable).map_or(String::new(), |(_, value)| value)) {
        return Way::Past;
    }
    let own: &[&str] = match url.scheme() {
        "https" => &["HTTPS_PROXY", "https_proxy"],
        // In a CGI program the client chooses the first of them (httpoxy).
        "http" if variable("REQUEST_METHOD").is_some() => return Way::Direct,
        "http" => &["HTTP_PROXY", "http_proxy"],
        _ => return Way::Direct,
    };
    let all: &[&str] = &["ALL_PROXY", "all_proxy"];
    let named = [own, all].into_iter().filter_map(|names| first(names, variable));
    let mut bad = None;
    for (name, value) in named.filter(|(_, value)| !value.trim().is_empty()) {
        match proxy(&value) {
            Some(origin) => return Way::Proxy(origin),
            None => bad = bad.or(Some(name)),
        }
    }
    bad.map_or(Way::Direct, |name| Way::Unusable(name.to_owned()))
}

/// The first of these variables that is there, as reqwest takes them.
fn first(names: &[&'static str], variable: Variable) -> Option<(&'static str, String)> {
    names.iter().find_map(|name| variable(name).map(|value| (*name, value)))
}

/// Scheme, host and port of a proxy, without user and password; `None` where the value names none.
fn proxy(value: &str) -> Option<String> {
    let with_scheme = if value.contains("://") { value.to_owned() } else { format!("http://{value}") };
    let url: Url = with_scheme.parse().ok()?;
    let is_known = SCHEMES.contains(&url.scheme()) && url.host_str().is_some_and(|host| !host.is_empty());
    is_known.then(|| match url.scheme() {
        "http" | "https" => url_origin(&with_scheme),
        scheme => {
            let port = url.port().map_or(String::new(), |port| format!(":{port}"));
            format!("{scheme}://{}{port}", url.host_str().unwrap_or_default())
        }
    })
}

/// Tells whether `NO_PROXY` names an address: a host with those below it, one with a port, an address or a network in
/// numbers, or `*`. reqwest reads names without a port as well and comes to the same answer.
fn is_spared(url: &Url, list: &str) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default();
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        if entry == "*" || same_network(entry, host) {
            return true;
        }
        let (name, only) = match entry.rsplit_once(':') {
            // More than one colon is an address of version 6, with a port only behind its bracket.
            Some((name, number)) if !name.contains(':') || name.ends_with(']') => match number.parse::<u16>() {
                Ok(number) => (name, Some(number)),
                Err(_) => return false,
            },
            _ => (entry, None),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']').trim_start_matches('.');
        let below = || {
            let start = host.len().checked_sub(name.len() + 1)?;
            let (front, end) = (host.get(..=start)?, host.get(start + 1..)?);
            Some(front.ends_with('.') && end.eq_ignore_ascii_case(name))
        };
        let is_host = host.eq_ignore_ascii_case(name) || below() == Some(true);
        !name.is_empty() && is_host && only.is_none_or(|only| port == Some(only))
    })
}

/// Tells whether an entry is a network in numbers, such as 192.168.0.0/16, that holds this address.
fn same_network(entry: &str, host: &str) -> bool {
    use std::net::IpAddr;
    let Some((network, length)) = entry.split_once('/') else { return false };
    let (Ok(network), Ok(length), Ok(host)) =
        (network.parse::<IpAddr>(), length.parse::<u32>(), host.parse::<IpAddr>())
    else {
        return false;
    };
    match (network, host) {
        (IpAddr::V4(network), IpAddr::V4(host)) if length <= 32 => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            network.to_bits() & mask == host.to_bits() & mask
        }
        (IpAddr::V6(network), IpAddr::V6(host)) if length <= 128 => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            network.to_bits() & mask == host.to_bits() & mask
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(url: &str) -> Url {
        url.parse().unwrap()
    }

    #[test]
    fn no_proxy_spares_what_it_names_and_nothing_else() {
        let spared = [
            ("*", "https://api.example/v1"),
            ("*", "https://10.1.2.3/v1"),
            ("a, *", "https://[fd00::1]/v1"),
            ("api.example", "https://api.example/v1"),
            ("example", "https://API.example/v1"),
            (".example", "https://api.example/v1"),
            ("api.example:443", "https://api.example/v1"),
            ("api.example:8080", "http://api.example:8080/v1"),
            ("10.0.0.0/8", "https://10.1.2.3/v1"),
            ("10.1.2.3:8000", "http://10.1.2.3:8000"),
            ("fd00::1", "https://[fd00::1]/v1"),
            ("[fd00::1]:443", "https://[fd00::1]/v1"),
            ("0.0.0.0/0", "https://10.1.2.3/v1"),
        ];
        for (list, address) in spared {
            assert!(is_spared(&url(address), list), "{list}: {address}");
        }
        let led = [
            ("", "https://api.example/v1"),
            (",", "https://api.example/v1"),
            ("ample", "https://api.example/v1"),
            ("api.example:80", "https://api.example/v1"),
            ("api.example:x", "https://api.example/v1"),
            ("10.0.0.0/8", "https://11.1.2.3/v1"),
            ("10.0.0.0/33", "https://10.1.2.3/v1"),
            ("*.example.org", "https://api.example/v1"),
            (":443", "https://api.example/v1"),
        ];
        for (list, address) in led {
            assert!(!is_spared(&url(address), list), "{list}: {address}");
        }
    }

    #[test]
    fn the_way_is_the_proxy_of_the_scheme_or_of_all() {
        let proxied = |text: &str| Way::Proxy(text.to_owned());
        let https: Variable = |name| (name == "HTTPS_PROXY").then(|| "http://me:secret@proxy.example:3128/".into());
        assert_eq!(way(&url("https://api.example"), https), proxied("http://proxy.example:3128"));
        assert_eq!(way(&url("http://api.example"), https), Way::Direct);
        let socks: Variable = |name| (name == "all_proxy").then(|| "socks5h://me:secret@proxy.example:1080".into());
        assert_eq!(way(&url("http://api.example"), socks), proxied("socks5h://proxy.example:1080"));
        let bare: Variable = |name| (name == "ALL_PROXY").then(|| "proxy.example:8080".into());
        assert_eq!(way(&url("https://api.example"), bare), proxied("http://proxy.example:8080"));
        let empty: Variable = |name| (name == "HTTPS_PROXY").then(String::new);
        assert_eq!(way(&url("https://api.example"), empty), Way::Direct);
    }

    #[test]
    fn what_is_no_proxy_is_told_by_its_variable() {
        let ftp: Variable = |name| (name == "HTTPS_PROXY").then(|| "ftp://proxy.example".into());
        assert_eq!(way(&url("https://api.example"), ftp), Way::Unusable("HTTPS_PROXY".into()));
        let words: Variable = |name| (name == "https_proxy").then(|| "not a proxy".into());
        assert_eq!(way(&url("https://api.example"), words), Way::Unusable("https_proxy".into()));
        let other: Variable = |name| match name {
            "HTTPS_PROXY" => Some("http://".into()),
            "ALL_PROXY" => Some("http://proxy.example".into()),
            _ => None,
        };
        assert_eq!(way(&url("https://api.example"), other), Way::Proxy("http://proxy.example".into()));
    }
}
