//! One utterance through `/v1/listen`; the table ends it and asks for all its words.
//!
//! Entry function: [`recognise`]. It asks already when sound is late, so that the words are
//! complete before the table knows that the pause is the end. **Never**: ends an utterance by
//! itself.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{
    client::Client,
    exchange::Exchange,
    kept::{ALIVE, KEEP_ALIVE, SpeakerAt},
    socket::Socket,
    transcript::Transcript,
    wire::{Results, Said},
};
use crate::provider::{
    Error, SpeechEvent,
    bounds::{Bound, Count, PARTIALS},
};

/// Sound this late is a pause: no packet is that late. The table holds silence back after 120 ms,
/// so that words are requested from 220 ms of silence on.
const PAUSE: Duration = Duration::from_millis(100);
/// Most sound in one message: a second.
const MESSAGE: usize = 32_000;
/// Seconds of sound at the end that the service may leave unmentioned.
const UNANSWERED: f64 = 0.3;

/// Hears one utterance, with the idle socket of `whose` if there is one.
pub async fn recognise(
    client: &Client,
    whose: Option<SpeakerAt>,
    exchange: &mut Exchange,
) -> Result<(), Error> {
    let kept = match whose {
        Some(whose) => client.kept.take(whose).await,
        None => None,
    };
    let mut was_kept = kept.is_some();
    let socket = match kept {
        Some(socket) => socket,
        None => client.open(&exchange.names(), exchange.again).await?,
    };
    let mut listening = Listening::new(socket, client.options.idle_timeout);
    let text = loop {
        let heard = listening.until_final(exchange).await;
        let has_failed = match &heard {
            Err(_) => true,
            // Where another recogniser can hear it, that is quicker.
            Ok(None) => exchange.again,
            Ok(Some(_)) => false,
        };
        if !has_failed || !was_kept || listening.is_answered {
            break heard?;
        }
        // The idle socket died unnoticed.
        tracing::debug!("a socket that was kept is gone; another is opened");
        was_kept = false;
        listening.start_again(client.open(&exchange.names(), exchange.again).await?);
    };
    let Listening { socket, unanswered, silent, .. } = listening;
    let text = text.ok_or_else(|| client.peer.silent())?;
    exchange.tell(Ok(SpeechEvent::Final { text })).await;
    // Answers still due to this utterance must not reach the next.
    if let Some(whose) = whose.filter(|_| unanswered == 0 && !silent) {
        client.kept.put(whose, socket);
    }
    Ok(())
}

struct Listening {
    socket: Socket,
    patience: Duration,
    /// All its sound, and how much of it was sent.
    sound: Vec<u8>,
    sent: usize,
    words: Transcript,
    told: Count,
    is_closed: bool,
    /// Sound was sent since the last request for words.
    is_new: bool,
    /// Number of unanswered `Finalize` orders, and the time of the last one.
    unanswered: u32,
    asked_at: Instant,
    /// The service has sent anything about this utterance.
    is_answered: bool,
    /// The service did not answer the last request.
    silent: bool,
    /// Times at which sound last arrived, and anything was last sent.
    came_at: Instant,
    sent_at: Instant,
}

impl Listening {
    fn new(mut socket: Socket, patience: Duration) -> Self {
        let now = Instant::now();
        socket.begin();
        // Ignores words of the socket's earlier sound.
        let words = Transcript::after(socket.seconds());
        Self {
            socket,
            patience,
            sound: Vec::new(),
            sent: 0,
            words,
            told: Count::within(PARTIALS),
            is_closed: false,
            is_new: false,
            unanswered: 0,
            asked_at: now,
            is_answered: false,
            silent: false,
            came_at: now,
            sent_at: now,
        }
    }

    fn start_again(&mut self, socket: Socket) {
        self.socket = socket;
        (self.sent, self.unanswered, self.is_new, self.silent) = (0, 0, false, false);
        self.words = Transcript::default();
    }

    /// The text of the utterance, once its sound has ended; `None`: not all of it was heard. Sends
    /// partials meanwhile.
    async fn until_final(&mut self, exchange: &mut Exchange) -> Result<Option<String>, Error> {
        loop {
            self.send().await?;
            if self.is_closed {
                if self.is_new {
                    self.ask().await?;
                }
                if self.unanswered == 0 {
                    return Ok(Some(self.words.text()));
                }
                if self.asked_at + self.patience <= Instant::now() {
                    // The service does not answer if almost nothing is left to hear.
                    self.silent = true;
                    let is_understood = self.words.until + UNANSWERED >= self.socket.seconds();
                    return Ok(is_understood.then(|| self.words.text()));
                }
            }
            let due = self.due();
            tokio::select! {
                biased;
                // Sound before the clock, which takes its absence for a pause; the service last,
                // because messages without a pause would starve both.
                frame = exchange.sound.recv(), if !self.is_closed => {
                    self.is_closed = !exchange.take(frame, &mut self.sound);
                    self.came_at = Instant::now();
                }
                Ok(()) = exchange.names.changed() => {}
                () = sleep_until(due) => self.on_time().await?,
                said = self.socket.next() => {
                    let said = self.said(&said?, exchange);
                    said.map_err(|bound| self.socket.flooding(bound))?;
                }
            }
            self.socket.tell(&exchange.names()).await?;
        }
    }

    async fn send(&mut self) -> Result<(), Error> {
        let Some(new) = self.sound.get(self.sent..).filter(|new| !new.is_empty()) else {
            return Ok(());
        };
        for part in new.chunks(MESSAGE) {
            self.socket.sound(part).await?;
        }
        self.sent = self.sound.len();
        self.is_new = true;
        self.sent_at = Instant::now();
        Ok(())
    }

    async fn ask(&mut self) -> Result<(), Error> {
        self.socket.order("Finalize").await?;
        self.is_new = false;
        self.unanswered += 1;
        (self.asked_at, self.sent_at) = (Instant::now(), Instant::now());
        Ok(())
    }

    /// Time of the next step without input.
    fn due(&self) -> Instant {
        let alive = self.sent_at + KEEP_ALIVE;
        match (self.is_closed, self.is_new) {
            (true, _) => alive.min(self.asked_at + self.patience),
            (false, true) => alive.min(self.came_at + PAUSE),
            (false, false) => alive,
        }
    }

    async fn on_time(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        if !self.is_closed && self.is_new && self.came_at + PAUSE <= now {
            return self.ask().await;
        }
        if self.sent_at + KEEP_ALIVE <= now {
            self.socket.order(ALIVE).await?;
            self.sent_at = now;
        }
        Ok(())
    }

    fn said(&mut self, said: &Said, exchange: &Exchange) -> Result<(), Bound> {
        match said {
            Said::Results(results) => return self.results(results, exchange),
            Said::UtteranceEnd => self.words.settle(),
            _ => {}
        }
        Ok(())
    }

    fn results(&mut self, results: &Results, exchange: &Exchange) -> Result<(), Bound> {
        self.is_answered = true;
        let is_other = self.words.take(results)?;
        if results.from_finalize {
            self.unanswered = self.unanswered.saturating_sub(1);
        }
        let is_pause = results.from_finalize && self.unanswered == 0 && !self.is_new;
        if self.is_closed || !(is_pause || is_other) {
            return Ok(());
        }
        // The table can do without partials; the final has all words.
        if self.told.add(self.words.size()).is_ok() {
            let text = self.words.text();
            exchange.mention(match is_pause {
                true => SpeechEvent::Pause { text },
                false => SpeechEvent::Partial { text },
            });
        }
        Ok(())
    }
}
