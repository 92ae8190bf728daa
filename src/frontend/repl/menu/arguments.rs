//! What may follow a slash command, level by level, in the person's language.

use std::sync::Arc;

use super::commands::{Arguments, Candidate, Candidates};
use super::fetched::{ListedModel, ListedSession, MenuLists, ModelGroup};
use crate::command::{Argument, SAVE};
use crate::locale::{self, Locale, Plural, Word, word};

/// What `/session` can be told to do, and whether it wants a session.
const SESSION_WORDS: [(&str, bool, Word); 7] = [
    ("switch", true, word::menu::session::SWITCH),
    ("list", false, word::menu::session::LIST),
    ("new", false, word::menu::session::NEW),
    ("rename", true, word::menu::session::RENAME),
    ("fork", false, word::menu::session::FORK),
    ("search", false, word::menu::session::SEARCH),
    ("delete", true, word::menu::session::DELETE),
];

/// Returns what lists the arguments of a command; `None` if it has none that can be listed.
pub(crate) fn arguments_of(argument: Argument, locale: &Locale, lists: &MenuLists) -> Option<Arguments> {
    let (locale, lists) = (locale.clone(), lists.clone());
    Some(match argument {
        Argument::None => return None,
        // Reads every language's file, so not before somebody asks.
        Argument::Language => first_level(|| locale::tags().map(language).collect()),
        Argument::Word(words) => first_level(|| words.iter().map(|word| candidate(word)).collect()),
        Argument::Provider => first_level(move || lists.providers().iter().map(|name| candidate(name)).collect()),
        Argument::Model => Arc::new(move |levels: &[&str], typed: &str| models(&lists, &locale, levels, typed)),
        Argument::Session => Arc::new(move |levels: &[&str], _: &str| sessions(&lists, &locale, levels)),
        Argument::SessionId => Arc::new(move |levels: &[&str], _: &str| match levels {
            [] => session_ids(&lists),
            [..] => Candidates::default(),
        }),
    })
}

fn first_level(list: impl Fn() -> Vec<Candidate> + Send + Sync + 'static) -> Arguments {
    Arc::new(move |levels: &[&str], _: &str| match levels {
        [] => list().into(),
        [..] => Candidates::default(),
    })
}

fn candidate(value: &str) -> Candidate {
    Candidate { value: value.to_owned(), ..Candidate::default() }
}

fn listed(model: &ListedModel) -> Candidate {
    Candidate { description: model.says.clone(), ..candidate(&model.id) }
}

fn language(tag: &str) -> Candidate {
    let name = Locale::new(tag).text(word::language::NAME).to_owned();
    Candidate { value: tag.to_owned(), description: name, ..Candidate::default() }
}

const fn group_words(group: ModelGroup) -> Plural {
    match group {
        ModelGroup::Local => word::menu::model::LOCAL,
        ModelGroup::Cloud => word::menu::model::CLOUD,
        ModelGroup::Custom => word::menu::model::CUSTOM,
    }
}

/// Groups first, the models of a group after it; letters find models at once.
fn models(lists: &MenuLists, locale: &Locale, levels: &[&str], typed: &str) -> Candidates {
    let (models, pending) = lists.models();
    let of = |group: ModelGroup| models.iter().filter(move |model| model.group == group);
    let candidates = match levels {
        [] => {
            let groups = ModelGroup::ALL.into_iter().filter(|group| pending || of(*group).next().is_some());
            let groups = groups.map(|group| {
                let description = if pending {
                    locale.text(word::menu::LOADING).to_owned()
                } else {
                    locale.count(group_words(group), of(group).count() as u64)
                };
                Candidate { description, more: true, ..candidate(group.word()) }
            });
            let kept = typed.starts_with('-').then(|| Candidate {
                description: locale.text(word::menu::model::SAVE).to_owned(),
                ..candidate(SAVE)
            });
            let named = models.iter().filter(|_| !typed.is_empty()).map(listed);
            groups.chain(named).chain(kept).collect()
        }
        [word] => {
            let group = ModelGroup::ALL.into_iter().find(|group| group.word() == *word);
            group.into_iter().flat_map(of).map(listed).collect()
        }
        [_, _, ..] => Vec::new(),
    };
    Candidates { candidates, pending }
}

fn sessions(lists: &MenuLists, locale: &Locale, levels: &[&str]) -> Candidates {
    match levels {
        [] => {
            let words = SESSION_WORDS.iter().map(|(word, more, says)| {
                let description = locale.text(*says).to_owned();
                Candidate { description, more: *more, ..candidate(word) }
            });
            words.collect::<Vec<_>>().into()
        }
        [word] if SESSION_WORDS.iter().any(|(known, more, _)| known == word && *more) => {
            let mut listed = session_ids(lists);
            for listed in &mut listed.candidates {
                // The new name follows.
                listed.more = *word == "rename";
            }
            listed
        }
        [..] => Candidates::default(),
    }
}

fn session_ids(lists: &MenuLists) -> Candidates {
    let (sessions, pending) = lists.sessions();
    let candidates = sessions.iter().map(|ListedSession { id, title, place }| Candidate {
        value: id.clone(),
        label: Some(if title.is_empty() { id.clone() } else { title.clone() }),
        description: format!("{place} · {id}"),
        more: false,
    });
    Candidates { candidates: candidates.collect(), pending }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::repl::menu::fetched::MenuSources;

    fn lists() -> MenuLists {
        let model = |id: &str, group| ListedModel { id: id.to_owned(), group, says: String::new() };
        let session =
            ListedSession { id: "1-a".to_owned(), title: "the plover".to_owned(), place: "~/x".to_owned() };
        let lists = MenuLists::new(MenuSources {
            models: Box::new(move || {
                vec![model("ollama/qwen3", ModelGroup::Local), model("lab/x", ModelGroup::Custom)]
            }),
            sessions: Box::new(move || vec![session.clone()]),
            providers: vec!["openai".to_owned()],
        });
        lists.models();
        lists.sessions();
        while lists.is_fetching() {
            std::thread::yield_now();
        }
        lists
    }

    fn values(argument: Argument, levels: &[&str], typed: &str) -> Vec<String> {
        let list = arguments_of(argument, &Locale::new("en"), &lists()).unwrap();
        list(levels, typed).candidates.into_iter().map(|candidate| candidate.value).collect()
    }

    #[test]
    fn models_are_found_by_group_and_by_letters() {
        assert_eq!(values(Argument::Model, &[], ""), ["local", "custom"], "a group with nothing in it is left out");
        assert_eq!(values(Argument::Model, &["local"], ""), ["ollama/qwen3"]);
        assert_eq!(values(Argument::Model, &[], "q"), ["local", "custom", "ollama/qwen3", "lab/x"]);
        assert_eq!(values(Argument::Model, &[], "--"), ["local", "custom", "ollama/qwen3", "lab/x", "--save"]);
        assert_eq!(values(Argument::Model, &["nowhere"], ""), Vec::<String>::new());
        assert_eq!(values(Argument::Model, &["local", "ollama/qwen3"], ""), Vec::<String>::new());
    }

    #[test]
    fn sessions_follow_the_words_that_want_one() {
        assert_eq!(
            values(Argument::Session, &[], ""),
            ["switch", "list", "new", "rename", "fork", "search", "delete"]
        );
        assert_eq!(values(Argument::Session, &["switch"], ""), ["1-a"]);
        assert_eq!(values(Argument::Session, &["list"], ""), Vec::<String>::new());
        assert_eq!(values(Argument::SessionId, &[], ""), ["1-a"]);
        assert_eq!(values(Argument::Provider, &[], ""), ["openai"]);
        assert_eq!(values(Argument::Provider, &["openai"], ""), Vec::<String>::new());
        assert!(values(Argument::Language, &[], "").contains(&"zh-CN".to_owned()));
    }
}
