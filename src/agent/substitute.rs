//! Replaces a model whose provider is overloaded by another one, for the rest of a turn; the person is told.

use super::figures::FallbackPrice;
use super::talk::Talk;
use super::{AgentEvent, Failure, Frontend, Notice};
use crate::conversation::{Money, Price};
use crate::provider::ModelInfo;

/// A talk in which another model may replace the chosen one.
pub(super) struct Substitute<'a> {
    pub(super) talk: &'a mut Talk,
}

impl Substitute<'_> {
    /// Switches to the next fallback model, until [`Self::go_back`]; false if none is left.
    pub(super) fn fall_back(&mut self, error: &Failure, frontend: &mut dyn Frontend) -> bool {
        let from = self.talk.model().id();
        let Some(next) = self.talk.fallbacks.next(&from) else { return false };
        let chosen = self.talk.fallbacks.remember(&self.talk.provider);
        let (to, price) = (next.model().id(), price(chosen.model(), next.model()));
        self.talk.ask_from_now_on(next);
        let notice = Notice::FellBack { from, to, error: error.clone(), price };
        frontend.show(&AgentEvent::Notice { notice });
        true
    }

    /// Switches back to the model the person chose.
    pub(super) fn go_back(&mut self) {
        if let Some(chosen) = self.talk.fallbacks.begin() {
            self.talk.ask_from_now_on(chosen);
        }
    }
}

/// Compares the price of a fallback model with that of the chosen one.
fn price(chosen: &ModelInfo, other: &ModelInfo) -> FallbackPrice {
    let Some(asked) = &other.abilities.price else { return FallbackPrice::Unknown };
    let is_more = |known: &Price| {
        let (one, two) = (&asked.rates, &known.rates);
        one.input > two.input || one.output > two.output
    };
    let is_free = asked.rates.input.units() == 0 && asked.rates.output.units() == 0;
    if chosen.abilities.price.as_ref().is_some_and(|known| !is_more(known)) || is_free {
        return FallbackPrice::NotMore;
    }
    let a_million = |rate: Money| rate.times(1_000_000);
    FallbackPrice::More { input: a_million(asked.rates.input), output: a_million(asked.rates.output) }
}

#[cfg(test)]
#[path = "substitute_tests.rs"]
mod tests;
