//! Whether what a line would lose is something that a person has named.

use std::path::Path;

use super::judgement::{Judged, LineJudgement, Part};
use crate::approval::program::{Action, Grammar, Program};
use crate::approval::{Class, Unparsed};

impl LineJudgement {
    /// Tells whether the line loses nothing, or whether the person named each loss: each command that loses something has a
    /// word in its arguments that was `said`, which is a name, a part of a name, or a number. The same must hold for a
    /// command that runs as another user, and for one that nobody knows, if it is told what to work on. If a part of the
    /// line could not be read, the answer is no. The line runs in `directory`, whose own name does not count; `is_there`
    /// tells whether a file exists.
    #[must_use]
    pub fn names_its_losses(&self, said: &str, directory: &Path, is_there: &dyn Fn(&Path) -> bool) -> bool {
        let said: Vec<String> = tokens(said).collect();
        let loses = self.targets.iter().any(|target| match target.action {
            Action::Remove | Action::Move | Action::Overwrite | Action::Attributes => true,
            // What is new loses nothing.
            Action::Change => target.pattern.path().is_none_or(|path| is_there(&path)),
        });
        let is_unread = !self.unparsed.is_empty() || self.never_auto.is_some();
        let is_meant = |judged: &&Judged| match judged.class {
            Class::Destructive => true,
            Class::Write | Class::Execute | Class::Network => loses || is_unread || judged.runs_program,
            Class::ReadOnly => is_unread,
        };
        let named: Vec<Vec<String>> = self.parts.iter().map(|judged| names(judged, directory)).collect();
        let is_said = |names: &[String]| names.iter().any(|name| said.iter().any(|word| is_same(name, word)));
        if !self.parts.iter().filter_map(objects).all(|objects| objects.is_empty() || is_said(&objects)) {
            return false;
        }
        // What could not be read as commands at all may lose anything.
        let is_command = |text: &str| self.parts.iter().any(|judged| judged.text.contains(text));
        let is_read = |(text, why): &(String, Unparsed)| match why {
            Unparsed::Syntax | Unparsed::TooLong => is_command(text),
            Unparsed::DynamicCommand
            | Unparsed::Characters
            | Unparsed::Wrapper
            | Unparsed::Environment
            | Unparsed::Redefined
            | Unparsed::Script => true,
        };
        if !self.unparsed.iter().all(is_read) {
            return false;
        }
        let mut losing = self.parts.iter().zip(&named).filter(|(judged, _)| is_meant(judged)).peekable();
        if losing.peek().is_none() {
            return !loses;
        }
        // What comes through a pipe is named before it.
        losing.all(|(_, names)| is_said(names) || names.is_empty() && named.iter().any(|names| is_said(names)))
    }
}

/// What a command is told to work on, if it runs as another user or if nobody knows what it does. Its first argument says
/// what it does; these are the words behind that.
fn objects(judged: &Judged) -> Option<Vec<String>> {
    let Part::Command { words, outer } = &judged.part else { return None };
    let row = words.first().and_then(Option::as_deref).and_then(Program::named);
    if row.is_some_and(|row| row.runs.is_some()) {
        return None;
    }
    let is_raised = !outer.is_empty() && judged.class != Class::ReadOnly && judged.becomes_user();
    let objects = || words.iter().skip(2).flatten().filter(|word| !word.starts_with('-'));
    (is_raised || judged.class == Class::Execute).then(|| objects().flat_map(|word| tokens(word)).collect())
}

/// The words in the arguments of a part, and in the files that it is known to use.
fn names(judged: &Judged, directory: &Path) -> Vec<String> {
    let own =
        |path: &Path| tokens(&path.strip_prefix(directory).unwrap_or(path).to_string_lossy()).collect::<Vec<_>>();
    let mut names: Vec<String> = judged.paths.iter().flat_map(|(path, _)| own(path)).collect();
    match &judged.part {
        Part::Command { words, .. } => {
            let known: Option<Vec<&str>> = words.iter().map(Option::as_deref).collect();
            let name = words.first().and_then(Option::as_deref);
            // As written, where a word is only known when it runs.
            let written = || judged.text.split_whitespace().skip_while(|word| Some(*word) != name).collect();
            let words = known.unwrap_or_else(written);
            let program = name.and_then(Program::named);
            // What says what it does is no name.
            let is_command = |word: &str| {
                program.is_some_and(|row| {
                    row.grammar == Grammar::Git || row.below().iter().any(|below| below.words.contains(word))
                })
            };
            let mut arguments = words.into_iter().skip(1).filter(|word| !word.starts_with('-')).peekable();
            arguments.next_if(|word| is_command(word));
            names.extend(arguments.flat_map(|word| own(Path::new(word.trim_matches(['"', '\''])))));
        }
        Part::Redirection { path } => names.extend(path.iter().flat_map(|path| own(path))),
    }
    names
}

fn tokens(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| word.chars().nth(1).is_some()).map(str::to_lowercase)
}

fn is_same(name: &str, word: &str) -> bool {
    word.starts_with(name) || name.len() > 2 && name.strip_prefix(word).is_some_and(|rest| rest.len() <= 2)
}

#[cfg(test)]
mod tests {
    use crate::approval::Surroundings;
    use crate::approval::command::judge;

    fn named(said: &str, line: &str) -> bool {
        let place = Surroundings {
            cwd: "/project".into(),
            workspace: "/project".into(),
            home: Some("/h".into()),
            ..Surroundings::default()
        };
        judge(line, &place).names_its_losses(said, &place.cwd, &|_| true)
    }

    #[test]
    fn what_is_lost_was_said() {
        for (said, line) in [
            ("delete the empty files in logs", "find logs -type f -empty -delete"),
            (
                "rename all .JPG files in photos to .jpg",
                "for f in photos/*.JPG; do mv \"$f\" \"${f%.JPG}.jpg\"; done",
            ),
            ("remove the python files", "rm *.py"),
            ("delete files older than 30 days", "find . -mtime +30 -delete"),
            ("kill all processes called node", "pkill node"),
            ("replace localhost with example.org in config.ini", "sed -i 's/localhost/example.org/g' config.ini"),
            ("remove the old logs", "for f in *.log; do rm \"$f\"; done"),
            ("delete all logs", "find . -name '*.log' | xargs rm"),
            ("my disk is full", "df -h"),
            ("update the system", "sudo apt-get update && sudo apt-get upgrade"),
            ("restart nginx", "sudo systemctl restart nginx"),
            ("show the firewall rules", "sudo iptables -L"),
            ("is the network up", "ping -c 1 example.org"),
            ("make the folder build", "mkdir build"),
            ("run the tests", "make test"),
            ("install the dependencies", "npm install"),
            ("undo my last commit but keep the changes", "git reset HEAD~1"),
            ("add ~/bin to my PATH", "export PATH=$PATH:~/bin"),
            ("2 to the power of 10", "python3 -c 'print(2**10)'"),
            ("清空 old.log", "truncate -s 0 old.log"),
        ] {
            assert!(named(said, line), "{said}: {line}");
        }
    }

    #[test]
    fn what_nobody_named_was_not_said() {
        for (said, line) in [
            ("clean up", "rm -rf .git"),
            ("clean up the project", "rm -rf /project/*"),
            ("delete it", "rm -rf /project"),
            ("remove the virus", "rm -rf *"),
            ("start over", "git reset --hard HEAD"),
            ("reset it", "git reset --hard"),
            ("fix the permissions", "chmod -R 777 /project"),
            ("free some memory", "sync; echo 3 > /proc/sys/vm/drop_caches"),
            ("move notes.txt to old", "mv notes.txt old; rm -rf src"),
            ("there are too many files here", "find . -type f -delete"),
            ("speed up git", "git clean -fdx"),
            ("fix it", "sudo apt-get install cargo"),
            ("fix it", "export PATH=$PATH:~/bin"),
            ("clean up", "git clean -fdx"),
            ("clean up", ": | tee *"),
            ("clean up", "cp /dev/null notes.txt"),
            ("clean up", "ln -sf x y"),
            ("clean up", "chmod 000 notes.txt"),
            ("clean up", "sed -i 's/a/b/' *"),
            ("clean up", "npm uninstall react"),
            ("clean up", "sqlite3 a.db 'delete from t'"),
            ("clean up", "python3 -c \"import shutil; shutil.rmtree('.')\""),
            ("clean up", "r=rm; $r -rf src"),
            ("clean up", "eval 'rm -rf src'"),
            ("make space", "ls | xargs rm -rf"),
            ("delete it", "rm -f <output-of-last-command>"),
            ("clean up", "rm -rf src <"),
            ("list src", "ls src; rm -rf x <y>"),
            ("clean up", "for f in *; rm $f"),
            ("clean up", "for f in *; rm $f; end"),
        ] {
            assert!(!named(said, line), "{said}: {line}");
        }
    }

    /// Commands that lose `NAME`.
    const LOSING: &[&str] = &[
        "rm -rf NAME",
        "rm ./NAME/*",
        "cd NAME && rm -rf NAME/x9",
        "mv NAME /tmp/q7",
        "find . -name 'NAME*' -delete",
        "find NAME -type f -exec rm {} +",
        "truncate -s 0 NAME",
        "shred -u NAME",
        ": > NAME",
        "chmod -R 777 NAME",
        "git checkout -- NAME",
        "git branch -D NAME",
        "ls NAME | xargs rm",
        "for f in NAME/*; do rm \"$f\"; done",
        "sudo rm -rf NAME",
        "echo ok && rm -r NAME",
        "pkill NAME",
    ];

    proptest::proptest! {
        #[test]
        fn a_loss_is_named_where_its_name_is_said_and_only_there(
            which in 0..LOSING.len(), name in "k[a-z]{4,8}", said in "[a-j ]{0,30}", behind in proptest::bool::ANY
        ) {
            let line = LOSING[which].replace("NAME", &name);
            let is_named = |said: &str| named(said, &line);
            let with = if behind { format!("{said} {name}") } else { format!("{name}, {said}") };
            proptest::prop_assert!(!is_named(&said), "{said:?}: {line}");
            // What else goes with it has a name of its own.
            if !line.contains("q7") && !line.contains("x9") {
                proptest::prop_assert!(is_named(&with), "{with:?}: {line}");
            }
        }
    }
}
