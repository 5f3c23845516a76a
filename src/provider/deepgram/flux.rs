//! One speaker through `/v2/listen`, which ends turns itself.
//!
//! Entry function: [`recognise`]. Flux needs sound at all times: where none arrives, silence is
//! sent, at speaking pace while a turn is open and once a second between turns. Messages are
//! counted by utterance: a voice after a pause, or half a minute of voice. **Never**: waits forever
//! for an end; a service that hears a voice and stays silent has failed.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{client::Client, exchange::Exchange, socket::Socket, turns::Turns, wire::Said};
use crate::provider::{
    Error, Kind, SpeechEvent,
    bounds::{Bound, Count, ENDS, TURN_TEXT},
};

/// Bytes of 80 ms, the size that Deepgram recommends.
const FRAME: usize = 2_560;
const FRAME_TIME: Duration = Duration::from_millis(80);
/// Sound this late is replaced by silence.
const GAP: Duration = Duration::from_millis(120);
/// Time between two frames of silence between turns.
const QUIET: Duration = Duration::from_secs(1);
/// Mean loudness of samples above which a frame may be a voice.
const LOUD: u32 = 300;
/// Pause after which a voice begins a new utterance.
const APART: Duration = Duration::from_millis(500);
/// Longest utterance: continuous noise would never end one.
const LONGEST: Duration = Duration::from_secs(32);

/// Hears one speaker until the sound ends, or between turns the socket does or another voice needs
/// its stream. Fails if the service fails or stays silent although it hears a voice.
pub async fn recognise(client: &Client, exchange: &mut Exchange) -> Result<(), Error> {
    let begun = Instant::now();
    let socket = client.open(&exchange.names(), exchange.again).await?;
    let mut listening = Listening {
        socket,
        patience: client.options.idle_timeout,
        greeting_at: Some(begun + client.options.first_byte_timeout),
        sound: Vec::new(),
        turns: Turns::default(),
        utterance: Counted::begun(begun),
        voice: Duration::ZERO,
        is_closed: false,
        came_at: begun,
        sent_at: begun,
        event_at: begun,
    };
    match listening.until_end(client, exchange).await {
        // The next voice opens a new socket.
        Err(error) if listening.is_quiet() && error.kind() == Kind::Interrupted => {
            tracing::debug!(%error, "a socket ended while no player spoke");
            Ok(())
        }
        other => other,
    }
}

struct Listening {
    socket: Socket,
    patience: Duration,
    /// Deadline for the service's first message; `None`: it arrived.
    greeting_at: Option<Instant>,
    /// Sound not sent yet, less than [`FRAME`].
    sound: Vec<u8>,
    turns: Turns,
    utterance: Counted,
    /// Length of possible voice sent since the last event.
    voice: Duration,
    is_closed: bool,
    /// Times at which sound last arrived and was last sent.
    came_at: Instant,
    sent_at: Instant,
    /// Time of the last event, or of the first voice after it.
    event_at: Instant,
}

struct Counted {
    begun_at: Instant,
    loud_at: Instant,
    ends: Count,
    /// Early ends, which the table can do without.
    early: Count,
}

impl Counted {
    const fn begun(at: Instant) -> Self {
        Self { begun_at: at, loud_at: at, ends: Count::within(ENDS), early: Count::within(ENDS) }
    }

    /// Counts a sent voice; true if it begins a new utterance.
    fn voice(&mut self, now: Instant) -> bool {
        let is_other = self.loud_at + APART <= now || self.begun_at + LONGEST <= now;
        if is_other {
            *self = Self::begun(now);
        }
        self.loud_at = now;
        is_other
    }
}

impl Listening {
    async fn until_end(&mut self, client: &Client, exchange: &mut Exchange) -> Result<(), Error> {
        loop {
            self.send().await?;
            let is_late = self.came_at + self.patience <= Instant::now();
            if self.is_closed && (self.is_quiet() || is_late) {
                return Ok(());
            }
            self.check(client)?;
            let (due, quiet_at) = (self.due(), self.came_at + GAP);
            tokio::select! {
                biased;
                // Sound before the clock, which fills gaps in it; the service last, because
                // messages without a pause would starve both.
                frame = exchange.sound.recv(), if !self.is_closed => {
                    if !exchange.take(frame, &mut self.sound) {
                        self.end().await?;
                    }
                    self.came_at = Instant::now();
                }
                Ok(()) = exchange.names.changed() => {}
                () = client.is_short_from(quiet_at), if self.is_quiet() => return Ok(()),
                () = sleep_until(due) => self.fill(),
                said = self.socket.next() => {
                    let said = self.said(said?, exchange).await;
                    said.map_err(|bound| client.peer.flooding(bound))?;
                }
            }
            self.socket.tell(&exchange.names()).await?;
        }
    }

    async fn end(&mut self) -> Result<(), Error> {
        self.is_closed = true;
        self.sound.resize(self.sound.len().next_multiple_of(FRAME), 0);
        self.send().await?;
        if self.is_quiet() { Ok(()) } else { self.socket.order("ForceEndTurn").await }
    }

    async fn send(&mut self) -> Result<(), Error> {
        let whole = self.sound.len() / FRAME * FRAME;
        let frames: Vec<u8> = self.sound.drain(..whole).collect();
        // Counted before it is sent: a socket that fails in the silence before a voice has failed it.
        for _ in frames.chunks(FRAME).filter(|frame| is_loud(frame)) {
            if self.is_quiet() {
                self.event_at = Instant::now();
            }
            self.voice += FRAME_TIME;
            if self.utterance.voice(Instant::now()) {
                self.socket.begin();
            }
        }
        for frame in frames.chunks(FRAME) {
            self.socket.sound(frame).await?;
            self.sent_at = Instant::now();
        }
        Ok(())
    }

    fn fill(&mut self) {
        if self.fill_at() <= Instant::now() {
            self.sound.resize(FRAME, 0);
        }
    }

    fn fill_at(&self) -> Instant {
        if self.turns.is_open || !self.sound.is_empty() {
            (self.came_at + GAP).max(self.sent_at + FRAME_TIME)
        } else {
            (self.came_at + GAP).max(self.sent_at + QUIET)
        }
    }

    /// Time at which a silent service has failed: an open turn has several events a second, and a
    /// voice begins a turn.
    fn failed_at(&self) -> Option<Instant> {
        let speaks = self.turns.is_open || self.voice >= self.patience;
        speaks.then(|| self.event_at + self.patience)
    }

    fn check(&self, client: &Client) -> Result<(), Error> {
        let now = Instant::now();
        if self.greeting_at.is_some_and(|at| at <= now) {
            return Err(client.peer.slow());
        }
        if self.failed_at().is_some_and(|at| at <= now) {
            return Err(client.peer.silent());
        }
        Ok(())
    }

    fn due(&self) -> Instant {
        let watched = [self.greeting_at, self.failed_at()].into_iter().flatten().min();
        watched.map_or_else(|| self.fill_at(), |at| at.min(self.fill_at()))
    }

    /// True if no turn is open and no possible voice was sent since the last event.
    fn is_quiet(&self) -> bool {
        !self.turns.is_open && self.voice == Duration::ZERO
    }

    async fn said(&mut self, said: Said, exchange: &Exchange) -> Result<(), Bound> {
        self.greeting_at = None;
        let Said::Turn(turn) = said else { return Ok(()) };
        TURN_TEXT.check(turn.transcript.len())?;
        self.event_at = Instant::now();
        self.voice = Duration::ZERO;
        for event in self.turns.take(turn) {
            match event {
                SpeechEvent::Partial { .. } => exchange.mention(event),
                SpeechEvent::EagerEnd { text } if self.utterance.early.add(1).is_err() => {
                    exchange.mention(SpeechEvent::Partial { text });
                }
                SpeechEvent::Final { .. } => {
                    self.utterance.ends.add(1)?;
                    exchange.tell(Ok(event)).await;
                }
                event => exchange.tell(Ok(event)).await,
            }
        }
        Ok(())
    }
}

fn is_loud(frame: &[u8]) -> bool {
    let samples = frame.chunks_exact(2).map(|two| match two {
        [low, high] => u32::from(i16::from_le_bytes([*low, *high]).unsigned_abs()),
        _ => 0,
    });
    let count = u32::try_from(frame.len() / 2).unwrap_or(u32::MAX).max(1);
    samples.sum::<u32>() / count > LOUD
}
