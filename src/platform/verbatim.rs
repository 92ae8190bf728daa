//! Paths of Windows that the system takes as they are (`\\?\C:\a`), in the form that every program takes.

use std::path::{Path, PathBuf};

/// Longer paths need the prefix (`MAX_PATH`).
const LONGEST: usize = 259;

/// Names that mean a device wherever they stand.
const DEVICES: &[&str] = &["CON", "PRN", "AUX", "NUL", "COM", "LPT"];

/// The same path without the prefix; `None` if it would mean something else, or nothing, without.
pub(super) fn plain(path: &Path) -> Option<PathBuf> {
    let rest = path.to_str()?.strip_prefix(r"\\?\")?;
    let mut letters = rest.chars();
    let is_drive = letters.next()?.is_ascii_alphabetic() && letters.next()? == ':' && letters.next()? == '\\';
    if !is_drive || rest.len() > LONGEST {
        return None;
    }
    let is_usual = |name: &str| {
        let stem =
            name.split('.').next().unwrap_or_default().trim_end_matches(|letter: char| letter.is_ascii_digit());
        // A dot or a space at the end is cut off.
        !name.ends_with(['.', ' ']) && !DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device))
    };
    rest[3..].split('\\').all(is_usual).then(|| PathBuf::from(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_means_the_same_loses_its_prefix() {
        let plain = |path: &str| plain(Path::new(path)).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(plain(r"\\?\C:\a b\c.txt").as_deref(), Some(r"C:\a b\c.txt"));
        assert_eq!(plain(r"\\?\c:\").as_deref(), Some(r"c:\"));
        for kept in
            [r"\\?\UNC\host\a", r"\\?\C:\a\NUL", r"\\?\C:\com1.txt", r"\\?\C:\a.\b", r"\\?\C:\a ", "/a", r"C:\a"]
        {
            assert_eq!(plain(kept), None, "{kept}");
        }
        assert_eq!(plain(&format!(r"\\?\C:\{}", "a".repeat(300))), None);
    }
}
