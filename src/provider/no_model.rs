//! No model: for callers that run tools and ask no model, or want to know what one would be asked.

use futures_util::StreamExt as _;

use super::{Abilities, EventStream, ModelInfo, Provider, ProviderError, Request};

/// A provider that answers nothing.
#[derive(Debug, Clone)]
pub struct NoModel(ModelInfo);

impl Default for NoModel {
    fn default() -> Self {
        Self(ModelInfo {
            provider: String::new(),
            model: String::new(),
            context_window: None,
            tools: true,
            vision: false,
            local: true,
            small: false,
            abilities: Abilities::default(),
        })
    }
}

impl NoModel {
    /// In place of a small model that is not here yet.
    #[must_use]
    pub fn small() -> Self {
        let Self(info) = Self::default();
        Self(ModelInfo { small: true, ..info })
    }
}

impl Provider for NoModel {
    fn model(&self) -> &ModelInfo {
        &self.0
    }

    fn stream<'a>(&'a self, _request: Request<'a>) -> EventStream<'a> {
        futures_util::stream::once(async {
            Err(ProviderError::Broken { url: String::new(), cause: "there is no model".to_owned() })
        })
        .boxed()
    }
}
