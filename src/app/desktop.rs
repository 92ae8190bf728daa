//! Shows a notification on the desktop, by the program that the system has for it.

use std::borrow::Cow;
use std::process::{Command, Stdio};

use super::process::Variables;
use crate::platform::{NOTIFIER, NOTIFIES_IN_MARKUP};

/// What leads to the desktop of the person; the rest of the environment, keys among it, stays here.
const NEEDED: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// Shows it, where there is a desktop and a program for it. Nothing waits for that.
pub(super) fn notify(title: &str, text: &str, variables: Variables) {
    let Some((program, arguments)) = NOTIFIER.split_first() else { return };
    let mut command = Command::new(program);
    command.args(arguments).arg(title).arg(&*shown(text)).env_clear();
    command.envs(NEEDED.iter().filter_map(|name| Some((name, variables(name)?))));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // It ends by itself, at the latest when the desktop does not answer; then nothing of it is left.
        Ok(mut child) => drop(std::thread::Builder::new().spawn(move || drop(child.wait()))),
        Err(error) => tracing::debug!(%error, program, "no notification on the desktop"),
    }
}

/// The text, so that the desktop shows it as it is.
fn shown(text: &str) -> Cow<'_, str> {
    if !NOTIFIES_IN_MARKUP {
        return text.into();
    }
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_markup() {
        let wanted = if NOTIFIES_IN_MARKUP { "-x &lt;b&gt;&amp;" } else { "-x <b>&" };
        assert_eq!(shown("-x <b>&"), wanted);
    }
}
