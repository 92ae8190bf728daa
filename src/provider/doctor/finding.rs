//! What can be asked, and what was found.

/// Makes the enum of probes and their names.
macro_rules! probes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A question of the doctor.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Probe { $($(#[$doc])* $variant,)* }

        impl Probe {
            /// All of them, in the order in which they are asked.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Returns the name in JSON.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

probes! {
    /// The server lists its models.
    List = "models",
    /// The list has this one.
    Listed = "listed",
    /// It answers at all.
    Answer = "answer",
    /// The answer comes in pieces.
    Stream = "stream",
    /// It says why it stopped.
    Finish = "finish",
    /// It counts tokens.
    Usage = "usage",
    /// The same beginning comes from a cache.
    Cache = "cache",
    /// The model follows a system prompt.
    System = "system",
    /// It keeps to a limit, and says so.
    Limit = "limit",
    /// It takes a temperature.
    Temperature = "temperature",
    /// It takes an effort.
    Effort = "effort",
    /// Reasoning is shown.
    Reasoning = "reasoning",
    /// The model calls a tool.
    Call = "call",
    /// The arguments are JSON, and those that the tool wants.
    Arguments = "arguments",
    /// It says that it stopped for a call.
    CallFinish = "call_finish",
    /// The model calls a tool that takes no arguments.
    EmptyCall = "empty_call",
    /// The model calls two tools at once.
    Parallel = "parallel",
    /// Their ids are not the same.
    Ids = "ids",
    /// It takes a result.
    Result = "result",
    /// It takes the calls of another model.
    Foreign = "foreign",
    /// It takes its own reasoning back.
    Echo = "echo",
    /// It takes what a person says right behind a result.
    Behind = "behind",
    /// It takes a picture.
    Picture = "picture",
    /// It takes a picture in a result.
    ResultPicture = "result_picture",
    /// It says how large its window is.
    Window = "window",
}

/// What became of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Good,
    /// It works another way, which the wire has learnt.
    Adapted,
    /// It does not work; what depends on it will not either.
    Bad,
    /// The server did its part, and the model did not do what it was asked: another model at this server may.
    Weak,
    /// It was asked, and nothing came that says anything about it: the server was silent, gone or overloaded.
    Unclear,
    /// It was not asked: something before it failed, or the model is not said to have it.
    Skipped,
}

impl Verdict {
    /// Returns the word of the report in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Adapted => "adapted",
            Self::Bad => "bad",
            Self::Weak => "weak",
            Self::Unclear => "unclear",
            Self::Skipped => "skipped",
        }
    }
}

/// What one probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub probe: Probe,
    /// What became of it.
    pub verdict: Verdict,
    /// What was seen, in English and in the server's words.
    pub detail: String,
}

/// What an examination found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examination {
    /// All probes, in order.
    pub findings: Vec<Finding>,
    /// What the wire has learnt: see [`crate::provider::Provider::learnt`].
    pub profile: Vec<String>,
}
