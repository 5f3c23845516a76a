//! Nova: the table ends utterances, and asks for all there is.

use crate::support::{
    deepgram::{DeepgramServer, Fault},
    speech::{padded, speech},
};

use super::{KEY, MINUTE, assert_answered, assert_unheard, by_speaker, config, heard, talk};

const ROLL: &str = "Bartok, roll two d six plus three.";

#[test]
fn words_arrive_live_and_are_billed_per_minute() {
    let server = DeepgramServer::start(KEY);
    server.says(&[ROLL]);
    let said = speech("rms", "Bartok, roll two d six plus three");
    let line = talk(&config(&server, "nova-3", ""), &[("Anna", 0.0, said)]).ends_with(0).line();
    assert_answered(&line, ROLL);
    assert!(line["partials"].as_u64() > Some(2), "{line:#}");
    let [socket] = heard(&server).try_into().expect("one socket hears");
    assert_eq!(socket.path, "/v1/listen");
    assert_eq!((socket.values("language"), socket.values("model")), (vec!["en"], vec!["nova-3"]));
    assert_eq!(socket.values("keyterm").first(), Some(&"Bartok the Barkeep"));
    assert!(socket.ordered("Finalize") > 0, "{socket:#?}");
    // Sound that was held back at the end is paid for, too: at most what an utterance waits.
    let paid = line["spent"].as_f64().unwrap() * 60.0 / MINUTE;
    assert!((socket.seconds - 0.01..socket.seconds + 1.2).contains(&paid), "{paid} s, {socket:#?}");
}

#[test]
fn pause_within_an_utterance_loses_nothing() {
    let server = DeepgramServer::start(KEY);
    server.says(&["Bartok, I would like to", "order a room."]);
    let rest = padded(0.35, &speech("rms", "order a room"), 0.0);
    let said = [speech("rms", "Bartok, I would like to"), rest].concat();
    let line = talk(&config(&server, "nova-3", ""), &[("Anna", 0.0, said)]).ends_with(0).line();
    assert_answered(&line, "Bartok, I would like to order a room.");
    let [socket] = heard(&server).try_into().expect("one socket hears");
    assert!(socket.ordered("Finalize") >= 2, "in the pause and at the end: {socket:#?}");
}

#[test]
fn socket_is_kept_for_its_speaker_alone() {
    let server = DeepgramServer::start(KEY);
    let texts = ["Hello Bartok.", "Hello again Bartok.", "Good evening Bartok."];
    server.says_each(&texts);
    let said = |text: &str| speech("rms", text);
    let ran = talk(
        &config(&server, "nova-3", ", max_streams: 1"),
        &[
            ("Anna", 0.0, said("hello Bartok")),
            ("Anna", 7.0, said("hello again Bartok")),
            ("Ben", 11.0, said("good evening Bartok")),
        ],
    );
    let lines = ran.ends_with(0).lines();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    lines.iter().zip(texts).for_each(|(line, text)| assert_answered(line, text));
    let [anna, ben] = heard(&server).try_into().expect("a socket for each of the two");
    assert!(anna.ordered("Finalize") >= 2 && anna.ordered("KeepAlive") >= 1, "{anna:#?}");
    assert!(ben.ordered("Finalize") >= 1, "{ben:#?}");
    // Only one stream is allowed: the socket that only waited has given it up.
    assert!(anna.ended.is_some(), "{anna:#?}");
}

#[test]
fn dead_idle_socket_is_replaced_without_loss() {
    let server = DeepgramServer::start(KEY);
    let texts = ["Hello Bartok.", "Hello again Bartok."];
    server.says_each(&texts);
    let first = speech("rms", "hello Bartok");
    server.fault(Fault::None);
    server.fault(Fault::Gone);
    let ran = talk(
        &config(&server, "nova-3", ""),
        &[("Anna", 0.0, first), ("Anna", 4.0, speech("rms", "hello again Bartok"))],
    );
    let lines = ran.ends_with(0).lines();
    lines.iter().zip(texts).for_each(|(line, text)| assert_answered(line, text));
    let sockets = heard(&server);
    assert_eq!(sockets.len(), 2, "{sockets:#?}");
    assert_eq!(sockets[0].ended.as_deref(), Some("cut"));
}

#[test]
fn streams_beyond_plan_limit_are_not_requested() {
    let server = DeepgramServer::start(KEY);
    let text = "Bartok, how are you doing this fine evening?";
    server.says(&[text]);
    let long = speech("rms", "Bartok how are you doing this fine evening");
    let ran = talk(
        &config(&server, "nova-3", ", max_streams: 1"),
        &[("Anna", 0.0, long), ("Ben", 0.6, speech("slt", "and I say hello"))],
    );
    let lines = by_speaker(ran.lines());
    assert_answered(&lines["Anna"], text);
    assert_unheard(&lines["Ben"], "all 1 streams are in use");
    assert_eq!(heard(&server).len(), 1);
}
