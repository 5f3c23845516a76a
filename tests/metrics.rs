//! What a monitor reads of the real program: figures without words, and health.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    outside::Caller,
    processes::wait_until,
    program::{Live, Place, repository},
};

/// Longest wait for an answer.
const BOUND: Duration = Duration::from_secs(120);
/// Words and names that stand nowhere else.
const UNUSUAL: [&str; 5] = ["quorbluth", "zyxwort", "ymborgle", "snarfwick", "flumdrake"];
const TOOL_CALLS: &str = "glyphoxa_tool_calls_total";

/// Answer to a request without a token: its head and its body.
fn got(port: u16, path: &str, headers: &str) -> (String, String) {
    let request = format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n{headers}\r\n");
    let mut socket = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    socket.set_read_timeout(Some(BOUND)).expect("a bound");
    socket.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

#[track_caller]
fn assert_status(answer: &(String, String), status: &str) {
    assert_eq!(answer.0.split(' ').nth(1), Some(status), "{answer:?}");
}

/// Value of the figure that begins with `name` and has all of these labels.
fn value(figures: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let is_it = |line: &&str| {
        line.split(['{', ' ']).next() == Some(name) && labels.iter().all(|it| line.contains(*it))
    };
    figures.lines().find(is_it)?.rsplit(' ').next()?.parse().ok()
}

/// Exit status of the container's health check at `port`.
fn health_check(port: u16) -> Option<i32> {
    let mut script = Command::new(repository("deploy/container-health"));
    script.env("GLYPHOXA_HEALTH_PORT", port.to_string()).output().expect("it runs").status.code()
}

/// A program without Discord whose NPC says and does unusual things, and its port.
fn started(place: &Place) -> (Live, u16) {
    let live = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    let listening = live.says("listening on http://127.0.0.1:");
    let port = listening.rsplit(':').next().and_then(|rest| rest.split('/').next());
    (live, port.and_then(|port| port.parse().ok()).expect("a port"))
}

/// Says, does and asks unusual things.
fn play(caller: &Caller) {
    let ask = |text: &str| caller.calls("npc.ask", &json!({ "npc": "Quorbluth", "text": text }));
    assert_eq!(ask("Snarfwick wishes a good evening")["heard"], "A flumdrake.");
    let rolled = ask("Cast the ymborgle");
    assert!(rolled["heard"].as_str().is_some_and(|it| it.contains("zyxwort")), "{rolled}");
    caller.calls("voice.speak", &json!({ "text": "Beware of the flumdrake." }));
}

#[test]
fn figures_of_an_evening_have_no_words() {
    let place = Place::with_config(
        "npcs:\n  - name: Quorbluth\n    tools: [\"dice-roller.*\"]\n    \
         voice: { provider: flite, voice_id: rms }\n    lines:\n      \
         - { when: [ymborgle], tool: { name: dice-roller.roll, arguments: { expression: 1d6 } }, \
         say: 'The zyxwort shows {result.total}.' }\n      \
         - { say: A flumdrake. }\n",
    )
    .brief();
    let (live, port) = started(&place);
    play(&Caller::new(&place, port, &[]));
    let roll = ["tool=\"dice-roller.roll\"", "outcome=\"ok\""];
    let mut answer = (String::new(), String::new());
    wait_until("the call is counted", || {
        answer = got(port, "/metrics", "");
        value(&answer.1, TOOL_CALLS, &roll).is_some()
    });
    assert_status(&answer, "200");
    assert!(answer.0.contains("text/plain; version=0.0.4"), "{}", answer.0);
    let figures = answer.1;
    assert_eq!(value(&figures, TOOL_CALLS, &roll), Some(1.0), "{figures}");
    assert_eq!(value(&figures, "glyphoxa_tables_active", &[]), Some(1.0), "{figures}");
    let spoken = ["outcome=\"spoken\"", "engine=\"cascaded\""];
    assert!(value(&figures, "glyphoxa_turns_total", &spoken).is_some_and(|it| it >= 1.0));
    let log = live.said().join("\n").to_lowercase();
    for word in UNUSUAL {
        assert!(!figures.to_lowercase().contains(word), "{word}:\n{figures}");
        // The log may name an NPC.
        assert!(word == UNUSUAL[0] || !log.contains(word), "{word}:\n{log}");
    }
    assert_status(&got(port, "/metrics", "X-Forwarded-For: 10.0.0.1\r\n"), "401");
    for path in ["/healthz", "/readyz"] {
        let answer = got(port, path, "");
        assert_status(&answer, "200");
        let body: Value = serde_json::from_str(&answer.1).expect("JSON");
        assert_eq!(body, json!({ "ok": true, "reasons": [] }));
    }
    assert_eq!(health_check(port), Some(0));
    assert_eq!(live.terminate(), 0);
    assert_eq!(health_check(port), Some(0), "without a listener nothing can be asked");
}

#[test]
fn health_check_fails_on_a_wrong_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let answering = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("it connects");
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut part = [0; 512];
            let read = socket.read(&mut part).expect("a request");
            assert_ne!(read, 0, "half a request");
            request.extend_from_slice(&part[..read]);
        }
        socket.write_all(b"HTTP/1.1 503 Service Unavailable\r\n\r\n{}").expect("it reads");
    });
    assert_eq!(health_check(port), Some(1));
    answering.join().expect("it was asked");
}
