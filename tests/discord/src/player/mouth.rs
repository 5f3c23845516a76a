//! A player's speech: PCM to Opus packets, one every 20 ms.
//!
//! Entry: [`Speech::start`]. Late ticks are caught up, so that a minute of speech takes a minute.
//! Never sends plain sound into an encrypted call.

use super::{
    memory::{AUDIBLE, FRAME, rms},
    shared::{Command, Shared},
};
use crate::voice::transport::{OPUS, Rtp};
use anyhow::Context as _;
use davey::OPUS_SILENCE_PACKET;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{Mutex, mpsc, oneshot, watch},
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Sound of one packet.
const PERIOD: Duration = Duration::from_millis(20);
/// Silence frames after a speech.
const TRAILING: usize = 5;
/// Longest wait of a speech for keys in an encrypted call.
const KEYS: Duration = Duration::from_secs(10);
/// Bytes of the longest packet made here.
const LONGEST: usize = 1275;

/// Times and packet count of a speech.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The first packet of all.
    pub first_packet: Instant,
    /// The first packet that is audible; `first_packet` if none is.
    pub first_voiced: Instant,
    /// The last packet that is audible; `first_packet` if none is.
    pub last_voiced: Instant,
    /// Packets, without the silence frames at the end.
    pub packets: u64,
}

/// Makes packets.
pub(super) struct Mouth {
    /// To Opus.
    encoder: opus2::Encoder,
    /// Of the next packet.
    seq: u16,
    /// Of the next packet.
    timestamp: u32,
    /// Time of the last packet.
    last: Option<Instant>,
}

impl Mouth {
    /// With numbers and times of its own.
    pub(super) fn new() -> anyhow::Result<Self> {
        let (rate, kind) = (48_000, opus2::Application::Voip);
        let mut encoder = opus2::Encoder::new(rate, opus2::Channels::Mono, kind)?;
        encoder.set_bitrate(opus2::Bitrate::Bits(64_000))?;
        encoder.set_inband_fec(true)?;
        encoder.set_packet_loss_perc(10)?;
        Ok(Self { encoder, seq: rand::random(), timestamp: rand::random(), last: None })
    }

    /// After a pause the time goes on as far as the pause was long. Not so within a speech, where
    /// a late packet is a late packet.
    fn resume(&mut self) {
        let Some(last) = self.last.take() else { return };
        let frames = last.elapsed().as_millis() / PERIOD.as_millis();
        let frames = u32::try_from(frames).unwrap_or_default();
        self.timestamp = self.timestamp.wrapping_add(frames.wrapping_mul(960));
    }

    /// The header of the next packet.
    fn header(&mut self, ssrc: u32) -> Rtp {
        let rtp = Rtp { payload_type: OPUS, seq: self.seq, timestamp: self.timestamp, ssrc };
        (self.seq, self.timestamp) = (self.seq.wrapping_add(1), self.timestamp.wrapping_add(960));
        self.last = Some(Instant::now());
        rtp
    }

    /// Sends one frame: when. A line that is down for a moment loses it, as on any network.
    async fn send(&mut self, shared: &Shared, opus: &[u8]) -> Instant {
        let sealed = shared.change(|state| {
            let frame = state.dave.seal(opus)?;
            let link = state.link.as_mut()?;
            let packet = link.transport.seal(self.header(link.ssrc), &frame, false)?;
            Some((Arc::clone(&link.socket), packet))
        });
        let at = Instant::now();
        if let Some((socket, packet)) = sealed {
            // A packet that cannot leave is lost, as on any network.
            let _lost = socket.send(&packet).await;
        }
        at
    }

    /// Says everything, or as much as there is time for.
    async fn speak(
        &mut self,
        (shared, commands): (&Shared, &mpsc::Sender<Command>),
        pcm: &[i16],
        stop: &CancellationToken,
        started: &watch::Sender<Option<Instant>>,
    ) -> anyhow::Result<Spoken> {
        let able = |state: &super::shared::State| {
            let keys = state.dave.version() == 0 || !state.dave.members().is_empty();
            (state.link.is_some() && keys).then_some(())
        };
        shared.wait(KEYS, able).await.context("nobody to speak to (no line, or no keys)")?;
        speaking(commands, true).await?;
        self.resume();
        let mut clock = interval(PERIOD);
        clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut spoken: Option<Spoken> = None;
        let (mut frame, mut voiced) = ([0; FRAME], false);
        for samples in pcm.chunks(FRAME) {
            frame.fill(0);
            frame.iter_mut().zip(samples).for_each(|(to, from)| *to = *from);
            let opus = self.encoder.encode_vec(&frame, LONGEST)?;
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = clock.tick() => {}
            }
            let at = self.send(shared, &opus).await;
            started.send_replace(Some(at));
            let spoken = spoken.get_or_insert(Spoken::at(at));
            spoken.packets += 1;
            if rms(&frame) >= AUDIBLE {
                spoken.last_voiced = at;
                if !std::mem::replace(&mut voiced, true) {
                    spoken.first_voiced = at;
                }
            }
        }
        for _ in 0..TRAILING {
            clock.tick().await;
            self.send(shared, &OPUS_SILENCE_PACKET).await;
        }
        speaking(commands, false).await?;
        spoken.context("nothing was said")
    }
}

impl Spoken {
    /// Begins with a packet.
    const fn at(at: Instant) -> Self {
        Self { first_packet: at, first_voiced: at, last_voiced: at, packets: 0 }
    }
}

/// Tells the server, and waits until that is written.
async fn speaking(commands: &mpsc::Sender<Command>, on: bool) -> anyhow::Result<()> {
    let (written, told) = oneshot::channel();
    let command = Command::Speaking(on, written);
    commands.send(command).await.ok().context("the player has left")?;
    told.await.context("the line broke while the player began to speak")
}

/// Something being said. Dropping it stops it, like [`Speech::stop`].
pub struct Speech {
    /// Stops it.
    stop: CancellationToken,
    /// Stops it with this handle.
    _stopped: DropGuard,
    /// Time of the last packet; `None` before the first.
    started: watch::Receiver<Option<Instant>>,
    /// Says it.
    task: JoinHandle<anyhow::Result<Spoken>>,
}

impl Speech {
    /// Says `pcm` as soon as the mouth is free.
    pub(super) fn start(
        mouth: Arc<Mutex<Mouth>>,
        shared: Arc<Shared>,
        commands: mpsc::Sender<Command>,
        pcm: Vec<i16>,
    ) -> Self {
        let stop = CancellationToken::new();
        let (packets, started) = watch::channel(None);
        let stopped = stop.clone();
        let task = tokio::spawn(async move {
            let mut mouth = mouth.lock().await;
            mouth.speak((&shared, &commands), &pcm, &stopped, &packets).await
        });
        Self { _stopped: stop.clone().drop_guard(), stop, started, task }
    }

    /// Stops with the packet that is under way; the silence frames follow.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until the first packet is out.
    ///
    /// # Errors
    /// Fails if none ever goes out.
    pub async fn started(&mut self) -> anyhow::Result<()> {
        self.started.wait_for(Option::is_some).await.context("nothing was said")?;
        Ok(())
    }

    /// Waits until all is said, or was stopped.
    ///
    /// # Errors
    /// Fails if the line is not up, the encrypted call has no other member, or nothing was said.
    pub async fn finished(self) -> anyhow::Result<Spoken> {
        self.task.await.context("speaking broke off")?
    }
}
