//! What is not found of a list of kinds that was written by somebody who had not seen how secrets are found here: as
//! programs print them, in the places where outputs have them.

use super::*;

/// `name|form of the value|text`, with `{V}` where the value stands and the escapes of a string of Rust.
const KINDS: &str = include_str!("kinds.txt");

/// Kinds of which more than half of the values are not found: nothing beside them says that they are one.
const NOT_FOUND: &[&str] = &["js jwt sign", "jenkins cred", "tf state random"];

/// How many of all may not be found, in a thousand: what people choose is often a word like others.
const MOST_LEAKS: usize = 40;

/// Draws numbers that are the same in each run (Knuth's MMIX).
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn of(&mut self, letters: &str, count: usize) -> String {
        let letters: Vec<char> = letters.chars().collect();
        (0..count).map(|_| letters[self.below(letters.len())]).collect()
    }

    fn word(&mut self) -> &'static str {
        const WORDS: &[&str] = &[
            "marzipan", "kettle", "lantern", "walnut", "harbor", "tiger", "copper", "meadow", "pepper", "violet",
            "summer", "winter", "garlic", "orchid", "falcon", "tundra", "saffron", "bramble", "cobalt", "drizzle",
        ];
        WORDS[self.below(WORDS.len())]
    }

    /// As people choose them.
    fn chosen(&mut self) -> String {
        let (one, other) = (self.word(), self.word());
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        let number = 10 + self.below(90);
        match self.below(6) {
            0 => format!("{}{other}{number}!", capital(one)),
            1 => format!("{one}-{other}-{number}"),
            2 => format!("{}{}!", capital(one), 1950 + self.below(70)),
            3 => format!("{}0{}_{number}", &one[..4], other[..3].to_uppercase()),
            4 => format!("{one}{number}{}", self.below(100)),
            _ => self.of(ANY, 12),
        }
    }

    fn value(&mut self, form: &str) -> String {
        const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
        const HEXADECIMAL: &str = "0123456789abcdef";
        let words = |draw: &mut Self, count: usize| (0..count).map(|_| draw.word()).collect::<Vec<_>>().join(" ");
        let numbers = |draw: &mut Self, count: usize, sign: &str| {
            (0..count).map(|_| draw.below(256).to_string()).collect::<Vec<_>>().join(sign)
        };
        let groups = |draw: &mut Self, letters: &str, count: usize, each: usize| {
            (0..count).map(|_| draw.of(letters, each)).collect::<Vec<_>>().join("-")
        };
        match form {
            "H" => return self.chosen(),
            "W" => return words(self, 4),
            "M" => return words(self, 12),
            "U" => {
                let text = self.of(HEXADECIMAL, 32);
                return format!(
                    "{}-{}-4{}-a{}-{}",
                    &text[..8],
                    &text[8..12],
                    &text[13..16],
                    &text[17..20],
                    &text[20..]
                );
            }
            "J" => return format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", self.of(ANY, 60), self.of(ANY, 43)),
            "J2" => return format!("eyJhIjoi{}", self.of(ANY, 120)),
            "N64" => return numbers(self, 64, ","),
            "N16" => return numbers(self, 16, ", "),
            "K" => return groups(self, "0123456789", 8, 6),
            "f" => return groups(self, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 6, 4),
            "c" => return groups(self, "abcdefghijkmnpqrstuvwxyz23456789", 2, 5),
            "x2" => return (0..16).map(|_| self.of(HEXADECIMAL, 2)).collect::<Vec<_>>().join(" "),
            "3" => return self.of(BASE32, 32),
            "3L" => return self.of(BASE32, 52),
            "5" => return self.of(BASE58, 51),
            "5L" => return self.of(BASE58, 107),
            _ => {}
        }
        let count: usize = form[1..].parse().unwrap();
        match &form[..1] {
            "l" => self.of("abcdefghijklmnopqrstuvwxyz0123456789", count),
            "u" if matches!(count, 18 | 32 | 40 | 58 | 64) => self.of("0123456789ABCDEF", count),
            "u" => self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", count),
            "X" => self.of(HEXADECIMAL, count),
            "A" | "B" => self.of(&format!("{ANY}+/"), count),
            "S" => self.of(&format!("{ANY}!@#$%^&*(-_=+)"), count),
            "D" => self.of("0123456789", count),
            // Of two words and a sign, in base 64.
            "b" => self.of(ANY, count / 3 * 4),
            _ => self.of(ANY, count),
        }
    }
}

const ANY: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Where outputs have them: each line of a text, changed.
const PLACES: &[fn(usize, &str) -> String] = &[
    |_, line| line.to_owned(),
    |at, line| format!("{:6}\t{line}", at + 11),
    |at, line| format!("conf/app.txt:{}:{line}", at + 11),
    |_, line| format!("+{line}"),
    |_, line| format!("        {line}"),
    |_, line| format!("2024-11-02T10:22:33.123Z INFO  [main] {line}"),
    |_, line| format!("web-1  | {line}"),
    |_, line| format!("{line}\r"),
    |_, line| format!("> {line}"),
];

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('0') => plain.push('\0'),
            Some(other @ ('"' | '\\')) => plain.push(other),
            Some(other) => plain.extend(['\\', other]),
            None => {}
        }
    }
    plain
}

type Put = Box<dyn Fn(&str) -> String>;

#[test]
fn nearly_nothing_of_a_list_by_somebody_else_is_not_found() {
    let mut draw = Draw(16_225);
    let (mut all, mut leaked) = (0, std::collections::BTreeMap::<&str, usize>::new());
    for kind in KINDS.lines().filter(|line| !line.is_empty()) {
        let [name, form, text] = kind.splitn(3, '|').collect::<Vec<_>>()[..] else { panic!("{kind}") };
        let text = unescaped(text);
        let mut places: Vec<Put> = Vec::new();
        for put in PLACES {
            places.push(Box::new(|text: &str| {
                text.split('\n').enumerate().map(|(at, line)| put(at, line)).collect::<Vec<_>>().join("\n")
            }));
        }
        places.push(Box::new(|text| serde_json::json!({"ts": 1, "message": text}).to_string()));
        let each = places.len();
        for put in places {
            let (value, other) = (draw.value(form), draw.value(form));
            let shown =
                redact(&put(&text.replace("{V}", &value).replace("{W}", &other)), &Known::default(), Level::Kept).0;
            all += 1;
            if shown.contains(&value) || text.contains("{W}") && shown.contains(&other) {
                *leaked.entry(name).or_default() += 1;
            }
        }
        let often = leaked.get(name).is_some_and(|count| count * 2 > each);
        assert_eq!(often, NOT_FOUND.contains(&name), "{name}: {:?} of {each}", leaked.get(name));
    }
    let count: usize = leaked.values().sum();
    assert!(count * 1000 <= all * MOST_LEAKS, "{count} of {all}: {leaked:?}");
}
