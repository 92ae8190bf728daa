//! What tokens cost: prices, and sums of money without rounding errors.

use std::fmt;
use std::iter::Sum;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::usage::Usage;

/// A sum of money in units of 10⁻¹² dollars: a price of one dollar for a million tokens is a whole number of units
/// a token. Serialized as dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

/// How many units one dollar has.
const DOLLAR: u64 = 1_000_000_000_000;

impl Money {
    /// Converts dollars; a negative sum becomes zero, and fractions of a unit are cut off.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded on the line before")]
    #[expect(clippy::cast_precision_loss, reason = "a dollar is far below 2^53 units")]
    pub fn dollars(dollars: f64) -> Self {
        let units = (dollars * DOLLAR as f64).clamp(0.0, 1e19);
        Self(if units.is_nan() { 0 } else { units.round() as u64 })
    }

    /// Parses a price in dollars for a million tokens (`0.25`, `1250`) into the price of one token.
    #[must_use]
    pub fn of_a_million(text: &str) -> Option<Self> {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        if whole.is_empty() || part.len() > 6 || !whole.chars().chain(part.chars()).all(|c| c.is_ascii_digit()) {
            return None;
        }
        let units: u64 = format!("{whole}{part:0<6}").parse().ok()?;
        Some(Self(units))
    }

    /// Converts the sum to dollars.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for people and JSON; sums are made of units")]
    pub fn in_dollars(self) -> f64 {
        self.0 as f64 / DOLLAR as f64
    }

    /// Returns the cost of `tokens` tokens, where this is the price of one.
    #[must_use]
    pub const fn times(self, tokens: u64) -> Self {
        Self(self.0.saturating_mul(tokens))
    }

    /// Adds two sums.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Formats the sum for "at least": rounded down, so that the words hold for the sum that is read.
    #[must_use]
    pub fn rounded_down(self) -> String {
        let digits: u8 = if self.0 < DOLLAR / 10_000 {
            6
        } else if self.0 < DOLLAR {
            4
        } else {
            2
        };
        let shown = DOLLAR / 10_u64.pow(digits.into());
        format!("${:.*}", digits.into(), Self(self.0 / shown * shown).in_dollars())
    }

    /// Returns the units, for a counter that several threads add to.
    #[must_use]
    pub const fn units(self) -> u64 {
        self.0
    }

    /// Makes a sum of units.
    #[must_use]
    pub const fn of_units(units: u64) -> Self {
        Self(units)
    }
}

/// Formats for people: `$12.34`, and four digits behind the point below one dollar.
impl fmt::Display for Money {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.in_dollars();
        match dollars {
            _ if self.0 == 0 => formatter.write_str("$0"),
            ..0.000_05 => formatter.write_str("<$0.0001"),
            ..1.0 => write!(formatter, "${dollars:.4}"),
            _ => write!(formatter, "${dollars:.2}"),
        }
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), Self::plus)
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.in_dollars())
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::dollars)
    }
}

/// The price of one token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rates {
    /// Tokens that are read.
    pub input: Money,
    /// Tokens that are written, including reasoning.
    pub output: Money,
    /// Tokens read from the provider's cache; `None` if they cost as much as any other.
    pub cached_read: Option<Money>,
    /// Tokens read and written to the provider's cache; `None` if they cost as much as any other.
    pub cached_write: Option<Money>,
}

impl Rates {
    fn cost(&self, usage: &Usage) -> Money {
        let parts = [
            self.input.times(usage.input),
            self.cached_read.unwrap_or(self.input).times(usage.cached_read),
            self.cached_write.unwrap_or(self.input).times(usage.cached_write),
            self.output.times(usage.written()),
        ];
        parts.into_iter().sum()
    }
}

/// The prices of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Price {
    /// The rates of a request of any length.
    pub rates: Rates,
    /// The rates of longer requests: each applies when more than this many tokens are read; the smallest number
    /// comes first.
    pub long: Vec<(u64, Rates)>,
    /// The price of a search that the provider makes itself, where it is known.
    pub search: Option<Money>,
}

impl Price {
    /// Returns the price of a model that runs on this machine.
    #[must_use]
    pub fn free() -> Self {
        let nothing = Some(Money::default());
        let rates = Rates { cached_read: nothing, cached_write: nothing, ..Rates::default() };
        Self { rates, ..Self::default() }
    }

    /// Returns the price with a provider cache that lasts one hour: writing to such a cache costs twice the input
    /// price (<https://platform.claude.com/docs/en/build-with-claude/prompt-caching>).
    #[must_use]
    pub fn with_long_cache(mut self) -> Self {
        for rates in std::iter::once(&mut self.rates).chain(self.long.iter_mut().map(|(_, rates)| rates)) {
            rates.cached_write = rates.cached_write.map(|_| rates.input.times(2));
        }
        self
    }

    /// Returns the cost of one request; searches whose price is not known count nothing. All its tokens have the
    /// rates for its length.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Money {
        let searches = self.search.unwrap_or_default().times(usage.searches);
        self.rates_of(usage.read()).cost(usage).plus(searches)
    }

    /// Returns the rates of a request that reads `read` tokens.
    #[must_use]
    pub fn rates_of(&self, read: u64) -> &Rates {
        self.long.iter().rev().find(|(above, _)| read > *above).map_or(&self.rates, |(_, rates)| rates)
    }

    /// Parses `in/out/cached read/cached write`, in dollars for a million tokens; the rates of longer requests
    /// follow after a semicolon: `2.5/15/0.25;272000:5/22.5/0.5`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let rates = rates(parts.next()?)?;
        let long = parts.map(|part| {
            let (above, rest) = part.split_once(':')?;
            Some((above.parse().ok()?, self::rates(rest)?))
        });
        Some(Self { rates, long: long.collect::<Option<_>>()?, search: None })
    }
}

fn rates(text: &str) -> Option<Rates> {
    let mut parts = text.split('/').map(|part| (!part.is_empty()).then(|| Money::of_a_million(part)));
    let mut next = || parts.next().flatten();
    let (input, output) = (next()??, next()??);
    let (cached_read, cached_write) = (next(), next());
    Some(Rates { input, output, cached_read: cached_read.flatten(), cached_write: cached_write.flatten() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn usage(input: u64, cached_read: u64, cached_write: u64, output: u64, reasoning: u64) -> Usage {
        Usage { input, cached_read, cached_write, output, reasoning, searches: 0 }
    }

    #[test]
    fn a_request_costs_what_the_price_list_says() {
        let price = Price::parse("3/15/0.3/3.75").unwrap();
        // 1,000 × 3 + 10,000 × 0.3 + 2,000 × 3.75 + 500 × 15 = 21,000 dollars for a million times as much.
        let cost = price.cost(&usage(1_000, 10_000, 2_000, 400, 100));
        assert_eq!((cost, cost.to_string()), (Money::dollars(0.021), "$0.0210".to_owned()));
        assert_eq!(serde_json::to_string(&cost).unwrap(), "0.021");
        assert_eq!(serde_json::from_str::<Money>("0.021").unwrap(), cost);
    }

    #[test]
    fn a_long_request_has_the_price_of_its_length_for_all_of_its_tokens() {
        let price = Price::parse("2.5/15/0.25;272000:5/22.5/0.5").unwrap();
        assert_eq!(price.cost(&usage(272_000, 0, 0, 0, 0)), Money::dollars(0.68));
        assert_eq!(price.cost(&usage(272_000, 1_000_000 - 272_000, 0, 0, 0)), Money::dollars(1.36 + 0.364));
    }

    #[test]
    fn a_search_costs_beside_the_tokens() {
        let price = Price { search: Some(Money::dollars(0.01)), ..Price::parse("1/1").unwrap() };
        assert_eq!(price.cost(&Usage { searches: 3, ..usage(1_000_000, 0, 0, 0, 0) }), Money::dollars(1.03));
    }

    #[test]
    fn what_an_hours_cache_is_written_costs_twice_what_is_read_at_each_length() {
        let price = Price::parse("3/15/0.3/3.75;200000:6/22.5/0.6/7.5").unwrap().with_long_cache();
        assert_eq!(price, Price::parse("3/15/0.3/6;200000:6/22.5/0.6/12").unwrap());
        assert_eq!(Price::parse("3/15").unwrap().with_long_cache(), Price::parse("3/15").unwrap());
    }

    #[test]
    fn what_is_no_price_is_none() {
        for text in ["", "3", "x/1", "1/", "1/2/3/4;5", "1/2;x:1/2", "-1/2", "1.1234567/2"] {
            assert_eq!(Price::parse(text), None, "{text}");
        }
        assert_eq!(Price::free().cost(&usage(5, 5, 5, 5, 5)), Money::default());
    }

    #[test]
    fn sums_are_shown_as_people_read_them() {
        let shown = [(0.0, "$0"), (0.000_001, "<$0.0001"), (0.001_234, "$0.0012"), (12.345_6, "$12.35")];
        for (dollars, expected) in shown {
            assert_eq!(Money::dollars(dollars).to_string(), expected);
        }
        assert_eq!(Money::dollars(-1.0), Money::default());
        assert_eq!(Money::dollars(f64::NAN), Money::default());
    }

    proptest! {
        #[test]
        fn the_sum_that_is_read_behind_at_least_is_no_more_than_the_sum(units in 0..30_000_000_000_000_u64, digits in 0..14_u32) {
            let sum = Money::of_units(units / 10_u64.pow(digits));
            let shown = sum.rounded_down();
            let read: f64 = shown.strip_prefix('$').unwrap().parse().unwrap();
            prop_assert!(sum.in_dollars() < 0.000_001 || read > 0.0, "{shown} of {sum:?}");
            prop_assert!(Money::dollars(read) <= sum, "{shown} of {sum:?}");
        }

        #[test]
        fn more_tokens_never_cost_less_and_a_cached_one_never_more_than_its_price_says(
            a in 0..1_000_000_u64, b in 0..1_000_000_u64, c in 0..100_000_u64, d in 0..100_000_u64, more in 0..1_000_u64,
        ) {
            let price = Price::parse("2.5/15/0.25/3.1;272000:5/22.5/0.5").unwrap();
            let less = price.cost(&usage(a, b, c, d, 0));
            prop_assert!(price.cost(&usage(a + more, b, c, d, 0)) >= less);
            prop_assert!(price.cost(&usage(a, b, c, d, more)) >= less);
            // Reasoning is billed like any other output.
            prop_assert_eq!(price.cost(&usage(a, b, c, d + more, 0)), price.cost(&usage(a, b, c, d, more)));
        }
    }
}
