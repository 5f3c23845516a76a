//! `system.health`.

use futures::FutureExt;
use serde_json::{Value, json};

use crate::{
    campaign::ServiceInfo,
    tools::connection::State,
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{boolean, integer, maybe_string, object, result, string, strings},
        served::{Annotations, Rights, ServedTool},
    },
};

pub static HEALTH: ServedTool = ServedTool {
    name: "system.health",
    title: "Health of the program",
    description: "The program's version, its store, the tool servers, and how many tables run.",
    rights: Rights::Dm,
    annotations: Annotations::LOOKS,
    input: || object(&json!({}), &[]),
    output: || {
        let store = json!({ "engine": string(), "ok": boolean(), "why": maybe_string() });
        let server = json!({
            "name": string(), "state": string(), "ready": boolean(), "why": maybe_string(),
            "tools": integer(),
        });
        let services = json!({ "hears": string(), "thinks": strings() });
        let members = json!({
            "version": string(),
            "ok": boolean(),
            "store": result(&store, &["engine", "ok", "why"]),
            "servers": {
                "type": "array",
                "items": result(&server, &["name", "state", "ready", "why", "tools"]),
            },
            "services": result(&services, &["hears", "thinks"]),
            "tables": integer(),
        });
        result(&members, &["version", "ok", "store", "servers", "services", "tables"])
    },
    run: |call| health(call).boxed(),
};

async fn health(call: Incoming) -> Result<ToolAnswer, ToolError> {
    let handles = call.handles();
    // Where the store is and how large it is concerns the operator alone.
    let (store, is_stored) = match call.store().health().await {
        Ok(health) => (json!({ "engine": health.engine, "ok": true, "why": null }), true),
        Err(error) => {
            tracing::warn!(%error, "the store fails a program outside");
            let why = "it cannot be read (the log of glyphoxa says why)";
            (json!({ "engine": "", "ok": false, "why": why }), false)
        }
    };
    let servers = handles.servers.status(call.owner());
    let has_failed = servers.iter().any(|server| server.state.reason().is_some());
    let servers = servers.iter().map(|server| {
        json!({
            "name": server.name,
            "state": server.state.name(),
            "ready": matches!(server.state, State::Ready),
            "why": server.state.reason(),
            "tools": server.tools.len(),
        })
    });
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ok": is_stored && !has_failed,
        "store": store,
        "servers": servers.collect::<Vec<Value>>(),
        "services": services(&call),
        "tables": handles.sessions.tables(call.owner()).len(),
    })
    .into())
}

/// Names of the configured services, by what they do.
fn services(call: &Incoming) -> Value {
    let settings = call.handles().settings.load();
    let services = &settings.services;
    let names =
        |all: &[ServiceInfo]| all.iter().map(|it| it.name().to_owned()).collect::<Vec<String>>();
    json!({ "hears": services.hears.name(), "thinks": names(&services.thinks) })
}
