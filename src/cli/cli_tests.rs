use std::collections::BTreeSet;

use super::*;

fn read(line: &str) -> Result<Invocation, UsageError> {
    let arguments = std::iter::once("axi").chain(line.split_whitespace()).map(OsString::from).collect();
    parse(arguments, &|_| "x")
}

fn run(line: &str) -> RunOptions {
    match read(line) {
        Ok(Invocation::Run(options)) => *options,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_shape_is_sound() {
    shape::whole(&|_| "x").debug_assert();
}

#[test]
fn a_conversation_is_read_as_the_whole_shape_reads_it() {
    let whole = shape::whole(&|_| "x");
    let names: BTreeSet<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
    assert_eq!(names, shape::COMMANDS.iter().copied().collect());
    for line in
        ["", "why", "-p -- -x --help", "-m a/b -y what is this", "-c --cwd render", "-r", "-r abc say it", "-p man"]
    {
        let arguments = std::iter::once("axi").chain(line.split_whitespace());
        let matches = whole.clone().try_get_matches_from(arguments).unwrap();
        assert_eq!(read(line), Ok(interpret(&matches)), "{line}");
    }
}

#[test]
fn of_an_option_that_stands_twice_the_last_one_holds() {
    let options = run("-p -m a/b -y --color never -m c/d -y --color always --max-steps 3 --max-steps 4");
    assert_eq!((options.model.as_deref(), options.max_steps, options.yes), (Some("c/d"), Some(4), true));
    assert_eq!(options.common.color, ColorChoice::Always);
    let options = run("--allow read --allow grep");
    assert_eq!(options.allow, ["read", "grep"]);
    assert_eq!(read("--cwd a sessions --cwd b"), read("sessions --cwd b"));
}

#[test]
fn only_what_a_person_runs_is_offered() {
    let mut offered = command(&|_| "x");
    for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut offered, "axi", &mut text);
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("recall"));
        for hidden in ["handoff", "--also", "--ask", "--no-network", "--inside", "--keys"] {
            assert!(!text.contains(hidden), "{shell}: {hidden}");
        }
    }
}

#[test]
fn help_is_shown_and_not_asked_for() {
    for (line, same) in [("help", "--help"), ("help sessions", "sessions --help"), ("help try", "try --help")] {
        assert_eq!(read(line), read(same), "{line}");
        assert!(matches!(read(line), Ok(Invocation::Print(_))), "{line}");
    }
    for line in ["help me", "help sessions die", "-p help", "please help"] {
        assert!(matches!(read(line), Ok(Invocation::Run(_))), "{line}");
    }
}

#[test]
fn words_become_one_message() {
    let expected = RunOptions { message: Some("what is this?".into()), ..RunOptions::default() };
    assert_eq!(run("what is this?"), expected);
}

#[test]
fn print_mode_takes_its_options_before_or_after_the_message() {
    let expected = RunOptions {
        message: Some("why".into()),
        print: true,
        output: Output::StreamJson,
        model: Some("openai/x".into()),
        yes: true,
        allow: vec!["shell(ls)".into(), "write".into()],
        max_steps: Some(3),
        ..RunOptions::default()
    };
    let options = "-p --output stream-json -m openai/x -y --allow shell(ls) --allow write --max-steps 3";
    assert_eq!(run(&format!("{options} why")), expected);
    assert_eq!(run(&format!("why {options}")), expected);
}

#[test]
fn resuming_takes_an_id_or_none() {
    assert_eq!(run("-r").resume, Some(None));
    assert_eq!(run("--resume 2026").resume, Some(Some("2026".into())));
    assert!(run("-c").resume_last);
    let conflict =
        |argument: &str| UsageError { fault: UsageFault::Conflict, argument: argument.into(), suggestion: None };
    assert_eq!(read("-c -r"), Err(conflict("--continue, --resume [<ID>]")));
}

#[test]
fn wrong_usage_is_named() {
    let faults: Vec<Option<UsageFault>> = ["--nope", "--output xml", "--max-steps 0", "login", "-m", "replay"]
        .map(|line| read(line).err().map(|error| error.fault))
        .to_vec();
    assert_eq!(
        faults,
        [
            Some(UsageFault::Unknown),
            Some(UsageFault::InvalidValue),
            Some(UsageFault::InvalidValue),
            Some(UsageFault::Missing),
            Some(UsageFault::MissingValue),
            Some(UsageFault::Missing)
        ]
    );
}

#[test]
fn of_several_values_none_is_said_to_be_meant() {
    let suggestion = |line: &str| read(line).unwrap_err().suggestion;
    let all = ["text", "json", "stream-json"].map(str::to_owned).to_vec();
    assert_eq!(suggestion("--output xml"), Some(Suggestion::OneOf(all)));
    assert_eq!(suggestion("--output jsom"), Some(Suggestion::Meant("json".into())));
    assert_eq!(suggestion("--outptu json"), Some(Suggestion::Meant("--output".into())));
}

#[test]
fn a_command_behind_options_of_a_conversation_is_not_sent_to_the_model() {
    for (line, command) in [
        ("-m a/b mcp list", "mcp list"),
        ("-y config check", "config check"),
        ("--lang ja -m a/b doctor", "doctor"),
        ("mcp list", ""),
        ("--lang ja mcp list", ""),
        // No command takes these words, or it is plainly a message.
        ("-m a/b config is odd here", "-"),
        ("-y try to mend it", "-"),
        ("-m a/b -p mcp list", "-"),
        ("-m a/b -- mcp list", "-"),
        ("-m a/b list mcp", "-"),
    ] {
        match (read(line), command) {
            (Ok(Invocation::Mcp { .. }), "") | (Ok(Invocation::Run(_)), "-") => {}
            (Err(error), command) => {
                assert_eq!((error.fault, error.argument.as_str()), (UsageFault::BehindOptions, command), "{line}");
            }
            (other, _) => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn an_argument_that_is_no_text_is_named() {
    let odd = <OsString as std::os::unix::ffi::OsStringExt>::from_vec(b"a\xffb".to_vec());
    let read = |first: &str| parse(vec!["axi".into(), first.into(), odd.clone()], &|_| "x");
    let expected = UsageError { fault: UsageFault::NoText, argument: r#""a\xFFb""#.into(), suggestion: None };
    assert_eq!(read("-p"), Err(expected));
    // A path may have any bytes.
    assert!(matches!(read("render"), Ok(Invocation::Render(_))));
}

#[test]
fn the_language_is_found_before_anything_is_parsed() {
    let flag = |line: &str| language_flag(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
    assert_eq!(flag("axi --lang zh-CN --nope"), Some("zh-CN".into()));
    assert_eq!(flag("axi --lang=en"), Some("en".into()));
    assert_eq!(flag("axi -- --lang=en"), None);
}

#[test]
fn subcommands_are_not_messages() {
    assert_eq!(read("models ollama"), Ok(Invocation::Models { provider: Some("ollama".into()), json: false }));
    let sessions = |action, json| Ok(Invocation::Sessions(SessionsOptions { action, json }));
    assert_eq!(read("sessions show 12"), sessions(SessionsAction::Show("12".into()), false));
    assert_eq!(read("sessions --json"), sessions(SessionsAction::List { origin: None }, true));
    assert_eq!(read("sessions search a b --json"), sessions(SessionsAction::Search("a b".into()), true));
    let export = SessionsAction::Export { id: "12".into(), form: "html".into() };
    assert_eq!(read("sessions export 12 --as html"), sessions(export, false));
    assert_eq!(read("config"), Ok(Invocation::Config(ConfigAction::Show)));
    assert_eq!(read("handoff"), Ok(Invocation::Handoff(HandoffKind::Job)));
    let tried = TryOptions {
        command: ["rm", "-r", "--json", "a"].map(OsString::from).to_vec(),
        output: TryOutput::Json,
        apply: true,
        ..TryOptions::default()
    };
    assert_eq!(read("try --apply --json -- rm -r --json a"), Ok(Invocation::Try(tried)));
    for wrong in ["try", "try --json", "try rm a", "try --json --patch -- rm a"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    assert_eq!(read("handoff --rewrite"), Ok(Invocation::Handoff(HandoffKind::Rewrite)));
    assert!(matches!(read("--help"), Ok(Invocation::Print(help)) if !help.contains("handoff")));
    let expected = RenderOptions { file: Some("a.md".into()), width: Some(40), ..RenderOptions::default() };
    assert_eq!(read("render a.md --width 40"), Ok(Invocation::Render(expected)));
}

#[test]
fn a_command_is_one_behind_the_options_that_all_commands_take() {
    let all = ["--lang zh-CN", "--lang=ja", "-v", "-vv --color never", "--linear", "--cwd /tmp --verbose"];
    for (options, line) in all.iter().flat_map(|options| {
        [
            "sessions delete X",
            "sessions delete X --yes",
            "sessions search a b",
            "models ollama",
            "config path",
            "recall x -- -y",
        ]
        .map(|line| (options, line))
    }) {
        assert_eq!(read(&format!("{options} {line}")), read(line), "{options} {line}");
    }
    // As words of a message, as a value, behind an option of conversations, behind the mark that ends the options.
    for (line, message) in [
        ("--lang ja delete my sessions", Some("delete my sessions")),
        ("--cwd sessions", None),
        ("-p man", Some("man")),
        ("-v -p sessions", Some("sessions")),
        ("--lang ja -- sessions", Some("sessions")),
    ] {
        assert_eq!(run(line).message.as_deref(), message, "{line}");
    }
}

#[test]
fn a_hook_is_asked_for_with_a_key_or_without_any() {
    let init = |key: Option<&str>, no_bind| InitOptions {
        shell: "zsh".into(),
        key: key.map(str::to_owned),
        no_bind,
        keep: false,
        keys: None,
    };
    assert_eq!(read("init zsh"), Ok(Invocation::Init(init(None, false))));
    assert_eq!(read("init zsh --key alt-i"), Ok(Invocation::Init(init(Some("alt-i"), false))));
    assert_eq!(read("init zsh --no-bind"), Ok(Invocation::Init(init(None, true))));
    let kept = InitOptions { keep: true, ..init(None, false) };
    assert_eq!(read("init zsh --keep"), Ok(Invocation::Init(kept)));
    let keys = InitOptions { keys: Some("2".into()), ..init(None, false) };
    assert_eq!(read("init zsh --keys 2"), Ok(Invocation::Init(keys)));
    let wrong = ["init", "init tcsh", "init zsh --key x --no-bind"];
    let faults = wrong.map(|line| read(line).err().map(|error| error.fault));
    assert_eq!(faults, [Some(UsageFault::Missing), Some(UsageFault::InvalidValue), Some(UsageFault::Conflict)]);
}
