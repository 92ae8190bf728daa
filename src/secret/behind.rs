//! What a program puts before each line it shows: `src/a.rs:12:`, `    12<TAB>`, `+`. The line begins behind it.

/// The longest place that is looked for, in bytes.
const LONGEST: usize = 256;

/// Finds where the line itself begins; `None` where it begins at once.
pub(super) fn place(line: &str) -> Option<usize> {
    let at = [numbered(line), found_in(line), changed(line), prompted(line)].into_iter().flatten().next()?;
    // A change shown by a search, a numbered change.
    let more = [numbered(&line[at..]), changed(&line[at..])].into_iter().flatten().next().unwrap_or(0);
    (at + more < line.len()).then_some(at + more)
}

/// `cat -n`, `nl`, axi's own `read`: a number and a tab, a bar or an arrow; `grep -n` in one file: a colon or a dash.
fn numbered(line: &str) -> Option<usize> {
    let number = line.trim_start_matches(' ');
    let rest = number.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = number.len() - rest.len();
    let of_search =
        || rest.strip_prefix([':', '-']).filter(|line| !line.starts_with(|sign: char| sign.is_ascii_digit()));
    let line_of = ["\t", "│", "→", " | "].iter().find_map(|sign| rest.strip_prefix(sign)).or_else(of_search)?;
    (1..=7).contains(&digits).then_some(line.len() - line_of.len())
}

/// `grep -n`, a compiler: the name of a file without a blank, a number.
fn found_in(line: &str) -> Option<usize> {
    let window = &line[..line.floor_char_boundary(LONGEST.min(line.len()))];
    let (file, rest) = window.split_once(':')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_file = file.contains(['.', '/']) && !file.contains(char::is_whitespace);
    let ends = rest[digits..].starts_with(':');
    (is_file && (1..=7).contains(&digits) && ends).then_some(file.len() + 1 + digits + 1)
}

/// `diff`, `sh -x`, curl's headers.
fn changed(line: &str) -> Option<usize> {
    let header = line.strip_prefix("> ").or_else(|| line.strip_prefix("< "));
    let rest = header.or_else(|| line.strip_prefix(['+', '-']))?.trim_start_matches('+');
    (!rest.starts_with(['-', '='])).then_some(line.len() - rest.len())
}

/// What somebody typed, with what stands before it in a file.
pub(super) fn typed(line: &str) -> Option<&str> {
    let from = [numbered(line), found_in(line), changed(line)].into_iter().flatten().next().unwrap_or(0);
    let line = line[from..].trim_start();
    prompted(line).map(|at| &line[at..])
}

fn prompted(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("$ ").or_else(|| line.strip_prefix("# ")).or_else(|| line.strip_prefix("❯ "))?;
    Some(line.len() - rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_behind_what_a_program_puts_before_it() {
        for before in [
            "",
            "+",
            "-",
            "    12\t",
            "  7│",
            "src/a.rs:12:",
            "a.txt:1:+",
            "     3\t+",
            "$ ",
            "> ",
            "++ ",
            "10 | ",
            "147:",
            "9-",
        ] {
            let line = format!("{before}db: x");
            let at = place(&line).unwrap_or(0);
            assert_eq!(line[at..].trim_start(), "db: x", "{line}");
        }
        for line in ["12:30:45 x", "a b.c:12: x", "", "+", "--flag", "x:1", "1700000000 x", "é"] {
            assert_eq!(place(line), None, "{line}");
        }
    }
}
