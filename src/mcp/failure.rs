//! Why a server is of no use just now.

use serde::Serialize;

/// What went wrong with a server, or with one request to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// Its program could not be started.
    #[error("it could not be started: {cause}")]
    NotStarted {
        /// What the system said.
        cause: String,
    },
    /// A variable that its definition names is not set, or is not given to it.
    #[error("its definition needs the variable {variable}, which is not set or not given to it")]
    Unset {
        /// The name.
        variable: String,
    },
    /// Its address cannot be reached.
    #[error("it cannot be reached: {cause}")]
    Unreached {
        /// What the system said.
        cause: String,
    },
    /// It answered with a status of HTTP that says no more.
    #[error("it answered with HTTP {status}")]
    Status {
        /// The status.
        status: u16,
    },
    /// It wants to know who asks.
    #[error("it wants the user to sign in")]
    SignIn,
    /// It does not take the `Authorization` that its definition has.
    #[error("it does not take the Authorization header of its definition")]
    KeyRefused,
    /// It ended.
    #[error("it ended{}{}", code.map(|code| format!(" with exit code {code}")).unwrap_or_default(),
        if said.is_empty() { String::new() } else { format!(": {said}") })]
    Ended {
        /// Its exit code, if it is known.
        code: Option<i32>,
        /// The last line of its standard error, without secrets.
        said: String,
    },
    /// It did not answer in time.
    #[error("it did not answer within {seconds} s")]
    Slow {
        /// How long it had.
        seconds: u64,
    },
    /// It answered with more than is taken.
    #[error("its answer is larger than {megabytes} MB and was discarded")]
    TooLarge {
        /// The most, in MB.
        megabytes: u64,
    },
    /// What it prints is not the protocol.
    #[error("what it prints is not the Model Context Protocol")]
    NotMcp,
    /// It said no.
    #[error("it answered with error {code}: {message}")]
    Refused {
        /// Of JSON-RPC.
        code: i64,
        /// Its words.
        message: String,
    },
    /// It has no such tool any more.
    #[error("it has no tool of this name any more")]
    NoSuchTool,
    /// It has no such prompt.
    #[error("it has no prompt of this name")]
    NoSuchPrompt,
    /// It gave up the task that it made of the call.
    #[error("it cancelled the task it made of the call")]
    Cancelled,
    /// The person has not agreed to it.
    #[error("the user has not agreed to it")]
    NotAgreed,
    /// The person switched it off.
    #[error("it is switched off")]
    Off,
    /// It failed so often that it is left alone for a while.
    #[error("it failed {times} times and is left alone for {seconds} s")]
    Resting {
        /// How often.
        times: u32,
        /// For how long yet.
        seconds: u64,
    },
}
