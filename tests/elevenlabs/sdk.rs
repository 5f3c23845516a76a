//! The counterpart itself, held against the vendor's own client. `./dev test` installs it.

use serde_json::json;

use super::KEY;
use crate::{
    support::{
        elevenlabs::{ElevenLabsServer, GEORGE},
        program::run,
    },
    third_party::{client, installed},
};

const TEXT: &str = "Well met, friend.";

#[test]
fn elevenlabs_own_client_is_served_alike() {
    let Some(folder) = installed("elevenlabs-sdk") else { return };
    let server = ElevenLabsServer::start(KEY);
    let mut client = client(&folder, "elevenlabs");
    client.args([&server.base_url(), KEY, GEORGE, TEXT]);
    let told = run(client, "").ends_with(0).line();
    // With a blank behind it, at 60 ms a character.
    assert_eq!(told["spoken"], json!({"text": format!("{TEXT} "), "ms": 1_080}), "{told:#}");
    assert_eq!(told["contexts"], json!(["a", "b"]), "{told:#}");
    assert_eq!(told["sixth"], json!("max_active_conversations"), "{told:#}");
    assert_eq!(told["voices"], json!(["George", "Sarah"]), "{told:#}");
    assert_eq!(told["refused"], json!(401), "{told:#}");
}
