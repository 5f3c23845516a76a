//! The sound of an utterance on its way to one recogniser.
//!
//! Entry type: [`Sending`]. Sound waits here until money for it is reserved; the reservation is
//! polled together with the recogniser's events. **Never**: sends sound that is not paid for.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::{
    future::FutureExt,
    stream::{BoxStream, StreamExt},
};
use tokio::{sync::mpsc, time::Instant};

use super::{
    recogniser::{AskedRecogniser, Covered, News, PAID_FRAMES, covered},
    speakers::SpeakerId,
};
use crate::{
    audio::{FRAME, Frame},
    engine::Reservation,
    logic::budget::Consumption,
    provider::{Error, SpeechEvent},
};

/// Frames that a recogniser may lag behind, and that are stored per utterance: 32 s, the longest
/// utterance. Of a longer one the newest are kept; a frame sent to a recogniser that lags further
/// is lost with a warning.
pub const SOUND_CAPACITY: usize = 1_600;
/// A recogniser that takes no sound for this long never will: other utterances it may be busy with
/// are shorter.
const STUCK: Duration = Duration::from_secs(35);

pub struct Sending {
    by: AskedRecogniser,
    /// Number of the recognition, for the log.
    id: u64,
    to: Option<mpsc::Sender<Frame>>,
    /// Receiver of [`Self::to`] and its speaker, until the first sound is paid for.
    unopened: Option<(SpeakerId, mpsc::Receiver<Frame>)>,
    /// `None`: not open yet, or ended. Dropping the stream closes the recogniser.
    events: Option<BoxStream<'static, Result<SpeechEvent, Error>>>,
    held: Option<Reservation>,
    /// Resolves once [`Self::held`] may be spent; `None`: it may.
    paying: Option<Covered>,
    unpaid: VecDeque<Frame>,
    /// Frames not paid for finally.
    frames: u32,
    all_frames: Arc<AtomicU32>,
    is_closed: bool,
    /// Frames sent, and how many of them the recogniser had taken at the last check.
    sent: usize,
    taken: usize,
    /// Last time the recogniser took a frame, or had taken all.
    taken_at: Instant,
}

impl Sending {
    /// Sound of `speaker` for `by`. Fails if the budget refuses.
    pub fn start(
        by: AskedRecogniser,
        id: u64,
        speaker: SpeakerId,
        now: Instant,
    ) -> Result<Self, Error> {
        let held = by.reserve()?;
        let (to, audio) = mpsc::channel(SOUND_CAPACITY);
        let mut started = Self {
            by,
            id,
            to: Some(to),
            unopened: Some((speaker, audio)),
            events: None,
            paying: covered(&held),
            held: Some(held),
            unpaid: VecDeque::new(),
            frames: 0,
            all_frames: Arc::default(),
            is_closed: false,
            sent: 0,
            taken: 0,
            taken_at: now,
        };
        if started.paying.is_none() {
            started.paid();
        }
        Ok(started)
    }

    pub const fn by(&self) -> &AskedRecogniser {
        &self.by
    }

    /// An error ends it.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<News> {
        if let Err(error) = self.poll_payment(context) {
            self.events = None;
            return Poll::Ready(News::Failed(error));
        }
        let Some(events) = &mut self.events else { return Poll::Pending };
        let news = match ready!(events.poll_next_unpin(context)) {
            Some(Ok(said)) => News::Said(said),
            Some(Err(error)) => News::Failed(error),
            None => News::Over,
        };
        match news {
            News::Said(_) => self.by.answered(),
            _ => self.events = None,
        }
        Poll::Ready(news)
    }

    /// Sends the sound that has been paid for. Fails at a cap or if the store is late; the sound is
    /// dropped then, and its money returned.
    fn poll_payment(&mut self, context: &mut Context<'_>) -> Result<(), Error> {
        while let Some(paying) = &mut self.paying {
            let Poll::Ready(paid) = paying.poll_unpin(context) else { break };
            self.paying = None;
            if let Err(error) = paid {
                self.unpaid.clear();
                self.held.take().into_iter().for_each(Reservation::unused);
                return Err(error);
            }
            self.paid();
        }
        Ok(())
    }

    /// Opens the recogniser if needed, and sends the sound that is paid for.
    fn paid(&mut self) {
        if let Some((speaker, audio)) = self.unopened.take() {
            self.events = Some(self.by.listen(speaker, audio, &self.all_frames));
        }
        self.hand_on();
    }

    /// Counts a frame of the utterance, which follows or is withheld.
    pub fn count(&mut self) {
        self.frames = self.frames.saturating_add(1);
        self.all_frames.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends frames that were counted.
    pub fn feed(&mut self, frames: impl Iterator<Item = Frame>) {
        self.unpaid.extend(frames);
        self.hand_on();
        while self.unpaid.len() > SOUND_CAPACITY {
            tracing::warn!(stream = self.id, "payment is still pending, a frame is lost");
            self.unpaid.pop_back();
            self.frames = self.frames.saturating_sub(1);
        }
    }

    /// Sends the sound that is paid for, and reserves more when needed.
    fn hand_on(&mut self) {
        loop {
            while self.is_paid()
                && let Some(frame) = self.unpaid.pop_front()
            {
                self.send(frame);
            }
            if self.unpaid.is_empty() || self.held.is_none() || self.paying.is_some() {
                break;
            }
            self.settle();
            (self.held, self.paying) = self.by.pay_on();
        }
        self.end_if_closed();
    }

    fn is_paid(&self) -> bool {
        self.held.is_some() && self.paying.is_none() && self.unsettled() < PAID_FRAMES
    }

    fn send(&mut self, frame: Frame) {
        match self.to.as_ref().map(|to| to.try_send(frame)) {
            Some(Ok(())) => self.sent += 1,
            Some(Err(_)) => {
                tracing::warn!(stream = self.id, "the recogniser is too slow, a frame is lost");
            }
            None => {}
        }
    }

    /// True if the recogniser has taken no sound for [`STUCK`].
    pub fn is_stuck(&mut self, now: Instant) -> bool {
        let waiting = self.to.as_ref().map_or(0, |to| to.max_capacity() - to.capacity());
        let taken = self.sent.saturating_sub(waiting);
        if taken > self.taken || waiting == 0 {
            self.taken_at = now;
        }
        self.taken = taken;
        self.stuck_at() <= now
    }

    /// Time at which [`Self::is_stuck`] may become true.
    pub fn stuck_at(&self) -> Instant {
        self.taken_at + STUCK
    }

    pub fn close(&mut self) {
        self.is_closed = true;
        self.end_if_closed();
    }

    /// Ends the recogniser's sound once all of it is sent.
    fn end_if_closed(&mut self) {
        if self.is_closed && self.paying.is_none() && self.unpaid.is_empty() {
            // Dropping the sender signals the end.
            self.to = None;
            // Sound that another one may still hear is settled once this one has answered.
            if self.by.is_alone() {
                self.settle();
            }
        }
    }

    pub fn is_drained(&self) -> bool {
        self.unpaid.is_empty()
            && self.to.as_ref().is_none_or(|to| to.capacity() == to.max_capacity())
    }

    /// Ends it after `error`. Returns the money of sound that the service has not taken.
    pub fn fail(&mut self, error: &Error) {
        self.by.failed(error);
        (self.events, self.to) = (None, None);
        if !self.by.may_be_billed(error.kind()) {
            self.paying = None;
            self.held.take().into_iter().for_each(Reservation::unused);
        }
        self.settle();
    }

    /// Pays for the frames received.
    fn settle(&mut self) {
        let unsettled = self.unsettled();
        self.frames = self.frames.saturating_sub(unsettled);
        let seconds = (FRAME * unsettled).as_secs_f64();
        let Some(held) = self.held.take() else { return };
        match self.paying.take() {
            Some(_) => held.unused(),
            None => held.settle(Consumption { seconds, ..Consumption::default() }),
        }
    }

    fn unsettled(&self) -> u32 {
        let waiting = u32::try_from(self.unpaid.len()).unwrap_or(u32::MAX);
        self.frames.saturating_sub(waiting)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.settle();
    }
}
