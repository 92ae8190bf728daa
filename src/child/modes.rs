//! The first arguments by which `main` knows a hidden mode. Data only.

/// Starts the rest of the arguments as another axi, and stays beside it until nothing it started is left.
pub const ADOPT: &str = "__adopt";
/// The same, of a program whose standard error is its own and not its output's.
pub const ADOPT_APART: &str = "__adopt_apart";
/// As [`ADOPT_APART`], of a person's own command, which gets their terminal.
pub const ADOPT_HERE: &str = "__adopt_here";
/// Leaves the terminal and becomes the program behind it.
pub const PLAIN: &str = "__child";
/// The same, held to the confinement behind it.
pub const CONFINED: &str = "__confined";
/// Becomes the program behind it, held to the confinement behind it, on the terminal that there is.
pub const CONFINED_HERE: &str = "__confined_here";
/// Becomes the program behind it, with standard input as its controlling terminal.
pub const TERMINAL: &str = "__terminal";
/// Keeps a command away from a terminal of its own until that is lent to it.
pub const KEEPER: &str = "__keeper";
/// How many arguments a keeper takes before those of what it runs: its own, a mode, a terminal and a program.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux has layers and filters before a command")
)]
pub(crate) const KEEPER_ARGUMENTS: usize = 4;
/// Puts a process group into the foreground of the controlling terminal; the keeper starts it.
pub(crate) const FRONT: &str = "__front";
/// Starts the rest of the arguments in a trial.
pub const TRIAL: &str = "__trial";
/// Starts the rest of the arguments as another axi, for which it lays the layers of trials.
#[cfg(target_os = "linux")]
pub const TRIES: &str = "__tries";
/// Is the first process of a trial; the one before starts it.
#[cfg(target_os = "linux")]
pub(crate) const TRIAL_FIRST: &str = "__trial_first";
