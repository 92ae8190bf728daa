//! Where the bash of Git for Windows lies. The one in the system's own directory, and its alias among the user's
//! programs, is that of WSL: another machine, with other files.

use std::path::PathBuf;

/// Finds it by the environment's variables; `is_file` tells what is there.
///
/// # Errors
/// If there is none, in words for whoever asked for a command.
pub(super) fn find(
    variable: impl Fn(&str) -> Option<PathBuf>,
    path: impl IntoIterator<Item = PathBuf>,
    is_file: impl Fn(&PathBuf) -> bool,
) -> std::io::Result<PathBuf> {
    // By whoever installs it for all, and for one.
    let installed = ["ProgramW6432", "ProgramFiles", "ProgramFiles(x86)"].into_iter().filter_map(&variable);
    let own = variable("LOCALAPPDATA").map(|place| place.join("Programs"));
    let usual = installed.chain(own).map(|place| place.join("Git"));
    // Elsewhere it is found by its git: `Git\cmd\git.exe` and `Git\bin\git.exe` stand in the search path.
    let with_git = path.into_iter().filter(|place| is_file(&place.join("git.exe")));
    let beside = with_git.filter_map(|place| place.parent().map(PathBuf::from));
    let mut all = usual.chain(beside).map(|place| place.join("bin").join("bash.exe"));
    all.find(|bash| is_file(bash)).ok_or_else(|| {
        let said = "there is no bash: it comes with Git for Windows (winget install Git.Git)";
        std::io::Error::new(std::io::ErrorKind::NotFound, said)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], path: &[&str], files: &[&str]) -> Option<String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        let is_file = |place: &PathBuf| files.iter().any(|file| *place == PathBuf::from(file));
        let bash = find(variable, path.iter().map(PathBuf::from), is_file).ok()?;
        Some(bash.to_string_lossy().into_owned())
    }

    #[test]
    fn bash_is_that_of_git_and_never_that_of_wsl() {
        let (all, own) = (("ProgramFiles", "/programs"), ("LOCALAPPDATA", "/local"));
        assert_eq!(
            found(&[all], &[], &["/programs/Git/bin/bash.exe"]).as_deref(),
            Some("/programs/Git/bin/bash.exe")
        );
        let for_one = "/local/Programs/Git/bin/bash.exe";
        assert_eq!(found(&[all, own], &[], &[for_one]).as_deref(), Some(for_one));
        let elsewhere = ["/d/Git/cmd/git.exe", "/d/Git/bin/bash.exe"];
        assert_eq!(found(&[all], &["/x", "/d/Git/cmd"], &elsewhere).as_deref(), Some("/d/Git/bin/bash.exe"));
        let wsl = ["/windows/System32/bash.exe", "/local/Microsoft/WindowsApps/bash.exe"];
        let path = ["/windows/System32", "/local/Microsoft/WindowsApps"];
        assert_eq!(found(&[all, own], &path, &wsl), None);
    }
}
