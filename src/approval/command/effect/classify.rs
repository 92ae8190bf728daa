//! Judges one command by its row: the most that it does, and what it prints.

use super::call::{Call, Field, Finding, Input};
use super::changes::by_row;
use super::grammar::Reading;
use super::reads::reads;
use super::special::{self, operands};
use super::unknown::unknown;
use super::{help, inline};
use crate::approval::Class;
use crate::approval::program::{Grammar, Looks, Program, Trait};

/// Judges one command.
pub(crate) fn classify_call(call: &Call<'_, '_>) -> Finding {
    let Some(program) = call.program else {
        let Some(language) = Program::versioned(call.name) else { return Finding::new(Class::Execute) };
        return inline::python(call, language).unwrap_or_else(|| unknown(call, language));
    };
    if help::is_asked(call, program) {
        return Finding::new(Class::ReadOnly);
    }
    let reading = Reading::of(program);
    if let Some(finding) = (reading.judge)(call, program) {
        return finding;
    }
    match (reading.looks)(call) {
        Some(true) => {
            let mut finding = Finding::new(Class::ReadOnly);
            reads(call, call.positionals(), &mut finding);
            finding.credential = finding.credential.or_else(|| special::shown_archive(call));
            return finding;
        }
        // A command that does more than look changes what its row names.
        Some(false) => return changes(call, program).unwrap_or_else(|| Finding::new(Class::Execute)),
        None => {}
    }
    if let Some(kind) = program.looks {
        return reader(call, program, kind);
    }
    if subcommand_looks(call, program) {
        let mut finding = Finding::new(Class::ReadOnly);
        let is_secret = |word: &str| matches!(word, "secret" | "secrets");
        let texts = call.texts();
        if program.grammar == Grammar::Kubectl && texts.iter().any(|text| text.split(['/', ',']).any(is_secret)) {
            finding.credential = Some("secret".to_owned());
        }
        return finding;
    }
    changes(call, program).unwrap_or_else(|| unknown(call, program))
}

/// Returns what a command prints, as far as the next one in a pipeline depends on it.
pub(crate) fn printed_by(call: &Call<'_, '_>) -> Input {
    let Some(program) = call.program else { return told_by(call) };
    if program.is(Trait::PassesNames) && matches!(call.input, Input::Names(_)) && call.positionals().is_empty() {
        return call.input.some();
    }
    (Reading::of(program).prints)(call).unwrap_or_else(|| told_by(call))
}

/// Returns an unknown output that perhaps nobody has seen.
fn told_by(call: &Call<'_, '_>) -> Input {
    let unseen = |program: &Program| program.is(Trait::Fetches) || program.is(Trait::Decodes);
    Input::Unknown { unseen: call.input.is_unseen() || call.program.is_some_and(unseen) }
}

/// Judges a call that does more than look; `None` if nothing is known about what it does.
fn changes(call: &Call<'_, '_>, program: &Program) -> Option<Finding> {
    (Reading::of(program).changes)(call, program).or_else(|| by_row(call, program))
}

fn reader(call: &Call<'_, '_>, program: &Program, kind: Looks) -> Finding {
    let too_many = program
        .most
        .is_some_and(|most| operands(call, |flag| program.valued.contains(flag)).len() > usize::from(most));
    if call.has(program.unless) || !only_has(call, program) || too_many || (Reading::of(program).does_more)(call) {
        return changes(call, program).unwrap_or_else(|| Finding::new(Class::Execute));
    }
    let mut finding = Finding::new(Class::ReadOnly);
    match kind {
        Looks::Names if call.has(program.pattern) => reads(call, call.positionals(), &mut finding),
        Looks::Names => {}
        Looks::Contents => reads(call, call.positionals(), &mut finding),
        Looks::AfterPattern => {
            let given = call.has(program.pattern);
            let files = call.positionals().into_iter().skip(usize::from(!given)).collect();
            reads(call, files, &mut finding);
        }
    }
    // `e` without a dash makes `ps` print environments.
    let prints_environments = |field: &Field| {
        let text = field.value.shown();
        text.contains('e') && text.chars().all(|c| c.is_ascii_alphabetic())
    };
    let shows_all = call.is(Grammar::Builtin) && call.name == "set" && call.arguments.is_empty();
    if shows_all || call.is(Grammar::Ps) && call.arguments.iter().any(prints_environments) {
        finding.credential = Some("environment".to_owned());
    }
    finding
}

/// Tells whether each flag changes nothing, by the list in the row.
fn only_has(call: &Call<'_, '_>, program: &Program) -> bool {
    let plain = |field: &Field| {
        let start = field.value.start();
        let name = start.split('=').next().unwrap_or_default();
        // If the end of a name is unknown, what follows may belong to it.
        let is_named = name.len() < start.len() || field.value.known().is_some();
        let bare = name.trim_start_matches('-');
        !start.is_empty()
            && (!start.starts_with('-')
                || is_named
                    && program.only.iter().any(|known| match known.strip_suffix('*') {
                        Some(begun) => name.starts_with(begun),
                        None if known.starts_with('-') => known == name,
                        None => known == bare,
                    }))
    };
    program.only.is_empty() || call.arguments.iter().all(plain)
}

fn subcommand_looks(call: &Call<'_, '_>, program: &Program) -> bool {
    let mut at = 0;
    while let Some(field) = call.arguments.get(at) {
        let text = field.value.start();
        if program.before_valued.contains(text) {
            at += 2;
        } else if program.before.contains(text) {
            at += 1;
        } else {
            break;
        }
    }
    let rest = call.arguments.get(at..).unwrap_or_default();
    program.below().iter().filter(|row| row.looks.is_some()).any(|row| {
        let Some(tail) = rest.get(row.words.len()..) else { return false };
        let words = rest.iter().map(|field| field.value.known().unwrap_or_default());
        if !row.words.iter().zip(words).all(|(wanted, word)| wanted == word) {
            return false;
        }
        let tail = Call { arguments: tail, ..*call };
        let is_flag = |field: &Field| matches!(field.value.start().chars().next(), None | Some('-'));
        let more = tail.has(row.unless) || row.is(Trait::Plain) && tail.arguments.iter().any(is_flag);
        !more && row.most.is_none_or(|most| tail.positionals().len() <= usize::from(most))
    })
}
