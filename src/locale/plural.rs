//! Plurals: which form a number takes in a language. Knows numbers only, no words.

use Form::{Few, Many, One, Other, Two, Zero};

/// The plural categories of CLDR, in the order of `locales/build.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Zero,
    One,
    Two,
    Few,
    Many,
    Other,
}

/// The form of a number in the languages beside it.
type Rule = fn(u64) -> Form;

/// The cardinal rules of CLDR 48 for whole numbers; a tag stands before its language. What is missing has the rule of
/// English, as most languages have. A number with a fraction stands beside a unit in axi's words, never in a plural.
static RULES: &[(&[&str], Rule)] = &[
    (
        &[
            "bm", "bo", "dz", "hnj", "id", "ig", "ii", "ja", "jbo", "jv", "kde", "kea", "km", "ko", "lkt", "lo",
            "ms", "my", "nqo", "osa", "sah", "ses", "sg", "su", "th", "to", "tpi", "vi", "wo", "yo", "yue", "zh",
        ],
        |_| Other,
    ),
    (
        &[
            "ak", "am", "as", "bho", "bn", "csw", "doi", "fa", "ff", "gu", "guw", "hi", "hy", "kab", "kn", "kok",
            "ln", "mg", "nso", "pa", "pcm", "si", "ti", "wa", "zu",
        ],
        |number| if number < 2 { One } else { Other },
    ),
    (&["ca", "es", "it", "lld", "pt-PT", "scn", "vec"], |number| match number {
        1 => One,
        _ if is_millions(number) => Many,
        _ => Other,
    }),
    (&["fr", "pt"], |number| match number {
        0 | 1 => One,
        _ if is_millions(number) => Many,
        _ => Other,
    }),
    (&["be", "ru", "uk"], |number| match number {
        _ if ends(number, 1, 1) => One,
        _ if ends(number, 2, 4) => Few,
        _ => Many,
    }),
    (&["pl"], |number| match number {
        1 => One,
        _ if ends(number, 2, 4) => Few,
        _ => Many,
    }),
    (&["bs", "hr", "sh", "sr"], |number| match number {
        _ if ends(number, 1, 1) => One,
        _ if ends(number, 2, 4) => Few,
        _ => Other,
    }),
    (&["is", "mk"], |number| if ends(number, 1, 1) { One } else { Other }),
    (&["cs", "sk"], |number| match number {
        1 => One,
        2..=4 => Few,
        _ => Other,
    }),
    (&["dsb", "hsb", "sl"], |number| match number % 100 {
        1 => One,
        2 => Two,
        3 | 4 => Few,
        _ => Other,
    }),
    (&["lt"], |number| match number {
        _ if ends(number, 1, 1) => One,
        _ if ends(number, 2, 9) => Few,
        _ => Other,
    }),
    (&["lv", "prg"], |number| match (number % 10, number % 100) {
        (0, _) | (_, 11..=19) => Zero,
        (1, _) => One,
        _ => Other,
    }),
    (&["mo", "ro"], |number| match (number, number % 100) {
        (1, _) => One,
        (0, _) | (_, 1..=19) => Few,
        _ => Other,
    }),
    (&["ceb", "fil", "tl"], |number| if matches!(number % 10, 4 | 6 | 9) { Other } else { One }),
    (&["ar", "ars"], |number| match (number, number % 100) {
        (0, _) => Zero,
        (1, _) => One,
        (2, _) => Two,
        (_, 3..=10) => Few,
        (_, 11..) => Many,
        _ => Other,
    }),
    (&["mt"], |number| match (number, number % 100) {
        (1, _) => One,
        (2, _) => Two,
        (0, _) | (_, 3..=10) => Few,
        (_, 11..=19) => Many,
        _ => Other,
    }),
    (&["cy"], |number| match number {
        0 => Zero,
        1 => One,
        2 => Two,
        3 => Few,
        6 => Many,
        _ => Other,
    }),
    (&["ga"], |number| match number {
        1 => One,
        2 => Two,
        3..=6 => Few,
        7..=10 => Many,
        _ => Other,
    }),
    (&["gd"], |number| match number {
        1 | 11 => One,
        2 | 12 => Two,
        3..=19 => Few,
        _ => Other,
    }),
    (&["blo", "cv", "ksh", "lag"], |number| match number {
        0 => Zero,
        1 => One,
        _ => Other,
    }),
    (&["he", "iu", "iw", "naq", "sat", "se", "sma", "smi", "smj", "smn", "sms"], |number| match number {
        1 => One,
        2 => Two,
        _ => Other,
    }),
    (&["br"], |number| match (number % 10, number % 100) {
        (1, tens) if !matches!(tens, 11 | 71 | 91) => One,
        (2, tens) if !matches!(tens, 12 | 72 | 92) => Two,
        (3 | 4 | 9, tens) if !matches!(tens, 10..=19 | 70..=79 | 90..=99) => Few,
        _ if is_millions(number) => Many,
        _ => Other,
    }),
    (&["gv"], |number| match (number % 10, number % 100) {
        (1, _) => One,
        (2, _) => Two,
        (_, 0 | 20 | 40 | 60 | 80) => Few,
        _ => Other,
    }),
    (&["kw"], |number| match (number, number % 100) {
        (0, _) => Zero,
        (1, _) => One,
        (_, 2 | 22 | 42 | 62 | 82) => Two,
        _ if number % 1_000_000 == 100_000 => Two,
        _ if number.is_multiple_of(1_000)
            && matches!(number % 100_000, 1_000..=20_000 | 40_000 | 60_000 | 80_000) =>
        {
            Two
        }
        (_, 3 | 23 | 43 | 63 | 83) => Few,
        (_, 1 | 21 | 41 | 61 | 81) => Many,
        _ => Other,
    }),
    (&["sgs"], |number| match number {
        2 => Two,
        _ if ends(number, 1, 1) => One,
        _ if ends(number, 2, 9) => Few,
        _ => Other,
    }),
    (&["shi"], |number| match number {
        0 | 1 => One,
        2..=10 => Few,
        _ => Other,
    }),
    (&["tzm"], |number| if matches!(number, 0..=1 | 11..=99) { One } else { Other }),
];

/// Tells which form a number takes in the language of a tag. A form that its file lacks is its `other`.
pub(super) fn form(tag: &str, number: u64) -> Form {
    let language = tag.split('-').next().unwrap_or(tag);
    match RULES.iter().find(|(tags, _)| tags.contains(&tag) || tags.contains(&language)) {
        Some((_, rule)) => rule(number),
        None if number == 1 => One,
        None => Other,
    }
}

/// Tells whether a number's last digit lies between two, and is no part of 11 to 19.
const fn ends(number: u64, least: u64, most: u64) -> bool {
    let digit = number % 10;
    number / 10 % 10 != 1 && least <= digit && digit <= most
}

const fn is_millions(number: u64) -> bool {
    number != 0 && number.is_multiple_of(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_takes_the_form_that_cldr_says() {
        let numbers = [0, 1, 2, 3, 5, 7, 11, 12, 14, 20, 21, 22, 100, 101, 102, 103, 111, 1_000_000];
        for (tag, forms) in [
            ("en", "o1oooooooooooooooo"),
            ("ja", "oooooooooooooooooo"),
            ("zh-CN", "oooooooooooooooooo"),
            ("hi", "11oooooooooooooooo"),
            ("fr-CA", "11ooooooooooooooom"),
            ("pt-PT", "o1ooooooooooooooom"),
            ("pt-BR", "11ooooooooooooooom"),
            ("ru", "m1ffmmmmmm1fm1ffmm"),
            ("pl", "m1ffmmmmmmmfmmffmm"),
            ("sr-Latn", "o1ffoooooo1fo1ffoo"),
            ("is", "o1oooooooo1oo1oooo"),
            ("cs", "o1ffoooooooooooooo"),
            ("sl", "o12fooooooooo12foo"),
            ("lt", "o1ffffoooo1fo1ffoo"),
            ("lv", "z1oooozzzz1oz1oozz"),
            ("ro", "f1fffffffooooffffo"),
            ("fil", "11111111o111111111"),
            ("ar", "z12fffmmmmmmooofmo"),
            ("mt", "f12fffmmmoooooofmo"),
            ("cy", "z12foooooooooooooo"),
            ("ga", "o12ffmoooooooooooo"),
            ("gd", "o12fff12fooooooooo"),
            ("ksh", "z1oooooooooooooooo"),
            ("he", "o12ooooooooooooooo"),
            ("uk", "m1ffmmmmmm1fm1ffmm"),
            ("es", "o1ooooooooooooooom"),
            ("bn", "11oooooooooooooooo"),
            ("de", "o1oooooooooooooooo"),
            ("br", "o12foooooo12o12fom"),
            ("gv", "f12ooo12of12f12o1f"),
            ("kw", "z12foooooom2om2foo"),
            ("sgs", "o12fffoooo1fo1ffoo"),
            ("shi", "11ffffoooooooooooo"),
            ("tzm", "11oooo111111oooooo"),
        ] {
            let letter = |form| match form {
                Zero => 'z',
                One => '1',
                Two => '2',
                Few => 'f',
                Many => 'm',
                Other => 'o',
            };
            let found: String = numbers.iter().map(|number| letter(form(tag, *number))).collect();
            assert_eq!(found, forms, "{tag}");
        }
    }
}
