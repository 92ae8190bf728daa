//! What a server has refused so far: a request leaves it out, or says it otherwise.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::provider::settings::ProviderSettings;

/// Makes the enum and the names in profiles from one table.
macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What a request can say, and a server can refuse.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Feature { $($(#[$doc])* $variant,)* }

        /// A profile names what was refused.
        const NAMES: &[(Feature, &str)] = &[$((Feature::$variant, $name),)*];
    };
}

features! {
    /// `stream_options.include_usage`.
    Usage = "no_usage",
    /// A temperature: models that reason refuse it.
    Temperature = "no_temperature",
    /// To be told how much to think.
    Effort = "no_effort",
    /// The limit of the output in the field that the model's table names; there is another.
    LimitField = "other_limit",
    /// Calls without reasoning beside them.
    BareCalls = "reasoning_required",
    /// Reasoning that comes back.
    Reasoning = "no_reasoning",
    /// Unknown fields of the model's own calls.
    CallExtras = "no_extras",
    /// A person's words right behind results.
    LooseRoles = "strict_roles",
    /// To be asked for thoughts.
    Thought = "no_thought",
    /// To be asked for a summary of the thoughts.
    Summary = "no_summary",
    /// Encrypted thoughts that come back.
    Echo = "no_echo",
    /// A limit of the output.
    Limit = "no_limit",
    /// Its own search of the web.
    Search = "no_search",
    /// To name an answer that it kept.
    Store = "no_store",
    /// Cache marks.
    CacheMarks = "no_cache_marks",
    /// To be asked to think.
    Thinking = "no_thinking",
    /// A cache for an hour.
    LongCache = "no_long_cache",
    /// To be asked to show its thoughts.
    Thoughts = "no_thoughts",
    /// Schemas of tools in their newer form.
    NewSchemas = "old_schemas",
    /// The status of a result.
    Status = "no_status",
    /// Tools.
    Tools = "no_tools",
    /// Ids of calls that come back.
    CallIds = "no_call_ids",
    /// A signature that stands for the one of another model's call.
    StandInSignature = "no_stand_in_signature",
}

impl Feature {
    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// What one has. Nothing of it is forgotten for the life of a provider.
#[derive(Debug, Default)]
pub(crate) struct Learnt(AtomicU32);

impl Learnt {
    /// What a profile says.
    pub(crate) fn of(profile: &[String]) -> Self {
        let known = NAMES.iter().filter(|(_, name)| profile.iter().any(|known| known == name));
        Self(AtomicU32::new(known.fold(0, |bits, (feature, _)| bits | feature.bit())))
    }

    /// Tells whether the server refused it.
    pub(crate) fn refuses(&self, feature: Feature) -> bool {
        self.0.load(Ordering::Relaxed) & feature.bit() != 0
    }

    /// Keeps it in mind; tells whether it is new.
    pub(crate) fn learn(&self, feature: Feature) -> bool {
        self.0.fetch_or(feature.bit(), Ordering::Relaxed) & feature.bit() == 0
    }

    /// What a request says to a model: all that neither the server refused nor the settings leave out.
    pub(crate) fn dialect(&self, settings: &ProviderSettings) -> Dialect {
        Dialect(!self.0.load(Ordering::Relaxed))
            .without(Feature::Temperature, !settings.abilities.sampling)
            .without(Feature::Thinking, !settings.abilities.thinking.adaptive)
            .without(Feature::Search, !settings.search)
            .without(Feature::Store, !settings.stored)
            .without(Feature::LongCache, !settings.long_cache)
    }

    /// As a profile has it.
    pub(crate) fn names(&self) -> Vec<String> {
        NAMES.iter().filter(|(feature, _)| self.refuses(*feature)).map(|(_, name)| (*name).to_owned()).collect()
    }
}

/// What one request says. It stays the same while the request is written, whatever another one learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect(u32);

impl Dialect {
    pub(crate) const fn says(self, feature: Feature) -> bool {
        self.0 & feature.bit() != 0
    }

    /// Leaves a feature out where `left_out` is set.
    #[must_use]
    pub(crate) const fn without(self, feature: Feature, left_out: bool) -> Self {
        if left_out { Self(self.0 & !feature.bit()) } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_once_is_known_and_comes_back_from_a_profile() {
        let learnt = Learnt::default();
        for (feature, name) in NAMES {
            assert!(!learnt.refuses(*feature) && learnt.learn(*feature) && !learnt.learn(*feature), "{name}");
        }
        let names: Vec<String> = NAMES.iter().map(|(_, name)| (*name).to_owned()).collect();
        assert_eq!(learnt.names(), names);
        assert_eq!(Learnt::of(&names[3..5]).names(), names[3..5]);
        assert_eq!(Learnt::of(&["context_window=9".to_owned()]).names(), Vec::<String>::new());
    }
}
