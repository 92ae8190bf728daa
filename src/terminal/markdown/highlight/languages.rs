//! The languages, one row each: data only. The word lists are sorted, because they are searched by bisection.

use super::language::{Flavour, Language, Quote};

const DOUBLE: Quote = Quote::line("\"", "\"");
const SINGLE: Quote = Quote::line("'", "'");
const BACKTICK: Quote = Quote::block("`", "`");
const TRIPLE_DOUBLE: Quote = Quote::block("\"\"\"", "\"\"\"");
const TRIPLE_SINGLE: Quote = Quote::block("'''", "'''");
const SLASHES: &[&str] = &["//"];
const HASH: &[&str] = &["#"];
const DASHES: &[&str] = &["--"];
const SEMICOLON: &[&str] = &[";"];
const C_BLOCK: &[(&str, &str)] = &[("/*", "*/")];

const C_LIKE: Language = Language {
    line_comments: SLASHES,
    block_comments: C_BLOCK,
    quotes: &[DOUBLE],
    characters: true,
    capital_types: true,
    ..Language::EMPTY
};
const HASHED: Language =
    Language { line_comments: HASH, quotes: &[DOUBLE, SINGLE], capital_types: true, ..Language::EMPTY };

/// All languages; the first one whose names include the fence's word is used.
#[rustfmt::skip]
pub(super) const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        keywords: &["as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "type", "union", "unsafe", "use", "where", "while", "yield"],
        types: &["bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16", "u32", "u64", "u8", "usize"],
        constants: &["false", "true"],
        quotes: &[Quote::raw("r##\"", "\"##"), Quote::raw("r#\"", "\"#"), Quote::raw("r\"", "\""), Quote::block("\"", "\"")],
        macros: true, attributes: Some("#["), nested_comments: true, ..C_LIKE },
    Language {
        names: &["python", "py", "python3", "py3", "pycon", "ipython"],
        keywords: &["and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "match", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield"],
        types: &["bool", "bytes", "dict", "float", "int", "list", "object", "set", "str", "tuple"],
        constants: &["False", "None", "True", "cls", "self"],
        quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE], attributes: Some("@"), ..HASHED },
    Language {
        names: &["javascript", "js", "jsx", "mjs", "cjs", "typescript", "ts", "tsx", "mts", "node"],
        keywords: &["abstract", "as", "async", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "declare", "default", "delete", "do", "else", "enum", "export", "extends", "finally", "for", "from", "function", "get", "if", "implements", "import", "in", "instanceof", "interface", "keyof", "let", "namespace", "new", "of", "private", "protected", "public", "readonly", "return", "satisfies", "set", "static", "super", "switch", "this", "throw", "try", "type", "typeof", "var", "void", "while", "with", "yield"],
        types: &["any", "bigint", "boolean", "never", "number", "object", "string", "symbol", "unknown"],
        constants: &["Infinity", "NaN", "false", "null", "true", "undefined"],
        quotes: &[DOUBLE, SINGLE, BACKTICK], attributes: Some("@"), characters: false, ..C_LIKE },
    Language {
        names: &["go", "golang"],
        keywords: &["break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch", "type", "var"],
        types: &["any", "bool", "byte", "complex128", "complex64", "error", "float32", "float64", "int", "int16", "int32", "int64", "int8", "rune", "string", "uint", "uint16", "uint32", "uint64", "uint8", "uintptr"],
        constants: &["false", "iota", "nil", "true"],
        quotes: &[DOUBLE, Quote::raw("`", "`")], ..C_LIKE },
    Language {
        names: &["c", "h", "cpp", "c++", "cxx", "cc", "hpp", "hxx", "arduino", "ino", "cuda", "cu", "objective-c", "objc", "glsl", "hlsl", "wgsl"],
        keywords: &["alignas", "alignof", "and", "auto", "break", "case", "catch", "class", "co_await", "co_return", "co_yield", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "final", "for", "friend", "goto", "if", "import", "inline", "mutable", "namespace", "new", "noexcept", "not", "operator", "or", "override", "private", "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "try", "typedef", "typename", "union", "using", "virtual", "volatile", "while"],
        types: &["bool", "char", "double", "float", "int", "int16_t", "int32_t", "int64_t", "int8_t", "long", "short", "signed", "size_t", "ssize_t", "string", "uint16_t", "uint32_t", "uint64_t", "uint8_t", "uintptr_t", "unsigned", "vector", "void", "wchar_t"],
        constants: &["NULL", "false", "nullptr", "true"], attributes: Some("#"), ..C_LIKE },
    Language {
        names: &["java", "groovy", "gradle"],
        keywords: &["abstract", "assert", "break", "case", "catch", "class", "continue", "def", "default", "do", "else", "enum", "extends", "final", "finally", "for", "if", "implements", "import", "instanceof", "interface", "native", "new", "package", "permits", "private", "protected", "public", "record", "return", "sealed", "static", "strictfp", "super", "switch", "synchronized", "this", "throw", "throws", "transient", "try", "var", "volatile", "while", "yield"],
        types: &["boolean", "byte", "char", "double", "float", "int", "long", "short", "void"],
        constants: &["false", "null", "true"],
        quotes: &[TRIPLE_DOUBLE, DOUBLE], attributes: Some("@"), ..C_LIKE },
    Language {
        names: &["kotlin", "kt", "kts"],
        keywords: &["abstract", "as", "break", "by", "catch", "class", "companion", "const", "constructor", "continue", "crossinline", "data", "do", "else", "enum", "finally", "for", "fun", "get", "if", "import", "in", "infix", "init", "inline", "inner", "interface", "internal", "is", "lateinit", "object", "open", "operator", "out", "override", "package", "private", "protected", "public", "reified", "return", "sealed", "set", "super", "suspend", "this", "throw", "try", "typealias", "val", "var", "vararg", "when", "where", "while"],
        constants: &["false", "null", "true"],
        quotes: &[TRIPLE_DOUBLE, DOUBLE], attributes: Some("@"), nested_comments: true, ..C_LIKE },
    Language {
        names: &["swift"],
        keywords: &["actor", "as", "associatedtype", "async", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "fileprivate", "final", "for", "func", "guard", "if", "import", "in", "indirect", "init", "inout", "internal", "is", "lazy", "let", "mutating", "open", "operator", "override", "private", "protocol", "public", "repeat", "return", "self", "some", "static", "struct", "subscript", "super", "switch", "throw", "throws", "try", "typealias", "var", "weak", "where", "while"],
        constants: &["false", "nil", "true"],
        quotes: &[TRIPLE_DOUBLE, DOUBLE], attributes: Some("@"), nested_comments: true, characters: false, ..C_LIKE },
    Language {
        names: &["csharp", "c#", "cs", "fsharp", "f#", "fs"],
        keywords: &["abstract", "and", "as", "async", "await", "base", "break", "case", "catch", "checked", "class", "const", "continue", "default", "delegate", "do", "else", "enum", "event", "explicit", "extern", "finally", "fixed", "for", "foreach", "get", "goto", "if", "implicit", "in", "init", "interface", "internal", "is", "let", "lock", "match", "module", "namespace", "new", "not", "of", "open", "operator", "or", "out", "override", "params", "partial", "private", "protected", "public", "readonly", "record", "ref", "required", "return", "sealed", "select", "set", "sizeof", "stackalloc", "static", "struct", "switch", "then", "this", "throw", "try", "typeof", "unchecked", "unsafe", "using", "value", "var", "virtual", "volatile", "when", "where", "while", "with", "yield"],
        types: &["bool", "byte", "char", "decimal", "double", "dynamic", "float", "int", "long", "nint", "object", "sbyte", "short", "string", "uint", "ulong", "ushort", "void"],
        constants: &["false", "null", "true"],
        quotes: &[TRIPLE_DOUBLE, Quote::raw("@\"", "\""), DOUBLE], ..C_LIKE },
    Language {
        names: &["ruby", "rb", "crystal", "cr", "rake", "gemfile"],
        keywords: &["BEGIN", "END", "alias", "and", "attr_accessor", "attr_reader", "attr_writer", "begin", "break", "case", "class", "def", "defined?", "do", "else", "elsif", "end", "ensure", "extend", "for", "if", "in", "include", "module", "next", "not", "or", "private", "protected", "public", "raise", "redo", "require", "require_relative", "rescue", "retry", "return", "self", "super", "then", "undef", "unless", "until", "when", "while", "yield"],
        constants: &["false", "nil", "true"],
        block_comments: &[("=begin", "=end")], ..HASHED },
    Language {
        names: &["php"],
        keywords: &["abstract", "and", "array", "as", "break", "case", "catch", "class", "clone", "const", "continue", "declare", "default", "do", "echo", "else", "elseif", "enum", "extends", "final", "finally", "fn", "for", "foreach", "function", "global", "goto", "if", "implements", "include", "instanceof", "interface", "isset", "match", "namespace", "new", "or", "print", "private", "protected", "public", "readonly", "require", "require_once", "return", "static", "switch", "throw", "trait", "try", "unset", "use", "var", "while", "yield"],
        types: &["bool", "float", "int", "iterable", "mixed", "object", "string", "void"],
        constants: &["FALSE", "NULL", "TRUE", "false", "null", "parent", "self", "true"],
        line_comments: &["//", "#"], quotes: &[DOUBLE, SINGLE], characters: false, variables: true, ..C_LIKE },
    Language {
        names: &["bash", "sh", "shell", "zsh", "fish", "ksh", "dash", "console", "shell-session", "shellsession", "terminal"],
        keywords: &["alias", "begin", "break", "case", "cd", "continue", "declare", "do", "done", "echo", "elif", "else", "end", "esac", "eval", "exec", "exit", "export", "fi", "for", "function", "if", "in", "local", "read", "readonly", "return", "select", "set", "shift", "source", "sudo", "switch", "test", "then", "trap", "unset", "until", "while"],
        constants: &["false", "true"],
        quotes: &[Quote::block("\"", "\""), Quote::raw("'", "'")], variables: true, spaced_comments: true, functions: false, capital_types: false, commands: true, ..HASHED },
    Language {
        names: &["sql", "postgresql", "postgres", "mysql", "sqlite", "plsql", "tsql", "psql"],
        keywords: &["add", "all", "alter", "analyze", "and", "any", "as", "asc", "begin", "between", "by", "cascade", "case", "check", "column", "commit", "constraint", "create", "cross", "database", "declare", "default", "delete", "desc", "distinct", "drop", "else", "end", "except", "exists", "explain", "foreign", "from", "full", "function", "grant", "group", "having", "if", "in", "index", "inner", "insert", "intersect", "into", "is", "join", "key", "left", "like", "limit", "not", "offset", "on", "or", "order", "outer", "over", "partition", "primary", "procedure", "references", "replace", "returning", "returns", "revoke", "right", "rollback", "select", "set", "table", "then", "to", "transaction", "trigger", "truncate", "union", "unique", "update", "using", "values", "view", "when", "where", "with"],
        types: &["bigint", "blob", "bool", "boolean", "char", "date", "decimal", "double", "float", "int", "integer", "interval", "json", "jsonb", "numeric", "real", "serial", "smallint", "text", "time", "timestamp", "timestamptz", "uuid", "varchar"],
        constants: &["false", "null", "true"],
        line_comments: DASHES, quotes: &[SINGLE, DOUBLE], characters: false, capital_types: false, any_case: true, ..C_LIKE },
    Language { names: &["html", "xml", "svg", "xhtml", "vue", "svelte", "plist", "xaml", "rss", "htm", "jinja", "jinja2", "handlebars"], flavour: Flavour::Markup, ..Language::EMPTY },
    Language {
        names: &["css", "scss", "sass", "less"],
        constants: &["auto", "inherit", "initial", "none", "unset"],
        quotes: &[DOUBLE, SINGLE], characters: false, capital_types: false, flavour: Flavour::Style, attributes: Some("@"), ..C_LIKE },
    Language {
        names: &["json", "jsonc", "json5", "jsonl", "ndjson", "geojson"],
        constants: &["false", "null", "true"], quotes: &[DOUBLE], characters: false, capital_types: false, flavour: Flavour::Keys(':'), ..C_LIKE },
    Language {
        names: &["yaml", "yml"],
        constants: &["false", "no", "null", "off", "on", "true", "yes"], capital_types: false, spaced_comments: true, functions: false, flavour: Flavour::Keys(':'), ..HASHED },
    Language {
        names: &["toml", "ini", "conf", "cfg", "properties", "env", "dotenv", "editorconfig", "desktop", "systemd", "gitconfig"],
        constants: &["false", "off", "on", "true"], line_comments: &["#", ";"], capital_types: false, spaced_comments: true, functions: false,
        quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE], flavour: Flavour::Keys('='), ..HASHED },
    Language { names: &["diff", "patch", "udiff"], flavour: Flavour::Diff, ..Language::EMPTY },
    Language {
        names: &["makefile", "make", "mk", "just", "justfile"],
        keywords: &["define", "else", "endef", "endif", "export", "ifdef", "ifeq", "ifndef", "ifneq", "include", "override", "private", "unexport", "vpath"],
        variables: true, spaced_comments: true, functions: false, capital_types: false, ..HASHED },
    Language {
        names: &["dockerfile", "docker", "containerfile"],
        keywords: &["ADD", "ARG", "AS", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER", "ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"],
        variables: true, spaced_comments: true, functions: false, capital_types: false, ..HASHED },
    Language {
        names: &["lua", "luau"],
        keywords: &["and", "break", "do", "else", "elseif", "end", "for", "function", "goto", "if", "in", "local", "not", "or", "repeat", "return", "then", "until", "while"],
        constants: &["false", "nil", "self", "true"],
        line_comments: DASHES, block_comments: &[("--[[", "]]")], quotes: &[Quote::raw("[[", "]]"), DOUBLE, SINGLE], ..Language::EMPTY },
    Language {
        names: &["haskell", "hs", "elm", "purescript", "idris"],
        keywords: &["case", "class", "data", "deriving", "do", "else", "forall", "foreign", "hiding", "if", "import", "in", "infix", "infixl", "infixr", "instance", "let", "module", "newtype", "of", "qualified", "then", "type", "where"],
        constants: &["False", "True"], line_comments: DASHES, block_comments: &[("{-", "-}")], nested_comments: true, functions: false, ..C_LIKE },
    Language {
        names: &["ocaml", "ml", "reason", "sml"],
        keywords: &["and", "as", "assert", "begin", "class", "do", "done", "downto", "else", "end", "exception", "external", "for", "fun", "function", "functor", "if", "in", "include", "inherit", "let", "match", "method", "module", "mutable", "new", "object", "of", "open", "rec", "sig", "struct", "then", "to", "try", "type", "val", "when", "while", "with"],
        constants: &["false", "true"], line_comments: &[], block_comments: &[("(*", "*)")], nested_comments: true, functions: false, ..C_LIKE },
    Language {
        names: &["elixir", "ex", "exs", "erlang", "erl"],
        keywords: &["after", "alias", "and", "case", "catch", "cond", "def", "defguard", "defimpl", "defmacro", "defmodule", "defp", "defprotocol", "defstruct", "do", "else", "end", "fn", "for", "if", "import", "in", "not", "or", "quote", "raise", "receive", "require", "rescue", "try", "unless", "unquote", "use", "when", "with"],
        constants: &["false", "nil", "true"], quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE], attributes: Some("@"), ..HASHED },
    Language {
        names: &["scala", "sc"],
        keywords: &["abstract", "case", "catch", "class", "def", "derives", "do", "else", "enum", "export", "extends", "extension", "final", "finally", "for", "given", "if", "implicit", "import", "inline", "lazy", "match", "new", "object", "opaque", "open", "override", "package", "private", "protected", "return", "sealed", "super", "then", "this", "throw", "trait", "try", "type", "using", "val", "var", "while", "with", "yield"],
        constants: &["false", "null", "true"], quotes: &[TRIPLE_DOUBLE, DOUBLE], attributes: Some("@"), nested_comments: true, ..C_LIKE },
    Language {
        names: &["perl", "pl", "pm", "raku"],
        keywords: &["and", "bless", "die", "do", "else", "elsif", "eval", "for", "foreach", "given", "if", "last", "local", "my", "next", "no", "not", "or", "our", "package", "print", "redo", "require", "return", "say", "sub", "unless", "until", "use", "when", "while"],
        variables: true, ..HASHED },
    Language {
        names: &["r", "rscript", "julia", "jl"],
        keywords: &["abstract", "baremodule", "begin", "break", "catch", "const", "continue", "do", "else", "elseif", "end", "export", "finally", "for", "function", "global", "if", "import", "in", "let", "library", "local", "macro", "module", "mutable", "next", "primitive", "quote", "repeat", "return", "struct", "try", "using", "where", "while"],
        constants: &["FALSE", "Inf", "NA", "NULL", "NaN", "TRUE", "false", "missing", "nothing", "true"],
        quotes: &[TRIPLE_DOUBLE, DOUBLE, SINGLE], block_comments: &[("#=", "=#")], ..HASHED },
    Language {
        names: &["zig"],
        keywords: &["align", "and", "async", "await", "break", "catch", "comptime", "const", "continue", "defer", "else", "enum", "errdefer", "error", "export", "extern", "fn", "for", "if", "inline", "or", "orelse", "packed", "pub", "return", "struct", "suspend", "switch", "test", "threadlocal", "try", "union", "unreachable", "usingnamespace", "var", "volatile", "while"],
        types: &["anyerror", "anytype", "bool", "comptime_int", "f32", "f64", "i16", "i32", "i64", "i8", "isize", "noreturn", "type", "u16", "u32", "u64", "u8", "usize", "void"],
        constants: &["false", "null", "true", "undefined"], block_comments: &[], ..C_LIKE },
    Language {
        names: &["nix"],
        keywords: &["assert", "else", "if", "import", "in", "inherit", "let", "or", "rec", "then", "with"],
        constants: &["false", "null", "true"], block_comments: C_BLOCK, quotes: &[Quote::raw("''", "''"), DOUBLE], functions: false, ..HASHED },
    Language {
        names: &["powershell", "ps1", "pwsh", "batch", "bat", "cmd"],
        keywords: &["begin", "break", "catch", "class", "continue", "do", "else", "elseif", "end", "exit", "filter", "finally", "for", "foreach", "function", "if", "in", "param", "process", "return", "switch", "throw", "trap", "try", "until", "using", "while"],
        block_comments: &[("<#", "#>")], variables: true, any_case: true, ..HASHED },
    Language {
        names: &["dart"],
        keywords: &["abstract", "as", "assert", "async", "await", "break", "case", "catch", "class", "const", "continue", "default", "do", "else", "enum", "export", "extends", "extension", "external", "factory", "final", "finally", "for", "get", "if", "implements", "import", "in", "is", "late", "library", "mixin", "new", "on", "operator", "part", "required", "rethrow", "return", "sealed", "set", "static", "super", "switch", "this", "throw", "try", "typedef", "var", "when", "while", "with", "yield"],
        types: &["bool", "double", "dynamic", "int", "num", "void"],
        constants: &["false", "null", "true"], quotes: &[TRIPLE_DOUBLE, TRIPLE_SINGLE, DOUBLE, SINGLE], characters: false, attributes: Some("@"), ..C_LIKE },
    Language {
        names: &["terraform", "hcl", "tf", "bicep", "nginx"],
        keywords: &["data", "events", "for", "for_each", "http", "if", "in", "locals", "location", "module", "output", "param", "provider", "resource", "server", "terraform", "upstream", "var", "variable"],
        constants: &["false", "null", "off", "on", "true"], block_comments: C_BLOCK, line_comments: &["#", "//"], capital_types: false, functions: true, ..HASHED },
    Language {
        names: &["graphql", "gql", "protobuf", "proto", "thrift", "prisma", "solidity", "sol"],
        keywords: &["contract", "directive", "emit", "enum", "event", "extend", "fragment", "function", "implements", "import", "input", "interface", "mapping", "message", "model", "modifier", "mutation", "on", "oneof", "option", "optional", "package", "pragma", "private", "public", "query", "repeated", "require", "returns", "rpc", "scalar", "schema", "service", "struct", "subscription", "syntax", "type", "union", "view"],
        types: &["address", "bool", "bytes", "double", "fixed32", "fixed64", "float", "int32", "int64", "sint32", "sint64", "string", "uint", "uint256", "uint32", "uint64"],
        constants: &["false", "null", "true"], line_comments: &["//", "#"], characters: false, attributes: Some("@"), ..C_LIKE },
    Language {
        names: &["clojure", "clj", "cljs", "edn", "lisp", "elisp", "emacs-lisp", "common-lisp", "scheme", "racket", "scm"],
        keywords: &["begin", "case", "cond", "def", "define", "defmacro", "defn", "defun", "defvar", "do", "else", "fn", "for", "if", "import", "in-ns", "lambda", "let", "loop", "ns", "progn", "quote", "recur", "require", "setq", "unless", "use", "when"],
        constants: &["false", "nil", "t", "true"], line_comments: SEMICOLON, quotes: &[Quote::block("\"", "\"")], dashed_names: true, functions: false, ..Language::EMPTY },
    Language {
        names: &["asm", "assembly", "nasm", "x86asm", "s", "llvm", "wasm", "wat"],
        keywords: &["add", "and", "call", "cmp", "dec", "div", "inc", "jmp", "jne", "jz", "lea", "mov", "mul", "nop", "or", "pop", "push", "ret", "sub", "syscall", "test", "xor"],
        line_comments: &[";", "#"], quotes: &[DOUBLE], functions: false, any_case: true, ..Language::EMPTY },
    Language {
        names: &["vim", "viml", "vimscript"],
        keywords: &["autocmd", "call", "command", "echo", "else", "endfunction", "endif", "execute", "function", "if", "let", "map", "nmap", "nnoremap", "return", "set", "syntax"],
        quotes: &[SINGLE], ..Language::EMPTY },
];
