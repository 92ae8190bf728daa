//! What requests cost in tokens and money, request by request.

use serde::Serialize;

use super::price::{Money, Price};
use super::usage::Usage;

/// Tokens and what they cost, of one request or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bill {
    /// The tokens.
    pub usage: Usage,
    /// The cost of those tokens whose price is known.
    priced: Money,
    /// Whether the price of some tokens is not known.
    unpriced: bool,
}

impl Bill {
    /// Makes the bill of one request; `price` is `None` where it is not known.
    #[must_use]
    pub fn of(usage: Usage, price: Option<&Price>) -> Self {
        let mut bill = Self::stored(usage, price.map(|price| price.cost(&usage)));
        bill.unpriced |= usage.searches > 0 && price.is_none_or(|price| price.search.is_none());
        bill
    }

    /// Makes a bill whose cost was calculated before.
    #[must_use]
    pub fn stored(usage: Usage, cost: Option<Money>) -> Self {
        let unpriced = cost.is_none() && usage.total() > 0;
        Self { usage, priced: cost.unwrap_or_default(), unpriced }
    }

    /// Returns the cost of all of it; `None` if the price of a part is not known.
    #[must_use]
    pub fn cost(&self) -> Option<Money> {
        (!self.unpriced).then_some(self.priced)
    }

    /// Returns the cost of the tokens whose price is known: the whole costs at least that.
    #[must_use]
    pub const fn at_least(&self) -> Money {
        self.priced
    }

    /// Adds another bill.
    pub fn add(&mut self, other: Self) {
        self.usage.add(other.usage);
        self.priced = self.priced.plus(other.priced);
        self.unpriced |= other.unpriced;
    }
}

/// What a request will cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// The least it can cost: everything that can come from the cache does, and the answer has one token.
    pub least: Money,
    /// The cost if it goes like the requests before.
    pub likely: Money,
}

/// The form that `axi usage --json` prints: `null` for what is not known.
#[derive(Serialize)]
struct Printed {
    input: u64,
    cached_read: u64,
    cached_write: u64,
    output: u64,
    reasoning: u64,
    searches: u64,
    usd: Option<Money>,
    usd_at_least: Money,
}

impl Serialize for Bill {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Usage { input, cached_read, cached_write, output, reasoning, searches } = self.usage;
        let (usd, usd_at_least) = (self.cost(), self.at_least());
        Printed { input, cached_read, cached_write, output, reasoning, searches, usd, usd_at_least }
            .serialize(serializer)
    }
}

/// The bills of a conversation, by turn and model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    rows: Vec<LedgerRow>,
    /// How many turns have ended.
    turns: usize,
    /// How many requests there were, not counting those of sub-agents.
    requests: u64,
    /// How many tokens the last of these requests read and wrote.
    last_request: u64,
}

/// What one turn cost at one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// Which turn, from 1.
    pub turn: usize,
    /// `PROVIDER/MODEL`.
    pub model: String,
    /// What it cost.
    pub bill: Bill,
}

impl Ledger {
    /// Adds the bill of a request to the current turn.
    pub fn add(&mut self, model: &str, bill: Bill) {
        self.requests += 1;
        self.last_request = bill.usage.total();
        self.add_of_others(model, bill);
    }

    /// Adds the bill of sub-agents to the current turn.
    pub fn add_of_others(&mut self, model: &str, bill: Bill) {
        let turn = self.turns + 1;
        if let Some(row) = self.rows.iter_mut().rev().find(|row| row.turn == turn && row.model == model) {
            return row.bill.add(bill);
        }
        self.rows.push(LedgerRow { turn, model: model.to_owned(), bill });
    }

    /// Ends a turn: later bills belong to the next one.
    pub const fn end_turn(&mut self) {
        self.turns += 1;
    }

    /// Returns the rows, the oldest first.
    #[must_use]
    pub fn rows(&self) -> &[LedgerRow] {
        &self.rows
    }

    /// Returns how many tokens the last request read and wrote.
    #[must_use]
    pub const fn last_request(&self) -> u64 {
        self.last_request
    }

    /// Returns what all of it cost.
    #[must_use]
    pub fn total(&self) -> Bill {
        sum(self.rows.iter())
    }

    /// Returns the cost of each model, in the order of first use.
    #[must_use]
    pub fn by_model(&self) -> Vec<(String, Bill)> {
        let mut models: Vec<(String, Bill)> = Vec::new();
        for row in &self.rows {
            match models.iter_mut().find(|(model, _)| *model == row.model) {
                Some((_, bill)) => bill.add(row.bill),
                None => models.push((row.model.clone(), row.bill)),
            }
        }
        models
    }

    /// Returns how many tokens a request has written on average; `None` before the first one.
    #[must_use]
    pub fn usual_answer(&self) -> Option<u64> {
        self.total().usage.written().checked_div(self.requests)
    }
}

fn sum<'a>(rows: impl Iterator<Item = &'a LedgerRow>) -> Bill {
    rows.fold(Bill::default(), |mut all, row| {
        all.add(row.bill);
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn a_sum_with_a_part_whose_price_nobody_knows_has_none_but_costs_at_least_the_rest() {
        let price = Price::parse("1/2").unwrap();
        let mut bill = Bill::of(usage(1_000, 500), Some(&price));
        assert_eq!(bill.cost(), Some(Money::dollars(0.002)));
        bill.add(Bill::of(usage(7, 0), None));
        assert_eq!((bill.cost(), bill.at_least()), (None, Money::dollars(0.002)));
        let printed = serde_json::to_value(bill).unwrap();
        assert_eq!((&printed["input"], &printed["usd"]), (&1_007.into(), &serde_json::Value::Null));
        // Where there are no tokens, no price can be missing.
        assert_eq!(Bill::of(Usage::default(), None).cost(), Some(Money::default()));
    }

    #[test]
    fn rows_are_kept_by_turn_and_model() {
        let mut ledger = Ledger::default();
        let bill = |input| Bill::stored(usage(input, 10), Some(Money::dollars(1.0)));
        ledger.add("a/x", bill(1));
        ledger.add("b/y", bill(2));
        ledger.add("a/x", bill(3));
        ledger.end_turn();
        ledger.add("a/x", bill(4));
        let rows: Vec<(usize, &str, u64)> =
            ledger.rows().iter().map(|row| (row.turn, row.model.as_str(), row.bill.usage.input)).collect();
        assert_eq!(rows, [(1, "a/x", 4), (1, "b/y", 2), (2, "a/x", 4)]);
        assert_eq!(ledger.total().cost(), Some(Money::dollars(4.0)));
        assert_eq!(ledger.by_model()[0].1.usage.input, 8);
        assert_eq!(ledger.usual_answer(), Some(10));
    }
}
