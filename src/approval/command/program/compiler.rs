//! Compilers of C: asked about themselves, or only reading what they are given.

use super::call::{Call, Field};

/// With one of these nothing is made: the text goes to the screen, or is only checked.
const LOOKING: &[&str] = &["-E", "-fsyntax-only", "-M", "-MM"];

/// Questions about the compiler itself.
const ASKING: &[&str] =
    &["-print-", "--print-", "-dumpversion", "-dumpmachine", "-dumpfullversion", "--help=", "-###"];

/// Flags that change nothing but how it reads; a value follows the last of them.
const PLAIN: &[&str] = &[
    "-v",
    "-w",
    "-P",
    "-C",
    "-H",
    "-Q",
    "-dM",
    "-dD",
    "-dI",
    "-ansi",
    "-pedantic",
    "-pedantic-errors",
    "-pthread",
    "-nostdinc",
    "-fPIC",
    "-fpic",
    "-fno-exceptions",
    "-fno-rtti",
    "-fopenmp",
    "-",
    "-MG",
    "-MP",
    "-g",
    "-m32",
    "-m64",
];

/// Flags whose value is the next word.
const VALUED: &[&str] = &["-x", "-I", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-include", "-std"];

/// Beginnings of flags with their value.
const JOINED: &[&str] = &[
    "-I", "-D", "-U", "-std=", "-isystem", "-O", "-march=", "-mtune=", "-mcpu=", "-mavx", "-msse", "-mfma",
    "--std=",
];

/// Tells whether nothing is made, linked, loaded or run.
pub(super) fn looks(call: &Call<'_, '_>) -> bool {
    let mut only_looks = false;
    let mut fields = call.arguments.iter();
    while let Some(field) = fields.next() {
        let start = field.value.start();
        if start.is_empty() || start.starts_with('@') {
            return false;
        }
        let asks = ASKING.iter().any(|asked| start.starts_with(asked));
        only_looks |= asks || LOOKING.contains(&start);
        if VALUED.contains(&start) {
            // A file of arguments, or a flag, where a value belongs.
            let plain = |value: &Field| value.value.known().is_some_and(|text| !text.starts_with(['@', '-']));
            if !fields.next().is_some_and(plain) {
                return false;
            }
        } else if start.starts_with('-') {
            // Not what the assembler, the linker and the preprocessor are handed.
            let warns = start.starts_with("-W") && !start.contains(',');
            let joined = JOINED.iter().any(|flag| start.starts_with(flag));
            if !(asks || warns || joined || LOOKING.contains(&start) || PLAIN.contains(&start)) {
                return false;
            }
        }
    }
    only_looks
}
