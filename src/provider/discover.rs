//! temporary
use super::{Client, Environment, ProviderError, ProviderSettings, TABLE};
/// x
pub enum Reason {
    /// x
    Key {
        /// x
        variable: &'static str,
    },
    /// x
    Server {
        /// x
        url: String,
    },
}
/// x
pub struct Found {
    /// x
    pub provider: String,
    /// x
    pub model: String,
    /// x
    pub reason: Reason,
}
/// x
pub async fn discover(environment: &Environment<'_>, _client: &Client) -> Option<Found> {
    TABLE.iter().find_map(|row| {
        row.key(environment).map(|(variable, _)| Found {
            provider: row.name.into(),
            model: row.default_model.into(),
            reason: Reason::Key { variable },
        })
    })
}
/// x
pub async fn list_models(_s: &ProviderSettings, _c: &Client) -> Result<Vec<String>, ProviderError> {
    Ok(Vec::new())
}
/// x
pub async fn list_all(_s: &[ProviderSettings], _c: &Client) -> Vec<(String, Vec<String>)> {
    Vec::new()
}
