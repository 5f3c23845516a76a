//! Each service's requests, and scripted answers of each.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use futures::FutureExt;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::options;
use crate::provider::{
    Attempts, Error, Kind, WebResult,
    searches::{SearchService, Searches},
};

/// A local service that always sends `answer`, and the requests it got.
async fn service(answer: String) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&requests);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 16_384];
            let length = stream.read(&mut request).await.unwrap_or_default();
            kept.lock().unwrap().push(String::from_utf8_lossy(&request[..length]).into_owned());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (address, requests)
}

fn answer(head: &str, body: &str) -> String {
    format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// Result of a search at a service that sends this answer, and its requests.
async fn searched(
    kind: SearchService,
    head: &str,
    body: &Value,
) -> (Result<Vec<WebResult>, Error>, Vec<String>) {
    let (address, requests) = service(answer(head, &body.to_string())).await;
    let opened = Searches::default().open(&options(kind, address)).unwrap();
    let found = opened.search(" red\ndragon ", Attempts::default()).await;
    let requests = requests.lock().unwrap().clone();
    (found, requests)
}

/// The error caused by an answer.
async fn error(kind: SearchService, head: &str, body: Value) -> Error {
    let (found, requests) = searched(kind, head, &body).await;
    let error = found.unwrap_err();
    let is_again = error.kind().is_retryable() && error.kind() == Kind::Unavailable;
    assert_eq!(requests.len(), if is_again { 3 } else { 1 }, "{error}");
    assert!(!error.to_string().contains("key-12345"), "{error}");
    error
}

fn one() -> Vec<WebResult> {
    let text = "Red & hot".to_owned();
    vec![WebResult { title: "Dragons".to_owned(), url: "https://a.org/d".to_owned(), text }]
}

#[tokio::test]
async fn searxng_is_asked_as_a_browser_asks() {
    let body = json!({"results": [{"title": "Dragons", "url": "https://a.org/d",
        "content": "<b>Red</b> &amp; hot", "publishedDate": null}], "unresponsive_engines": [["x", "y"]]});
    let (found, requests) = searched(SearchService::Searxng, "200 OK", &body).await;
    assert_eq!(found.unwrap(), one());
    let request = requests[0].to_lowercase();
    assert!(
        request.starts_with("get /search?q=red+dragon&format=json&safesearch=2&language=de http"),
        "{request}"
    );
    for header in [
        "accept: application/json, text/html",
        "accept-encoding: gzip",
        "accept-language: de, en;q=0.7, *;q=0.5",
        "user-agent: glyphoxa/",
    ] {
        assert!(request.contains(header), "{header}: {request}");
    }
    assert!(!request.contains("key-12345"), "{request}");
}

#[tokio::test]
async fn searxng_errors_name_the_fix() {
    let searxng = SearchService::Searxng;
    let forbidden = error(searxng, "403 Forbidden", json!({})).await;
    assert_eq!(forbidden.kind(), Kind::InvalidRequest);
    assert!(forbidden.to_string().contains("add json to search.formats"), "{forbidden}");
    let limited = error(searxng, "429 Too Many", json!({})).await;
    assert!(limited.to_string().contains("server.limiter: false"), "{limited}");
    let silent = json!({"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["brave", "\u{202e}"]]});
    let silent = error(searxng, "200 OK", silent).await;
    assert!(silent.to_string().contains("google (CAPTCHA), brave"), "{silent}");
    let failed = error(searxng, "200 OK", json!({"error": "search \"broke\""})).await;
    assert!(failed.to_string().contains("its search failed: \"search 'broke'\""), "{failed}");
    let page = error(searxng, "200 OK", json!("<html>")).await;
    assert_eq!(page.kind(), Kind::Protocol);
}

#[tokio::test]
async fn brave_is_asked_with_its_key() {
    let body = json!({"type": "search", "web": {"results": [{"title": "Dragons", "url":
        "https://a.org/d", "description": "<strong>Red</strong> &amp; hot"}]}});
    let (found, requests) = searched(SearchService::Brave, "200 OK", &body).await;
    assert_eq!(found.unwrap(), one());
    let request = requests[0].to_lowercase();
    let wanted =
        "get /res/v1/web/search?q=red+dragon&count=5&safesearch=strict&text_decorations=false";
    assert!(request.starts_with(wanted), "{request}");
    assert!(request.contains("&search_lang=de http"), "{request}");
    assert!(request.contains("x-subscription-token: key-12345"), "{request}");
    let (found, _) = searched(SearchService::Brave, "200 OK", &json!({"type": "search"})).await;
    assert_eq!(found.unwrap(), []);
}

#[tokio::test]
async fn brave_errors_map_to_their_kinds() {
    let brave = SearchService::Brave;
    let key = json!({"error": {"code": "SUBSCRIPTION_TOKEN_INVALID"}});
    assert_eq!(error(brave, "422 No", key).await.kind(), Kind::Unauthorized);
    assert_eq!(error(brave, "422 No", json!({})).await.kind(), Kind::InvalidRequest);
    let month = "429 No\r\nX-RateLimit-Remaining: 1, 0\r\nX-RateLimit-Reset: 1, 1419704";
    let month = error(brave, month, json!({})).await;
    assert!(month.to_string().contains("the plan's requests are used up"), "{month}");
}

#[tokio::test]
async fn tavily_is_asked_with_its_key() {
    let body = json!({"results": [{"title": "Dragons", "url": "https://a.org/d",
        "content": "Red & hot", "score": 0.9}], "images": []});
    let (found, requests) = searched(SearchService::Tavily, "200 OK", &body).await;
    assert_eq!(found.unwrap(), one());
    assert!(requests[0].starts_with("POST /search HTTP"), "{}", requests[0]);
    let head = requests[0].to_lowercase();
    assert!(head.contains("authorization: bearer key-12345"), "{head}");
}

#[tokio::test]
async fn tavily_errors_map_to_kinds_without_secrets() {
    let said = |text: &str| json!({"detail": {"error": text}});
    let tavily = SearchService::Tavily;
    let key = error(tavily, "401 No", said("bad key key-12345")).await;
    assert_eq!(key.kind(), Kind::Unauthorized);
    assert!(key.to_string().contains("\"bad key <secret>\""), "{key}");
    let echo = error(tavily, "400 No", said("no results for 'red dragon'")).await;
    assert!(echo.to_string().contains("\"no results for '…'\""), "{echo}");
    let long = error(tavily, "401 No", said(&format!("{}key-12345", "x ".repeat(1_020)))).await;
    assert!(!long.to_string().contains("key-"), "{long}");
    let plan = error(tavily, "432 No", said("exceeds your plan")).await;
    assert!(plan.to_string().contains("credits are used up"), "{plan}");
    let keyless = json!({"error": {"code": "limit", "message": "too many"}});
    let keyless = error(tavily, "433 No", keyless).await;
    assert!(keyless.to_string().contains("\"too many\""), "{keyless}");
}

#[tokio::test]
async fn status_counts_where_a_body_is_damaged() {
    let head = "401 No\r\nContent-Encoding: br";
    assert_eq!(error(SearchService::Brave, head, json!({})).await.kind(), Kind::Unauthorized);
    let head = "200 OK\r\nContent-Encoding: br";
    assert_eq!(error(SearchService::Brave, head, json!({})).await.kind(), Kind::Protocol);
}

#[tokio::test]
async fn each_further_request_is_paid_for() {
    let (address, requests) = service(answer("503 No", "{}")).await;
    let paid = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&paid);
    let attempts = Attempts::new(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok(()) }.boxed()
    });
    let opened = Searches::default().open(&options(SearchService::Brave, address)).unwrap();
    let failed = opened.search("dragon", attempts).await.unwrap_err();
    assert_eq!(failed.kind(), Kind::Unavailable);
    assert_eq!((paid.load(Ordering::Relaxed), requests.lock().unwrap().len()), (2, 3));
}

#[tokio::test]
async fn query_of_blanks_is_not_sent() {
    let (address, requests) = service(answer("200 OK", "{}")).await;
    let opened = Searches::default().open(&options(SearchService::Brave, address)).unwrap();
    let failed = opened.search(" \u{200b}\n", Attempts::default()).await.unwrap_err();
    assert_eq!(failed.kind(), Kind::InvalidRequest);
    assert!(requests.lock().unwrap().is_empty());
}
