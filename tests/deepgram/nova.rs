//! Nova: the table ends utterances, and asks for all there is.

use crate::support::{deepgram::DeepgramServer, speech::speech};

use super::{KEY, MINUTE, assert_answered, config, heard, talk};

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
fn socket_is_kept_for_what_its_speaker_says_next() {
    let server = DeepgramServer::start(KEY);
    let texts = ["Hello Bartok.", "Hello again Bartok."];
    server.says_each(&texts);
    let said = [
        ("Anna", 0.0, speech("rms", "hello Bartok")),
        ("Anna", 5.0, speech("rms", "hello again Bartok")),
    ];
    let lines = talk(&config(&server, "nova-3", ""), &said).ends_with(0).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
    lines.iter().zip(texts).for_each(|(line, text)| assert_answered(line, text));
    let [socket] = heard(&server).try_into().expect("one socket hears both");
    assert!(socket.ordered("Finalize") >= 2, "{socket:#?}");
}
