//! Skills: folders with a `SKILL.md`. The model is told their names and descriptions, and reads the rest when it
//! needs it (<https://agentskills.io>).

use std::path::{Path, PathBuf};

/// How many bytes of a file are read at most.
const LARGEST: u64 = 64 * 1024;
/// How many skills are listed, and how many folders are searched, at most.
const MOST: usize = 100;
const MOST_FOLDERS: usize = 2_000;
/// The longest name and the longest description, in characters, by the specification.
const NAME: usize = 64;
const DESCRIPTION: usize = 1_024;

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What it is called.
    pub name: String,
    /// What it is good for, in its own words.
    pub description: String,
    /// Its file.
    pub path: PathBuf,
}

/// Reads the skills in these folders; of several with one name, the first counts.
#[must_use]
pub fn skills(folders: &[PathBuf]) -> Vec<Skill> {
    let mut found: Vec<Skill> = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_FOLDERS);
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path().join("SKILL.md")).collect();
        paths.sort();
        for skill in paths.iter().filter_map(|path| read(path)) {
            if found.len() < MOST && !found.iter().any(|known| known.name == skill.name) {
                found.push(skill);
            }
        }
    }
    found
}

/// Lists them for a system prompt; empty if there are none.
#[must_use]
pub fn catalogue(skills: &[Skill]) -> String {
    if skills.is_empty() {
        return String::new();
    }
    let rows =
        skills.iter().map(|skill| format!("- {}: {} ({})", skill.name, skill.description, skill.path.display()));
    let rows: Vec<String> = rows.collect();
    format!("\nSkills. Where one fits the task, read its file first and follow it:\n{}", rows.join("\n"))
}

fn read(path: &Path) -> Option<Skill> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return None;
    }
    let text = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text).replace("\r\n", "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let folder = path.parent()?.file_name()?.to_str()?;
    let (front, body) = match text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---")) {
        Some((front, body)) => (front, body),
        None => ("", text),
    };
    let said = |key: &str| {
        let lines: Vec<&str> = front.lines().collect();
        let at = lines.iter().position(|line| line.split_once(':').is_some_and(|(name, _)| name.trim() == key))?;
        let value = lines[at].split_once(':')?.1.trim();
        // A text over several lines: the other lines are indented.
        let more = lines[at + 1..].iter().take_while(|line| line.starts_with([' ', '\t'])).map(|line| line.trim());
        let first = if [">", "|", ">-", "|-"].contains(&value) { "" } else { value.trim_matches(['"', '\'']) };
        let whole = std::iter::once(first).chain(more).collect::<Vec<_>>().join(" ");
        Some(whole.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let first_line =
        || body.lines().map(|line| line.trim_matches(['#', ' '])).find(|line| !line.is_empty()).map(str::to_owned);
    let short = |text: String, most: usize| {
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(most).collect()
    };
    let name: String = short(said("name").unwrap_or_else(|| folder.to_owned()), NAME);
    let description = short(said("description").or_else(first_line).unwrap_or_default(), DESCRIPTION);
    Some(Skill { name, description, path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_are_named_leniently_and_the_first_of_a_name_holds() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("one/pdf/SKILL.md", "---\nname: pdf\ndescription: \"Reads: PDFs\"\n---\nBody.");
        write(
            "one/long/SKILL.md",
            "\u{feff}---\r\nname: long\r\ndescription: >\r\n  Over two\r\n  lines.\r\n---\r\n",
        );
        write("one/bare/SKILL.md", "# Does bare things\nBody.");
        write("one/none/README.md", "x");
        write("two/pdf/SKILL.md", "---\nname: pdf\ndescription: other\n---\n");
        let found = skills(&[home.path().join("one"), home.path().join("two"), home.path().join("missing")]);
        let told: Vec<_> = found.iter().map(|skill| (skill.name.as_str(), skill.description.as_str())).collect();
        assert_eq!(told, [("bare", "Does bare things"), ("long", "Over two lines."), ("pdf", "Reads: PDFs")]);
        let catalogue = catalogue(&found);
        assert!(
            catalogue.contains("- pdf: Reads: PDFs (") && catalogue.contains("one/pdf/SKILL.md)"),
            "{catalogue}"
        );
        assert_eq!(super::catalogue(&[]), "");
    }
}
