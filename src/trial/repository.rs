//! What git says of the workspace's repository, before a trial and in it.

/// What git calls the commit of a repository that has none.
const NO_COMMIT: &str = "(initial)";

/// What `git status` says of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitState {
    /// The branch.
    pub branch: String,
    /// The first letters of the commit; empty where there is none.
    pub commit: String,
    /// How many files are changed or added to the index.
    pub changed: u64,
    /// How many files and directories it does not know.
    pub untracked: u64,
}

impl GitState {
    /// The words of the command line whose output [`GitState::parse`] reads; it writes nothing.
    pub const COMMAND: &[&str] =
        &["git", "--no-optional-locks", "status", "--porcelain=v2", "--branch", "-unormal"];

    /// Reads what that printed (git-status(1), "Porcelain Format Version 2").
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut state = Self::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("#", header)) => {
                    if let Some(commit) = header.strip_prefix("branch.oid ").filter(|oid| *oid != NO_COMMIT) {
                        state.commit = commit.chars().take(7).collect();
                    } else if let Some(branch) = header.strip_prefix("branch.head ") {
                        branch.clone_into(&mut state.branch);
                    }
                }
                Some(("?", _)) => state.untracked += 1,
                Some(("1" | "2" | "u", _)) => state.changed += 1,
                Some(_) | None => {}
            }
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::GitState;

    #[test]
    fn a_repositorys_state_is_read_off_its_status() {
        let text = "# branch.oid 0123456789abcdef\n# branch.head main\n# branch.ab +1 -0\n1 .M N... 100644 a\n2 R. x\nu UU y\n? new\n";
        let expected = GitState { branch: "main".into(), commit: "0123456".into(), changed: 3, untracked: 1 };
        assert_eq!(GitState::parse(text), expected);
    }
}
