//! `system.health`.

use std::time::Duration;

use futures::FutureExt;
use serde_json::{Value, json};

use crate::{
    tools::connection::State,
    web::mcp::{
        incoming::{Incoming, ToolAnswer, ToolError},
        schema::{boolean, integer, maybe_string, object, result, string},
        served::{Annotations, Rights, ServedTool},
    },
};

/// Players speak to the program, and it cannot hear them.
const FAILS: &str = "fails";

pub static HEALTH: ServedTool = ServedTool {
    name: "system.health",
    title: "Health of the program",
    description: "The program's version, its store, whether players can be heard, the circuit \
        breakers of chat models, the tool servers, and how many tables run.",
    rights: Rights::Dm,
    annotations: Annotations::LOOKS,
    input: || object(&json!({}), &[]),
    output: || {
        let store = json!({ "engine": string(), "ok": boolean(), "why": maybe_string() });
        let server = json!({
            "name": string(), "state": string(), "ready": boolean(), "why": maybe_string(),
            "tools": integer(),
        });
        let breakers = ["closed", "open", "trial", "refused"];
        let model = json!({
            "name": string(),
            "breaker": { "type": "string", "enum": breakers },
            "seconds": { "type": ["number", "null"], "description": "Rest until its next request" },
        });
        let model = result(&model, &["name", "breaker", "seconds"]);
        let services = json!({
            "hears": string(),
            "hearing": { "type": "string", "enum": ["works", "fails", "unused"] },
            "models": { "type": "array", "items": model },
        });
        let members = json!({
            "version": string(),
            "ok": boolean(),
            "store": result(&store, &["engine", "ok", "why"]),
            "servers": {
                "type": "array",
                "items": result(&server, &["name", "state", "ready", "why", "tools"]),
            },
            "services": result(&services, &["hears", "hearing", "models"]),
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
    let settings = handles.settings.load_full();
    let hears: Vec<&str> = settings.services.hears.iter().map(|it| it.name()).collect();
    let hears = hears.join(", else ");
    let hearing = hearing(call.parts.is_heard, settings.services.cannot_hear().is_none());
    let (models, all_answer) = models(&call);
    Ok(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ok": is_stored && !has_failed && all_answer && hearing != FAILS,
        "store": store,
        "servers": servers.collect::<Vec<Value>>(),
        "services": { "hears": hears, "hearing": hearing, "models": models },
        "tables": handles.sessions.tables(call.owner()).len(),
    })
    .into())
}

/// A word for the state of hearing: a program may run without players, and model files may be missing.
const fn hearing(is_heard: bool, can_hear: bool) -> &'static str {
    match (is_heard, can_hear) {
        (false, _) => "unused",
        (true, true) => "works",
        (true, false) => FAILS,
    }
}

/// The assistant's chat models, in order of preference, and whether all breakers are closed. NPCs
/// with the same models share their breakers.
fn models(call: &Incoming) -> (Vec<Value>, bool) {
    let maker = call.handles().settings.load().assistant.model.clone();
    let Ok(models) = maker.make(0) else { return (Vec::new(), false) };
    let all_answer = models.iter().all(|it| it.rest().is_none());
    let models = models.iter().map(|it| {
        let (breaker, seconds) = breaker(it.rest());
        json!({ "name": &**it.name(), "breaker": breaker, "seconds": seconds })
    });
    (models.collect(), all_answer)
}

/// State of a breaker, and the seconds that it stays open, by its remaining rest.
fn breaker(rest: Option<Duration>) -> (&'static str, Option<f64>) {
    match rest {
        None => ("closed", None),
        Some(rest) if rest.is_zero() => ("trial", None),
        Some(rest) if rest == Duration::MAX => ("refused", None),
        Some(rest) => ("open", Some(rest.as_secs_f64())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hearing_fails_only_where_players_speak() {
        let all = [(false, false), (true, true), (true, false)];
        assert_eq!(all.map(|(is_heard, can)| hearing(is_heard, can)), ["unused", "works", FAILS]);
    }

    #[test]
    fn breakers_are_named_by_their_rest() {
        let name = |rest| breaker(rest).0;
        assert_eq!(name(None), "closed");
        assert_eq!(name(Some(Duration::ZERO)), "trial");
        assert_eq!(name(Some(Duration::MAX)), "refused");
        assert_eq!(breaker(Some(Duration::from_secs(5))), ("open", Some(5.0)));
    }
}
