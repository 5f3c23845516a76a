use futures::TryStreamExt;
use serde_json::json;

use super::*;
use crate::audio;
use crate::provider::remote::{
    chat_server::{ChatServer, Script, Step},
    options,
};

/// 20 ms beginning with `samples`.
fn frame(samples: &[i16]) -> audio::Frame {
    audio::Frame::padded(samples, SampleRate::HZ_16000)
}

async fn hear(server: &ChatServer, chunks: &[&[i16]]) -> Result<Vec<SpeechEvent>, Error> {
    let stt = Transcription::new(options(&server.base_url()), Some("en".into())).unwrap();
    let (audio, chunks_in) = mpsc::channel(8);
    for chunk in chunks {
        audio.send(frame(chunk)).await.unwrap();
    }
    drop(audio);
    stt.listen(chunks_in, Attempts::default()).try_collect().await
}

fn heard(text: &str) -> SpeechEvent {
    SpeechEvent::Final { text: text.to_owned() }
}

fn finals(text: &str) -> Vec<SpeechEvent> {
    vec![heard(text)]
}

#[tokio::test]
async fn utterance_is_uploaded_as_wav() {
    let server = ChatServer::start();
    server.push(Script::json(200, &json!({"text": " well met\n", "usage": {"type": "tokens"}})));
    assert_eq!(hear(&server, &[&[1, 2], &[3]]).await.unwrap(), finals("well met"));
    let request = &server.requests()[0];
    assert_eq!(request.refused, None);
    let body = String::from_utf8_lossy(&request.body);
    for part in ["name=\"language\"\r\n\r\nen", "name=\"model\"\r\n\r\ntest-model", "audio/wav"] {
        assert!(body.contains(part), "{part} in {body}");
    }
    let samples = [frame(&[1, 2]).samples(), frame(&[3]).samples()].concat();
    let wav = write_wav(&Clip { samples, rate: SampleRate::HZ_16000 });
    assert!(request.body.windows(wav.len()).any(|window| window == wav));
}

#[tokio::test]
async fn silence_is_not_sent() {
    let server = ChatServer::start();
    assert_eq!(hear(&server, &[]).await.unwrap(), finals(""));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn answers_of_every_kind_are_read() {
    let server = ChatServer::start();
    server.push(Script::plain(200, "text/plain").raw("well met\n"));
    server.push(Script::plain(200, "text/plain").raw("{\"text\":\"well met\"}"));
    server.push(
        Script::stream()
            .event(&json!({"type": "transcript.text.delta", "delta": "well"}))
            .event(&json!({"type": "transcript.text.done", "text": "well met"})),
    );
    for _ in 0..3 {
        assert_eq!(hear(&server, &[&[1]]).await.unwrap(), finals("well met"));
    }
}

#[tokio::test]
async fn failures_have_kinds_and_transient_ones_retry() {
    let server = ChatServer::start();
    server.push(Script::error(429, "tokens", "loading").header("retry-after-ms", "1"));
    assert_eq!(hear(&server, &[&[1]]).await.unwrap(), finals("well met"));
    assert_eq!(server.requests()[0].body.len(), server.requests()[1].body.len());
    let kind = async |script: Script| {
        server.push(script);
        hear(&server, &[&[1]]).await.unwrap_err().kind()
    };
    assert_eq!(kind(Script::error(401, "x", "no")).await, Kind::Unauthorized);
    assert_eq!(
        kind(Script::json(200, &json!({"error": {"code": 400}}))).await,
        Kind::InvalidRequest
    );
    assert_eq!(kind(Script::plain(200, "text/html").raw("<html>")).await, Kind::Protocol);
    assert_eq!(
        kind(Script::json(200, &json!({"tex": 1})).step(Step::Cut)).await,
        Kind::Interrupted
    );
    let half = Script::stream().event(&json!({"type": "transcript.text.delta", "delta": "well"}));
    assert_eq!(kind(half).await, Kind::Interrupted);
}

async fn hear_with(stt: &Transcription) -> Result<SpeechEvent, Error> {
    let (audio, chunks) = mpsc::channel(1);
    audio.send(frame(&[1])).await.unwrap();
    drop(audio);
    let mut all: Vec<SpeechEvent> = stt.listen(chunks, Attempts::default()).try_collect().await?;
    Ok(all.remove(0))
}

fn prompt(server: &ChatServer) -> Option<String> {
    let body = server.requests().pop().unwrap().body;
    let body = String::from_utf8_lossy(&body).into_owned();
    let (_, rest) = body.split_once("name=\"prompt\"\r\n\r\n")?;
    Some(rest.split("\r\n").next().unwrap().to_owned())
}

#[tokio::test]
async fn prompt_fits_names_with_the_likeliest_last() {
    let server = ChatServer::start();
    let stt = Transcription::new(options(&server.base_url()), None).unwrap();
    hear_with(&stt).await.unwrap();
    assert_eq!(prompt(&server), None);
    stt.expect(&|| vec!["Bartok the Barkeep".to_owned(), "Mira".to_owned()]);
    hear_with(&stt).await.unwrap();
    assert_eq!(prompt(&server).unwrap(), "Mira, Bartok the Barkeep");
    stt.expect(&|| (0..500).map(|it| format!("Größenwahn {it}")).collect());
    hear_with(&stt).await.unwrap();
    let long = prompt(&server).unwrap();
    assert!(long.len() <= PROMPT_MAX && long.ends_with("Größenwahn 1, Größenwahn 0"), "{long}");
    let mut own = options(&server.base_url());
    own.extra_body.insert(PROMPT.to_owned(), json!("My own."));
    let stt = Transcription::new(own, None).unwrap();
    stt.expect(&|| vec!["Mira".to_owned()]);
    hear_with(&stt).await.unwrap();
    assert_eq!(prompt(&server).unwrap(), "My own.");
}

#[tokio::test]
async fn refused_prompt_is_dropped_and_not_sent_again() {
    let server = ChatServer::start();
    let stt = Transcription::new(options(&server.base_url()), None).unwrap();
    stt.expect(&|| vec!["Mira".to_owned()]);
    let refused = || Script::error(400, "invalid_request_error", "prompt is not supported");
    server.push(refused());
    server.push(refused());
    assert_eq!(hear_with(&stt).await.unwrap_err().kind(), Kind::InvalidRequest);
    server.push(refused());
    assert_eq!(hear_with(&stt).await.unwrap(), heard("well met"));
    assert_eq!((server.requests().len(), prompt(&server)), (4, None));
    hear_with(&stt).await.unwrap();
    assert_eq!((server.requests().len(), prompt(&server)), (5, None));
}

#[tokio::test]
async fn prompt_that_comes_back_is_silence() {
    let server = ChatServer::start();
    let stt = Transcription::new(options(&server.base_url()), None).unwrap();
    stt.expect(&|| ["Bartok", "Mira", "Hale", "Vesper"].map(str::to_owned).to_vec());
    let says = |text: &str| server.push(Script::json(200, &json!({ "text": text })));
    says("Hale, Mira, Bartok.");
    assert_eq!(hear_with(&stt).await.unwrap(), heard(""));
    for text in ["Mira, Bartok", "Bartok, Hale, Mira", "Hale, Mira, Bartok, come here"] {
        says(text);
        assert_eq!(hear_with(&stt).await.unwrap(), heard(text));
    }
}

#[tokio::test]
async fn ready_check_reports_bad_key_or_no_server() {
    let server = ChatServer::start();
    let stt = |server: &ChatServer| Transcription::new(options(&server.base_url()), None).unwrap();
    stt(&server).ready().await.unwrap();
    server.push(Script::error(404, "x", "no list"));
    stt(&server).ready().await.unwrap();
    server.push(Script::error(401, "x", "no key"));
    assert_eq!(stt(&server).ready().await.unwrap_err().kind(), Kind::Unauthorized);
    let gone = stt(&server);
    drop(server);
    assert_eq!(gone.ready().await.unwrap_err().kind(), Kind::Unreachable);
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let server = ChatServer::start();
    server.push(Script::plain(200, "application/json").step(Step::Stall));
    let stt = Transcription::new(options(&server.base_url()), None).unwrap();
    let (audio, chunks) = mpsc::channel(1);
    let listening = tokio::spawn(stt.listen(chunks, Attempts::default()).count());
    audio.send(frame(&[1])).await.unwrap();
    drop(audio);
    server.received(1).await;
    listening.abort();
    server.abandoned(1).await;
}
