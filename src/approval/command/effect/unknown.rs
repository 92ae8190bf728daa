//! What can be said about a program whose words tell nothing certain.

use super::super::read::looks_destructive;
use super::call::{Call, Field, Finding, Input, Touched};
use crate::approval::program::{Action, Grammar, Program, Trait};
use crate::approval::{Class, NeverAuto, Unparsed};

/// Judges a program about which is known at most that it runs something.
pub(super) fn unknown(call: &Call<'_, '_>, program: &Program) -> Finding {
    let mut finding = Finding::new(Class::Execute);
    if let (true, Input::Text(text)) = (program.is(Trait::RunsInput), call.input)
        && let Some(looks) = looks_destructive(text)
    {
        finding.never = Some(NeverAuto::HiddenDestructive { looks });
    }
    if program.is(Trait::Interpreter) {
        finding.unparsed = Some(Unparsed::Script);
        let inside = call.arguments.iter().map(|field| field.value.shown());
        let input = if let Input::Text(text) = call.input { Some(text.clone()) } else { None };
        if call.input.is_unseen() {
            finding.never = Some(NeverAuto::UnseenScript);
        }
        if let Some(looks) = inside.chain(input).find_map(|text| looks_destructive(&text)) {
            finding.never = Some(NeverAuto::HiddenDestructive { looks });
        }
        finding.touched = changed_in_place(call, program);
    }
    finding
}

/// Lists the files that `perl -i` and similar programs rewrite, so that copies can be kept.
fn changed_in_place(call: &Call<'_, '_>, program: &Program) -> Vec<Touched> {
    let (mut files, mut in_place, mut script) = (Vec::new(), false, false);
    let mut arguments = call.arguments.iter();
    while let Some(field) = arguments.next() {
        let start = field.value.start();
        match (program.grammar, start.strip_prefix('-')) {
            (Grammar::Perl, Some(letters)) if !letters.starts_with('-') => {
                // The letters after `i` in the same word are the suffix of a backup copy.
                in_place |= letters.contains('i') && !letters.starts_with(['M', 'm', 'I']);
                if letters.ends_with(['e', 'E']) {
                    arguments.next();
                    script = true;
                }
            }
            (Grammar::Awk, Some("i")) => {
                in_place |= arguments.next().is_some_and(|field| field.value.start() == "inplace");
            }
            (_, Some(_)) => {}
            (_, None) if script => files.push(field),
            (_, None) => script = true,
        }
    }
    let touched = |field: &Field| Touched {
        value: field.value.clone(),
        action: Action::Overwrite,
        recursive: false,
        filtered: false,
    };
    if in_place { files.into_iter().map(touched).collect() } else { Vec::new() }
}
