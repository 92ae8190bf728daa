//! What went wrong below HTTP, in plain English.

use std::error::Error;
use std::io;

use super::redact::sanitise;
use crate::provider::error::ProviderError;

/// Causes of [`ProviderError::Unreachable`] and [`ProviderError::Broken`] that callers act on or explain. Compare
/// with these constants.
pub mod cause {
    /// Nothing listens on that port.
    pub const REFUSED: &str = "connection refused";
    /// The host's name has no address here; offline machines see this too.
    pub const NO_NAME: &str = "the name could not be resolved";
    /// The certificate's issuer is unknown here: a company proxy, or a clock or root store out of date. Hint:
    /// `SSL_CERT_FILE` names a file of further issuers.
    pub const UNTRUSTED: &str = "the TLS certificate is not trusted";
    /// The certificate has expired.
    pub const CERTIFICATE_DATE: &str = "the TLS certificate has expired";
    /// The certificate is not valid yet.
    pub const CERTIFICATE_EARLY: &str = "the TLS certificate is not valid yet";
    /// This machine's clock is behind, so that certificates look as if they were not valid yet.
    pub const CLOCK_BEHIND: &str = "this machine's clock is behind";
    /// This machine's clock is ahead, so that certificates look as if they had expired.
    pub const CLOCK_AHEAD: &str = "this machine's clock is ahead";
    /// A web page came where an answer was asked for: the login page of a network, or of a company's proxy.
    pub const PORTAL: &str = "a web page answers in its place";
    /// This machine slept while it waited for an answer.
    pub const SLEPT: &str = "this machine slept meanwhile";
    /// The certificate belongs to another host.
    pub const CERTIFICATE_NAME: &str = "the TLS certificate is for another host";
    /// TLS failed in another way; often `https` was asked of a server that speaks `http`.
    pub const TLS: &str = "the TLS handshake failed";
    /// The connection was not made in time.
    pub const CONNECT_TIMEOUT: &str = "the connection was not made in time";
    /// No way to that network.
    pub const NO_ROUTE: &str = "no route to the host";
    /// The proxy in the environment did not let us through.
    pub const PROXY: &str = "the proxy did not connect";
    /// A variable names a proxy, and what it holds is no address of one.
    pub const BAD_PROXY: &str = "what the variable holds is no address of a proxy";
    /// A variable names certificates to trust, and no certificate can be read there.
    pub const CERTIFICATE_FILE: &str = "no certificate can be read where the variable or setting says";
    /// The server closed the connection.
    pub const CLOSED: &str = "the server closed the connection";
    /// A key, or a header of the settings, has a line break or the like in it.
    pub const BAD_HEADER: &str = "a key or a header has a character that cannot be sent";
    /// The address in the settings is none.
    pub const BAD_URL: &str = "the base URL is not valid";
}

/// Turns reqwest's error into ours. `url` is scheme, host and port.
pub(crate) fn from_reqwest(error: &reqwest::Error, url: &str) -> ProviderError {
    let url = url.to_owned();
    if error.is_builder() {
        return ProviderError::Unreachable { url, cause: cause::BAD_URL.to_owned() };
    }
    let cause = explain(error);
    if error.is_connect() {
        ProviderError::Unreachable { url, cause }
    } else {
        ProviderError::Broken { url, cause }
    }
}

/// Finds the innermost cause we have words for; else the innermost error's own words.
fn explain(error: &reqwest::Error) -> String {
    if error.is_connect() && error.is_timeout() {
        return cause::CONNECT_TIMEOUT.to_owned();
    }
    let mut found: Option<&'static str> = None;
    let mut innermost: &dyn Error = error;
    let mut next: Option<&dyn Error> = Some(error);
    while let Some(current) = next {
        found = known(current).or(found);
        innermost = current;
        next = current.source().or_else(|| wrapped(current));
    }
    found.map_or_else(|| sanitise(&innermost.to_string(), None), str::to_owned)
}

/// `io::Error` hides what it wraps from `source()` when that has no source of its own.
fn wrapped<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    Some(inner)
}

fn known(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = error.downcast_ref::<rustls::Error>() {
        return Some(known_tls(error));
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        let known = match error.kind() {
            io::ErrorKind::ConnectionRefused => cause::REFUSED,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => cause::CLOSED,
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => cause::NO_ROUTE,
            io::ErrorKind::TimedOut => cause::CONNECT_TIMEOUT,
            _ => return None,
        };
        return Some(known);
    }
    // hyper and its connectors keep these types to themselves: their words are all there is.
    let words = error.to_string();
    if words.contains("dns error") {
        Some(cause::NO_NAME)
    } else if words.contains("tunnel") || words.contains("proxy") {
        Some(cause::PROXY)
    } else if words.contains("connection closed") || words.contains("end of file") || words.contains("incomplete") {
        Some(cause::CLOSED)
    } else {
        None
    }
}

fn known_tls(error: &rustls::Error) -> &'static str {
    use rustls::{CertificateError, Error};
    match error {
        Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            cause::CERTIFICATE_DATE
        }
        Error::InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) => {
            cause::CERTIFICATE_EARLY
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => cause::CERTIFICATE_NAME,
        Error::InvalidCertificate(_) => cause::UNTRUSTED,
        // Not our enum: it grows with rustls.
        _ => cause::TLS,
    }
}

/// The variable that names certificates to trust where none can be read; see rustls-native-certs.
pub(super) fn unreadable_certificates(variable: fn(&str) -> Option<String>) -> Option<&'static str> {
    let is_bad = |name: &&str| match (*name, variable(name)) {
        (_, None) => false,
        ("SSL_CERT_FILE", Some(path)) => {
            !std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains("BEGIN CERTIFICATE"))
        }
        (_, Some(paths)) => !std::env::split_paths(&paths).any(|path| path.is_dir()),
    };
    ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().find(is_bad)
}
