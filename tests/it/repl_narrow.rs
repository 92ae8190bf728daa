//! The REPL where rows are short: questions that wrap, and a terminal that wraps its rows anew.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty};
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::skip::has;
use crate::support::talk::{Person, axi, last_said};

#[test]
fn a_question_longer_than_its_rows_leaves_nothing_behind() {
    for (language, question, first, gone, no, denied) in [
        ("en", "Run this command?", "Yes, once", ["Yes,", "for the rest", "what to do instead"], 2, "denied"),
        (
            "ja",
            "このコマンドを実行しますか？",
            "はい、今回だけ",
            ["はい、", "このセッション中", "代わりの指示"],
            2,
            "拒否",
        ),
        ("zh-CN", "运行这条命令吗？", "是，仅此一次", ["是，", "本次会话", "并说明"], 2, "已拒绝"),
    ] {
        let home = Home::new();
        let line = "printf '%s' one-two-three-four-five-six-seven-eight-nine-ten > made.txt";
        let call = serde_json::json!({ "command": line }).to_string();
        let server = Server::start([answer::chat_call("call_1", "shell", &call), answer::chat_text("Then not.")]);
        let mut command = axi(&home, &server);
        command.args(["--lang", language]);
        let mut person = Person::on(Pty::options().size(40, 24), &command);
        person.sends("make it");
        person.sees_choice(first);
        let chosen = |rows: Vec<&str>| rows.iter().rposition(|row| row.starts_with('❯'));
        // Once round the menu and on: each step writes it anew.
        for _ in 0..5 + no {
            let before = person.pty.view(|view| chosen(view.text().lines().collect()));
            person.types("\x1b[B");
            person.waits(|view| chosen(view.text().lines().collect()) != before, "the next choice");
        }
        person.types("\r");
        person.sees("Then not.");
        person.sees_prompt();
        let text = person.pty.transcript();
        assert_eq!(text.matches(line).count(), 1, "the command whole, its title cut to a row:\n{text}");
        // What came of it stands in the row of its result.
        assert_eq!(text.matches(question).count(), 0, "{text}");
        for gone in gone {
            assert_eq!(text.matches(gone).count(), 0, "{gone:?} was left behind:\n{text}");
        }
        assert_eq!(text.matches("❯ make it").count(), 1, "nothing above was erased:\n{text}");
        assert!(text.contains(denied), "{text}");
        assert!(last_said(&server.requests()[1]).contains("denied"));
        assert_eq!(person.leaves(), Some(0));
    }
}

/// tmux with axi in it, which is asked for an answer of these words.
struct Inside {
    home: Home,
    program: Command,
    socket: String,
    /// The answer, whole or in parts.
    _server: Server,
}

impl Inside {
    fn new(text: Answer, settings: &str) -> Self {
        let home = Home::new();
        home.write("config/axi/config.toml", settings);
        let server = Server::start([text]);
        let program = axi(&home, &server);
        let socket = home.path().join("tmux").display().to_string();
        Self { home, program, socket, _server: server }
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = self.home.command("tmux");
        for (name, value) in self.program.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        let output = command.args(["-S", &self.socket, "-f", "/dev/null"]).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts axi on a terminal of 80 × 20 and asks.
    fn asks(&self) {
        let line = self.program.get_program().to_str().unwrap();
        self.tmux(&["new-session", "-d", "-x", "10", "-y", "5", "sleep 600"]);
        self.tmux(&["set", "-g", "history-limit", "1000000"]);
        self.tmux(&["new-session", "-d", "-s", "axi", "-x", "80", "-y", "20", line]);
        self.waits("❯");
        self.tmux(&["send-keys", "-t", "axi", "go", "Enter"]);
    }

    fn resize(&self, columns: u64, rows: u64) {
        self.tmux(&["resize-window", "-t", "axi", "-x", &columns.to_string(), "-y", &rows.to_string()]);
    }

    /// Waits until axi has painted for the new size, whether or not that looks different.
    fn resize_and_paint(&self, columns: u64, rows: u64) {
        let painted = self.home.path().join("painted");
        std::fs::write(&painted, "").unwrap();
        self.tmux(&["pipe-pane", "-t", "axi", &format!("exec cat >> '{}'", painted.display())]);
        self.resize(columns, rows);
        let deadline = Instant::now() + PATIENCE;
        while std::fs::metadata(&painted).unwrap().len() == 0 {
            assert!(Instant::now() < deadline, "nothing was painted for {columns} columns:\n{}", self.text());
        }
        self.tmux(&["pipe-pane", "-t", "axi"]);
    }

    /// History and screen, wrapped rows joined.
    fn text(&self) -> String {
        self.tmux(&["capture-pane", "-t", "axi", "-p", "-J", "-S", "-", "-E", "-"])
    }

    fn waits_on_screen(&self, needle: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.tmux(&["capture-pane", "-t", "axi", "-p", "-J"]).contains(needle) {
            assert!(Instant::now() < deadline, "never saw {needle:?} in:\n{}", self.text());
        }
    }

    fn waits(&self, needle: &str) {
        let deadline = Instant::now() + PATIENCE;
        while !self.text().contains(needle) {
            assert!(Instant::now() < deadline, "never saw {needle:?} in:\n{}", self.text());
        }
    }

    /// Waits for the prompt after the last word and returns the text then.
    fn ends(&self, last: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.text();
            // The prompt may have been painted anew since, for another size.
            if text.rfind(last).is_some_and(|at| text[at..].contains('❯')) {
                return text;
            }
            assert!(Instant::now() < deadline, "the turn never ended:\n{text}");
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn words_stay_once_when_tmux_gets_narrower_and_wider_in_mid_stream() {
    if !has("tmux") {
        return;
    }
    let words: Vec<String> = (0..90).map(|number| format!("w{number:03}x")).collect();
    let (first, second) = (Gate::new(), Gate::new());
    let text = answer::chat_text(&words.join(" ")).gate_before(61, &second).gate_before(31, &first);
    let inside = Inside::new(text, "");
    inside.asks();
    inside.waits("w029");
    inside.resize(37, 20);
    first.open();
    inside.waits("w059");
    inside.resize(100, 12);
    second.open();
    let text = inside.ends("w089x");
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in &words {
        assert_eq!(joined.matches(word.as_str()).count(), 1, "{word}:\n{text}");
    }
}

#[test]
fn a_line_under_way_stays_one_line_when_tmux_gets_narrower() {
    if !has("tmux") {
        return;
    }
    let inside = Inside::new(answer::chat_text(&"a row of text\n\n".repeat(12)), "");
    inside.asks();
    inside.ends("a row of text");
    inside.tmux(&["send-keys", "-t", "axi", "-l", "the quick brown fox jumps over the lazy dog"]);
    inside.waits_on_screen("lazy dog");
    // At none of these does the line fill its last row to the end: reedline is one row off then (nushell/reedline#930).
    for (columns, more) in [(50, "A"), (33, "B"), (44, "C"), (20, "D"), (80, "E")] {
        inside.resize_and_paint(columns, 20);
        inside.tmux(&["send-keys", "-t", "axi", "-l", more]);
        inside.waits_on_screen(&format!("lazy dog{}", &"ABCDE"[..=usize::from(more.as_bytes()[0] - b'A')]));
    }
    let text = inside.text();
    assert_eq!(text.matches("the quick").count(), 1, "{text}");
    assert_eq!(text.matches('❯').count(), 2, "the first message's prompt and this one:\n{text}");
}

#[test]
fn a_line_of_several_rows_erases_nothing_while_the_window_is_dragged() {
    if !has("tmux") {
        return;
    }
    let inside = Inside::new(answer::chat_text("unasked"), "");
    let axi = inside.program.get_program().to_str().unwrap();
    let line = format!("seq -f r%02gx 40; exec {axi}");
    inside.tmux(&["new-session", "-d", "-x", "10", "-y", "5", "sleep 600"]);
    inside.tmux(&["new-session", "-d", "-s", "axi", "-x", "100", "-y", "20", &line]);
    inside.waits("❯");
    let line = "abcdefgh ".repeat(21);
    inside.tmux(&["send-keys", "-t", "axi", "-l", &line]);
    inside.waits_on_screen(line.trim_end());
    // tmux tells of a new size each 250 ms at most: axi is told of others than the terminal has.
    let (wider, narrower) = ((51..70).map(|half| half * 2), (31..70).rev().map(|half| half * 2));
    for (drag, end) in [(wider.collect::<Vec<u64>>(), "YY"), (narrower.collect(), "ZZ")] {
        for columns in drag {
            inside.resize(columns, 20);
            std::thread::sleep(Duration::from_millis(20));
        }
        // Nobody types while they drag; what is painted meanwhile is what may be wrong.
        std::thread::sleep(Duration::from_millis(800));
        inside.tmux(&["send-keys", "-t", "axi", "-l", end]);
        inside.waits_on_screen(end);
    }
    let text = inside.text();
    let bare: String = text.split_whitespace().collect();
    for row in (1..=40).map(|number| format!("r{number:02}x")).chain(["?forhelp".into(), "❯".into()]) {
        assert_eq!(bare.matches(&row).count(), 1, "{row}:\n{text}");
    }
    assert!(bare.contains(&format!("{}YYZZ", line.replace(' ', ""))), "{text}");
}

/// Resizes come whenever they come: while axi writes, between two of its writes, before it knows of the last one.
fn resizes_at_any_time(resizes: usize, words_each: usize, wrap: &str) {
    if !has("tmux") {
        return;
    }
    let words: Vec<String> = (0..resizes * words_each).map(|number| format!("w{number:05}x")).collect();
    let gates: Vec<Gate> = (0..resizes).map(|_| Gate::new()).collect();
    // Paragraphs, quotes and strong words; each is one piece of the answer.
    let dressed = |(index, word): (usize, &String)| match index % 41 {
        0 if index > 0 => format!("\n\n{word}"),
        20 => format!("\n\n>{word}"),
        7 | 30 => format!("**{word}**"),
        _ => word.clone(),
    };
    let mut text = answer::chat_text(&words.iter().enumerate().map(dressed).collect::<Vec<_>>().join(" "));
    for (index, gate) in gates.iter().enumerate().rev() {
        text = text.gate_before(index * words_each + 1, gate);
    }
    let inside = Inside::new(text, &format!("wrap = \"{wrap}\"\n"));
    inside.asks();
    let seed = std::env::var("AXI_TEST_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
    let mut random = |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    for (index, gate) in gates.iter().enumerate() {
        gate.open();
        if random(2) == 0 {
            // What came is written; else it is being written now.
            inside.waits_on_screen(&words[(index + 1) * words_each - 2]);
        }
        inside.resize(20 + random(180), 10 + random(30));
    }
    let text = inside.ends(words.last().unwrap());
    // Whatever else stands there: the words of the answer, as they follow each other.
    let shown: Vec<&str> = text.split_whitespace().filter(|word| word.starts_with('w')).collect();
    assert_eq!(shown, words, "each word once, in order:\n{text}");
}

#[test]
fn words_stay_once_when_tmux_changes_its_size_at_any_time() {
    resizes_at_any_time(25, 40, "word");
}

#[test]
fn words_of_rows_that_tmux_wraps_stay_once_when_it_changes_its_size_at_any_time() {
    resizes_at_any_time(25, 40, "soft");
}

/// 100 KB over 500 sizes each: `cargo test --test it repl_narrow:: -- --ignored`.
#[test]
#[ignore = "takes half a minute"]
fn words_stay_once_when_tmux_changes_its_size_500_times() {
    resizes_at_any_time(500, 28, "word");
    resizes_at_any_time(500, 28, "soft");
}
