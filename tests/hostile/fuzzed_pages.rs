//! Random messages, frames, cookies and bodies against the page of the real `glyphoxa rehearse`: none ends it,
//! grows it, or gets in. Short here; `GLYPHOXA_TEST_FUZZ=N` makes N times as many cases.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use futures::StreamExt;
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::Runtime,
    time::timeout,
};
use tokio_tungstenite::tungstenite::Message;

use super::peak;
use crate::{
    rehearsal_table::{Page, enters},
    support::{
        extent::times,
        program::{Live, Place},
    },
};

/// Longest wait for an answer.
const BOUND: Duration = Duration::from_secs(60);
/// Seed of the short form; the same cases each time.
const SEED: u64 = 15;
/// Bytes of a sound message.
const SOUND: usize = 640;
/// Most memory that all cases together may take, in MiB.
const GROWTH: u64 = 64;
/// Kinds of events that a page may send.
const KINDS: [&str; 8] = ["hello", "talk", "say", "played", "order", "why", "hear_voice", "tier"];
/// Members of those events, and one of none.
const MEMBERS: [&str; 9] =
    ["name", "on", "text", "npc", "turn", "samples", "command", "tier", "other"];

/// The program, and what it prints of its link.
fn rehearsing(place: &Place) -> (Live, String) {
    let live = place.start(&["rehearse", "--port", "0", "--no-open"]);
    let said = live.says("this link lets one browser in, once: http://127.0.0.1:");
    (live, said)
}

fn place() -> Place {
    Place::with_config("npcs: [{ name: Bartok, lines: [{ say: Hm. }] }]\n").brief()
}

/// Asserts that the program has stayed small, and ends it.
#[track_caller]
fn ends_in_order(live: Live, before: u64) {
    let grown = peak(&live).saturating_sub(before);
    assert!(grown <= GROWTH, "{grown} MiB");
    let said = live.said();
    assert!(!said.iter().any(|line| line.contains("panicked")), "{said:#?}");
    assert_eq!(live.terminate(), 0);
}

fn value(rng: &mut StdRng) -> Value {
    match rng.random_range(0..12) {
        0 => Value::Null,
        1 => json!(rng.random_bool(0.5)),
        2 => json!(rng.random_range(-3..3)),
        3 => json!(u64::MAX),
        4 => json!(1.5),
        5 => json!("x".repeat(rng.random_range(0..6_000))),
        6 => json!("/nonsense \u{202e}\0 \u{1b}[2J"),
        7 => json!("/roll 1d6"),
        8 => json!([[1], {}]),
        9 => json!("deep"),
        _ => json!("Bartok"),
    }
}

/// An event that is taken.
fn right_event(rng: &mut StdRng) -> Value {
    let (on, bits) = (rng.random_bool(0.5), rng.random_range(0..64_u32));
    let (number, tier) = (rng.random::<u64>() >> bits, on.then_some("deep"));
    let all = [
        json!({ "type": "hello", "name": "Ada\u{202e}" }),
        json!({ "type": "talk", "on": on }),
        json!({ "type": "say", "text": "Bartok, good evening" }),
        json!({ "type": "say", "text": "/roll 1d6", "npc": "nobody" }),
        json!({ "type": "played", "turn": number % 4, "samples": number }),
        json!({ "type": "order", "command": "/nonsense \u{1b}[2J" }),
        json!({ "type": "why", "turn": number }),
        json!({ "type": "hear_voice", "npc": "Bartok" }),
        json!({ "type": "tier", "tier": tier }),
    ];
    all.choose(rng).unwrap().clone()
}

/// An event that is mostly refused.
fn event(rng: &mut StdRng) -> Value {
    let kind = if rng.random_bool(0.9) { *KINDS.choose(rng).unwrap() } else { "shutdown" };
    let mut event = json!({ "type": kind });
    for _ in 0..rng.random_range(0..5) {
        let member = *MEMBERS.choose(rng).unwrap();
        event[member] = value(rng);
    }
    event
}

/// Spoils a text at up to four places.
fn spoilt(rng: &mut StdRng, text: &str) -> String {
    let mut text: Vec<char> = text.chars().collect();
    for _ in 0..rng.random_range(0..5) {
        let at = rng.random_range(0..=text.len());
        match rng.random_range(0..5) {
            0 => text.truncate(at),
            1 => text.insert(at, *['"', '{', '}', '\\', '\0', 'é', '9', ','].choose(rng).unwrap()),
            2 => text.insert(at, '\u{202e}'),
            3 => drop(text.splice(at..at, "[".repeat(300).chars())),
            _ if at < text.len() => _ = text.remove(at),
            _ => {}
        }
    }
    text.into_iter().collect()
}

/// A message of a page: an event, whole or spoilt, or bytes.
fn message(rng: &mut StdRng) -> Message {
    match rng.random_range(0..20) {
        0..3 => Message::text(event(rng).to_string()),
        3..8 => Message::text(right_event(rng).to_string()),
        8 => {
            let text = right_event(rng).to_string();
            Message::text(spoilt(rng, &text))
        }
        9 => Message::binary(vec![0x80_u8; rng.random_range(0..2_000)]),
        10 => Message::Ping(vec![1_u8; rng.random_range(0..125)].into()),
        11 => Message::Pong(Vec::<u8>::new().into()),
        _ => Message::binary((0..SOUND).map(|_| rng.random()).collect::<Vec<u8>>()),
    }
}

/// True if no version of the program may take this.
fn is_odd(message: &Message) -> bool {
    match message {
        Message::Text(text) => {
            let event: Option<Value> = serde_json::from_str(text).ok();
            let kind = event.as_ref().and_then(|it| it["type"].as_str());
            !kind.is_some_and(|kind| KINDS.contains(&kind))
        }
        Message::Binary(sound) => sound.len() != SOUND,
        _ => false,
    }
}

/// Waits until the page is greeted as `marker`, which its last message asks for (true), or its socket is
/// closed with a reason (false).
async fn is_greeted(page: &mut Page, marker: &str) -> bool {
    let mut reason = None;
    loop {
        let received = timeout(BOUND, page.socket.next()).await.expect("in time");
        match received {
            Some(Ok(Message::Text(text))) => {
                let event: Value = serde_json::from_str(&text).expect("JSON");
                if event["type"] == "welcome" && event["player"] == marker {
                    return true;
                }
                if event["type"] == "bye" {
                    reason = event["reason"].as_str().map(str::to_owned);
                }
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => {
                let reason = reason.expect("it is told why");
                assert!(reason.contains('('), "no way out: {reason}");
                return false;
            }
        }
    }
}

#[test]
fn no_message_of_a_page_ends_the_program() {
    let (place, mut rng) = (place(), StdRng::seed_from_u64(SEED));
    let (live, said) = rehearsing(&place);
    let before = peak(&live);
    Runtime::new().expect("a runtime").block_on(async {
        let (host, cookie) = enters(&said).await;
        let mut stayed = 0;
        for case in 0..60 * times() {
            let messages: Vec<_> = (0..rng.random_range(1..8)).map(|_| message(&mut rng)).collect();
            let mut page = Page::open(&host, &cookie, "Ada").await;
            for message in &messages {
                // One that is refused reads no further.
                page.tries_to_send(message.clone()).await;
            }
            let marker = format!("Marker {case}");
            let hello = json!({ "type": "hello", "name": marker });
            page.tries_to_send(Message::text(hello.to_string())).await;
            let greeted = is_greeted(&mut page, &marker).await;
            let is_odd = messages.iter().any(is_odd);
            assert!(!(greeted && is_odd), "case {case}: {messages:?}");
            stayed += u32::from(greeted);
        }
        eprintln!("{stayed} pages stayed");
        assert!(stayed > 0, "every case is refused");
    });
    ends_in_order(live, before);
}

/// Bytes that are no frame, or an odd one: any opcode, flag and length, masked or not.
fn frame(rng: &mut StdRng) -> Vec<u8> {
    let mut bytes = vec![rng.random::<u8>()];
    match rng.random_range(0..4) {
        0 => {
            bytes.push(0xff);
            bytes.extend(rng.random::<u64>().to_be_bytes());
        }
        1 => {
            bytes.push(0xfe);
            bytes.extend(rng.random::<u16>().to_be_bytes());
        }
        2 => bytes.push(rng.random()),
        _ => bytes.push(rng.random_range(0x80..0xfe_u8)),
    }
    bytes.extend((0..rng.random_range(0..300)).map(|_| rng.random::<u8>()));
    bytes
}

#[test]
fn no_frame_of_a_page_ends_the_program() {
    let (place, mut rng) = (place(), StdRng::seed_from_u64(SEED));
    let (live, said) = rehearsing(&place);
    let before = peak(&live);
    Runtime::new().expect("a runtime").block_on(async {
        let (host, cookie) = enters(&said).await;
        for case in 0..100 * times() {
            let bytes: Vec<u8> =
                (0..rng.random_range(1..4)).flat_map(|_| frame(&mut rng)).collect();
            let mut page = Page::open(&host, &cookie, "Ada").await;
            let stream = page.socket.get_mut();
            // A server that refuses reads no further.
            _ = stream.write_all(&bytes).await;
            _ = stream.shutdown().await;
            let mut rest = Vec::new();
            let closed = timeout(BOUND, stream.read_to_end(&mut rest)).await;
            assert!(closed.is_ok(), "case {case} stays open: {bytes:?}");
        }
        let mut page = Page::open(&host, &cookie, "Ben").await;
        page.next("welcome", |_| true).await;
    });
    ends_in_order(live, before);
}

/// Status of the answer to a request with this line, these headers and this body.
fn status(host: &str, line: &str, headers: &[&str], body: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(BOUND)).expect("a socket");
    stream.set_write_timeout(Some(BOUND)).expect("a socket");
    let headers = headers.join("\r\n");
    let head =
        format!("{line} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n{headers}\r\n\r\n");
    // A server that refuses reads no further.
    _ = stream.write_all(&[head.as_bytes(), body].concat());
    let mut start = [0; 12];
    stream.read_exact(&mut start).expect("an answer");
    let start = String::from_utf8_lossy(&start).into_owned();
    start.rsplit(' ').next().and_then(|it| it.parse().ok()).expect("a status")
}

/// Host in a printed link.
fn host_in(said: &str) -> String {
    let rest = said.split_once("http://").expect("a link").1;
    rest.split_once('/').expect("an address").0.to_owned()
}

/// A body of `POST /enter` without a right token.
fn body(rng: &mut StdRng) -> Vec<u8> {
    let whole = match rng.random_range(0..5) {
        0 => json!({ "token": "A".repeat(rng.random_range(0..100)) }),
        1 => json!({ "token": value(rng) }),
        2 => json!({ "token": "x", "other": value(rng) }),
        3 => value(rng),
        _ => json!({ "token": "x".repeat(rng.random_range(0..60_000)) }),
    };
    match rng.random_bool(0.2) {
        true => (0..rng.random_range(0..300)).map(|_| rng.random()).collect(),
        false => spoilt(rng, &whole.to_string()).into_bytes(),
    }
}

#[test]
fn no_body_enters_without_the_token() {
    let (place, mut rng) = (place(), StdRng::seed_from_u64(SEED));
    let (live, said) = rehearsing(&place);
    let (host, before) = (host_in(&said), peak(&live));
    let kinds = ["application/json", "application/json; charset=utf-8", "text/plain", "", "/;;"];
    for case in 0..300 * times() {
        let body = body(&mut rng);
        let kind = if rng.random_bool(0.8) { kinds[0] } else { *kinds.choose(&mut rng).unwrap() };
        let (kind, length) =
            (format!("Content-Type: {kind}"), format!("Content-Length: {}", body.len()));
        let headers = [kind.as_str(), length.as_str(), "Connection: close"];
        let answer = status(&host, "POST /enter", &headers, &body);
        assert!([400, 401, 415, 429].contains(&answer), "case {case}: {answer} {kind}");
    }
    // The right one enters all the same.
    Runtime::new().expect("a runtime").block_on(async { drop(enters(&said).await) });
    ends_in_order(live, before);
}

/// Status that a socket with these cookies gets, of which `right` is the only right one.
fn expected(cookies: &str, right: &str) -> u16 {
    match cookies.split(';').any(|it| it.trim() == right) {
        _ if cookies.contains('\0') => 400,
        true if cookies.is_ascii() => 101,
        _ => 401,
    }
}

/// Cookies, of which a few are right.
fn cookies(rng: &mut StdRng, right: &str) -> String {
    let mut text: Vec<char> = right.chars().collect();
    for _ in 0..rng.random_range(0..4) {
        let at = rng.random_range(0..=text.len());
        let odd = *['"', '=', ';', ' ', '.', '-', 'A', '9', 'é', '\0'].choose(rng).unwrap();
        match rng.random_range(0..6) {
            0 => text.truncate(at),
            1 => text.insert(at, odd),
            2 => drop(text.splice(at..at, "A".repeat(300).chars())),
            3 => text.extend(format!("; {right}").chars()),
            _ if at < text.len() => text[at] = odd,
            _ => {}
        }
    }
    text.into_iter().collect()
}

#[test]
fn no_spoilt_cookie_opens_a_socket() {
    let (place, mut rng) = (place(), StdRng::seed_from_u64(SEED));
    let (live, said) = rehearsing(&place);
    let before = peak(&live);
    let runtime = Runtime::new().expect("a runtime");
    let (host, right) = runtime.block_on(enters(&said));
    let handshake = [
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ];
    for case in 0..300 * times() {
        let cookies = cookies(&mut rng, &right);
        let header = format!("Cookie: {cookies}");
        let headers = [&handshake[..], &[header.as_str()]].concat();
        let answer = status(&host, "GET /table", &headers, b"");
        assert_eq!(answer, expected(&cookies, &right), "case {case}: {cookies:?}");
    }
    runtime.block_on(async {
        let mut page = Page::open(&host, &right, "Ada").await;
        page.next("welcome", |_| true).await;
    });
    ends_in_order(live, before);
}
