//! What models send, and what they are told.

use serde_json::json;

use super::*;

const FIELDS: &[Field] = &[PATH, plain("limit"), plain("all")];

#[test]
fn aliases_are_accepted_quietly_and_the_schema_name_wins() {
    let input = json!({"file_path": "a", "path": "b", "limit": "10", "all": "True"});
    let arguments = Arguments::parse("read", &input, FIELDS).unwrap();
    assert_eq!(arguments.text("path"), Ok("b"));
    assert_eq!(arguments.number("limit"), Ok(Some(10)));
    assert_eq!(arguments.flag("all"), Ok(true));
}

#[test]
fn null_counts_as_absent_and_whole_doubles_as_numbers() {
    let input = json!({"path": null, "limit": 3.0});
    let arguments = Arguments::parse("read", &input, FIELDS).unwrap();
    assert_eq!(arguments.optional_text("path"), Ok(None));
    assert_eq!(arguments.number("limit"), Ok(Some(3)));
    assert_eq!(arguments.text("path"), Err("read: missing argument `path`, which must be a string".to_owned()));
}

#[test]
fn wrong_types_and_unknown_names_are_named() {
    for (limit, says) in
        [(json!(-1), "-1"), (json!(1.5), "1.5"), (json!("x"), "a string"), (json!([1]), "an array")]
    {
        let input = json!({"path": "a", "limit": limit});
        let arguments = Arguments::parse("read", &input, FIELDS).unwrap();
        assert_eq!(
            arguments.number("limit"),
            Err(format!("read: argument `limit` must be a whole number, 0 or more, got {says}"))
        );
    }
    let unknown = Arguments::parse("read", &json!({"pathh": "a"}), FIELDS).err();
    assert_eq!(unknown, Some("read: unknown argument `pathh`; it takes path, limit, all".to_owned()));
    assert!(Arguments::parse("read", &json!("a"), FIELDS).is_err());
}
