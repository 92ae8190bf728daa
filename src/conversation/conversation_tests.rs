use proptest::prelude::*;

use super::*;

fn call(id: &str) -> ContentBlock {
    let (name, input) = ("read".to_owned(), serde_json::json!({}));
    ContentBlock::ToolCall(ToolCall {
        id: id.to_owned(),
        name,
        input,
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    })
}

fn result(id: &str) -> ToolResult {
    let ContentBlock::ToolCall(call) = call(id) else { unreachable!("it was made a call") };
    ToolResult::closed(&call, Outcome::Ok)
}

fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c")].prop_map(str::to_owned)
}

fn any_block() -> impl Strategy<Value = ContentBlock> {
    prop_oneof![
        Just(ContentBlock::Text { text: "hi".into() }),
        any_id().prop_map(|id| call(&id)),
        any_id().prop_map(|id| ContentBlock::ToolResult(result(&id))),
    ]
}

fn any_message() -> impl Strategy<Value = Message> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    (role, prop::collection::vec(any_block(), 0..4)).prop_map(|(role, content)| Message { role, content })
}

proptest! {
    #[test]
    fn whatever_is_restored_is_whole(messages in prop::collection::vec(any_message(), 0..8)) {
        let restored = Conversation::restore(messages);
        prop_assert_eq!(restored.check(), Ok(()));
        // What is whole stays as it is.
        let again = Conversation::restore(restored.messages().to_vec());
        prop_assert_eq!(again, restored);
    }

    #[test]
    fn whatever_broke_it_heals_and_what_is_whole_is_left_alone(messages in prop::collection::vec(any_message(), 0..8)) {
        let mut conversation = Conversation::unchecked(messages.clone());
        let broken = conversation.check().err();
        prop_assert_eq!(conversation.heal(), broken.clone());
        prop_assert_eq!(conversation.check(), Ok(()));
        if broken.is_none() {
            prop_assert_eq!(conversation.messages(), messages);
        }
    }
}

#[test]
fn a_call_of_the_person_and_a_result_of_the_model_break_it() {
    let said = |role, block| Conversation::unchecked(vec![Message { role, content: vec![block] }]).check();
    assert_eq!(said(Role::User, call("a")), Err(InvariantError::Misplaced("a".into())));
    let result = ContentBlock::ToolResult(result("b"));
    assert_eq!(said(Role::Assistant, result), Err(InvariantError::Misplaced("b".into())));
}
