//! What proves to a server who asks: the token that the person signed in for. None is looked up before the server asks.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;

use super::grant::{Grant, account};
use super::web::{MakeClient, Web};
use super::{Forgotten, TokenStore};

/// How long another axi that makes a token anew is waited for.
const OTHERS: Duration = Duration::from_secs(30);

/// The token for one server.
pub(in crate::mcp) struct Pass {
    server: Url,
    store: Arc<dyn TokenStore>,
    client: MakeClient,
    held: Mutex<Option<Grant>>,
    /// Held over the request for a new one: many calls may be refused at once, here and in other axi, and a second request
    /// with the same refresh token would have both taken back (RFC 9700, 4.14.2).
    renewing: tokio::sync::Mutex<()>,
}

impl Pass {
    pub(in crate::mcp) fn new(server: Url, store: Arc<dyn TokenStore>, client: MakeClient) -> Self {
        Self { server, store, client, held: Mutex::default(), renewing: tokio::sync::Mutex::default() }
    }

    /// The header to send, if there is one.
    pub(in crate::mcp) fn header(&self) -> Option<HeaderValue> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.header()
    }

    /// Looks for a better token than the one that was refused; false where the person has to sign in.
    ///
    /// # Cancel safety
    /// Dropped, a new token may be lost; then the person signs in again.
    pub(in crate::mcp) async fn renew(&self, refused: Option<&HeaderValue>) -> bool {
        let _one = self.renewing.lock().await;
        let held = self.header();
        if held.is_some() && held.as_ref() != refused {
            // Another call was quicker.
            return true;
        }
        let _no_other = self.alone().await;
        // Another axi may have been quicker.
        let Some(kept) = self.kept().await else { return false };
        if kept.header().as_ref() != refused {
            self.hold(kept);
            return true;
        }
        let web = Web::new(Arc::clone(&self.client), &self.server);
        match kept.renewed(&web).await {
            Ok(Some(renewed)) => {
                self.keep(renewed.clone()).await;
                self.hold(renewed);
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::info!(%error, "a token could not be made anew");
                false
            }
        }
    }

    /// Notes what a token would have to be good for.
    pub(in crate::mcp) async fn wants(&self, scope: &str) {
        if let Some(mut kept) = self.kept().await.filter(|kept| kept.wants.as_deref() != Some(scope)) {
            kept.wants = Some(scope.to_owned());
            self.keep(kept).await;
        }
    }

    /// A thread of its own waits: one that never comes to an end holds nothing up, not even the end of axi.
    async fn alone(&self) -> Option<std::fs::File> {
        let (ready, waits) = tokio::sync::oneshot::channel();
        let store = Arc::clone(&self.store);
        let wait = move || drop(ready.send(store.alone()));
        std::thread::Builder::new().name("token".to_owned()).spawn(wait).ok()?;
        tokio::time::timeout(OTHERS, waits).await.ok()?.ok()?
    }

    fn hold(&self, grant: Grant) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(grant);
    }

    async fn kept(&self) -> Option<Grant> {
        let (store, account) = (Arc::clone(&self.store), account(&self.server));
        // A keychain may take its time.
        let text = tokio::task::spawn_blocking(move || store.find(&account)).await.ok()??;
        Grant::read(&text, &self.server)
    }

    /// What cannot be kept is good until axi ends.
    async fn keep(&self, grant: Grant) {
        let (store, account) = (Arc::clone(&self.store), account(&self.server));
        let kept = tokio::task::spawn_blocking(move || store.keep(&account, &grant.written())).await;
        if let Ok(Err(cause)) = kept {
            tracing::warn!(cause, "a new token could not be kept");
        }
    }
}

/// Keeps nothing.
pub(in crate::mcp) struct NoTokens;

impl TokenStore for NoTokens {
    fn find(&self, _: &str) -> Option<String> {
        None
    }

    fn keep(&self, _: &str, _: &str) -> Result<(), String> {
        Err(String::new())
    }

    fn forget(&self, _: &str) -> Result<Forgotten, String> {
        Ok(Forgotten::Nothing)
    }

    fn alone(&self) -> Option<std::fs::File> {
        None
    }
}
