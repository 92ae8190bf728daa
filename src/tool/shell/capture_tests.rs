//! Outputs of all sizes.

use super::*;

fn tell(pieces: &[&[u8]]) -> (Excerpt, Option<Vec<u8>>) {
    let directory = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut collected = Collected::new(directory.path().join("deep/out.txt"));
        for piece in pieces {
            if collected.push(piece) {
                collected.flush().await;
            }
        }
        let told = collected.tell().await;
        let file = told.file.as_ref().map(|path| std::fs::read(path).unwrap());
        (told, file)
    })
}

#[test]
fn a_short_output_is_whole_and_makes_no_file() {
    let (told, file) = tell(&[b"a\n\x1b[1m", b"b\x1b[0m"]);
    assert_eq!((told.text.as_str(), told.lines, file), ("a\nb", 2, None));
    let (told, _) = tell(&[]);
    assert_eq!((told.text.as_str(), told.lines), ("", 0));
}

#[test]
fn a_longer_one_is_cut_and_the_whole_is_in_the_file() {
    let text = (1..=5000).map(|number| "line ".to_owned() + &number.to_string() + "\n").collect::<String>();
    for pieces in [vec![text.as_bytes()], text.as_bytes().chunks(777).collect()] {
        let (told, file) = tell(&pieces);
        assert!(told.text.starts_with("line 1\n") && told.text.ends_with("\nline 5000\n"));
        assert!(told.text.contains("[… 4800 lines, ") && told.text.contains("the whole is in "), "{}", told.text);
        assert!(told.text.len() < LIMITS.bytes + 300);
        assert_eq!(file.unwrap(), text.as_bytes());
    }
}

#[test]
fn far_more_than_fits_in_memory_keeps_its_ends() {
    let line = b"0123456789abcde\n".repeat(4096);
    let pieces: Vec<&[u8]> = std::iter::repeat_n(line.as_slice(), 2000).collect();
    let (told, file) = tell(&pieces);
    assert_eq!(told.lines, 4096 * 2000);
    assert!(told.text.contains("the first 100.0 MB are in "), "{}", told.text);
    assert_eq!(file.unwrap().len() as u64, FILE_LIMIT);
}

#[test]
fn an_output_that_cannot_be_kept_is_cut_all_the_same() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let told = runtime.block_on(async {
        let mut collected = Collected::new(directory.path().join("file/out.txt"));
        for _ in 0..100 {
            if collected.push(&b"line\n".repeat(5000)) {
                collected.flush().await;
            }
        }
        collected.tell().await
    });
    assert!(told.text.contains("; it could not be kept: ") && told.text.ends_with("line\n"), "{}", told.text);
    assert_eq!((told.lines, told.file), (500_000, None));
}

#[test]
fn binary_output_is_only_named() {
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    let (told, file) = tell(&[&bytes]);
    assert!(told.text.starts_with("[binary output, 4.8 KB; the whole is in "), "{}", told.text);
    assert_eq!(file.unwrap(), bytes);
    let (told, _) = tell(&[b"./some/file\0./other/file\0"]);
    assert_eq!(told.text, "./some/file\\0./other/file\\0");
}

#[test]
fn progress_gives_lines_and_the_open_one_when_it_changes() {
    let (sender, mut receiver) = mpsc::channel(100);
    let mut progress = Progress::new(sender);
    let mut seen = || std::iter::from_fn(|| receiver.try_recv().ok()).collect::<Vec<_>>();
    progress.push(b"one\ntwo\nth");
    progress.flush();
    assert_eq!(seen(), ["one", "two", "th"]);
    progress.flush();
    assert_eq!(seen(), [""; 0]);
    progress.push(b"ree\r10%\r20%");
    progress.flush();
    assert_eq!(seen(), ["20%"]);
    progress.push(&b"flood\n".repeat(10_000));
    progress.flush();
    assert_eq!(seen().len(), PENDING);
}
