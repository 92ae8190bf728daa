//! Lists of the slash menu that take time to get: models from servers, sessions from the disk.
//!
//! Showing them never waits. A missing list is fetched on a thread of its own, which ends with it, and then the
//! menu is painted again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a list of models is good: servers are not asked at each key.
const MODELS_GOOD_FOR: Duration = Duration::from_mins(1);
/// The same for sessions.
const SESSIONS_GOOD_FOR: Duration = Duration::from_secs(2);

/// Where a model runs, for who looks for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelGroup {
    /// On this machine.
    Local,
    /// At a provider of the table.
    Cloud,
    /// At a provider of the settings.
    Custom,
}

impl ModelGroup {
    /// All of them, in the order they are shown.
    pub const ALL: [Self; 3] = [Self::Local, Self::Cloud, Self::Custom];

    /// The word it is written with.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Cloud => "cloud",
            Self::Custom => "custom",
        }
    }
}

/// A model that can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// `PROVIDER/MODEL`.
    pub id: String,
    /// Where it runs.
    pub group: ModelGroup,
    /// What is known of it, in a few words.
    pub says: String,
}

/// A session that can be gone on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    /// Its id.
    pub id: String,
    /// What a person knows it by.
    pub title: String,
    /// Where it ran, as people read it.
    pub place: String,
}

/// Gets a list; blocks.
pub(super) type Fetch<T> = Box<dyn Fn() -> Vec<T> + Send + Sync>;

/// Where the lists come from.
pub struct MenuSources {
    /// The models of every provider that answers.
    pub models: Fetch<ListedModel>,
    /// The sessions, the newest first.
    pub sessions: Fetch<ListedSession>,
    /// The names of all providers.
    pub providers: Vec<String>,
}

struct Lazy<T> {
    fetch: Fetch<T>,
    good_for: Duration,
    cached: Mutex<Cached<T>>,
}

struct Cached<T> {
    items: Arc<Vec<T>>,
    fetched: Option<Instant>,
    fetching: bool,
}

struct Shared {
    models: Lazy<ListedModel>,
    sessions: Lazy<ListedSession>,
    providers: Vec<String>,
    fetching: AtomicUsize,
    news: AtomicBool,
}

/// The lists. Clones are the same lists.
#[derive(Clone)]
pub struct MenuLists(Arc<Shared>);

impl<T> Lazy<T> {
    fn new(fetch: Fetch<T>, good_for: Duration) -> Self {
        let cached = Cached { items: Arc::new(Vec::new()), fetched: None, fetching: false };
        Self { fetch, good_for, cached: Mutex::new(cached) }
    }
}

impl MenuLists {
    /// Makes lists that are fetched when they are first wanted.
    #[must_use]
    pub fn new(sources: MenuSources) -> Self {
        Self(Arc::new(Shared {
            models: Lazy::new(sources.models, MODELS_GOOD_FOR),
            sessions: Lazy::new(sources.sessions, SESSIONS_GOOD_FOR),
            providers: sources.providers,
            fetching: AtomicUsize::new(0),
            news: AtomicBool::new(false),
        }))
    }

    /// The models as far as they are known, and whether more may come.
    pub(super) fn models(&self) -> (Arc<Vec<ListedModel>>, bool) {
        self.get(|shared| &shared.models)
    }

    /// The sessions as far as they are known, and whether more may come.
    pub(super) fn sessions(&self) -> (Arc<Vec<ListedSession>>, bool) {
        self.get(|shared| &shared.sessions)
    }

    /// The names of all providers.
    pub(super) fn providers(&self) -> &[String] {
        &self.0.providers
    }

    /// Whether something is being fetched.
    pub(crate) fn is_fetching(&self) -> bool {
        self.0.fetching.load(Ordering::Acquire) > 0
    }

    /// Tells whether there is something new since the last call.
    pub(crate) fn take_news(&self) -> bool {
        self.0.news.swap(false, Ordering::AcqRel)
    }

    fn get<T: Send + Sync + 'static>(&self, list: fn(&Shared) -> &Lazy<T>) -> (Arc<Vec<T>>, bool) {
        let lazy = list(&self.0);
        let mut cached = lazy.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let old = cached.fetched.is_none_or(|fetched| fetched.elapsed() > lazy.good_for);
        if old && !cached.fetching {
            let shared = Arc::clone(&self.0);
            let fetch = move || {
                let lazy = list(&shared);
                let items = Arc::new((lazy.fetch)());
                let mut cached = lazy.cached.lock().unwrap_or_else(PoisonError::into_inner);
                *cached = Cached { items, fetched: Some(Instant::now()), fetching: false };
                drop(cached);
                shared.news.store(true, Ordering::Release);
                shared.fetching.fetch_sub(1, Ordering::AcqRel);
            };
            self.0.fetching.fetch_add(1, Ordering::AcqRel);
            if thread::Builder::new().name("menu".to_owned()).spawn(fetch).is_ok() {
                cached.fetching = true;
            } else {
                self.0.fetching.fetch_sub(1, Ordering::AcqRel);
            }
        }
        (Arc::clone(&cached.items), cached.fetching && cached.fetched.is_none())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn nobody_waits_for_a_list_and_its_coming_is_told_once() {
        let (give, taken) = channel::<()>();
        let taken = Mutex::new(taken);
        let model = ListedModel { id: "ollama/qwen3".to_owned(), group: ModelGroup::Local, says: String::new() };
        let found = model.clone();
        let lists = MenuLists::new(MenuSources {
            models: Box::new(move || {
                taken.lock().unwrap().recv().unwrap();
                vec![found.clone()]
            }),
            sessions: Box::new(Vec::new),
            providers: Vec::new(),
        });
        assert!(!lists.is_fetching(), "nothing is fetched before it is wanted");
        assert_eq!(lists.models(), (Arc::new(Vec::new()), true));
        assert_eq!((lists.is_fetching(), lists.take_news()), (true, false));
        give.send(()).unwrap();
        while lists.is_fetching() {
            thread::yield_now();
        }
        assert_eq!((lists.take_news(), lists.take_news()), (true, false));
        assert_eq!(lists.models(), (Arc::new(vec![model]), false));
        assert!(!lists.is_fetching(), "the list is still good");
    }
}
