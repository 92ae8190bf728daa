//! Where the browser comes back to: a port of this machine, for one sign-in (RFC 8252, 7.3).

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The longest head of a request, in bytes.
const MOST: usize = 16 * 1024;
/// How long a browser may take for one.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many browsers may knock at once.
const CROWD: usize = 32;

const PATH: &str = "/callback";

/// What the browser is shown.
#[derive(Debug, Clone)]
pub struct Pages {
    /// After the sign-in.
    pub done: String,
    /// For whatever else comes to the port.
    pub strange: String,
}

/// What the browser brings back.
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(super) struct Redirect {
    /// What a token is given for, or what went wrong.
    pub(super) code: Result<String, String>,
    /// Who says so.
    pub(super) issuer: Option<String>,
}

/// The port.
pub(super) struct Landing {
    listener: TcpListener,
    /// The address that the browser is sent to.
    pub(super) uri: String,
}

impl Landing {
    pub(super) async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let uri = format!("http://127.0.0.1:{}{PATH}", listener.local_addr()?.port());
        Ok(Self { listener, uri })
    }

    /// Waits until the browser brings what belongs to `state`; whatever else comes is told so and waited past.
    ///
    /// # Cancel safety
    /// Dropped, the port is closed.
    pub(super) async fn wait(&self, state: &str, pages: &Pages) -> Redirect {
        // Browsers open connections that they do not use yet: one must not hold up the next.
        let mut open = JoinSet::new();
        let (found, mut redirects) = mpsc::channel(1);
        loop {
            tokio::select! {
                Some(redirect) = redirects.recv() => {
                    // Pages that are being sent are sent to their end.
                    while let Ok(Some(_)) = tokio::time::timeout(Duration::from_millis(200), open.join_next()).await {}
                    return redirect;
                }
                accepted = self.listener.accept(), if open.len() < CROWD => {
                    let Ok((stream, _)) = accepted else { continue };
                    let (state, pages, found) = (state.to_owned(), pages.clone(), found.clone());
                    // Ends by its limit, or is aborted with the set.
                    open.spawn(async move {
                        let _ = tokio::time::timeout(PATIENCE, serve(stream, &state, &pages, &found)).await;
                    });
                }
                Some(_) = open.join_next() => {}
            }
        }
    }
}

async fn serve(
    mut stream: TcpStream,
    state: &str,
    pages: &Pages,
    found: &mpsc::Sender<Redirect>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MOST {
        if stream.read_buf(&mut head).await? == 0 {
            break;
        }
    }
    let head = String::from_utf8_lossy(&head);
    let target = head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
    let redirect = target.and_then(|target| read(target, state));
    let (status, words) = match &redirect {
        Some(_) => ("200 OK", &pages.done),
        None => ("404 Not Found", &pages.strange),
    };
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>axi</title><p>{words}</p>\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    if let Some(redirect) = redirect {
        // The first one holds.
        let _ = found.try_send(redirect);
    }
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}

/// Reads what the browser brings, from the target of its request or the whole address; nothing where it does not belong to
/// `state`.
pub(super) fn read(target: &str, state: &str) -> Option<Redirect> {
    let url = Url::parse("http://127.0.0.1/").ok()?.join(target.trim()).ok()?;
    if url.path() != PATH {
        return None;
    }
    let mut fields: HashMap<String, String> = HashMap::new();
    for (name, value) in url.query_pairs() {
        // Of two it is not known which one holds (RFC 6749, 3.1).
        if fields.insert(name.into_owned(), value.into_owned()).is_some() {
            return None;
        }
    }
    if fields.get("state").is_none_or(|said| said != state) {
        return None;
    }
    let code = match (fields.remove("code"), fields.remove("error")) {
        (_, Some(error)) => Err(error),
        (Some(code), None) if !code.is_empty() => Ok(code),
        _ => return None,
    };
    Some(Redirect { code, issuer: fields.remove("iss") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages() -> Pages {
        Pages { done: "Done.".to_owned(), strange: "Not this.".to_owned() }
    }

    #[test]
    fn only_what_belongs_to_the_sign_in_is_taken() {
        let ok = |issuer: Option<&str>| Redirect { code: Ok("c d".into()), issuer: issuer.map(str::to_owned) };
        assert_eq!(read("/callback?code=c+d&state=s", "s"), Some(ok(None)));
        let whole = "http://127.0.0.1:4711/callback?state=s&iss=https%3A%2F%2Fa&code=c%20d\n";
        assert_eq!(read(whole, "s"), Some(ok(Some("https://a"))));
        let denied = Redirect { code: Err("access_denied".into()), issuer: None };
        assert_eq!(read("/callback?error=access_denied&code=x&state=s", "s"), Some(denied));
        for target in [
            "/callback?code=c&state=t",
            "/callback?code=c",
            "/callback?code=c&state=s&state=s",
            "/callback?code=c&code=d&state=s",
            "/callback?state=s",
            "/callback?code=&state=s",
            "/other?code=c&state=s",
            "/favicon.ico",
            "",
        ] {
            assert_eq!(read(target, "s"), None, "{target}");
        }
    }

    #[tokio::test]
    async fn a_browser_that_says_nothing_and_one_with_another_state_hold_nobody_up() {
        let landing = Landing::bind().await.unwrap();
        let host = landing.uri.trim_start_matches("http://").trim_end_matches(PATH).to_owned();
        let silent = TcpStream::connect(&host).await.unwrap();
        let visit = async |target: &str| {
            let mut stream = TcpStream::connect(&host).await.unwrap();
            stream.write_all(format!("GET {target} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
            let mut page = String::new();
            stream.read_to_string(&mut page).await.unwrap();
            page
        };
        let visits = async {
            let strange = visit("/callback?code=evil&state=other").await;
            assert!(strange.starts_with("HTTP/1.1 404") && strange.contains("Not this."), "{strange}");
            let done = visit("/callback?code=good&state=mine").await;
            assert!(done.starts_with("HTTP/1.1 200") && done.contains("Done."), "{done}");
        };
        let pages = pages();
        let (redirect, ()) = tokio::join!(landing.wait("mine", &pages), visits);
        assert_eq!(redirect.code, Ok("good".to_owned()));
        drop(silent);
    }
}
