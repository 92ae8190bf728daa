//! Programs whose flags need a closer look than a row of the table gives.

use super::call::{Call, Field, Finding};
use super::compiler;
use crate::approval::Class;

/// Flags of tar beside the list itself that change nothing.
const TAR_PLAIN: &[&str] = &[
    "-v",
    "-z",
    "-j",
    "-J",
    "--verbose",
    "--gzip",
    "--bzip2",
    "--xz",
    "--zstd",
    "--wildcards",
    "--utc",
    "--full-time",
    "--numeric-owner",
    "--list",
];

/// Judges the programs of this file: `None` for others, and where the table's own row says enough.
pub(super) fn classify(call: &Call<'_, '_>) -> Option<Finding> {
    let class = |looks: bool| Finding::new(if looks { Class::ReadOnly } else { Class::Execute });
    Some(match call.name {
        "tar" | "bsdtar" | "gtar" if lists_archive(call) || unpacks_to_screen(call) => class(!is_remote(call)),
        "unzip" if unzips_to_screen(call) => class(true),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "lzma" | "unlzma" | "zstd" | "unzstd"
            if to_screen(call) =>
        {
            class(true)
        }
        // Other tables of it are asked of the network: a name that is looked up tells somebody.
        "getent" => class(call.arguments.first().and_then(|field| field.value.known()).is_some_and(|table| {
            matches!(table.as_str(), "passwd" | "group" | "services" | "protocols" | "shells" | "rpc" | "networks")
                || table == "shadow"
        })),
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "cpp" if compiler::looks(call) => class(true),
        "cmake" if views_cache(call) => class(true),
        "tcpdump" if reads_capture(call) => class(true),
        "date" | "gdate" if sets_clock(call) => class(false),
        "trap" => class(call.arguments.iter().all(|field| matches!(field.value.start(), "-p" | "-l"))),
        "history" => class(call.arguments.iter().all(is_number)),
        "hash" if call.arguments.is_empty() => class(true),
        // `-v` counts only in front; a word that is not known there may be it.
        "printf" => {
            let first = call.arguments.first();
            let safe = first.is_none_or(|field| {
                let start = field.value.start();
                !start.starts_with("-v") && (!start.is_empty() || field.value.shown().is_empty())
            });
            class(safe)
        }
        "cloc" => class(!call.arguments.iter().any(is_cloc_more)),
        "bat" | "batcat" if call.texts().first().is_some_and(|text| text == "cache" || text.is_empty()) => {
            class(call.arguments.is_empty())
        }
        "nvidia-smi" => class(call.arguments.iter().all(|field| {
            let text = field.value.known().unwrap_or_default();
            let name = text.split('=').next().unwrap_or_default();
            matches!(
                name,
                "-L" | "-q" | "-x" | "-l" | "-i" | "-d" | "--list-gpus" | "--query" | "--format" | "--loop"
            ) || name.starts_with("--query-")
                || !text.starts_with('-') && !text.is_empty()
                || matches!(text.as_str(), "dmon" | "pmon" | "topo")
        })),
        _ => return None,
    })
}

/// Arguments that are neither flags nor the values of these.
pub(super) fn operands<'c>(call: &Call<'c, '_>, valued: &[&str]) -> Vec<&'c Field> {
    let mut operands = Vec::new();
    let mut fields = call.arguments.iter();
    while let Some(field) = fields.next() {
        let start = field.value.start();
        if valued.contains(&start) {
            fields.next();
        } else if !start.starts_with('-') || start == "-" {
            operands.push(field);
        }
    }
    operands
}

fn is_number(field: &Field) -> bool {
    field.value.known().is_some_and(|text| text.chars().all(|c| c.is_ascii_digit()))
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
                    || TAR_PLAIN.contains(&start)
                    || valued.iter().any(|flag| start.starts_with(flag)))
        })
}

/// Unpacks what is in it to the screen, and to no file.
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

/// `-N` only views what was configured.
fn views_cache(call: &Call<'_, '_>) -> bool {
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

/// A capture is read from a file and shown, not taken.
fn reads_capture(call: &Call<'_, '_>) -> bool {
    let reads = call.arguments.iter().any(|field| field.value.start() == "-r");
    let plain = |field: &Field| {
        let start = field.value.start();
        !start.is_empty() && (!start.starts_with('-') || start.chars().skip(1).all(|c| "nrvqetAXxSc".contains(c)))
    };
    reads && call.arguments.iter().all(plain)
}

/// With a colon in its name an archive lies on another machine, and a remote shell is started for it.
fn is_remote(call: &Call<'_, '_>) -> bool {
    call.arguments
        .iter()
        .any(|field| field.value.shown().split('/').next().is_some_and(|first| first.contains(':')))
}

fn unzips_to_screen(call: &Call<'_, '_>) -> bool {
    let Some(first) = call.arguments.first().and_then(|field| field.value.known()) else { return false };
    matches!(first.as_str(), "-l" | "-lv" | "-p" | "-v" | "-Z" | "-Z1" | "-t" | "-z" | "-c")
        && call.arguments.iter().skip(1).all(|field| !field.value.start().starts_with('-'))
}

/// Packs or unpacks to the screen, or only lists and tests: the file stays as it is.
fn to_screen(call: &Call<'_, '_>) -> bool {
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

/// A word without a plus sets the clock, and so does `-s`; `-I` takes `seconds` along.
fn sets_clock(call: &Call<'_, '_>) -> bool {
    let valued = ["-d", "-f", "-r", "-v", "-j", "--date", "--reference", "--file"];
    let by_word = operands(call, &valued).into_iter().any(|field| {
        let start = field.value.start();
        !start.starts_with('+') && start.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    // macOS: `-j` sets nothing, and a format stands in front of the time.
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

/// cloc runs what unpacks or lists for it, and writes reports; what it is told with one dash it takes for two.
fn is_cloc_more(field: &Field) -> bool {
    let start = field.value.start();
    let name = start.trim_start_matches('-').split('=').next().unwrap_or_default();
    let plain = [
        "by-file",
        "by-file-by-lang",
        "exclude-dir",
        "include-lang",
        "exclude-ext",
        "include-ext",
        "json",
        "csv",
        "md",
        "yaml",
        "xml",
        "quiet",
        "hide-rate",
        "fullpath",
        "match-f",
        "not-match-f",
        "match-d",
        "not-match-d",
        "git",
        "sum-one",
        "progress-rate",
        "show-lang",
        "version",
        "help",
        "exclude-lang",
        "skip-uniqueness",
    ];
    start.is_empty() || (start.starts_with('-') && !plain.contains(&name))
}
