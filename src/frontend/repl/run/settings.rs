//! What a REPL does when its settings have changed on the disk.

use crate::agent::Agent;
use crate::command::Problem;
use crate::frontend::dialog::Terminal;
use crate::frontend::human::Looks;
use crate::frontend::repl::menu::MenuLists;
use crate::locale::Locale;

/// Reads the settings again where their files have changed, has the agent work by them, and says what else has to.
pub type ReloadSettings = Box<dyn FnMut(&mut Agent, &Locale) -> Option<Reloaded>>;

/// Sets up again with the person at this terminal; gives the model that was chosen, if one was.
pub type SetUpAgain = Box<dyn Fn(&Terminal, &Locale) -> Result<Option<String>, Problem>>;

/// Settings that were read again.
#[derive(Default)]
pub struct Reloaded {
    /// Why they do not hold, or the model they name cannot be asked.
    pub problem: Option<Problem>,
    /// What was left out of them.
    pub warnings: Vec<String>,
    /// What has changed.
    pub said: Vec<String>,
    /// How everything looks from now on.
    pub looks: Option<Looks>,
    /// The language from now on.
    pub language: Option<&'static str>,
    /// What the slash menu lists from now on.
    pub lists: Option<MenuLists>,
}
