//! Compares the words of a rule with the words of a command.

use super::effect::{git_command_at, is_git_command};
use crate::approval::rule::CommandPattern;

/// Tells whether an allowing pattern covers these words: each of them must be known as written.
pub(crate) fn admits(pattern: &CommandPattern, words: &[Option<String>]) -> bool {
    let known: Option<Vec<String>> = words.iter().cloned().collect();
    known.is_some_and(|words| pattern.matches(&words))
}

/// Tells whether an asking or denying pattern covers these words. The command may be named by its path, and flags
/// may stand in front of the words that the pattern names: `git -C x push` is a `git push`.
pub(crate) fn touches(pattern: &CommandPattern, words: &[Option<String>]) -> bool {
    compare(pattern, &plain(words), false)
}

/// Tells whether the pattern may cover the words: a word that is only known at run time stands for any words, and
/// so does a possible alias.
pub(crate) fn may_touch(pattern: &CommandPattern, words: &[Option<String>]) -> bool {
    if touches(pattern, words) {
        return false;
    }
    let mut words = plain(words);
    if words.first().is_some_and(|word| word.as_deref() == Some("git"))
        && let Some(at) = git_command_at(&words)
        && words[at].as_deref().is_some_and(|word| !is_git_command(word))
    {
        words[at] = None;
    }
    compare(pattern, &words, true)
}

/// Tells whether one of the words is a text that contains the pattern's words one after the other: a program may
/// run it.
pub(crate) fn may_hide(pattern: &CommandPattern, words: &[Option<String>]) -> bool {
    let ends = |c: char| !(c.is_alphanumeric() || "-_./:".contains(c));
    let texts = words.iter().skip(1).flatten().filter(|text| text.contains(ends));
    let pattern = CommandPattern { words: pattern.words.clone(), prefix: true };
    texts.into_iter().any(|text| {
        let tokens: Vec<Option<String>> =
            text.split(ends).filter(|token| !token.is_empty()).map(|token| Some(token.to_owned())).collect();
        (0..tokens.len()).any(|at| touches(&pattern, &tokens[at..]))
    })
}

/// Returns the words with the program's name reduced to its last component, and `git-push` split into its two
/// words.
fn plain(words: &[Option<String>]) -> Vec<Option<String>> {
    let Some((first, rest)) = words.split_first() else { return Vec::new() };
    let base = first.as_deref().map(|name| name.rsplit('/').next().unwrap_or_default());
    let named: Vec<Option<String>> = match base.and_then(|base| base.strip_prefix("git-")) {
        Some(command) => vec![Some("git".to_owned()), Some(command.to_owned())],
        None => vec![base.map(ToOwned::to_owned)],
    };
    named.into_iter().chain(rest.iter().cloned()).collect()
}

fn compare(pattern: &CommandPattern, words: &[Option<String>], guess: bool) -> bool {
    // A pattern may also name a program by its path.
    let wanted: Vec<&str> = pattern
        .words
        .iter()
        .enumerate()
        .map(|(index, word)| if index == 0 { word.rsplit('/').next().unwrap_or_default() } else { word.as_str() })
        .collect();
    let is_flag = |text: &str| text.len() > 1 && text.starts_with(['-', '+']);
    // Works from the end: `fits[index]` tells whether the pattern's words from `at` on match the words from `index`
    // on.
    let ended = |index: usize| pattern.prefix || words[index..].iter().all(|word| guess && word.is_none());
    let mut fits: Vec<bool> = (0..=words.len()).map(ended).collect();
    for (at, want) in wanted.iter().enumerate().rev() {
        let mut next = vec![false; words.len() + 1];
        for index in (0..words.len()).rev() {
            next[index] = match words[index].as_deref() {
                // An unknown word stands for any words, or for none.
                None => guess && (fits[index + 1] || fits[index] || next[index + 1]),
                Some(word) => {
                    let here = word == *want && fits[index + 1];
                    // A flag may stand in front of the named words, alone or with its value.
                    let behind = at > 0 && is_flag(word) && !is_flag(want);
                    let behind = behind && (next[index + 1] || next.get(index + 2).copied().unwrap_or(false));
                    // A flag that the pattern names may stand behind other words.
                    let later = at > 0 && is_flag(want) && pattern.prefix && word != "--" && next[index + 1];
                    here || behind || later
                }
            };
        }
        fits = next;
    }
    fits.first().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<Option<String>> {
        line.split(' ').map(|word| (word != "?").then(|| word.to_owned())).collect()
    }

    fn pattern(text: &str) -> CommandPattern {
        let (body, prefix) = text.strip_suffix(":*").map_or((text, false), |body| (body, true));
        CommandPattern { words: body.split(' ').map(ToOwned::to_owned).collect(), prefix }
    }

    #[test]
    fn flags_in_front_of_a_sub_command_hide_it_from_no_denying_rule() {
        for (rule, line) in [
            ("git push:*", "git push origin"),
            ("git push:*", "git -C . push"),
            ("git push:*", "git --no-pager push"),
            ("git push:*", "git -c a.b=c --no-pager -C x push -f"),
            ("git push:*", "/usr/bin/git --git-dir=x push"),
            ("git push:*", "/usr/lib/git-core/git-push origin"),
            ("git push", "git -C . push"),
            ("/usr/bin/git push", "git push"),
            ("docker rm:*", "docker --context x rm y"),
            ("docker compose down:*", "docker compose -f a.yml down -v"),
            ("kubectl delete:*", "kubectl -n prod delete pod x"),
            ("npm publish:*", "npm --prefix x publish"),
            ("cargo publish:*", "cargo +nightly publish"),
            ("systemctl stop:*", "systemctl --user stop x"),
            ("gh pr merge:*", "gh pr -R o/r merge 3"),
            ("git push --force:*", "git push origin main --force"),
            ("rm:*", "/bin/rm x"),
        ] {
            assert!(touches(&pattern(rule), &words(line)), "{rule}: {line}");
        }
        for (rule, line) in [
            ("git push:*", "git status"),
            ("git push:*", "git commit push"),
            ("git push", "git push origin"),
            ("git push:*", "hub push"),
            ("rm:*", "ls -l rm"),
            ("git push --force:*", "git push origin -- --force"),
        ] {
            assert!(!touches(&pattern(rule), &words(line)), "{rule}: {line}");
        }
    }

    #[test]
    fn what_may_turn_out_to_be_denied_is_told() {
        for (rule, line) in [
            ("git push:*", "?"),
            ("git push:*", "git ?"),
            ("git push:*", "? push"),
            ("git push:*", "git ? push"),
            ("git push", "git ?"),
            ("git push:*", "git p"),
            ("git push:*", "git -c alias.p=push p"),
            ("git push:*", "git -C . p x"),
            // An unquoted word may become several.
            ("git push:*", "git -C ? status"),
        ] {
            assert!(may_touch(&pattern(rule), &words(line)), "{rule}: {line}");
        }
        for (rule, line) in [("git push:*", "git status"), ("git push:*", "git push"), ("rm:*", "ls ?")] {
            assert!(!may_touch(&pattern(rule), &words(line)), "{rule}: {line}");
        }
    }

    #[test]
    fn the_allowing_side_sees_through_nothing() {
        for line in ["git -C . push", "git --no-pager push", "/usr/bin/git push", "git ?", "git-push"] {
            assert!(!admits(&pattern("git push:*"), &words(line)), "{line}");
        }
        assert!(admits(&pattern("git push:*"), &words("git push x")));
    }

    #[test]
    fn a_text_for_another_program_may_hide_what_is_denied() {
        let inside = |text: &str| {
            may_hide(&pattern("git push:*"), &[Some("python3".into()), Some("-c".into()), Some(text.into())])
        };
        assert!(inside("import os; os.system('git push')"));
        assert!(inside("subprocess.run(['git','-C','.','push'])"));
        assert!(!inside("print('git status')"));
        assert!(!inside("push"));
    }
}
