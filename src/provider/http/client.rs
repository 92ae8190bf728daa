//! The HTTP clients all providers share, built when first needed.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{ClientBuilder, Url};

use super::likely::{Clock, is_portal};
use super::problem::{Complaint, Origin, http_date, retry_after};
use super::proxy::{Way, way};
use super::sleep::{Sleep, asleep};
use super::transport::{cause, from_reqwest, unreadable_certificates};
use super::unpack::Unpacking;
use crate::cause::innermost;
use crate::http_client::{self, NoClient};
use crate::provider::address::{is_loopback, is_loopback_url, url_origin};
use crate::provider::catalogue;
use crate::provider::error::ProviderError;
use crate::sse::MAX_EVENT_BYTES;

/// The most bytes of an error body that are read.
const LONGEST_COMPLAINT: usize = 64 * 1024;

/// How long the rest of an error body is waited for.
const COMPLAINT_PATIENCE: Duration = Duration::from_secs(10);

/// The setting that names a file of certificates to trust.
const CA_FILE: &str = "ca_file";

/// How long is waited before giving up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the next byte of a remote server. Keep-alive comments count as bytes. Set more for a model that thinks
    /// longer without sending anything.
    pub idle: Duration,
    /// The same for a server on this machine, which may read a long prompt for many minutes on a slow processor.
    pub idle_local: Duration,
    /// Without a byte, before axi says that nothing arrives.
    pub told: Duration,
}

/// After this long without a byte axi says that nothing arrives.
pub const SILENCE_TOLD_AFTER: Duration = Duration::from_secs(15);

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_mins(1),
            idle_local: Duration::from_mins(30),
            told: SILENCE_TOLD_AFTER,
        }
    }
}

/// The shared HTTP client. Clones share connections.
///
/// Nothing is built until it is needed: loading the root certificates costs 5 to 12 ms. Plain HTTP to this machine
/// uses a client of its own that never loads them and never asks a proxy.
#[derive(Debug, Clone)]
pub struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    patience: Patience,
    /// A PEM file of certificates that are trusted beside those of the system.
    trusted: Option<PathBuf>,
    local: OnceLock<Result<reqwest::Client, String>>,
    local_tls: OnceLock<Result<reqwest::Client, String>>,
    remote: OnceLock<Result<reqwest::Client, String>>,
    /// For addresses that `NO_PROXY` names: reqwest reads neither a port there nor `*` for an IP address.
    past: OnceLock<Result<reqwest::Client, String>>,
    /// What a server's `date` said last, and this machine's clock then.
    heard: Mutex<Option<(SystemTime, SystemTime)>>,
    /// How long this machine has slept.
    asleep: fn() -> Duration,
}

impl Default for Client {
    fn default() -> Self {
        Self::new(Patience::default())
    }
}

impl Client {
    /// Makes a client; cheap.
    #[must_use]
    pub fn new(patience: Patience) -> Self {
        Self::trusting(patience, None)
    }

    /// Makes one that trusts the certificates of a PEM file beside those of the system; cheap: it is read with the first
    /// connection that needs it.
    #[must_use]
    pub fn trusting(patience: Patience, trusted: Option<PathBuf>) -> Self {
        let empty = OnceLock::new;
        Self(Arc::new(Inner {
            patience,
            trusted,
            local: empty(),
            local_tls: empty(),
            remote: empty(),
            past: empty(),
            heard: Mutex::default(),
            asleep,
        }))
    }

    /// Makes one for a test, which says how long this machine has slept.
    #[cfg(test)]
    pub(crate) fn sleeping(patience: Patience, asleep: fn() -> Duration) -> Self {
        let Ok(inner) = Arc::try_unwrap(Self::new(patience).0) else { unreachable!("nobody else has it") };
        Self(Arc::new(Inner { asleep, ..inner }))
    }

    /// Begins to watch whether this machine sleeps.
    pub(crate) fn sleep(&self) -> Sleep {
        Sleep::watched_by(self.0.asleep)
    }

    /// Builds the client for remote servers now: blocks 5 to 12 ms, so call it on a thread of its own after the
    /// first prompt is painted. Failures are kept for the first request.
    pub fn prewarm(&self) {
        let _ = self.remote();
    }

    /// Returns the HTTP client for an address, for callers that speak another protocol.
    ///
    /// # Errors
    /// What is wrong with the address, the proxy or the certificates.
    pub fn for_address(&self, url: &str) -> Result<reqwest::Client, String> {
        let url: Url = url.parse().map_err(|_| cause::BAD_URL.to_owned())?;
        let way = if is_loopback_url(&url) { Way::Direct } else { way(&url, environment) };
        match way {
            Way::Unusable(_) => Err(cause::BAD_PROXY.to_owned()),
            Way::Direct | Way::Past | Way::Proxy(_) => self.pick(&url, &way).clone(),
        }
    }

    /// Tells how long to wait for a byte from this address.
    #[must_use]
    pub(crate) fn idle(&self, url: &str) -> Duration {
        if is_loopback(url) { self.0.patience.idle_local } else { self.0.patience.idle }
    }

    /// Tells after how much silence axi says so.
    pub(crate) fn told(&self) -> Duration {
        self.0.patience.told
    }

    fn remote(&self) -> &Result<reqwest::Client, String> {
        self.0.remote.get_or_init(|| build(&self.0, |builder| builder))
    }

    fn pick(&self, url: &Url, way: &Way) -> &Result<reqwest::Client, String> {
        let inner = &self.0;
        match (is_loopback_url(url), url.scheme()) {
            // No connection is kept: a new one costs nothing here, and llama.cpp was seen to close a kept one just
            // as the next request arrived on it.
            (true, "http") => inner.local.get_or_init(|| {
                let plain =
                    |builder: ClientBuilder| builder.no_proxy().tls_certs_only([]).pool_max_idle_per_host(0);
                plain(http_client::begin(inner.patience.connect)).build().map_err(|error| innermost(&error))
            }),
            (true, _) => inner.local_tls.get_or_init(|| build(inner, ClientBuilder::no_proxy)),
            (false, _) if *way == Way::Past => inner.past.get_or_init(|| build(inner, ClientBuilder::no_proxy)),
            (false, _) => self.remote(),
        }
    }

    /// Sends one request and waits for the head of the answer. A status that is no success becomes an [`Answer`]
    /// all the same.
    ///
    /// # Errors
    /// `Unreachable`, `Broken` or `Timeout`.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub(crate) async fn send(&self, call: &Call, idle: Duration) -> Result<Answer, ProviderError> {
        let origin = url_origin(&call.url);
        let unreachable = |cause: &str| ProviderError::Unreachable { url: origin.clone(), cause: cause.to_owned() };
        let url: Url = call.url.parse().map_err(|_| unreachable(cause::BAD_URL))?;
        let way = if is_loopback_url(&url) { Way::Direct } else { way(&url, environment) };
        if let Way::Unusable(variable) = &way {
            let url = format!("{origin} ({variable})");
            return Err(ProviderError::Unreachable { url, cause: cause::BAD_PROXY.to_owned() });
        }
        let client = self.pick(&url, &way).as_ref();
        let client = client.map_err(|cause| match cause.as_str() {
            cause::CERTIFICATE_FILE => {
                ProviderError::Unreachable { url: format!("{origin} ({CA_FILE})"), cause: cause.clone() }
            }
            _ => blamed(unreachable(cause), &way),
        })?;
        let mut headers = HeaderMap::new();
        let ours = call.headers.iter().map(|(name, value)| (*name, value));
        for (name, value) in ours.chain(call.added.iter().map(|(name, value)| (name.as_str(), value))) {
            let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) else {
                return Err(unreachable(cause::BAD_HEADER));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        // A server that compresses a stream holds it back while it does so.
        headers.entry("accept-encoding").or_insert(HeaderValue::from_static("identity"));
        let request = match &call.body {
            Some(body) => client.post(url).header("content-type", "application/json").body(body.clone()),
            None => client.get(url),
        };
        let sending = tokio::time::timeout(idle, request.headers(headers).send());
        match sending.await {
            Ok(Ok(response)) => {
                let encoding = response.headers().get("content-encoding").and_then(|value| value.to_str().ok());
                let unpacking = Unpacking::of(encoding);
                self.hear(&response);
                Ok(Answer { response, unpacking, url: origin, begun: false })
            }
            Ok(Err(error)) => Err(self.clock_blamed(blamed(from_reqwest(&error, &origin), &way))),
            Err(_) => Err(ProviderError::Timeout { url: origin, after: idle }),
        }
    }
}

impl Client {
    /// Keeps the time that a server's `date` header says.
    fn hear(&self, response: &reqwest::Response) {
        let date = response.headers().get("date").and_then(|value| http_date(value.to_str().ok()?));
        if let Some(date) = date.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds))) {
            *self.0.heard.lock().unwrap_or_else(PoisonError::into_inner) = Some((date, SystemTime::now()));
        }
    }

    /// Blames this machine's clock where it is likely to be wrong.
    fn clock_blamed(&self, error: ProviderError) -> ProviderError {
        let ProviderError::Unreachable { url, cause } = error else { return error };
        let heard = *self.0.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = Clock { now: SystemTime::now(), passed: catalogue::made(), heard };
        let cause = clock.blamed(&cause).map_or(cause, str::to_owned);
        ProviderError::Unreachable { url, cause }
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Names the part that failed: an unreachable proxy is not the server's failure, and an unreadable file of
/// certificates makes every server look untrusted.
fn blamed(error: ProviderError, way: &Way) -> ProviderError {
    let ProviderError::Unreachable { url, cause } = error else { return error };
    let network = [cause::REFUSED, cause::NO_NAME, cause::NO_ROUTE, cause::CONNECT_TIMEOUT];
    match way {
        Way::Proxy(proxy) if network.contains(&cause.as_str()) => {
            ProviderError::Unreachable { url: proxy.clone(), cause: cause::PROXY.to_owned() }
        }
        Way::Direct | Way::Past | Way::Proxy(_) | Way::Unusable(_) => {
            let is_named = [cause::CLOSED, cause::PROXY, cause::BAD_URL].contains(&cause.as_str());
            match unreadable_certificates(environment).filter(|_| !is_named && !network.contains(&cause.as_str())) {
                Some(variable) => ProviderError::Unreachable {
                    url: format!("{url} ({variable})"),
                    cause: cause::CERTIFICATE_FILE.to_owned(),
                },
                None => ProviderError::Unreachable { url, cause },
            }
        }
    }
}

/// One request, ready to be sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    /// The full address.
    pub(crate) url: String,
    /// Lower-case names.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Those that a person added; they replace ours of the same name.
    pub(crate) added: Vec<(String, String)>,
    /// JSON; `None` means GET.
    pub(crate) body: Option<Vec<u8>>,
    /// What the wire wants to know of the request when its answer comes; it is not sent.
    pub(crate) note: Option<String>,
}

impl Call {
    /// Makes a request that asks a model: JSON, answered by a stream of this media type.
    pub(crate) fn asking(
        url: String,
        accept: &str,
        headers: impl IntoIterator<Item = (&'static str, String)>,
        body: &serde_json::Value,
    ) -> Self {
        let headers = std::iter::once(("accept", accept.to_owned())).chain(headers).collect();
        Self { url, headers, body: Some(body.to_string().into_bytes()), ..Self::default() }
    }
}

/// An answer whose head has arrived.
#[derive(Debug)]
pub(crate) struct Answer {
    response: reqwest::Response,
    unpacking: Unpacking,
    url: String,
    /// Whether anything of the body has come.
    begun: bool,
}

impl Answer {
    /// Returns the HTTP status.
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns where a redirect goes.
    #[cfg(feature = "local")]
    pub(crate) fn location(&self) -> Option<&str> {
        self.response.headers().get("location")?.to_str().ok()
    }

    /// Returns how long the body is, where the server says so and it comes as it is.
    #[cfg(feature = "local")]
    pub(crate) fn length(&self) -> Option<u64> {
        if self.response.headers().contains_key("content-encoding") {
            return None;
        }
        self.response.headers().get("content-length")?.to_str().ok()?.parse().ok()
    }

    /// Returns where in the file the body begins, and how long the whole file is.
    #[cfg(feature = "local")]
    pub(crate) fn range(&self) -> (Option<u64>, Option<u64>) {
        let range = self.response.headers().get("content-range").and_then(|range| range.to_str().ok());
        let range = range.and_then(|range| range.strip_prefix("bytes ")?.split_once('/'));
        let from = range.and_then(|(range, _)| range.split('-').next()?.trim().parse().ok());
        (from, range.and_then(|(_, all)| all.trim().parse().ok()))
    }

    /// Fails where somebody else answered in the server's place; that cannot happen on this machine's own addresses.
    ///
    /// # Errors
    /// `Unreachable`.
    pub(crate) fn check_portal(&self) -> Result<(), ProviderError> {
        self.check_begun(None)
    }

    /// The same for how the body begins.
    fn check_begun(&self, first: Option<u8>) -> Result<(), ProviderError> {
        let header = |name: &str| self.response.headers().get(name).and_then(|value| value.to_str().ok());
        let ours = self.response.url();
        let target = header("location").and_then(|target| ours.join(target).ok());
        let target = target.as_ref().and_then(Url::host_str);
        let (tls, host) = (ours.scheme() == "https", ours.host_str().unwrap_or_default());
        if is_loopback_url(ours) || !is_portal(self.status(), tls, host, target, first) {
            return Ok(());
        }
        Err(ProviderError::Unreachable { url: self.url.clone(), cause: cause::PORTAL.to_owned() })
    }

    /// Returns how the server calls itself.
    pub(crate) fn server(&self) -> Option<&str> {
        self.response.headers().get("server")?.to_str().ok()
    }

    /// Tells whether the status is a success.
    pub(crate) fn is_success(&self) -> bool {
        self.response.status().is_success()
    }

    /// Waits for more of the body; `None` at its proper end.
    ///
    /// # Errors
    /// `Timeout` when nothing came for `idle`, `Broken` when the connection ended too early.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the next call goes on.
    pub(crate) async fn chunk(&mut self, idle: Duration) -> Result<Option<Vec<u8>>, ProviderError> {
        match tokio::time::timeout(idle, self.response.chunk()).await {
            Ok(Ok(None)) => Ok(None),
            Ok(Ok(Some(bytes))) => {
                let bytes = self.unpacking.take(Vec::from(bytes)).map_err(|not_unpacked| {
                    ProviderError::Protocol { provider: self.url.clone(), cause: not_unpacked.0 }
                })?;
                if !self.begun
                    && let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace())
                {
                    self.begun = true;
                    self.check_begun(Some(*first))?;
                }
                Ok(Some(bytes))
            }
            Ok(Err(error)) => match from_reqwest(&error, &self.url) {
                // The head has arrived: whatever happens now, the server was reached.
                ProviderError::Unreachable { url, cause } => Err(ProviderError::Broken { url, cause }),
                other => Err(other),
            },
            Err(_) => Err(ProviderError::Timeout { url: self.url.clone(), after: idle }),
        }
    }

    /// Reads the body of an answer that is no success.
    pub(crate) async fn complaint(&mut self) -> (Complaint, Option<Duration>) {
        let header = |name: &str| {
            let value = self.response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let wait = retry_after(&header, SystemTime::now());
        let target = header("location").filter(|_| self.response.status().is_redirection());
        if let Some(target) = target {
            // Following would turn POST into GET and hand the key to another host.
            let message = format!("the server redirects to {}; use that address instead", url_origin(&target));
            return (Complaint { message, ..Complaint::default() }, wait);
        }
        let mut body = Vec::new();
        while let Ok(Some(bytes)) = self.chunk(COMPLAINT_PATIENCE).await {
            body.extend_from_slice(&bytes);
            if body.len() > LONGEST_COMPLAINT {
                body.truncate(LONGEST_COMPLAINT);
                break;
            }
        }
        (Complaint::read(&body), wait)
    }

    /// Reads the whole body as JSON, for lists of models; at most 16 MiB.
    ///
    /// # Errors
    /// As [`Answer::chunk`]; `Protocol` when it is no JSON.
    pub(crate) async fn json(
        &mut self,
        origin: &Origin,
        idle: Duration,
    ) -> Result<serde_json::Value, ProviderError> {
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk(idle).await? {
            body.extend_from_slice(&bytes);
            if body.len() > MAX_EVENT_BYTES {
                return Err(origin.protocol("the answer is too large"));
            }
        }
        serde_json::from_slice(&body).map_err(|_| origin.protocol("the answer is not JSON"))
    }
}

/// Builds a client that trusts what the system trusts, and the person's own file.
fn build(inner: &Inner, adjust: fn(ClientBuilder) -> ClientBuilder) -> Result<reqwest::Client, String> {
    let trusting = http_client::trusting(inner.patience.connect, inner.trusted.as_deref());
    let trusting = trusting.map_err(|why| match why {
        NoClient::NoCertificate => cause::CERTIFICATE_FILE.to_owned(),
        NoClient::System(words) => words,
    })?;
    adjust(trusting).build().map_err(|error| innermost(&error))
}
