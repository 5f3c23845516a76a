//! Flux: it ends turns itself, and says early when one is probably over.

use serde_json::Value;

use crate::support::{
    block_on,
    chat_server::ChatServer,
    deepgram::DeepgramServer,
    program::Place,
    speech::{padded, plain_wav, speech},
};

use super::{KEY, MINUTE, assert_answered, config, heard, talk_at};

const MODEL: &str = "flux-general-en";
const NEWS: &str = "Bartok, what is the news?";

/// Like [`config`], with a model that thinks.
fn thinking(server: &DeepgramServer, chat: &ChatServer) -> String {
    let llm = format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}",
        chat.base_url()
    );
    let config = config(server, MODEL, "").replacen("providers:", &llm, 1);
    config.replace("    lines: [{ say: \"That is how it is.\" }]\n", "")
}

#[test]
fn turns_end_where_the_service_says_so() {
    let server = DeepgramServer::start(KEY);
    server.says(&[NEWS]);
    server.says(&["And who are you?"]);
    let said = [
        ("Anna", 0.0, speech("rms", "Bartok what is the news")),
        ("Anna", 6.0, speech("rms", "and who are you")),
    ];
    let place = Place::with_config(&config(&server, MODEL, ""));
    let lines = talk_at(&place, &["--session", "evening"], &said).ends_with(0).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_answered(&lines[0], NEWS);
    assert_answered(&lines[1], "And who are you?");
    assert!(lines.iter().all(|line| line["partials"].as_u64() > Some(2)), "{lines:#?}");
    let [socket] = heard(&server).try_into().expect("one socket hears both");
    assert_eq!(socket.path, "/v2/listen");
    assert_eq!(socket.values("eager_eot_threshold"), ["0.5"]);
    assert_eq!(socket.values("keyterm").first(), Some(&"Bartok the Barkeep"));
    assert_eq!(socket.ordered("KeepAlive"), 0, "it would end the connection");
    assert!(socket.messages.iter().all(|bytes| *bytes == 2_560), "80 ms each: {socket:#?}");
    let stats = place.run(&["memory", "stats", "--json"]).ends_with(0).line();
    let months = stats["spent"].as_object().unwrap();
    let paid: f64 = months.values().filter_map(Value::as_f64).sum::<f64>() * 60.0 / MINUTE;
    // Silence between the two keeps the socket, and where packets have stopped is not counted.
    assert!((socket.seconds - 3.0..socket.seconds + 0.5).contains(&paid), "{paid} s, {socket:#?}");
}

#[test]
fn model_is_asked_at_early_end_before_final() {
    let (server, chat) = (DeepgramServer::start(KEY), ChatServer::start());
    server.says(&[NEWS]);
    server.holds(true);
    let place = Place::with_config(&thinking(&server, &chat));
    place
        .write("said.wav", plain_wav(&padded(0.0, &speech("rms", "Bartok what is the news"), 2.0)));
    let live = place.start(&["ask", "--json", "--realtime", "--in", "said.wav"]);
    // The end of the turn is held back until the model has answered.
    block_on(chat.answers(1));
    server.holds(false);
    let line: Value = serde_json::from_str(&live.says("\"turn\"")).unwrap();
    assert_eq!((&line["heard"], &line["outcome"]), (&NEWS.into(), &"spoken".into()), "{line:#}");
    assert_eq!(line["reply"], "Aye.", "{line:#}");
    assert_eq!(chat.requests().len(), 1, "the answer that was begun ahead is the answer");
    assert_eq!(line["ms"]["final_to_first_text"], 0.0, "it was there: {line:#}");
    assert_eq!(live.leave(), 0);
}
