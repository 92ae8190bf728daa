//! Which addresses lead to this machine or into private networks, where no page of the web belongs. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;

/// Names that never mean a host of the internet: RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`.
const PRIVATE_NAMES: &[&str] = &["localhost", "local", "internal", "lan", "intranet", "home.arpa", "localdomain"];

/// Tells whether an address is of this machine, a private network, a link, or nobody's. The special blocks of RFC
/// 6890 and what carries an IPv4 address inside of an IPv6 one.
pub(crate) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_4(address),
        IpAddr::V6(address) => is_private_6(address),
    }
}

fn is_private_4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || first == 0
        || first >= 240
        || first == 100 && (64..128).contains(&second)
        || first == 192 && second == 0 && third == 0
        || first == 198 && (second == 18 || second == 19)
}

fn is_private_6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let inner = |high: u16, low: u16| is_private_4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    if let Some(mapped) = address.to_ipv4_mapped() {
        return is_private_4(mapped);
    }
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        // Site-local, deprecated but still routed in places.
        || parts[0] & 0xffc0 == 0xfec0
        // IPv4-compatible; NAT64 (RFC 6052, 8215); 6to4 (RFC 3056); Teredo.
        || parts[..6] == [0; 6]
        || parts[..6] == [0x64, 0xff9b, 0, 0, 0, 0] && inner(parts[6], parts[7])
        || parts[..3] == [0x64, 0xff9b, 1]
        || parts[0] == 0x2002 && inner(parts[1], parts[2])
        || parts[..2] == [0x2001, 0]
}

/// Tells whether a name or literal address can only mean something private.
pub(crate) fn is_private_host(host: &str) -> bool {
    if let Ok(address) = literal(host).parse() {
        return is_private(address);
    }
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    // A single label is found only in the search domains of a private network.
    !host.contains('.')
        || PRIVATE_NAMES.iter().any(|name| host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')))
}

/// A host without the brackets of an IPv6 address.
pub(crate) fn literal(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// Reads an address the model gave.
///
/// # Errors
/// The text for the model.
pub(crate) fn parse(text: &str) -> Result<Url, String> {
    let text = text.trim();
    let url = match Url::parse(text) {
        // A bare host is meant often enough; "host:8080" looks like a scheme.
        Err(_) if !text.contains("://") => Url::parse(&format!("https://{text}")),
        Ok(url) if url.host_str().is_none() && !text.contains("://") && !text.starts_with("data:") => {
            Url::parse(&format!("https://{text}"))
        }
        other => other,
    };
    let mut url = url.map_err(|error| format!("web_fetch: argument `url` is no address: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("web_fetch: only http and https can be fetched, not {}", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("web_fetch: an address may hold no user and no password".to_owned());
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err("web_fetch: argument `url` names no host".to_owned());
    }
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_however_they_are_written() {
        for text in [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0/",
            "http://10.1.2.3",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://169.254.169.254/latest",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://localhost:3000",
            "http://LOCALHOST.",
            "http://a.localhost",
            "http://metadata.google.internal/",
            "http://100.64.0.1",
            "http://[64:ff9b::a00:1]/",
            "http://[2002:7f00:1::]/",
            "http://192.168.1.1",
            "nas",
            "http://printer.local",
            "http://0.0.0.0",
            "http://[::]/",
            "http://224.0.0.1",
            "http://172.31.0.1",
        ] {
            let url = parse(text).unwrap();
            assert!(is_private_host(url.host_str().unwrap()), "{text} {url}");
        }
        for text in
            ["example.org", "https://8.8.8.8", "http://[2606:4700::1111]/", "http://172.32.0.1", "a.localhost.org"]
        {
            let url = parse(text).unwrap();
            assert!(!is_private_host(url.host_str().unwrap()), "{text} {url}");
        }
    }

    #[test]
    fn what_is_no_address_of_the_web_is_refused() {
        for (text, says) in [
            ("file:///etc/passwd", "not file"),
            ("ftp://a.b", "not ftp"),
            ("data:text/html,x", "not data"),
            ("https://user:secret@a.b/", "no user and no password"),
            ("http://", "no address"),
        ] {
            let problem = parse(text).unwrap_err();
            assert!(problem.contains(says) && !problem.contains("secret"), "{problem}");
        }
        assert_eq!(parse("example.org/a#b").unwrap().as_str(), "https://example.org/a");
        assert_eq!(parse("example.org:8080/a").unwrap().as_str(), "https://example.org:8080/a");
    }
}
