//! Faults of the service: told to the game master, never spoken, and over in time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{
    deepgram::{DeepgramServer, Fault},
    speech::speech,
};

use super::{KEY, assert_answered, assert_unheard, by_speaker, config, talk};

/// Nobody waits longer for the end of a talk of a few seconds.
const BOUND: Duration = Duration::from_secs(60);
const TEXT: &str = "Hello there my good friend Bartok.";

/// One utterance of each speaker whose socket has a fault ends as given; the next speaker begins when the one
/// before has. `None`: it is answered.
fn assert_all(model: &str, faults: &[(&str, &[Fault], Option<&str>)]) {
    let begun = Instant::now();
    let server = DeepgramServer::start(KEY);
    // The table looks first whether it is there.
    server.fault(Fault::None);
    let mut said = Vec::new();
    for (number, (speaker, faults, _)) in faults.iter().enumerate() {
        faults.iter().for_each(|fault| server.fault(fault.clone()));
        let at = f64::from(u32::try_from(number).unwrap()) * 4.0;
        said.push((*speaker, at, speech("rms", "hello there my good friend Bartok")));
    }
    // Some are heard without being understood.
    faults.iter().for_each(|_| server.says(&[TEXT]));
    let ran = talk(&config(&server, model, ", idle_timeout_ms: 1000"), &said);
    assert!(!ran.stderr.contains(KEY), "{ran:#?}");
    let lines = by_speaker(ran.lines());
    for (speaker, _, detail) in faults {
        let line = lines.get(*speaker).unwrap_or(&Value::Null);
        match detail {
            Some(detail) => assert_unheard(line, detail),
            None => assert_answered(line, TEXT),
        }
    }
    assert_eq!(lines.len(), faults.len(), "{lines:#?}");
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
}

fn refuse(status: u16, headers: &[(&'static str, &'static str)]) -> Fault {
    let body = json!({"err_code": "SOME_CODE", "err_msg": "no", "request_id": "r-1"});
    Fault::Refuse(status, headers.to_vec(), body)
}

#[test]
fn handshakes_that_fail() {
    assert_all(
        "nova-3",
        &[
            ("Key", &[refuse(401, &[])], Some("the key was refused with status 401")),
            ("Quota", &[refuse(402, &[])], Some("the account has no credit with status 402")),
            ("Many", &[refuse(429, &[])], Some("too many streams at once with status 429")),
            ("Wait", &[refuse(429, &[("retry-after", "1")]), Fault::None], None),
            (
                "Long",
                &[refuse(429, &[("retry-after", "60")])],
                Some("too many streams at once with status 429"),
            ),
            ("Once", &[refuse(503, &[]), Fault::None], None),
        ],
    );
}

#[test]
fn sockets_of_nova_that_fail() {
    assert_all(
        "nova-3",
        &[
            ("Stall", &[Fault::Stall(0.5)], Some("has stopped answering")),
            ("Cut", &[Fault::Cut(0.5)], Some("the connection broke off")),
            ("Bare", &[Fault::Close(0.5, None)], Some("the connection broke off")),
            (
                "Close",
                &[Fault::Close(0.5, Some((1011, "NET-0000")))],
                Some("the service closed the connection (1011)"),
            ),
            ("Error", &[Fault::Error(0.5, "INTERNAL")], Some("the service failed with INTERNAL")),
            ("Strange", &[Fault::Strange], None),
        ],
    );
}

#[test]
fn sockets_of_flux_that_fail() {
    assert_all(
        "flux-general-en",
        &[
            ("Stall", &[Fault::Stall(0.5)], Some("has stopped answering")),
            ("Cut", &[Fault::Cut(0.5)], Some("the connection broke off")),
            ("Bare", &[Fault::Close(0.5, None)], Some("the connection broke off")),
            ("Many", &[refuse(429, &[])], Some("too many streams at once with status 429")),
            ("Error", &[Fault::Error(0.5, "INTERNAL")], Some("the service failed with INTERNAL")),
            ("Strange", &[Fault::Strange], None),
        ],
    );
}
