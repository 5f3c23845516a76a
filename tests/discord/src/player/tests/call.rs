//! A call to test with, and what was heard in it.

use crate::{
    Certificates, Mode, Player, Seat, Voice, VoiceOptions,
    voice::tests::{CHANNEL, Client, GUILD, authority},
};
use davey::DaveSession;
use serde_json::json;
use std::{
    num::NonZeroU16,
    time::{Duration, Instant},
};
use tokio_tungstenite::tungstenite::Message;

pub(super) const LIMIT: Duration = Duration::from_secs(120);

/// A Discord with players 1, 2, ….
pub(super) struct Call {
    pub voice: Voice,
    ca: Certificates,
}

impl Call {
    pub(super) async fn start(options: VoiceOptions) -> Self {
        let (tls, ca) = authority();
        Self { voice: Voice::start(tls, options).await.unwrap(), ca }
    }

    pub(super) fn seat(&self, user: u64, channel: u64) -> Seat {
        let session_id = format!("session-{user}");
        let (token, endpoint) = self.voice.admit(GUILD, channel, user, &session_id);
        Seat { endpoint, token, guild: GUILD, channel, user, session_id }
    }

    pub(super) async fn join(&self, user: u64, mode: Option<Mode>) -> Player {
        let seat = self.seat(user, CHANNEL);
        Player::connect_with(seat, self.ca.authority(), mode).await.unwrap()
    }

    /// A client that wants keys, and never says by itself that it has them.
    pub(super) async fn join_unready(&self, user: u64) -> Client {
        let seat = self.seat(user, CHANNEL);
        let mut client = Client::connect(&seat.endpoint, &self.ca, 8).await;
        let identify = json!({
            "server_id": GUILD.to_string(), "user_id": user.to_string(), "token": seat.token,
            "session_id": seat.session_id, "max_dave_protocol_version": 1,
        });
        client.say(0, identify).await;
        let mut session = DaveSession::new(NonZeroU16::MIN, user, CHANNEL, None).unwrap();
        let package = session.create_key_package().unwrap();
        client.raw(Message::binary([&[26][..], &package].concat())).await;
        client
    }

    pub(super) async fn two(&self) -> (Player, Player) {
        let (one, two) = (self.join(1, None).await, self.join(2, None).await);
        one.in_call_with(&[1, 2], LIMIT).await.unwrap();
        two.in_call_with(&[1, 2], LIMIT).await.unwrap();
        (one, two)
    }

    pub(super) fn clean(&self) {
        assert_eq!(self.voice.violations(), Vec::<String>::new());
    }
}

/// A tone of half the full scale.
pub(super) fn tone(hertz: f64, time: Duration) -> Vec<i16> {
    let samples = (time.as_secs_f64() * 48_000.0).round();
    let mut pcm = Vec::new();
    let mut at = 0.0;
    while at < samples {
        let value = (at * hertz * std::f64::consts::TAU / 48_000.0).sin() * 16_000.0;
        #[expect(clippy::cast_possible_truncation, reason = "half of what fits")]
        pcm.push(value as i16);
        at += 1.0;
    }
    pcm
}

/// The audible part: seconds, and how high.
pub(super) fn audible(pcm: &[i16]) -> (f64, f64) {
    let loud: Vec<i16> = pcm
        .chunks(960)
        .filter(|frame| super::super::memory::rms(frame) > 3000.0)
        .flatten()
        .copied()
        .collect();
    let rising = loud.windows(2).filter(|pair| pair[0] < 0 && pair[1] >= 0).count();
    let seconds = f64::from(u32::try_from(loud.len()).unwrap()) / 48_000.0;
    (seconds, f64::from(u32::try_from(rising).unwrap()) / seconds.max(0.001))
}

/// Waits until `by` has heard a speech of `user`, and the five silence frames behind it.
pub(super) async fn heard_to_its_end(user: u64, by: &Player) {
    let ended = |state: &super::super::shared::State| {
        let packets = state.memory.packets(user);
        let silent = packets.iter().rev().take_while(|packet| packet.silence).count();
        (silent >= 5 && silent < packets.len()).then_some(())
    };
    by.shared.wait(LIMIT, ended).await.unwrap();
}

/// One speaks, the other must have heard it; when the first packet was sent, and when it was heard.
pub(super) async fn heard(from: &Player, by: &Player, hertz: f64) -> [Instant; 2] {
    by.forget();
    let spoken = from.say(&tone(hertz, Duration::from_millis(600))).await.unwrap();
    heard_to_its_end(from.user(), by).await;
    let (seconds, height) = audible(&by.heard(from.user()));
    assert!((0.5..0.7).contains(&seconds), "{seconds} s of {hertz} Hz");
    assert!((height - hertz).abs() < 30.0, "{height} Hz instead of {hertz}");
    let first = by.first_audible_after(from.user(), spoken.first_packet).unwrap();
    assert!(by.silent_since(from.user()).unwrap() >= spoken.last_voiced);
    [spoken.first_packet, first]
}
