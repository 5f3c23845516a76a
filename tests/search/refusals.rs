//! Refusals and failures of each service, as a model and a person read them.

use serde_json::Value;

use super::{Table, assert_failed, hits};
use crate::support::{
    NOBODY,
    searches::{KEY, Kind, Searches, Way},
    web_server::Reply,
};

/// Result of a search that is answered so.
fn answered(kind: Kind, way: Way) -> (Value, String, Searches) {
    let searches = Searches::start(kind);
    searches.otherwise(way);
    let (call, read) = Table::of(&searches).searched("old mill");
    assert_eq!(searches.refused(), [""; 0], "{kind:?}");
    (call, read, searches)
}

/// Name of a service in messages.
fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Brave => "brave",
        Kind::Tavily => "tavily",
        Kind::SearXng => "searxng",
    }
}

#[test]
fn each_refusal_reaches_the_model_with_a_fix() {
    let cases: [(Kind, Way, &[&str]); 8] = [
        (Kind::Brave, Way::PlanIsSpent, &["plan"]),
        (Kind::Tavily, Way::PlanIsSpent, &["plan"]),
        (Kind::Tavily, Way::KeylessIsSpent, &["Keyless searches are used up."]),
        (Kind::SearXng, Way::JsonIsOff, &["search.formats", "json"]),
        (Kind::SearXng, Way::Says(Reply::text(429, "Too Many Requests")), &["limiter"]),
        (Kind::SearXng, Way::EnginesFail, &["google", "CAPTCHA", "duckduckgo", "access denied"]),
        (Kind::SearXng, Way::Fails("the index is on fire"), &["the index is on fire"]),
        (Kind::Brave, Way::Says(Reply::text(503, "busy")), &["503"]),
    ];
    for (kind, way, parts) in cases {
        let (call, read, searches) = answered(kind, way.clone());
        assert_failed(&call, parts);
        assert!(parts.iter().all(|part| read.contains(part)), "{way:?}: {read}");
        let sent = searches.requests().len();
        assert!((1..=3).contains(&sent), "{way:?} was asked {sent} times");
    }
}

#[test]
fn full_second_is_waited_out() {
    let searches = Searches::finding(Kind::Brave, &hits());
    searches.push(Way::SecondIsFull);
    let (call, read) = Table::of(&searches).searched("old mill");
    assert_eq!(call["ok"], true, "{call:#}");
    assert!(read.contains("The Old Mill"), "{read}");
    assert_eq!((searches.requests().len(), searches.billed()), (2, 1));
}

#[test]
fn keys_that_are_refused_name_the_fix() {
    for (kind, fix) in [(Kind::Brave, "api_key"), (Kind::Tavily, "api_key")] {
        let searches = Searches::finding(kind, &hits());
        let table = Table::of(&searches);
        let wrong = "raven-of-another-colour-0815";
        table.rewrites(KEY, wrong);
        let (call, read) = table.searched("old mill");
        assert_failed(&call, &[fix]);
        assert!(!call.to_string().contains(wrong) && !read.contains(wrong), "{kind:?}: {read}");
        assert_eq!(searches.requests().len(), 1, "a wrong key is not tried again");
        assert_eq!(searches.billed(), 0);
    }
}

#[test]
fn answers_that_are_no_json_are_errors() {
    for kind in [Kind::Brave, Kind::Tavily, Kind::SearXng] {
        for way in [
            Way::Html,
            Way::Says(Reply::new(200, "application/json", "{\"results\": [")),
            Way::Says(Reply::new(200, "application/json", "[1, 2]")),
        ] {
            let (call, read, _) = answered(kind, way.clone());
            assert_failed(&call, &[name(kind)]);
            assert!(!read.contains("Are you human?"), "{kind:?} {way:?}: {read}");
        }
    }
}

#[test]
fn answers_beyond_the_bound_are_errors() {
    let long = format!("{{\"results\": [], \"pad\": \"{}\"}}", "a".repeat(9 << 20));
    for kind in [Kind::Brave, Kind::Tavily, Kind::SearXng] {
        let reply = Reply::new(200, "application/json", long.clone());
        let (call, _, _) = answered(kind, Way::Says(reply.clone()));
        assert_failed(&call, &["8 MiB"]);
        let (call, _, _) = answered(kind, Way::Says(reply.gzipped()));
        assert_failed(&call, &["8 MiB"]);
    }
}

#[test]
fn key_repeated_by_the_service_is_not_shown() {
    for kind in [Kind::Brave, Kind::Tavily] {
        let body = format!("{{\"detail\": {{\"error\": \"{KEY} is a bad key\"}}}}");
        for status in [400, 401, 422, 500] {
            let reply = Reply::new(status, "application/json", body.clone());
            let (call, read, _) = answered(kind, Way::Says(reply));
            assert!(!call.to_string().contains(KEY) && !read.contains(KEY), "{status}: {read}");
        }
    }
}

#[test]
fn service_that_is_gone_is_named() {
    let searches = Searches::finding(Kind::SearXng, &hits());
    let table = Table::of(&searches);
    table.rewrites(&searches.origin(), &format!("http://{NOBODY}"));
    let (call, _) = table.searched("old mill");
    assert_failed(&call, &["127.0.0.1"]);
    assert_eq!(searches.requests().len(), 0);
}

/// The search has 8 s by itself; the turn is over before, and its result comes later.
#[test]
fn service_that_never_answers_is_left() {
    for way in [
        Way::Says(Reply::new(200, "application/json", "").held()),
        Way::Says(Reply::new(200, "application/json", "{\"results\": [").dripping()),
    ] {
        let searches = Searches::start(Kind::SearXng);
        searches.otherwise(way);
        let table = Table::of(&searches);
        let arguments = "{\"query\": \"old mill\"}";
        let call = ["tools", "call", "web-search.search", arguments, "--json"];
        let line = table.place.run(&call).ends_with(1).line();
        assert!(line["ms"].as_f64() < Some(9_500.0), "{line:#}");
        assert_failed(&line, &["8 s"]);
    }
}
