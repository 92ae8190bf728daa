//! Pictures between the rows, for terminals that can show them: kitty's protocol, iTerm2's, sixel. Pure.
//!
//! <https://sw.kovidgoyal.net/kitty/graphics-protocol/>, <https://iterm2.com/documentation-images.html>, and the
//! VT3xx graphics programming manual, chapter 14, for sixel.

use std::fmt::Write as _;

use super::environment::TerminalEnvironment;

/// How many bytes of base64 one piece of kitty's protocol may have.
const PIECE: usize = 4096;
/// How many levels red, green and blue have in sixel: 6 × 6 × 6 = 216 of the 256 colours that terminals have at
/// least.
const LEVELS: u32 = 6;
/// How many rows of pixels a band of sixels has.
const BAND: usize = 6;

/// The protocol by which a terminal shows pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureProtocol {
    /// kitty, Ghostty.
    Kitty,
    /// iTerm2, WezTerm.
    Iterm,
    /// foot, mlterm, contour and others.
    Sixel,
}

/// A small picture.
#[derive(Debug, Clone, Copy)]
pub struct InlinePicture<'a> {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// A PNG file in standard base64.
    pub png: &'a str,
    /// Red, green, blue and opacity of each pixel, row by row.
    pub pixels: &'a [u8],
}

impl PictureProtocol {
    /// Chooses by the setting: `auto` follows what the terminal declares, the name of a protocol selects it,
    /// anything else means no pictures. There are no pictures on a terminal without escape sequences, nor behind a
    /// multiplexer, which would swallow or scatter them.
    #[must_use]
    pub fn choose(setting: &str, surroundings: &TerminalEnvironment) -> Option<Self> {
        if surroundings.is_dumb() || surroundings.multiplexed {
            return None;
        }
        match setting {
            "auto" => Self::declared(surroundings),
            "kitty" => Some(Self::Kitty),
            "iterm2" => Some(Self::Iterm),
            "sixel" => Some(Self::Sixel),
            _ => None,
        }
    }

    fn declared(surroundings: &TerminalEnvironment) -> Option<Self> {
        let (term, program) = (surroundings.term.as_str(), surroundings.term_program.as_str());
        let is = |names: &[&str]| names.iter().any(|name| term.starts_with(name) || program == *name);
        match () {
            () if is(&["xterm-kitty", "xterm-ghostty", "ghostty"]) => Some(Self::Kitty),
            () if is(&["iTerm.app", "WezTerm", "wezterm"]) => Some(Self::Iterm),
            () if is(&["foot", "mlterm", "contour", "mintty"]) => Some(Self::Sixel),
            () => None,
        }
    }

    /// Returns the sequence that shows a picture in `columns` × `rows` cells at the cursor. The cursor ends in the
    /// last of these rows.
    #[must_use]
    pub fn sequence(self, picture: InlinePicture<'_>, (columns, rows): (u32, u32)) -> Vec<u8> {
        match self {
            Self::Kitty => kitty(picture.png, columns, rows),
            // xterm.js shows nothing of a file whose size in bytes is not said.
            Self::Iterm => format!(
                "\x1b]1337;File=inline=1;size={};width={columns};height={rows};preserveAspectRatio=1:{}\x07",
                picture.png.trim_end_matches('=').len() * 3 / 4,
                picture.png
            ),
            Self::Sixel => sixel(picture),
        }
        .into_bytes()
    }
}

/// Builds kitty's sequence. It switches the terminal's answers off (`q=2`): nobody would read them.
fn kitty(png: &str, columns: u32, rows: u32) -> String {
    let mut out = String::with_capacity(png.len() + png.len() / PIECE * 16 + 64);
    let pieces = png.len().div_ceil(PIECE).max(1);
    for index in 0..pieces {
        let piece = png.get(index * PIECE..((index + 1) * PIECE).min(png.len())).unwrap_or_default();
        let more = u8::from(index + 1 < pieces);
        // Writing to a string does not fail.
        let _ = match index {
            0 => write!(out, "\x1b_Ga=T,f=100,q=2,c={columns},r={rows},m={more};{piece}\x1b\\"),
            _ => write!(out, "\x1b_Gq=2,m={more};{piece}\x1b\\"),
        };
    }
    out
}

fn sixel(picture: InlinePicture<'_>) -> String {
    // `0;1`: a pixel that is not set keeps the background.
    let mut out = format!("\x1bP0;1q\"1;1;{};{}", picture.width, picture.height);
    for colour in 0..LEVELS.pow(3) {
        let percent = |level: u32| level * 100 / (LEVELS - 1);
        let (red, green, blue) = (colour / LEVELS / LEVELS, colour / LEVELS % LEVELS, colour % LEVELS);
        let _ = write!(out, "#{colour};2;{};{};{}", percent(red), percent(green), percent(blue));
    }
    let width = usize::try_from(picture.width).unwrap_or(0).max(1);
    for band in picture.pixels.chunks(width * 4 * BAND) {
        // For each colour in the band: which of the six pixels of each column have it.
        let mut columns: Vec<Option<Vec<u8>>> = vec![None; 256];
        for (at, pixel) in band.chunks_exact(4).enumerate() {
            if let Some(colour) = colour(pixel) {
                let bits = columns[usize::from(colour)].get_or_insert_with(|| vec![0; width]);
                bits[at % width] |= 1 << (at / width);
            }
        }
        for (colour, bits) in columns.iter().enumerate().filter_map(|(colour, bits)| Some((colour, bits.as_ref()?)))
        {
            let _ = write!(out, "#{colour}");
            for run in bits.chunk_by(|one, other| one == other) {
                let character = char::from(0x3f + run[0]);
                let _ = match run.len() {
                    1..=3 => write!(out, "{}", character.to_string().repeat(run.len())),
                    count => write!(out, "!{count}{character}"),
                };
            }
            out.push('$');
        }
        out.push('-');
    }
    // The line feed of the last band would leave an empty row.
    out.truncate(out.trim_end_matches('-').len());
    out.push_str("\x1b\\");
    out
}

/// Returns the nearest colour of the palette; `None` for a transparent pixel.
fn colour(pixel: &[u8]) -> Option<u8> {
    let &[red, green, blue, opacity] = pixel else { return None };
    let level = |value: u8| (u32::from(value) * (LEVELS - 1) + 127) / 255;
    let index = (level(red) * LEVELS + level(green)) * LEVELS + level(blue);
    u8::try_from(index).ok().filter(|_| opacity >= 128)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(variables: &[(&str, &str)]) -> TerminalEnvironment {
        TerminalEnvironment::read(true, |name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_terminal_says_how_it_shows_pictures() {
        use PictureProtocol::{Iterm, Kitty, Sixel};
        for (variables, expected) in [
            (&[("TERM", "xterm-kitty")][..], Some(Kitty)),
            (&[("TERM", "xterm-ghostty")], Some(Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], Some(Iterm)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], Some(Iterm)),
            (&[("TERM", "foot")], Some(Sixel)),
            (&[("TERM", "xterm-256color")], None),
            (&[("TERM", "dumb"), ("TERM_PROGRAM", "iTerm.app")], None),
            (&[("TERM", "xterm-kitty"), ("TMUX", "/tmp/x")], None),
            (&[("TERM", "xterm-kitty"), ("STY", "1.x")], None),
        ] {
            assert_eq!(PictureProtocol::choose("auto", &surroundings(variables)), expected, "{variables:?}");
        }
        let plain = surroundings(&[("TERM", "xterm-256color")]);
        assert_eq!(PictureProtocol::choose("sixel", &plain), Some(Sixel));
        assert_eq!(PictureProtocol::choose("off", &surroundings(&[("TERM", "xterm-kitty")])), None);
        let tmux = surroundings(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x")]);
        assert_eq!(PictureProtocol::choose("kitty", &tmux), None);
    }

    #[test]
    fn kitty_gets_the_file_in_pieces() {
        let png = "A".repeat(PIECE + 4);
        let picture = InlinePicture { width: 1, height: 1, png: &png, pixels: &[] };
        let sequence = String::from_utf8(PictureProtocol::Kitty.sequence(picture, (7, 3))).unwrap();
        let expected =
            format!("\x1b_Ga=T,f=100,q=2,c=7,r=3,m=1;{}\x1b\\\x1b_Gq=2,m=0;AAAA\x1b\\", "A".repeat(PIECE));
        assert_eq!(sequence, expected);
    }

    #[test]
    fn iterm_gets_it_whole() {
        let picture = InlinePicture { width: 1, height: 1, png: "AAAA", pixels: &[] };
        let sequence = PictureProtocol::Iterm.sequence(picture, (7, 3));
        assert_eq!(sequence, b"\x1b]1337;File=inline=1;size=3;width=7;height=3;preserveAspectRatio=1:AAAA\x07");
    }

    #[test]
    fn sixels_have_the_pixels_of_the_picture() {
        // Eight rows of four: red, red, red and nothing; the last row blue.
        let (red, blue, nothing) = ([255, 0, 0, 255], [0, 0, 255, 255], [0, 0, 0, 0]);
        let mut pixels = Vec::new();
        for row in 0..8 {
            let one = if row == 7 { blue } else { red };
            for pixel in [one, one, one, nothing] {
                pixels.extend(pixel);
            }
        }
        let picture = InlinePicture { width: 4, height: 8, png: "", pixels: &pixels };
        let sequence = String::from_utf8(PictureProtocol::Sixel.sequence(picture, (1, 1))).unwrap();
        assert!(sequence.starts_with("\x1bP0;1q\"1;1;4;8#0;2;0;0;0#1;2;0;0;20"), "{sequence}");
        // Six rows of red are all six bits; then row seven is the first bit, row eight the second.
        assert!(sequence.ends_with("#180~~~?$-#5AAA?$#180@@@?$\x1b\\"), "{sequence}");
        let wide: Vec<u8> = red.repeat(9);
        let picture = InlinePicture { width: 9, height: 1, png: "", pixels: &wide };
        let sequence = String::from_utf8(PictureProtocol::Sixel.sequence(picture, (1, 1))).unwrap();
        assert!(sequence.ends_with("#180!9@$\x1b\\"), "{sequence}");
    }
}
