//! The table of programs that write, destroy, reach the network or stop what runs; and what they touch.

use super::super::judgement::Action;
use super::super::known::{Chunk, Value};
use super::call::{Call, Field, Finding, Touched};
use crate::approval::path::is_harmless_device;
use crate::approval::{Class, NeverAuto};

/// Programs that reach the network.
const NETWORK: &[&str] = &[
    "curl",
    "wget",
    "http",
    "https",
    "xh",
    "aria2c",
    "ping",
    "ping6",
    "traceroute",
    "tracepath",
    "mtr",
    "dig",
    "nslookup",
    "host",
    "whois",
    "nc",
    "ncat",
    "netcat",
    "telnet",
    "ftp",
    "sftp",
    "scp",
    "nmap",
    "socat",
    "tldr",
    "lynx",
    "w3m",
    "links",
    "yt-dlp",
    "youtube-dl",
    "gh",
    "glab",
    "aws",
    "gcloud",
    "az",
    "kubectl",
    "helm",
    "rclone",
    "sshfs",
    "tailscale",
    "ngrok",
];

/// Programs that overwrite disks or file systems.
const DEVICES: &[&str] = &[
    "wipefs",
    "fdisk",
    "sfdisk",
    "gdisk",
    "sgdisk",
    "parted",
    "mkswap",
    "cryptsetup",
    "blkdiscard",
    "hdparm",
    "format",
];

/// Programs that stop the machine.
const MACHINE: &[&str] = &["shutdown", "reboot", "poweroff", "halt", "killall5", "telinit", "init"];

/// Programs that write files in ways that lose nothing.
const WRITERS: &[&str] =
    &["mkdir", "touch", "ln", "mkfifo", "mknod", "tee", "patch", "install", "cp", "split", "csplit", "ditto"];

/// Judges the programs of this table; `None` for others.
pub(crate) fn classify(call: &Call<'_, '_>) -> Option<Finding> {
    let name = call.name;
    if NETWORK.contains(&name) {
        return Some(network(call));
    }
    let lists = call.has_flag("l", &["list"]) && call.positionals().is_empty();
    if (DEVICES.contains(&name) && !lists) || name.starts_with("mkfs") || name.starts_with("newfs") {
        let target = call.positionals().last().map(|field| field.value.shown()).unwrap_or_default();
        return Some(Finding::never(Class::Destructive, NeverAuto::Device { target }));
    }
    if MACHINE.contains(&name) {
        return Some(Finding::never(Class::Destructive, NeverAuto::Machine));
    }
    let finding = match name {
        "rm" | "shred" | "srm" | "unlink" | "trash" | "trash-put" | "gio" | "rimraf" | "del" | "safe-rm"
        | "grm" => touch(call.positionals(), Class::Destructive, Action::Remove, true),
        "rmdir" => touch(call.positionals(), Class::Write, Action::Remove, false),
        "tar" | "bsdtar" | "gtar" | "unzip" => unpacked(call),
        "zip" if call.has_flag("m", &["move"]) => {
            touch(call.positionals(), Class::Destructive, Action::Remove, true)
        }
        "truncate" => touch(call.positionals(), Class::Destructive, Action::Remove, false),
        "mv" | "gmv" => moved(call),
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "chflags" | "xattr" => attributes(call),
        "dd" => disk_dump(call),
        "rsync" => synchronised(call),
        "kill" | "pkill" | "killall" => signalled(call),
        "sed" => touch(call.positionals(), Class::Write, Action::Overwrite, false),
        "sort" | "shuf" | "sdiff" | "iconv" | "base64" | "xmllint" => {
            let output = call.value_of(&["-o", "--output"]);
            let fields: Vec<Field> = output.into_iter().map(|value| Field { value, written: None }).collect();
            touch(fields.iter().collect(), Class::Write, Action::Overwrite, false)
        }
        "uniq" | "xxd" => {
            touch(call.positionals().into_iter().skip(1).collect(), Class::Write, Action::Overwrite, false)
        }
        "systemctl" | "loginctl" if stops_machine(call) => Finding::never(Class::Destructive, NeverAuto::Machine),
        "docker" | "podman" if removes(call) => Finding::new(Class::Destructive),
        "cp" | "install" | "ln" | "ditto" => copied(call),
        "tee" if call.positionals().iter().all(|field| is_harmless_device(&field.value.shown())) => {
            Finding::new(Class::ReadOnly)
        }
        _ if WRITERS.contains(&name) => {
            let append = name == "tee" && call.has_flag("a", &["append"]);
            let action = if name == "tee" && !append { Action::Overwrite } else { Action::Change };
            touch(call.positionals(), Class::Write, action, false)
        }
        _ => return None,
    };
    Some(finding)
}

fn touch(fields: Vec<&Field>, class: Class, action: Action, recursive: bool) -> Finding {
    let mut finding = Finding::new(class);
    for field in fields {
        // A word that is not known may also be a flag; as a target it forbids already.
        let value = field.value.clone();
        finding.touched.push(Touched { value, action, recursive, filtered: false });
    }
    finding
}

fn network(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::Network);
    let output: &[&str] = match call.name {
        "curl" => &["-o", "--output"],
        "wget" => &["-O", "--output-document"],
        _ => &[],
    };
    if let Some(value) = call.value_of(output)
        && value.start() != "-"
    {
        finding.touched.push(Touched { value, action: Action::Change, recursive: false, filtered: false });
    }
    let destroys = ["delete", "destroy", "rm", "rb", "terminate-instances", "drain", "uninstall", "purge"];
    if matches!(call.name, "kubectl" | "aws" | "gcloud" | "az" | "helm" | "gh" | "rclone")
        && call.texts().iter().any(|text| destroys.contains(&text.as_str()))
    {
        finding.class = Class::Destructive;
    }
    finding
}

/// Everything but the last is taken away; the last is written to.
fn moved(call: &Call<'_, '_>) -> Finding {
    let positionals = call.positionals();
    let mut finding = Finding::new(Class::Write);
    let into = call.value_of(&["-t", "--target-directory"]);
    let (target, sources) = match (&into, positionals.split_last()) {
        (Some(into), _) => (Some(into.clone()), positionals.as_slice()),
        (None, Some((last, sources))) => (Some(last.value.clone()), sources),
        (None, None) => (None, positionals.as_slice()),
    };
    for source in sources {
        let value = source.value.clone();
        finding.touched.push(Touched { value, action: Action::Move, recursive: true, filtered: false });
    }
    if let Some(value) = target {
        if value.known().is_some_and(|text| text == "/dev/null") {
            finding.class = Class::Destructive;
        }
        finding.touched.push(Touched { value, action: Action::Change, recursive: false, filtered: false });
    }
    finding
}

/// Where an archive is unpacked; it may bring any name along.
fn unpacked(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::Execute);
    let flags: &[&str] = if call.name == "unzip" { &["-d"] } else { &["-C", "--directory"] };
    if let Some(value) = call.value_of(flags) {
        finding.touched.push(Touched { value, action: Action::Overwrite, recursive: false, filtered: false });
    }
    // What is packed is gone.
    if call.texts().iter().any(|text| text.starts_with("--remove")) {
        finding.class = Class::Destructive;
        for field in call.positionals() {
            let value = field.value.clone();
            finding.touched.push(Touched { value, action: Action::Remove, recursive: true, filtered: false });
        }
    }
    if unpacks(call) {
        let value = call.value_of(flags).unwrap_or_else(|| Value::text("."));
        finding.touched.push(Touched { value, action: Action::Change, recursive: true, filtered: true });
    }
    finding
}

/// Tells whether an archive is taken apart, and not made.
fn unpacks(call: &Call<'_, '_>) -> bool {
    let first = call.arguments.first().map(|field| field.value.start()).unwrap_or_default();
    let bundle = !first.starts_with("--") && first.contains('x');
    call.name == "unzip" || bundle || call.has_flag("x", &["extract", "get"])
}

fn copied(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::Write);
    let last = call.positionals().last().map(|field| field.value.clone());
    if let Some(value) = call.value_of(&["-t", "--target-directory"]).or(last) {
        finding.touched.push(Touched { value, action: Action::Change, recursive: false, filtered: false });
    }
    finding
}

fn attributes(call: &Call<'_, '_>) -> Finding {
    let recursive = call.has_flag("R", &["recursive"]);
    let class = if recursive { Class::Destructive } else { Class::Write };
    // Modes such as `-x` look like flags; then the first target is taken for the mode, and a flag hides nothing.
    let is_mode = |text: &str| text.len() > 1 && text[1..].chars().all(|c| "rwxXst".contains(c));
    let mode_is_flag =
        call.arguments.iter().any(|field| field.value.start().starts_with('-') && is_mode(field.value.start()));
    let reference = call.arguments.iter().any(|field| field.value.start().starts_with("--ref"));
    let positionals = call.positionals();
    let skipped = usize::from(!mode_is_flag && !reference);
    let targets: Vec<&Field> = positionals.iter().copied().skip(skipped).collect();
    // What may only be done more with is not lost.
    let adds = call.name == "chmod"
        && !mode_is_flag
        && positionals.first().is_some_and(|mode| {
            let mode = mode.value.start().trim_start_matches(['u', 'g', 'o', 'a']);
            mode.starts_with('+') && is_mode(mode)
        });
    let mut finding = touch(targets, class, Action::Attributes, recursive);
    let hidden = |touched: &&Touched| touched.value.is_unknown() || touched.value.had_empty;
    if let Some(touched) = finding.touched.iter().find(hidden).filter(|_| !adds) {
        finding.never = Some(NeverAuto::Unresolved { word: touched.value.shown() });
    }
    // Through each link below them.
    if recursive && call.has_flag("L", &[]) {
        for touched in &mut finding.touched {
            touched.value.chunks.push(Chunk::Unknown);
        }
    }
    finding
}

fn disk_dump(call: &Call<'_, '_>) -> Finding {
    let mut finding = Finding::new(Class::Destructive);
    for field in call.arguments {
        if field.value.start().starts_with("of=") {
            let value = field.value.without_start(3);
            finding.touched.push(Touched { value, action: Action::Overwrite, recursive: false, filtered: false });
        } else if field.value.start().is_empty() {
            let value = Value::unknown();
            finding.touched.push(Touched { value, action: Action::Overwrite, recursive: false, filtered: false });
        }
    }
    if finding.touched.is_empty() {
        finding.class = Class::ReadOnly;
    }
    finding
}

fn synchronised(call: &Call<'_, '_>) -> Finding {
    let deletes = call.texts().iter().any(|text| text.starts_with("--del"));
    let moves = call.texts().iter().any(|text| text.starts_with("--remove"));
    let is_remote = |field: &&Field| field.value.shown().split('/').next().is_some_and(|first| first.contains(':'));
    let positionals = call.positionals();
    let remote = positionals.iter().any(is_remote);
    let class = match (deletes || moves, remote) {
        (true, _) => Class::Destructive,
        (false, true) => Class::Network,
        (false, false) => Class::Write,
    };
    let mut finding = Finding::new(class);
    if let Some(last) = positionals.last()
        && !is_remote(last)
    {
        let action = if deletes { Action::Remove } else { Action::Change };
        let mut value = last.value.clone();
        // What a link leads to is emptied, and not the link.
        if deletes {
            value.push_text("/.");
        }
        finding.touched.push(Touched { value, action, recursive: true, filtered: false });
    }
    let sources = positionals.split_last().map_or(&[][..], |(_, sources)| sources);
    for source in sources.iter().filter(|source| moves && !is_remote(source)) {
        let value = source.value.clone();
        finding.touched.push(Touched { value, action: Action::Remove, recursive: true, filtered: false });
    }
    finding
}

fn signalled(call: &Call<'_, '_>) -> Finding {
    let texts = call.texts();
    if call.name == "kill" && texts.first().is_some_and(|text| text == "-l" || text == "-L") {
        return Finding::new(Class::ReadOnly);
    }
    let everything = match call.name {
        "kill" => texts.iter().skip(1).any(|text| text == "-1") || texts.as_slice() == ["-1"],
        _ => call.has_flag("u", &["user", "uid"]) || texts.iter().any(|text| matches!(text.as_str(), "." | ".*")),
    };
    if everything {
        return Finding::never(Class::Destructive, NeverAuto::Machine);
    }
    Finding::new(Class::Destructive)
}

fn stops_machine(call: &Call<'_, '_>) -> bool {
    let stops = ["poweroff", "reboot", "halt", "suspend", "hibernate", "kexec", "emergency", "rescue", "isolate"];
    call.texts().iter().any(|text| stops.contains(&text.as_str()))
}

fn removes(call: &Call<'_, '_>) -> bool {
    let removes = ["rm", "rmi", "prune", "kill", "down"];
    call.texts().iter().any(|text| removes.contains(&text.as_str()))
}
