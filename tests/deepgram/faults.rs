//! Faults of the service: told to the game master, never spoken. Each of them is met where the client is
//! (`src/provider/deepgram/tests.rs`).

use serde_json::{Value, json};

use crate::support::{
    deepgram::{DeepgramServer, Fault},
    speech::speech,
};

use super::{KEY, assert_answered, assert_unheard, by_speaker, config, talk};

const TEXT: &str = "Hello there my good friend Bartok.";

/// One utterance of each speaker whose socket has a fault ends as given; the next speaker begins when the one
/// before has. `None`: it is answered.
fn assert_all(model: &str, faults: &[(&str, Fault, Option<&str>)]) {
    let server = DeepgramServer::start(KEY);
    // The table looks first whether it is there.
    server.fault(Fault::None);
    let mut said = Vec::new();
    for (number, (speaker, fault, _)) in faults.iter().enumerate() {
        server.fault(fault.clone());
        let at = f64::from(u32::try_from(number).unwrap()) * 4.0;
        said.push((*speaker, at, speech("rms", "hello there my good friend Bartok")));
    }
    // Some are heard without being understood.
    faults.iter().for_each(|_| server.says(&[TEXT]));
    let ran = talk(&config(&server, model, ""), &said);
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
}

#[test]
fn faults_of_nova_are_reported_and_unspoken() {
    let body = json!({"err_code": "SOME_CODE", "err_msg": "no", "request_id": "r-1"});
    assert_all(
        "nova-3",
        &[
            (
                "Key",
                Fault::Refuse(401, Vec::new(), body),
                Some("the key was refused with status 401"),
            ),
            ("Cut", Fault::Cut(0.5), Some("the connection broke off")),
            ("Next", Fault::None, None),
        ],
    );
}

#[test]
fn faults_of_flux_are_reported_and_unspoken() {
    assert_all(
        "flux-general-en",
        &[
            ("Error", Fault::Error(0.5, "INTERNAL"), Some("the service failed with INTERNAL")),
            ("Next", Fault::None, None),
        ],
    );
}
