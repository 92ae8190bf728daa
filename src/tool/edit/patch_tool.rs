//! The `apply_patch` tool: changes to several files at once, all or none.

use std::fmt::Write as _;
use std::fs::Permissions;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field};
use crate::tool::file_memory::{FileState, Freshness};
use crate::tool::text_file::{self, Encoding};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolMemory, ToolOutput, Unread, atomic, paths, work};

use super::patch::{self, FilePatch};
use super::patch_apply::{self, Loose};
use super::{change, matching};

const FIELDS: &[Field] = &[Field { name: "patch", aliases: &["input", "patch_text", "patchText", "diff"] }];

/// Applies patches in the format of codex.
#[derive(Debug, Default)]
pub struct ApplyPatchTool;

/// One file before and after.
struct Step {
    /// As the model named it, resolved.
    path: PathBuf,
    /// The file itself.
    real: PathBuf,
    old: Option<(String, Encoding, FileState)>,
    new: Option<(String, Encoding)>,
    /// What a moved file had.
    permissions: Option<Permissions>,
    says: String,
    /// Its place in the patch.
    order: usize,
}

impl Step {
    /// Asks the system whether it could be taken.
    fn may_be_taken(&self) -> std::io::Result<()> {
        match self.bytes()? {
            Some(_) => paths::may_write(&self.real),
            None => paths::may_change(&self.real),
        }
    }

    /// What the file will hold, if there will be one.
    fn bytes(&self) -> std::io::Result<Option<Vec<u8>>> {
        let Some((text, encoding)) = &self.new else { return Ok(None) };
        encoding.encode(text).map(Some).map_err(|letter| {
            std::io::Error::other(format!("it is Latin-1, which has no {letter:?}; use other characters"))
        })
    }
}

/// What a person sees of it.
fn shown(steps: &[Step]) -> Preview {
    let diff = |step: &Step| Preview::Diff {
        path: step.path.clone(),
        old: step.old.as_ref().map(|(text, _, _)| text.clone()),
        new: step.new.as_ref().map(|(text, _)| text.clone()),
    };
    Preview::Many { parts: steps.iter().map(diff).collect() }
}

/// The changes of each file, and all files that they name.
struct Input {
    files: Vec<FilePatch>,
    subject: Subject,
}

fn parse(input: &Value, roots: &Roots) -> Result<Input, String> {
    let arguments = Arguments::parse("apply_patch", input, FIELDS)?;
    let files =
        patch::parse(arguments.filled_text("patch")?).map_err(|problem| format!("apply_patch: {problem}"))?;
    let named = files.iter().flat_map(|file| match file {
        FilePatch::Add { path, .. } | FilePatch::Delete { path } => vec![path.as_str()],
        FilePatch::Update { path, destination, .. } => {
            std::iter::once(path.as_str()).chain(destination.as_deref()).collect()
        }
    });
    let subject = paths::subject(roots, named);
    Ok(Input { files, subject })
}

/// Works the patch out. Looks at the disk, changes nothing.
fn plan(roots: &Roots, files: &[FilePatch]) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    // Names that the patch itself frees (`a.rs` becomes `a/mod.rs`, and another `a.rs` is made).
    let mut vacated: Vec<PathBuf> = Vec::new();
    for file in files {
        if let FilePatch::Delete { path } | FilePatch::Update { path, destination: Some(_), .. } = file {
            vacated.push(inside(roots, path)?.1);
        }
    }
    let is_taken = |real: &Path| real.symlink_metadata().is_ok() && !vacated.iter().any(|path| path == real);
    for (order, file) in files.iter().enumerate() {
        steps.extend(steps_of(roots, file, order, &is_taken)?);
    }
    // A patch may remove a file and put another one in its place; apart from that it changes each name once.
    let replaces = |one: &Step, other: &Step| one.old.is_none() && other.new.is_none();
    for (index, step) in steps.iter().enumerate() {
        let mut before = steps[..index].iter().filter(|other| other.real == step.real);
        if before.any(|other| !replaces(step, other) && !replaces(other, step)) {
            return Err(format!(
                "{} is in the patch twice; put its changes together.",
                paths::shown(roots, &step.path)
            ));
        }
    }
    // A file that is replaced by something else is removed first; all other removals come last.
    let comes: Vec<PathBuf> =
        steps.iter().filter(|step| step.new.is_some()).map(|step| step.real.clone()).collect();
    steps.sort_by_key(|step| match step.new {
        None if comes.contains(&step.real) => 0,
        Some(_) => 1,
        None => 2,
    });
    Ok(steps)
}

/// Computes the result for one file of the patch.
fn steps_of(
    roots: &Roots,
    file: &FilePatch,
    order: usize,
    is_taken: &dyn Fn(&Path) -> bool,
) -> Result<Vec<Step>, String> {
    let step = |(path, real): (PathBuf, PathBuf), old, new, says| Step {
        path,
        real,
        old,
        new,
        permissions: None,
        says,
        order,
    };
    match file {
        FilePatch::Add { path, text } => {
            let at = inside(roots, path)?;
            let shown = paths::shown(roots, &at.0);
            if is_taken(&at.1) {
                return Err(format!("{shown} exists already; update it instead."));
            }
            Ok(vec![step(at, None, Some((text.clone(), Encoding::Utf8)), format!("A {shown}"))])
        }
        FilePatch::Delete { path } => {
            let at = inside(roots, path)?;
            no_link(roots, &at.0)?;
            let file = text_file::load(roots, &at.0)?;
            let says = format!("D {}", paths::shown(roots, &at.0));
            Ok(vec![step(at, Some((file.text, file.encoding, file.seen)), None, says)])
        }
        FilePatch::Update { path, destination, hunks } => {
            let at = inside(roots, path)?;
            let file = text_file::load(roots, &at.0)?;
            let shown = paths::shown(roots, &at.0);
            let patched = patch_apply::apply(&file.text, hunks).map_err(|problem| format!("{shown}: {problem}"))?;
            let mut says = format!("M {shown}");
            for loose in &patched.loose {
                says.push_str(&worded(loose));
            }
            let new = Some((patched.text, file.encoding));
            let old = Some((file.text, file.encoding, file.seen));
            let Some(destination) = destination else { return Ok(vec![step(at, old, new, says)]) };
            let target = inside(roots, destination)?;
            no_link(roots, &at.0)?;
            let shown = paths::shown(roots, &target.0);
            if is_taken(&target.1) {
                return Err(format!("{shown} exists already."));
            }
            let permissions = at.1.metadata().ok().map(|metadata| metadata.permissions());
            let moved = Step { permissions, ..step(target, None, new, format!("{says} -> {shown}")) };
            Ok(vec![moved, step(at, old, None, String::new())])
        }
    }
}

/// Words what did not fit as it was written.
fn worded(loose: &Loose) -> String {
    let mut says = format!(" (change {}", loose.hunk);
    if !loose.way.is_empty() {
        // Writing to a String cannot fail.
        let _ = write!(says, " matched {}", loose.way);
    }
    if let Some((said, found)) = loose.moved {
        let _ = write!(says, " went to line {found}, not {said}");
    }
    says.push(')');
    says
}

/// Resolves a path and refuses one that leads out of the workspace.
fn inside(roots: &Roots, path: &str) -> Result<(PathBuf, PathBuf), String> {
    let path = roots.resolve(path);
    let problem = |error: std::io::Error| text_file::problem(roots, &path, &error);
    let real = paths::real(&path).map_err(problem)?;
    let workspace = paths::real(&roots.workspace).map_err(problem)?;
    if !real.starts_with(&workspace) {
        return Err(format!("{} is outside of the workspace.", paths::shown(roots, &path)));
    }
    Ok((path, real))
}

/// Refuses to remove a link: the model meant either the link or its target, and nobody can tell which.
fn no_link(roots: &Roots, path: &Path) -> Result<(), String> {
    if path.is_symlink() {
        return Err(format!("{} is a symbolic link; use the shell.", paths::shown(roots, path)));
    }
    Ok(())
}

/// A change that was made, with what takes it back.
enum Undo<'a> {
    Remove(&'a Path),
    Restore(&'a Path, Vec<u8>, Permissions),
}

/// Makes the changes; on a failure those made are taken back.
fn carry_out(steps: &[Step]) -> Result<Vec<Option<FileState>>, (usize, std::io::Error)> {
    let mut undo: Vec<Undo<'_>> = Vec::new();
    let mut seen = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        match one(step) {
            Ok((state, back)) => {
                seen.push(state);
                undo.push(back);
            }
            Err(error) => {
                for back in undo.into_iter().rev() {
                    // A change that cannot be undone either is left; the first error is reported.
                    let _ = match back {
                        Undo::Remove(path) => std::fs::remove_file(path),
                        Undo::Restore(path, bytes, permissions) => {
                            atomic::write(path, &bytes).and_then(|()| std::fs::set_permissions(path, permissions))
                        }
                    };
                }
                return Err((index, error));
            }
        }
    }
    Ok(seen)
}

fn one(step: &Step) -> std::io::Result<(Option<FileState>, Undo<'_>)> {
    let back = match &step.old {
        None => Undo::Remove(&step.real),
        Some((_, _, before)) => {
            let bytes = std::fs::read(&step.real)?;
            if FileState::of(&bytes, None).hash != before.hash {
                return Err(std::io::Error::other("it was changed this moment by something else"));
            }
            Undo::Restore(&step.real, bytes, step.real.metadata()?.permissions())
        }
    };
    let Some(bytes) = step.bytes()? else {
        std::fs::remove_file(&step.real)?;
        return Ok((None, back));
    };
    atomic::write(&step.real, &bytes)?;
    if let Some(permissions) = &step.permissions {
        std::fs::set_permissions(&step.real, permissions.clone())?;
    }
    let modified = step.real.metadata().ok().and_then(|metadata| metadata.modified().ok());
    Ok((Some(FileState::of(&bytes, modified)), back))
}

impl Tool for ApplyPatchTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "apply_patch".to_owned(),
            description: "Changes several files, all or none. Format: `*** Begin Patch`, for each file \
                          `*** Add File: P` with +lines, `*** Delete File: P`, or `*** Update File: P` (and \
                          `*** Move to: P`) with changes: `@@ line before`, then lines beginning with blank \
                          (context), - or +; `*** End Patch`. Or a diff as git makes it."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {"patch": {"type": "string"}},
                "required": ["patch"]
            }),
            identity: ToolIdentity { kind: ToolKind::Writer, verb: ToolVerb::Patch, ..ToolIdentity::default() },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Write, parse(input, roots))
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Write
    }

    fn subject(&self) -> Subject {
        self.subject.clone()
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        let steps = plan(before.roots, &self.files)?;
        let unwritable = || {
            steps.iter().find_map(|step| {
                let error = step.may_be_taken().err()?;
                Some(text_file::problem(before.roots, &step.path, &error))
            })
        };
        match changed_since(&steps, before.roots, before.memory).or_else(unwritable) {
            Some(problem) => Err(format!("{problem}\nNothing was changed.")),
            None => Ok(shown(&steps)),
        }
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let roots = context.roots.clone();
            let steps = match work::blocking(context.cancel, move |_| plan(&roots, &self.files)).await {
                Err(stopped) => return stopped,
                Ok(Err(problem)) => return ToolOutput::failed(format!("{problem}\nNothing was changed.")),
                Ok(Ok(steps)) => steps,
            };
            if let Some(problem) = changed_since(&steps, context.roots, context.memory) {
                return ToolOutput::failed(format!("{problem}\nNothing was changed."));
            }
            let (steps, done) = match work::to_the_end(move || {
                let done = carry_out(&steps);
                (steps, done)
            })
            .await
            {
                Ok(done) => done,
                Err(broken) => return broken,
            };
            match done {
                Err((index, error)) => ToolOutput::failed(format!(
                    "{}\nNothing was changed.",
                    text_file::problem(context.roots, &steps[index].path, &error)
                )),
                Ok(seen) => told(&steps, seen, &context),
            }
        })
    }
}

/// Finds a file the model read in another state; one it never read is known by the patch's own context.
fn changed_since(steps: &[Step], roots: &Roots, memory: &ToolMemory) -> Option<String> {
    steps.iter().find_map(|step| {
        let (text, _, seen) = step.old.as_ref()?;
        let Freshness::Changed(known) = memory.files.freshness(&step.real, seen) else { return None };
        Some(change::changed(&paths::shown(roots, &step.path), known.as_deref(), text))
    })
}

fn told(steps: &[Step], seen: Vec<Option<FileState>>, context: &ToolContext<'_>) -> ToolOutput {
    let mut facts = ToolFacts { added: Some(0), removed: Some(0), ..ToolFacts::default() };
    let mut lines = Vec::new();
    for (step, seen) in steps.iter().zip(seen) {
        let old = step.old.as_ref().map_or("", |(text, _, _)| text);
        let new = step.new.as_ref().map_or("", |(text, _)| text);
        let (added, removed) = matching::counts(old, new);
        facts.added = facts.added.map(|sum| sum + added);
        facts.removed = facts.removed.map(|sum| sum + removed);
        if let Some(seen) = seen {
            context.memory.files.remember_written(&step.real, seen, new);
        }
        if !step.says.is_empty() {
            lines.push((step.order, step.says.as_str()));
        }
    }
    lines.sort_unstable();
    let lines: Vec<&str> = lines.into_iter().map(|(_, says)| says).collect();
    if let [step] = steps {
        facts.path = Some(step.path.clone());
    }
    ToolOutput { change: Some(shown(steps)), ..ToolOutput::ok(format!("Done:\n{}", lines.join("\n")), facts) }
}
