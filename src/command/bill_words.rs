//! What requests cost, in words.

use crate::conversation::{Bill, Money};
use crate::locale::{Locale, grouped, word};

/// Words tokens and what they cost in one line: `1,234 tokens read (1,000 from the cache), 56 written · $0.0123`.
#[must_use]
pub fn bill(locale: &Locale, bill: &Bill) -> String {
    let usage = &bill.usage;
    let (read, cached, written) = (grouped(usage.read()), grouped(usage.cached_read), grouped(usage.written()));
    let read = if usage.cached_read > 0 {
        locale.with(word::bill::ReadCached { read: &read, cached: &cached })
    } else {
        locale.with(word::bill::Read { read: &read })
    };
    let mut parts = vec![format!("{read}{}", locale.with(word::bill::Written { written: &written }))];
    if usage.searches > 0 {
        parts.push(locale.count(word::bill::SEARCHES, usage.searches));
    }
    parts.push(cost(locale, bill));
    parts.join(" · ")
}

/// Words the same in a few cells, for a row that has a bar: `$0.0123 (1,234 + 56)`.
pub(super) fn short_bill(locale: &Locale, bill: &Bill) -> String {
    format!("{} ({} + {})", cost(locale, bill), grouped(bill.usage.read()), grouped(bill.usage.written()))
}

fn cost(locale: &Locale, bill: &Bill) -> String {
    match bill.cost() {
        Some(cost) => cost.to_string(),
        None if bill.at_least() > Money::default() => {
            locale.with(word::bill::AtLeast { cost: &bill.at_least().rounded_down() })
        }
        None => locale.text(word::models::PRICE_UNKNOWN).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Usage;

    #[test]
    fn a_bill_is_one_line_in_which_an_unknown_price_says_so() {
        let locale = Locale::new("en");
        let usage = Usage { input: 1_234, cached_read: 1_000_000, output: 50, reasoning: 6, ..Usage::default() };
        let said = bill(&locale, &Bill::stored(usage, Some(Money::dollars(0.5))));
        assert_eq!(said, "1,001,234 tokens read (1,000,000 from the cache), 56 written · $0.5000");
        let said = bill(&locale, &Bill::stored(Usage { input: 7, ..Usage::default() }, None));
        assert_eq!(said, "7 tokens read, 0 written · price unknown");
    }
}
