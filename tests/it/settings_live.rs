//! `/settings`: what holds and where it comes from, changed by a menu; and settings that change while axi runs.

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi};

const SETTINGS: &str = "# mine\ntheme = \"dark\" # at night\n\n[providers.lab]\nbase_url = \"http://127.0.0.1:1/v1\"\n\
                        headers = { auth = \"odd-token-5120\" }\n";

fn read(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("config/axi/config.toml")).unwrap()
}

#[test]
fn each_setting_is_listed_with_what_holds_and_where_it_comes_from() {
    let home = Home::new();
    home.write("config/axi/config.toml", SETTINGS);
    home.write("work/.axi/config.toml", "max_steps = 7\nwrap = \"soft\"\n");
    let server = Server::start([]);
    let mut command = axi(&home, &server);
    command.args(["--budget", "2"]);
    let mut person = Person::on(Pty::options().size(120, 60), &command);
    person.sends("/settings list");
    for row in [
        "\"openai/any\" · environment, AXI_MODEL",
        "\"dark\" · ~/config/axi/config.toml:2",
        "\"soft\" · project, ~/work/.axi/config.toml:2",
        "7 · project, ~/work/.axi/config.toml:1",
        "2 · flag, --budget",
        "\"emacs\" · default",
        "providers.lab.base_url",
        "set; it may be a secret and is not shown",
    ] {
        person.sees(row);
    }
    assert_eq!(person.count("odd-token-5120"), 0);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_setting_is_changed_by_a_menu_at_once_and_the_comments_stay() {
    let home = Home::new();
    home.write("config/axi/config.toml", SETTINGS);
    let server = Server::start([]);
    let mut person = Person::on(Pty::options().size(140, 50), &axi(&home, &server));
    person.sends("/settings");
    person.sees("which setting");
    person.types("theme");
    person.sees_choice("theme ");
    person.types("\r");
    person.sees("Which colours are used.");
    person.sees_choice("auto");
    person.types("4");
    person.sees("theme = plain, kept in ~/config/axi/config.toml");
    person.sees_prompt();
    assert_eq!(read(&home), SETTINGS.replace("\"dark\"", "\"plain\""));
    person.sends("/settings theme unset");
    person.sees("theme is no longer set");
    person.sees_prompt();
    assert_eq!(read(&home), SETTINGS.replace("theme = \"dark\"", "# theme = \"plain\""));
    person.sends("/settings theme list");
    person.sees("theme cannot be \"list\"");
    person.sends("/settings max_steps 0");
    person.sees("a number from 1 to 100000");
    person.sends("/settings teme");
    person.sees("did you mean theme?");
    person.sends("/settings model openai/other");
    person.sees("the value that holds comes from elsewhere: environment, AXI_MODEL");
    person.sends("/settings edit_mode vi");
    person.sees("a change takes effect at the next start");
    person.sees_prompt();
    assert!(read(&home).contains("edit_mode = \"vi\"\n"), "{}", read(&home));
    assert!(!read(&home).contains("max_steps"), "what cannot be is not written");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_file_that_changes_holds_from_the_next_turn_on_and_a_broken_one_changes_nothing() {
    let home = Home::new();
    let touch = r#"{"command":"touch made.txt"}"#;
    let server = Server::start([
        answer::chat_text("one"),
        answer::chat_text("two"),
        answer::chat_call("call_1", "shell", touch),
        answer::chat_text("three"),
    ]);
    let section = format!("[providers.lab]\nbase_url = \"{}\"\n", server.url("/v1"));
    home.write("config/axi/config.toml", &format!("model = \"lab/a\"\n{section}"));
    let mut command = axi(&home, &server);
    command.env_remove("AXI_MODEL");
    let mut person = Person::on(Pty::options().size(100, 50), &command);
    person.sends("first");
    person.sees("one");
    person.sees_prompt();
    home.write("config/axi/config.toml", "model = [broken\n");
    person.sends("second");
    person.sees("the settings from before still hold");
    person.sees("two");
    person.sees_prompt();
    let rules = "[permissions]\ndeny = [\"shell(touch:*)\"]\n";
    home.write(
        "config/axi/config.toml",
        &format!("model = \"lab/b\"\nedit_mode = \"vi\"\nwrap = \"never\"\n{rules}{section}"),
    );
    person.sends("third");
    person.sees("the settings have changed: model, permissions.deny");
    person.sees("from the next start: edit_mode");
    person.sees("wrap cannot be \"never\"");
    person.sees("three");
    person.sees_prompt();
    let models: Vec<_> = server.requests().iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(models, ["a", "a", "b", "b"]);
    assert!(!home.work().join("made.txt").exists(), "the new rule denies it");
    assert_eq!(person.leaves(), Some(0));
}
