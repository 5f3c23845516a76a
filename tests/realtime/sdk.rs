//! The counterpart itself, and what the program sends it, held against the vendor's own client.
//! `./dev test` installs it.

use serde_json::{Value, json};

use super::KEY;
use crate::{
    support::{
        program::run,
        voice_models::{Answer, Seen, Service, VoiceServer},
    },
    third_party::{client, installed},
};

/// Codes of the mistakes that the client makes on purpose, and the ids of their events.
const MISTAKES: [(&str, &str); 3] = [
    ("unknown_parameter", "flat"),
    ("invalid_value", "beyond"),
    ("input_audio_buffer_commit_empty", "silent"),
];
/// Members of a session that the client's type of its event leaves out.
const UNTYPED: [&str; 3] = ["expires_at", "id", "object"];

/// All orders of `sessions`, events of these `kinds` among them, fit the vendor's types exactly. The other service's messages are held against its own vendor's.
#[track_caller]
pub fn assert_typed(service: Service, sessions: &[Seen], kinds: &[&str]) {
    if service == Service::Gemini {
        return crate::gemini::sdk::assert_typed(sessions);
    }
    let Some(folder) = installed("openai-sdk") else { return };
    let orders = sessions.iter().flat_map(|it| &it.orders);
    let sent: String = orders.map(|order| format!("{order}\n")).collect();
    let told = run(client(&folder, "realtime"), &sent).ends_with(0).line();
    assert_eq!(told["unknown"], json!([]), "{told:#}");
    let sent = told["events"].as_array().expect("kinds of events");
    for kind in kinds {
        assert!(sent.iter().any(|it| it == kind), "no {kind}: {told:#}");
    }
}

#[test]
fn vendors_own_client_is_served_alike() {
    let Some(folder) = installed("openai-sdk") else { return };
    let server = VoiceServer::start(Service::OpenAi, KEY);
    server.push(Answer::call("roll", json!({"expression": "2d6+3"})));
    server.push(Answer::say("The dice have fallen.", 1.2));
    server.push(Answer::say("It was a dark and stormy night when the ship left.", 120.0));
    let mut client = client(&folder, "realtime");
    client.args([&server.base_url(), KEY]);
    let told = run(client, "").ends_with(0).line();
    assert_eq!(
        told["session"],
        json!({"first": "session.created", "model": "gpt-realtime-2.1", "turns": null,
            "rates": [24_000, 24_000], "voice": "cedar", "tools": ["roll"], "most": 4096})
    );
    assert_answers(&told);
    let mistakes: Vec<Value> = MISTAKES.iter().map(|(code, event)| json!([code, event])).collect();
    assert_eq!(told["mistakes"], json!(mistakes), "{told:#}");
    assert_eq!(told["refused"], json!([401, "invalid_api_key"]), "{told:#}");
    let code = "beta_api_shape_disabled";
    let retired = json!([code, 4000, format!("invalid_request_error.{code}")]);
    assert_eq!(told["retired"], retired, "{told:#}");
    let untyped: Vec<String> = ["created", "updated"]
        .iter()
        .flat_map(|kind| UNTYPED.map(|name| format!("session.{kind}.session.{name}")))
        .collect();
    assert_eq!(told["unknown"], json!(untyped), "the client's types lack more of what is said");
    assert_understood(&server);
}

/// Checks the three answers that the client received.
#[track_caller]
fn assert_answers(told: &Value) {
    let (call, answer, stopped) = (&told["call"], &told["answer"], &told["stopped"]);
    let called = json!(["call_0_0", "roll", {"expression": "2d6+3"}]);
    assert_eq!((&call["call"], &call["result_of"]), (&called, &json!("call_0_0")), "{call:#}");
    assert_eq!((&call["one_item"], &call["in_pieces"]), (&json!(true), &json!(true)), "{call:#}");
    assert_eq!(call["output"], json!([["function_call", "completed"]]), "{call:#}");
    assert_eq!((&call["usage"]["heard"], &call["usage"]["spoken"]), (&json!(10), &json!(0)));
    assert_eq!(
        (&answer["text"], &answer["seconds"], &answer["status"]),
        (&json!("The dice have fallen."), &json!(1.2), &json!("completed")),
        "{answer:#}"
    );
    assert_eq!(answer["usage"]["spoken"], 24, "{answer:#}");
    assert!(answer["usage"]["cached"].as_u64() > Some(9), "{answer:#}");
    assert_eq!(
        (&stopped["status"], &stopped["reason"]),
        (&json!("cancelled"), &json!("client_cancelled")),
        "{stopped:#}"
    );
    let seconds = stopped["seconds"].as_f64().expect("seconds");
    assert!((0.1..100.0).contains(&seconds), "{stopped:#}");
    assert_eq!(stopped["output"], json!([["message", "incomplete"]]), "{stopped:#}");
    assert_eq!(stopped["cut"], json!([true, 100]), "{stopped:#}");
}

/// The service has understood all that the client meant, and nothing else.
#[track_caller]
fn assert_understood(server: &VoiceServer) {
    let seen = server.ended();
    let [talk, refused, retired] = seen.as_slice() else { panic!("{} sessions", seen.len()) };
    let codes: Vec<&str> =
        talk.mistakes.iter().filter_map(|it| Some(it.split_once(':')?.0)).collect();
    assert_eq!(codes, MISTAKES.map(|(code, _)| code), "{:#?}", talk.mistakes);
    assert_eq!((talk.seconds(), talk.committed.as_slice()), (1.0, [1.0].as_slice()));
    assert_eq!((talk.voice.as_deref(), talk.declared.len()), (Some("cedar"), 1));
    let [(call, output)] = talk.results.as_slice() else { panic!("{:#?}", talk.results) };
    assert_eq!((call.as_str(), output.as_str()), ("call_0_0", "[{\"total\": 9}]"));
    assert!(talk.has_item("user", "tell us all of it"), "{:#?}", talk.items);
    assert_eq!((talk.answers, talk.cancels, talk.cleared), (3, 1, 1));
    assert_eq!(talk.truncations, [("item_2_0".to_owned(), 100)]);
    assert!(refused.refused.is_some() && retired.orders.is_empty(), "{retired:#?}");
}
