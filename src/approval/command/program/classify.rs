//! One command against the tables: what it does at most, what it prints, what is different after it.

use super::super::judgement::Action;
use super::super::known::is_secret_name;
use super::super::known::{Chunk, PathPattern, Value};
use super::super::read::looks_destructive;
use super::call::{Call, Field, Finding, Input, Touched};
use super::table::{self, PROGRAMS, READERS, Reads, SUBS};
use super::{awk, effects, git, help, inline, sed, special};
use crate::approval::path::is_credential;
use crate::approval::{Class, NeverAuto, Unparsed};

/// Interpreters of other languages, and what can hide in their arguments.
const INTERPRETERS: &[&str] = &[
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "Rscript",
    "R",
    "tclsh",
    "expect",
    "osascript",
    "pwsh",
    "powershell",
    "fish",
    "nu",
    "elvish",
    "ghci",
    "scala",
    "groovy",
    "julia",
    "irb",
    "swift",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "sed",
    "gsed",
    "vim",
    "nvim",
    "vi",
    "ex",
    "ed",
    "emacs",
    "gdb",
    "lldb",
    "jshell",
    "csh",
    "tcsh",
];

/// Programs that run what is written to their input, now or later.
const RUNS_INPUT: &[&str] = &["make", "gmake", "crontab", "at", "batch", "parallel"];

/// Judges one command.
pub(crate) fn classify_call(call: &Call<'_, '_>) -> Finding {
    if help::is_asked(call) {
        return Finding::new(Class::ReadOnly);
    }
    if let Some((mut finding, files)) = inline::looks(call) {
        reads(call, files.iter().collect(), &mut finding);
        return finding;
    }
    match call.name {
        "git" => {
            let mut finding = git::classify(call);
            if finding.class == Class::ReadOnly {
                reads(call, call.positionals().into_iter().skip(1).collect(), &mut finding);
            }
            return finding;
        }
        "sed" | "gsed" | "awk" | "gawk" | "mawk" | "nawk" => return text_program(call),
        "env" | "printenv" => return prints_environment(call),
        "export" | "declare" | "typeset" | "readonly" | "unset" | "let" => return declares(call),
        "alias" if !call.positionals().is_empty() => return Finding::unparsed(Unparsed::Redefined),
        "fc" | "bind" | "complete" | "enable" | "unalias" => return Finding::new(Class::Execute),
        "exec" => return Finding::new(Class::ReadOnly),
        "set" | "shopt" if call.name == "shopt" && call.texts().iter().any(|text| text == "expand_aliases") => {
            return Finding::unparsed(Unparsed::Redefined);
        }
        _ => {}
    }
    if call.name == "set" && call.texts().iter().any(|text| sets_by_words(text)) {
        return Finding::unparsed(Unparsed::Redefined);
    }
    match special::classify(call) {
        // What does more may be known to the other tables.
        Some(finding) if finding.class == Class::ReadOnly => {
            let mut finding = finding;
            reads(call, call.positionals(), &mut finding);
            return finding;
        }
        Some(finding) => return effects::classify(call).unwrap_or(finding),
        None => {}
    }
    if let Some(finding) = reader(call) {
        return finding;
    }
    if subcommand_looks(call) {
        let mut finding = Finding::new(Class::ReadOnly);
        let secret = ["secret", "secrets"];
        if call.name == "kubectl"
            && call.texts().iter().any(|text| secret.iter().any(|s| text.split(['/', ',']).any(|t| t == *s)))
        {
            finding.credential = Some("secret".to_owned());
        }
        return finding;
    }
    if let Some(finding) = effects::classify(call) {
        return finding;
    }
    unknown(call)
}

/// `set -k` makes assignments of all words that look like one, wherever they stand.
fn sets_by_words(text: &str) -> bool {
    text == "keyword" || text.strip_prefix('-').is_some_and(|letters| letters.contains('k'))
}

fn unknown(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::Execute);
    let base = call.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if let (true, Input::Text(text)) = (RUNS_INPUT.contains(&call.name), call.input)
        && let Some(looks) = looks_destructive(text)
    {
        finding.never = Some(NeverAuto::HiddenDestructive { looks });
    }
    if INTERPRETERS.contains(&call.name) || INTERPRETERS.contains(&base) {
        finding.unparsed = Some(Unparsed::Script);
        let inside = call.arguments.iter().map(|field| field.value.shown());
        let input = if let Input::Text(text) = call.input { Some(text.clone()) } else { None };
        if matches!(call.input, Input::Unknown { unseen: true }) {
            finding.never = Some(NeverAuto::UnseenScript);
        }
        if let Some(looks) = inside.chain(input).find_map(|text| looks_destructive(&text)) {
            finding.never = Some(NeverAuto::HiddenDestructive { looks });
        }
        finding.touched = changed_in_place(call);
    }
    finding
}

/// The files that `perl -i` and its likes write anew, so that copies of them can be kept.
fn changed_in_place(call: &Call<'_, '_>) -> Vec<Touched> {
    let (mut files, mut in_place, mut script) = (Vec::new(), false, false);
    let mut arguments = call.arguments.iter();
    while let Some(field) = arguments.next() {
        let start = field.value.start();
        match (call.name, start.strip_prefix('-')) {
            ("perl" | "ruby", Some(letters)) if !letters.starts_with('-') => {
                // What follows `i` in the same word is the ending of a copy.
                in_place |= letters.contains('i') && !letters.starts_with(['M', 'm', 'I']);
                if letters.ends_with(['e', 'E']) {
                    arguments.next();
                    script = true;
                }
            }
            ("awk" | "gawk", Some("i")) => {
                in_place |= arguments.next().is_some_and(|field| field.value.start() == "inplace");
            }
            (_, Some(_)) => {}
            (_, None) if script => files.push(field),
            (_, None) => script = true,
        }
    }
    let touched = |field: &Field| Touched {
        value: field.value.clone(),
        action: Action::Overwrite,
        recursive: false,
        filtered: false,
    };
    if in_place { files.into_iter().map(touched).collect() } else { Vec::new() }
}

/// Tells whether a program prints what is in the files it is given.
pub(crate) fn prints_files(name: &str) -> bool {
    let prints = |reads| matches!(reads, Reads::Contents | Reads::AfterPattern);
    READERS.iter().any(|row| prints(row.reads) && row.names.contains(&name))
}

/// Tells whether a program is in the table of those that only look.
pub(crate) fn only_looks(name: &str) -> bool {
    READERS.iter().any(|row| row.names.contains(&name))
}

fn reader(call: &Call<'_, '_>) -> Option<Finding> {
    let row = READERS.iter().find(|row| row.names.contains(&call.name))?;
    let does_more = call.has_flag(row.letters, row.longs) && !(row.letters.is_empty() && row.longs.is_empty());
    let positionals = call.positionals();
    let valued: &[&str] = match call.name {
        "xxd" => &["-l", "-len", "-s", "-seek", "-c", "-cols", "-g", "-o", "-n"],
        _ => &[],
    };
    let too_many = row.most.is_some_and(|most| special::operands(call, valued).len() > most);
    let sets = match call.name {
        // `+` and more than a place: commands of the pager, `!` among them.
        "less" | "more" | "most" => positionals.iter().any(|field| {
            let shown = field.value.shown();
            let place = |c: char| c.is_ascii_digit() || matches!(c, 'G' | 'g' | 'F');
            shown.strip_prefix('+').is_some_and(|command| !command.chars().all(place))
        }),
        "sysctl" => positionals.iter().any(|field| field.value.shown().contains('=')),
        "jq" | "gojq" | "jaq" | "yq" => positionals.first().is_some_and(|field| {
            let text = field.value.shown();
            // `.env` is a field of that name.
            let text = if call.name == "yq" { text } else { text.replace(".env", ".") };
            let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            words.any(|word| matches!(word, "env" | "ENV" | "strenv" | "envsubst"))
                || text.contains("input_filename") && call.name == "yq"
                || text.contains("load")
        }),
        "alias" => !positionals.is_empty(),
        _ => false,
    };
    if does_more || too_many || sets {
        return match effects::classify(call) {
            Some(finding) => Some(finding),
            None => Some(Finding::new(Class::Execute)),
        };
    }
    let mut finding = Finding::new(Class::ReadOnly);
    match row.reads {
        Reads::Names => {}
        Reads::Contents => reads(call, positionals, &mut finding),
        Reads::AfterPattern => {
            let given = call.has_flag("ef", &["regexp", "file", "from-file"]) && call.name != "jq";
            let files = positionals.into_iter().skip(usize::from(!given)).collect();
            reads(call, files, &mut finding);
        }
    }
    // Without a dash, `e` makes ps print environments.
    let prints_environments = |field: &Field| {
        let text = field.value.shown();
        text.contains('e') && text.chars().all(|c| c.is_ascii_alphabetic())
    };
    if (call.name == "ps" && call.arguments.iter().any(prints_environments))
        || (call.name == "set" && call.arguments.is_empty())
    {
        finding.credential = Some("environment".to_owned());
    }
    if matches!(call.name, "getent") && call.texts().iter().any(|text| text.contains("shadow")) {
        finding.credential = Some("shadow".to_owned());
    }
    Some(finding)
}

/// Notes the files a command reads, and the secrets among them.
fn reads(call: &Call<'_, '_>, files: Vec<&Field>, finding: &mut Finding) {
    let joined: Vec<Field> = call
        .arguments
        .iter()
        .filter_map(|field| {
            let text = field.value.start();
            let (_, value) = text.split_once('=').filter(|_| text.starts_with('-'))?;
            let rest = field.value.without_start(text.len() - value.len());
            Some(Field { value: rest, written: None })
        })
        .collect();
    let home = call.state.place.home.as_deref();
    let no_index = call.texts().iter().any(|text| text.starts_with("--no-i"));
    for field in files.into_iter().chain(&joined) {
        let revision = field.value.known().and_then(|text| text.split_once(':').map(|(_, path)| path.to_owned()));
        let value = match revision {
            Some(path) if call.name == "git" => Value::text(path),
            Some(_) | None => field.value.clone(),
        };
        for pattern in value.patterns(&call.state.directories) {
            let Some(path) = pattern.rough_path() else { continue };
            // A directory is only read whole by what searches it, or by what a search hands on.
            let over_home = home.is_some_and(|home| pattern.covers(home)) && (call.name != "git" || no_index);
            if is_credential(&path, home) || glob_reaches_secret(&value, &pattern) || over_home {
                finding.credential.get_or_insert_with(|| pattern.shown().to_owned());
            }
            finding.reads.push(path);
        }
    }
}

/// Tells whether a glob may stand for a hidden file that holds secrets.
fn glob_reaches_secret(value: &Value, pattern: &PathPattern) -> bool {
    if !value.chunks.iter().any(|chunk| matches!(chunk, Chunk::Glob(_))) {
        return false;
    }
    let Some((root, rest)) = pattern.walk() else { return false };
    let names = [
        ".env",
        ".netrc",
        ".npmrc",
        ".git-credentials",
        ".ssh",
        ".aws",
        ".pgpass",
        "id_rsa",
        "id_ed25519",
        "shadow",
    ];
    rest.iter().any(|component| {
        let literal = component.chars().filter(|c| c.is_alphanumeric() || *c == '.').count();
        let built = globset::Glob::new(component).map(|glob| glob.compile_matcher());
        built.is_ok_and(|glob| {
            names.iter().any(|name| {
                // `*` does not stand for hidden files, and alone it names nothing.
                let hidden_fits =
                    !name.starts_with('.') || component.starts_with('.') || component.starts_with('[');
                hidden_fits && literal > 0 && glob.is_match(name)
            })
        })
    }) || (root.ends_with("etc") && rest.len() == 1)
}

fn subcommand_looks(call: &Call<'_, '_>) -> bool {
    let Some((_, valued, plain)) = PROGRAMS.iter().find(|(programs, _, _)| programs.contains(&call.name)) else {
        return false;
    };
    let mut at = 0;
    while let Some(field) = call.arguments.get(at) {
        let text = field.value.start();
        if valued.contains(&text) {
            at += 2;
        } else if plain.contains(&text) {
            at += 1;
        } else {
            break;
        }
    }
    let rest = call.arguments.get(at..).unwrap_or_default();
    let canonical = match call.name {
        "podman" | "nerdctl" => "docker",
        "oc" | "k" => "kubectl",
        name => name,
    };
    SUBS.iter().filter(|row| row.program == canonical).any(|row| {
        let words = rest.iter().take(row.words.len()).map(|field| field.value.known().unwrap_or_default());
        if rest.len() < row.words.len() || !row.words.iter().copied().eq(words) {
            return false;
        }
        let tail =
            Call { name: call.name, arguments: &rest[row.words.len()..], state: call.state, input: call.input };
        let elsewhere = call.name.ends_with("ctl")
            && matches!(canonical, "systemctl" | "loginctl" | "timedatectl" | "hostnamectl")
            && call.has_flag("HM", &["host", "machine"]);
        let more = elsewhere
            || match row.letters {
                // No flag at all.
                table::ANY => tail
                    .arguments
                    .iter()
                    .any(|field| matches!(field.value.start().chars().next(), None | Some('-'))),
                letters => (!letters.is_empty() || !row.longs.is_empty()) && tail.has_flag(letters, row.longs),
            };
        !more && row.most.is_none_or(|most| tail.positionals().len() <= most)
    })
}

fn text_program(call: &Call<'_, '_>) -> Finding {
    let is_sed = call.name.ends_with("sed");
    let allowed: &[&str] = if is_sed {
        &[
            "-n",
            "-E",
            "-r",
            "-s",
            "-u",
            "-z",
            "-nE",
            "-En",
            "-nr",
            "-rn",
            "--quiet",
            "--silent",
            "--regexp-extended",
            "--posix",
            "--null-data",
            "--separate",
            "--unbuffered",
            "--debug",
            "--sandbox",
        ]
    } else {
        &[
            "--posix",
            "--traditional",
            "--re-interval",
            "-b",
            "--characters-as-bytes",
            "--csv",
            "-P",
            "-S",
            "--sandbox",
        ]
    };
    let (mut texts, mut files, mut at) = (Vec::new(), Vec::new(), 0);
    let mut known = true;
    let mut given = false;
    while let Some(field) = call.arguments.get(at) {
        let start = field.value.start();
        let next = || call.arguments.get(at + 1).and_then(|field| field.value.known());
        if is_sed && matches!(start, "-e" | "--expression" | "-ne" | "-Ee" | "-nEe" | "-re") {
            texts.push(next());
            given = true;
            at += 1;
        } else if is_sed && start.starts_with("--expression=") {
            texts.push(field.value.known().map(|text| text["--expression=".len()..].to_owned()));
            given = true;
        } else if !is_sed && matches!(start, "-F" | "-v" | "--field-separator" | "--assign") {
            at += 1;
        } else if start == "--" {
            files.extend(call.arguments.get(at + 1..).unwrap_or_default());
            break;
        } else if !is_sed
            && (start.starts_with("-F") || start.starts_with("-v") || start.starts_with("--field-separator="))
            || allowed.contains(&start)
        {
        } else if start.starts_with('-') && start != "-" {
            known = false;
        } else {
            files.push(field);
        }
        at += 1;
    }
    if !given && !files.is_empty() {
        let script = files.remove(0);
        texts.push(script.value.known());
    }
    let looks = texts.iter().all(|text| {
        text.as_deref().is_some_and(|text| if is_sed { sed::only_looks(text) } else { awk::only_looks(text) })
    });
    if known && looks && !texts.is_empty() {
        let mut finding = Finding::new(Class::ReadOnly);
        reads(call, files, &mut finding);
        return finding;
    }
    if is_sed && call.has_flag("i", &["in-place"]) && !call.has_flag("f", &["file"]) && looks {
        let only_files = Call { name: "sed", arguments: call.arguments, state: call.state, input: call.input };
        return effects::classify(&only_files).unwrap_or_else(|| Finding::new(Class::Write));
    }
    unknown(call)
}

fn prints_environment(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::ReadOnly);
    let names = call.positionals();
    let secret = names.iter().any(|field| field.value.known().is_none_or(|name| is_secret_name(&name)));
    if names.is_empty() || secret || call.name == "env" {
        finding.credential = Some("environment".to_owned());
    }
    finding
}

fn declares(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::ReadOnly);
    for field in call.positionals() {
        let text = field.value.start();
        let name = text.split(['=', '+']).next().unwrap_or_default();
        if name.contains(['[', '$', '`', '(']) || (text.is_empty() && !field.value.chunks.is_empty()) {
            return Finding::unparsed(Unparsed::Environment);
        }
    }
    // A name for another name, and a number, which is an expression.
    if call.name != "export" && call.has_flag("ni", &[]) {
        return Finding::unparsed(Unparsed::Environment);
    }
    if call.positionals().is_empty() || call.has_flag("p", &[]) {
        finding.credential = Some("environment".to_owned());
    }
    finding
}
