//! Sessions with a scripted service over loopback.

use std::{collections::BTreeSet, sync::Arc};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_tungstenite::{
    WebSocketStream, accept_async,
    tungstenite::{
        Message,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use super::{Options, Realtime};
use crate::{
    domain::ToolChoice,
    provider::{
        Error, Kind, SpeechEnding, SpeechItem, SpeechOrder, SpeechSession, SpeechSessionEvent,
        SpeechSetup, SpeechToSpeech, probe_speech,
    },
};

/// The service's end of a session.
struct Service(WebSocketStream<TcpStream>);

impl Service {
    async fn say(&mut self, event: Value) {
        // Like some services: a binary frame after a ping.
        self.0.send(Message::Ping("there?".into())).await.unwrap();
        self.0.send(Message::binary(event.to_string())).await.unwrap();
    }

    /// The client's next event; `None`: the session is closed.
    async fn receive(&mut self) -> Option<Value> {
        loop {
            match self.0.next().await?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    /// Accepts the setup and returns it.
    async fn set_up(&mut self) -> Value {
        self.say(json!({"type": "session.created", "session": {}})).await;
        let setup = self.receive().await.unwrap();
        self.say(json!({"type": "session.updated", "session": {}})).await;
        setup
    }
}

/// Serves one session.
async fn service<S>(
    serve: impl FnOnce(Service) -> S + Send + 'static,
) -> (Options, JoinHandle<S::Output>)
where
    S: Future + Send + 'static,
    S::Output: Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = Options::of_tests(&format!("http://{}/v1", listener.local_addr().unwrap()));
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(Service(accept_async(stream).await.unwrap())).await
    });
    (options, task)
}

async fn connect(options: Options) -> Result<SpeechSession, Error> {
    let setup = SpeechSetup {
        instructions: "You are Bartok.".to_owned(),
        voice: None,
        tools: Arc::from([]),
        max_tokens: 100,
        before: vec![SpeechItem::Said("Hail!".to_owned())],
    };
    Realtime::new(options).unwrap().connect(setup).await
}

#[tokio::test]
async fn session_is_set_up_and_answers_until_dropped() {
    let (options, service) = service(|mut service| async move {
        let setup = service.set_up().await;
        let item = service.receive().await.unwrap();
        let order = service.receive().await.unwrap();
        service.say(json!({"type": "response.created", "response": {"id": "r"}})).await;
        service
            .say(json!({"type": "response.output_audio.delta", "response_id": "r",
                "item_id": "i", "delta": "AQACAA=="}))
            .await;
        let response = json!({"id": "r", "status": "completed"});
        service.say(json!({"type": "response.done", "response": response})).await;
        let closed = service.receive().await;
        [setup, item, order, closed.unwrap_or_default()]
    })
    .await;
    let mut session = connect(options).await.ok().unwrap();
    session.control.send(SpeechOrder::Answer(ToolChoice::Auto)).unwrap();
    let sound = session.events.next().await.unwrap().unwrap();
    assert!(matches!(sound, SpeechSessionEvent::Audio { sound, .. } if sound.samples == [1, 2]));
    let done = session.events.next().await.unwrap().unwrap();
    assert!(
        matches!(done, SpeechSessionEvent::Done(done) if done.ending == SpeechEnding::Completed)
    );
    drop(session.control);
    assert!(session.events.next().await.is_none());
    let [setup, item, order, closed] = service.await.unwrap();
    assert_eq!(setup["session"]["instructions"], "You are Bartok.");
    assert_eq!(item["item"]["content"][0]["text"], "Hail!");
    assert_eq!(order["type"], "response.create");
    assert_eq!(closed, Value::Null);
}

#[tokio::test]
async fn closed_session_gives_one_error_and_ends() {
    let (options, _service) = service(|mut service| async move {
        service.set_up().await;
        let frame = CloseFrame { code: CloseCode::Error, reason: "maintenance".into() };
        service.0.close(Some(frame)).await.unwrap();
        while service.receive().await.is_some() {}
    })
    .await;
    let mut session = connect(options).await.ok().unwrap();
    let error = session.events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
    assert!(error.to_string().contains("maintenance"), "{error}");
    assert!(session.events.next().await.is_none());
    assert!(session.control.send(SpeechOrder::Commit).is_err());
}

#[tokio::test]
async fn refused_setup_is_the_error_of_connect() {
    let (options, _service) = service(|mut service| async move {
        service.say(json!({"type": "session.created", "session": {}})).await;
        service.receive().await.unwrap();
        let error = json!({"type": "invalid_request_error", "message": "no such voice"});
        service.say(json!({"type": "error", "error": error})).await;
        while service.receive().await.is_some() {}
    })
    .await;
    let error = connect(options).await.err().unwrap();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    assert!(error.to_string().contains("no such voice"), "{error}");
}

#[tokio::test]
async fn refused_key_is_named_and_not_shown() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let options = Options::of_tests(&format!("http://{}/v1", listener.local_addr().unwrap()));
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 4_096];
        let read = stream.read(&mut request).await.unwrap();
        let body = r#"{"error":{"code":"invalid_api_key","message":"wrong: sk-very-secret"}}"#;
        let length = body.len();
        let head = format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(head.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&request[..read]).to_ascii_lowercase()
    });
    let error = connect(options).await.err().unwrap();
    assert_eq!(error.kind(), Kind::Unauthorized);
    assert!(error.to_string().contains("wrong: <secret>"), "{error}");
    let asked = asked.await.unwrap();
    assert!(asked.starts_with("get /v1/realtime?model=gpt-realtime-2.1 "), "{asked}");
    assert!(asked.contains("authorization: bearer sk-very-secret"), "{asked}");
    assert!(!asked.contains("openai-beta"), "{asked}");
}

#[tokio::test]
async fn probe_opens_a_session_and_closes_it() {
    let (options, service) = service(|mut service| async move {
        service.set_up().await;
        service.receive().await
    })
    .await;
    let line = probe_speech(&Realtime::new(options).unwrap(), &BTreeSet::new()).await.unwrap();
    assert!(line.starts_with("opens a session of \"gpt-realtime-2.1\" in "), "{line}");
    assert_eq!(service.await.unwrap(), None, "nothing is asked");
}
