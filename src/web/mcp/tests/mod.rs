//! Tools as holders of tokens call them, without sockets.

mod calls;
mod protocol;
mod rights;

use std::{path::Path, sync::Arc};

use rmcp::{
    ErrorData,
    model::{CallToolRequestParams, CallToolResult},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{McpServer, incoming::CallProgress, resources::stand_in, table};
use crate::{
    campaign::Holder,
    domain::{AccessRole, CampaignKey, Owner, Scope},
    memory::Visibility,
    tools::Schema,
    web::{McpOptions, WebOptions, WebParts},
};

const GUILD: Owner = Owner::Guild(7);
const OTHER: Owner = Owner::Guild(8);

fn scope(owner: Owner) -> Scope {
    Scope { owner, campaign: CampaignKey("default".to_owned()) }
}

fn parts(folder: &Path, mcp: McpOptions) -> Arc<WebParts> {
    let handles = stand_in::handles(folder);
    let options = WebOptions { mcp, ..WebOptions::default() };
    Arc::new(WebParts { options, handles, is_heard: true, rehearsal: None })
}

fn holder(owner: Owner, role: AccessRole) -> Arc<Holder> {
    Arc::new(Holder { id: "t1".to_owned(), owner, role, tools: None })
}

/// Text and structured content of a call.
struct Told {
    failed: bool,
    text: String,
    value: Value,
}

impl From<CallToolResult> for Told {
    fn from(result: CallToolResult) -> Self {
        let text = result.content.first().and_then(|it| it.as_text());
        Self {
            failed: result.is_error == Some(true),
            text: text.map(|it| it.text.clone()).unwrap_or_default(),
            value: result.structured_content.unwrap_or_default(),
        }
    }
}

async fn called(
    parts: &Arc<WebParts>,
    holder: &Arc<Holder>,
    name: &str,
    arguments: Value,
) -> Result<Told, ErrorData> {
    let Value::Object(arguments) = arguments else { panic!("{arguments}") };
    let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    let server = McpServer::new(Arc::clone(parts), CancellationToken::new());
    server.call(holder, request, CallProgress::default()).await.map(Told::from)
}

/// The result of a call that succeeds; it fits the tool's output schema.
async fn done(parts: &Arc<WebParts>, holder: &Arc<Holder>, name: &str, arguments: Value) -> Value {
    let told = called(parts, holder, name, arguments).await.unwrap();
    assert!(!told.failed, "{name}: {}", told.text);
    let schema = Schema::new(&(table::find(name).unwrap().output)()).unwrap();
    schema.check(told.value).await.unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// A guild's session and world with a secret each, and another guild's.
async fn world(parts: &WebParts) {
    let handles = &parts.handles;
    for (owner, word) in [(GUILD, "gate"), (OTHER, "harbour")] {
        let (scope, session) = (scope(owner), format!("evening-{word}"));
        stand_in::session(handles, &scope, &session, Some(9_000)).await;
        let open = format!("The {word} is open.");
        stand_in::line(handles, &scope, &session, &open, Visibility::Everyone).await;
        let secret = format!("The {word} is a trap.");
        stand_in::line(handles, &scope, &session, &secret, Visibility::Dm).await;
        stand_in::entity(handles, &scope, word, Visibility::Everyone).await;
        stand_in::entity(handles, &scope, &format!("trap-{word}"), Visibility::Dm).await;
    }
}

fn no_arguments() -> Value {
    json!({})
}
