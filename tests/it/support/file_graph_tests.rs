use super::*;

fn graph(files: &[(&str, &str)]) -> FileGraph {
    FileGraph::read(&files.iter().map(|(file, text)| ((*file).into(), (*text).into())).collect::<Vec<_>>())
}

#[test]
fn a_circle_goes_through_signs_and_modules() {
    let face = "mod a; mod b; pub use a::{A, f as g};";
    let files = [
        ("src/lib.rs", "pub mod room;"),
        ("src/room/mod.rs", face),
        ("src/room/a.rs", "use super::b; pub struct A; pub fn f() { b::h() }"),
        ("src/room/b.rs", "use crate::room::{self, A}; fn h() { room::g() }"),
    ];
    assert_eq!(graph(&files).circles(), [["src/room/a.rs", "src/room/b.rs"]]);
    let arrows = ["src/room/a.rs:1 -> src/room/b.rs", "src/room/b.rs:1 -> src/room/a.rs"];
    assert_eq!(graph(&files).arrows_among(&["src/room/a.rs", "src/room/b.rs"]), arrows);
}

#[test]
fn tests_signs_and_comments_make_no_circle() {
    let files = [
        ("src/room/mod.rs", "mod a; pub use a::A; pub struct Noun;"),
        (
            "src/room/a.rs",
            "use super::Noun; pub(in crate::room::b) fn f() {} // super::b::B\n#[cfg(test)]\nmod tests { use crate::room::b::B; }",
        ),
        ("src/room/b.rs", "use super::a::A; #[cfg(test)] use crate::room::c::C; struct B;"),
        ("src/room/c.rs", "use super::b::B;"),
    ];
    assert_eq!(graph(&files).circles(), [[""; 0]; 0]);
}

#[test]
fn a_sign_that_its_own_file_uses_is_a_use() {
    let files = [
        ("src/room/mod.rs", "mod a; pub use a::TABLE; pub struct Row; fn find() { TABLE.iter() }"),
        ("src/room/a.rs", "use super::Row; pub const TABLE: &[Row] = &[];"),
    ];
    assert_eq!(graph(&files).circles(), [["src/room/a.rs", "src/room/mod.rs"]]);
}

#[test]
fn a_face_that_uses_its_leaves_and_is_used_by_them_is_a_circle() {
    let files = [
        ("src/room/mod.rs", "mod a; use a::f; pub struct Noun;"),
        ("src/room/a.rs", "use super::Noun; pub fn f() -> Noun {}"),
    ];
    assert_eq!(graph(&files).circles(), [["src/room/a.rs", "src/room/mod.rs"]]);
}

#[test]
fn a_path_past_a_face_is_found() {
    let files = [
        ("src/room/mod.rs", "mod sub; mod a;"),
        ("src/room/sub/mod.rs", "pub(crate) mod inner; pub use inner::I;"),
        ("src/room/sub/inner.rs", "pub struct I;"),
        ("src/room/a.rs", "use super::sub::I; fn f() { super::sub::inner::I }"),
    ];
    assert_eq!(graph(&files).past_a_face(), [("src/room/a.rs", 1, "room::sub::inner::I".into())]);
}

#[test]
fn methods_are_counted_over_files() {
    let files = [
        (
            "src/room/mod.rs",
            "pub struct A<T>; impl<T: B> A<T> { fn f() {} fn g() {} } impl D for A<u8> { fn h() {} }",
        ),
        ("src/room/a.rs", "use super::A; impl A<u8> { pub(crate) fn i() {} }"),
    ];
    let both = BTreeSet::from(["src/room/a.rs", "src/room/mod.rs"]);
    assert_eq!(graph(&files).methods(), BTreeMap::from([(("A".into(), "src/room/mod.rs"), (3, both))]));
}
