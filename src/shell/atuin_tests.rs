use std::process::Command;

use super::*;

/// A database as SQLite itself writes it, with atuin's table: long commands, many rows, a deleted one, and a log beside
/// it that holds the newest.
const MADE: &str = r#"
import os, sqlite3, sys
made = sqlite3.connect(sys.argv[1], isolation_level=None)
made.execute("pragma page_size=" + sys.argv[2])
made.execute("pragma journal_mode=wal")
made.execute('create table "other" (a text)')
made.execute("create table history (id text primary key, timestamp integer not null, duration integer not null, exit integer not null, command text not null, cwd text not null, session text not null, hostname text not null, unique(timestamp, cwd, command))")
made.execute("alter table history add column deleted_at integer")
add = lambda n, exit, command, gone=None: made.execute("insert into history values (?, ?, 5, ?, ?, '/src', 's', 'h', ?)", (str(n), (1700000000 + n) * 10**9, exit, command, gone))
made.execute("begin")
for n in range(3000):
    add(n, n % 3 - 1, f"make target-{n}")
add(3000, 0, "echo " + "x" * 20000)
add(3001, 0, "rm secret", 5)
made.execute("commit")
made.execute("pragma wal_checkpoint(truncate)")
add(3002, 127, "gti\nstatus")
committed = os.path.getsize(sys.argv[1] + "-wal")
made.execute("pragma cache_size=2")
made.execute("begin")
for n in range(3003, 6000):
    add(n, 0, f"never whole {n} " + "y" * 200)
# Of what is not committed a part must be in the log by now.
os._exit(0 if os.path.getsize(sys.argv[1] + "-wal") > committed else 9)
"#;

#[test]
fn a_database_is_read_with_what_is_still_in_its_log() {
    for page in ["512", "4096", "65536"] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("history.db");
        let Ok(made) = Command::new("python3").args(["-c", MADE]).arg(&path).arg(page).status() else {
            return crate::skip::skip("python3 is not installed: nobody here writes a database");
        };
        assert!(made.success(), "{page}");
        let mut all = Vec::new();
        typed(&path, &mut all);
        all.sort_by_key(|typed| typed.when);
        assert_eq!(all.len(), 3002, "{page}");
        let one = |at: usize| (all[at].text.as_ref(), all[at].exit, all[at].when);
        assert_eq!(one(0), ("make target-0", None, Some(1_700_000_000)));
        assert_eq!(one(2), ("make target-2", Some(1), Some(1_700_000_002)));
        assert_eq!(all[3000].text, format!("echo {}", "x".repeat(20000)));
        assert_eq!(one(3001), ("gti\nstatus", Some(127), Some(1_700_003_002)));
        assert!(all.iter().all(|typed| typed.cwd.as_deref() == Some("/src") && typed.shell == "atuin"));
        // Whatever the bytes, it ends and does not panic.
        let bytes = std::fs::read(&path).unwrap();
        for cut in (0..bytes.len()).step_by(bytes.len() / 50 + 1) {
            let mut broken = bytes.clone();
            broken[cut] ^= 0xff;
            std::fs::write(&path, &broken).unwrap();
            typed(&path, &mut Vec::new());
            std::fs::write(&path, &bytes[..cut]).unwrap();
            typed(&path, &mut Vec::new());
        }
    }
}

#[test]
fn it_is_where_atuin_has_it() {
    let home = tempfile::tempdir().unwrap();
    let at = |set: &[(&str, &str)]| {
        let set: Vec<(String, String)> =
            set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let variable = |name: &str| set.iter().find(|(set, _)| set == name).map(|(_, value)| value.clone());
        database(Some(home.path()), &variable).unwrap()
    };
    assert_eq!(at(&[]), home.path().join(".local/share/atuin/history.db"));
    assert_eq!(at(&[("XDG_DATA_HOME", "/data")]), Path::new("/data/atuin/history.db"));
    assert_eq!(at(&[("ATUIN_DB_PATH", "~/a.db")]), home.path().join("a.db"));
    std::fs::create_dir_all(home.path().join(".config/atuin")).unwrap();
    std::fs::write(home.path().join(".config/atuin/config.toml"), "# db_path = \"no\"\ndb_path = \"~/b.db\"\n")
        .unwrap();
    assert_eq!(at(&[]), home.path().join("b.db"));
    assert_eq!(columns("CREATE TABLE h (\"id\" text, b decimal(1, 2), unique(id, b))"), ["id", "b", "unique"]);
}
