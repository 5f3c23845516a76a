//! The voice gateway against clients that do it wrong, byte by byte.

mod client;
mod late;

pub(crate) use client::{Client, authority};

use super::{
    Mode, Voice, VoiceOptions,
    transport::{OPUS, Rtp, Transport},
};
use client::soon;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio_tungstenite::tungstenite::Message;

pub(crate) const GUILD: u64 = 3003;
pub(crate) const CHANNEL: u64 = 4004;

/// A good IDENTIFY of user 1.
fn identify(token: &str) -> Value {
    json!({"server_id": GUILD.to_string(), "user_id": "1", "session_id": "s", "token": token,
        "max_dave_protocol_version": 1})
}

/// A good SELECT PROTOCOL.
fn select() -> Value {
    let mode = "aead_aes256_gcm_rtpsize";
    json!({"protocol": "udp", "data": {"address": "127.0.0.1", "port": 9, "mode": mode}})
}

#[tokio::test]
async fn misbehaving_client_gets_discord_close_codes() {
    let (tls, ca) = authority();
    let voice = Voice::start(tls, VoiceOptions::default()).await.unwrap();
    let (token, endpoint) = voice.admit(GUILD, CHANNEL, 1, "s");
    let with = |key: &str, value: Value| {
        let mut d = identify(&token);
        d[key] = value;
        (0, d)
    };
    let good = || (0, identify(&token));
    let cases: Vec<(u16, Vec<(u8, Value)>)> = vec![
        (4001, vec![(99, Value::Null)]),
        (4001, vec![good(), (2, Value::Null)]),
        (4002, vec![(0, json!({"token": token}))]),
        (
            4002,
            vec![
                good(),
                (1, json!({"protocol": "udp", "data": {"mode": "aead_aes256_gcm_rtpsize"}})),
            ],
        ),
        (4003, vec![(1, select())]),
        (4003, vec![(5, json!({"speaking": 1}))]),
        (4004, vec![with("token", json!("wrong"))]),
        (4005, vec![good(), good()]),
        (4006, vec![with("session_id", json!("wrong"))]),
        (4006, vec![with("server_id", json!("17"))]),
        (4006, vec![with("user_id", json!("17"))]),
        (
            4006,
            vec![(7, json!({"server_id": GUILD.to_string(), "session_id": "s", "token": "wrong"}))],
        ),
        (4012, vec![good(), (1, json!({"protocol": "webrtc"}))]),
        (
            4016,
            vec![good(), (1, json!({"protocol": "udp", "data": {"mode": "xsalsa20_poly1305"}}))],
        ),
        (4017, vec![with("max_dave_protocol_version", json!(0))]),
        (4020, vec![(3, json!({"seq_ack": 1}))]),
    ];
    for (code, messages) in &cases {
        let mut client = Client::connect(&endpoint, &ca, 8).await;
        for (op, d) in messages {
            client.say(*op, d.clone()).await;
        }
        assert_eq!(client.closed().await, *code, "{messages:?}");
    }
    assert_eq!(voice.violations().len(), cases.len(), "{:?}", voice.violations());
    let mut client = Client::connect(&endpoint, &ca, 8).await;
    client.raw(Message::text("no JSON")).await;
    assert_eq!(client.closed().await, 4002);
    let mut client = Client::connect(&endpoint, &ca, 8).await;
    client.raw(Message::binary(vec![26, 0])).await;
    assert_eq!(client.closed().await, 4003);
}

#[tokio::test]
async fn version_4_sends_no_seq_and_plain_heartbeats() {
    let (tls, ca) = authority();
    let voice = Voice::start(tls, VoiceOptions::default()).await.unwrap();
    let (token, endpoint) = voice.admit(GUILD, CHANNEL, 1, "s");
    let mut client = Client::connect(&endpoint, &ca, 4).await;
    client.say(0, identify(&token)).await;
    let ready = client.until(2).await;
    assert_eq!(ready.get("seq"), None);
    client.say(3, json!(77)).await;
    assert_eq!(client.until(6).await["d"], 77);
    client.say(1, select()).await;
    assert_eq!(client.until(4).await["d"]["dave_protocol_version"], 1);
    assert_eq!((voice.counts(GUILD, 1).heartbeats, voice.violations()), (1, vec![]));
}

#[tokio::test]
async fn resume_replays_only_missed_messages() {
    for version in [4, 8] {
        let (tls, ca) = authority();
        let voice = Voice::start(tls, VoiceOptions::default()).await.unwrap();
        let (token, endpoint) = voice.admit(GUILD, CHANNEL, 1, "s");
        let mut client = Client::connect(&endpoint, &ca, version).await;
        client.say(0, identify(&token)).await;
        let seq = client.until(2).await["seq"].clone();
        voice.close(GUILD, 1, Some(4015));
        assert_eq!(client.closed().await, 4015);
        let (other, _) = voice.admit(GUILD, CHANNEL, 2, "t");
        let mut second = Client::connect(&endpoint, &ca, version).await;
        let mut d = identify(&other);
        (d["user_id"], d["session_id"]) = (json!("2"), json!("t"));
        second.say(0, d).await;
        assert_eq!(second.until(11).await["d"]["user_ids"], json!(["1"]));
        let mut client = Client::connect(&endpoint, &ca, version).await;
        let d = json!({"server_id": GUILD.to_string(), "session_id": "s", "token": token, "seq_ack": seq});
        client.say(7, d).await;
        if version == 4 {
            client.until(9).await;
        }
        let missed = client.next().await.unwrap();
        assert_eq!((&missed["op"], &missed["d"]["user_ids"]), (&json!(11), &json!(["2"])));
        if version == 8 {
            client.until(9).await;
        }
        assert_eq!((voice.counts(GUILD, 1).resumed, voice.violations()), (1, vec![]));
    }
}

#[tokio::test]
async fn silence_on_the_gateway_ends_the_session() {
    let (tls, ca) = authority();
    let heartbeat = Duration::from_millis(100);
    let options = VoiceOptions { heartbeat, ..VoiceOptions::default() };
    let voice = Voice::start(tls, options).await.unwrap();
    let (token, endpoint) = voice.admit(GUILD, CHANNEL, 1, "s");
    let mut client = Client::connect(&endpoint, &ca, 8).await;
    client.say(0, identify(&token)).await;
    assert_eq!(client.closed().await, 4009);
    assert_eq!(voice.violations().len(), 1);
}

#[tokio::test]
async fn readmission_reuses_live_seat_unless_moved() {
    let (tls, ca) = authority();
    let voice = Voice::start(tls, VoiceOptions::default()).await.unwrap();
    let (token, endpoint) = voice.admit(GUILD, CHANNEL, 1, "s");
    let mut client = Client::connect(&endpoint, &ca, 8).await;
    client.say(0, identify(&token)).await;
    client.until(2).await;
    assert_eq!(voice.admit(GUILD, CHANNEL, 1, "s").0, token);
    let (moved, _) = voice.admit(GUILD, CHANNEL + 1, 1, "s");
    assert_ne!(moved, token);
    assert_eq!(client.closed().await, 4014);
    let mut client = Client::connect(&endpoint, &ca, 8).await;
    client.say(0, identify(&token)).await;
    assert_eq!(client.closed().await, 4004, "the old token is worthless");
}

#[tokio::test]
async fn media_port_discovers_echoes_and_refuses() {
    let (tls, ca) = authority();
    let voice = Voice::start(tls, VoiceOptions::default()).await.unwrap();
    let (token, endpoint) = voice.admit(GUILD, CHANNEL, 1, "s");
    let mut client = Client::connect(&endpoint, &ca, 8).await;
    client.say(0, identify(&token)).await;
    let ready = client.until(2).await["d"].clone();
    let ssrc: u32 = serde_json::from_value(ready["ssrc"].clone()).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port: u16 = serde_json::from_value(ready["port"].clone()).unwrap();
    udp.connect(("127.0.0.1", port)).await.unwrap();
    let (mut packet, mut answer) = (vec![0, 1, 0, 70], [0; 2048]);
    packet.extend(ssrc.to_be_bytes());
    packet.resize(74, 0);
    udp.send(&packet).await.unwrap();
    assert_eq!(soon(udp.recv(&mut answer)).await.unwrap(), 74);
    let own = udp.local_addr().unwrap().port();
    assert_eq!((&answer[8..17], &answer[72..74]), (&b"127.0.0.1"[..], &own.to_be_bytes()[..]));
    let mut d = select();
    d["data"]["port"] = json!(own);
    client.say(1, d).await;
    let description = client.until(4).await["d"].clone();
    for keepalive in [&[1, 2, 3, 4][..], &[1, 2, 3, 4, 5, 6, 7, 8]] {
        udp.send(keepalive).await.unwrap();
        let length = soon(udp.recv(&mut answer)).await.unwrap();
        assert_eq!(&answer[..length], keepalive);
    }
    let key: Vec<u8> = serde_json::from_value(description["secret_key"].clone()).unwrap();
    let mut line = Transport::new(Mode::Aes256Gcm, &key.try_into().unwrap(), 0);
    let mut rtp = Rtp { payload_type: OPUS, seq: 0, timestamp: 0, ssrc };
    let noticed = async {
        while voice.violations().is_empty() {
            rtp.seq += 1;
            udp.send(&line.seal(rtp, b"early", false).unwrap()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(noticed).await;
    assert!(voice.violations()[0].ends_with("packets and no speaking update"));
    let mut stranger = Transport::new(Mode::Aes256Gcm, &[1; 32], 0);
    udp.send(&stranger.seal(rtp, b"wrong key", false).unwrap()).await.unwrap();
    let noticed = async {
        while voice.violations().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    soon(noticed).await;
    let counts = voice.counts(GUILD, 1);
    assert_eq!((counts.undecryptable, counts.keepalives), (1, 2));
    assert!(counts.before_speaking >= 2);
}
