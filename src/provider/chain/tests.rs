use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use serde_json::json;
use tokio::time::{Instant, advance, pause, resume};

use super::{Candidate, Chain, Health};
use crate::provider::{
    Attempts, ChatModel, ChatRequest, Error, Kind,
    openai::Chat,
    remote::{
        chat_server::{ChatServer, Script, Step},
        options,
        props::asks,
    },
};

fn chain(names: &[&str]) -> Chain<str> {
    let candidate = |name: &&str| Candidate::new(name, Arc::from(*name), Arc::default());
    Chain::in_order(names.iter().map(candidate).collect(), false).expect("a name")
}

/// Asks in order until one answers; names beginning with "x" fail with `kind`.
fn ask(chain: &Chain<str>, kind: Kind) -> Vec<String> {
    let (mut queue, mut asked) = (chain.queue(), Vec::new());
    while let Some((candidate, mut request)) = queue.take() {
        asked.push(candidate.name().to_string());
        if !candidate.name().starts_with('x') {
            request.answered(true);
            break;
        }
        request.failed(&Error::new(kind, "no"));
    }
    asked
}

#[tokio::test(start_paused = true)]
async fn failing_candidate_rests_and_next_is_asked() {
    let chain = chain(&["x", "b", "c"]);
    for _ in 0..3 {
        assert_eq!(ask(&chain, Kind::Unavailable), ["x", "b"]);
    }
    assert_eq!(ask(&chain, Kind::Unavailable), ["b"]);
    advance(Duration::from_secs(5)).await;
    assert_eq!(ask(&chain, Kind::Unavailable), ["x", "b"], "one request tries it");
    assert_eq!(ask(&chain, Kind::Unavailable), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn first_to_return_is_asked_when_all_rest() {
    let chain = chain(&["x", "xx"]);
    let limited = |secs| Kind::RateLimited { retry_after: Some(Duration::from_secs(secs)) };
    let mut queue = chain.queue();
    for secs in [60, 20] {
        let (_, mut asked) = queue.take().expect("it is closed");
        asked.failed(&Error::new(limited(secs), "no"));
    }
    assert_eq!(ask(&chain, limited(20)), ["xx"]);
}

#[tokio::test(start_paused = true)]
async fn refused_key_is_reported_once() {
    let chain = chain(&["x", "b"]);
    assert_eq!(ask(&chain, Kind::Unauthorized), ["x", "b"]);
    assert_eq!(chain.news(), ["x is disabled until its settings change: no"]);
    advance(Duration::from_secs(1_000)).await;
    assert_eq!(ask(&chain, Kind::Unauthorized), ["b"]);
    assert!(chain.news().is_empty());
}

#[tokio::test(start_paused = true)]
async fn wrong_requests_and_cancelled_ones_say_nothing() {
    let chain = chain(&["x", "b"]);
    let crowded = |retry_after| Kind::Crowded { retry_after };
    let minute = Some(Duration::from_secs(60));
    for kind in [Kind::InvalidRequest, Kind::OverBudget, crowded(None), crowded(minute)] {
        for _ in 0..10 {
            assert_eq!(ask(&chain, kind), ["x", "b"]);
            drop(chain.queue().take());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn rate_limit_without_a_wait_is_a_failure() {
    let chain = chain(&["x", "b"]);
    for _ in 0..3 {
        assert_eq!(ask(&chain, Kind::RateLimited { retry_after: None }), ["x", "b"]);
    }
    assert_eq!(ask(&chain, Kind::RateLimited { retry_after: None }), ["b"]);
    advance(Duration::from_secs(5)).await;
    assert_eq!(ask(&chain, Kind::Crowded { retry_after: None }), ["x", "b"], "its trial");
    assert_eq!(ask(&chain, Kind::RateLimited { retry_after: None }), ["x", "b"], "is free again");
    assert_eq!(ask(&chain, Kind::RateLimited { retry_after: None }), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn spare_skips_resting_and_can_be_put_back() {
    let chain = chain(&["a", "x", "c"]);
    let mut queue = chain.queue();
    let _first = queue.take().expect("a");
    assert!(queue.has_more());
    let spare = queue.spare().expect("x");
    queue.put_back(spare);
    let (next, mut asked) = queue.take().expect("x");
    assert_eq!(&**next.name(), "x");
    asked.failed(&Error::new(Kind::Unauthorized, "no"));
    assert_eq!(chain.queue().spare().map(|it| it.name().to_string()).as_deref(), Some("a"));
    let mut queue = chain.queue();
    let _first = queue.take().expect("a");
    assert_eq!(queue.spare().map(|it| it.name().to_string()).as_deref(), Some("c"));
    assert!(!queue.has_more(), "x rests");
}

#[tokio::test(start_paused = true)]
async fn request_begins_with_the_first_awake() {
    let chain = chain(&["x", "xx"]);
    let next = || chain.next_asked().map(|it| it.name().to_string());
    assert_eq!(next().as_deref(), Some("x"));
    let limited = |secs| Kind::RateLimited { retry_after: Some(Duration::from_secs(secs)) };
    let mut queue = chain.queue();
    let (_, mut asked) = queue.take().expect("it is closed");
    asked.failed(&Error::new(limited(60), "no"));
    assert_eq!(next().as_deref(), Some("xx"));
    let (_, mut asked) = queue.take().expect("it is closed");
    asked.failed(&Error::new(limited(90), "no"));
    assert_eq!(next().as_deref(), Some("x"), "it is back first");
}

#[tokio::test(start_paused = true)]
async fn failed_one_is_not_asked_for_the_rest() {
    let chain = chain(&["a", "x", "c"]);
    let (_, mut asked) = chain.queue_after("a").take().expect("x");
    asked.failed(&Error::new(Kind::Unauthorized, "no"));
    let mut queue = chain.queue_after("a");
    assert_eq!(queue.take().map(|(it, _)| it.name().to_string()).as_deref(), Some("c"));
    assert!(queue.take().is_none(), "x rests");
    assert!(chain.queue_after("c").take().is_some_and(|(it, _)| &**it.name() == "a"));
}

#[tokio::test(start_paused = true)]
async fn some_of_a_chain_are_a_chain() {
    let all = chain(&["x", "b", "xx"]);
    let some = all.only(|name| name.starts_with('x')).expect("two");
    assert_eq!(ask(&some, Kind::Unauthorized), ["x", "xx"]);
    assert_eq!(ask(&all, Kind::Unauthorized), ["b"], "what is known is shared");
    assert!(all.only(|name| name == "z").is_none());
}

#[tokio::test(start_paused = true)]
async fn chains_share_health_of_their_service() {
    let health: Arc<Health> = Arc::default();
    let of = || Candidate::new("x", Arc::<str>::from("x"), Arc::clone(&health));
    let (one, other) = (Chain::new(of(), vec![], false), Chain::new(of(), vec![], true));
    for _ in 0..3 {
        assert_eq!(ask(&one, Kind::Timeout), ["x"]);
    }
    assert!(other.iter().all(|it| it.rest().is_some()));
    assert_eq!(other.iter().next().and_then(Candidate::usual_wait), None);
}

/// Error of a chat model at `base_url` that sends one request only.
async fn failed(base_url: String) -> Error {
    let model = Chat::new(options(&base_url)).unwrap();
    let request = ChatRequest { attempts: Attempts::default().once(), ..asks() };
    model.stream(request).next().await.expect("an event").expect_err("it fails")
}

fn refusal(status: u16, kind: &str) -> Script {
    Script::error(status, kind, "upstream exploded in the boiler room")
}

#[tokio::test]
async fn service_that_cannot_answer_falls_over() {
    let limited = |retry_after| Kind::RateLimited { retry_after };
    let later = refusal(429, "rate_limit_error").header("retry-after", "1");
    let busy = json!({"error": {"message": "busy", "code": 503}});
    for (script, kind) in [
        (refusal(500, "server_error"), Kind::Unavailable),
        (refusal(503, "server_error"), Kind::Unavailable),
        (refusal(504, "server_error"), Kind::Timeout),
        (refusal(429, "rate_limit_error"), limited(None)),
        (refusal(429, "concurrency_limited"), Kind::Crowded { retry_after: None }),
        (later, limited(Some(Duration::from_secs(1)))),
        (refusal(401, "invalid_request_error"), Kind::Unauthorized),
        (refusal(403, "permission_error"), Kind::Unauthorized),
        (refusal(429, "insufficient_quota"), Kind::Unauthorized),
        (refusal(402, "billing"), Kind::Unauthorized),
        (Script::stream().step(Step::Cut), Kind::Unavailable),
        (Script::plain(200, "text/html").raw("<html>login please</html>"), Kind::Protocol),
        (Script::stream().event(&busy), Kind::Unavailable),
    ] {
        let (server, shown) = (ChatServer::start(), format!("{script:?}"));
        server.otherwise(move |_| script.clone());
        let error = failed(server.base_url()).await;
        assert_eq!(error.kind(), kind, "{shown}: {error}");
        assert!(kind.falls_over(), "{shown}");
        assert_eq!(server.requests().len(), 1, "it is asked once: {shown}");
    }
    let kind = failed("http://127.0.0.1:1/v1".to_owned()).await.kind();
    assert!(kind == Kind::Unreachable && kind.falls_over(), "{kind:?}");
}

#[tokio::test]
async fn service_that_says_nothing_falls_over() {
    let server = ChatServer::start();
    server.otherwise(|_| Script::stream().step(Step::Stall));
    let waiting = tokio::spawn(failed(server.base_url()));
    server.received(1).await;
    pause();
    let paused = Instant::now();
    let kind = waiting.await.unwrap().kind();
    let waited = paused.elapsed();
    resume();
    assert!(kind == Kind::Timeout && kind.falls_over(), "{kind:?}");
    // One wait for the head of the answer, and one for its first byte.
    assert!(waited <= 2 * options("").first_byte_timeout, "{waited:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn wrong_request_does_not_fall_over() {
    for (status, label) in
        [(400, "invalid_request_error"), (404, "not_found_error"), (422, "invalid_request_error")]
    {
        let server = ChatServer::start();
        server.otherwise(move |_| refusal(status, label));
        let kind = failed(server.base_url()).await.kind();
        assert!(kind == Kind::InvalidRequest && !kind.falls_over(), "{status}: {kind:?}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}
