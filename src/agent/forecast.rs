//! Forecasts what the next request will cost: the least, and the likely cost.

use super::beginning::Beginning;
use super::floor::fewest;
use super::talk::Talk;
use super::{AgentEvent, Frontend, Notice, TurnEnd};
use crate::conversation::{Forecast, Message, Money, Price, Rates, tokens};
use crate::provider::catalogue::Cache;

/// How many tokens an answer has if nothing is known of this conversation.
const USUAL_ANSWER: u64 = 500;

/// How the tokens of a request are spread.
#[derive(Debug, Clone, Copy)]
struct Spread {
    /// All tokens that are read: `read` is the estimate, `fewest` the lower bound.
    read: u64,
    fewest: u64,
    /// Those of them that the last request had as well, so that the provider's cache may have them.
    known: u64,
    written: u64,
}

fn forecast(price: &Price, cache: Cache, spread: Spread) -> Forecast {
    let dearest = |rates: &Rates| match cache {
        Cache::Marks => rates.cached_write.unwrap_or(rates.input),
        Cache::Automatic | Cache::None => rates.input,
    };
    let cached = |rates: &Rates| rates.cached_read.unwrap_or(rates.input).min(rates.input);
    let cheapest = |rates: &Rates| cached(rates).min(rates.cached_write.unwrap_or(rates.input));
    // A request that is longer than that may have the rates of longer ones; an answer has one token at least.
    let longer = price.long.iter().filter(|(above, _)| *above >= spread.fewest).map(|(_, rates)| rates);
    let reachable = std::iter::once(price.rates_of(spread.fewest)).chain(longer);
    let costs = reachable.map(|rates| cheapest(rates).times(spread.fewest).plus(rates.output));
    let least = costs.min().unwrap_or_default();
    let usual = price.rates_of(spread.read);
    let known = if cache == Cache::None { usual.input } else { cached(usual) };
    let fresh = dearest(usual).times(spread.read.saturating_sub(spread.known));
    let likely = known.times(spread.known.min(spread.read)).plus(fresh).plus(usual.output.times(spread.written));
    Forecast { least, likely: likely.max(least) }
}

/// Compares the cost of the next request of a talk with the budget.
pub(super) struct Purse<'a> {
    pub(super) talk: &'a Talk,
    pub(super) beginning: &'a Beginning,
}

impl Purse<'_> {
    /// Forecasts what a request costs; `None` where the price is not known.
    fn forecast(&self, sent: &[Message]) -> Option<Forecast> {
        let abilities = &self.talk.model().abilities;
        let price = abilities.price.as_ref()?;
        let estimate = self.beginning.tokens() + sent.iter().map(tokens::estimate_message).sum::<u64>();
        let fewest = fewest(self.talk.window.floor, self.beginning, sent);
        let read = self.talk.window.counted(estimate).max(fewest);
        let known = self.talk.ledger().last_request().min(read);
        let written = self.talk.ledger().usual_answer().unwrap_or(USUAL_ANSWER);
        Some(forecast(price, abilities.cache, Spread { read, fewest, known, written }))
    }

    /// Tells whether a request with these messages would certainly cost more than may be spent.
    pub(super) fn is_too_dear(&self, sent: &[Message]) -> bool {
        let Some(budget) = self.talk.wishes.budget else { return false };
        let least = self.forecast(sent).map_or(Money::default(), |forecast| forecast.least);
        self.talk.paid().plus(least) > budget
    }

    /// Checks whether the budget allows the next request; reports the cost first, if the person wished to be told.
    pub(super) fn afford(&self, first: bool, frontend: &mut dyn Frontend) -> Result<(), TurnEnd> {
        let wishes = self.talk.wishes;
        if wishes.budget.is_none() && wishes.tell_price.is_none() {
            return Ok(());
        }
        let forecast = self.forecast(&self.talk.sent());
        let spent = self.talk.paid();
        let least = forecast.map_or(Money::default(), |forecast| forecast.least);
        // If the model's price is not known, what other models cost before still counts against the budget.
        if let Some(budget) = wishes.budget.filter(|budget| spent.plus(least) > *budget) {
            return Err(TurnEnd::BudgetLimit { budget, spent, least });
        }
        // Reported once a turn: later steps follow from the same message.
        let answers = self.talk.conversation().messages().last().is_some_and(Message::has_results);
        if !first || answers {
            return Ok(());
        }
        match forecast {
            None => {
                let model = self.talk.model().id();
                frontend.show(&AgentEvent::Notice { notice: Notice::PriceUnknown { model } });
            }
            Some(forecast) if wishes.tell_price.is_some_and(|least| forecast.likely >= least) => {
                frontend.show(&AgentEvent::Notice { notice: Notice::Price { forecast } });
            }
            Some(_) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conversation::Usage;

    proptest! {
        #[test]
        fn no_request_costs_less_than_the_least_that_was_told(
            fewest in 1..400_000_u64, more in 0..100_000_u64, cached in 0..500_000_u64, stored in 0..500_000_u64,
            written in 1..10_000_u64, known in 0..500_000_u64,
            cache in prop::sample::select(vec![Cache::None, Cache::Automatic, Cache::Marks]),
            price in prop::sample::select(vec!["3/15/0.3/3.75", "2.5/15/0.25;272000:5/22.5/0.5", "1/2", "0/0", "1/1/2", "3/15//1", "4/9;1000:2/3;9000:1/1"]),
        ) {
            let price = Price::parse(price).unwrap();
            let told = forecast(&price, cache, Spread { read: fewest + more, fewest, known, written: 10 });
            let read = fewest + more;
            let cached_read = cached.min(read);
            let cached_write = stored.min(read - cached_read);
            let usage = Usage {
                input: read - cached_read - cached_write, cached_read, cached_write, output: written,
                reasoning: 0, searches: 0,
            };
            prop_assert!(price.cost(&usage) >= told.least, "{usage:?} cost less than {told:?}");
            prop_assert!(told.likely >= told.least);
        }
    }
}
