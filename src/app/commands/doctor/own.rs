//! axi's own model: which is here, how this machine computes, how fast it would write, and whether it has the memory.

use super::super::super::context::App;
use super::super::super::models;
use super::super::check::Check;
use crate::locale::{Locale, word};
use crate::provider::local::{NAME, TABLE, Weights, by_name, find, processor};

pub(super) fn own(app: &App, model: Option<&str>, locale: &Locale) -> Vec<Check> {
    let name = locale.text(word::doctor::OWN_MODEL);
    let places = models::places(app);
    let here: Vec<_> = TABLE.iter().filter_map(|weights| Some((weights, find(weights, &places)?))).collect();
    let (available, set) = (models::available(), app.config().model.clone());
    let is_here = |weights: &Weights| here.iter().any(|(known, _)| *known == weights);
    let speed = models::speed(app);
    let (fitting, offered) = (models::fitting(available), models::offered(available, speed));
    let Some(wanted) = wanted(model.or(set.as_deref()), &fitting, offered.first().copied(), is_here) else {
        return Vec::new();
    };
    let told = here.iter().map(|(weights, path)| {
        let (model, size) = (format!("{NAME}/{}", weights.name), models::megabytes(weights.size));
        format!("{model} ({size}) · {}", app.paths.shown(path))
    });
    let told: Vec<String> = told.collect();
    let told = if told.is_empty() { vec![locale.text(word::local::NOT_HERE).to_owned()] } else { told };
    let (path, cores) = processor();
    let path = path.unwrap_or(locale.text(word::doctor::SCALAR));
    let runs = locale.with(word::doctor::Processor { path, cores: &cores.to_string() });
    let found = format!("{} · {runs} · {}", told.join(", "), models::pace(app, speed, wanted, locale));
    let is_tight = is_here(wanted) && available.is_some_and(|bytes| bytes < wanted.size);
    vec![if is_tight { Check::bad(name, found, hint(locale, wanted, is_here)) } else { Check::good(name, found) }]
}

/// The model that is or would be used. The first that there is of these: the one that is named; the best fitting one that
/// is here; the one that would be `offered`; the smallest.
fn wanted(
    named: Option<&str>,
    fitting: &[&'static Weights],
    offered: Option<&'static Weights>,
    is_here: impl Fn(&Weights) -> bool,
) -> Option<&'static Weights> {
    let named = named.and_then(|name| by_name(name.strip_prefix("local/")?));
    let here = || fitting.iter().copied().find(|weights| is_here(weights));
    named.or_else(here).or(offered).or_else(|| fitting.iter().copied().min_by_key(|weights| weights.size))
}

/// Says what to do where there is too little memory for a model.
fn hint(locale: &Locale, weights: &Weights, is_here: impl Fn(&Weights) -> bool) -> String {
    let smaller = TABLE.iter().filter(|other| other.size < weights.size).max_by_key(|other| other.size);
    let command = match smaller {
        None => return locale.text(word::doctor::MEMORY_HINT).to_owned(),
        Some(smaller) if is_here(smaller) => format!("axi -m {NAME}/{}", smaller.name),
        Some(smaller) => format!("axi local pull {}", smaller.name),
    };
    locale.with(word::doctor::MemorySmallerHint { command: &command })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: &Weights = &TABLE[0];
    const SMALL: &Weights = &TABLE[1];

    #[test]
    fn what_is_measured_is_the_model_that_would_be_used() {
        let name = |named, fitting: &[&'static Weights], here: &[&Weights]| {
            wanted(named, fitting, Some(LARGE), |weights| here.contains(&weights)).map(|weights| weights.name)
        };
        assert_eq!(name(None, &[LARGE, SMALL], &[LARGE, SMALL]), Some(LARGE.name));
        assert_eq!(name(None, &[SMALL, LARGE], &[LARGE, SMALL]), Some(SMALL.name));
        assert_eq!(name(None, &[LARGE, SMALL], &[SMALL]), Some(SMALL.name));
        assert_eq!(name(None, &[SMALL, LARGE], &[]), Some(LARGE.name));
        assert_eq!(wanted(None, &[LARGE, SMALL], None, |_| false), Some(SMALL));
        let named = format!("local/{}", SMALL.name);
        assert_eq!(name(Some(named.as_str()), &[LARGE, SMALL], &[LARGE]), Some(SMALL.name));
        assert_eq!(name(Some("lab/any"), &[LARGE, SMALL], &[LARGE]), Some(LARGE.name));
    }

    #[test]
    fn only_a_smaller_model_is_recommended_where_memory_is_short() {
        let locale = Locale::new("en");
        assert!(hint(&locale, LARGE, |_| false).ends_with("axi local pull qwen2.5-coder-0.5b"));
        assert!(hint(&locale, LARGE, |_| true).ends_with("axi -m local/qwen2.5-coder-0.5b"));
        assert!(!hint(&locale, SMALL, |_| true).contains("axi"));
    }
}
