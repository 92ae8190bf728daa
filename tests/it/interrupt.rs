//! ESC in the REPL, with a scripted provider and a pseudo-terminal.

use std::process::Command;

use crate::support::answer::chat_text;
use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Gate, Server};

fn repl(home: &Home, server: &Server) -> Command {
    let mut command = home.axi();
    command.args(["-m", "openai/any"]);
    command.env("OPENAI_BASE_URL", server.url("/v1")).env("OPENAI_API_KEY", "x");
    command
}

#[test]
fn an_interrupted_answer_closes_its_connection_and_the_next_message_works() {
    let gate = Gate::new();
    let server = Server::start([
        chat_text("Apples and pears and plums and cherries").gate_before(4, &gate),
        chat_text("Quinces it is."),
    ]);
    let home = Home::new();
    let mut pty = Pty::options().size(80, 24).spawn(&repl(&home, &server));
    pty.wait_for("❯");
    pty.send("what grows here?\r");
    pty.wait_for("pears");
    pty.send("\x1b");
    // The provider must hear of it while nobody types, or it goes on writing and charging.
    server.wait_closed(1);
    gate.open();
    pty.wait_for("any ❯");
    pty.send("and there?\r");
    pty.wait_for("Quinces it is.");
    assert_eq!(server.violations(), [""; 0]);
    let sent = &server.requests()[1];
    assert!(sent.text.contains("pears") && !sent.text.contains("plums"), "what was said is kept: {}", sent.text);
}
