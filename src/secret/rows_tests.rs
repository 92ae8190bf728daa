//! Each row of each list is met by the way it is looked up: one in capitals, where a line is looked up in small
//! letters, would stand there for nothing.

use std::path::Path;

use super::name::{Naming, naming};
use super::*;

const CHOSEN: &str = "Canary9tZ4";
const DRAWN: &str = "Q4k8ZpT1wYx7Nc3Vb9Lm2RsJ6HdF0gAe";
const SUM: &str = "3f9a1c0de7b24586a1f0c9d8e7b6a594";

fn hides(text: &str, value: &str) -> bool {
    !redact(text, &Known::default(), Level::Sent).0.contains(value)
}

/// Each row is written as it stands, in small letters, in capitals and with one capital.
fn cases(row: &str) -> [String; 4] {
    let mut letters = row.chars();
    let first: String = letters.by_ref().take(1).flat_map(char::to_uppercase).collect();
    [row.to_owned(), row.to_lowercase(), row.to_uppercase(), first + letters.as_str()]
}

fn all_met(list: &str, rows: &[&str], is_met: impl Fn(&str) -> bool) {
    let missed: Vec<&&str> = rows.iter().filter(|row| !is_met(row)).collect();
    assert!(missed.is_empty(), "{list}: {missed:?}");
}

fn all_met_in_any_case(list: &str, rows: &[&str], is_met: impl Fn(&str) -> bool) {
    all_met(list, rows, |row| cases(row).iter().all(|row| is_met(row)));
}

#[test]
fn each_row_of_names_is_met() {
    let secret = |row: &str| naming(row) == Some(Naming::Secret);
    all_met_in_any_case("PARTS", table::PARTS, |row| secret(&format!("a_{row}")) && secret(row));
    all_met_in_any_case("ASKED", table::ASKED, |row| asks_for_secret(&format!("Your {row}, please")));
    all_met_in_any_case("PARTS", table::PARTS, asks_for_secret);
    all_met_in_any_case("WORDS", table::WORDS, |row| secret(row) && secret(&format!("db_{row}")));
    all_met_in_any_case("WEAK_WORDS", table::WEAK_WORDS, |row| naming(&format!("db_{row}")) == Some(Naming::Maybe));
    all_met_in_any_case("RANDOM_WORDS", looks::RANDOM_WORDS, |row| naming(&format!("my_{row}")).is_some());
    all_met_in_any_case("ABOUT", table::ABOUT, |row| naming(&format!("password_{row}")).is_none());
    all_met_in_any_case("LEADS", table::LEADS, |row| is_kept_from_readers(&format!("MY_{row}")));
}

#[test]
fn each_row_of_words_is_met() {
    let hash = "a1b2c3d4e5f6g7";
    all_met("HASHES", table::HASHES, |row| hides(&format!("x {row}{hash}"), hash));
    for schemes in [table::SCHEMES, table::PLAIN_SCHEMES] {
        all_met_in_any_case("SCHEMES", schemes, |row| hides(&format!("x {row}{hash}"), hash));
    }
    all_met("WEBHOOKS", table::WEBHOOKS, |row| hides(&format!("https://{row}a1b2-c3d4-e5f6"), "a1b2-c3d4-e5f6"));
    all_met("IDENTITIES", table::IDENTITIES, |row| {
        redact(&format!("for {row}a1b2c3d4 x"), &Known::default(), Level::Repeated).0 == format!("for {MARK} x")
    });
    all_met_in_any_case("SPOKEN", table::SPOKEN, |row| hides(&format!("{row}: {CHOSEN}"), CHOSEN));
    all_met("SAYS", table::SAYS, |row| hides(&format!("密码 {row} {CHOSEN}"), CHOSEN));
    all_met_in_any_case("PASSWORD_WORDS", looks::PASSWORD_WORDS, |row| {
        hides(&format!("a {row} of x 'b' '{CHOSEN}'"), CHOSEN)
    });
    all_met_in_any_case("LOGIN_WORDS", looks::LOGIN_WORDS, |row| hides(&format!("{row} x me:{CHOSEN}"), CHOSEN));
    all_met_in_any_case("SAYS_WORDS", looks::SAYS_WORDS, |row| {
        hides(&format!("login x {row} canary9tz4"), "canary9tz4")
    });
    all_met_in_any_case("VALUED_WORDS", looks::VALUED_WORDS, |row| hides(&format!("a b {row} {CHOSEN}"), CHOSEN));
    all_met_in_any_case("CALLS", looks::CALLS, |row| hides(&format!("{row}('me', '{CHOSEN}')"), CHOSEN));
    all_met("PROTOCOL_WORDS", looks::PROTOCOL_WORDS, |row| hides(&format!("{row} {CHOSEN}"), CHOSEN));
    all_met_in_any_case("ALGORITHMS", looks::ALGORITHMS, |row| !prose::is_chosen(&format!("{row}Abc12345")));
    all_met_in_any_case("KEY_WORDS", looks::KEY_WORDS, |row| hides(&format!("acme_{row}_{SUM}"), SUM));
    all_met_in_any_case("CAPABILITIES", looks::CAPABILITIES, |row| {
        hides(&format!("https://example.com{}s/{SUM}", row.replace("hook", "/hook")), SUM)
    });
    all_met("IDENTIFIERS", looks::IDENTIFIERS, |row| !hides(&format!("x {row}{DRAWN}"), DRAWN));
    all_met_in_any_case("SUMS", looks::SUMS, |row| !hides(&format!("MY{row}={DRAWN}"), DRAWN));
}

#[test]
fn each_row_of_programs_is_met() {
    all_met("PRINTERS", table::PRINTERS, |row| hides(&format!("{row} abcdef | chpasswd"), "abcdef"));
    all_met("READS_SECRET", table::READS_SECRET, |row| hides(&format!("echo abcdef | x {row} -S"), "abcdef"));
    all_met("SETTERS", table::SETTERS, |row| hides(&format!("x {row} API_TOKEN abcdef"), "abcdef"));
    all_met("KEEPS", table::KEEPS, |row| hides(&format!("echo abcdef | x {row} db_password"), "abcdef"));
    for user in table::USER_OPTIONS {
        all_met("PASSWORD_OPTIONS", table::PASSWORD_OPTIONS, |row| {
            hides(&format!("x {user} me {row} abcdef"), "abcdef")
        });
    }
    for row in table::ARGUMENTS {
        let value = "abcdef9";
        let with = if row.with.is_empty() { String::new() } else { format!("{} ", row.with) };
        let text = match &row.take {
            table::Take::Attached => format!("{}{value}", row.option),
            table::Take::Option | table::Take::After => format!("{} {value}", row.option),
            table::Take::Behind(mark) if mark.ends_with(':') && row.option.starts_with("-pass") => {
                format!("{} {mark}{value}", row.option)
            }
            table::Take::Behind(mark) if row.option.is_empty() => format!("me{mark}{value}"),
            table::Take::Behind(mark) => format!("{} me{mark}{value}", row.option),
            table::Take::Place(place) => {
                // The word without which the row says nothing stands at the first place, unless it is an option.
                let others = place - 1 - usize::from(!row.with.is_empty() && !row.with.starts_with('-'));
                format!("{}{value}", "a ".repeat(others))
            }
        };
        let with = if row.with == row.option { String::new() } else { with };
        all_met("ARGUMENTS", row.programs, |program| {
            let line = format!("{program} {with}{text}");
            let is_met = hides(&line, value);
            assert!(is_met, "{line}");
            is_met
        });
    }
}

#[test]
fn each_row_of_files_is_met() {
    let home = Some(Path::new("/home/me"));
    let secret = |path: &str| files::is_secret(Path::new(path), home);
    all_met("IN_HOME", places::IN_HOME, |row| {
        secret(&format!("/home/me/{row}")) && secret(&format!("/home/me/{row}/x"))
    });
    all_met("IN_SYSTEM", places::IN_SYSTEM, |row| secret(row) && secret(&format!("{row}/x")));
    all_met_in_any_case("NAMES", places::NAMES, |row| secret(&format!("/w/{row}")));
    all_met_in_any_case("BEGINNINGS", places::BEGINNINGS, |row| secret(&format!("/w/{row}a")));
    all_met_in_any_case("ENDINGS", places::ENDINGS, |row| secret(&format!("/w/a{row}")));
    all_met("PATHS", places::PATHS, |row| secret(&format!("/w/{row}")));
    all_met("DIRECTORIES", places::DIRECTORIES, |row| secret(&format!("/w/{row}/x")));
    for copy in [places::COPIES, places::PACKED] {
        all_met_in_any_case("COPIES, PACKED", copy, |row| secret(&format!("/w/.env{row}")));
    }
    all_met_in_any_case("SAMPLES", places::SAMPLES, |row| !secret(&format!("/w/.env{row}")));
    all_met_in_any_case("PUBLIC_NAMES", places::PUBLIC_NAMES, |row| !secret(&format!("/w/{row}")));
    all_met("PUBLIC_TREES", places::PUBLIC_TREES, |row| !secret(&format!("{row}/x.pem")));
    all_met("OWN_TREES", places::OWN_TREES, |row| secret(&format!("{row}/x.pem")));
    all_met("RAW", places::RAW, |row| secret(&format!("{row}1")));
}
