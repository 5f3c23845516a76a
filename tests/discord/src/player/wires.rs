//! A player's web socket, open.
//!
//! Entry: [`trusting`], then [`Wires::open`].
//! Never knows what a message means.

use super::dave::Answer;
use anyhow::Context as _;
use futures::SinkExt as _;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject as _};
use serde_json::{Value, json};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::{
    net::TcpStream,
    time::{Interval, interval},
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

/// Sockets and timers of one connection.
pub(super) struct Wires {
    /// The web socket.
    pub socket: WebSocketStream<TlsStream<TcpStream>>,
    /// Timer of heartbeats.
    pub heartbeat: Interval,
}

impl Wires {
    /// Opens TLS and the web socket; no heartbeat until the server has said how often.
    pub(super) async fn open(endpoint: &str, tls: &TlsConnector) -> anyhow::Result<Self> {
        let stream =
            TcpStream::connect(endpoint).await.with_context(|| format!("reaching {endpoint}"))?;
        stream.set_nodelay(true)?;
        let host = endpoint.rsplit_once(':').map_or(endpoint, |(host, _)| host);
        let name = ServerName::try_from(host.to_owned())?;
        let stream = tls.connect(name, stream).await.context("TLS with the voice server")?;
        let (socket, _) = client_async(format!("wss://{endpoint}/?v=8"), stream).await?;
        let mut heartbeat = interval(Duration::from_secs(3600));
        heartbeat.tick().await;
        Ok(Self { socket, heartbeat })
    }

    /// Sends JSON.
    pub(super) async fn json(&mut self, op: u8, d: &Value) -> anyhow::Result<()> {
        let text = json!({"op": op, "d": d}).to_string();
        Ok(self.socket.send(Message::text(text)).await?)
    }

    /// Sends what DAVE answers.
    pub(super) async fn answers(&mut self, answers: Vec<Answer>) -> anyhow::Result<()> {
        for answer in answers {
            match answer {
                Answer::Json(op, d) => self.json(op, &d).await?,
                Answer::Binary(op, body) => {
                    let message = [&[op][..], &body].concat();
                    self.socket.send(Message::binary(message)).await?;
                }
            }
        }
        Ok(())
    }
}

/// TLS that trusts one authority.
pub(super) fn trusting(ca: &Path) -> anyhow::Result<TlsConnector> {
    let certificate = CertificateDer::from_pem_file(ca)
        .with_context(|| format!("reading the certificate authority \"{}\"", ca.display()))?;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate)?;
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
