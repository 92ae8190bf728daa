//! What is asked about tools: whether the model calls them, and what the server does with calls and their results.

use std::collections::HashSet;

use super::ask::{Heard, Question, called};
use super::finding::{Finding, Probe, Verdict};
use super::judge::Doctor;
use crate::conversation::{Message, StopReason, ToolCall};
use crate::provider::settings::ProviderSettings;

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

pub(super) async fn all(doctor: &mut Doctor<'_>, settings: &ProviderSettings) {
    if !settings.tools {
        return doctor.skip(CALLS);
    }
    let weather = "What is the weather in Oslo? Use the weather tool.";
    let called = |calls: &[ToolCall]| calls.iter().any(|call| call.name == "weather");
    let heard = ask_with_tools(doctor, Probe::Call, weather, called).await;
    let calls = heard.calls();
    if let Some(call) = calls.first() {
        let city = calls.iter().all(|call| call.input["city"].is_string());
        match calls.iter().find(|call| call.invalid_input.is_some()) {
            Some(broken) => doctor.find(Probe::Arguments, false, broken.arguments.clone()),
            None if city => doctor.find(Probe::Arguments, true, String::new()),
            None => {
                let detail = call.input.to_string();
                doctor.add(Finding { probe: Probe::Arguments, verdict: Verdict::Weak, detail });
            }
        }
        doctor.find(Probe::CallFinish, *heard.stop() == StopReason::ToolUse, format!("{:?}", heard.stop()));
    } else {
        doctor.skip(&[Probe::Arguments, Probe::CallFinish]);
    }
    ask_with_tools(doctor, Probe::EmptyCall, "What time is it? Use the tool called now.", |calls| {
        calls.iter().any(|call| call.name == "now" && call.invalid_input.is_none())
    })
    .await;
    let both = "Get the weather of Oslo and of Rome, both tool calls at once.";
    let heard = ask_with_tools(doctor, Probe::Parallel, both, |calls| calls.len() > 1).await;
    let ids: Vec<String> = heard.calls().into_iter().map(|call| call.id).collect();
    if ids.len() > 1 {
        let different: HashSet<&String> = ids.iter().collect();
        doctor.find(Probe::Ids, different.len() == ids.len(), ids.join(", "));
    } else {
        doctor.skip(&[Probe::Ids]);
    }
    history(doctor, settings).await;
}

/// Asks for calls, and judges those that came.
async fn ask_with_tools(
    doctor: &mut Doctor<'_>,
    probe: Probe,
    words: &str,
    are_right: impl Fn(&[ToolCall]) -> bool,
) -> Heard {
    let heard = doctor.ask(&Question::with_tools(words)).await;
    doctor.judge_model(probe, &heard, are_right(&heard.calls()), &Question::say(words)).await;
    heard
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
