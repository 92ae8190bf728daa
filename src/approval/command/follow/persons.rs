//! Names that mean in the shell of a command what they mean in the person's: aliases and functions. They are followed
//! as if they stood in the line.

use super::super::effect::Field;
use super::super::known::State;
use super::super::read::{Node, Simple, Word, parse};
use super::flow::{Around, Flow, UNKNOWN};
use super::walk::Walker;
use crate::approval::Unparsed;

impl Simple {
    /// Follows what an alias makes of a command; gives the state back where there is none.
    pub(super) fn follow_alias<'s>(
        &self,
        walker: &mut Walker,
        state: State<'s>,
        around: &Around,
    ) -> Result<Flow<'s>, State<'s>> {
        let Some((names, text)) = self.expanded(walker, &state) else { return Err(state) };
        let count = walker.expanding.len();
        walker.expanding.extend(names);
        let flow = walker.script(&text, state, around);
        walker.expanding.truncate(count);
        Ok(flow)
    }

    /// What stands there once the aliases are put in, and which these are.
    fn expanded(&self, walker: &Walker, state: &State<'_>) -> Option<(Vec<String>, String)> {
        let aliases = &state.place.definitions.aliases;
        // A shell does not read an alias again within itself.
        let alias = |at: usize| {
            let name = self.words.get(at).and_then(Word::bare)?;
            let value = aliases.get(name).filter(|_| !walker.expanding.iter().any(|known| known == name))?;
            Some((name, value))
        };
        let (name, value) = alias(0).filter(|_| state.is_theirs && !walker.in_theirs)?;
        // In front of it stand assignments, or redirections.
        let (before, behind) = self.source.split_at_checked(self.first)?;
        let (mut rest, mut names) = (behind.strip_prefix(name)?, vec![name.to_owned()]);
        let mut text = format!("{before}{value}");
        // Behind one that ends in a blank the next word may be one, too.
        while text.ends_with([' ', '\t'])
            && let Some((name, value)) = alias(names.len())
            && let Some(behind) = rest.trim_start().strip_prefix(name)
        {
            text.push_str(value);
            names.push(name.to_owned());
            rest = behind;
        }
        Some((names, text + rest))
    }
}

/// Follows a function of the person's; gives the state back where there is none of that name.
pub(super) fn persons_function<'s>(
    walker: &mut Walker,
    name: &str,
    fields: &[Field],
    mut state: State<'s>,
    around: &Around,
) -> Result<Flow<'s>, State<'s>> {
    let definitions = &state.place.definitions;
    let text = definitions.functions.get(name);
    if !state.is_theirs || text.is_none() && !definitions.foreign.contains(name) {
        return Err(state);
    }
    if let Some(body) = text.and_then(|text| body(text)) {
        let arguments = fields.get(1..).unwrap_or_default();
        let outer = std::mem::replace(&mut walker.in_theirs, true);
        let flow = walker.function(name, &body, arguments, state, around);
        walker.in_theirs = outer;
        return Ok(flow);
    }
    // Nobody here reads it: it may do anything, and be anywhere afterwards.
    walker.report.doubt(&around.text, Unparsed::Redefined);
    walker.anything(fields, &state, around);
    state.opaque = true;
    state.directories = vec![None];
    Ok(Flow::same(state, UNKNOWN))
}

/// The body of the one function that a text defines, which bash prints with a blank and a row too many for the reader.
fn body(text: &str) -> Option<Node> {
    let mut node = parse(&text.replacen(" () \n{", "() {", 1), 1).ok()?;
    if let Node::Sequence(nodes) = &mut node {
        let only = nodes.pop().filter(|_| nodes.is_empty())?;
        node = only;
    }
    if let Node::Function { body, .. } = node { Some(*body) } else { None }
}
