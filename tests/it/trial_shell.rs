//! The page of a trial on a terminal: a shell in it has the terminal and gives it back, whatever it was left with.

use std::os::unix::fs::PermissionsExt as _;

use crate::support::pty::Pty;
use crate::support::server::Server;
use crate::support::talk::{Person, axi};
use crate::trial::{can_try, filled};

#[test]
fn a_shell_in_a_trial_has_jobs_and_gives_the_terminal_back() {
    if !can_try() {
        return;
    }
    let home = filled();
    // The machine's own settings of bash give another prompt.
    let shell = home.write("shell", "#!/bin/sh\nexec bash --norc -i\n");
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = home.axi();
    command.env("SHELL", shell).env("PS1", "inside> ").args(["try", "--", "rm d0/a"]);
    let mut person = Person { pty: Pty::options().spawn(&command) };
    person.sees("- d0/a");
    person.sees_choice("Drop it: the files here stay as they are");
    person.types("o");
    person.sees("inside>");
    // It says itself when it has begun: before that the key would meet the shell. It starts nothing, for a shell that
    // starts a program does not stop before that runs.
    person.types("sh -c 'echo begun-$((1 + 1)); read line'\r");
    person.sees("begun-2");
    // A job in there is stopped by the key, not the shell.
    person.types("\x1a");
    person.sees("Stopped");
    person.types("kill -9 %1; wait; echo made > made; stty -echo; ls d0; exit\r");
    person.sees("+ made (5 B)");
    person.sees_choice("Drop it: the files here stay as they are");
    // Lines are read again: a command that is stopped by the key ends, and the page comes back; also when the key comes
    // before the program runs that the shell is starting.
    person.types("r");
    person.sees("Which command?");
    person.types("echo more >> made; echo ready-$((1 + 1)); sleep 1000\r");
    person.sees("ready-2");
    person.types("\x1a");
    person.sees("trial · exit 148");
    person.sees("+ made (10 B)");
    person.sees_choice("Drop it: the files here stay as they are");
    person.types("d");
    person.sees("d0/a · deleted");
    person.sees("+ made");
    // A key before the question never answers it.
    person.sees_choice("Drop it: the files here stay as they are");
    person.types("y");
    person.sees("2 changes applied");
    assert!(!home.work().join("d0/a").exists());
    assert_eq!(std::fs::read_to_string(home.work().join("made")).unwrap(), "made\nmore\n");
}

#[test]
fn after_a_shell_in_a_trial_the_conversation_goes_on() {
    if !can_try() {
        return;
    }
    let home = filled();
    let server = Server::start([]);
    let mut command = axi(&home, &server);
    command.env_remove("AXI_TRIAL").env("SHELL", "/bin/sh").env("PS1", "inside> ");
    let mut person = Person::meets(&command);
    person.sends("!try echo x > top");
    person.sees("would change 1 file");
    person.sees_choice("Apply it");
    person.types("o");
    person.sees("inside>");
    person.types("rm d1/a\r");
    person.types("\x04");
    person.sees("- d1/a");
    person.sees_choice("Drop it: the files here stay as they are");
    person.types("n");
    person.sees_prompt();
    assert!(home.work().join("d1/a").exists());
    assert_eq!(person.leaves(), Some(0));
}
