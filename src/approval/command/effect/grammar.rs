//! Selects the functions that read the words of a program: one line for each grammar that a row can name.

use super::call::{Call, Finding, Input};
use super::{builtin, changes, compiler, git, inline, output, special, text};
use crate::approval::program::{Grammar, Program};

/// The functions for one grammar.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    /// Judges the whole call; `None` leaves it to the other functions.
    pub(super) judge: fn(&Call<'_, '_>, &Program) -> Option<Finding>,
    /// Tells whether a call only looks; `None` if the row says enough.
    pub(super) looks: fn(&Call<'_, '_>) -> Option<bool>,
    /// Tells whether a looking program does more because of its arguments, apart from flags.
    pub(super) does_more: fn(&Call<'_, '_>) -> bool,
    /// Judges a call that does more than look; `None` leaves it to the row.
    pub(super) changes: fn(&Call<'_, '_>, &Program) -> Option<Finding>,
    /// Returns what it prints; `None` if the row says it.
    pub(super) prints: fn(&Call<'_, '_>) -> Option<Input>,
}

const ROW: Reading =
    Reading { judge: |_, _| None, looks: |_| None, does_more: |_| false, changes: |_, _| None, prints: |_| None };

impl Reading {
    pub(super) fn of(program: &Program) -> Self {
        match program.grammar {
            Grammar::Attributes => Self { changes: |call, _| Some(changes::attributes(call)), ..ROW },
            Grammar::Awk | Grammar::Sed => Self { judge: |call, row| Some(text::judge(call, row)), ..ROW },
            Grammar::Bat => Self { looks: special::bat_looks, ..ROW },
            Grammar::Builtin => Self {
                judge: |call, _| builtin::judge(call),
                looks: builtin::looks,
                does_more: builtin::does_more,
                prints: output::builtin,
                ..ROW
            },
            Grammar::Cat => Self { prints: output::cat, ..ROW },
            Grammar::Cmake => Self { looks: |call| special::views_cache(call).then_some(true), ..ROW },
            Grammar::Compiler => Self { looks: |call| compiler::looks(call).then_some(true), ..ROW },
            Grammar::Compressor => Self { looks: |call| special::to_screen(call).then_some(true), ..ROW },
            Grammar::Date => Self { looks: |call| special::sets_clock(call).then_some(false), ..ROW },
            Grammar::Dd => Self { changes: |call, _| Some(changes::disk_dump(call)), ..ROW },
            Grammar::Env | Grammar::Printenv => {
                Self { judge: |call, _| Some(builtin::prints_environment(call)), ..ROW }
            }
            Grammar::Fd | Grammar::Ls | Grammar::Search => Self { prints: output::names, ..ROW },
            Grammar::Getent => Self { looks: |call| Some(special::getent_looks(call)), ..ROW },
            Grammar::Git => Self { judge: |call, row| Some(git::judge(call, row)), prints: output::git, ..ROW },
            Grammar::Jq => Self { does_more: special::filter_does_more, ..ROW },
            Grammar::Kill => Self { changes: |call, _| Some(changes::signalled(call)), ..ROW },
            Grammar::Pager => Self { does_more: special::pager_does_more, ..ROW },
            Grammar::Python => Self { judge: inline::python, ..ROW },
            Grammar::Rsync => Self { changes: |call, _| Some(changes::synchronised(call)), ..ROW },
            Grammar::Sqlite => Self { judge: inline::sqlite, ..ROW },
            Grammar::Sysctl => Self { does_more: special::sysctl_does_more, ..ROW },
            Grammar::Tar => {
                Self { looks: special::tar_looks, changes: |call, _| Some(changes::unpacked(call)), ..ROW }
            }
            Grammar::Tcpdump => Self { looks: |call| special::reads_capture(call).then_some(true), ..ROW },
            Grammar::Tee => Self {
                changes: |call, row| Some(changes::copied_through(call, row)),
                prints: |call| Some(call.input.clone()),
                ..ROW
            },
            Grammar::Unzip => Self {
                looks: |call| special::unzips_to_screen(call).then_some(true),
                changes: |call, _| Some(changes::unpacked(call)),
                ..ROW
            },
            // These have no grammar of their own, or were opened before they are judged.
            Grammar::None | Grammar::Find | Grammar::Kubectl | Grammar::Perl | Grammar::Ps => ROW,
        }
    }
}
