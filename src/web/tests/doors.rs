//! Requests that are let in, and those that are refused.

use axum::http::HeaderMap;

use super::*;
use crate::web::{McpOptions, WebError, bind, check_tokens};

#[tokio::test(start_paused = true)]
async fn valid_token_enters_at_once() {
    let door = Door::new(Bounds::default()).await;
    let answer = door.asked("GET /mcp", "").await.to_lowercase();
    assert_eq!(status(&answer), 200, "{answer}");
    assert!(answer.ends_with("\r\n\r\nhello"), "{answer}");
    for header in ["cache-control: no-store", "x-content-type-options: nosniff", "x-frame-options"]
    {
        assert!(answer.contains(header), "{header}: {answer}");
    }
    assert!(!answer.contains("access-control"), "{answer}");
    assert!(door.asked("POST /mcp", "[1]").await.ends_with("3 bytes"));
}

#[tokio::test(start_paused = true)]
async fn stranger_learns_nothing() {
    let door = Door::new(Bounds::default()).await;
    let in_address = format!("GET /mcp?token={0}&access_token={0}", door.token);
    for line in
        ["GET /mcp", "POST /mcp", "DELETE /mcp", "GET /", "GET /nothing", in_address.as_str()]
    {
        let answer = door.says(&request(line, &[], "")).await;
        assert_eq!(status(&answer), 401, "{line}: {answer}");
        assert!(answer.contains("www-authenticate: Bearer"), "{answer}");
        assert!(!answer.contains(&door.token), "{answer}");
    }
    assert_eq!(status(&door.says(&request("GET /.well-known/oauth-x", &[], "")).await), 404);
    assert_eq!(status(&door.asked("GET /nothing", "").await), 404);
    assert_eq!(status(&door.asked("DELETE /mcp", "").await), 405);
    assert_eq!(status(&door.asked("TRACE /mcp", "").await), 405);
}

#[tokio::test(start_paused = true)]
async fn routes_see_no_token() {
    let seen = |headers: HeaderMap| async move { format!("{headers:?}") };
    let door = Door::with(Bounds::default(), Router::new().route("/seen", get(seen))).await;
    let answer = door.asked("GET /seen", "").await;
    assert!(status(&answer) == 200 && answer.contains("localhost"), "{answer}");
    assert!(!answer.contains(&door.token), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn valid_token_enters_beside_wrong_ones() {
    let door = Door::new(Bounds::default()).await;
    let wrong = format!("Authorization: Bearer glx_{}", "A".repeat(43));
    let mut said = Vec::new();
    for _ in 0..12 {
        said.push(status(&door.says(&request("GET /mcp", &[&wrong, CLOSE], "")).await));
        assert_eq!(status(&door.asked("GET /mcp", "").await), 200);
    }
    assert_eq!(said, [[401_u16; 10].as_slice(), &[429; 2]].concat());
}

#[tokio::test(start_paused = true)]
async fn revoked_token_enters_no_more() {
    let door = Door::new(Bounds::default()).await;
    assert_eq!(status(&door.asked("GET /mcp", "").await), 200);
    assert!(door.access.revoke(&door.id).await.unwrap());
    assert_eq!(status(&door.asked("GET /mcp", "").await), 401);
}

#[tokio::test(start_paused = true)]
async fn foreign_pages_are_refused_before_tokens() {
    let door = Door::new(Bounds::default()).await;
    let origin = |origin: &str| request("POST /mcp", &[&door.bearer(), origin], "{}");
    for foreign in ["Origin: https://evil.example", "Origin: null", "Origin: http://localhost:3000"]
    {
        assert_eq!(status(&door.says(&origin(foreign)).await), 403, "{foreign}");
    }
    assert_eq!(status(&door.says(&origin("Origin: http://localhost")).await), 200);
    let rebound =
        format!("GET /mcp HTTP/1.1\r\nHost: evil.example:4100\r\n{}\r\n\r\n", door.bearer());
    assert_eq!(status(&door.says(rebound.as_bytes()).await), 421);
}

#[tokio::test(start_paused = true)]
async fn holder_that_floods_is_slowed_down() {
    let door = Door::new(Bounds { rate: 1, burst: 2, ..Default::default() }).await;
    let (mut client, _task) = door.connect();
    let one = request("GET /mcp", &[&door.bearer()], "");
    client.write_all(&one.repeat(4)).await.unwrap();
    let said = to_the_end(&mut client).await;
    assert_eq!(answers(&said), 4, "{said}");
    assert_eq!(said.matches("HTTP/1.1 429").count(), 2, "{said}");
}

#[tokio::test]
async fn address_for_others_needs_tls_and_token() {
    let door = Door::new(Bounds::default()).await;
    let listen = "0.0.0.0:0".parse().unwrap();
    let bare = WebOptions { listen, ..Default::default() };
    assert!(matches!(bind(&bare).await, Err(WebError::Exposed(_))));
    let behind_tls = WebOptions { behind_tls: true, mcp: McpOptions::default(), ..bare };
    check_tokens(&behind_tls, &door.access).await.unwrap();
    door.access.revoke(&door.id).await.unwrap();
    let refused = check_tokens(&behind_tls, &door.access).await;
    assert!(matches!(refused, Err(WebError::NoToken(_))));
    let local = WebOptions { listen: "127.0.0.1:0".parse().unwrap(), ..Default::default() };
    check_tokens(&local, &door.access).await.unwrap();
    let bound = bind(&local).await.unwrap();
    let taken = WebOptions { listen: bound.address(), ..Default::default() };
    assert!(matches!(bind(&taken).await, Err(WebError::InUse(_))));
}
