//! `GET /v2/voices`, in two pages.

use reqwest::Url;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{GEORGE, detail};

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
    let has_key = request.lines().any(|line| {
        let header = line.split_once(": ");
        header.is_some_and(|(name, it)| name.eq_ignore_ascii_case("xi-api-key") && it == key)
    });
    let target = request.split_whitespace().nth(1).unwrap_or_default();
    let (status, body) = match has_key {
        true => page(target),
        false => ("401 Unauthorized", detail("invalid_api_key", "Invalid API key")),
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
    let size = value("page_size").unwrap_or_else(|| "10".to_owned()).parse::<u32>();
    if !size.is_ok_and(|size| (1..=100).contains(&size)) {
        return ("422 Unprocessable Entity", detail("invalid_page_size", "refused"));
    }
    let voice = |id: &str, name: &str, gender: &str| {
        json!({
            "voice_id": id, "name": name, "category": "premade",
            "labels": {"gender": gender, "age": "middle_aged", "use_case": "narration"},
            "verified_languages": [{"language": "en", "model_id": "eleven_flash_v2_5"}],
        })
    };
    match value("next_page_token").as_deref() {
        None => {
            let voices = [voice(GEORGE, "George", "male")];
            let page = json!({"voices": voices, "has_more": true, "total_count": 2,
                "next_page_token": "page-2"});
            ("200 OK", page)
        }
        Some("page-2") => {
            let voices = [voice("EXAVITQu4vr4xnSDxMaL", "Sarah", "female")];
            let page = json!({"voices": voices, "has_more": false, "total_count": 2,
                "next_page_token": null});
            ("200 OK", page)
        }
        Some(_) => ("400 Bad Request", detail("invalid_page_token", "refused")),
    }
}
