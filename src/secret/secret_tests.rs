use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

/// Kinds of secrets, as commands and outputs have them.
const CORPUS: &str = include_str!("corpus.txt");

/// What stands for the secret: as people choose and as programs make them.
const VALUES: &[&str] = &["hunter22", "Canary9tZ4", "qX7-vR2_kL9mN4pQ8sT1"];

/// Where it stands: in a line alone, in an output, a script, a function of each shell, a log.
const PLACES: &[fn(&str) -> String] = &[
    |line| line.to_owned(),
    |line| format!("make: Entering directory\n{line}\nmake: *** [all] Error 2\n"),
    |line| format!("$ {line}"),
    |line| format!("deploy () {{\n\t{line}\n}}"),
    |line| format!("function deploy\n    {line}\nend"),
    |line| format!("cd /srv && {line}"),
    |line| format!("+ {line}\r\n"),
];

fn kinds() -> impl Iterator<Item = &'static str> {
    CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// A kind with a value in it, which stands where a word begins with a capital X.
fn filled(kind: &str, value: &str) -> String {
    let mut filled = String::new();
    let mut before = ' ';
    for (at, letter) in kind.char_indices() {
        let next = kind[at..].chars().nth(1);
        let header =
            letter == 'X' && next == Some('-') && !before.is_ascii_alphanumeric() && kind[at..].contains(": ")
                || kind[at..].starts_with("X-Amz");
        if letter == 'X' && !header {
            filled.push_str(value);
        } else {
            filled.push(letter);
        }
        before = letter;
    }
    filled
}

fn leaks(level: Level) -> (usize, Vec<String>) {
    let mut leaks = Vec::new();
    let mut count = 0;
    for kind in kinds() {
        for value in VALUES {
            for (place, put) in PLACES.iter().enumerate() {
                // These are lines of files, with nothing before them.
                let of_file =
                    kind.starts_with("\tpassword") || kind.contains(":*:") || kind.starts_with("localhost:");
                let is_config = kind.starts_with("requirepass") || kind.starts_with("masterauth");
                if (of_file || is_config) && matches!(place, 2 | 5 | 6) {
                    continue;
                }
                let text = put(&filled(kind, value));
                count += 1;
                if redact(&text, &Known::default(), level).0.contains(value) {
                    leaks.push(format!("{place}: {text}"));
                }
            }
        }
    }
    (count, leaks)
}

#[test]
fn nothing_of_the_corpus_is_sent() {
    assert!(kinds().count() >= 150, "{}", kinds().count());
    let (count, leaks) = leaks(Level::Sent);
    assert!(leaks.is_empty(), "{} of {count} leak:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn nothing_of_the_corpus_is_kept() {
    let (count, leaks) = leaks(Level::Kept);
    assert!(leaks.is_empty(), "{} of {count} leak:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn every_shape_is_known_at_every_level_and_behind_an_escape() {
    let body = "a1".repeat(20);
    for shape in issuers::SHAPES {
        for level in [Level::Repeated, Level::Kept, Level::Sent] {
            let text = format!("x {}{body} y", shape.start);
            let clean = redact(&text, &Known::default(), level).0;
            assert_eq!(clean, format!("x {MARK} y"), "{} {level:?}", shape.start);
        }
    }
    let letters = format!("use sk-{}", "abcdefghijklmnopqrstuv");
    assert_eq!(redact(&letters, &Known::default(), Level::Kept).0, format!("use {MARK}"));
    for before in ["\\n", "\\t", "\\\"", "\\u0022", "\\x1b", "x ", "=", ""] {
        let clean = redact(&format!("{before}sk-{body}"), &Known::default(), Level::Kept).0;
        assert_eq!(clean, format!("{before}{MARK}"));
    }
    let bot = format!("bot 123456789:AA{} end", "b1".repeat(16) + "c");
    assert_eq!(redact(&bot, &Known::default(), Level::Kept).0, format!("bot {MARK} end"));
}

#[test]
fn private_keys_go_from_their_first_line_to_their_last() {
    let body = "a1".repeat(20);
    for label in ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        for end in [format!("\n-----END {label}-----"), String::new()] {
            let text = format!("a -----BEGIN {label}-----\n{body}{body}\n{body}{end}: b");
            assert_eq!(redact(&text, &Known::default(), Level::Kept).0, format!("a {MARK}: b"), "{label}");
        }
    }
    let begun = "-----BEGIN RSA PRIVATE KEY-----\nabc";
    assert_eq!(redact(begun, &Known::default(), Level::Sent).0, MARK);
    for text in [
        "it begins with -----BEGIN RSA PRIVATE KEY----- and ends like that",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "-----BEGIN ",
    ] {
        assert_eq!(redact(text, &Known::default(), Level::Sent).0, text);
    }
}

#[test]
fn ordinary_text_stays_as_it_is() {
    for text in [
        "",
        "src/token.rs:3:5: error: unexpected token `}`",
        "error: expected one of `.` or an operator, found token",
        "password for root:",
        "tokens: 120",
        "max_tokens = 4096",
        "http://localhost:8080/a:b@c",
        "eyJust a word",
        "the secret is out",
        "make: *** [Makefile:2: secret.o] Error 1",
        "中文 password 中文",
        "why does my password reset not work?",
        "password: how do I reset it",
        "what is a bearer token",
        "basic usage of the tool",
        "rename task-list to risk-register in the docs",
        "psql \"$DATABASE_URL\" --password=$PGPASSWORD",
        "set token=<your token>",
        "see https://example.com/a@b:c",
        "git clone git@github.com:me/x.git",
        "git clone ssh://git@github.com/me/x.git",
        "设置密码的页面在哪里",
        "AKIA",
        "mysql -u root -p shop",
        "mysql -P 3307 -u root",
        "docker run -p 8080:80 nginx",
        "docker run -e TOKEN nginx",
        "curl -u me https://example.com",
        "curl -u \"$USER:$PASS\" https://example.com",
        "cd $PWD && OLDPWD=/tmp env",
        "PWD=/home/me/work",
        "mkdir -p src/deep && mysql --version",
        "the password is wrong, why?",
        "bypass=true make",
        "echo hello | sudo tee /etc/motd",
        "a-desk-with-a-long-name-that-is-no-key, brisk-walks-and-such-things",
        "docker login --password-stdin < file",
        "kubectl get secrets -n prod",
        "kubectl get secret db -o yaml",
        "token_type=bearer",
        "--token-file /run/t",
        "ls -la ~/.ssh",
        "12:30:45 me@host:~$ make",
        "test result: ok. 3 passed; 0 failed",
        "psql -U me -p 5432 shop",
        "docker run -u 1000 -p 8080:80 nginx",
        "sudo -u me mkdir -p build",
        "diff <(sort a) <(sort b)",
        "echo hello | git commit -F -",
        "the token is not valid any more",
        "the secret is in the file README2",
        "std::token::Kind password::hash",
        "the enclave is here: pass by",
        "if password == other {",
        "fn token(&self) -> Token {",
    ] {
        for level in [Level::Kept, Level::Sent] {
            assert_eq!(redact(text, &Known::default(), level).0, text, "{level:?}");
        }
    }
}

#[test]
fn code_is_kept_whole() {
    for text in [
        "let token = parser.next_token()?;",
        "    password: String,",
        "    pub(crate) secret: Option<Secret>,",
        "def login(user, password=None):",
        "connect(user=user, password=password)",
        "connect(user=user, password=db_password)",
        "token: &str,",
        "const { token } = await login();",
        "if (token === undefined) return;",
        "api_key = os.environ[\"API_KEY\"]",
        "password = getpass.getpass('Password: ')",
        "secret = Secret::new(text)",
        "let key = map.get(&id);",
        "PRIMARY KEY (id), FOREIGN KEY (user_id)",
        "sort_key: \"name\"",
        "msg: \"the token is not valid here\"",
    ] {
        assert_eq!(redact(text, &Known::default(), Level::Kept).0, text);
    }
}

#[test]
fn known_values_are_taken_out_whole() {
    let known = Known::new(["odd value here".to_owned(), "odd value here too".to_owned(), "short".to_owned()]);
    let clean = redact("a odd value here too, odd value here. short", &known, Level::Kept);
    assert_eq!(clean, (format!("a {MARK}, {MARK}. short"), 2));
    assert!(known.is_in("x odd value here"));
    assert_eq!(format!("{known:?}"), "Known(2)");
}

#[test]
fn a_value_that_is_known_is_found_with_the_escapes_of_json_and_without_a_line_s_end() {
    let known = Known::new(["we\"ird\\pass7".to_owned(), "two/three<four".to_owned(), "flamingo77q\n".to_owned()]);
    for (text, clean) in [
        (r#"{"note":"we\"ird\\pass7"}"#, r#"{"note":"[redacted]"}"#),
        (r#""we\"ird\\pass7""#, r#""[redacted]""#),
        (r#"{"note":"see two\/three\u003cfour"}"#, r#"{"note":"see [redacted]"}"#),
        ("it is flamingo77q.", "it is [redacted]."),
    ] {
        assert_eq!(redact(text, &known, Level::Kept).0, clean);
        let only_known = Kinds { known: true, shapes: false };
        let stand_ins = StandIns::new(known.clone(), only_known, Box::new(|| [7; 32]));
        let (hidden, _) = stand_ins.hide(text).expect(text);
        assert_eq!(stand_ins.reveal(&hidden).as_deref(), Ok(text));
    }
    let mut more = known.clone();
    more.add(["toucan55z\"x".to_owned()]);
    more.add(["toucan55z\"x".to_owned()]);
    assert_eq!(format!("{known:?} {more:?}"), "Known(4) Known(6)", "what is escaped is not escaped again");
}

#[test]
fn a_server_s_sentence_loses_keys_and_who_asked() {
    for (given, expected) in [
        ("Incorrect API key provided: sk-proj-abc123def456.", "Incorrect API key provided: [redacted]"),
        ("key sk-ab****************wxyz is bad", "key [redacted] is bad"),
        ("Authorization: Bearer abcdefgh refused", "Authorization: Bearer [redacted] refused"),
        (
            "Rate limit for org-Ab12Cd34Ef in organization org_2wT5ElBE4",
            "Rate limit for [redacted] in organization [redacted]",
        ),
        ("invalid token: expected a number", "invalid token: expected a number"),
    ] {
        assert_eq!(redact(given, &Known::default(), Level::Repeated).0, expected);
    }
}

/// Without an end for whoever looked at the rest of the line once more for each of them.
#[test]
fn a_long_line_of_nothing_but_names_is_looked_at_once() {
    for part in [
        "token ",
        "token",
        "token=",
        "token:[redacted]",
        "--token ",
        "://a:b@token",
        "eyJ.",
        "cookie: a\"",
        "set ",
        "mysql ",
        "echo x|",
        "password='",
        "curl -u ",
    ] {
        let text = part.repeat((1 << 16) / part.len()) + " password=hunter22 end";
        let (clean, _) = redact(&text, &Known::default(), Level::Sent);
        assert!(!clean.contains("hunter22"), "{part}");
    }
}

proptest! {
    #[test]
    fn what_was_clean_stays_so_and_nothing_panics(
        text in "([a-zé:=@/ '\"\\\\\\n.$|<>-]|token|password|://|eyJ|-----BEGIN PRIVATE KEY-----|-----END|密码是|mysql -p|echo |sudo -S)*",
    ) {
        for level in [Level::Repeated, Level::Kept, Level::Sent] {
            let (clean, _) = redact(&text, &Known::default(), level);
            let _ = redact(&clean, &Known::default(), level);
        }
    }
}

/// The texts in quotes of this room's own source, each once: every mark that is looked for is among them.
static MARKS_OF_SOURCE: LazyLock<Vec<String>> = LazyLock::new(|| {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/secret")).unwrap();
    let files =
        files.map(|file| file.unwrap().path()).filter(|path| !path.to_str().unwrap().ends_with("_tests.rs"));
    let sources = files.map(|path| std::fs::read_to_string(path).unwrap());
    let quoted = sources.flat_map(|text| {
        let lines = text.split("#[cfg(test)]").next().unwrap().lines().map(str::to_owned).collect::<Vec<_>>();
        lines.into_iter().flat_map(|line| line.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
    });
    quoted.filter(|mark| !mark.is_empty()).collect::<BTreeSet<_>>().into_iter().collect()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_letter_between_what_is_looked_for_makes_it_panic(
        pieces in prop::collection::vec((any::<prop::sample::Index>(), "[ \t'\"`<>*\u{a0}　密é😀İ\n]{0,2}"), 1..16),
    ) {
        let text: String =
            pieces.iter().flat_map(|(word, sign)| [word.get(&MARKS_OF_SOURCE).as_str(), sign.as_str()]).collect();
        for text in [text.to_uppercase(), text.to_lowercase(), text] {
            for level in [Level::Repeated, Level::Kept, Level::Sent] {
                let _ = redact(&text, &Known::default(), level);
            }
        }
    }
}

/// What has several bytes stands right before each of these.
#[test]
fn a_name_begins_behind_a_letter_of_several_bytes() {
    let numbers = (0..20).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let redacted = |text: &str| redact(text, &Known::default(), Level::Sent).0;
    assert_eq!(redacted(&format!("密key = [{numbers}]")), format!("密key = [{MARK}]"));
    assert_eq!(redacted("dsn\u{a0}me:hunter22@tcp(db:3306)/shop"), format!("dsn\u{a0}me:{MARK}@tcp(db:3306)/shop"));
}

#[test]
fn what_stands_in_is_found_no_second_time_and_is_turned_back_byte_for_byte() {
    let known = Known::new(["an-odd-value-7731".to_owned()]);
    let stand_ins = StandIns::new(known, Kinds { known: true, shapes: true }, Box::new(|| [7; 32]));
    let mut count = 0;
    for kind in kinds() {
        for value in VALUES {
            for put in PLACES {
                let text = put(&filled(kind, value));
                let Some((hidden, found)) = stand_ins.hide(&text) else { continue };
                count += found;
                assert_eq!(stand_ins.reveal(&hidden).as_deref(), Ok(text.as_str()), "{hidden}");
                assert_eq!(stand_ins.hide(&hidden), None, "{hidden}");
                assert_eq!(redact(&hidden, &Known::default(), Level::Kept).0, hidden);
            }
        }
    }
    assert!(count > 1_000, "{count}");
    let (hidden, _) = stand_ins.hide("x an-odd-value-7731 y").unwrap();
    assert!(hidden.starts_with("x AXI-HIDDEN-") && hidden.ends_with(" y"), "{hidden}");
    // Another key, other stand-ins; another axi with the same key and the same value knows it.
    let other =
        |key| StandIns::new(Known::new(["an-odd-value-7731".to_owned()]), Kinds { known: true, shapes: true }, key);
    assert_eq!(other(Box::new(|| [7; 32])).reveal(&hidden).as_deref(), Ok("x an-odd-value-7731 y"));
    assert!(other(Box::new(|| [8; 32])).reveal(&hidden).is_err());
    // What somebody else said stays hidden.
    let both =
        stand_ins.hide("a Zk3v9Qm1x7Lp2Rt8 is the password: hunter22x").map_or(hidden.clone(), |(both, _)| both);
    let two = format!("{hidden} {both}");
    let said = stand_ins.reveal_said(&two, "put an-odd-value-7731 there");
    assert!(said.starts_with("x an-odd-value-7731 y ") && !said.contains("hunter22x"), "{said}");
    assert_eq!(stand_ins.reveal_said(&two, "nothing"), two);
    assert_eq!(stand_ins.reveal_said("AXI-HIDDEN-0123456789 AXI-HIDDEN-", ""), "AXI-HIDDEN-0123456789 AXI-HIDDEN-");
    let off = StandIns::none();
    assert_eq!(off.hide("x an-odd-value-7731 sk-a1a1a1a1a1a1a1a1a1a1"), None);
}
