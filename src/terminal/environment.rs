//! Reads from the environment what the terminal can show. Pure: the variables come in as parameters.

use super::marks::NotifyBy;

/// When to use colours (`--color`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// On a terminal, unless the environment disables them.
    #[default]
    Auto,
    /// Always, even in a pipe.
    Always,
    /// Never.
    Never,
}

/// How many colours there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Text alone: no attribute either.
    Plain,
    /// Attributes, no colour (`NO_COLOR`).
    Monochrome,
    /// The sixteen colours of the terminal's own palette.
    Ansi,
    /// The 256 colours of xterm.
    Fixed,
    /// 24-bit colours (`COLORTERM`).
    Truecolor,
}

/// The background behind the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    /// Dark, or not known: most terminals are dark.
    Dark,
    /// Light.
    Light,
}

/// The environment variables that describe the terminal; each field has the value of the variable of its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TerminalEnvironment {
    /// Whether the output is a terminal.
    pub terminal: bool,
    /// `TERM`
    pub term: String,
    /// `COLORTERM`
    pub colorterm: String,
    /// `NO_COLOR`
    pub no_color: String,
    /// `CLICOLOR`
    pub clicolor: String,
    /// `CLICOLOR_FORCE`
    pub clicolor_force: String,
    /// `COLORFGBG`
    pub colorfgbg: String,
    /// `TERM_PROGRAM`
    pub term_program: String,
    /// `VTE_VERSION`
    pub vte_version: String,
    /// `FORCE_HYPERLINK`
    pub force_hyperlink: String,
    /// `TERM_PROGRAM_VERSION`
    pub term_program_version: String,
    /// Whether `WT_SESSION` (Windows Terminal) or `ConEmuANSI` is set.
    pub conemu: bool,
    /// Whether `KITTY_WINDOW_ID`, `WT_SESSION`, `KONSOLE_VERSION` or `DOMTERM` is set.
    pub modern: bool,
    /// Whether `SSH_CONNECTION` or `SSH_TTY` is set.
    pub remote: bool,
    /// Whether `TMUX`, `STY` (screen) or `ZELLIJ` is set.
    pub multiplexed: bool,
}

impl TerminalEnvironment {
    /// Reads the variables through `variable`.
    pub fn read(terminal: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name| variable(name).unwrap_or_default();
        let set = |names: &[&str]| names.iter().any(|name| variable(name).is_some_and(|value| !value.is_empty()));
        Self {
            terminal,
            term: value("TERM"),
            colorterm: value("COLORTERM"),
            no_color: value("NO_COLOR"),
            clicolor: value("CLICOLOR"),
            clicolor_force: value("CLICOLOR_FORCE"),
            colorfgbg: value("COLORFGBG"),
            term_program: value("TERM_PROGRAM"),
            vte_version: value("VTE_VERSION"),
            force_hyperlink: value("FORCE_HYPERLINK"),
            term_program_version: value("TERM_PROGRAM_VERSION"),
            conemu: set(&["WT_SESSION", "ConEmuANSI"]),
            modern: set(&["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM"]),
            remote: set(&["SSH_CONNECTION", "SSH_TTY"]),
            multiplexed: set(&["TMUX", "STY", "ZELLIJ"]),
        }
    }

    /// Tells whether the terminal takes no cursor movement: then axi writes lines and nothing else. A terminal that
    /// does not name its type may be anything.
    pub fn is_dumb(&self) -> bool {
        !self.terminal || matches!(self.term.as_str(), "" | "dumb")
    }

    /// Returns how much colour to use: `--color` decides first, then NO_COLOR (<https://no-color.org>: any value
    /// but the empty one), then CLICOLOR_FORCE and CLICOLOR (<https://bixense.com/clicolors/>).
    pub fn depth(&self, choice: ColorChoice) -> Depth {
        let forced = !matches!(self.clicolor_force.as_str(), "" | "0");
        let wanted = match choice {
            ColorChoice::Never => return Depth::Plain,
            ColorChoice::Always => true,
            ColorChoice::Auto if !self.no_color.is_empty() => {
                return if self.is_dumb() { Depth::Plain } else { Depth::Monochrome };
            }
            ColorChoice::Auto => forced || (!self.is_dumb() && self.clicolor != "0"),
        };
        match () {
            () if !wanted => Depth::Plain,
            () if matches!(self.colorterm.as_str(), "truecolor" | "24bit") || self.term.ends_with("-direct") => {
                Depth::Truecolor
            }
            () if self.term.contains("256color") || self.modern => Depth::Fixed,
            () => Depth::Ansi,
        }
    }

    /// Tells whether the terminal shows OSC 8 links as links; others may print their bytes.
    pub fn links(&self) -> bool {
        match self.force_hyperlink.as_str() {
            "" => {}
            "0" | "no" | "false" => return false,
            _ => return true,
        }
        let known = ["xterm-kitty", "alacritty", "foot", "xterm-ghostty", "wezterm"];
        let programs = ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "mintty", "rio", "Tabby"];
        // Links crashed the first versions of VTE that had them.
        let vte = self.vte_version.parse::<u32>().is_ok_and(|version| version >= 5002);
        !self.is_dumb()
            && (self.modern
                || vte
                || known.iter().any(|it| self.term.starts_with(it))
                || programs.contains(&&*self.term_program))
    }

    /// Tells whether the terminal is known to show OSC 9;4 as progress: others take it for a notification, and a
    /// multiplexer keeps it to itself. iTerm2 does since 3.6.6, VTE since 0.79.
    pub fn progress(&self) -> bool {
        let version: Vec<u32> = self.term_program_version.split('.').map_while(|part| part.parse().ok()).collect();
        let program = match self.term_program.as_str() {
            "ghostty" | "WezTerm" => true,
            "iTerm.app" => version >= vec![3, 6, 6],
            _ => false,
        };
        let vte = self.vte_version.parse::<u32>().is_ok_and(|version| version >= 7900);
        !self.is_dumb() && !self.multiplexed && (self.conemu || program || vte)
    }

    /// Returns the protocol of notifications that the terminal is known to have.
    pub fn notifies_by(&self) -> NotifyBy {
        let term = |names: &[&str]| names.iter().any(|name| self.term.starts_with(name));
        match () {
            // A multiplexer says nothing of the terminal around it.
            () if self.multiplexed => NotifyBy::Both,
            () if term(&["xterm-kitty"]) => NotifyBy::Osc99,
            () if self.conemu || self.term_program == "iTerm.app" => NotifyBy::Osc9,
            () if term(&["foot", "xterm-ghostty", "rxvt", "wezterm"])
                || matches!(self.term_program.as_str(), "ghostty" | "WezTerm")
                || !self.vte_version.is_empty() =>
            {
                NotifyBy::Osc777
            }
            () => NotifyBy::Both,
        }
    }

    /// Tells whether the terminal is known to take OSC 7, the working directory. A multiplexer has a directory of its own.
    pub fn takes_directory(&self) -> bool {
        let term =
            ["xterm-kitty", "foot", "xterm-ghostty", "wezterm"].iter().any(|name| self.term.starts_with(name));
        let program = ["iTerm.app", "Apple_Terminal", "WezTerm", "ghostty"].contains(&&*self.term_program);
        !self.is_dumb() && !self.multiplexed && (term || program || !self.vte_version.is_empty())
    }

    /// Tells whether OSC 52 may be sent, by which text is copied. Linux's console and the terminals of the VT series print
    /// what they do not know.
    pub fn takes_copies(&self) -> bool {
        !self.is_dumb() && !self.term.starts_with("linux") && !self.term.starts_with("vt")
    }

    /// Returns the background that `COLORFGBG` names ("15;0": the last number is the background's colour).
    pub fn background(&self) -> Option<Background> {
        let number: u8 = self.colorfgbg.rsplit(';').next()?.parse().ok()?;
        match number {
            7 | 9..=15 => Some(Background::Light),
            0..=6 | 8 => Some(Background::Dark),
            16.. => None,
        }
    }
}

/// Reads a terminal's answer to OSC 11 (`ESC ] 11 ; rgb:RRRR/GGGG/BBBB ST`): dark or light by its luminance
/// (ITU-R BT.709).
pub fn background_of_answer(answer: &str) -> Option<Background> {
    let colour = answer.split("]11;").nth(1)?;
    let colour = colour.strip_prefix("rgba:").or_else(|| colour.strip_prefix("rgb:"))?;
    let mut parts = colour.split(['/', '\x1b', '\x07']).take(3).map(|part| {
        let digits = u32::try_from(part.len()).ok().filter(|&count| (1..=4).contains(&count))?;
        let value = u32::from_str_radix(part, 16).ok()?;
        Some(f64::from(value) / f64::from(16_u32.pow(digits) - 1))
    });
    let mut next = || parts.next().flatten();
    let (red, green, blue) = (next()?, next()?, next()?);
    let luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    Some(if luminance > 0.5 { Background::Light } else { Background::Dark })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terminal(variables: &[(&str, &str)]) -> TerminalEnvironment {
        TerminalEnvironment::read(true, |name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn colour_follows_the_flag_then_the_environment_then_the_terminal() {
        let rich = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
        let with = |extra: (&'static str, &'static str)| terminal(&[rich[0], rich[1], extra]);
        assert_eq!(terminal(&rich).depth(ColorChoice::Auto), Depth::Truecolor);
        assert_eq!(terminal(&rich[..1]).depth(ColorChoice::Auto), Depth::Fixed);
        assert_eq!(terminal(&[("TERM", "xterm")]).depth(ColorChoice::Auto), Depth::Ansi);
        for term in ["dumb", ""] {
            assert_eq!(terminal(&[("TERM", term)]).depth(ColorChoice::Auto), Depth::Plain);
        }
        assert!(terminal(&[]).is_dumb());
        assert_eq!(terminal(&rich).depth(ColorChoice::Never), Depth::Plain);
        assert_eq!(with(("NO_COLOR", "1")).depth(ColorChoice::Auto), Depth::Monochrome);
        assert_eq!(with(("NO_COLOR", "")).depth(ColorChoice::Auto), Depth::Truecolor);
        assert_eq!(with(("NO_COLOR", "1")).depth(ColorChoice::Always), Depth::Truecolor);
        assert_eq!(with(("CLICOLOR", "0")).depth(ColorChoice::Auto), Depth::Plain);
        let pipe = |variables: &[(&str, &str)]| TerminalEnvironment { terminal: false, ..terminal(variables) };
        assert_eq!(pipe(&rich).depth(ColorChoice::Auto), Depth::Plain);
        assert_eq!(pipe(&rich).depth(ColorChoice::Always), Depth::Truecolor);
        assert_eq!(pipe(&[("CLICOLOR_FORCE", "1")]).depth(ColorChoice::Auto), Depth::Ansi);
        assert_eq!(pipe(&[("NO_COLOR", "1")]).depth(ColorChoice::Auto), Depth::Plain);
    }

    #[test]
    fn links_are_for_terminals_that_are_known_to_show_them() {
        assert!(terminal(&[("TERM", "xterm-kitty")]).links());
        assert!(terminal(&[("TERM", "xterm-256color"), ("VTE_VERSION", "6800")]).links());
        assert!(terminal(&[("TERM", "xterm-256color"), ("WT_SESSION", "x")]).links());
        assert!(!terminal(&[("WT_SESSION", "x")]).links(), "nobody knows what TERM would say");
        assert!(!terminal(&[("TERM", "xterm-256color")]).links());
        assert!(!terminal(&[("TERM", "dumb"), ("WT_SESSION", "x")]).links());
        assert!(!terminal(&[("TERM", "xterm-kitty"), ("FORCE_HYPERLINK", "0")]).links());
    }

    #[test]
    fn the_directory_is_for_terminals_that_are_known_to_take_it() {
        assert!(terminal(&[("TERM", "xterm-kitty")]).takes_directory());
        assert!(terminal(&[("TERM", "xterm-256color"), ("VTE_VERSION", "6800")]).takes_directory());
        assert!(!terminal(&[("TERM", "xterm-256color")]).takes_directory());
        assert!(!terminal(&[("TERM", "xterm-kitty"), ("TMUX", "x")]).takes_directory());
        assert!(!terminal(&[("TERM", "dumb"), ("TERM_PROGRAM", "ghostty")]).takes_directory());
    }

    #[test]
    fn a_terminal_that_knows_two_protocols_of_notifications_is_told_once() {
        let by = |variables: &[(&str, &str)]| terminal(variables).notifies_by();
        assert_eq!(by(&[("TERM", "xterm-kitty")]), NotifyBy::Osc99);
        assert_eq!(by(&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")]), NotifyBy::Osc9);
        for known in
            [("TERM", "xterm-ghostty"), ("TERM_PROGRAM", "WezTerm"), ("VTE_VERSION", "7600"), ("TERM", "foot")]
        {
            assert_eq!(by(&[known]), NotifyBy::Osc777, "{known:?}");
        }
        assert_eq!(by(&[("TERM", "xterm-256color")]), NotifyBy::Both);
        assert_eq!(by(&[("TERM_PROGRAM", "ghostty"), ("TMUX", "x")]), NotifyBy::Both);
    }

    #[test]
    fn progress_is_for_terminals_that_are_known_to_show_it() {
        let with = |variables: &[(&str, &str)]| {
            let all: Vec<_> = [("TERM", "xterm-256color")].iter().chain(variables).copied().collect();
            terminal(&all).progress()
        };
        assert!(with(&[("WT_SESSION", "x")]) && with(&[("ConEmuANSI", "ON")]) && with(&[("VTE_VERSION", "8002")]));
        assert!(with(&[("TERM_PROGRAM", "ghostty")]));
        let iterm = |version| with(&[("TERM_PROGRAM", "iTerm.app"), ("TERM_PROGRAM_VERSION", version)]);
        assert!(iterm("3.6.6") && iterm("3.10.0") && iterm("4.0"));
        assert!(!iterm("3.6.5") && !iterm("3.5") && !iterm(""));
        assert!(!with(&[]) && !with(&[("VTE_VERSION", "7603")]) && !with(&[("TERM_PROGRAM", "Apple_Terminal")]));
        assert!(!with(&[("TERM_PROGRAM", "ghostty"), ("TMUX", "x")]));
        assert!(!terminal(&[("TERM", "dumb"), ("WT_SESSION", "x")]).progress());
    }

    #[test]
    fn only_a_terminal_that_does_not_print_it_is_asked_to_copy() {
        for term in ["xterm-256color", "tmux-256color", "xterm-kitty", "screen"] {
            assert!(terminal(&[("TERM", term)]).takes_copies(), "{term}");
        }
        for term in ["linux", "linux-16color", "vt100", "vt220", "dumb", ""] {
            assert!(!terminal(&[("TERM", term)]).takes_copies(), "{term}");
        }
    }

    #[test]
    fn the_background_is_read_from_variable_and_answer() {
        assert_eq!(terminal(&[("COLORFGBG", "15;0")]).background(), Some(Background::Dark));
        assert_eq!(terminal(&[("COLORFGBG", "0;default;15")]).background(), Some(Background::Light));
        assert_eq!(terminal(&[]).background(), None);
        assert_eq!(background_of_answer("\x1b]11;rgb:ffff/ffff/eeee\x1b\\"), Some(Background::Light));
        assert_eq!(background_of_answer("\x1b]11;rgb:1e/1e/2e\x07"), Some(Background::Dark));
        for broken in ["", "\x1b]11;rgb:", "\x1b]11;rgb:ff/ff", "\x1b]11;rgb:fffff/ff/ff", "\x1b]11;#ffffff"] {
            assert_eq!(background_of_answer(broken), None, "{broken:?}");
        }
    }
}
