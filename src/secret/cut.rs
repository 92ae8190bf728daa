//! What is left of a known value where a text was cut: its beginning before the cut, its end behind it.

use std::ops::Range;

use super::exact::SHORTEST;

/// Begins and ends what stands where a text was cut: `[… 3 lines …]`. Who cuts a text before secrets are looked for in it
/// writes this there: between it and the text stands nothing but a blank or the end of a line.
pub const CUT: (&str, &str) = ("[…", "…]");

/// What stands between a text and the sign.
const BETWEEN: [char; 2] = [' ', '\n'];

/// The places beside the signs of a text.
pub(super) struct Cuts<'a> {
    /// What stands before each.
    before: Vec<&'a str>,
    /// What stands behind each, and where that begins.
    behind: Vec<(usize, &'a str)>,
}

impl<'a> Cuts<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut cuts = Self { before: Vec::new(), behind: Vec::new() };
        for (at, _) in text.match_indices(CUT.0) {
            let before = &text[..at];
            cuts.before.extend([Some(before), before.strip_suffix(BETWEEN)].into_iter().flatten());
        }
        for (at, sign) in text.match_indices(CUT.1) {
            let behind = &text[at + sign.len()..];
            let behind = [Some(behind), behind.strip_prefix(BETWEEN)].into_iter().flatten();
            cuts.behind.extend(behind.map(|behind| (text.len() - behind.len(), behind)));
        }
        cuts
    }

    /// Finds the parts of a value that is long enough to be looked for.
    pub(super) fn find(&self, value: &str, found: &mut Vec<Range<usize>>) {
        let first = &value[..value.ceil_char_boundary(SHORTEST)];
        for before in &self.before {
            let window = before.ceil_char_boundary(before.len().saturating_sub(value.len()));
            let parts = places(&before[window..], first).map(|at| window + at);
            found.extend(parts.filter(|at| value.starts_with(&before[*at..])).map(|at| at..before.len()));
        }
        let last = &value[value.floor_char_boundary(value.len().saturating_sub(SHORTEST))..];
        for (from, behind) in &self.behind {
            let window = &behind[..behind.floor_char_boundary(value.len())];
            let parts = places(window, last).map(|at| at + last.len());
            found.extend(parts.filter(|end| value.ends_with(&window[..*end])).map(|end| *from..from + end));
        }
    }
}

/// Where a part stands in a text, also where one reaches into the next.
fn places<'a>(text: &'a str, part: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text.get(from..)?.find(part)?;
        from = text.ceil_char_boundary(at + 1);
        Some(at)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Known, MARK, find_known};

    fn left(text: &str, value: &str) -> String {
        let mut left = text.to_owned();
        for range in find_known(text, &Known::new([value.to_owned()])).into_iter().rev() {
            left.replace_range(range, MARK);
        }
        left
    }

    proptest! {
        /// Values of few letters, so that their parts are in one another.
        #[test]
        fn what_is_left_of_a_value_beside_a_cut_is_found(
            value in "[abé\"]{8,20}",
            (from, to) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
            mark in prop::sample::select(vec!["\n[… 3 lines …]\n", "[…]", " [… line cut …]\n"]),
        ) {
            let letters: Vec<char> = value.chars().collect();
            let (from, to) = (from.index(letters.len() + 1), to.index(letters.len() + 1));
            let part = |letters: &[char]| letters.iter().collect::<String>();
            let text = format!("- {}{mark}{} -", part(&letters[..from]), part(&letters[to..]));
            let left = left(&text, &value);
            let is_left = letters.windows(8).any(|letters| left.contains(&part(letters)));
            prop_assert!(!is_left, "{left} of {text}");
        }
    }

    #[test]
    fn beside_other_text_a_part_of_a_value_is_a_word() {
        let value = "https://hooks.example/T0/B1";
        for text in ["see https://… there", "https:// […", "[…]  /T0/B1", "[… https:// …]", "hooks.example/T0/B1"]
        {
            assert_eq!(left(text, value), text.replace("https:// […", "[redacted] […"));
        }
    }
}
