//! Finds out which of several programs is the innermost around this process: the variables of all of them remain
//! set inside the innermost. Pure.

/// Finds the innermost of `programs` in a list of processes (`ps -o pid=,ppid=,comm=`), from the process `own` upwards;
/// its place in `programs`. `None` when none of them is above it.
pub(super) fn innermost(processes: &str, own: u32, programs: &[&str]) -> Option<usize> {
    lineage(processes, own).find_map(|(_, name)| programs.iter().position(|program| is_called(name, program)))
}

/// Follows a list of processes (`ps -o pid=,ppid=,comm=`) from the process `own` upwards: numbers and names, its own
/// first.
pub fn lineage(processes: &str, own: u32) -> impl Iterator<Item = (u32, &str)> {
    let mut next = Some(own);
    let up = move || {
        let id = next?;
        let (_, parent, name) = processes.lines().filter_map(process).find(|found| found.0 == id)?;
        next = Some(parent);
        Some((id, name))
    };
    // Parents never form a circle, but this text comes from another program.
    std::iter::from_fn(up).take(processes.lines().count())
}

/// The number, the parent's and the name of a process.
fn process(row: &str) -> Option<(u32, u32, &str)> {
    let (id, rest) = row.trim_start().split_once(' ')?;
    let (parent, name) = rest.trim_start().split_once(' ')?;
    Some((id.parse().ok()?, parent.parse().ok()?, name.trim()))
}

/// Tells whether a process is this program, as systems name them: `tmux: server`, `SCREEN`, `wezterm-mux-ser`,
/// `/Applications/kitty.app/Contents/MacOS/kitty`.
fn is_called(name: &str, program: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    name.strip_prefix(program).is_some_and(|rest| !rest.starts_with(|character: char| character.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAMS: &[&str] = &["tmux", "zellij", "screen", "kitty", "wezterm"];

    /// Two panes of zellij in tmux, a window of screen in tmux: `ps` of procps 4.0.2.
    const LINUX: &str = "\
    1     0 init
 7720     1 tmux: server
 7721  7720 tmux: client
 7726     1 tmux: server
 7728  7726 zellij
 7733     1 zellij
 7865  7733 bash
 7890  7865 axi
 8109     1 tmux: server
 8110  8109 screen
 8114  8110 screen
 8147  8114 bash
 8150  8147 axi
 9001  7726 bash
 9002  9001 axi
 9003     1 wezterm-mux-ser
 9004  9003 zsh
";

    #[test]
    fn the_first_above_is_the_innermost() {
        let found = |own| innermost(LINUX, own, PROGRAMS).map(|at| PROGRAMS[at]);
        assert_eq!(found(7890), Some("zellij"));
        assert_eq!(found(8150), Some("screen"));
        assert_eq!(found(9002), Some("tmux"));
        assert_eq!(found(9004), Some("wezterm"));
        assert_eq!(found(1), None);
        assert_eq!(found(4), None);
        // A Mac's ps has whole paths; GNU screen calls itself SCREEN.
        let mac = "  500     1 /Applications/kitty.app/Contents/MacOS/kitty\n  510   500 -zsh\n  511     1 SCREEN\n  \
                   512   511 -zsh\n  513   512 screenfetch\n";
        assert_eq!(innermost(mac, 510, PROGRAMS), Some(3));
        assert_eq!(innermost(mac, 513, PROGRAMS), Some(2));
        assert_eq!(innermost(mac, 510, &["tmux", "zellij"]), None);
    }

    proptest::proptest! {
        #[test]
        fn no_list_keeps_it_busy(rows in "([0-9]{0,2} {0,2}[0-9]{0,2} {0,2}(tmux|sh|: )?\n)*") {
            let _ = innermost(&rows, 1, PROGRAMS);
        }
    }
}
