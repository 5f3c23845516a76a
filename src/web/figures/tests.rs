//! The routes over a pipe, as programs of this machine and of others reach them.

use std::net::IpAddr;

use serde_json::Value;

use super::*;
use crate::{
    campaign::stand_in_handles_without_tables,
    domain::AccessRole,
    figures::Gateway,
    web::{
        bounds::Bounds,
        tests::{CLOSE, Door, request, status},
    },
};

const HERE: &str = "127.0.0.1";
const ELSEWHERE: &str = "192.168.1.7";

/// A listener with the monitor's routes, and the services behind them.
struct Monitored {
    door: Door,
    handles: Handles,
    _folder: tempfile::TempDir,
}

impl Monitored {
    /// `is_near`: programs of this machine need no token.
    async fn new(is_near: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let handles = stand_in_handles_without_tables(folder.path());
        let options = WebOptions { behind_tls: !is_near, ..WebOptions::default() };
        assert_eq!(super::is_near(&options), is_near);
        let parts =
            WebParts { options, handles: handles.clone(), is_heard: false, rehearsal: None };
        let parts = Arc::new(parts);
        let (figures, open) = (metrics(Arc::clone(&parts)), checks(parts));
        let door = match is_near {
            true => Door::with_all(Bounds::default(), Router::new(), open, figures).await,
            false => Door::beside(Bounds::default(), figures, open).await,
        };
        Self { door, handles, _folder: folder }
    }

    /// Answer to a request of `peer` with these further headers.
    async fn says(&self, path: &str, peer: &str, headers: &[&str]) -> String {
        let headers = [headers, &[CLOSE]].concat();
        let asked = request(&format!("GET {path}"), &headers, "");
        self.door.says_to(Some(peer.parse::<IpAddr>().unwrap()), &asked).await
    }
}

fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
}

#[tokio::test]
async fn figures_need_no_token_on_this_machine() {
    let it = Monitored::new(true).await;
    it.handles.figures.interruption("x_card");
    let answer = it.says("/metrics", HERE, &[]).await;
    assert_eq!(status(&answer), 200, "{answer}");
    assert!(answer.contains("text/plain; version=0.0.4"), "{answer}");
    assert!(answer.contains("glyphoxa_interruptions_total{kind=\"x_card\"} 1"), "{answer}");
    assert!(answer.contains("glyphoxa_tables_active 0"), "{answer}");
    assert_eq!(status(&it.says("/metrics", ELSEWHERE, &[]).await), 401);
    assert_eq!(status(&it.says("/metrics", HERE, &["X-Forwarded-For: 10.0.0.1"]).await), 401);
    let with_token = it.door.bearer();
    assert_eq!(status(&it.says("/metrics", ELSEWHERE, &[&with_token]).await), 200);
}

#[tokio::test]
async fn figures_behind_a_proxy_need_a_token() {
    let it = Monitored::new(false).await;
    assert_eq!(status(&it.says("/metrics", HERE, &[]).await), 401);
    let with_token = it.door.bearer();
    assert_eq!(status(&it.says("/metrics", HERE, &[&with_token]).await), 200);
}

#[tokio::test]
async fn figures_are_refused_to_other_holders() {
    let it = Monitored::new(true).await;
    let others = [(Owner::Local, AccessRole::Player), (Owner::Guild(7), AccessRole::Dm)];
    for (owner, role) in others {
        let token = it.door.token_of(owner, role).await;
        let header = format!("Authorization: Bearer {token}");
        assert_eq!(status(&it.says("/metrics", ELSEWHERE, &[&header]).await), 403, "{owner:?}");
    }
}

#[tokio::test]
async fn checks_are_open_and_say_what_fails() {
    let it = Monitored::new(false).await;
    for path in ["/healthz", "/readyz"] {
        let answer = it.says(path, ELSEWHERE, &[]).await;
        assert_eq!(status(&answer), 200, "{answer}");
        assert_eq!(body(&answer), json!({ "ok": true, "reasons": [] }));
    }
    it.handles.figures.set_gateway(Gateway::Down);
    let answer = it.says("/readyz", ELSEWHERE, &[]).await;
    assert_eq!(status(&answer), 503, "{answer}");
    assert_eq!(body(&answer)["reasons"][0]["part"], "gateway", "{answer}");
    it.handles.figures.set_gateway(Gateway::Up);
    assert_eq!(status(&it.says("/readyz", ELSEWHERE, &[]).await), 200);
    let foreign = request("GET /healthz", &[CLOSE], "");
    let foreign = String::from_utf8(foreign).unwrap().replace("localhost", "evil.example");
    assert_eq!(status(&it.door.says(foreign.as_bytes()).await), 421, "the guard comes first");
}

#[test]
fn blocked_tables_are_counted() {
    assert_eq!(blocked(0), None);
    assert_eq!(blocked(1).unwrap().why, "1 table does not respond");
    assert_eq!(blocked(2).unwrap().why, "2 tables do not respond");
}
