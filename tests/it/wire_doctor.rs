//! `axi doctor model`: what a server does with what it is asked, and the profile that is kept of it.

use serde_json::Value;

use crate::support::emulator::{Emulator, Quirk};
use crate::support::home::Home;
use crate::support::talk::{Ran, run};

/// Quirks, the probes that find them with their verdicts, and what the wire learns.
type Case = (&'static [Quirk], &'static [(&'static str, &'static str)], &'static [&'static str]);

fn examine(home: &Home, emulator: &Emulator, flags: &[&str]) -> Ran {
    let model = "[providers.lab.models.emu]\nvision = true\ncontext_window = 2000\n";
    home.write("config/axi/config.toml", &format!("[providers.lab]\nbase_url = \"{}\"\n{model}", emulator.url()));
    run(home.axi().args(["doctor", "model", "lab/emu"]).args(flags))
}

/// What each probe came to that was neither good nor left out, and the profile.
fn found(quirks: &[Quirk]) -> (Vec<(String, String)>, Vec<String>) {
    let home = Home::new();
    let emulator = Emulator::start(quirks);
    let ran = examine(&home, &emulator, &["--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 25, "{report}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let odd = findings.iter().filter(|finding| finding["verdict"] != "good" && finding["verdict"] != "skipped");
    let odd = odd.map(|finding| (text(&finding["probe"]), text(&finding["verdict"]))).collect();
    (odd, report["profile"].as_array().unwrap().iter().map(text).collect())
}

#[test]
fn every_quirk_is_found_by_its_probe_and_what_the_wire_can_do_without_is_learnt() {
    let cases: &[Case] = &[
        (&[], &[], &[]),
        (&[Quirk::NoList], &[("models", "bad")], &[]),
        (&[Quirk::NoUsage], &[("answer", "adapted"), ("usage", "bad")], &["no_usage"]),
        (&[Quirk::NoFinish], &[("finish", "bad"), ("limit", "bad"), ("call_finish", "bad")], &[]),
        (&[Quirk::DeafToSystem], &[("system", "bad")], &[]),
        (&[Quirk::DropsTools], &[("call", "bad"), ("empty_call", "bad"), ("parallel", "bad")], &[]),
        // What the server passed on is counted: the model did not do it.
        (
            &[Quirk::WeakModel],
            &[("system", "weak"), ("call", "weak"), ("empty_call", "weak"), ("parallel", "weak")],
            &[],
        ),
        (&[Quirk::NoLimit], &[("limit", "bad")], &[]),
        (&[Quirk::Terse], &[("limit", "unclear")], &[]),
        (&[Quirk::OtherLimit], &[("answer", "adapted")], &["other_limit"]),
        (&[Quirk::NoTemperature], &[("temperature", "adapted")], &["no_temperature"]),
        (&[Quirk::NoEffort], &[("effort", "adapted")], &["no_effort"]),
        // That it has no room says nothing about efforts.
        (&[Quirk::BusyForEffort], &[("effort", "unclear")], &[]),
        (&[Quirk::PlainFinish], &[("call_finish", "bad")], &[]),
        (&[Quirk::NoEcho], &[("echo", "adapted")], &["no_reasoning"]),
        (&[Quirk::StrictRoles], &[("behind", "adapted")], &["strict_roles"]),
        (&[Quirk::NoCache], &[("cache", "unclear")], &[]),
        (&[Quirk::TakesTooMuch], &[("window", "bad")], &[]),
        // The wire tells calls apart by their places, by their ids where places say nothing, and gives each an id of its own.
        (&[Quirk::SameIds], &[], &[]),
        (&[Quirk::SamePlaces], &[], &[]),
        (&[Quirk::NoPlaces], &[], &[]),
    ];
    for (quirks, expected, profile) in cases {
        let (odd, learnt) = found(quirks);
        let odd: Vec<(&str, &str)> =
            odd.iter().map(|(probe, verdict)| (probe.as_str(), verdict.as_str())).collect();
        assert_eq!(
            (odd, learnt),
            (expected.to_vec(), profile.iter().map(ToString::to_string).collect()),
            "{quirks:?}"
        );
    }
}

#[test]
fn a_server_that_does_more_than_one_thing_its_own_way_is_found_out_as_well() {
    let cases: &[(Quirk, &[(&str, &str)])] = &[
        (Quirk::NoStream, &[("stream", "bad")]),
        (Quirk::NoTools, &[("call", "bad")]),
        (Quirk::HalfArguments, &[("arguments", "bad")]),
        (Quirk::OwnIds, &[("foreign", "bad")]),
        (Quirk::NoPictures, &[("picture", "bad"), ("result_picture", "bad")]),
        (Quirk::NoResultPictures, &[("result_picture", "bad")]),
    ];
    for (quirk, expected) in cases {
        let (odd, learnt) = found(&[*quirk]);
        let has = |(probe, verdict): &(&str, &str)| odd.contains(&((*probe).to_owned(), (*verdict).to_owned()));
        assert!(expected.iter().all(has), "{quirk:?}: {odd:?}, {learnt:?}");
    }
}

#[test]
fn a_server_that_shows_what_it_thinks_is_said_to() {
    let home = Home::new();
    let verdict = |quirks: &[Quirk]| {
        let ran = examine(&home, &Emulator::start(quirks), &["--json"]);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let findings = report["findings"].as_array().unwrap().clone();
        findings.into_iter().find(|finding| finding["probe"] == "reasoning").map(|found| found["verdict"].clone())
    };
    assert_eq!([verdict(&[]), verdict(&[Quirk::Thinks])], [Some("skipped".into()), Some("good".into())]);
}

#[test]
fn a_person_reads_a_page_and_the_next_request_begins_with_what_was_learnt() {
    let home = Home::new();
    let emulator = Emulator::start(&[Quirk::NoUsage]);
    let ran = examine(&home, &emulator, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out.contains("lab/emu") && ran.out.contains("✓ the server says why the answer ended"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("✗ the server counts tokens"), "{}", ran.out);
    // What was not tested is one row, and what was kept is said only where something was.
    assert_eq!(ran.out.matches("not tested").count(), 1, "{}", ran.out);
    assert!(!ran.out.contains('○'), "{}", ran.out);
    assert!(ran.out.contains("axi keeps the results"), "{}", ran.out);
    let kept = std::fs::read_to_string(home.path().join("state/axi/profiles.json")).unwrap();
    assert!(kept.contains("no_usage"), "{kept}");
    let before = emulator.bodies().len();
    assert_eq!(run(home.axi().args(["-p", "hi", "-m", "lab/emu"])).code, Some(0));
    let asked = emulator.bodies().split_off(before);
    let asked: Vec<_> = asked.iter().filter(|body| body.get("messages").is_some()).collect();
    assert_eq!(asked.len(), 1, "what was learnt is not learnt again: {asked:?}");
    assert!(asked[0].get("stream_options").is_none(), "{asked:?}");
    let nobody = run(home.axi().args(["doctor", "model", "nobody/x"]));
    assert_eq!(nobody.code, Some(3), "{}", nobody.err);
}

#[test]
fn a_page_tells_a_weak_model_from_a_server_that_does_not_work() {
    let home = Home::new();
    let weak = examine(&home, &Emulator::start(&[Quirk::WeakModel]), &[]);
    assert!(weak.out.contains("○ the model calls a tool: the model did not (one two three)"), "{}", weak.out);
    assert!(weak.out.contains("Another model at this server may."), "{}", weak.out);
    assert!(weak.out.contains(" 0 bad, 4 weak (the model)"), "{}", weak.out);
    let deaf = examine(&home, &Emulator::start(&[Quirk::DropsTools]), &[]);
    let counted = "✗ the model calls a tool: 32 tokens are counted with it, 32 without it";
    assert!(deaf.out.contains(counted) && !deaf.out.contains('○'), "{}", deaf.out);
    // A server that counts nothing says nothing about who is to blame.
    let silent = examine(&home, &Emulator::start(&[Quirk::NoUsage, Quirk::WeakModel]), &[]);
    assert!(silent.out.contains("? the model calls a tool: unclear (one two three)"), "{}", silent.out);
}
