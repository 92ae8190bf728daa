use std::path::PathBuf;

use super::*;

/// Pages that say of each flag what it is called.
struct Written;

impl Pages for Written {
    fn page(&self, program: &str, subcommand: Option<&str>) -> Option<Page> {
        let text = match (program, subcommand) {
            ("tar", None) => {
                "NAME\n tar - an archiver\n\n -x, --extract\n   extract files\n\n -z\n   by gzip\n\n -f, --file=ARCHIVE\n   use the archive\n"
            }
            ("git", None) => "NAME\n git - the tracker\n\n -C <path>\n   run there\n",
            ("git", Some("commit")) => {
                "NAME\n git-commit - record changes\n\n -m <msg>, --message=<msg>\n   the message\n"
            }
            ("sudo", None) => "NAME\n sudo - as another\n\n -u user\n   the user\n",
            ("ssh", None) => "NAME\n ssh - elsewhere\n\n -p port\n   the port\n\n -r\n   wrong\n\n -f\n   wrong\n",
            ("dd", None) => "NAME\n dd - copy\n\n if=FILE\n   read from FILE\n",
            _ => return None,
        };
        let name = subcommand.map_or_else(|| program.to_owned(), |word| format!("{program}-{word}"));
        Some(Page { name: format!("{name}(1)"), text: text.to_owned() })
    }
}

fn said(line: &str) -> Vec<String> {
    let place =
        Surroundings { cwd: PathBuf::from("/w"), workspace: PathBuf::from("/w"), ..Surroundings::default() };
    explain(&Locale::new("en"), line, &place, &Written)
}

#[test]
fn a_file_that_is_called_like_a_program_is_not_explained_by_its_page() {
    let told = said("./tar -x a");
    assert!(told[0].contains("./tar") && !told.iter().any(|line| line.contains("archiver")), "{told:?}");
    assert!(said("/usr/bin/../../tmp/tar -x a")[0].contains(".."));
    assert_eq!(said("/usr/bin/tar -x a")[..2], said("tar -x a")[..2]);
}

#[test]
fn each_flag_is_told_in_the_words_of_its_own_page_and_what_has_none_says_so() {
    let told = said("tar -xzvf a.tgz");
    assert_eq!(
        told[..5],
        [
            "tar — an archiver  [tar(1)]",
            "  -x, --extract — extract files",
            "  -z — by gzip",
            "  -v: tar(1) has no line for it",
            "  -f, --file=ARCHIVE — use the archive",
        ]
    );
    assert_eq!(
        said("tar xf a")[1..3],
        ["  -x, --extract — extract files", "  -f, --file=ARCHIVE — use the archive"]
    );
    let told = said("git -C x commit -m 'why -x'");
    assert_eq!(
        told[..4],
        [
            "git — the tracker  [git(1)]",
            "git commit — record changes  [git-commit(1)]",
            "  -C <path> — run there",
            "  -m <msg>, --message=<msg> — the message",
        ]
    );
    let told = said("sudo -u root frobnicate -x");
    assert_eq!(told[..2], ["sudo — as another  [sudo(1)]", "  -u user — the user"]);
    assert!(told[2].starts_with("frobnicate: nothing here explains it"), "{told:?}");
    // What is another program's is not told in the words of this one.
    assert!(!told.iter().any(|line| line.contains("-x:")), "{told:?}");
    assert_eq!(said("ssh -p 22 h rm -rf x")[..2], ["ssh — elsewhere  [ssh(1)]", "  -p port — the port"]);
    assert_eq!(said("dd if=/dev/zero")[1], "  if=FILE — read from FILE");
}

#[test]
fn what_the_judge_knows_is_told_with_what_could_be_taken_back() {
    let told = said("cat notes.txt");
    assert_eq!(
        told[1..],
        [
            "axi's judge: `cat notes.txt` only reads · reads notes.txt",
            "It changes nothing: there is nothing to take back."
        ]
    );
    let told = said("rm -r build");
    assert!(told[told.len() - 2].contains("destroys") && told[told.len() - 2].contains("build"), "{told:?}");
    assert!(said("curl x.example").last().unwrap().contains("leaves this machine"));
    assert!(said("$X y").iter().any(|line| line.contains("cannot tell which command")), "{:?}", said("$X y"));
}
