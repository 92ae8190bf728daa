//! Links without markup: `<https://…>`, and bare `https://…`, `www.…` and mail addresses (GFM's extension).

use std::sync::Arc;

use crate::terminal::markdown::rows::is_ideographic;

/// A bare link found in a text, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bare {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) target: Arc<str>,
}

/// Reads `<scheme:…>` or `<mail@address>`; returns its length with brackets, and the target.
pub(super) fn angled(text: &str) -> Option<(usize, Arc<str>)> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find(['>', '<', ' ', '\n', '\t'])?;
    let inner = inner.get(..end).filter(|_| text.as_bytes().get(end + 1) == Some(&b'>'))?;
    let scheme = inner.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(byte)).count();
    let starts_well = inner.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if starts_well && (2..=32).contains(&scheme) && inner.as_bytes().get(scheme) == Some(&b':') {
        return Some((end + 2, Arc::from(inner)));
    }
    is_mail_address(inner).then(|| (end + 2, Arc::from(format!("mailto:{inner}"))))
}

fn is_mail_address(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let local_good = !local.is_empty()
        && local.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte));
    let label_good = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    local_good && domain.split('.').all(label_good)
}

/// Finds `http://…` and its like around the colon at `colon`, not before `from`.
pub(super) fn scheme(text: &str, from: usize, colon: usize) -> Option<Bare> {
    if !text[colon..].starts_with("://") {
        return None;
    }
    let before = &text[from..colon];
    let name = ["https", "http", "ftp"].into_iter().find(|name| {
        before.len() >= name.len()
            && before.is_char_boundary(before.len() - name.len())
            && before[before.len() - name.len()..].eq_ignore_ascii_case(name)
    })?;
    let start = colon - name.len();
    if text[from..start].chars().next_back().is_some_and(|before| before.is_ascii_alphanumeric()) {
        return None;
    }
    let end = link_end(text, colon + 3);
    let host_end = text[colon + 3..end].find(['/', '?', '#']).map_or(end, |length| colon + 3 + length);
    let host = &text[colon + 3..host_end];
    let good = host.chars().next().is_some_and(|first| first.is_alphanumeric() || first == '[');
    good.then(|| Bare { start, end, target: Arc::from(&text[start..end]) })
}

/// Finds `www.…` at `start`.
pub(super) fn www(text: &str, start: usize, before: char) -> Option<Bare> {
    let boundary = before.is_whitespace() || "*_~(\"'[".contains(before) || is_ideographic(before);
    if !boundary || !text[start..].starts_with("www.") {
        return None;
    }
    let end = link_end(text, start + 4);
    let domain = text[start..end].split(['/', '?', '#']).next().unwrap_or_default();
    let good = end > start + 4 && domain.len() > 4 && has_good_domain(domain);
    good.then(|| Bare { start, end, target: Arc::from(format!("http://{}", &text[start..end])) })
}

fn has_good_domain(domain: &str) -> bool {
    let mut last_two = domain.rsplit('.').take(2);
    domain.contains('.') && last_two.all(|label| !label.contains('_'))
}

/// Finds a mail address around the `@` at `at`, not before `from`.
pub(super) fn email(text: &str, from: usize, at: usize) -> Option<Bare> {
    let local = text[from..at]
        .bytes()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b".-_+".contains(byte))
        .count();
    let mut domain =
        text[at + 1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(byte)).count();
    while domain > 0 && text.as_bytes()[at + domain] == b'.' {
        domain -= 1;
    }
    let host = &text[at + 1..at + 1 + domain];
    if local == 0 || !host.contains('.') || host.ends_with(['-', '_']) || host.contains("..") {
        return None;
    }
    let (start, end) = (at - local, at + 1 + domain);
    Some(Bare { start, end, target: Arc::from(format!("mailto:{}", &text[start..end])) })
}

/// Returns where a bare link ends: at white space, `<` or a wide letter, without punctuation that closes the sentence.
fn link_end(text: &str, start: usize) -> usize {
    let stops = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || "<>`\"".contains(character)
            || is_ideographic(character)
    };
    let mut end = text[start..].find(stops).map_or(text.len(), |length| start + length);
    // A bracket that was opened before the link closes after it.
    let mut open = 0_usize;
    for (offset, byte) in text[start..end].bytes().enumerate() {
        match byte {
            b'[' => open += 1,
            b']' if open == 0 => {
                end = start + offset;
                break;
            }
            b']' => open -= 1,
            _ => {}
        }
    }
    loop {
        let link = &text[start..end];
        let Some(last) = link.chars().next_back() else { return end };
        let shorter = match last {
            '?' | '!' | '.' | ',' | ':' | '*' | '_' | '~' | '\'' | '|' | '’' | '”' => end - last.len_utf8(),
            ')' if link.matches(')').count() > link.matches('(').count() => end - 1,
            ']' if link.matches(']').count() > link.matches('[').count() => end - 1,
            ';' => match link[..link.len() - 1].rfind('&') {
                Some(start_of_entity)
                    if link[start_of_entity + 1..link.len() - 1]
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric()) =>
                {
                    start + start_of_entity
                }
                Some(_) | None => end - 1,
            },
            _ => return end,
        };
        end = shorter;
    }
}
