//! A terminal's screen as an SVG picture: text stays text, so that the picture is small and can be searched.

use std::fmt::Write as _;

/// Cell size and margin, in user units.
const CELL: (f32, f32) = (8.4, 18.0);
const MARGIN: f32 = 16.0;
/// GitHub's dark palette (primer), so that the picture looks at home in a README.
const BACKGROUND: &str = "#0d1117";
const FOREGROUND: &str = "#e6edf3";
const PALETTE: [&str; 16] = [
    "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4", "#6e7681", "#ffa198",
    "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
];

#[derive(Clone, PartialEq, Eq)]
struct Style {
    foreground: String,
    background: Option<String>,
    bold: bool,
    italic: bool,
    underline: bool,
    dim: bool,
}

fn color(color: vt100::Color) -> Option<String> {
    match color {
        vt100::Color::Default => None,
        vt100::Color::Idx(index @ 0..16) => Some(PALETTE[usize::from(index)].to_owned()),
        vt100::Color::Idx(index @ 16..232) => {
            let index = index - 16;
            let level = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
            Some(format!("#{:02x}{:02x}{:02x}", level(index / 36), level(index / 6 % 6), level(index % 6)))
        }
        vt100::Color::Idx(index) => Some(format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * (index - 232))),
        vt100::Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

fn style(cell: &vt100::Cell) -> Style {
    Style {
        foreground: color(cell.fgcolor()).unwrap_or_else(|| FOREGROUND.to_owned()),
        background: color(cell.bgcolor()),
        bold: cell.bold(),
        italic: cell.italic(),
        underline: cell.underline(),
        dim: cell.dim(),
    }
}

/// Draws the first `rows` rows of a screen.
pub(crate) fn picture(screen: &vt100::Screen, rows: u16) -> String {
    let columns = screen.size().1;
    let (width, height) = (f32::from(columns) * CELL.0 + 2.0 * MARGIN, f32::from(rows) * CELL.1 + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    for row in 0..rows {
        let mut column = 0;
        while column < columns {
            let Some(first) = screen.cell(row, column) else { break };
            let (start, style) = (column, style(first));
            let mut text = String::new();
            while let Some(cell) = screen.cell(row, column).filter(|cell| self::style(cell) == style) {
                if !cell.is_wide_continuation() {
                    text.push_str(if cell.has_contents() { cell.contents() } else { " " });
                }
                column += 1;
            }
            run(&mut svg, (row, start, column - start), &text, &style);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn run(svg: &mut String, (row, column, cells): (u16, u16, u16), text: &str, style: &Style) {
    let (x, y) = (MARGIN + f32::from(column) * CELL.0, MARGIN + f32::from(row) * CELL.1);
    let width = f32::from(cells) * CELL.0;
    if let Some(background) = &style.background {
        let height = CELL.1;
        writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height}\" fill=\"{background}\"/>"
        )
        .unwrap();
    }
    let shown = text.trim_end();
    if shown.is_empty() {
        return;
    }
    let lead = shown.len() - shown.trim_start().len();
    let x = x + f32::from(u16::try_from(lead).unwrap()) * CELL.0;
    let mut attributes = String::new();
    for (is, attribute) in [
        (style.foreground != FOREGROUND, format!(" fill=\"{}\"", style.foreground)),
        (style.foreground == FOREGROUND, format!(" fill=\"{FOREGROUND}\"")),
        (style.bold, " font-weight=\"bold\"".to_owned()),
        (style.italic, " font-style=\"italic\"".to_owned()),
        (style.underline, " text-decoration=\"underline\"".to_owned()),
        (style.dim, " opacity=\"0.6\"".to_owned()),
    ] {
        if is {
            attributes.push_str(&attribute);
        }
    }
    // Whatever font there is, every cell stays in its column.
    let cells = u16::try_from(axi::terminal::width::width(shown.trim_start())).unwrap();
    let length = f32::from(cells) * CELL.0;
    let escaped = shown.trim_start().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let base = y + 13.5;
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{base:.1}\" textLength=\"{length:.1}\" xml:space=\"preserve\"{attributes}>{escaped}</text>")
        .unwrap();
}
