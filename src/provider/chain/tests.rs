use std::{sync::Arc, time::Duration};

use tokio::time::advance;

use super::{Candidate, Chain, Health};
use crate::provider::{Error, Kind};

/// A chain of words.
fn chain(names: &[&str]) -> Chain<str> {
    let candidate = |name: &&str| Candidate::new(name, Arc::from(*name), Arc::default());
    let mut all = names.iter().map(candidate);
    let first = all.next().expect("a name");
    Chain::new(first, all.collect(), false)
}

/// Asks them one after the other until one answers: all whose names begin with "x" fail so.
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
    for kind in [Kind::InvalidRequest, Kind::OverBudget, Kind::RateLimited { retry_after: None }] {
        for _ in 0..10 {
            assert_eq!(ask(&chain, kind), ["x", "b"]);
            drop(chain.queue().take());
        }
    }
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
