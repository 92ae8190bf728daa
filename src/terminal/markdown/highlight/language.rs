//! Describes a language as far as colours need it: how it writes words, strings and comments.

/// How strings are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    pub(super) escapes: bool,
    /// Whether it may continue in the next line.
    pub(super) lines: bool,
}

impl Quote {
    pub(super) const fn line(open: &'static str, close: &'static str) -> Self {
        Self { open, close, escapes: true, lines: false }
    }

    pub(super) const fn block(open: &'static str, close: &'static str) -> Self {
        Self { open, close, escapes: true, lines: true }
    }

    pub(super) const fn raw(open: &'static str, close: &'static str) -> Self {
        Self { open, close, escapes: false, lines: true }
    }
}

/// How a language is read if words alone are not enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Words,
    /// The text before this character is a key.
    Keys(char),
    Style,
    Markup,
    Diff,
}

/// What is known of a language.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table: each is a trait of its language")]
pub(super) struct Language {
    pub(super) names: &'static [&'static str],
    pub(super) keywords: &'static [&'static str],
    pub(super) types: &'static [&'static str],
    pub(super) constants: &'static [&'static str],
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    pub(super) quotes: &'static [Quote],
    pub(super) flavour: Flavour,
    /// The text that begins an attribute, annotation or preprocessor line.
    pub(super) attributes: Option<&'static str>,
    pub(super) nested_comments: bool,
    /// Whether `'x'` is one character, and a lone `'` something else.
    pub(super) characters: bool,
    /// Whether names that begin with a capital letter are types.
    pub(super) capital_types: bool,
    /// Whether a name before `(` is a function.
    pub(super) functions: bool,
    pub(super) macros: bool,
    /// Whether the first word of a command names a program, as in shells.
    pub(super) commands: bool,
    /// Whether `$name` is a variable.
    pub(super) variables: bool,
    /// Whether a comment begins only after white space.
    pub(super) spaced_comments: bool,
    pub(super) any_case: bool,
    pub(super) dashed_names: bool,
}

impl Language {
    pub(super) const EMPTY: Self = Self {
        names: &[],
        keywords: &[],
        types: &[],
        constants: &[],
        line_comments: &[],
        block_comments: &[],
        quotes: &[],
        flavour: Flavour::Words,
        attributes: None,
        nested_comments: false,
        characters: false,
        capital_types: false,
        functions: true,
        macros: false,
        commands: false,
        variables: false,
        spaced_comments: false,
        any_case: false,
        dashed_names: false,
    };
}
