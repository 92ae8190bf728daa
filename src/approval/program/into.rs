//! The directory that a command needs to be there.

use super::{Grammar, Program, Which};

/// What names a directory to tar.
const TAR: &[&str] = &["-C", "--directory", "--cd"];

/// Returns the directory that a command puts several things into, as its words name it before they are expanded; `None`
/// where it needs none.
#[must_use]
pub fn needed_directory(words: &[String]) -> Option<&str> {
    let (name, rest) = words.split_first()?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let row = Program::named(name)?;
    let last = row.touches().iter().find(|touches| touches.which == Which::Last);
    let flags: Vec<&str> = match last {
        Some(touches) => touches.flags.iter().collect(),
        None if row.grammar == Grammar::Tar => TAR.to_vec(),
        None => return None,
    };
    let named = rest.iter().enumerate().find_map(|(at, word)| {
        let value = flags.iter().find_map(|flag| {
            let value = word.strip_prefix(flag)?;
            let joined = if flag.starts_with("--") { value.strip_prefix('=') } else { Some(value) };
            joined.filter(|value| !value.is_empty())
        });
        value.or_else(|| flags.contains(word).then(|| rest.get(at + 1).copied())?)
    });
    if named.is_some() || last.is_none() {
        return named;
    }
    let operands: Vec<&str> = rest.iter().filter(|word| !word.starts_with('-')).copied().collect();
    match operands.as_slice() {
        // One after the other, each in the place of the one before.
        [_, "{}"] => None,
        [from, to] if *from == "{}" || from.contains(['*', '?', '[']) => Some(to),
        [_, _, .., to] => Some(to),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_things_need_a_directory() {
        let needed = |line: &str| {
            let words = shlex::split(line).unwrap();
            needed_directory(&words).map(str::to_owned)
        };
        for (line, directory) in [
            ("cp *.txt texts", Some("texts")),
            ("mv photos/*.JPG photos/*.jpg", Some("photos/*.jpg")),
            ("mv -v a b c", Some("c")),
            ("cp -t out a", Some("out")),
            ("cp --target-directory=out a", Some("out")),
            ("tar -xzf a.tgz -C restored", Some("restored")),
            ("tar xf a.tar --directory=x", Some("x")),
            ("mv {} .jpg", Some(".jpg")),
            ("mv {} {}", None),
            ("cp a b", None),
            ("ln -s releases/2 current", None),
            ("tar -czf a.tgz src", None),
            ("rm a b c", None),
            ("ls a b c", None),
        ] {
            assert_eq!(needed(line).as_deref(), directory, "{line}");
        }
    }
}
