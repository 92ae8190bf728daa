//! What is asked, in order.

use std::collections::HashSet;

use super::ask::{Question, called, picture};
use super::finding::{Examination, Finding, Probe, Verdict};
use super::judge::Doctor;
use super::tools;
use crate::conversation::{ContentBlock, Message, StopReason};
use crate::provider::catalogue::Effort;
use crate::provider::connect::connect;
use crate::provider::error::ProviderError;
use crate::provider::http::Client;
use crate::provider::models::list_models;
use crate::provider::settings::ProviderSettings;

pub(super) async fn all(
    settings: &ProviderSettings,
    client: &Client,
    told: &mut dyn FnMut(&Finding),
) -> Examination {
    // Everything is tried, also what an earlier profile leaves out.
    let settings = ProviderSettings { profile: Vec::new(), ..settings.clone() };
    let provider = connect(settings.clone(), client);
    let mut doctor = Doctor { provider, examination: Examination::default(), told, learnt: Vec::new() };
    list(&mut doctor, &settings, client).await;
    if words(&mut doctor, &settings).await {
        tools::all(&mut doctor, &settings).await;
        pictures(&mut doctor, &settings).await;
        window(&mut doctor, &settings).await;
    } else {
        let asked: HashSet<Probe> = doctor.examination.findings.iter().map(|finding| finding.probe).collect();
        let left: Vec<Probe> = Probe::ALL.iter().copied().filter(|probe| !asked.contains(probe)).collect();
        doctor.skip(&left);
    }
    doctor.examination.profile = doctor.provider.learnt();
    doctor.examination
}

async fn list(doctor: &mut Doctor<'_>, settings: &ProviderSettings, client: &Client) {
    match list_models(settings, client).await {
        Ok(models) => {
            doctor.find(Probe::List, true, models.len().to_string());
            let here = models.iter().any(|model| model.name == settings.model);
            let names: Vec<&str> = models.iter().take(3).map(|model| model.name.as_str()).collect();
            doctor.find(Probe::Listed, here, names.join(", "));
        }
        Err(error) => {
            doctor.find(Probe::List, false, error.to_string());
            doctor.skip(&[Probe::Listed]);
        }
    }
}

/// Whether it answers at all, and what its words are like; false where it does not.
async fn words(doctor: &mut Doctor<'_>, settings: &ProviderSettings) -> bool {
    let question = || Question {
        system: "You answer in one short sentence.",
        ..Question::say("Count from one to ten in words.")
    };
    let heard = doctor.ask(&question()).await;
    let spoken = !heard.text().trim().is_empty();
    doctor.find(Probe::Answer, spoken && heard.error.is_none(), heard.complaint().unwrap_or_else(|| heard.text()));
    if !spoken {
        return false;
    }
    doctor.find(Probe::Stream, heard.pieces > 1, heard.pieces.to_string());
    let ended = !matches!(heard.stop(), StopReason::Missing | StopReason::Other(_));
    doctor.find(Probe::Finish, ended, format!("{:?}", heard.stop()));
    let usage = heard.finished.usage;
    doctor.find(
        Probe::Usage,
        usage.read() > 0 && usage.written() > 0,
        format!("{} + {}", usage.read(), usage.written()),
    );
    // Twice the same beginning, long enough for those who cache only what is long.
    let long = "The grey heron waits by the mill pond. ".repeat(180);
    let mut usage = crate::conversation::Usage::default();
    for end in ["Say yes.", "Say no."] {
        let heard =
            doctor.ask(&Question { messages: vec![Message::user(format!("{long}{end}"))], ..question() }).await;
        usage = heard.finished.usage;
    }
    let cached = format!("{} / {}", usage.cached_read, usage.read());
    if usage.cached_read > 0 {
        doctor.find(Probe::Cache, true, cached);
    } else if usage.read() == 0 {
        doctor.skip(&[Probe::Cache]);
    } else {
        // Many cache without saying so, and short texts not at all.
        doctor.add(Finding { probe: Probe::Cache, verdict: Verdict::Unclear, detail: cached });
    }
    let heard =
        doctor.ask(&Question { system: "Whatever is asked, answer only: PLOVER", ..Question::say("Hello") }).await;
    let heeded = heard.text().to_ascii_uppercase().contains("PLOVER");
    doctor.judge_model(Probe::System, &heard, heeded, &Question::say("Hello")).await;
    limit(doctor).await;
    let heard = doctor.ask(&Question { temperature: Some(0.2), ..Question::say("Say yes.") }).await;
    doctor.judge(Probe::Temperature, &heard, heard.error.is_none(), heard.complaint().unwrap_or_default());
    let effort = settings.abilities.efforts.first().copied().unwrap_or(Effort::Low);
    let heard =
        doctor.ask(&Question { effort: Some(effort), ..Question::say("Which is heavier, 7 kg or 4 kg?") }).await;
    doctor.judge(
        Probe::Effort,
        &heard,
        heard.error.is_none(),
        heard.complaint().unwrap_or_else(|| effort.word().to_owned()),
    );
    if heard.thought > 0 {
        doctor.find(Probe::Reasoning, true, heard.thought.to_string());
    } else {
        doctor.skip(&[Probe::Reasoning]);
    }
    true
}

/// The most tokens of the answer that is to be cut off.
const FEW: u64 = 16;

async fn limit(doctor: &mut Doctor<'_>) {
    let question = Question { most: Some(FEW), ..Question::say("Write two hundred words about rivers.") };
    let heard = doctor.ask(&question).await;
    let seen = heard.complaint().unwrap_or_else(|| format!("{:?}", heard.stop()));
    let is_short = *heard.stop() == StopReason::EndTurn && (1..=FEW).contains(&heard.finished.usage.written());
    if is_short && heard.error.is_none() {
        // The model had said all it wanted to say before the limit.
        doctor.add(Finding { probe: Probe::Limit, verdict: Verdict::Unclear, detail: heard.text() });
    } else {
        doctor.judge(Probe::Limit, &heard, *heard.stop() == StopReason::Length, seen);
    }
}

async fn pictures(doctor: &mut Doctor<'_>, settings: &ProviderSettings) {
    if !settings.vision {
        return doctor.skip(&[Probe::Picture, Probe::ResultPicture]);
    }
    let mut question = Question::say("Which colour is this? One word.");
    question.messages[0].content.push(ContentBlock::Image(picture()));
    let heard = doctor.ask(&question).await;
    doctor.judge(Probe::Picture, &heard, heard.error.is_none(), heard.complaint().unwrap_or_else(|| heard.text()));
    let mut question = Question::with_tools("What is the weather in Oslo?");
    question.messages.extend(called("call_d4", &settings.id(), false));
    for block in question.messages.last_mut().into_iter().flat_map(|message| &mut message.content) {
        if let ContentBlock::ToolResult(result) = block {
            result.images.push(picture());
        }
    }
    let heard = doctor.ask(&question).await;
    doctor.judge(
        Probe::ResultPicture,
        &heard,
        heard.error.is_none(),
        heard.complaint().unwrap_or_else(|| heard.text()),
    );
}

/// A larger window is not tried: a server that takes such a request would bill it.
const LARGEST_TRIED: u64 = 40_000;

async fn window(doctor: &mut Doctor<'_>, settings: &ProviderSettings) {
    let Some(window) = settings.context_window.filter(|window| *window <= LARGEST_TRIED) else {
        return doctor.skip(&[Probe::Window]);
    };
    // Each of these words is a token at least.
    let words = "heron ".repeat(usize::try_from(window + window / 4).unwrap_or(usize::MAX));
    let heard = doctor.ask(&Question { most: Some(16), ..Question::say(&words) }).await;
    let refused = matches!(heard.error, Some(ProviderError::ContextOverflow { .. }));
    doctor.judge(Probe::Window, &heard, refused, heard.complaint().unwrap_or_else(|| heard.text()));
}
