//! Requests as they reach the route, in both kinds of the protocol.

use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    http::{Method, Request, StatusCode},
};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use super::*;
use crate::web::mcp::routes;

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

fn router(folder: &Path, mcp: McpOptions) -> Router {
    let holder = holder(GUILD, AccessRole::Dm);
    routes(parts(folder, mcp), CancellationToken::new()).layer(Extension(holder))
}

async fn sent(router: &Router, request: Request<Body>) -> (StatusCode, Value) {
    let service = TowerToHyperService::new(router.clone());
    let response = service.call(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

/// A request in the revision `version`.
fn request(version: &str, method: &str, mut params: Value) -> Request<Body> {
    if version == NEW {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let name = params["name"].as_str().unwrap_or_default().to_owned();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut request = Request::builder()
        .method(Method::POST)
        .uri("/mcp")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", version)
        .header("mcp-method", method);
    if !name.is_empty() {
        request = request.header("mcp-name", name);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

/// The result of a request in the revision `version`.
async fn result(router: &Router, version: &str, method: &str, params: Value) -> Value {
    let (status, answer) = sent(router, request(version, method, params)).await;
    assert_eq!(status, StatusCode::OK, "{method}: {answer}");
    assert!(answer["result"].is_object(), "{method}: {answer}");
    answer["result"].clone()
}

#[tokio::test]
async fn both_kinds_of_the_protocol_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let router = router(folder.path(), McpOptions::default());
    let client = json!({ "name": "test", "version": "1" });
    let hello = json!({ "protocolVersion": OLD, "capabilities": {}, "clientInfo": client });
    let hello = result(&router, OLD, "initialize", hello).await;
    assert_eq!(
        (&hello["protocolVersion"], &hello["serverInfo"]["name"]),
        (&json!(OLD), &json!("glyphoxa"))
    );
    assert_eq!(hello["capabilities"]["resources"], json!({ "listChanged": true }));
    let found = result(&router, NEW, "server/discover", json!({})).await;
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(OLD)) && versions.contains(&json!(NEW)), "{found}");
    for version in [OLD, NEW] {
        let listed = result(&router, version, "tools/list", json!({})).await;
        let tools = listed["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 16, "all but voice.listen: {listed}");
        assert!(tools.iter().all(|it| it["outputSchema"]["type"] == "object"), "{listed}");
        if version == NEW {
            assert_eq!(listed["cacheScope"], "private", "each token has its own list");
        }
        let roll = json!({ "name": "dice.roll", "arguments": { "dice": "1d6" } });
        let rolled = result(&router, version, "tools/call", roll).await;
        let text: Value =
            serde_json::from_str(rolled["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, rolled["structuredContent"]);
    }
}

#[tokio::test]
async fn names_may_have_underscores() {
    let folder = tempfile::tempdir().unwrap();
    let router = router(folder.path(), McpOptions { listen: true, underscores: true });
    let listed = result(&router, OLD, "tools/list", json!({})).await;
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(
        names.contains(&"voice_listen") && names.iter().all(|it| !it.contains('.')),
        "{names:?}"
    );
    let unknown = json!({ "name": "entity_get", "arguments": { "entity": "nothing" } });
    let told = result(&router, OLD, "tools/call", unknown).await;
    let text = told["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("(memory_search looks for words)"), "{text}");
}

#[test]
fn texts_name_tools_as_they_are_listed() {
    let text = "Use npc.list, then (dice.roll). Not dice.roll_dice or npc.lists; session.status.";
    let named = |underscores| table::as_listed(text, &McpOptions { listen: false, underscores });
    assert_eq!(named(false), text);
    let wanted = "Use npc_list, then (dice_roll). Not dice.roll_dice or npc.lists; session_status.";
    assert_eq!(named(true), wanted);
}

#[tokio::test]
async fn subscription_ends_with_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let (parts, stop) = (parts(folder.path(), McpOptions::default()), CancellationToken::new());
    let holder = stand_in::holder(&parts.handles, GUILD, AccessRole::Dm).await;
    let router = routes(parts, stop.clone()).layer(Extension(holder));
    let filter = json!({ "notifications": { "resourcesListChanged": true } });
    let listening = request(NEW, "subscriptions/listen", filter);
    let response = TowerToHyperService::new(router).call(listening).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    stop.cancel();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let text = String::from_utf8_lossy(&body);
    let last = text.lines().rev().find_map(|line| line.strip_prefix("data:")).unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    assert!(last["id"] == 1 && last["result"].is_object(), "{text}");
}

#[tokio::test]
async fn there_are_no_sessions_to_delete() {
    let folder = tempfile::tempdir().unwrap();
    let router = router(folder.path(), McpOptions::default());
    let request =
        Request::builder().method(Method::DELETE).uri("/mcp").body(Body::empty()).unwrap();
    assert_eq!(sent(&router, request).await.0, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn wrong_params_are_no_unknown_method() {
    let folder = tempfile::tempdir().unwrap();
    let router = router(folder.path(), McpOptions::default());
    let long = "x".repeat(5_000);
    for (method, params, code) in [
        ("resources/read", json!({ "uri": 7 }), -32602),
        ("tools/call", json!({ "name": "dice.roll", "arguments": [1] }), -32602),
        (long.as_str(), json!({}), -32601),
    ] {
        let (_, answer) = sent(&router, request(OLD, method, params)).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer.to_string().len() < 300, "{answer}");
    }
}

#[tokio::test]
async fn broken_json_is_refused_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let router = router(folder.path(), McpOptions::default());
    for body in ["{", "[]", "{}"] {
        let mut request = request(OLD, "tools/list", json!({}));
        *request.body_mut() = Body::from(body);
        assert_eq!(sent(&router, request).await.0, StatusCode::BAD_REQUEST, "{body}");
    }
}

#[tokio::test]
async fn whole_message_of_another_type_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let router = router(folder.path(), McpOptions::default());
    let mut request = request(OLD, "tools/list", json!({}));
    request.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(sent(&router, request).await.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[test]
fn address_is_repeated_in_short() {
    use crate::web::mcp::resources::{ReadError, refused};
    let error = refused(ReadError::Unknown(format!("\u{202e}{}", "x".repeat(5_000))));
    let told = serde_json::to_string(&error).unwrap();
    assert!(told.len() < 600 && !told.contains('\u{202e}'), "{told}");
}
