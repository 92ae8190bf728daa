//! Programs whose flags need a closer look than a row can give.

use super::call::{Call, Field};
use crate::approval::program::{Grammar, lists};

pub(super) fn tar_looks(call: &Call<'_, '_>) -> Option<bool> {
    (lists_archive(call) || unpacks_to_screen(call)).then(|| !is_remote(call))
}

/// Tells whether `getent` reads local tables only: others ask the network, which tells somebody the name.
pub(super) fn getent_looks(call: &Call<'_, '_>) -> bool {
    let tables = ["passwd", "group", "services", "protocols", "shells", "rpc", "networks", "shadow"];
    let table = call.arguments.first().and_then(|field| field.value.known());
    table.is_some_and(|table| tables.contains(&table.as_str()))
}

pub(super) fn bat_looks(call: &Call<'_, '_>) -> Option<bool> {
    call.texts().first().is_some_and(|text| text == "cache" || text.is_empty()).then_some(false)
}

/// Tells whether a pager does more than look: `+` can be followed by commands of the pager, such as `!`.
pub(super) fn pager_does_more(call: &Call<'_, '_>) -> bool {
    let place = |c: char| c.is_ascii_digit() || matches!(c, 'G' | 'g' | 'F');
    call.positionals().iter().any(|field| {
        let shown = field.value.shown();
        shown.strip_prefix('+').is_some_and(|command| !command.chars().all(place))
    })
}

pub(super) fn sysctl_does_more(call: &Call<'_, '_>) -> bool {
    call.positionals().iter().any(|field| field.value.shown().contains('='))
}

/// Tells whether a filter of jq and similar programs reads the environment or other files.
pub(super) fn filter_does_more(call: &Call<'_, '_>) -> bool {
    call.positionals().first().is_some_and(|field| {
        let text = field.value.shown();
        // `.env` is a field with that name.
        let text = if call.name == "yq" { text } else { text.replace(".env", ".") };
        let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        words.any(|word| matches!(word, "env" | "ENV" | "strenv" | "envsubst"))
            || text.contains("input_filename") && call.name == "yq"
            || text.contains("load")
    })
}

/// Returns the arguments that are neither flags nor values of flags; after `--` no argument is a flag.
pub(super) fn operands<'c>(call: &Call<'c, '_>, is_valued: impl Fn(&str) -> bool) -> Vec<&'c Field> {
    let (mut operands, mut ended) = (Vec::new(), false);
    let mut fields = call.arguments.iter();
    while let Some(field) = fields.next() {
        let start = field.value.start();
        if ended {
            operands.push(field);
        } else if start == "--" && field.value.known().is_some() {
            ended = true;
        } else if is_valued(start) {
            fields.next();
        } else if !start.starts_with('-') || start == "-" {
            operands.push(field);
        }
    }
    operands
}

fn lists_archive(call: &Call<'_, '_>) -> bool {
    let Some(first) = call.arguments.first().and_then(|field| field.value.known()) else { return false };
    let letters = first.strip_prefix('-').unwrap_or(&first);
    let cluster =
        !first.starts_with("--") && letters.contains('t') && letters.chars().all(|c| "tvzjJf".contains(c));
    (cluster || first == "--list")
        && call.arguments.iter().skip(1).all(|field| {
            let start = field.value.start();
            let valued = ["--exclude=", "--strip-components=", "--file="];
            !start.is_empty()
                && (!start.starts_with('-')
                    || matches!(start, "-f" | "--file")
                    || lists::TAR_PLAIN.contains(start)
                    || valued.iter().any(|flag| start.starts_with(flag)))
        })
}

/// Tells whether an archive is unpacked to the screen, and to no file.
fn unpacks_to_screen(call: &Call<'_, '_>) -> bool {
    let Some(first) = call.arguments.first().and_then(|field| field.value.known()) else { return false };
    let letters = first.strip_prefix('-').unwrap_or(&first);
    let cluster = letters.contains('x') && letters.contains('O') && letters.chars().all(|c| "xOvzjJf".contains(c));
    cluster
        && call.arguments.iter().skip(1).all(|field| {
            let start = field.value.start();
            !start.is_empty() && (!start.starts_with('-') || matches!(start, "--wildcards" | "-f"))
        })
}

/// Tells whether `cmake` only shows its cache (`-N`).
pub(super) fn views_cache(call: &Call<'_, '_>) -> bool {
    let (mut views, mut any) = (false, false);
    for field in call.arguments {
        let Some(text) = field.value.known() else { return false };
        match text.as_str() {
            "-N" => views = true,
            "-L" | "-LA" | "-LH" | "-LAH" => any = true,
            _ if text.starts_with('-') => return false,
            _ => {}
        }
    }
    views && any
}

/// Tells whether a capture is read from a file and shown, and none is taken.
pub(super) fn reads_capture(call: &Call<'_, '_>) -> bool {
    let reads = call.arguments.iter().any(|field| field.value.start() == "-r");
    let plain = |field: &Field| {
        let start = field.value.start();
        !start.is_empty() && (!start.starts_with('-') || start.chars().skip(1).all(|c| "nrvqetAXxSc".contains(c)))
    };
    reads && call.arguments.iter().all(plain)
}

/// Tells whether an archive lies on another machine: its name has a colon, and a remote shell is started for it.
fn is_remote(call: &Call<'_, '_>) -> bool {
    call.arguments
        .iter()
        .any(|field| field.value.shown().split('/').next().is_some_and(|first| first.contains(':')))
}

/// The archive of which files are shown that the line does not name one by one: any of them may be a secret, and nobody
/// sees it opened.
pub(super) fn shown_archive(call: &Call<'_, '_>) -> Option<String> {
    let first = call.arguments.first()?.value.known()?;
    let shows = if call.is(Grammar::Unzip) {
        matches!(first.as_str(), "-p" | "-c")
    } else {
        call.is(Grammar::Tar) && unpacks_to_screen(call)
    };
    // The letters of tar may stand without a dash.
    let words = call.positionals();
    let (archive, members) =
        words.get(usize::from(call.is(Grammar::Tar) && !first.starts_with('-'))..)?.split_first()?;
    let names_one = |field: &&Field| {
        let name = field.value.known();
        name.is_some_and(|name| !name.contains(['*', '?', '[']) && !name.ends_with(['/', '.']))
    };
    let all_named = !members.is_empty() && members.iter().all(names_one);
    (shows && !all_named).then(|| archive.value.shown())
}

pub(super) fn unzips_to_screen(call: &Call<'_, '_>) -> bool {
    let Some(first) = call.arguments.first().and_then(|field| field.value.known()) else { return false };
    matches!(first.as_str(), "-l" | "-lv" | "-p" | "-v" | "-Z" | "-Z1" | "-t" | "-z" | "-c")
        && call.arguments.iter().skip(1).all(|field| !field.value.start().starts_with('-'))
}

/// Tells whether a program packs or unpacks to the screen, or only lists and tests: the file stays as it is.
pub(super) fn to_screen(call: &Call<'_, '_>) -> bool {
    let mut kept = false;
    for field in call.arguments {
        let start = field.value.start();
        if start.is_empty() {
            return false;
        }
        if let Some(long) = start.strip_prefix("--") {
            match long {
                "stdout" | "to-stdout" | "list" | "test" => kept = true,
                "decompress" | "uncompress" | "keep" | "quiet" | "verbose" | "fast" | "best" | "force" => {}
                _ => return false,
            }
        } else if let Some(letters) = start.strip_prefix('-') {
            if !letters.chars().all(|c| c.is_ascii_digit() || "cdfkltvq".contains(c)) {
                return false;
            }
            kept |= letters.contains(['c', 'l', 't']);
        }
    }
    kept
}

/// Tells whether `date` sets the clock: by a word without a plus, or by `-s`; the `s` in `-I seconds` does not
/// count.
pub(super) fn sets_clock(call: &Call<'_, '_>) -> bool {
    let valued = ["-d", "-f", "-r", "-v", "-j", "--date", "--reference", "--file"];
    let by_word = operands(call, |flag| valued.contains(&flag)).into_iter().any(|field| {
        let start = field.value.start();
        !start.starts_with('+') && start.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    // On macOS `-j` sets nothing, and a format stands in front of the time.
    let only_shows = call.arguments.first().is_some_and(|field| field.value.start().starts_with("-j"));
    let by_flag = call.arguments.iter().any(|field| {
        let start = field.value.start();
        if let Some(long) = start.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or_default();
            return !name.is_empty() && "set".starts_with(name);
        }
        let letters = start.strip_prefix('-').unwrap_or_default();
        letters.chars().take_while(|c| !matches!(c, 'I' | 'd' | 'f' | 'r' | 'v')).any(|c| c == 's')
    });
    by_flag || (by_word && !only_shows)
}
