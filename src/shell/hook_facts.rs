//! What a hook tells about itself in `AXI_HOOK`: words with a space between, `-` for nothing.

/// What a loaded hook is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFacts {
    /// The shell's name.
    pub shell: String,
    /// Its version.
    pub version: String,
    /// The key, if it has one, such as `ctrl-g`.
    pub key: Option<String>,
    /// Whose the key is.
    pub state: KeyState,
    /// Plugins that were loaded before the hook.
    pub before: Vec<String>,
    /// Plugins that were loaded after it.
    pub after: Vec<String>,
}

/// Whose the key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyState {
    /// axi's.
    Bound,
    /// Somebody else's: this binding was there and was left alone.
    Taken(String),
    /// Nobody's: this variable of the shell, which the hook sets, is readonly.
    Locked(String),
    /// Nobody's: the shell reads its lines without this library, and the hook needs it.
    Lacking(String),
    /// Nobody's: the hook was asked to bind none.
    Unbound,
}

/// The functions that plugins are known by in a shell, and what people call them.
const PLUGINS: &[(&str, &str)] = &[
    ("_zsh_autosuggest_start", "zsh-autosuggestions"),
    ("_zsh_highlight", "zsh-syntax-highlighting"),
    ("omz", "oh-my-zsh"),
    ("p10k", "powerlevel10k"),
    ("zvm_init", "zsh-vi-mode"),
    ("starship_precmd", "starship"),
    ("prompt_starship_precmd", "starship"),
    ("_atuin_precmd", "atuin"),
    ("__atuin_history", "atuin"),
    ("fzf-history-widget", "fzf"),
    ("__fzf_history__", "fzf"),
    ("_direnv_hook", "direnv"),
    ("_navi_widget", "navi"),
    ("__zoxide_hook", "zoxide"),
    ("_zoxide_hook", "zoxide"),
    ("ble/util/assign", "ble.sh"),
    ("__bp_install", "bash-preexec"),
    ("__direnv_export_eval", "direnv"),
    ("_atuin_preexec", "atuin"),
    ("enable_transience", "starship"),
];

impl HookFacts {
    /// Reads `AXI_HOOK`: format, shell, version, key, state, owner, functions of plugins before, of all plugins. `None` when it is
    /// none of ours, or one of a format to come.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        if words.next() != Some("1") {
            return None;
        }
        let mut word = || words.next().filter(|word| !word.is_empty());
        let (shell, version) = (word()?.to_owned(), word()?.to_owned());
        let key = word().filter(|key| *key != "-").map(str::to_owned);
        let state = match word()? {
            "bound" => KeyState::Bound,
            "taken" => KeyState::Taken(word()?.to_owned()),
            "readonly" => KeyState::Locked(word()?.to_owned()),
            "lacks" => KeyState::Lacking(word()?.to_owned()),
            "none" => KeyState::Unbound,
            _ => return None,
        };
        if matches!(state, KeyState::Bound | KeyState::Unbound) {
            word();
        }
        let mut list = || -> Vec<String> {
            let names = word().unwrap_or_default().split([',', ':']);
            let known =
                |name: &str| PLUGINS.iter().find(|(function, _)| *function == name).map(|(_, plugin)| *plugin);
            names.filter_map(known).map(str::to_owned).collect()
        };
        let before = list();
        let after = list().into_iter().filter(|name| !before.contains(name)).collect();
        Some(Self { shell, version, key, state, before, after })
    }
}
