//! A client that says what it is told, and the authority it trusts.

use futures::{SinkExt as _, StreamExt as _};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsAcceptor, TlsConnector, client::TlsStream};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

/// A certificate for 127.0.0.1, and the file of the authority that signed it.
pub(crate) fn authority() -> (TlsAcceptor, tempfile::NamedTempFile) {
    let ca_key = KeyPair::generate().unwrap();
    let mut ca = CertificateParams::new(vec![]).unwrap();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = ca.self_signed(&ca_key).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec!["127.0.0.1".into()]).unwrap();
    let leaf = leaf.signed_by(&key, &ca, &ca_key).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), ca.pem()).unwrap();
    (TlsAcceptor::from(Arc::new(config)), file)
}

/// A client that says what it is told.
pub(super) struct Client(WebSocketStream<TlsStream<TcpStream>>);

impl Client {
    pub(super) async fn connect(endpoint: &str, ca: &tempfile::NamedTempFile, version: u8) -> Self {
        use rustls::pki_types::{CertificateDer, pem::PemObject as _};
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(ca.path()).unwrap()).unwrap();
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

    pub(super) async fn say(&mut self, op: u8, d: Value) {
        self.raw(Message::text(json!({"op": op, "d": d}).to_string())).await;
    }

    pub(super) async fn raw(&mut self, message: Message) {
        self.0.send(message).await.unwrap();
    }

    /// The next message, or the close code.
    pub(super) async fn next(&mut self) -> Result<Value, u16> {
        loop {
            let message = timeout(Duration::from_secs(10), self.0.next()).await.unwrap();
            match message {
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
