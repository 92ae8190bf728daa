use super::*;

fn settings() -> Settings<'static> {
    Settings { program: "it's axi", ..Settings::default() }
}

/// What is in front of the hook.
fn preamble(name: &str, settings: &Settings<'_>) -> String {
    let shell = find(name).unwrap();
    let text = shell.hook(settings);
    let (before, head) =
        text.strip_suffix(&shell.dialect.bare(shell.hook)).unwrap().split_once("# axi in ").unwrap();
    assert!(head.starts_with(&format!("{name}: ")) && head.contains("To uninstall, remove"), "{head}");
    before.to_owned()
}

#[test]
fn settings_stand_in_front_of_the_hook_in_each_shells_own_words() {
    assert_eq!(
        preamble("zsh", &settings()),
        "_axi_program='it'\\''s axi'\n_axi_key='^g'\n_axi_key_name='ctrl-g'\n_axi_rewrite_keys=('^[g' '^x^g')\n\
         _axi_chosen=''\n"
    );
    assert_eq!(
        preamble("bash", &settings()),
        "__axi_program='it'\\''s axi'\n__axi_key='\\C-g'\n__axi_key_name='ctrl-g'\n\
         __axi_rewrite_keys=('\\eg' '\\C-x\\C-g')\n__axi_chosen=''\n"
    );
    assert_eq!(
        preamble("fish", &settings()),
        "set -g __axi_program 'it\\'s axi'\nset -g __axi_key \\cg\nset -g __axi_key_name 'ctrl-g'\n\
         set -g __axi_rewrite_keys \\eg\nset -g __axi_chosen ''\n"
    );
    let words = [("long", "it's\u{2019}s".to_owned())];
    let settings = Settings { words: &words, ..settings() };
    assert_eq!(
        preamble("nu", &settings),
        "const __axi_program = r#'it's axi'#\nconst __axi_key = 'control char_g'\nconst __axi_key_name = 'ctrl-g'\n\
         const __axi_chosen = ''\nconst __axi_words_long = r#'it's\u{2019}s'#\n"
    );
    assert_eq!(
        preamble("powershell", &settings),
        "$global:__axi_program = 'it''s axi'\n$global:__axi_key = 'Ctrl+g'\n$global:__axi_key_name = 'ctrl-g'\n\
         $global:__axi_chosen = ''\n$global:__axi_words_long = 'it''s\u{2019}\u{2019}s'\n"
    );
    assert_eq!(
        preamble("xonsh", &settings),
        "_axi_program = 'it\\'s axi'\n_axi_key = 'c-g'\n_axi_key_name = 'ctrl-g'\n_axi_chosen = ''\n\
         _axi_words_long = 'it\\'s\u{2019}s'\n"
    );
    assert_eq!(
        preamble("elvish", &settings),
        "var __axi-program = 'it''s axi'\nvar __axi-key = 'Ctrl-g'\nvar __axi-key-name = 'ctrl-g'\n\
         var __axi-chosen = ''\nvar __axi-words-long = 'it''s\u{2019}s'\n"
    );
}

#[test]
fn what_the_keys_run_is_asked_for_by_its_version_and_has_its_words_in_front() {
    for shell in SHELLS.iter().filter(|shell| !shell.keys.is_empty()) {
        assert!(shell.hook.contains(&format!(" init {} --keys {HOOK_VERSION} ", shell.name)), "{}", shell.name);
        let text = shell.keys(&[("taken", "it's \\ {owner}".into())]);
        let (words, rest) = text.split_once('\n').unwrap();
        assert!(words.contains("axi_words_taken") && words.contains("{owner}'"), "{words}");
        assert_eq!(rest, shell.dialect.bare(shell.keys));
    }
}

#[test]
fn a_chosen_key_is_taken_from_the_rewrite_and_no_bind_binds_nothing() {
    let chosen = Settings { key: Key::parse("M-g").ok(), ..settings() };
    let zsh = preamble("zsh", &chosen);
    assert!(zsh.contains("_axi_key='^[g'\n") && zsh.contains("_axi_rewrite_keys=('^x^g')\n"), "{zsh}");
    assert!(zsh.contains("_axi_chosen=1\n"), "{zsh}");
    let none = Settings { no_bind: true, ..settings() };
    assert!(preamble("fish", &none).contains("set -g __axi_key \n"));
    assert!(
        preamble("xonsh", &none).starts_with("_axi_program = 'it\\'s axi'\n_axi_key = ''\n_axi_key_name = '-'\n")
    );
    let chord = Settings { key: Key::parse("ctrl-x ctrl-a").ok(), ..settings() };
    assert!(preamble("powershell", &chord).contains("_key = 'Ctrl+x,Ctrl+a'\n"));
    assert!(
        preamble("xonsh", &chord)
            .contains("_key = 'c-x c-a'\n_axi_key_name = 'ctrl-x,ctrl-a'\n_axi_chosen = '1'\n")
    );
    // These know no chords.
    assert!(preamble("nu", &chord).contains("_key = ''\n") && preamble("elvish", &chord).contains("-key = ''\n"));
}

#[test]
fn a_shell_is_found_by_the_name_of_its_program_too() {
    assert_eq!(find("pwsh").map(|shell| shell.name), Some("powershell"));
    assert!(find("tcsh").is_none());
}

#[test]
fn keys_are_read_as_people_write_them() {
    let name = |text: &str| Key::parse(text).map(|key| key.name());
    for text in ["ctrl-g", "Ctrl+G", "C-g", "^G"] {
        assert_eq!(name(text), Ok("ctrl-g".into()), "{text}");
    }
    assert_eq!(name("alt-i"), Ok("alt-i".into()));
    assert_eq!(name("ctrl-x ctrl-a"), Ok("ctrl-x,ctrl-a".into()));
    assert_eq!(name("ctrl-x,a"), Ok("ctrl-x,a".into()));
    for text in ["g", "?", "ctrl-c", "ctrl-m", "^I", "Ctrl+Z"] {
        assert!(name(text).is_err(), "{text}");
    }
    for text in ["", "ctrl-", "ctrl-gg", "ctrl-'", "alt-g alt-g alt-g", "alt-$(x)", "f5"] {
        assert_eq!(name(text), Err(KeyError::Unreadable), "{text}");
    }
}

#[test]
fn what_a_hook_tells_is_read_and_anything_else_is_nothing() {
    let read = HookFacts::parse(
        "1 zsh 5.9 ctrl-g taken _navi_widget fzf-history-widget,p10k,x fzf-history-widget,p10k,_zsh_autosuggest_start",
    );
    let expected = HookFacts {
        shell: "zsh".into(),
        version: "5.9".into(),
        key: Some("ctrl-g".into()),
        state: KeyState::Taken("_navi_widget".into()),
        before: vec!["fzf".into(), "powerlevel10k".into()],
        after: vec!["zsh-autosuggestions".into()],
    };
    assert_eq!(read, Some(expected));
    let bare = HookFacts::parse("1 fish 3.6.0 - none -").unwrap();
    assert_eq!((bare.key, bare.state, bare.before.len()), (None, KeyState::Unbound, 0));
    let locked = HookFacts::parse("1 bash 5.2 ctrl-g readonly PS0 - -").unwrap();
    assert_eq!(locked.state, KeyState::Locked("PS0".into()));
    let lacking = HookFacts::parse("1 xonsh 0.25.0 ctrl-g lacks prompt_toolkit - -").unwrap();
    assert_eq!(lacking.state, KeyState::Lacking("prompt_toolkit".into()));
    for text in ["", "2 zsh 5.9 ctrl-g bound -", "1 zsh", "1 zsh 5.9 ctrl-g sold x"] {
        assert_eq!(HookFacts::parse(text), None, "{text}");
    }
}
