//! Reads the rules of a project's file that is not valid TOML: an error elsewhere in the file must loosen nothing.

use toml_edit::Document;

/// The section of rules.
const RULES: &str = "permissions";
/// The most lines of one statement that are tried.
const LONGEST: usize = 64;
/// How many pieces are parsed in all: a file that is made to be slow is not read to its end.
const TRIES: usize = 4096;

/// The section of the file that a line belongs to.
#[derive(Clone, Copy)]
enum Section {
    Root,
    Rules,
    Elsewhere,
}

/// Returns each statement that makes rules and can be read by itself, as a text of settings.
pub(super) fn rules(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    let (mut section, mut tries, mut at) = (Section::Root, TRIES, 0);
    while at < lines.len() {
        let header = Some(lines[at]).filter(|line| line.trim_start().starts_with('['));
        if let Some(is_rules) = header.and_then(says_rules) {
            section = if is_rules { Section::Rules } else { Section::Elsewhere };
            at += 1;
            continue;
        }
        let most = LONGEST.min(lines.len() - at).min(tries);
        let pieces = (1..=most).map(|count| (count, lines[at..at + count].join("\n")));
        let whole =
            pieces.inspect(|_| tries -= 1).find_map(|(count, piece)| Some((count, says_rules(&piece)?, piece)));
        let Some((count, is_rules, piece)) = whole else {
            at += 1;
            continue;
        };
        match section {
            Section::Root if is_rules => found.push(piece),
            Section::Rules => found.push(format!("[{RULES}]\n{piece}")),
            Section::Root | Section::Elsewhere => {}
        }
        at += count;
    }
    found
}

/// Tells whether a text is about rules; `None` where it is no TOML.
fn says_rules(text: &str) -> Option<bool> {
    Some(Document::parse(text).ok()?.as_table().contains_key(RULES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found_however_they_are_written_and_whatever_is_wrong_around_them() {
        let deny = "deny = [\"shell(rm)\"]";
        for section in ["[permissions]", "[permissions] # ours", "  [ permissions ]", "[\"permissions\"]"] {
            let text = format!("model = \"x\nmax_steps = 3\n{section}\n{deny}\n[ui]\ncolor = \n");
            assert_eq!(rules(&text), [format!("[permissions]\n{deny}")], "{section}");
        }
        for statement in
            ["permissions.deny = [\"a\"]", "permissions = { deny = [\"a\"] }", "permissions.deny = [\n  \"a\",\n]"]
        {
            assert_eq!(
                rules(&format!("model = \"x\n{statement}\n[ui]\npermissions.deny = [\"b\"]\n")),
                [statement]
            );
        }
        // One broken rule costs no other rule.
        let text = "[permissions]\nask = [\"a\"\ndeny = [\n  \"b\", # [ui]\n]\ndeny = [\"c\"]\n[ui]\nask = [\"d\"]";
        let found = ["[permissions]\ndeny = [\n  \"b\", # [ui]\n]", "[permissions]\ndeny = [\"c\"]"];
        assert_eq!(rules(text), found);
    }

    #[test]
    fn a_file_that_is_made_to_be_slow_is_not_tried_forever() {
        assert_eq!(rules(&"a = [\n".repeat(50_000)), Vec::<String>::new());
    }
}
