//! A player's UDP: finds its address, then hears until the line goes.
//!
//! Entry: [`connect`], [`listen`]; [`told`] says whose sound it is.
//! Never sends sound.

use super::shared::{Shared, State, Unclaimed};
use crate::voice::transport::OPUS;
use anyhow::{Context as _, ensure};
use serde_json::Value;
use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{net::UdpSocket, time::timeout};

/// Longer than any packet of Discord's.
const PACKET: usize = 2048;
/// Timeout of an address discovery, after which it is sent again.
const RETRY: Duration = Duration::from_millis(500);
/// Discoveries before giving up.
const TRIES: usize = 10;
/// Interval of keepalives.
const KEEPALIVE: Duration = Duration::from_secs(5);
/// Packets of unknown speakers that are kept; the oldest go first.
const UNCLAIMED: usize = 25;
/// Time after a packet in which a speaking update may still name its user; it takes another road.
const CLAIM: Duration = Duration::from_millis(500);

/// Opens a socket and asks the server how it is seen.
pub(super) async fn connect(
    server: SocketAddr,
    ssrc: u32,
) -> anyhow::Result<(UdpSocket, SocketAddr)> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    socket.connect(server).await?;
    let mut request = vec![0, 1, 0, 70];
    request.extend_from_slice(&ssrc.to_be_bytes());
    request.resize(74, 0);
    let mut answer = [0; PACKET];
    for _ in 0..TRIES {
        socket.send(&request).await?;
        let Ok(received) = timeout(RETRY, socket.recv(&mut answer)).await else { continue };
        ensure!(received? == 74 && answer.starts_with(&[0, 2, 0, 70]), "no answer to a discovery");
        let text = answer.get(8..72).unwrap_or_default();
        let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
        let port = answer.get(72..74).and_then(|port| port.try_into().ok());
        let port = u16::from_be_bytes(port.context("no port in a discovery")?);
        return Ok((socket, SocketAddr::new(std::str::from_utf8(text)?.parse()?, port)));
    }
    anyhow::bail!("no answer to {TRIES} address discoveries")
}

/// Hears everything that comes, until it is aborted.
pub(super) async fn listen(shared: Arc<Shared>, socket: Arc<UdpSocket>) {
    let mut buffer = [0; PACKET];
    let mut keepalive = tokio::time::interval(KEEPALIVE);
    let mut beats: u64 = 0;
    loop {
        tokio::select! {
            received = socket.recv(&mut buffer) => {
                if let Ok(length) = received {
                    hear(&shared, buffer.get(..length).unwrap_or_default());
                }
            }
            _ = keepalive.tick() => {
                // A keepalive that is lost is followed by another.
                let _lost = socket.send(&beats.to_be_bytes()).await;
                beats += 1;
            }
        }
    }
}

/// One packet.
fn hear(shared: &Shared, packet: &[u8]) {
    if packet.len() == 8 {
        return;
    }
    let arrival = Instant::now();
    shared.change(|state| {
        let opened = state.link.as_ref().and_then(|link| link.transport.open(packet));
        let Some((rtp, frame)) = opened.filter(|(rtp, _)| rtp.payload_type == OPUS) else {
            state.not_understood += 1;
            return;
        };
        let unknown = Unclaimed { arrival, rtp, frame };
        match state.sources.get(&rtp.ssrc) {
            Some(user) => understand(state, *user, unknown),
            None => {
                state.not_understood += 1;
                if state.unclaimed.len() >= UNCLAIMED {
                    state.unclaimed.pop_front();
                }
                state.unclaimed.push_back(unknown);
            }
        }
    });
}

/// A frame whose speaker is known.
fn understand(state: &mut State, user: u64, Unclaimed { arrival, rtp, frame }: Unclaimed) {
    match state.dave.open(user, frame) {
        Some(opus) => {
            state.memory.hear(user, arrival, (rtp.ssrc, rtp.seq, rtp.timestamp), opus);
        }
        None => state.not_understood += 1,
    }
}

/// A speaking update says whose source this is: so that is who was heard a moment ago.
fn claim(state: &mut State, ssrc: u32, user: u64) {
    state.sources.insert(ssrc, user);
    for unknown in std::mem::take(&mut state.unclaimed) {
        if unknown.rtp.ssrc != ssrc {
            state.unclaimed.push_back(unknown);
        } else if unknown.arrival.elapsed() < CLAIM {
            state.not_understood -= 1;
            understand(state, user, unknown);
        }
    }
}

/// Ops 5, 11 and 13: who is there, and whose source is whose.
pub(super) fn told(state: &mut State, op: u64, d: &Value) {
    let user = d["user_id"].as_str().and_then(|user| user.parse::<u64>().ok());
    let ssrc = d["ssrc"].as_u64().and_then(|ssrc| u32::try_from(ssrc).ok());
    match (op, user, ssrc) {
        (5, Some(user), Some(ssrc)) => claim(state, ssrc, user),
        (13, Some(user), _) => {
            state.dave.recognised.remove(&user);
        }
        _ => {
            let ids = d["user_ids"].as_array().into_iter().flatten();
            let ids = ids.filter_map(|id| id.as_str()?.parse::<u64>().ok());
            state.dave.recognised.extend(ids);
        }
    }
}
