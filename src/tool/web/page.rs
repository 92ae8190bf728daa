//! Getting one page: addresses are checked when they are looked up, sizes and times are limited.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Url};

use super::address::{is_private, literal};
use crate::cause::innermost;
use crate::http_client::{self, NoClient};

/// From asking to the last byte.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// For a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Bytes read of a body.
pub(crate) const SIZE_LIMIT: usize = 5 * 1024 * 1024;
/// Redirects followed within one host.
const REDIRECTS: usize = 5;
/// Servers that can give markdown are asked for it.
const WANTED: &str = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5";

/// What a server gave.
#[derive(Debug)]
pub(crate) struct Fetched {
    /// Where it came from in the end.
    pub(crate) url: Url,
    /// HTTP status.
    pub(crate) status: u16,
    /// The `content-type`, lower case; may be empty.
    pub(crate) kind: String,
    /// The body, up to [`SIZE_LIMIT`].
    pub(crate) body: Vec<u8>,
    /// Whether there was more.
    pub(crate) cut: bool,
}

/// Why there is no page.
#[derive(Debug)]
pub(crate) enum Refused {
    /// The name leads to an address that only an approval of its own may reach.
    Private(IpAddr),
    /// The server sends to another host: for a new call to be judged.
    Elsewhere(Url),
    /// It takes longer than [`TIME_LIMIT`], in seconds.
    Late(u64),
    /// What the network said.
    Failed(String),
}

/// Looks names up and refuses addresses the approval was not for. Done here, not before the request: a second
/// look-up may give another answer (DNS rebinding).
struct Guard {
    /// The name that is judged; others are those of the user's own proxies.
    host: String,
    reach: Reach,
    refused: Arc<OnceLock<IpAddr>>,
}

/// Which addresses a host may have, and whether a proxy of the person's is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// A page of the web: its host may not lead to this machine or a private network.
    Web,
    /// An address of this machine or network, which was asked for by its name and approved: no proxy is asked.
    Private,
    /// An address that the person's settings name: it may be anywhere.
    Chosen,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let judged = name.as_str().eq_ignore_ascii_case(&self.host);
        let (reach, refused) = (self.reach, Arc::clone(&self.refused));
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            // Services of clouds for the machine itself answer on link-local addresses; no name is meant to lead there.
            let bad = |address: IpAddr| match reach {
                Reach::Web => is_private(address),
                Reach::Private | Reach::Chosen => is_link_local(address),
            };
            if judged && let Some(address) = found.iter().map(SocketAddr::ip).find(|address| bad(*address)) {
                // One address is enough to refuse; the first one is kept.
                let _ = refused.set(address);
                return Err("a private address".into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_unicast_link_local() || address.to_ipv4_mapped().is_some_and(|inner| inner.is_link_local())
        }
    }
}

/// Gets a page. `trusted` names a file of certificates that are trusted beside those of the system.
///
/// # Errors
/// Each variant of [`Refused`].
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub(crate) async fn fetch(url: Url, reach: Reach, trusted: Option<&Path>) -> Result<Fetched, Refused> {
    match tokio::time::timeout(TIME_LIMIT, follow(url, reach, trusted)).await {
        Ok(done) => done,
        Err(_) => Err(Refused::Late(TIME_LIMIT.as_secs())),
    }
}

async fn follow(mut url: Url, reach: Reach, trusted: Option<&Path>) -> Result<Fetched, Refused> {
    let refused = Arc::new(OnceLock::new());
    let client = client(&url, reach, trusted, &refused)?;
    let failed = |error: &reqwest::Error| match refused.get() {
        Some(address) => Refused::Private(*address),
        None => Refused::Failed(innermost(error)),
    };
    for _ in 0..=REDIRECTS {
        let request = client.get(url.clone()).header(ACCEPT, WANTED);
        let mut response = request.send().await.map_err(|error| failed(&error))?;
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        if response.status().is_redirection()
            && let Some(target) = header(LOCATION)
        {
            let target = url.join(&target).map_err(|error| Refused::Failed(format!("a bad redirect: {error}")))?;
            let same = target.host_str() == url.host_str() && matches!(target.scheme(), "http" | "https");
            let downgrade = url.scheme() == "https" && target.scheme() == "http";
            if !same || downgrade || !target.username().is_empty() {
                return Err(Refused::Elsewhere(target));
            }
            url = target;
            continue;
        }
        let kind = header(CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let status = response.status().as_u16();
        let mut body = Vec::new();
        let mut cut = false;
        while let Some(bytes) = response.chunk().await.map_err(|error| failed(&error))? {
            body.extend_from_slice(&bytes);
            if body.len() > SIZE_LIMIT {
                body.truncate(SIZE_LIMIT);
                cut = true;
                break;
            }
        }
        return Ok(Fetched { url, status, kind, body, cut });
    }
    Err(Refused::Failed(format!("more than {REDIRECTS} redirects")))
}

/// Makes a client for one call: it is rare, and its resolver knows the host that was approved.
fn client(
    url: &Url,
    reach: Reach,
    trusted: Option<&Path>,
    refused: &Arc<OnceLock<IpAddr>>,
) -> Result<Client, Refused> {
    let mut builder = if url.scheme() == "http" && reach != Reach::Web {
        // Loading the root certificates is what costs.
        http_client::begin(CONNECT_LIMIT).tls_certs_only([])
    } else {
        let trusted = trusted.filter(|_| url.scheme() == "https");
        http_client::trusting(CONNECT_LIMIT, trusted).map_err(|why| match (why, trusted) {
            (NoClient::NoCertificate, Some(path)) => {
                Refused::Failed(format!("no certificate can be read in {} (setting ca_file)", path.display()))
            }
            (NoClient::NoCertificate, None) => Refused::Failed("no certificate can be read".to_owned()),
            (NoClient::System(words), _) => Refused::Failed(words),
        })?
    };
    let host = literal(url.host_str().unwrap_or_default()).to_owned();
    builder = builder.dns_resolver(Arc::new(Guard { host, reach, refused: Arc::clone(refused) }));
    if reach == Reach::Private {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| Refused::Failed(innermost(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_name_that_leads_to_a_private_address_is_refused_when_it_is_looked_up() {
        let refused = Arc::new(OnceLock::new());
        let guard = |host: &str, reach| Guard { host: host.to_owned(), reach, refused: Arc::clone(&refused) };
        let name = || "localhost".parse::<Name>().unwrap();
        assert!(guard("localhost", Reach::Private).resolve(name()).await.is_ok());
        assert!(guard("localhost", Reach::Chosen).resolve(name()).await.is_ok());
        // A proxy of the user's own may be anywhere.
        assert!(guard("example.org", Reach::Web).resolve(name()).await.is_ok());
        assert!(refused.get().is_none());
        assert!(guard("LOCALHOST", Reach::Web).resolve(name()).await.is_err());
        assert!(refused.get().is_some_and(IpAddr::is_loopback));
    }
}
