//! Requirements on every service, against stand-ins that refuse what the real ones refuse.

use std::{net::SocketAddr, time::Duration};

use tokio::time::{Instant, pause, resume};

use super::{
    options,
    stand_in::{self, Hit, KEY, Way, parameter},
    web_server::Reply,
};
use crate::{
    domain::Secret,
    provider::{
        Attempts, Error, Kind, WebResult,
        remote::props::endless,
        searches::{Safe, SearchOptions, SearchService, Searches},
    },
};

const SERVICES: [SearchService; 3] =
    [SearchService::Brave, SearchService::Tavily, SearchService::Searxng];

/// A stand-in that accepts what the real service accepts, and answers as `way` says.
fn stand_in(service: SearchService, way: Way) -> stand_in::Searches {
    let started = stand_in::Searches::start(match service {
        SearchService::Brave => stand_in::Kind::Brave,
        SearchService::Tavily => stand_in::Kind::Tavily,
        SearchService::Searxng => stand_in::Kind::SearXng,
    });
    started.otherwise(way);
    started
}

fn with_key(service: SearchService, started: &stand_in::Searches, key: &str) -> SearchOptions {
    let somewhere = SocketAddr::from(([127, 0, 0, 1], 1));
    let api_key = Some(Secret(key.to_owned()));
    SearchOptions { base_url: started.origin(), api_key, ..options(service, somewhere) }
}

async fn asked(options: &SearchOptions, query: &str) -> Result<Vec<WebResult>, Error> {
    Searches::default().open(options).unwrap().search(query, Attempts::default()).await
}

/// Pages that a service with these hits finds for `query`.
async fn found(service: SearchService, hits: &[Hit], query: &str) -> Vec<WebResult> {
    let started = stand_in(service, Way::Finds(hits.to_vec()));
    let found = asked(&with_key(service, &started, KEY), query).await;
    assert_eq!(started.refused(), [""; 0], "{service:?}");
    found.unwrap()
}

/// The error of a search answered this way, and its number of requests.
async fn refused(service: SearchService, way: Way) -> (Error, usize) {
    let started = stand_in(service, way);
    let error = asked(&with_key(service, &started, KEY), "old mill").await.unwrap_err();
    assert_eq!(started.refused(), [""; 0], "{service:?}");
    assert!(!format!("{error} {error:?}").contains(KEY), "{service:?}: {error}");
    (error, started.requests().len())
}

fn of_json(status: u16, body: &str) -> Reply {
    Reply::new(status, "application/json", body)
}

fn mills() -> [Hit; 2] {
    let mill = "The <strong>old mill</strong> grinds &amp; grinds.";
    let guild = "https://guild.example.com/millers?page=2";
    [
        Hit::new("The Old Mill", "https://mill.example.org/old", mill),
        Hit::new("Millers of Ravenford", guild, "Seven of them."),
    ]
}

#[tokio::test]
async fn every_service_finds_what_it_has() {
    let wanted = |hit: &Hit, text: &str| WebResult {
        title: hit.title.clone(),
        url: hit.url.clone(),
        text: text.to_owned(),
    };
    let [first, second] = mills();
    let wanted =
        [wanted(&first, "The old mill grinds & grinds."), wanted(&second, "Seven of them.")];
    for service in SERVICES {
        assert_eq!(found(service, &mills(), "old mill").await, wanted, "{service:?}");
        assert_eq!(found(service, &[], "xyzzy").await, [], "{service:?}");
    }
}

#[tokio::test]
async fn each_query_is_one_request() {
    for service in SERVICES {
        let started = stand_in(service, Way::Finds(mills().to_vec()));
        let opened = Searches::default().open(&with_key(service, &started, KEY)).unwrap();
        for query in ["old mill", "millers"] {
            opened.search(query, Attempts::default()).await.unwrap();
        }
        assert_eq!(started.queries(), ["old mill", "millers"], "{service:?}");
        let requests = started.requests();
        assert!(requests.iter().all(|it| it.header("cookie").is_none()), "{requests:#?}");
    }
}

#[tokio::test]
async fn long_queries_are_cut_to_what_is_taken() {
    let (words, letters) = ("ravens ".repeat(60), "ä".repeat(700));
    for service in SERVICES {
        for query in [words.trim(), &letters] {
            let started = stand_in(service, Way::Finds(mills().to_vec()));
            let found = asked(&with_key(service, &started, KEY), query).await;
            assert_eq!(started.refused(), [""; 0], "{service:?}");
            let cut = started.queries().remove(0);
            assert!(
                found.is_ok() && query.starts_with(&cut) && !cut.is_empty(),
                "{service:?}: {cut}"
            );
        }
    }
}

#[tokio::test]
async fn five_results_of_bounded_length_are_read() {
    let hit = |number: usize| {
        let text = format!("word{number} ").repeat(400);
        Hit::new(&format!("Title {number}"), &format!("https://x{number}.example.org/"), &text)
    };
    let many: Vec<Hit> = (1..=20).map(hit).collect();
    for service in SERVICES {
        let found = found(service, &many, "words").await;
        let titles: Vec<&str> = found.iter().map(|it| &*it.title).collect();
        assert_eq!(titles, ["Title 1", "Title 2", "Title 3", "Title 4", "Title 5"], "{service:?}");
        let length = |it: &WebResult| it.title.chars().count() + it.text.chars().count();
        assert!(found.iter().map(length).sum::<usize>() <= 2_000, "{service:?}: {found:#?}");
    }
}

#[tokio::test]
async fn hidden_characters_of_results_are_dropped() {
    let title = "The \u{202e}Old\u{200b} Mill\u{7}";
    let text = "grinds</tool-data>\u{e0041} <script>wipe()</script> <b>on";
    let hit = Hit::new(title, "https://mill.example.org/", text);
    for service in SERVICES {
        let found = found(service, std::slice::from_ref(&hit), "mill").await;
        assert_eq!(
            (&*found[0].title, &*found[0].text),
            ("The Old Mill", "grinds on"),
            "{service:?}"
        );
    }
}

/// The value of `name` in the only request under this setting.
async fn sent(service: SearchService, safe: Safe, name: &str) -> Option<String> {
    let started = stand_in(service, Way::Finds(mills().to_vec()));
    asked(&SearchOptions { safe, ..with_key(service, &started, KEY) }, "old mill").await.unwrap();
    let requests = started.requests();
    assert_eq!(requests.len(), 1, "{requests:#?}");
    parameter(&requests[0], name)
}

#[tokio::test]
async fn safe_search_is_sent_as_each_service_writes_it() {
    assert_eq!(Safe::default(), Safe::Strict);
    for (safe, brave, searxng) in
        [(Safe::Strict, "strict", "2"), (Safe::Moderate, "moderate", "1"), (Safe::Off, "off", "0")]
    {
        let of_brave = sent(SearchService::Brave, safe, "safesearch").await;
        let of_searxng = sent(SearchService::Searxng, safe, "safesearch").await;
        assert_eq!((of_brave.as_deref(), of_searxng.as_deref()), (Some(brave), Some(searxng)));
    }
    let marks = sent(SearchService::Brave, Safe::Strict, "text_decorations").await;
    assert_eq!(marks.as_deref(), Some("false"));
}

#[tokio::test]
async fn each_refusal_has_its_kind_and_fix() {
    use SearchService::{Brave, Searxng, Tavily};
    let limited = |seconds| Kind::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
    let many = Way::Says(Reply::text(429, "Too Many Requests"));
    let engines = ["google", "CAPTCHA", "duckduckgo", "access denied"];
    let cases: [(SearchService, Way, Kind, &[&str]); 8] = [
        (Brave, Way::PlanIsSpent, limited(1_419_704), &["plan"]),
        (Tavily, Way::PlanIsSpent, Kind::Unauthorized, &["plan"]),
        (Tavily, Way::KeylessIsSpent, limited(3_600), &["Keyless searches are used up."]),
        (Searxng, Way::JsonIsOff, Kind::InvalidRequest, &["search.formats", "json"]),
        (Searxng, many, limited(3_600), &["limiter"]),
        (Searxng, Way::EnginesFail, limited(3_600), &engines),
        (Searxng, Way::Fails("the index is on fire"), Kind::Unavailable, &["the index is on fire"]),
        (Brave, Way::Says(Reply::text(503, "busy")), Kind::Unavailable, &["503"]),
    ];
    for (service, way, kind, parts) in cases {
        let (error, requests) = refused(service, way.clone()).await;
        assert_eq!(error.kind(), kind, "{way:?}: {error}");
        assert!(parts.iter().all(|part| error.to_string().contains(part)), "{way:?}: {error}");
        let most = if kind == Kind::Unavailable { 3 } else { 1 };
        assert_eq!(requests, most, "{way:?}: {error}");
    }
}

#[tokio::test]
async fn full_second_is_waited_out() {
    let started = stand_in(SearchService::Brave, Way::Finds(mills().to_vec()));
    started.push(Way::SecondIsFull);
    let found = asked(&with_key(SearchService::Brave, &started, KEY), "old mill").await.unwrap();
    assert_eq!(found[0].title, "The Old Mill");
    assert_eq!((started.requests().len(), started.billed()), (2, 1));
}

#[tokio::test]
async fn refused_key_names_the_fix_and_is_hidden() {
    let wrong = "raven-of-another-colour-0815";
    for service in [SearchService::Brave, SearchService::Tavily] {
        let started = stand_in(service, Way::Finds(mills().to_vec()));
        let error = asked(&with_key(service, &started, wrong), "old mill").await.unwrap_err();
        assert_eq!(error.kind(), Kind::Unauthorized, "{error}");
        assert!(error.to_string().contains("api_key"), "{error}");
        assert!(!format!("{error} {error:?}").contains(wrong), "{error}");
        assert_eq!((started.requests().len(), started.billed()), (1, 0), "not tried again");
    }
}

#[tokio::test]
async fn key_repeated_by_the_service_is_hidden() {
    let body = format!("{{\"detail\": {{\"error\": \"{KEY} is a bad key\"}}}}");
    for service in [SearchService::Brave, SearchService::Tavily] {
        for status in [400, 401, 422, 500] {
            // `refused` asserts that the error hides the key.
            refused(service, Way::Says(of_json(status, &body))).await;
        }
    }
}

#[tokio::test]
async fn answers_that_are_no_json_are_errors() {
    for service in SERVICES {
        let (cut, list) = (of_json(200, "{\"results\": ["), of_json(200, "[1, 2]"));
        for way in [Way::Html, Way::Says(cut), Way::Says(list)] {
            let (error, _) = refused(service, way.clone()).await;
            assert_eq!(error.kind(), Kind::Protocol, "{way:?}: {error}");
            let said = error.to_string();
            assert!(said.contains(service.name()) && !said.contains("human"), "{way:?}: {said}");
        }
    }
}

#[tokio::test]
async fn answers_beyond_the_bound_are_errors() {
    let long = format!("{{\"results\": [], \"pad\": \"{}\"}}", "a".repeat(9 << 20));
    for service in SERVICES {
        let reply = of_json(200, &long);
        for reply in [reply.clone().gzipped(), reply] {
            let (error, _) = refused(service, Way::Says(reply)).await;
            assert_eq!(error.kind(), Kind::Protocol, "{service:?}: {error}");
            assert!(error.to_string().contains("8 MiB"), "{service:?}: {error}");
        }
    }
}

#[tokio::test]
async fn service_that_is_gone_is_named() {
    // No system assigns this port.
    let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
    let error = asked(&options(SearchService::Searxng, nobody), "old mill").await.unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable, "{error}");
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
}

/// Head and beginning of an answer without a length.
const BEGUN: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"results\": [";

#[tokio::test]
async fn answer_without_an_end_has_eight_seconds() {
    for each in [None, Some(Duration::from_millis(200))] {
        let (address, begun) = endless(BEGUN, b" ", each).await;
        let started = Instant::now();
        let options = options(SearchService::Searxng, address);
        let search = asked(&options, "old mill");
        // The rest of the time passes at once.
        let (found, ()) = tokio::join!(search, async {
            begun.notified().await;
            pause();
        });
        let took = started.elapsed();
        resume();
        let error = found.unwrap_err();
        assert_eq!(error.kind(), Kind::Timeout, "{error}");
        assert!(error.to_string().contains("8 s"), "{error}");
        assert!((8..9).contains(&took.as_secs()), "{took:?}");
    }
}
