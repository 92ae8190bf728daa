//! What a server's tool is called here.

use crate::fingerprint::fingerprint;

/// The most characters of a tool's name: OpenAI and Anthropic refuse a request for one that is longer.
const MOST: usize = 64;

/// Makes `SERVER__TOOL` of letters, digits, `-` and `_`; one that is too long ends in a hash of the whole.
pub(super) fn full_name(server: &str, tool: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let plain: String = tool.chars().map(|letter| if fits(letter) { letter } else { '_' }).collect();
    let whole = format!("{server}__{plain}");
    if whole.len() <= MOST && plain == tool {
        return whole;
    }
    // Two names that become equal when they are made plain must remain different.
    let end = format!("_{:08x}", fingerprint(tool.bytes()) & 0xffff_ffff);
    let kept: String = whole.chars().take(MOST - end.len()).collect();
    kept + &end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_every_provider_and_tells_tools_apart() {
        assert_eq!(full_name("files", "read_text-file"), "files__read_text-file");
        let long = "x".repeat(200);
        let names =
            ["a.b", "a_b", "a b", "a/b", long.as_str(), &format!("{long}y")].map(|tool| full_name("s", tool));
        for name in &names {
            assert!(name.len() <= MOST && name.starts_with("s__"), "{name}");
            assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter)), "{name}");
        }
        // It stands in rules and in sessions: each version has to make the same one.
        assert_eq!(full_name("s", "a.b"), "s__a_b_0466522c");
        let apart: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(apart.len(), names.len());
    }
}
