use std::path::Path;

use super::super::{Redactor, Session};
use super::*;

fn say(home: &Path, directory: &str, number: u16, texts: &[&str]) -> SessionId {
    let id = SessionId::new(SystemTime::UNIX_EPOCH, Path::new(directory), number);
    let mut session = Session::new(id.clone(), directory.into(), Some(home), Redactor::default());
    for text in texts {
        session.append_message("lab/m", &Message::user(*text), SystemTime::UNIX_EPOCH).unwrap();
    }
    id
}

#[test]
fn messages_with_more_of_the_words_come_first_and_only_of_the_sessions_that_are_meant() {
    let home = tempfile::tempdir().unwrap();
    let current = say(home.path(), "/src", 1, &["the heron port is 8017"]);
    say(home.path(), "/src", 2, &["a heron", "nothing of it", "HERON has a port", "Größe of été"]);
    say(home.path(), "/else", 3, &["the port of heron"]);
    let store = SessionStore::new(home.path().to_owned());
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let said = |query: &str, directory: Option<&str>, most| {
        let found = mentions(&store, &words(query), directory.map(Path::new), Some(&current), most);
        found.into_iter().map(|mention| mention.message.text()).collect::<Vec<_>>()
    };
    assert_eq!(said("heron port", Some("/src"), 9), ["HERON has a port", "a heron"]);
    assert_eq!(said("heron port", Some("/src"), 1), ["HERON has a port"]);
    assert_eq!(said("heron port", None, 2).len(), 2);
    assert_eq!(said("größe", Some("/src"), 9), ["Größe of été"]);
    // What a line is made of was not said.
    for frame in ["role", "content", "message", "kind", "user"] {
        assert_eq!(said(frame, None, 9), Vec::<String>::new(), "{frame}");
    }
    assert_eq!(mentions(&store, &[], None, None, 9), []);
    let all = mentions(&store, &words("heron"), Some(Path::new("/src")), None, 9);
    assert!(all.iter().any(|mention| mention.id == current && mention.directory == Path::new("/src")));
}
