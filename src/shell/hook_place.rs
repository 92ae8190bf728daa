//! Which shell axi was started in, and whether the variables of a hook that axi sees are of that shell's hook. A hook
//! exports its variables, so that each shell that is started inside its shell has them, with a hook of its own or without.
//! Pure.

/// Where the hook is that `AXI_SESSION` is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookPlace {
    /// In the shell that axi was started in.
    Here {
        /// What that shell is called.
        shell: String,
    },
    /// Nobody can tell.
    Unknown,
    /// In another one. This one was started with that one's variables.
    Elsewhere {
        /// What the shell is called that axi was started in.
        shell: String,
        /// Its number.
        process: u32,
    },
}

/// Finds the place in the processes above axi, nearest first, each with its number and name. `session` is
/// `AXI_SESSION`; `was_started_with_it` tells of a process whether that was among the variables it was started with,
/// which those of a subshell were not: it is the hook's shell, copied. `None` for who cannot tell.
#[must_use]
pub fn hook_place(
    session: &str,
    above: &[(u32, String)],
    was_started_with_it: impl Fn(u32) -> Option<bool>,
) -> HookPlace {
    let owner = session.split('-').nth(1).and_then(|process| process.parse::<u32>().ok());
    let nearest = above.iter().find_map(|(process, name)| Some((*process, super::called(name)?)));
    let (Some(owner), Some((process, shell))) = (owner, nearest) else { return HookPlace::Unknown };
    let shell = shell.to_owned();
    if owner == process || was_started_with_it(process) == Some(false) {
        HookPlace::Here { shell }
    } else {
        HookPlace::Elsewhere { shell, process }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(session: &str, above: &[(u32, &str)], started_with: Option<bool>) -> HookPlace {
        let above: Vec<(u32, String)> =
            above.iter().map(|(process, name)| (*process, (*name).to_owned())).collect();
        hook_place(session, &above, |_| started_with)
    }

    fn here(shell: &str) -> HookPlace {
        HookPlace::Here { shell: shell.to_owned() }
    }

    #[test]
    fn the_nearest_shell_has_the_hook_or_another_one_has() {
        let above = [(30, "sudo"), (20, "-zsh"), (10, "fish"), (1, "init")];
        assert_eq!(place("171-20-3", &above, None), here("zsh"));
        let elsewhere = HookPlace::Elsewhere { shell: "zsh".to_owned(), process: 20 };
        assert_eq!(place("171-10-3", &above, None), elsewhere);
        assert_eq!(place("171-10-3", &above, Some(true)), elsewhere);
        // A window of a multiplexer that was started in another shell.
        assert_eq!(place("171-99-3", &above, Some(true)), elsewhere);
    }

    #[test]
    fn a_subshell_is_the_hooks_own_and_who_cannot_tell_does_not() {
        assert_eq!(place("171-10-3", &[(20, "bash"), (10, "bash")], Some(false)), here("bash"));
        assert_eq!(place("171-10-3", &[], None), HookPlace::Unknown);
        assert_eq!(place("171-10-3", &[(20, "make")], None), HookPlace::Unknown);
        assert_eq!(place("mine", &[(20, "/bin/bash")], Some(true)), HookPlace::Unknown);
    }
}
