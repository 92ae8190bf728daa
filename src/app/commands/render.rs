//! `axi render`: markdown from a file or standard input, as it arrives.

use std::io::{IsTerminal, Read};

use super::super::console::{Console, terminal_size};
use super::super::context::App;
use crate::cli::RenderOptions;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::frontend::human::PROSE_WIDTH;
use crate::frontend::render::{self, RenderError, Width, usable};
use crate::locale::word;
use crate::terminal::{Capabilities, Depth, Layout, Output, Screen, Wrap};

/// Prints markdown from a file or standard input.
pub(in crate::app) fn render(app: &App, options: &RenderOptions) -> Exit {
    let terminal = std::io::stdout().is_terminal();
    let looks = app.display().looks();
    let mut screen = if terminal {
        app.display().screen(&looks)
    } else {
        let capabilities = Capabilities { styles: app.display().depth() != Depth::Plain, ..Capabilities::PLAIN };
        Screen::linear(Output::new(), capabilities)
    };
    let width = match options.width {
        None if terminal => Width::Follows(terminal_size),
        Some(_) | None => Width::Fixed,
    };
    let columns = || if terminal { usable(terminal_size().0) } else { usize::from(terminal_size().0) };
    let wrap = if options.soft_wrap { Wrap::Soft } else { looks.wrap };
    let layout = Layout {
        width: options.width.map_or_else(columns, usize::from),
        // A person who names a width means exactly that width.
        prose: if options.width.is_none() && terminal { PROSE_WIDTH } else { usize::MAX },
        wrap,
        theme: looks.theme,
        hyperlinks: looks.hyperlinks && terminal,
        highlight: looks.highlight,
        // What is printed is to be used as it is.
        fences: false,
    };
    let source: Result<Box<dyn Read>, (String, std::io::Error)> = match options.file.as_deref() {
        Some(path) if path.as_os_str() != "-" => std::fs::File::open(path)
            .map(|file| Box::new(file) as Box<dyn Read>)
            .map_err(|error| (path.display().to_string(), error)),
        Some(_) | None => Ok(Box::new(std::io::stdin())),
    };
    let rendered = source.and_then(|mut source| {
        render::run(&mut source, &mut screen, layout, width).map_err(|error| {
            let source =
                || options.file.as_ref().map_or_else(|| "stdin".to_owned(), |path| path.display().to_string());
            match error {
                RenderError::Read(error) => (source(), error),
                RenderError::Write(error) => ("stdout".to_owned(), error),
            }
        })
    });
    match rendered {
        Ok(()) => Exit::Done,
        Err((path, error)) => {
            let what = app.locale.with(word::error::Io { path: &path, cause: &error.to_string() });
            Console::new(&app.locale).fail(&Problem { what, hint: String::new() });
            Exit::Failed
        }
    }
}
