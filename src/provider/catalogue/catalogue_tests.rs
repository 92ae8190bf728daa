use super::*;
use crate::conversation::Money;
use crate::provider::TABLE;

#[test]
fn the_copy_is_sorted_small_and_every_row_can_be_read() {
    let copy = include_str!("models.tsv");
    assert!(copy.len() <= 150_000, "{} bytes", copy.len());
    assert!(copy.contains("MIT"), "the notice is kept");
    assert!(include_str!("LICENSE").contains("MIT License"));
    let keys: Vec<&str> =
        copy.lines().filter(|row| !row.starts_with('#')).map(|row| row.split('\t').next().unwrap()).collect();
    assert!(keys.len() > 1_000);
    assert!(keys.is_sorted(), "a row is found by halving");
    for row in copy.lines().chain(include_str!("additions.tsv").lines()).filter(|row| !row.starts_with('#')) {
        let known = rows::read(row).unwrap();
        assert!((20_200_000..20_300_000).contains(&known.as_of), "{row}");
        assert_eq!(row.matches('\t').count(), 9, "{row}");
        let priced = row.rsplit('\t').next().is_some_and(|price| !price.is_empty());
        assert_eq!(priced, known.abilities.price.is_some(), "{row}");
        assert!(TABLE.iter().any(|provider| row.starts_with(&format!("{}/", provider.name))), "{row}");
    }
}

#[test]
fn every_row_is_found_by_its_name_and_no_other() {
    for provider in TABLE {
        for known in of(provider.name) {
            let found = find(provider.name, &known.name).unwrap();
            assert_eq!((&found.name, found.inherited), (&known.name, false), "{}", provider.name);
        }
    }
    assert_eq!(find("nobody", "gpt-5"), None);
    assert_eq!(find("", ""), None);
    assert_eq!(find("openai", "qwen-2b"), None);
}

#[test]
fn a_row_says_what_the_model_can_do() {
    let known = find("anthropic", "claude-opus-4-8").unwrap();
    assert_eq!((known.context_window, known.abilities.most_written), (Some(1_000_000), Some(128_000)));
    assert_eq!((known.tools, known.vision, known.abilities.sampling), (true, true, false));
    assert!(known.abilities.thinking.adaptive && known.abilities.cache == Cache::Marks);
    assert_eq!(known.abilities.efforts.last(), Some(&Effort::Max));
    let price = known.abilities.price.unwrap();
    assert_eq!(Some(price.rates.output), Money::of_a_million("25"));
    let known = find("openai", "gpt-5.4").unwrap();
    assert_eq!((known.context_window, known.abilities.most_read), (Some(1_050_000), Some(922_000)));
    assert_eq!(known.abilities.price.unwrap().long.len(), 1);
    assert!(find("openai", "gpt-6-astra").unwrap().abilities.tools_on_responses);
    assert!(!find("anthropic", "claude-opus-5-5").unwrap().abilities.forced_choice);
    // The price of the copy is older.
    let sonnet = find("anthropic", "claude-sonnet-5").unwrap();
    assert_eq!(
        (sonnet.as_of, sonnet.abilities.price.map(|price| price.rates.input)),
        (20_260_901, Money::of_a_million("3"))
    );
}

#[test]
fn a_newer_model_inherits_the_newest_of_its_family_and_no_price() {
    for (provider, model, heir_of) in [
        ("anthropic", "claude-opus-9", "claude-opus-5-5"),
        ("anthropic", "claude-saga-1", "claude-opus-5-5"),
        ("openai", "gpt-7-mini", "gpt-5.4-mini"),
        ("gemini", "gemini-4-flash", "gemini-3.7-flash"),
        ("moonshot", "kimi-k4", "kimi-k3"),
        ("openrouter", "anthropic/claude-opus-9", "anthropic/claude-opus-4.8"),
    ] {
        let known = find(provider, model).unwrap();
        assert_eq!((known.name.as_str(), known.inherited), (heir_of, true), "{model}");
        assert_eq!(known.abilities.price, None, "{model}");
    }
    // A day changes neither the model nor its price.
    let dated = find("openai", "gpt-5-mini-2025-08-07").unwrap();
    assert!(!dated.inherited && dated.abilities.price.is_some());
    // What a row does not say is inherited as well.
    assert_eq!(find("openai", "gpt-6-sol").unwrap().context_window, Some(1_050_000));
}

#[test]
fn a_budget_is_between_its_bounds() {
    for effort in Effort::ALL {
        assert_eq!(Effort::parse(effort.word()), Some(effort));
        let budget = effort.budget(1_024, 24_576);
        assert!(budget == 0 || (1_024..=24_576).contains(&budget), "{effort:?}");
    }
    assert_eq!(Effort::parse("much"), None);
}

#[test]
fn a_claude_is_known_by_its_name_at_every_door_and_unknown_newer_ones_count_as_the_newest() {
    let adaptive = |model: &str| claude(model).map(|abilities| abilities.thinking.adaptive);
    for model in [
        "claude-opus-4-6",
        "claude-opus-4-7-20260401",
        "claude-opus-5",
        "claude-opus-5-5",
        "claude-sonnet-4-6",
        "claude-sonnet-5",
        "claude-fable-5",
        "claude-mythos-5",
        "claude-sonnet-7-2",
        "anthropic/claude-opus-4.8",
        "us.anthropic.claude-sonnet-5-v1:0",
        "claude-opus-4-8@20260528",
        "claude-saga-1",
    ] {
        assert_eq!(adaptive(model), Some(true), "{model}");
    }
    for model in [
        "claude-3-haiku-20240307",
        "claude-3-7-sonnet-latest",
        "claude-opus-4-20250514",
        "claude-opus-4-5",
        "claude-sonnet-4-5-20250929",
        "global.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-haiku-4-5",
    ] {
        assert_eq!(adaptive(model), Some(false), "{model}");
    }
    assert_eq!([adaptive("qwen"), adaptive("")], [None, None]);
    assert_eq!(claude("claude-opus-4-8").unwrap().price, None, "nobody knows what somebody else takes for it");
}
