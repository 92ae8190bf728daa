//! Pages as the web has them.

use proptest::prelude::*;

use super::*;

fn page(html: &str) -> String {
    let base = "https://example.org/docs/a.html".parse().unwrap();
    markdown(html, Some(&base)).markdown
}

#[test]
fn prose_headings_links_and_marks() {
    let html = "<html><head><title>A \n page</title><style>x</style></head><body><h1>Top</h1><p>One <b>bold</b>, \
                <em>soft</em> and <code>code</code>;<br>a <a href='../b?x=1&amp;y'>link</a>.</p>\n<p>Two&nbsp;&mdash; \
                <a href='#x'>here</a> <a href=javascript:x>js</a></p><script>evil()</script></body></html>";
    let read = markdown(html, Some(&"https://example.org/docs/a.html".parse().unwrap()));
    assert_eq!(read.title, "A page");
    assert_eq!(
        read.markdown,
        "# Top\n\nOne **bold**, *soft* and `code`;\na [link](https://example.org/b?x=1&y).\n\nTwo — here js"
    );
}

#[test]
fn lists_quotes_and_code() {
    assert_eq!(
        page("<ul><li>one<li><p>two</p><ol start=3><li>a</li><li>b</li></ol></li></ul><p>end"),
        "- one\n- two\n\n  3. a\n  4. b\n\nend"
    );
    assert_eq!(
        page("<p>x<pre class='language-rust'><code>fn a() {\n    b()\n}\n</code></pre>y"),
        "x\n\n```rust\nfn a() {\n    b()\n}\n```\n\ny"
    );
    assert_eq!(page("<blockquote><p>one</p><p>two</p></blockquote>three"), "> one\n>\n> two\n\nthree");
}

#[test]
fn tables_are_rows_and_layout_tables_are_text() {
    assert_eq!(
        page("<table><tr><th>a<th>b</tr><tr><td><p>1</p><td>x|y</tr></table>end"),
        "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n\nend"
    );
    assert_eq!(page("<table><tr><td>only</td></tr><tr><td>text</td></tr></table>"), "only\ntext");
}

#[test]
fn the_main_part_stands_for_the_page_if_it_is_long_enough() {
    let long = "word ".repeat(100);
    assert_eq!(page(&format!("<nav>menu</nav><main><p>{long}</main><footer>foot</footer>")), long.trim());
    assert_eq!(page("<nav>menu</nav><main>short</main>"), "menu\n\nshort");
}

#[test]
fn a_deep_or_hostile_page_is_read_in_time() {
    for html in
        ["<div>".repeat(200_000), "<ul><li>".repeat(50_000), "<a href=x>".repeat(50_000), "<b".repeat(100_000)]
    {
        let _ = page(&html);
    }
    assert!(page(&("<ul><li>".repeat(30) + "x")).len() < 100);
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(html in "((<|</|<!--|-->|&|>)?(a|b|ul|ol|li|pre|table|tr|td|code|main|é|title|svg|q=\"'| |\n|#1;){0,3}>?){0,30}") {
        let _ = page(&html);
    }
}
