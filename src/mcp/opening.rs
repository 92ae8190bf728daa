//! The first words with a server: which era it is of, and what tools it has.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::connection::{Connection, Offers, capabilities};
use super::failure::Failure;
use super::manifest::{Era, Manifest, PromptEntry, ResourceEntry, ToolEntry};
use super::plain::plain;
use super::spoken::{SESSION, STATELESS, client};

/// More pages and more of a kind than these are not asked for: a list may go round in circles.
const MOST_PAGES: usize = 50;
const MOST: usize = 1_000;

/// Finds out what a server is, by asking it as one of the era `first`, then as one of the other. On standard input and
/// output `initialize` should come first: nearly all servers want it, and some start with it what they put off else.
pub(super) async fn open(connection: &Connection, first: Era, limit: Duration) -> Result<Manifest, Failure> {
    let other = match first {
        Era::Session => Era::Stateless,
        Era::Stateless => Era::Session,
    };
    match greet(connection, first, limit).await {
        Ok(manifest) => Ok(manifest),
        // It may be of the other era; if it is not, what it said first is what is wrong.
        Err(refused @ (Failure::Refused { .. } | Failure::Status { .. } | Failure::NotMcp)) => {
            greet(connection, other, limit).await.map_err(|_| refused)
        }
        Err(failure) => Err(failure),
    }
}

async fn greet(connection: &Connection, era: Era, limit: Duration) -> Result<Manifest, Failure> {
    let (revision, said) = match era {
        Era::Session => {
            let params = json!({
                "protocolVersion": SESSION, "capabilities": capabilities(), "clientInfo": client()
            });
            let said = connection.request("initialize", fields(params), limit, None).await?;
            let revision = said.get("protocolVersion").and_then(Value::as_str).ok_or(Failure::NotMcp)?;
            let revision = plain(revision);
            // Set once, as below.
            let _ = connection.revision.set(revision.clone());
            connection.notify("notifications/initialized", Value::Null);
            (revision, said)
        }
        Era::Stateless => {
            let params = json!({"_meta": {
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": client(),
                "io.modelcontextprotocol/clientCapabilities": capabilities(),
            }});
            let said = connection.request("server/discover", fields(params), limit, None).await?;
            let speaks = said.get("supportedVersions").and_then(Value::as_array);
            if !speaks.is_some_and(|versions| versions.iter().any(|version| version == STATELESS)) {
                return Err(Failure::NotMcp);
            }
            (STATELESS.to_owned(), said)
        }
    };
    // Set once: a line has one era.
    let _ = connection.era.set(era);
    let named = said.get("serverInfo").or_else(|| said.get("_meta")?.get("io.modelcontextprotocol/serverInfo"));
    let part = |name: &str| named.and_then(|info| info.get(name)).and_then(Value::as_str).unwrap_or_default();
    let title = format!("{} {}", plain(part("name")), plain(part("version"))).trim().to_owned();
    let has = |kind: &str| said.get("capabilities").is_some_and(|has| has.get(kind).is_some());
    let offers = Offers { tools: has("tools"), prompts: has("prompts"), resources: has("resources") };
    let lists = lists(connection, offers, limit).await?;
    // Set once, as above.
    let _ = connection.offers.set(offers);
    Ok(Manifest { era, revision, title, tools: lists.tools, prompts: lists.prompts, resources: lists.resources })
}

/// What a server has to offer.
pub(super) struct Lists {
    pub(super) tools: Vec<ToolEntry>,
    pub(super) prompts: Vec<PromptEntry>,
    pub(super) resources: Vec<ResourceEntry>,
}

/// Asks for all that a server offers. What is nothing of its kind is left out.
pub(super) async fn lists(connection: &Connection, offers: Offers, limit: Duration) -> Result<Lists, Failure> {
    let (mut tools, mut prompts, mut resources) = (Vec::new(), Vec::new(), Vec::new());
    if offers.tools {
        each(connection, "tools", limit, |entry| take(&mut tools, ToolEntry::read(entry), |tool| &tool.name))
            .await?;
    }
    // Menus show them: a server that fails here can be used all the same.
    let menus = async {
        if offers.prompts {
            let read = |entry: &Value| take(&mut prompts, PromptEntry::read(entry), |prompt| &prompt.name);
            each(connection, "prompts", limit, read).await?;
        }
        if offers.resources {
            let read = |entry: &Value| take(&mut resources, ResourceEntry::read(entry), |resource| &resource.uri);
            each(connection, "resources", limit, read).await?;
        }
        Ok::<(), Failure>(())
    };
    if let Err(failure) = menus.await {
        tracing::debug!(%failure, "a server does not list what it says to have");
    }
    Ok(Lists { tools, prompts, resources })
}

/// Takes an entry whose name is new; tells whether there is room for more.
fn take<T>(list: &mut Vec<T>, entry: Option<T>, name: impl Fn(&T) -> &String) -> bool {
    list.extend(entry.filter(|entry| list.iter().all(|known| name(known) != name(entry))));
    list.len() < MOST
}

/// Asks for all that a server lists of a kind, page by page, until `take` has enough.
async fn each(
    connection: &Connection,
    kind: &str,
    limit: Duration,
    mut take: impl FnMut(&Value) -> bool,
) -> Result<(), Failure> {
    let mut params = Map::new();
    for _ in 0..MOST_PAGES {
        let page = connection.request(&format!("{kind}/list"), params, limit, None).await?;
        if !page.get(kind).and_then(Value::as_array).into_iter().flatten().all(&mut take) {
            break;
        }
        let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
        let Some(next) = next else { break };
        params = fields(json!({"cursor": next}));
    }
    Ok(())
}

/// The parameters of a request.
pub(super) fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::mpsc;

    use super::*;
    use crate::json_rpc::{Incoming, RpcError};

    const LIMIT: Duration = Duration::from_secs(10);

    /// Answers each request as `server` says.
    async fn serve(
        connection: Arc<Connection>,
        mut sent: mpsc::Receiver<Value>,
        server: impl Fn(&str, &Value) -> Result<Value, i64>,
    ) {
        while let Some(message) = sent.recv().await {
            let Some(id) = message["id"].as_u64() else { continue };
            let refused = |code| RpcError { code, message: "no".into() };
            let result = server(message["method"].as_str().unwrap(), &message["params"]).map_err(refused);
            connection.receive(Incoming::Answer { id, result });
        }
    }

    async fn opened(server: impl Fn(&str, &Value) -> Result<Value, i64>) -> Result<Manifest, Failure> {
        let (connection, sent) = Connection::new();
        tokio::select! {
            manifest = open(&connection, Era::Session, LIMIT) => manifest,
            () = serve(Arc::clone(&connection), sent, server) => unreachable!("the line is open"),
        }
    }

    #[tokio::test]
    async fn a_server_with_sessions_tells_all_its_pages() {
        let manifest = opened(|method, params| match method {
            "initialize" => Ok(json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "files\u{1b}", "version": "2"}
            })),
            "tools/list" if params.get("cursor").is_none() => {
                Ok(json!({"tools": [{"name": "a"}, {"no": 1}, {"name": "a"}], "nextCursor": "2"}))
            }
            // Round in a circle.
            "tools/list" => Ok(json!({"tools": [{"name": "b"}], "nextCursor": "2"})),
            _ => Err(-32601),
        });
        let manifest = manifest.await.unwrap();
        let names: Vec<&str> = manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!((manifest.era, manifest.title.as_str(), names), (Era::Session, "files 2", vec!["a", "b"]));
        assert_eq!(manifest.revision, "2025-06-18");
    }

    #[tokio::test]
    async fn a_server_that_knows_no_initialize_is_asked_without_a_session() {
        let manifest = opened(|method, params| {
            let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
            match method {
                "server/discover" if version == STATELESS => Ok(json!({
                    "resultType": "complete", "supportedVersions": [STATELESS], "capabilities": {"tools": {}}
                })),
                "tools/list" if version == STATELESS => Ok(json!({"tools": [{"name": "a"}]})),
                _ => Err(-32022),
            }
        });
        let manifest = manifest.await.unwrap();
        assert_eq!((manifest.era, manifest.tools.len()), (Era::Stateless, 1));
    }

    #[tokio::test]
    async fn a_server_that_refuses_both_says_why() {
        let refused = Failure::Refused { code: -32000, message: "no".into() };
        assert_eq!(opened(|_, _| Err(-32000)).await, Err(refused));
        assert_eq!(opened(|_, _| Ok(json!({"hello": 1}))).await, Err(Failure::NotMcp));
    }
}
