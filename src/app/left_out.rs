//! What is said where the model inside of axi was left out when axi was built.

use crate::command::Problem;
use crate::locale::{Locale, word};

/// Says that the model inside of axi was left out when axi was built.
#[cfg_attr(feature = "local", expect(dead_code, reason = "said only where it was left out"))]
pub(super) fn left_out(locale: &Locale) -> Problem {
    Problem {
        what: locale.text(word::local::LEFT_OUT).to_owned(),
        hint: locale.text(word::local::LEFT_OUT_HINT).to_owned(),
    }
}
