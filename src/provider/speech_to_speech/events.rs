//! Queue of events, bounded by the length of their sound and by their number.
//!
//! Entry types: [`Events`] sends, [`Reader`] receives. **Never**: waits, except with the last
//! event.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::stream::{self, StreamExt};
use tokio::{sync::mpsc, task::JoinHandle};

use crate::{
    audio::SampleRate,
    provider::{Error, Kind, Pcm, SPEECH_WAITING, SpeechEvents, SpeechItemId, SpeechSessionEvent},
};

pub const EVENTS_MAX: usize = 8_192;
/// Places kept free of sound and words, so that an answer's end always fits.
const RESERVED: usize = 1_024;

type Told = Result<SpeechSessionEvent, Error>;

#[derive(Debug)]
pub struct Events {
    events: mpsc::Sender<Told>,
    /// Queued samples, at 24 kHz.
    waiting: Arc<AtomicUsize>,
}

#[derive(Debug)]
pub struct Reader {
    events: mpsc::Receiver<Told>,
    waiting: Arc<AtomicUsize>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Full;

pub fn channel() -> (Events, Reader) {
    let (events, told) = mpsc::channel(EVENTS_MAX);
    let waiting = Arc::<AtomicUsize>::default();
    (Events { events, waiting: Arc::clone(&waiting) }, Reader { events: told, waiting })
}

impl Events {
    /// Queues sound at 24 kHz, or drops it: [`Full`] beyond [`SPEECH_WAITING`] or too many events.
    pub fn sound(&self, item: SpeechItemId, samples: Vec<i16>) -> Result<(), Full> {
        if self.events.is_closed() {
            return Ok(());
        }
        let count = samples.len();
        let rate = SampleRate::HZ_24000;
        let waiting = self.waiting.load(Ordering::Acquire);
        if rate.duration_of(waiting.saturating_add(count)) > SPEECH_WAITING {
            return Err(Full);
        }
        // Counted before sending, because the reader may be quick.
        self.waiting.fetch_add(count, Ordering::AcqRel);
        let put = self.part(SpeechSessionEvent::Audio { item, sound: Pcm { samples, rate } });
        if put.is_err() {
            self.waiting.fetch_sub(count, Ordering::AcqRel);
        }
        put
    }

    /// Queues a part of an answer outside the reserved places, or drops it.
    pub fn part(&self, event: SpeechSessionEvent) -> Result<(), Full> {
        if self.events.is_closed() {
            return Ok(());
        }
        if self.events.capacity() <= RESERVED {
            return Err(Full);
        }
        self.put(event)
    }

    /// Queues an event. Drops it if the reader is gone.
    pub fn put(&self, event: SpeechSessionEvent) -> Result<(), Full> {
        match self.events.try_send(Ok(event)) {
            Err(mpsc::error::TrySendError::Full(_)) => Err(Full),
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
        }
    }

    pub async fn end(self, error: Error) {
        // The reader may have been dropped.
        let _ = self.events.send(Err(error)).await;
    }
}

impl Reader {
    /// The events, until `task` ends, which sends them.
    pub fn stream(self, task: JoinHandle<()>) -> SpeechEvents {
        stream::unfold((self, Some(task)), |(mut reader, task)| async move {
            if let Some(event) = reader.events.recv().await {
                if let Ok(SpeechSessionEvent::Audio { sound, .. }) = &event {
                    reader.waiting.fetch_sub(sound.samples.len(), Ordering::AcqRel);
                }
                return Some((event, (reader, task)));
            }
            let text = "the session broke off (please report this, and speak again)";
            task?.await.err()?;
            Some((Err(Error::new(Kind::Interrupted, text)), (reader, None)))
        })
        .boxed()
    }
}

/// Reason for an answer whose sound waits too long.
pub fn unread() -> String {
    let most = SPEECH_WAITING.as_secs();
    format!("more than {most} s of the answer wait to be played; the rest of it is dropped")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: usize = 24_000;

    fn item() -> SpeechItemId {
        SpeechItemId("i".to_owned())
    }

    fn words() -> SpeechSessionEvent {
        SpeechSessionEvent::Words { item: item(), delta: String::new() }
    }

    #[tokio::test]
    async fn sound_over_30_s_waits_for_the_reader() {
        let (events, reader) = channel();
        for _ in 0..30 {
            assert_eq!(events.sound(item(), vec![0; SECOND]), Ok(()));
        }
        assert_eq!(events.sound(item(), vec![0]), Err(Full));
        let mut stream = reader.stream(tokio::spawn(async {}));
        stream.next().await.unwrap().unwrap();
        assert_eq!(events.sound(item(), vec![0; SECOND]), Ok(()));
        assert_eq!(events.sound(item(), vec![0]), Err(Full));
    }

    #[tokio::test]
    async fn parts_of_answers_leave_places_for_ends() {
        let (events, _reader) = channel();
        let parts = (0..EVENTS_MAX).take_while(|_| events.part(words()).is_ok()).count();
        assert_eq!(parts, EVENTS_MAX - RESERVED);
        assert_eq!(events.sound(item(), vec![0]), Err(Full));
        assert_eq!(events.waiting.load(Ordering::Acquire), 0);
        let ends = (0..EVENTS_MAX).take_while(|_| events.put(words()).is_ok()).count();
        assert_eq!(ends, RESERVED);
    }

    #[tokio::test]
    async fn events_without_reader_are_dropped() {
        let (events, reader) = channel();
        drop(reader);
        for _ in 0..40 {
            assert_eq!(events.sound(item(), vec![0; SECOND]), Ok(()));
        }
        assert_eq!(events.put(words()), Ok(()));
    }

    #[tokio::test]
    async fn task_that_panics_ends_with_an_error() {
        let (events, reader) = channel();
        let task = tokio::spawn(async move {
            let _events = events;
            panic!("on purpose");
        });
        let mut stream = reader.stream(task);
        assert_eq!(stream.next().await.unwrap().unwrap_err().kind(), Kind::Interrupted);
        assert!(stream.next().await.is_none());
    }
}
