//! Trying a command from a question: axi itself runs beside, on the person's terminal, and what it leads them through
//! ends with the changes applied or dropped.

use std::cell::OnceCell;
use std::process::Command;
use std::rc::Rc;

use super::super::commands::{ASKED, ASKING, DEFINITIONS, can_try as probe};
use super::super::context::App;
use crate::agent::{Tried, Tryable};
use crate::child;
use crate::frontend::exit::Exit;
use crate::frontend::human::Tries;
use crate::terminal::relay;
use crate::tool::output;

/// Tells whether commands can be tried here; asks the system once.
pub(super) fn can_try(app: &Rc<App>) -> Box<dyn Fn() -> bool> {
    let (app, known) = (Rc::clone(app), OnceCell::new());
    Box::new(move || *known.get_or_init(|| probe(&app)))
}

/// Has the person try a command; `None` where it could not be.
pub(super) fn tries(app: &Rc<App>) -> Tries {
    let app = Rc::clone(app);
    Box::new(move |trial| {
        let mut command = command(&app, trial)?;
        // It was judged by what it finds of the person's shell.
        let definitions = app.shell.person().definitions_for_trial().ok()?;
        if let Some(path) = &definitions {
            command.env(DEFINITIONS, path.as_os_str());
        }
        let ran = relay(command).ok()?;
        let code = ran.status.code()?;
        let is_over = [Exit::Done, Exit::ApprovalNeeded].iter().any(|exit| i32::from(exit.code()) == code);
        let printed = output::trim(&output::clean(&told(&ran.output)), output::LIMITS);
        is_over.then(|| Tried { applied: code == i32::from(Exit::Done.code()), printed })
    })
}

/// Takes the questions out of what was on the screen.
fn told(printed: &[u8]) -> Vec<u8> {
    let find = |text: &[u8], mark: &str| text.windows(mark.len()).position(|part| part == mark.as_bytes());
    let (mut told, mut rest) = (Vec::new(), printed);
    while let Some(start) = find(rest, ASKING) {
        told.extend_from_slice(&rest[..start]);
        let behind = &rest[start + ASKING.len()..];
        match find(behind, ASKED) {
            Some(end) => rest = &behind[end + ASKED.len()..],
            None => return told,
        }
    }
    told.extend_from_slice(rest);
    told
}

fn command(app: &App, trial: &Tryable) -> Option<Command> {
    let program = app.process.program.as_ref()?;
    let mut command = Command::new(program);
    command.arg(child::TERMINAL).arg(program).args(["try", "--ask", "--lang", app.locale.tag()]);
    if !trial.network {
        command.arg("--no-network");
    }
    for path in &trial.also {
        command.arg("--also").arg(path);
    }
    if let Some(session) = &trial.session {
        command.arg("--session").arg(session);
    }
    if app.display().linear() {
        command.arg("--linear");
    }
    command.current_dir(app.project.roots().cwd).arg("--").arg(&trial.line);
    Some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_taken_out_of_what_the_model_is_told_and_nothing_else_is() {
        let text = format!("ran{ASKING}? y n{ASKED}\nmore{ASKING}? again{ASKED}end{ASKING}cut off");
        assert_eq!(told(text.as_bytes()), b"ran\nmoreend");
        assert_eq!(told(b"plain"), b"plain");
    }
}
