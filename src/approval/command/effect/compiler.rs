//! C compilers that are asked about themselves, or that only read their input.

use super::call::{Call, Field};
use crate::approval::program::lists;

/// Tells whether nothing is made, linked, loaded or run.
pub(super) fn looks(call: &Call<'_, '_>) -> bool {
    let mut only_looks = false;
    let mut fields = call.arguments.iter();
    while let Some(field) = fields.next() {
        let start = field.value.start();
        if start.is_empty() || start.starts_with('@') {
            return false;
        }
        let asks = lists::COMPILER_ASKS.iter().any(|asked| start.starts_with(asked));
        only_looks |= asks || lists::COMPILER_LOOKS.contains(start);
        if lists::COMPILER_VALUED.contains(start) {
            // A file of arguments, or a flag, stands where a value belongs.
            let plain = |value: &Field| value.value.known().is_some_and(|text| !text.starts_with(['@', '-']));
            if !fields.next().is_some_and(plain) {
                return false;
            }
        } else if start.starts_with('-') {
            // Options that are passed to the assembler, the linker or the preprocessor do not count.
            let warns = start.starts_with("-W") && !start.contains(',');
            let joined = lists::COMPILER_JOINED.iter().any(|flag| start.starts_with(flag));
            if !(asks
                || warns
                || joined
                || lists::COMPILER_LOOKS.contains(start)
                || lists::COMPILER_PLAIN.contains(start))
            {
                return false;
            }
        }
    }
    only_looks
}
