//! Pictures on the line: dropped on the terminal, or taken from the clipboard by a program that stands in for it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi};

/// One white pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cc\xf8\x0f\0\x01\x01\x01\0\xb18\xf6\x14\0\0\0\0IEND\xaeB`\x82";

/// axi asking a model that sees, with this script in the place of `xclip`.
fn sees(home: &Home, server: &Server, script: &str) -> Command {
    let xclip = home.write("bin/xclip", script);
    std::fs::set_permissions(&xclip, std::fs::Permissions::from_mode(0o755)).unwrap();
    let settings = format!(
        "[providers.lab]\nbase_url = \"{}\"\n[providers.lab.models.eye]\nvision = true\n",
        server.url("/v1")
    );
    home.write("config/axi/config.toml", &settings);
    let mut command = axi(home, server);
    let path = format!("{}:/usr/bin:/bin", home.path().join("bin").display());
    command.env("AXI_MODEL", "lab/eye").env("DISPLAY", ":7").env("PATH", path);
    command
}

#[test]
fn ctrl_v_attaches_the_picture_of_the_clipboard() {
    let home = Home::new();
    std::fs::write(home.path().join("clip.png"), PNG).unwrap();
    let server = Server::start([answer::chat_text("a white dot")]);
    let mut person =
        Person::meets(&sees(&home, &server, "#!/bin/sh\necho \"$@\" >> \"$HOME/asked\"\ncat \"$HOME/clip.png\"\n"));
    person.types("what is");
    person.sees_line("what is");
    person.types("\x16");
    person.sees("pictures/clipboard-");
    // It is deleted as one, and comes again.
    person.types("\x7f");
    // Without the blank the picker is open again.
    person.sees("› /");
    person.types("\x7f");
    person.sees_line("what is");
    person.types("\x16");
    person.sees("pictures/clipboard-");
    person.types("?\r");
    person.sees("a white dot");
    person.sees("attached");
    let request = &server.requests()[0];
    assert!(request.text.contains("data:image/png;base64,iVBOR"), "{}", request.text);
    let asked = std::fs::read_to_string(home.path().join("asked")).unwrap();
    assert!(asked.starts_with("-selection clipboard -t image/png -o\n"), "{asked}");
    let kept = std::fs::read_dir(home.path().join("cache/axi/pictures")).unwrap().next().unwrap().unwrap();
    assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_clipboard_without_a_picture_or_a_program_that_hangs_is_told_and_the_line_stays() {
    for (script, said) in [
        (
            "#!/bin/sh\necho 'Error: target image/png not available' >&2\nexit 1\n",
            "there is no picture in the clipboard",
        ),
        ("#!/bin/sh\nprintf words\n", "there is no picture in the clipboard"),
        ("#!/bin/sh\nexec sleep 60\n", "no program reads pictures from the clipboard here"),
    ] {
        let home = Home::new();
        let server = Server::start([answer::chat_text("done")]);
        let mut person = Person::meets(&sees(&home, &server, script));
        person.types("what is");
        person.sees_line("what is");
        person.types("\x16");
        person.sees(said);
        person.sees_line("what is");
        person.types(" it\r");
        person.sees("done");
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn a_picture_that_is_dropped_is_attached_and_another_paste_stays_text() {
    let home = Home::new();
    std::fs::write(home.path().join("my photo.png"), PNG).unwrap();
    let path = home.path().join("my photo.png").display().to_string();
    let server = Server::start([answer::chat_text("a white dot"), answer::chat_text("words")]);
    let mut person = Person::meets(&sees(&home, &server, "#!/bin/sh\n"));
    person.types(format!("\x1b[200~{}\x1b[201~", path.replace(' ', "\\ ")));
    person.sees("photo.png\"");
    person.types("\r");
    person.sees("a white dot");
    person.sees_prompt();
    person.types("\x1b[200~/no/such/picture.png\x1b[201~");
    person.sees_line("/no/such/picture.png");
    person.types(" is gone\r");
    person.sees("words");
    let requests = server.requests();
    assert!(requests[0].text.contains("data:image/png;base64,"), "{}", requests[0].text);
    assert!(crate::support::talk::last_said(&requests[1]).starts_with("/no/such/picture.png is gone"));
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_picture_is_shown_where_it_was_asked_for_and_the_terminal_can() {
    for (term, multiplexer, shown) in [
        ("xterm-kitty", None, "\x1b_Ga=T,f=100,q=2,c=1,r=1,m=0;iVBOR"),
        ("foot", None, "\x1bP0;1q\"1;1;1;1#0;2"),
        ("xterm-kitty", Some("/tmp/tmux"), ""),
    ] {
        let home = Home::new();
        std::fs::write(home.path().join("dot.png"), PNG).unwrap();
        let server = Server::start([answer::chat_text("a white dot")]);
        let mut command = sees(&home, &server, "#!/bin/sh\n");
        let settings = std::fs::read_to_string(home.path().join("config/axi/config.toml")).unwrap();
        home.write("config/axi/config.toml", &format!("inline_images = \"auto\"\n{settings}"));
        command.env("TERM", term).envs(multiplexer.map(|value| ("TMUX", value)));
        let mut person = Person::meets(&command);
        let path = home.path().join("dot.png").display().to_string();
        person.types(format!("\x1b[200~{path}\x1b[201~"));
        person.sees("dot.png");
        person.types("\r");
        person.sees("a white dot");
        let raw = person.pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
        assert_eq!(raw.contains("\x1b_G") || raw.contains("\x1bP"), !shown.is_empty(), "{term}");
        assert!(raw.contains(shown), "{term}: {raw:?}");
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn a_model_that_sees_nothing_is_said_to() {
    let home = Home::new();
    std::fs::write(home.path().join("dot.png"), PNG).unwrap();
    let server = Server::start([answer::chat_text("there is no picture here")]);
    let mut command = sees(&home, &server, "#!/bin/sh\n");
    let mut person = Person::meets(command.env("AXI_MODEL", "lab/blind"));
    let path = home.path().join("dot.png").display().to_string();
    person.types(format!("\x1b[200~{path}\x1b[201~"));
    person.sees("dot.png");
    person.types("what is it?\r");
    person.sees("there is no picture here");
    person.waits(|view| view.text().replace('\n', " ").contains("cannot see pictures"), "why it is not attached");
    let request = &server.requests()[0].text;
    assert!(
        request.contains("error=\\\"this model cannot see pictures\\\"") && !request.contains("image_url"),
        "{request}"
    );
    assert_eq!(person.leaves(), Some(0));
}
