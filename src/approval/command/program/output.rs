//! What a command prints, as far as the next one in a pipeline may run it or take it for names.

use super::super::known::Value;
use super::super::known::names_revisions;
use super::call::{Call, Input};

/// Programs whose output is not what anybody has seen in their input.
const DECODERS: &[&str] = &[
    "base64",
    "base32",
    "basenc",
    "xxd",
    "openssl",
    "gunzip",
    "zcat",
    "gzip",
    "bunzip2",
    "bzip2",
    "xz",
    "unxz",
    "zstd",
    "rev",
    "tr",
    "sed",
    "awk",
    "gawk",
    "perl",
    "python",
    "python3",
    "ruby",
    "uudecode",
    "gpg",
    "printf",
    "tac",
    "cut",
    "fold",
    "od",
    "hexdump",
    "jq",
    "iconv",
    "node",
    "php",
    "dd",
    "tar",
    "unzip",
    "b64decode",
    "uncompress",
    "lz4",
    "brotli",
];

/// What a command prints, as far as it matters to the next one in a pipeline.
pub(crate) fn printed_by(call: &Call<'_, '_>) -> Input {
    let unseen_input = matches!(call.input, Input::Unknown { unseen: true });
    let texts: Option<Vec<String>> = call.arguments.iter().map(|field| field.value.known()).collect();
    match (call.name, texts) {
        ("git", Some(texts)) if names_revisions(&words(&texts)).is_some() => {
            Input::Names(names_revisions(&words(&texts)).into_iter().collect())
        }
        ("echo", Some(texts)) if !texts.first().is_some_and(|text| text.starts_with('-') && text.contains('e')) => {
            let words: Vec<&str> = texts.iter().map(String::as_str).skip_while(|text| *text == "-n").collect();
            let text = words.join(" ");
            if text.contains('\\') { Input::Unknown { unseen: true } } else { Input::Text(text + "\n") }
        }
        ("printf", Some(texts)) => match texts.as_slice() {
            [format] if !format.contains(['%', '\\']) => Input::Text(format.clone()),
            [format] if !format.contains('%') => {
                let text = format.replace("\\n", "\n");
                if text.contains('\\') { Input::Unknown { unseen: true } } else { Input::Text(text) }
            }
            [format, text] if matches!(format.as_str(), "%s" | "%s\\n" | "%s\n") => {
                Input::Text(format!("{text}\n"))
            }
            _ => Input::Unknown { unseen: true },
        },
        ("echo", Some(_)) => Input::Unknown { unseen: true },
        ("echo" | "printf", None) => Input::Unknown { unseen: false },
        ("cat" | "tee", _)
            if call.positionals().iter().all(|field| field.value.start() == "-") || call.name == "tee" =>
        {
            call.input.clone()
        }
        ("ls" | "fd" | "fdfind" | "rg" | "grep" | "git", Some(texts)) => names(call, &texts, unseen_input),
        ("sort" | "uniq" | "head" | "tail" | "wc", _)
            if matches!(call.input, Input::Names(_)) && call.positionals().is_empty() =>
        {
            call.input.clone()
        }
        ("grep", _) => Input::Unknown { unseen: unseen_input },
        (name, _) => {
            let fetched = matches!(
                name,
                "curl"
                    | "wget"
                    | "http"
                    | "https"
                    | "xh"
                    | "nc"
                    | "ncat"
                    | "socat"
                    | "ssh"
                    | "aria2c"
                    | "lynx"
                    | "ftp"
            );
            Input::Unknown { unseen: unseen_input || fetched || DECODERS.contains(&name) }
        }
    }
}

fn words(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// Programs that print names of files below the directories they are given.
fn names(call: &Call<'_, '_>, texts: &[String], unseen: bool) -> Input {
    let lists = match call.name {
        "ls" | "fd" | "fdfind" => true,
        "git" => texts.iter().any(|text| text == "ls-files" || text == "--name-only"),
        "rg" | "grep" => texts.iter().any(|text| {
            matches!(text.as_str(), "--files" | "--files-with-matches")
                || (text.starts_with('-') && !text.starts_with("--") && text.contains(['l', 'L']))
        }),
        _ => false,
    };
    if matches!(call.name, "grep") && matches!(call.input, Input::Names(_)) && call.positionals().len() == 1 {
        return call.input.clone();
    }
    if !lists {
        return Input::Unknown { unseen };
    }
    let roots: Vec<Value> = match call.name {
        "ls" => call.positionals().iter().map(|field| field.value.clone()).collect(),
        // A pattern among them does no harm: it is taken for one more directory.
        "rg" | "grep" | "fd" | "fdfind" => call.positionals().iter().map(|field| field.value.clone()).collect(),
        _ => Vec::new(),
    };
    // What `ls` prints is relative to what it lists: only without arguments are these names of files.
    if call.name == "ls" && !roots.is_empty() {
        return Input::Unknown { unseen };
    }
    let elsewhere = texts.iter().any(|text| ["--base", "--search", "-C"].iter().any(|flag| text.starts_with(flag)));
    if elsewhere {
        return Input::Unknown { unseen };
    }
    let roots = if roots.is_empty() { vec![Value::text(".")] } else { roots };
    Input::Names(call.state.some_below(&roots, None))
}
