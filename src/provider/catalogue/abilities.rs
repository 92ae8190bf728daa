//! What can be known of a model.

use crate::conversation::Price;

/// How much a model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Not at all.
    None,
    /// The least it can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More than much.
    Xhigh,
    /// All it can.
    Max,
}

impl Effort {
    /// All of them, the least first; the digit of one in a row is its place here.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// Returns the word that settings, commands and wires use.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.word() == word)
    }

    /// Returns how many tokens that is for a model that takes a number: at least `least`, below `most`.
    #[must_use]
    pub const fn budget(self, least: u64, most: u64) -> u64 {
        let tokens = match self {
            Self::None => return 0,
            Self::Minimal => 1_024,
            Self::Low => 4_096,
            Self::Medium => 10_000,
            Self::High => 20_000,
            Self::Xhigh => 28_000,
            Self::Max => most,
        };
        let tokens = if tokens < least { least } else { tokens };
        if tokens > most { most } else { tokens }
    }
}

/// How a model can be asked to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thinking {
    /// It can be turned off.
    pub switch: bool,
    /// It takes a number of tokens: at least and at most so many, where that is said.
    pub budget: Option<(Option<u64>, Option<u64>)>,
    /// It thinks as much as it sees fit.
    pub adaptive: bool,
}

/// What a provider caches of what it has read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cache {
    /// Nothing, or it does not say.
    #[default]
    None,
    /// The beginning, by itself.
    Automatic,
    /// What stands before a mark.
    Marks,
}

/// What a model can do, beside its window, tools and sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// The most it reads at once, where that is less than the window. Unit: tokens.
    pub most_read: Option<u64>,
    /// The most it writes at once. Unit: tokens.
    pub most_written: Option<u64>,
    /// Whether it reasons, where that is known.
    pub reasons: Option<bool>,
    /// The efforts it takes, the least first; empty where none is known.
    pub efforts: Vec<Effort>,
    /// How it can be asked to think.
    pub thinking: Thinking,
    /// Whether it can be told how freely to write.
    pub sampling: bool,
    /// Whether it can be made to call a tool.
    pub forced_choice: bool,
    /// Whether it calls tools on the responses wire only.
    pub tools_on_responses: bool,
    /// What is cached.
    pub cache: Cache,
    /// What its tokens cost, where that is known.
    pub price: Option<Price>,
}

impl Abilities {
    /// Returns the effort nearest to the wanted one that the model takes: the server refuses a request with a word
    /// that the model does not know. `None` leaves it to the provider.
    #[must_use]
    pub fn effort(&self, wanted: Option<Effort>) -> Option<Effort> {
        let wanted = wanted.filter(|_| self.reasons != Some(false))?;
        let off = wanted == Effort::None && self.thinking.switch;
        if off || self.efforts.is_empty() || self.efforts.contains(&wanted) {
            return Some(wanted);
        }
        let thinks = || self.efforts.iter().filter(|effort| **effort != Effort::None);
        thinks().rev().find(|effort| **effort < wanted).or_else(|| thinks().next()).copied()
    }
}

impl Default for Abilities {
    /// Nothing is known, and nothing is left out.
    fn default() -> Self {
        Self {
            most_read: None,
            most_written: None,
            reasons: None,
            efforts: Vec::new(),
            thinking: Thinking::default(),
            sampling: true,
            forced_choice: true,
            tools_on_responses: false,
            cache: Cache::default(),
            price: None,
        }
    }
}

/// What the catalogue knows of one model at one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The name at the provider.
    pub name: String,
    /// The day of its release, as `YYYYMMDD`.
    pub released: u32,
    /// The day as of which this holds, as `YYYYMMDD`.
    pub as_of: u32,
    /// Tokens of its window.
    pub context_window: Option<u64>,
    /// Whether it calls tools.
    pub tools: bool,
    /// Whether it sees pictures.
    pub vision: bool,
    /// What else it can do.
    pub abilities: Abilities,
    /// Whether this is known of the newest of its family, and not of it.
    pub inherited: bool,
}
