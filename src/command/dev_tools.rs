//! `/tools`: the developer tools of this machine by category, those that are missing with what installs them, the scripts
//! of the project, and the agent's own tools.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Context, Outcome, Problem};
use crate::conversation::{Effect, ToolKind, ToolSpec, ToolVerb};
use crate::locale::{Locale, Word, word, word::tools};
use crate::terminal::sanitize_line;
use crate::tool::devtool::{Category, Found, Script, Search, is_action, scripts};

/// What may follow `/tools`.
pub(super) const WORDS: &[&str] = &["list", "refresh", "stats"];

/// What stands where there is no version.
const NO_VERSION: &str = "–";

pub(super) fn tools(context: &mut Context<'_>, argument: &str) -> Outcome {
    let locale = context.locale;
    if !argument.is_empty() && !WORDS.contains(&argument) {
        let what = locale.with(word::said::WordUnknown { word: argument, known: &WORDS.join(", ") });
        return Outcome::Fail(Problem { what, hint: String::new() });
    }
    let search = context.world.dev_tools(argument == "refresh");
    if argument == "stats" {
        return Outcome::Say(tools_stats(locale, &search));
    }
    let scripts = scripts(context.agent.roots());
    Outcome::Show(markdown(locale, &search, &scripts, &context.agent.tools().specs()))
}

/// The rows of a category: tool, version, and where it is or how it comes.
type Section = (String, Vec<[String; 3]>);

/// The list by category; what is missing stands under what is here.
fn sections(locale: &Locale, search: &Search, scripts: &[Script], own: &[ToolSpec]) -> Vec<Section> {
    let clean = |text: &str| sanitize_line(text).into_owned();
    let row = |found: &Found| {
        let place = match &found.path {
            Some(path) => path.display().to_string(),
            None => found.tool.install(search.manager),
        };
        let version = found.version.as_deref().unwrap_or(NO_VERSION);
        [found.tool.id.to_owned(), clean(version), clean(&place)]
    };
    let mut sections: Vec<Section> = Vec::new();
    for (category, _) in Category::ALL {
        let mut of_it: Vec<&Found> = search.tools.iter().filter(|found| found.tool.category == category).collect();
        of_it.sort_by_key(|found| found.path.is_none());
        sections.push((locale.text(heading(category)).to_owned(), of_it.into_iter().map(row).collect()));
    }
    let scripts = scripts.iter().map(|script| {
        let file = script.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        [clean(&script.name), clean(&file), clean(&script.runs.join(" "))]
    });
    sections.push((locale.text(word::tools::SCRIPTS).to_owned(), scripts.collect()));
    let own = own.iter().map(|spec| [clean(&spec.name), String::new(), clean(&says(locale, spec))]);
    sections.push((locale.text(word::tools::OWN).to_owned(), own.collect()));
    sections.retain(|(_, rows)| !rows.is_empty());
    sections
}

/// What a tool of the agent does. The words of a server's tool are its own: the first sentence of what it says.
fn says(locale: &Locale, spec: &ToolSpec) -> String {
    let own = || spec.description.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned();
    if is_action(&spec.name) {
        let line = spec.description.split('`').nth(1).map(|line| locale.with(tools::says::Action { line }));
        return line.unwrap_or_else(own);
    }
    let word = match spec.identity.verb {
        ToolVerb::Call => return own(),
        ToolVerb::Ask => tools::says::ASK,
        ToolVerb::Delete => tools::says::DELETE,
        ToolVerb::Edit => tools::says::EDIT,
        ToolVerb::Explore => tools::says::EXPLORE,
        ToolVerb::Fetch => tools::says::FETCH,
        ToolVerb::FindFiles => tools::says::FIND_FILES,
        ToolVerb::List => tools::says::LIST,
        ToolVerb::LookAfterJobs => tools::says::JOBS,
        ToolVerb::MakeDirectory => tools::says::MAKE_DIRECTORY,
        ToolVerb::Move => tools::says::MOVE,
        ToolVerb::Patch => tools::says::PATCH,
        ToolVerb::Plan => tools::says::PLAN,
        ToolVerb::Propose => tools::says::PROPOSE,
        ToolVerb::Read => tools::says::READ,
        ToolVerb::Run => tools::says::RUN,
        ToolVerb::Search if spec.identity.kind == ToolKind::Reader => tools::says::SEARCH_FILES,
        ToolVerb::Search => tools::says::SEARCH_WORDS,
        ToolVerb::UseTerminal => tools::says::TERMINAL,
        ToolVerb::Write => tools::says::WRITE,
    };
    locale.text(word).to_owned()
}

/// The list as rows of text.
#[must_use]
pub fn tools_text(locale: &Locale, search: &Search, scripts: &[Script], own: &[ToolSpec]) -> String {
    let sections = sections(locale, search, scripts, own);
    let wide = |column: usize, most: usize| {
        let cells = sections.iter().flat_map(|(_, rows)| rows).map(|row| row[column].chars().count());
        cells.filter(|width| *width <= most).max().unwrap_or_default()
    };
    let (first, second) = (wide(0, 20), wide(1, 16));
    let mut text = String::new();
    for (heading, rows) in &sections {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{heading}");
        for [name, version, place] in rows {
            let line = format!("  {name:<first$}  {version:<second$}  {place}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

/// The list as tables of markdown.
fn markdown(locale: &Locale, search: &Search, scripts: &[Script], own: &[ToolSpec]) -> String {
    let mut text = String::new();
    for (heading, rows) in sections(locale, search, scripts, own) {
        let _ = writeln!(text, "**{heading}**\n");
        for [name, version, place] in rows {
            let version = if version.is_empty() { String::new() } else { format!(" {}", plain(&version)) };
            let _ = writeln!(text, "- `{}`{version} · {}", name.replace('`', "'"), plain(&place));
        }
        text.push('\n');
    }
    text
}

/// Keeps a text from being read as markdown.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_[]<>|#~&".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// What the search came to, in one line.
#[must_use]
pub fn tools_stats(locale: &Locale, search: &Search) -> String {
    let here = search.tools.iter().filter(|found| found.path.is_some()).count();
    locale.with(word::tools::Stats {
        here: &here.to_string(),
        all: &search.tools.len().to_string(),
        processes: &search.processes.to_string(),
        known: &search.known.to_string(),
        ms: &search.took.as_millis().to_string(),
    })
}

/// The list for programs.
#[must_use]
pub fn tools_json(search: &Search, scripts: &[Script]) -> Value {
    let rows = search.tools.iter().map(|found| {
        let actions = found.tool.actions.iter().map(|action| {
            let parameters = action.parameters().into_iter().map(|parameter| {
                json!({
                    "name": parameter.name, "type": parameter.kind.word(), "required": parameter.required,
                    "default": parameter.default,
                })
            });
            json!({
                "name": action.name, "effect": effect(action.effect), "runs": action.runs,
                "parameters": parameters.collect::<Vec<_>>(),
            })
        });
        let program = found.path.as_ref().and_then(|path| path.file_name()).and_then(|name| name.to_str());
        let manager = |script: &&Script| script.runs.first().map(String::as_str) == program && program.is_some();
        let scripts = scripts
            .iter()
            .filter(manager)
            .map(|script| json!({"name": script.name, "file": script.file.to_string_lossy(), "runs": script.runs}));
        json!({
            "id": found.tool.id, "category": found.tool.category.word(),
            "path": found.path.as_ref().map(|path| path.to_string_lossy()), "version": found.version,
            "install": found.tool.install(search.manager), "actions": actions.collect::<Vec<_>>(),
            "scripts": scripts.collect::<Vec<_>>(),
        })
    });
    rows.collect()
}

/// The figures for programs.
#[must_use]
pub fn tools_stats_json(search: &Search) -> Value {
    let here = search.tools.iter().filter(|found| found.path.is_some()).count();
    json!({
        "here": here, "all": search.tools.len(), "processes": search.processes, "known": search.known,
        "ms": u64::try_from(search.took.as_millis()).unwrap_or(u64::MAX),
    })
}

const fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "reads",
        Effect::Write => "writes",
        Effect::Delete => "deletes",
        Effect::Network => "network",
        Effect::Execute => "executes",
    }
}

const fn heading(category: Category) -> Word {
    match category {
        Category::Versions => word::tools::category::VERSIONS,
        Category::JavaScript => word::tools::category::JAVASCRIPT,
        Category::Python => word::tools::category::PYTHON,
        Category::Java => word::tools::category::JAVA,
        Category::DotNet => word::tools::category::DOTNET,
        Category::Rust => word::tools::category::RUST,
        Category::Go => word::tools::category::GO,
        Category::Build => word::tools::category::BUILD,
        Category::Containers => word::tools::category::CONTAINERS,
        Category::Databases => word::tools::category::DATABASES,
        Category::Text => word::tools::category::TEXT,
        Category::Editors => word::tools::category::EDITORS,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tool::devtool::TABLE;

    #[test]
    fn each_tool_of_the_agent_says_what_it_does_in_the_language_and_a_servers_own_words_stay() {
        let locale = Locale::new("zh-CN");
        for tool in crate::tool::table::standard(None, None) {
            let (spec, said) = (tool.spec(), says(&locale, &tool.spec()));
            assert!(!said.is_empty() && !said.chars().any(|letter| letter.is_ascii_alphabetic()), "{}", spec.name);
        }
        let description = "Adds numbers. Slowly.".to_owned();
        assert_eq!(says(&locale, &ToolSpec { description, ..ToolSpec::default() }), "Adds numbers");
    }

    #[test]
    fn what_is_missing_stands_under_what_is_here_and_says_how_it_comes() {
        let path = |id: &str| (id == "gh").then(|| format!("/o\u{1b}[2Jdd/{id}").into());
        let row = |tool| Found {
            tool,
            path: path(tool.id),
            version: path(tool.id).map(|_: std::path::PathBuf| "2.1".into()),
        };
        let tools = TABLE.iter().filter(|tool| tool.category == Category::Versions).map(row).collect();
        let search =
            Search { tools, manager: Some("apt-get"), processes: 1, known: 0, took: Duration::from_millis(7) };
        let locale = Locale::new("en");
        let text = tools_text(&locale, &search, &[], &[]);
        let expected = "Version control\n  gh   2.1  /o␛[2Jdd/gh\n  git  –    apt-get install git\n";
        assert_eq!(text, expected);
        assert_eq!(markdown(&locale, &search, &[], &[]).lines().nth(2), Some("- `gh` 2.1 · /o␛\\[2Jdd/gh"));
        assert!(tools_stats(&locale, &search).starts_with("1 of 2 "));
        let json = tools_json(&search, &[]);
        assert_eq!((&json[0]["id"], &json[0]["path"]), (&json!("git"), &Value::Null));
    }
}
