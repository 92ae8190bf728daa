//! What is asked, in order, and how an answer is judged.

use std::collections::HashSet;
use std::sync::Arc;

use super::ask::{Heard, Question, ask, called, picture};
use super::finding::{Examination, Finding, Probe, Verdict};
use crate::conversation::{ContentBlock, Message, StopReason};
use crate::provider::catalogue::Effort;
use crate::provider::connect::connect;
use crate::provider::error::ProviderError;
use crate::provider::http::Client;
use crate::provider::models::list_models;
use crate::provider::request::Provider;
use crate::provider::settings::ProviderSettings;

/// The state of an examination.
struct Doctor<'a> {
    provider: Arc<dyn Provider>,
    examination: Examination,
    told: &'a mut dyn FnMut(&Finding),
    /// What was learnt before the probe that is under way.
    learnt: Vec<String>,
}

impl Doctor<'_> {
    fn find(&mut self, probe: Probe, good: bool, detail: String) {
        let learnt = self.provider.learnt();
        let new: Vec<&str> = learnt.iter().filter(|name| !self.learnt.contains(name)).map(String::as_str).collect();
        let new = new.join(", ");
        self.learnt = learnt;
        let (verdict, detail) = match (good, new.is_empty()) {
            (true, true) => (Verdict::Good, detail),
            (true, false) => (Verdict::Adapted, new),
            (false, _) => (Verdict::Bad, detail),
        };
        self.add(Finding { probe, verdict, detail });
    }

    /// The same for what was heard, where that says anything about it.
    fn judge(&mut self, probe: Probe, heard: &Heard, good: bool, detail: String) {
        if heard.is_unclear() {
            self.add(Finding { probe, verdict: Verdict::Unclear, detail: heard.complaint().unwrap_or_default() });
        } else {
            self.find(probe, good, detail);
        }
    }

    fn skip(&mut self, probes: &[Probe]) {
        for probe in probes {
            self.add(Finding { probe: *probe, verdict: Verdict::Skipped, detail: String::new() });
        }
    }

    fn add(&mut self, finding: Finding) {
        (self.told)(&finding);
        self.examination.findings.push(finding);
    }

    async fn ask(&self, question: &Question) -> Heard {
        ask(&*self.provider, question).await
    }
}

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
        calls(&mut doctor, &settings).await;
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
            doctor.find(Probe::Listed, here, settings.model.clone());
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
    } else {
        // Many cache without saying so, and short texts not at all.
        doctor.add(Finding { probe: Probe::Cache, verdict: Verdict::Skipped, detail: cached });
    }
    let heard =
        doctor.ask(&Question { system: "Whatever is asked, answer only: PLOVER", ..Question::say("Hello") }).await;
    doctor.judge(Probe::System, &heard, heard.text().to_ascii_uppercase().contains("PLOVER"), heard.text());
    let heard =
        doctor.ask(&Question { most: Some(16), ..Question::say("Write two hundred words about rivers.") }).await;
    let limited = *heard.stop() == StopReason::Length;
    doctor.judge(Probe::Limit, &heard, limited, heard.complaint().unwrap_or_else(|| format!("{:?}", heard.stop())));
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

const CALLS: &[Probe] = &[
    Probe::Call,
    Probe::Arguments,
    Probe::CallFinish,
    Probe::EmptyCall,
    Probe::Parallel,
    Probe::Ids,
    Probe::Result,
    Probe::Foreign,
    Probe::Echo,
    Probe::Behind,
];

async fn calls(doctor: &mut Doctor<'_>, settings: &ProviderSettings) {
    if !settings.tools {
        return doctor.skip(CALLS);
    }
    let heard = doctor.ask(&Question::with_tools("What is the weather in Oslo? Use the weather tool.")).await;
    let calls = heard.calls();
    let seen =
        heard.complaint().unwrap_or_else(|| calls.first().map_or_else(|| heard.text(), |call| call.name.clone()));
    doctor.judge(Probe::Call, &heard, calls.iter().any(|call| call.name == "weather"), seen);
    if calls.is_empty() {
        doctor.skip(&[Probe::Arguments, Probe::CallFinish]);
    } else {
        let whole = calls.iter().all(|call| call.invalid_input.is_none() && call.input["city"].is_string());
        doctor.find(Probe::Arguments, whole, calls[0].input.to_string());
        doctor.find(Probe::CallFinish, *heard.stop() == StopReason::ToolUse, format!("{:?}", heard.stop()));
    }
    let heard = doctor.ask(&Question::with_tools("What time is it? Use the tool called now.")).await;
    let now = heard.calls().into_iter().find(|call| call.name == "now");
    let whole = now.as_ref().is_some_and(|call| call.invalid_input.is_none());
    doctor.judge(Probe::EmptyCall, &heard, whole, heard.complaint().unwrap_or_else(|| heard.text()));
    let heard =
        doctor.ask(&Question::with_tools("Get the weather of Oslo and of Rome, both tool calls at once.")).await;
    let ids: Vec<String> = heard.calls().into_iter().map(|call| call.id).collect();
    if ids.len() > 1 {
        doctor.find(Probe::Parallel, true, ids.len().to_string());
        let different: HashSet<&String> = ids.iter().collect();
        doctor.find(Probe::Ids, different.len() == ids.len(), ids.join(", "));
    } else {
        doctor.skip(&[Probe::Parallel, Probe::Ids]);
    }
    history(doctor, settings).await;
}

/// Whether it takes what was said before, by itself and by others.
async fn history(doctor: &mut Doctor<'_>, settings: &ProviderSettings) {
    let (own, other) = (settings.id(), "elsewhere/model".to_owned());
    let said = |id: &str, model: &str, thought: bool, behind: Option<&str>| {
        let mut question = Question::with_tools("What is the weather in Oslo?");
        question.messages.extend(called(id, model, thought));
        if let Some(words) = behind {
            question.messages.push(Message::user(words));
        }
        question
    };
    for (probe, question) in [
        (Probe::Result, said("call_a1", &own, false, None)),
        (Probe::Foreign, said("functions.weather:0", &other, true, None)),
        (Probe::Echo, said("call_b2", &own, true, None)),
        (Probe::Behind, said("call_c3", &own, false, Some("Answer in one word."))),
    ] {
        let heard = doctor.ask(&question).await;
        doctor.judge(probe, &heard, heard.error.is_none(), heard.complaint().unwrap_or_else(|| heard.text()));
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
