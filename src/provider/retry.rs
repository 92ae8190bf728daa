//! stub until merged
use super::ProviderError;
use std::time::Duration;
/// n
pub const MAX_RETRIES: u32 = 4;
/// d
pub fn decide(failures: u32, error: &ProviderError, random: f64) -> Option<Duration> {
    let _ = random;
    if matches!(error, ProviderError::Broken { .. }) && failures < 4 {
        return Some(Duration::from_secs(2));
    }
    None
}
