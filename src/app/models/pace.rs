//! How fast models of axi's own write on this machine.

use super::super::console::Console;
use super::super::context::App;
use super::own::places;
use super::size::megabytes;
use crate::locale::{Locale, word};
use crate::provider::local::{self, Weights};

/// Returns how many bytes of weights this machine multiplies a second; `AXI_MODEL_SPEED` stands in for a measurement.
pub(in crate::app) fn speed(app: &App) -> u64 {
    let said = || (app.process.variables)("AXI_MODEL_SPEED").and_then(|said| said.parse().ok());
    // Measured once: two figures for one machine would be one too many.
    *app.speed.get_or_init(|| said().unwrap_or_else(local::speed))
}

/// Says how fast a model writes here: as it was tested, else as fast as this `speed` of the machine lets expect.
pub(in crate::app) fn pace(app: &App, speed: u64, weights: &Weights, locale: &Locale) -> String {
    worded(locale, tenths(app, speed, weights), weights)
}

/// The tokens a second, with one digit behind the point.
pub(in crate::app) fn tokens(app: &App, speed: u64, weights: &Weights) -> String {
    with_point(tenths(app, speed, weights))
}

fn tenths(app: &App, speed: u64, weights: &Weights) -> u64 {
    let expected = || rounded((speed.saturating_mul(10) + weights.size / 2) / weights.size.max(1));
    local::tested(weights, &places(app)).unwrap_or_else(expected)
}

/// Rounds what is only expected to what one can expect.
const fn rounded(tenths: u64) -> u64 {
    let step = match tenths {
        0..10 => 1,
        10..100 => 10,
        100..1000 => 50,
        _ => 100,
    };
    (tenths + step / 2) / step * step
}

fn with_point(tenths: u64) -> String {
    if tenths.is_multiple_of(10) { (tenths / 10).to_string() } else { format!("{}.{}", tenths / 10, tenths % 10) }
}

/// Words it, from tenths of a token a second.
fn worded(locale: &Locale, tenths: u64, weights: &Weights) -> String {
    let (model, bytes) = (weights.name, &megabytes(weights.size));
    match tenths {
        0 => locale.with(word::local::SpeedLow { model, bytes }),
        tenths => {
            let tokens = &with_point(tenths);
            locale.with(word::local::Speed { tokens, model, bytes })
        }
    }
}

/// Lets a model that was just fetched write for a moment, says how fast that was, and remembers it.
pub(super) fn test(app: &App, weights: &Weights, path: &std::path::Path, stopped: impl Fn() -> bool) {
    match local::test(path, stopped) {
        Ok(Some(tenths)) => {
            local::keep_test(weights, &places(app), tenths);
            Console::new(&app.locale).note(&worded(&app.locale, tenths, weights));
        }
        Ok(None) => {}
        // Whoever asks it is told.
        Err(cause) => tracing::warn!(%cause, "the model was not tested"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::local::TABLE;

    #[test]
    fn what_is_expected_is_a_round_figure() {
        let cases = [(0, 0), (4, 4), (31, 30), (96, 100), (137, 150), (286, 300), (549, 550), (1234, 1200)];
        for (tenths, round) in cases {
            assert_eq!(rounded(tenths), round, "{tenths}");
        }
    }

    #[test]
    fn a_slow_machine_is_not_told_to_write_nothing() {
        let locale = Locale::new("en");
        let said = |tenths| worded(&locale, tenths, &TABLE[0]);
        assert!(said(0).contains("writes less than 0.1 tokens a second"), "{}", said(0));
        assert!(said(1).contains("writes about 0.1 tokens a second"), "{}", said(1));
        assert!(said(300).contains("writes about 30 tokens a second"), "{}", said(300));
        assert!(said(247).contains("writes about 24.7 tokens a second"), "{}", said(247));
    }
}
