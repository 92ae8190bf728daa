//! The commands git has by itself, which no alias can replace, and where one stands among its words.

/// Flags in front of a command that take the next word along.
const VALUED: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix"];

/// As `git --list-cmds=builtins,main` names them (git 2.39 and 2.47).
const COMMANDS: &str = "add am annotate apply archimport archive backfill bisect blame branch bugreport bundle cat-file \
    check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick citool clean clone \
    column commit commit-graph commit-tree config count-objects credential credential-cache credential-store \
    cvsexportcommit cvsimport cvsserver daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool \
    fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg for-each-ref for-each-repo format-patch fsck \
    fsck-objects fsmonitor--daemon gc get-tar-commit-id gitk grep gui hash-object help hook http-backend http-fetch \
    http-push imap-send index-pack init init-db instaweb interpret-trailers lfs log ls-files ls-remote ls-tree mailinfo \
    mailsplit maintenance merge merge-base merge-file merge-index merge-octopus merge-one-file merge-ours \
    merge-recursive merge-resolve merge-subtree merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes p4 \
    pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase \
    receive-pack reflog refs remote repack replace replay request-pull rerere reset restore rev-list rev-parse revert rm \
    scalar send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status \
    stripspace submodule svn switch symbolic-ref tag unpack-file unpack-objects update-index update-ref \
    update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version web--browse \
    whatchanged worktree write-tree";

/// Tells whether git knows a command by itself; anything else may be an alias, or a program on the path.
pub(crate) fn is_git_command(word: &str) -> bool {
    word.starts_with('-') || COMMANDS.split_whitespace().any(|command| command == word)
}

/// Which of the words of a call of git is its command.
pub(crate) fn git_command_at(words: &[Option<String>]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        match word.as_deref() {
            Some(flag) if VALUED.contains(&flag) => at += 2,
            Some(flag) if flag.starts_with('-') => at += 1,
            Some(_) | None => return Some(at),
        }
    }
    None
}
