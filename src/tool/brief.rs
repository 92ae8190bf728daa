//! What a small model is told: few tools, in as few words as it understands.

use serde_json::{Map, Value, json};

use crate::conversation::{Brief, ToolSpec};

/// Makes the specifications of these tools for a small model. If one of the tools is to stand alone (the one that proposes a
/// command for the prompt line), the model gets only that one: with others it would use those first, and the person would
/// wait twice.
#[must_use]
pub fn brief(specs: &[ToolSpec]) -> Vec<ToolSpec> {
    let mut told: Vec<(&ToolSpec, Brief)> =
        specs.iter().filter_map(|spec| Some((spec, spec.identity.brief?))).collect();
    if told.iter().any(|(_, brief)| brief.alone) {
        told.retain(|(_, brief)| brief.alone);
    }
    told.sort_by_key(|(_, brief)| brief.order);
    told.into_iter().map(|(spec, brief)| made(spec, &brief)).collect()
}

fn made(spec: &ToolSpec, brief: &Brief) -> ToolSpec {
    let names = brief.arguments.iter().map(|argument| argument.trim_end_matches('*'));
    let properties: Map<String, Value> =
        names.map(|argument| (argument.to_owned(), json!({"type": "string"}))).collect();
    let required: Vec<&str> = brief.arguments.iter().filter_map(|argument| argument.strip_suffix('*')).collect();
    ToolSpec {
        name: spec.name.clone(),
        description: brief.description.to_owned(),
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
        identity: spec.identity,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conversation::ToolVerb;
    use crate::tool::{ProposeCommandTool, Tool, table};

    #[test]
    fn what_a_small_model_is_told_are_arguments_the_tools_have() {
        let all = table::standard(None, None).into_iter().chain([Arc::new(ProposeCommandTool) as Arc<dyn Tool>]);
        let all: Vec<ToolSpec> = all.map(|tool| tool.spec()).collect();
        let work: Vec<ToolSpec> =
            all.iter().filter(|spec| spec.identity.verb != ToolVerb::Propose).cloned().collect();
        let verbs = |specs: &[ToolSpec]| brief(specs).iter().map(|spec| spec.identity.verb).collect::<Vec<_>>();
        assert_eq!(verbs(&work), [ToolVerb::Run, ToolVerb::Read, ToolVerb::Edit, ToolVerb::Write]);
        assert_eq!(verbs(&all), [ToolVerb::Propose]);
        for spec in brief(&work).into_iter().chain(brief(&all)) {
            let whole = all.iter().find(|whole| whole.name == spec.name).unwrap();
            let known = whole.input_schema["properties"].as_object().unwrap();
            for name in spec.input_schema["properties"].as_object().unwrap().keys() {
                assert!(known.contains_key(name), "{} has no {name}", spec.name);
            }
            for name in whole.input_schema["required"].as_array().into_iter().flatten() {
                let required = spec.input_schema["required"].as_array().unwrap();
                // What a command touches is found out by axi itself.
                assert!(required.contains(name) || name == "touches", "{} needs {name}", spec.name);
            }
        }
    }
}
