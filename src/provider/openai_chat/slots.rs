//! Which piece of a stream belongs to which call. Pure.

use serde_json::{Map, Value};

use crate::conversation::StreamEvent;

/// One piece of a call as it came.
#[derive(Debug, Clone, Default)]
pub(super) struct CallPiece {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) index: Option<i64>,
    /// JSON text, cut anywhere.
    pub(super) arguments: String,
    /// What we do not know of it, verbatim.
    pub(super) extra: Map<String, Value>,
}

/// The calls of one answer, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct CallSlots {
    slots: Vec<Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    index: Option<i64>,
    id: String,
    name: String,
    /// The whole of it, to tell a second call from more pieces of the first.
    arguments: String,
    /// What came before the name.
    extra: Map<String, Value>,
}

impl CallSlots {
    /// Tells whether any call has begun.
    pub(super) const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Takes a piece. A call begins with its name; arguments that came before it follow then.
    pub(super) fn push(&mut self, piece: CallPiece, events: &mut Vec<StreamEvent>) {
        let at = self.find(&piece).unwrap_or_else(|| {
            self.slots.push(Slot { index: piece.index, id: piece.id.clone(), ..Slot::default() });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[at];
        slot.arguments.push_str(&piece.arguments);
        let begun = !slot.name.is_empty();
        if begun {
            if !piece.extra.is_empty() {
                events.push(StreamEvent::ToolCallExtra { slot: at, extra: piece.extra });
            }
            if !piece.arguments.is_empty() {
                events.push(StreamEvent::ToolCallDelta { slot: at, arguments: piece.arguments });
            }
            return;
        }
        slot.extra.extend(piece.extra);
        if slot.id.is_empty() {
            slot.id = piece.id;
        }
        if piece.name.is_empty() {
            return;
        }
        slot.name = piece.name;
        let (id, name, extra) = (slot.id.clone(), slot.name.clone(), std::mem::take(&mut slot.extra));
        events.push(StreamEvent::ToolCallStart { slot: at, id, name, extra });
        if !slot.arguments.is_empty() {
            events.push(StreamEvent::ToolCallDelta { slot: at, arguments: slot.arguments.clone() });
        }
    }

    /// Finds the call that a piece belongs to; `None` means a new one begins.
    ///
    /// The id decides first: the index may be missing (Gemini, mistral.rs: open-webui PR#27190) or 0 for all calls
    /// (any-llm#1148). Without an id a name begins a new call, unless it repeats the name under way. Without either
    /// the piece belongs to the last call of its index, else to the last call.
    fn find(&self, piece: &CallPiece) -> Option<usize> {
        let (id, name, index) = (&piece.id, &piece.name, piece.index);
        let matches_index = |slot: &Slot| index.is_none() || slot.index.is_none() || slot.index == index;
        if !id.is_empty() {
            if let Some(at) = self.slots.iter().rposition(|slot| slot.id == *id && matches_index(slot)) {
                return (!self.slots[at].is_followed_by(piece)).then_some(at);
            }
            // A new id without a new name: the id arrived late, or the server changes it with each piece.
            let at = self.slots.iter().rposition(|slot| index.is_some() && slot.index == index)?;
            let slot = &self.slots[at];
            return (name.is_empty() || (slot.id.is_empty() && slot.name.is_empty())).then_some(at);
        }
        let at = self.slots.iter().rposition(matches_index)?;
        let slot = &self.slots[at];
        let repeats = index.is_some() && slot.index == index && slot.name == *name && !slot.id.is_empty();
        (name.is_empty() || slot.name.is_empty() || repeats).then_some(at)
    }
}

impl Slot {
    /// Tells whether a piece of the same id is another call: the same id was given twice, without an index, and this
    /// call is whole.
    fn is_followed_by(&self, piece: &CallPiece) -> bool {
        let begins = !piece.name.is_empty() && piece.arguments.trim_start().starts_with('{');
        let whole = || serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok();
        self.index.is_none() && piece.index.is_none() && begins && !self.name.is_empty() && whole()
    }
}
