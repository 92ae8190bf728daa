//! Tests of the prompt's layout.

use super::*;

fn parts() -> PromptParts {
    PromptParts {
        directory: "~/src/axi".to_owned(),
        model: "qwen3-coder".to_owned(),
        context: "12%".to_owned(),
        agent: String::new(),
    }
}

fn left(parts: &PromptParts, width: usize) -> String {
    LinePrompt { parts: parts.clone(), width, theme: Theme::plain(), color: false }.left()
}

#[test]
fn everything_is_shown_where_there_is_room() {
    assert_eq!(left(&parts(), 200), "~/src/axi · qwen3-coder · 12% ");
    let plan = PromptParts { agent: "plan".to_owned(), ..parts() };
    assert_eq!(left(&plan, 200), "~/src/axi · plan · qwen3-coder · 12% ");
}

#[test]
fn half_of_the_row_stays_free() {
    assert_eq!(left(&parts(), 50), "~/src/axi · qwen3-coder ");
    assert_eq!(left(&parts(), 40), "~/src/axi ");
    let deep = PromptParts { directory: "~/work/上海/项目/very/deep/folder".to_owned(), ..parts() };
    for columns in 1..200 {
        let left = left(&deep, columns);
        assert!(width(&left) <= (columns / 2).max(8) + 1, "{columns}: {left}");
    }
}

#[test]
fn of_the_own_model_it_stays_visible_that_it_is_local() {
    let own = PromptParts { model: "local/qwen2.5-coder-1.5b".to_owned(), ..parts() };
    assert_eq!(left(&own, 80), "~/src/axi · local/qwen2.5-coder-1.5b ");
    assert_eq!(left(&own, 40), "~/src/axi · local ");
    assert_eq!(left(&own, 20), "~/src/axi ");
}

#[test]
fn paths_lose_their_beginning() {
    assert_eq!(shorten_path("~/a/b", 10), "~/a/b");
    assert_eq!(shorten_path("~/projects/axi/src", 10), "…/axi/src");
    assert_eq!(shorten_path("averyveryverylongname", 8), "…ongname");
}

#[test]
fn nothing_breaks_the_row() {
    let evil = PromptParts { directory: "a\n\u{1b}[2Jb".to_owned(), ..PromptParts::default() };
    assert_eq!(left(&evil, 80), "a[2Jb ");
    assert_eq!(left(&PromptParts::default(), 80), "");
}

#[test]
fn the_context_is_coloured_as_it_fills() {
    let theme = Theme::ansi();
    for (share, style) in
        [("", theme.dim), ("69%", theme.dim), ("70%", theme.warning), ("89%", theme.warning), ("90%", theme.error)]
    {
        assert_eq!(context_style(share, &theme), style, "{share}");
    }
}
