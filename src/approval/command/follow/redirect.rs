//! Follows a redirection: what it reads or overwrites.

use super::super::effect::{Finding, Input, Touched};
use super::super::judgement::{Judged, Part};
use super::super::known::{State, Value};
use super::super::read::{Redirect, RedirectKind, WordPart};
use super::flow::{Around, UNKNOWN};
use super::walk::Walker;
use crate::approval::Class;
use crate::approval::path::{is_credential, is_harmless_device};
use crate::approval::program::Action;

impl Redirect {
    /// Judges a redirection; returns what it provides as the command's input, if anything.
    pub(super) fn follow(&self, walker: &mut Walker, state: &State<'_>) -> Option<Input> {
        walker.inside(&self.target, state);
        let values = state.expand(&self.target);
        let (class, action) = match self.kind {
            RedirectKind::Duplicate => return None,
            RedirectKind::Text => {
                return Some(match values.as_slice() {
                    [value] => value.known().map_or(UNKNOWN, Input::Text),
                    _ => UNKNOWN,
                });
            }
            RedirectKind::Read => {
                for value in &values {
                    read(walker, &self.source, value, state);
                }
                let process = self.target.parts.iter().any(|part| matches!(part, WordPart::Process { .. }));
                return Some(Input::Unknown { unseen: process });
            }
            RedirectKind::Write | RedirectKind::ReadWrite => (Class::Write, Action::Overwrite),
            RedirectKind::Append => (Class::Write, Action::Change),
        };
        for value in values {
            let text = value.known().unwrap_or_default();
            let descriptor = text.strip_prefix("/dev/fd/");
            if is_harmless_device(&text) || descriptor.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
            {
                continue;
            }
            let class =
                if text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/") { Class::Network } else { class };
            let mut finding = Finding::new(class);
            finding.touched.push(Touched { value, action, recursive: false, filtered: false });
            walker.report.record(
                &finding,
                &[],
                state,
                &Around { text: self.source.clone(), ..Around::default() },
                true,
            );
        }
        None
    }
}

/// Judges that a command gets what is in a file, which is none of its words; `source` is where that is written.
pub(super) fn read(walker: &mut Walker, source: &str, value: &Value, state: &State<'_>) {
    let text = value.start();
    let network = text.starts_with("/dev/tcp/") || text.starts_with("/dev/udp/");
    for pattern in value.patterns(&state.directories) {
        let path = pattern.rough_path();
        let secret = path.as_deref().is_some_and(|path| is_credential(path, state.place));
        if network || secret {
            walker.report.parts.push(Judged {
                text: source.to_owned(),
                part: Part::Command { words: vec![None], outer: Vec::new() },
                run: None,
                class: if network { Class::Network } else { Class::ReadOnly },
                shown: false,
                credential: secret.then(|| pattern.shown().to_owned()),
                runs_program: false,
                paths: path.into_iter().map(|path| (path, true)).collect(),
                strays: state.strays(),
            });
        }
    }
}
