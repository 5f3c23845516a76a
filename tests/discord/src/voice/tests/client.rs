//! A client that sends the given messages, and the authority it trusts.

use crate::tls::Certificates;
use futures::{SinkExt as _, StreamExt as _};
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, TlsConnector, client::TlsStream};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

/// Waits for something; fails after two minutes.
pub(super) async fn soon<T>(awaited: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(120), awaited).await.expect("in two minutes")
}

/// A certificate for 127.0.0.1, and the file of the authority that signed it.
pub(crate) fn authority() -> (TlsAcceptor, Certificates) {
    let certificates = Certificates::new().unwrap();
    (certificates.acceptor(), certificates)
}

/// A client that sends the given messages.
pub(crate) struct Client(WebSocketStream<TlsStream<TcpStream>>);

impl Client {
    pub(crate) async fn connect(endpoint: &str, ca: &Certificates, version: u8) -> Self {
        use rustls::pki_types::{CertificateDer, pem::PemObject as _};
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(ca.authority()).unwrap()).unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(endpoint).await.unwrap();
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        let url = format!("wss://{endpoint}/?v={version}");
        let mut client = Self(client_async(url, stream).await.unwrap().0);
        let hello = client.next().await.unwrap();
        assert_eq!((&hello["op"], &hello["d"]["v"]), (&json!(8), &json!(version)));
        client
    }

    pub(crate) async fn say(&mut self, op: u8, d: Value) {
        self.raw(Message::text(json!({"op": op, "d": d}).to_string())).await;
    }

    pub(crate) async fn raw(&mut self, message: Message) {
        self.0.send(message).await.unwrap();
    }

    /// The next message, or the close code.
    pub(super) async fn next(&mut self) -> Result<Value, u16> {
        loop {
            match soon(self.0.next()).await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(frame))) => {
                    return Err(frame.map_or(1005, |f| f.code.into()));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(1006),
            }
        }
    }

    /// The next message with this op.
    pub(super) async fn until(&mut self, op: u64) -> Value {
        loop {
            let message = self.next().await.unwrap();
            if message["op"] == op {
                return message;
            }
        }
    }

    /// The code this is closed with.
    pub(super) async fn closed(&mut self) -> u16 {
        loop {
            if let Err(code) = self.next().await {
                return code;
            }
        }
    }
}
