//! The HTTP client that every request begins with: who axi is, whom it trusts, and that it follows no redirect by itself.
//! Knows no server and no address.

mod trust;

use std::path::Path;
use std::time::Duration;

use reqwest::ClientBuilder;

pub use trust::NoClient;

/// Begins a client that waits at most `connect` for a connection.
pub fn begin(connect: Duration) -> ClientBuilder {
    // The only TLS provider in the tree. A second call is refused, which is fine: the first stands.
    drop(rustls::crypto::ring::default_provider().install_default());
    reqwest::Client::builder()
        .user_agent(concat!("axi/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect)
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(30))
        .http2_adaptive_window(true)
        // A redirect would drop the body of a POST and could carry `x-api-key` to another host.
        .redirect(reqwest::redirect::Policy::none())
}

/// Begins a client that trusts what the system trusts, and a PEM file of the person's.
///
/// # Errors
/// Each variant of [`NoClient`].
pub fn trusting(connect: Duration, ca_file: Option<&Path>) -> Result<ClientBuilder, NoClient> {
    Ok(begin(connect).tls_backend_preconfigured(trust::settings(ca_file)?))
}
