//! What a line needs before it runs, as far as its words tell.

use std::path::PathBuf;

use crate::approval::command::{Action, Extent, Judged, LineJudgement, Part};

/// What a line needs where the agent works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// The words of the commands that it would run, and of the wrappers around them, before they are expanded; `{}` for what
    /// another program puts in.
    pub commands: Vec<Vec<String>>,
    /// What it removes, moves or gives another mode. Absolute.
    pub there: Vec<PathBuf>,
}

impl Needs {
    /// Lists what a judged line needs.
    #[must_use]
    pub fn of(judgement: &LineJudgement) -> Self {
        let removed = judgement.targets.iter().filter(|target| {
            target.extent == Extent::Exact
                && matches!(target.action, Action::Remove | Action::Move | Action::Attributes)
        });
        let there = removed.filter_map(|target| target.pattern.path()).collect();
        Self { commands: judgement.parts.iter().flat_map(commands).collect(), there }
    }
}

/// The words of a part as they are written, behind those of its wrappers.
fn commands(judged: &Judged) -> Vec<Vec<String>> {
    let Part::Command { words, outer } = &judged.part else { return Vec::new() };
    let known = |words: &[Option<String>]| -> Vec<String> {
        words.iter().map(|word| word.clone().unwrap_or_else(|| "{}".to_owned())).collect()
    };
    // What another program runs is written behind that one's name.
    let written = shlex::split(&judged.text);
    let written = written.filter(|written| written.first() == words.first().and_then(Option::as_ref));
    let written = written.unwrap_or_else(|| known(words));
    outer.iter().map(|words| known(words)).chain([written]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::Surroundings;
    use crate::approval::command::judge;

    #[test]
    fn words_are_as_written_and_programs_behind_programs_are_known() {
        let place = Surroundings { cwd: "/w".into(), workspace: "/w".into(), ..Surroundings::default() };
        let needs = |line: &str| Needs::of(&judge(line, &place));
        let copied = needs("cp *.txt \"my texts\" && sudo find . -exec rename a {} \\;");
        assert_eq!(copied.commands[0], ["cp", "*.txt", "my texts"]);
        let programs: Vec<&str> = copied.commands.iter().map(|words| words[0].as_str()).collect();
        for program in ["cp", "sudo", "find", "rename"] {
            assert!(programs.contains(&program), "{programs:?}");
        }
        let moved = needs("find . -name '*.JPG' -exec mv {} .jpg \\;");
        assert!(moved.commands.contains(&["mv", "{}", ".jpg"].map(str::to_owned).to_vec()), "{moved:?}");
        assert_eq!(needs("rm junk; mv a b; ls c").there, [PathBuf::from("/w/junk"), "/w/a".into()]);
    }
}
