//! `GET /voices`, in pages of at most one voice.

use reqwest::Url;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{BARKEEP, NEWER, OLDER, error};

const SECOND: &str = "694f9389-aac1-45b6-b726-9d9369183238";

pub async fn answer(mut stream: TcpStream, key: &str) {
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(read) => request.extend_from_slice(&piece[..read]),
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let header = |wanted: &str| {
        let lines = request.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.next().map(|(_, value)| value.to_owned())
    };
    let target = request.split_whitespace().nth(1).unwrap_or_default();
    let version = header("cartesia-version").unwrap_or_default();
    let (status, body) = match () {
        () if header("authorization") != Some(format!("Bearer {key}")) => {
            ("401 Unauthorized", error(None, "Invalid API key"))
        }
        () if ![OLDER, NEWER].contains(&version.as_str()) => {
            ("400 Bad Request", error(None, "Cartesia-Version is missing"))
        }
        () => page(target),
    };
    let body = body.to_string();
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn page(target: &str) -> (&'static str, Value) {
    let url = Url::parse(&format!("http://localhost{target}")).expect("an address");
    let value = |name: &str| {
        let found = url.query_pairs().find(|(key, _)| key == name);
        found.map(|(_, value)| value.into_owned())
    };
    let limit = value("limit").unwrap_or_else(|| "10".to_owned()).parse::<u32>();
    if !limit.is_ok_and(|limit| (1..=100).contains(&limit)) {
        return ("400 Bad Request", error(None, "invalid limit"));
    }
    match value("starting_after").as_deref() {
        None => ("200 OK", one(&[voice(BARKEEP, "Barkeep", "masculine")], true)),
        Some(BARKEEP) => ("200 OK", one(&[voice(SECOND, "Sage", "feminine")], false)),
        Some(SECOND) => ("200 OK", one(&[], false)),
        Some(_) => ("400 Bad Request", error(None, "invalid starting_after")),
    }
}

fn one(voices: &[Value], has_more: bool) -> Value {
    json!({"data": voices, "has_more": has_more, "next_page": null})
}

fn voice(id: &str, name: &str, gender: &str) -> Value {
    json!({
        "id": id, "name": name, "gender": gender, "language": "en", "tagline": "Worn",
        "description": "A worn voice", "access": "public", "visibility": "all", "is_owner": false,
        "created_at": "2026-01-01T00:00:00Z",
        "locales": [{"locale": "en-US", "is_native": true}],
    })
}
