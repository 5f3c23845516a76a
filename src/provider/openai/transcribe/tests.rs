//! Uploads over loopback.

use serde_json::json;

use super::*;
use crate::provider::openai::{
    chat_server::{ChatServer, Script, Step},
    options::tests::options,
};

async fn hear(server: &ChatServer, chunks: &[&[i16]]) -> Result<Vec<Heard>, Error> {
    let stt = Transcription::new(options(&server.base_url()), Some("en".into())).unwrap();
    let (audio, chunks_in) = mpsc::channel(8);
    let (heard, mut texts) = mpsc::channel(8);
    for chunk in chunks {
        audio.send(Arc::from(*chunk)).await.unwrap();
    }
    drop(audio);
    stt.listen(chunks_in, heard).await?;
    let mut all = Vec::new();
    while let Some(text) = texts.recv().await {
        all.push(text);
    }
    Ok(all)
}

fn finals(text: &str) -> Vec<Heard> {
    vec![Heard::Final(text.into())]
}

#[tokio::test]
async fn an_utterance_is_uploaded_as_wav() {
    let server = ChatServer::start();
    server.push(Script::json(200, &json!({"text": " well met\n", "usage": {"type": "tokens"}})));
    assert_eq!(hear(&server, &[&[1, 2], &[3]]).await.unwrap(), finals("well met"));
    let request = &server.requests()[0];
    assert_eq!(request.refused, None);
    let body = String::from_utf8_lossy(&request.body);
    for part in ["name=\"language\"\r\n\r\nen", "name=\"model\"\r\n\r\ntest-model", "audio/wav"] {
        assert!(body.contains(part), "{part} in {body}");
    }
    let wav = write_wav(&Clip { samples: vec![1, 2, 3], rate: SampleRate::HZ_16000 });
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
async fn failures_have_kinds_and_passing_ones_are_tried_again() {
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

#[tokio::test]
async fn readiness_asks_whether_somebody_is_there() {
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
    let (heard, _texts) = mpsc::channel(1);
    let listening = tokio::spawn(stt.listen(chunks, heard));
    audio.send(Arc::from([1_i16].as_slice())).await.unwrap();
    drop(audio);
    server.received(1).await;
    listening.abort();
    server.abandoned(1).await;
}
