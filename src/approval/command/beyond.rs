//! What no yes given in advance covers, whatever the rules say: losses on other machines, changes of this one, secrets
//! that leave it, and files that are run by themselves later.

use std::path::Path;

use super::effect::git_command_at;
use super::follow::Report;
use super::judgement::{Judged, Target};
use super::leaves::{self, OF_NETWORK, is_handed_names};
use super::taken::{taken, taken_unread};
use super::unsent::without_unsent;
use crate::approval::program::{Action, Does, Program, Trait, lists};
use crate::approval::{Class, NeverAuto, Surroundings, Unparsed, path};
use crate::secret::files::{IN_HOME, is_secret};

/// Why a line is asked each time, by what its parts and targets say together.
pub(super) fn beyond(line: &str, report: &Report, place: &Surroundings) -> Option<NeverAuto> {
    let (parts, targets) = (report.parts.as_slice(), report.targets.as_slice());
    let is_unread = report.unparsed.iter().any(|(_, why)| *why == Unparsed::Syntax);
    let reaches = parts.iter().any(|part| part.class == Class::Network);
    // Names that one part lists are given to another.
    let handed = parts.iter().any(is_handed_names);
    let along = |part: &Judged| taken_along(part, handed, place);
    let secret = || parts.iter().find_map(|part| part.credential.clone().or_else(|| along(part)));
    let leaves = reaches.then(secret).flatten().map(|what| NeverAuto::SecretLeaves { what });
    let coded = || parts.iter().find_map(|part| named_by_code(part, place));
    leaves
        .or_else(|| leaves::leaves(line, parts, place).map(|what| NeverAuto::SecretLeaves { what }))
        .or_else(|| {
            taken(line, parts, handed, place).map(|path| NeverAuto::SecretTaken { what: shown(&path, place) })
        })
        .or_else(|| {
            let path = is_unread.then(|| taken_unread(line, place)).flatten();
            path.map(|path| NeverAuto::SecretTaken { what: shown(&path, place) })
        })
        .or_else(|| coded().map(|what| NeverAuto::SecretLeaves { what }))
        .or_else(|| parts.iter().find_map(shared))
        .or_else(|| query(parts))
        .or_else(|| printed_away(line, parts))
        .or_else(|| targets.iter().find_map(|target| kept_for_later(target, place)))
}

/// Signs with which what one command prints gets to another.
const FLOWING: &[&str] = &["|", "`", "(", ">"];

/// The command of a line that prints a secret, where another one may send it.
fn printed_away(line: &str, parts: &[Judged]) -> Option<NeverAuto> {
    if !FLOWING.iter().any(|sign| line.contains(sign)) {
        return None;
    }
    let (printing, others): (Vec<&Judged>, Vec<&Judged>) = parts.iter().partition(|part| part.prints_secret());
    let what = printing.first()?.text.clone();
    others.into_iter().any(|part| !leaves::stays(part)).then_some(NeverAuto::SecretLeaves { what })
}

/// A file's name as seen from where the line runs.
fn shown(path: &Path, place: &Surroundings) -> String {
    path.strip_prefix(&place.cwd).unwrap_or(path).display().to_string()
}

/// What a part does to what others share.
fn shared(part: &Judged) -> Option<NeverAuto> {
    let words = part.as_run();
    let git_at = git_command_at(words);
    let words: Vec<&str> = words.iter().map(|word| word.as_deref().unwrap_or_default()).collect();
    let (program, rest) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or_default();
    if part.class == Class::ReadOnly {
        return None;
    }
    if part.changes_machine() {
        return Some(NeverAuto::ChangesMachine { command: part.text.clone() });
    }
    if matches!(program, "crontab" | "at" | "batch" | "ssh-copy-id")
        || program == "direnv" && rest.contains(&"allow")
    {
        return Some(NeverAuto::RunsLater { target: program.to_owned() });
    }
    let git = git_at.filter(|_| program == "git").and_then(|at| words[at..].split_first());
    if let Some((&"config", rest)) = git {
        let runs_alias = rest.iter().any(|word| word.starts_with('!'));
        return rest
            .iter()
            .find(|word| {
                let name = word.to_ascii_lowercase();
                runs_by_setting(&name) || runs_alias && name.starts_with("alias.")
            })
            .map(|setting| NeverAuto::RunsLater { target: (*setting).to_owned() });
    }
    if part.class == Class::Destructive
        && let Some((&"push", rest)) = git
    {
        return Some(pushed(rest));
    }
    // `npx`, `docker exec`, `python -m` and their like have the program behind them.
    let loses = (0..words.len().min(FARTHEST)).any(|at| loses_shared(&words[at..]));
    let loses = loses || deletes_by_address(program, rest) || loses_over_there(program, rest);
    loses.then(|| NeverAuto::Shared { command: part.text.clone() })
}

/// The flags of `git push` whose value is a word of its own (git 2.47, `git-push(1)`).
const PUSH_VALUED: &[&str] = &["-o", "--push-option", "--repo", "--receive-pack", "--exec"];

/// Names what a push rewrites, and where.
fn pushed(words: &[&str]) -> NeverAuto {
    let mut named = Vec::new();
    let (mut is_value, mut ended) = (false, false);
    for word in words {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if ended || !word.starts_with('-') {
            named.push(*word);
        }
        is_value = !ended && PUSH_VALUED.contains(word);
        ended |= *word == "--";
    }
    let remote = named.first().map_or("origin", |remote| remote).to_owned();
    let branches: Vec<&str> = named.iter().skip(1).map(|word| word.trim_start_matches(['+', ':'])).collect();
    let branch = if branches.is_empty() { "HEAD".to_owned() } else { branches.join(", ") };
    NeverAuto::Push { branch, remote }
}

/// So many words in front of a program are looked past.
const FARTHEST: usize = 12;
/// So many words behind a program may say what it does.
const DEEPEST: usize = 4;

/// Words with which all of a kind go at once.
const EVERY: &[&str] = &["--all", "-A", "--all-namespaces", "--force"];

/// Tells whether a program and its arguments lose, or publish, what others share.
fn loses_shared(words: &[&str]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or_default();
    let row = |row: &str| {
        // Most rows end here: a line of thousands of commands is looked through with each.
        let Some(wanted) = row.strip_prefix(program) else { return false };
        let mut given = rest.iter();
        wanted.is_empty()
            || wanted.starts_with(':') && wanted[1..].split(':').all(|word| given.any(|given| *given == word))
    };
    let made_again = || lists::MADE_AGAIN.iter().any(row) && !rest.iter().any(|word| EVERY.contains(word));
    lists::SHARED_LOSSES.iter().any(row)
        || lists::LOSS_PROGRAMS.contains(program) && says_loss(rest) && !made_again()
}

/// Tells whether one of a program's sub-commands or flags is a word of loss, or has one as a part. The value of a flag
/// may be a sub-command as well, where the flag has none.
fn says_loss(words: &[&str]) -> bool {
    let is_loss = |word: &str| lists::LOSS_WORDS.contains(word.to_ascii_lowercase().as_str());
    let mut commands = 0;
    let mut behind_flag = false;
    words.iter().any(|word| {
        let flag = word.starts_with('-');
        let name = word.split('=').next().unwrap_or_default();
        let counts = flag || !behind_flag && commands < DEEPEST;
        commands += usize::from(!flag && !behind_flag);
        behind_flag = flag && !word.contains('=');
        is_loss(word) || counts && name.split(['-', ':', '_', '.', '/']).any(is_loss)
    })
}

/// Tells whether an address elsewhere is asked to delete what it names (RFC 9110, DELETE).
fn deletes_by_address(program: &str, words: &[&str]) -> bool {
    let asks = Program::named(program).is_some_and(|row| row.is(Trait::Fetches) || row.is(Trait::Asks));
    let method = |word: &str| {
        let word = word.strip_prefix("-X").unwrap_or(word);
        word.rsplit('=').next().unwrap_or_default().trim_start_matches('=').eq_ignore_ascii_case("delete")
    };
    let here = |word: &&str| {
        let host = word.split_once("://").map_or(*word, |(_, host)| host);
        ["localhost", "127.0.0.1", "[::1]", ":"].iter().any(|own| host.starts_with(own))
    };
    asks && words.iter().any(|word| method(word)) && !words.iter().any(here)
}

/// Tells whether a line is run on another machine that loses something there, or files are removed there because they
/// are not here, or here because they are there by now.
fn loses_over_there(program: &str, words: &[&str]) -> bool {
    let loses = |word: &str| {
        let does = Program::named(word).and_then(|row| row.does);
        matches!(does, Some(Does::Destroys | Does::Disk | Does::Halts))
    };
    let is_elsewhere = |word: &&str| {
        let host = word.split('/').next().unwrap_or_default();
        !word.starts_with('-') && (host.contains(':') || word.contains("::"))
    };
    match program {
        "ssh" | "mosh" => words.iter().flat_map(|word| word.split([' ', '\t', '\n', ';', '&', '|'])).any(loses),
        "rsync" => {
            let removes = words.iter().any(|word| word.starts_with("--del") || *word == "--remove-source-files");
            removes && words.iter().any(is_elsewhere)
        }
        _ => false,
    }
}

/// Tells whether a setting of git names what it runs by itself later.
fn runs_by_setting(name: &str) -> bool {
    lists::GIT_SETTINGS_THAT_RUN.iter().any(|row: &str| match row.split_once('*') {
        Some((start, end)) => {
            name.len() > row.len() && name.starts_with(start) && name.ends_with(end) && name.contains('.')
        }
        None => name == row,
    })
}

/// What a line tells a database to lose: what is told may stand in another part (`echo … | psql`).
fn query(parts: &[Judged]) -> Option<NeverAuto> {
    let of_database = |word: &&String| lists::QUERY_PROGRAMS.contains(word.rsplit('/').next().unwrap_or_default());
    let told =
        parts.iter().find(|part| part.words().iter().flatten().take(FARTHEST).any(|word| of_database(&word)))?;
    let is_loss = |word: &str| lists::QUERY_LOSSES.contains(word.to_ascii_lowercase().as_str());
    let loses = |word: &String| word.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(is_loss);
    let loses = parts.iter().any(|part| part.words().iter().flatten().skip(1).any(loses));
    loses.then(|| NeverAuto::Shared { command: told.text.clone() })
}

/// The secret file that a part is given to send, to run with or to copy, as it is written: whoever only looks says so
/// itself.
fn taken_along(part: &Judged, handed: bool, place: &Surroundings) -> Option<String> {
    if let Some(flag) = part.uses_logins() {
        return Some(flag.to_owned());
    }
    let text = without_unsent(&part.text);
    let takes =
        handed || matches!(part.class, Class::Network | Class::Execute | Class::Write) && !part.only_unlinks();
    let named = |word: &&str| {
        names_secret(word.rsplit(['=', '@', '<']).next().unwrap_or_default().trim_matches(['"', '\'']), place)
    };
    text.split_whitespace().skip(1).filter(|_| takes).find(named).map(str::to_owned)
}

/// Tells whether a word is the path of a secret file, as it is written.
fn names_secret(file: &str, place: &Surroundings) -> bool {
    let is_path = file.contains(['/', '.']) && !file.contains(':') && !file.starts_with('-');
    let below_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|home| file.strip_prefix(home));
    let path = match (below_home, &place.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => place.cwd.join(file),
    };
    is_path && path::is_credential(&path::clean(&path), place)
}

/// The secret file that code in a line (`python3 -c …`) names in quotes, where that code reaches the network, too.
fn named_by_code(part: &Judged, place: &Surroundings) -> Option<String> {
    let codes = part.words().iter().flatten().skip(1).filter(|_| part.class == Class::Execute);
    codes.filter(|code| OF_NETWORK.iter().any(|word| code.to_ascii_lowercase().contains(word))).find_map(|code| {
        let mut pieces = code.split(['"', '\'', '`']).skip(1);
        pieces.find(|piece| names_secret(piece, place)).map(str::to_owned)
    })
}

/// What a target does to a file that has an effect later.
fn kept_for_later(target: &Target, place: &Surroundings) -> Option<NeverAuto> {
    let path = target.pattern.rough_path()?;
    let removed = matches!(target.action, Action::Remove | Action::Move);
    later(&path, target.pattern.shown(), removed, place)
}

/// Why no yes in advance covers a change of a file: it is run by itself later, decides what axi may do, lets others in,
/// takes keys with it, or is of the settings that programs keep in home. `shown`: how a person is told of it.
pub(crate) fn later(path: &Path, shown: &str, removed: bool, place: &Surroundings) -> Option<NeverAuto> {
    let target = || shown.to_owned();
    if runs_later(path, removed, place) {
        return Some(NeverAuto::RunsLater { target: target() });
    }
    is_setting(path, removed, place).then(|| NeverAuto::Settings { target: target() })
}

/// Tells whether a file lies in home below a name that begins with a dot. Such files tell programs what to do, and no list
/// can know which of them are run. A file that is removed from the cache does not count: programs make it again.
fn is_setting(path: &Path, removed: bool, place: &Surroundings) -> bool {
    let below_home = place.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    let Some(first) = below_home.and_then(|rest| rest.components().next()) else { return false };
    let first = first.as_os_str().to_string_lossy();
    is_outside(path, place) && first.starts_with('.') && !(removed && first == ".cache")
}

/// Tells whether a path lies outside the workspace; all of home does where the workspace is home or above it.
fn is_outside(path: &Path, place: &Surroundings) -> bool {
    let is_all = place.home.as_deref().is_some_and(|home| home.starts_with(&place.workspace));
    is_all || !path.starts_with(&place.workspace)
}

fn runs_later(path: &Path, removed: bool, place: &Surroundings) -> bool {
    let below_home = place.home.as_deref().and_then(|home| path.strip_prefix(home).ok());
    let named = |file: &str| match file.strip_prefix('/') {
        // A beginning of names: `/etc/cron` stands for `/etc/cron.d`, too.
        Some(_) => path.to_string_lossy().starts_with(file),
        None => below_home
            .is_some_and(|rest| rest.starts_with(file) && !(file.ends_with('/') && rest == Path::new(file))),
    };
    let holds_keys = |rest: &Path| IN_HOME.iter().any(|keys| Path::new(keys).starts_with(rest));
    let keys = removed
        && is_outside(path, place)
        && below_home.is_some_and(|rest| holds_keys(rest) || is_secret(path, place.home.as_deref()));
    let of_git = path.to_string_lossy().contains("/.git/hooks") || path.ends_with(".git/config");
    let own = place.secrets.own.iter().any(|own| path.starts_with(own) && !place.workspace.starts_with(own));
    keys || of_git
        || own && !place.secrets.readable.iter().any(|place| path.starts_with(place))
        || path.ends_with(".ssh/authorized_keys")
        || lists::START_FILES.iter().any(named)
}
