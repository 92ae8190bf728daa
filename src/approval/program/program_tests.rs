use super::*;

#[test]
fn what_stands_before_a_program_runs_it_and_no_text() {
    for name in ["sudo", "doas", "env", "time", "nohup", "nice", "exec", "command", "setsid"] {
        assert!(stands_before_program(name), "{name}");
    }
    for name in ["bash", "eval", "source", ".", "xargs", "ssh", "timeout", "find", "ls", "nothing"] {
        assert!(!stands_before_program(name), "{name}");
    }
}

#[test]
fn each_name_finds_its_own_row() {
    assert!(TABLE.names.len() > 700, "{}", TABLE.names.len());
    for (name, row) in TABLE.names {
        let found = Program::named(name.as_str()).unwrap();
        assert!(std::ptr::eq(found, &raw const TABLE.rows[usize::from(*row)]), "{}", name.as_str());
        assert!(found.words.contains(name.as_str()), "{}", name.as_str());
    }
    assert!(Program::named("mkfs.ext4").unwrap().words.contains("mkfs*"));
    assert!(Program::named("no-such-program").is_none());
    assert_eq!(Program::versioned("python3.11").unwrap().grammar, Grammar::Python);
    assert!(Program::versioned("cat2").is_none());
}

#[test]
fn a_row_says_what_its_clauses_say() {
    let move_ = Program::named("mv").unwrap();
    assert_eq!((move_.does, move_.naming), (Some(Does::Writes), Some(Naming::Moves)));
    let touched: Vec<_> = move_.touches().iter().map(|touches| (touches.action, touches.which)).collect();
    assert_eq!(touched, [(Action::Move, Which::Rest), (Action::Change, Which::Last)]);
    let show = Program::named("ip").unwrap().below().iter().find(|row| row.words.iter().eq(["addr", "show"]));
    assert_eq!(show.unwrap().looks, Some(Looks::Names));
    assert!(lists::GIT_COMMANDS.contains("commit"));
}
