//! Sessions with a scripted service over loopback.

use std::{collections::BTreeSet, sync::Arc};

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{ErrorResponse, Request, Response},
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

use super::{GeminiLive, Options};
use crate::{
    domain::ToolChoice,
    provider::{
        Error, Kind, SpeechEnding, SpeechItem, SpeechOrder, SpeechService, SpeechSession,
        SpeechSessionEvent, SpeechSetup, SpeechToSpeech, probe_speech,
    },
};

/// The service's end of a session.
struct Service {
    socket: WebSocketStream<TcpStream>,
    /// Request address and key.
    asked: String,
}

impl Service {
    async fn say(&mut self, message: Value) {
        // The real service sends binary frames.
        self.socket.send(Message::binary(message.to_string())).await.unwrap();
    }

    /// The client's next message; `None`: the session is closed.
    async fn receive(&mut self) -> Option<Value> {
        loop {
            match self.socket.next().await?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    /// Accepts the setup and returns it.
    async fn set_up(&mut self) -> Value {
        let setup = self.receive().await.unwrap();
        self.say(json!({"setupComplete": {}})).await;
        setup
    }

    async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
        self.socket.close(Some(frame)).await.unwrap();
        while self.receive().await.is_some() {}
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
    let options = Options {
        service: SpeechService::Gemini,
        model: "gemini-3.8-live".to_owned(),
        ..Options::of_tests(&format!("http://{}", listener.local_addr().unwrap()))
    };
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut asked = String::new();
        #[expect(clippy::result_large_err, reason = "the library's own type")]
        let note = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
            let key = request.headers()["x-goog-api-key"].to_str().unwrap();
            asked = format!("{} {key}", request.uri());
            Ok(response)
        };
        let socket = accept_hdr_async(stream, note).await.unwrap();
        serve(Service { socket, asked }).await
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
    GeminiLive::new(options).unwrap().connect(setup).await
}

#[tokio::test]
async fn session_is_set_up_and_answers_until_dropped() {
    let (options, service) = service(|mut service| async move {
        let setup = service.set_up().await;
        let before = service.receive().await.unwrap();
        let order = service.receive().await.unwrap();
        let sound = json!({"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": "AQACAA=="}});
        service
            .say(json!({"serverContent": {"modelTurn": {"parts": [sound]}, "turnComplete": true},
                "usageMetadata": {"promptTokenCount": 9, "responseTokenCount": 5}}))
            .await;
        let closed = service.receive().await;
        (service.asked, [setup, before, order, closed.unwrap_or_default()])
    })
    .await;
    let mut session = connect(options).await.ok().unwrap();
    session.control.send(SpeechOrder::Answer(ToolChoice::Auto)).unwrap();
    let sound = session.events.next().await.unwrap().unwrap();
    assert!(matches!(sound, SpeechSessionEvent::Audio { sound, .. } if sound.samples == [1, 2]));
    let SpeechSessionEvent::Done(done) = session.events.next().await.unwrap().unwrap() else {
        panic!("no end")
    };
    assert_eq!(done.ending, SpeechEnding::Completed);
    assert_eq!(done.usage.unwrap().audio_out, 5);
    drop(session.control);
    assert!(session.events.next().await.is_none());
    let (asked, [setup, before, order, closed]) = service.await.unwrap();
    let path = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";
    assert_eq!(asked, format!("{path} sk-very-secret"));
    assert_eq!(setup["setup"]["model"], "models/gemini-3.8-live");
    assert_eq!(before["clientContent"]["turns"][0]["parts"][0]["text"], "Hail!");
    assert_eq!(order, json!({"clientContent": {"turns": [], "turnComplete": true}}));
    assert_eq!(closed, Value::Null);
}

#[tokio::test]
async fn session_closed_without_warning_ends() {
    let (options, _service) = service(|mut service| async move {
        service.set_up().await;
        service.close(1011, "deadline").await;
    })
    .await;
    let mut session = connect(options).await.ok().unwrap();
    let error = session.events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::Unavailable);
    assert!(error.to_string().contains("(1011): \"deadline\""), "{error}");
    assert!(session.events.next().await.is_none());
    assert!(session.control.send(SpeechOrder::Commit).is_err());
}

#[tokio::test]
async fn refused_setup_is_the_error_of_connect() {
    let (options, _service) = service(|mut service| async move {
        service.receive().await.unwrap();
        service.close(1007, "no such voice; sk-very-secret").await;
    })
    .await;
    let error = connect(options).await.err().unwrap();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    let text = error.to_string();
    assert!(text.contains("no such voice") && text.contains("check api_key, model"), "{text}");
    assert!(!text.contains("very"), "{text}");
}

#[tokio::test]
async fn probe_opens_a_session_and_closes_it() {
    let (options, service) = service(|mut service| async move {
        service.set_up().await;
        service.receive().await
    })
    .await;
    let line = probe_speech(&GeminiLive::new(options).unwrap(), &BTreeSet::new()).await.unwrap();
    assert!(line.starts_with("opens a session of \"gemini-3.8-live\" in "), "{line}");
    assert_eq!(service.await.unwrap(), None, "nothing is asked");
}
