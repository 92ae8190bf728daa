//! What can be chosen for a session: how far the agent goes, which model answers, how much it thinks.

use serde_json::{Value, json};

use crate::agent::Agent;
use crate::approval::Mode;
use crate::locale::{Locale, Word, word};
use crate::provider::Effort;

/// Models that are listed at most.
const MOST_MODELS: usize = 300;

/// What an effort is called that is left to the model.
const BY_ITSELF: &str = "default";

/// A mode: its id, how far the agent goes, whether edits are accepted, its name, what it does.
struct Row(&'static str, Mode, bool, Word, Word);

/// The modes, as Shift+Tab goes through them in a terminal.
const MODES: [Row; 3] = [
    Row("ask", Mode::Build, false, word::acp::mode::ASK, word::acp::mode::ASK_SAYS),
    Row("accept-edits", Mode::Build, true, word::acp::mode::EDITS, word::acp::mode::EDITS_SAYS),
    Row("plan", Mode::Plan, false, word::acp::mode::PLAN, word::acp::mode::PLAN_SAYS),
];

/// The id of the mode the agent is in. One that only explores only reads, as one that plans.
pub(super) fn current(agent: &Agent) -> &'static str {
    let row = match (agent.policy().mode(), agent.policy().accepts_edits()) {
        (Mode::Build, false) => &MODES[0],
        (Mode::Build, true) => &MODES[1],
        (Mode::Plan | Mode::Explore, _) => &MODES[2],
    };
    row.0
}

/// Goes into a mode; false where there is none of this id.
pub(super) fn set(agent: &mut Agent, id: &str) -> bool {
    let Some(Row(_, mode, accepts, ..)) = MODES.iter().find(|row| row.0 == id) else { return false };
    agent.set_mode(*mode);
    agent.policy_mut().set_accepts_edits(*accepts);
    true
}

/// Has the model think so much; false where there is no such effort.
pub(super) fn set_effort(agent: &mut Agent, id: &str) -> bool {
    let effort = Effort::parse(id);
    if effort.is_none() && id != BY_ITSELF {
        return false;
    }
    agent.wishes().effort = effort;
    true
}

/// The modes, for clients that know no options.
pub(super) fn modes(agent: &Agent, locale: &Locale) -> Value {
    let rows: Vec<Value> = MODES
        .iter()
        .map(|Row(id, _, _, name, says)| {
            json!({"id": id, "name": locale.text(*name), "description": locale.text(*says)})
        })
        .collect();
    json!({"currentModeId": current(agent), "availableModes": rows})
}

/// All options with what is chosen; `models` are those that are known so far.
pub(super) fn options(agent: &mut Agent, models: &[(String, String)], locale: &Locale) -> Value {
    let choices: Vec<Value> = MODES
        .iter()
        .map(|Row(id, _, _, name, says)| {
            json!({"value": id, "name": locale.text(*name), "description": locale.text(*says)})
        })
        .collect();
    let current = agent.model().id();
    let known = models.iter().any(|(id, _)| *id == current);
    let own = (!known).then(|| (current.clone(), String::new()));
    let all = own.iter().chain(models).take(MOST_MODELS);
    let models: Vec<Value> = all.map(|(id, says)| json!({"value": id, "name": id, "description": says})).collect();
    let effort = agent.wishes().effort;
    let by_itself = json!({"value": BY_ITSELF, "name": locale.text(word::acp::EFFORT_DEFAULT)});
    let efforts: Vec<Value> = std::iter::once(by_itself)
        .chain(Effort::ALL.iter().map(|effort| json!({"value": effort.word(), "name": effort.word()})))
        .collect();
    json!([
        {"id": "mode", "name": locale.text(word::acp::MODE_LABEL), "category": "mode", "type": "select",
         "currentValue": self::current(agent), "options": choices},
        {"id": "model", "name": locale.text(word::acp::MODEL), "category": "model", "type": "select",
         "currentValue": current, "options": models},
        {"id": "effort", "name": locale.text(word::acp::EFFORT), "category": "thought_level", "type": "select",
         "currentValue": effort.map_or(BY_ITSELF, Effort::word), "options": efforts},
    ])
}
