//! What a server has refused so far: a request leaves it out, or says it otherwise.

use std::sync::atomic::{AtomicU32, Ordering};

/// Makes the enum and the names in profiles from one table.
macro_rules! lessons {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What a server can refuse.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Lesson { $($(#[$doc])* $variant,)* }

        const NAMES: &[(Lesson, &str)] = &[$((Lesson::$variant, $name),)*];
    };
}

lessons! {
    /// `stream_options.include_usage`.
    NoUsage = "no_usage",
    /// A temperature: models that reason refuse it.
    NoTemperature = "no_temperature",
    /// To be told how much to think.
    NoEffort = "no_effort",
    /// The field that limits the output; there is another.
    OtherLimit = "other_limit",
    /// Calls without reasoning beside them.
    ReasoningRequired = "reasoning_required",
    /// Reasoning that comes back.
    NoReasoning = "no_reasoning",
    /// Unknown fields of the model's own calls.
    NoExtras = "no_extras",
    /// A person's words right behind results.
    StrictRoles = "strict_roles",
    /// To be asked for thoughts.
    NoThought = "no_thought",
    /// To be asked for a summary of the thoughts.
    NoSummary = "no_summary",
    /// Encrypted thoughts that come back.
    NoEcho = "no_echo",
    /// A limit of the output.
    NoLimit = "no_limit",
    /// Its own search of the web.
    NoSearch = "no_search",
    /// To name an answer that it kept.
    NoStore = "no_store",
    /// Cache marks.
    NoCacheMarks = "no_cache_marks",
    /// To be asked to think.
    NoThinking = "no_thinking",
    /// A cache for an hour.
    NoLongCache = "no_long_cache",
    /// To be asked to show its thoughts.
    NoThoughts = "no_thoughts",
    /// Schemas of tools in their newer form.
    OldSchemas = "old_schemas",
    /// The status of a result.
    NoStatus = "no_status",
    /// Tools.
    NoTools = "no_tools",
}

impl Lesson {
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
        Self(AtomicU32::new(known.fold(0, |bits, (lesson, _)| bits | lesson.bit())))
    }

    pub(crate) fn has(&self, lesson: Lesson) -> bool {
        self.0.load(Ordering::Relaxed) & lesson.bit() != 0
    }

    /// Keeps it in mind; tells whether it is new.
    pub(crate) fn learn(&self, lesson: Lesson) -> bool {
        self.0.fetch_or(lesson.bit(), Ordering::Relaxed) & lesson.bit() == 0
    }

    /// As a profile has it.
    pub(crate) fn names(&self) -> Vec<String> {
        NAMES.iter().filter(|(lesson, _)| self.has(*lesson)).map(|(_, name)| (*name).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_once_is_known_and_comes_back_from_a_profile() {
        let learnt = Learnt::default();
        for (lesson, name) in NAMES {
            assert!(!learnt.has(*lesson) && learnt.learn(*lesson) && !learnt.learn(*lesson), "{name}");
        }
        let names: Vec<String> = NAMES.iter().map(|(_, name)| (*name).to_owned()).collect();
        assert_eq!(learnt.names(), names);
        assert_eq!(Learnt::of(&names[3..5]).names(), names[3..5]);
        assert_eq!(Learnt::of(&["context_window=9".to_owned()]).names(), Vec::<String>::new());
    }
}
