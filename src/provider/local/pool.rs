//! Threads that decode, each with a decoder of its own.
//!
//! Entry type: [`Pool`].
//! **Never**: decoding on the async runtime, keeping sound or text after an utterance.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc as blocking,
    },
    thread,
    time::Duration,
};

use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
    time::timeout,
};

use super::{failure::SphinxError, ffi::Decoder};
use crate::{
    audio::Frame,
    provider::{Error, Kind, SpeechEvent},
};

/// Utterances that wait for a decoder; more are refused.
const WAITING: usize = 64;
/// Sound that stays away so long is a pause, the first, second and third time: the utterance is
/// finished ahead of its end. Later ones are none.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(80), Duration::from_millis(160), Duration::from_millis(320)];

/// One utterance to decode.
pub struct Job {
    /// Its sound; closing ends it.
    pub audio: mpsc::Receiver<Frame>,
    /// Where partials and then the final or an error go; when its other side is gone, nobody waits
    /// for the utterance.
    pub events: mpsc::Sender<Result<SpeechEvent, Error>>,
}

/// Makes a decoder; runs on the decoder's thread.
pub type MakeDecoder = dyn Fn() -> Result<Decoder, SphinxError> + Send + Sync;

/// Decoding threads and their queue.
pub struct Pool {
    /// The queue's near end.
    jobs: blocking::SyncSender<Job>,
    /// What the threads see.
    shared: Arc<Shared>,
    /// Most decoders at a time.
    size: usize,
    /// Decoders made or being made.
    spawned: AtomicUsize,
}

/// What the decoding threads share.
struct Shared {
    /// The queue's far end.
    jobs: Mutex<blocking::Receiver<Job>>,
    /// Makes one more decoder.
    make: Box<MakeDecoder>,
    /// Threads that wait for a job or are about to.
    free: AtomicUsize,
}

impl Pool {
    /// A pool of at most `size` decoders, the first of which is made here and now.
    ///
    /// # Errors
    /// The decoder cannot be made.
    pub fn new(size: usize, make: Box<MakeDecoder>) -> Result<Self, SphinxError> {
        let first = make()?;
        let (jobs, queue) = blocking::sync_channel(WAITING);
        let shared = Shared { jobs: Mutex::new(queue), make, free: AtomicUsize::new(1) };
        let pool = Self { jobs, shared: Arc::new(shared), size, spawned: AtomicUsize::new(1) };
        let shared = Arc::clone(&pool.shared);
        spawn(move || work(&shared, first));
        Ok(pool)
    }

    /// Queues an utterance; makes one more decoder when all are busy and there may be more.
    ///
    /// # Errors
    /// Too many wait already.
    pub fn submit(&self, job: Job) -> Result<(), Error> {
        let is_free = |free: usize| free.checked_sub(1);
        let free = self.shared.free.fetch_update(Ordering::AcqRel, Ordering::Acquire, is_free);
        let may_grow = |spawned: usize| (spawned < self.size).then_some(spawned + 1);
        if free.is_err()
            && self.spawned.fetch_update(Ordering::AcqRel, Ordering::Acquire, may_grow).is_ok()
        {
            let shared = Arc::clone(&self.shared);
            spawn(move || match (shared.make)() {
                Ok(decoder) => work(&shared, decoder),
                Err(error) => tracing::warn!(%error, "no further decoder"),
            });
        }
        self.jobs.try_send(job).map_err(|_| {
            let text = format!(
                "\"{WAITING}\" utterances wait for the local recogniser (raise its decoders)"
            );
            Error::new(Kind::Unavailable, text)
        })
    }
}

/// Starts a decoding thread.
fn spawn(work: impl FnOnce() + Send + 'static) {
    let spawned = thread::Builder::new().name("decoder".to_owned()).spawn(work);
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread for a decoder");
    }
}

/// Decodes until the pool is gone.
fn work(shared: &Shared, mut decoder: Decoder) {
    // Only waits for sound, which may end by its closing or by nobody waiting for the final.
    let waiting = match Builder::new_current_thread().enable_time().build() {
        Ok(waiting) => waiting,
        Err(error) => return tracing::warn!(%error, "no runtime for a decoder"),
    };
    loop {
        let job = shared.jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut job) = job else { return };
        let text = decode(&mut decoder, &mut job, &waiting);
        shared.free.fetch_add(1, Ordering::AcqRel);
        let last = text
            .map(|text| SpeechEvent::Final { text })
            .map_err(|error| Error::new(Kind::Unavailable, error.to_string()));
        // Whoever waited may have gone.
        let _ = job.events.blocking_send(last);
    }
}

/// One utterance from start to final.
fn decode(decoder: &mut Decoder, job: &mut Job, waiting: &Runtime) -> Result<String, SphinxError> {
    decoder.start()?;
    let mut ahead = None;
    let fed = feed(decoder, job, waiting, &mut ahead);
    let last = ahead.map_or_else(|| finish(decoder), Ok);
    fed?;
    last
}

/// The whole utterance, as the second pass understands it.
fn finish(decoder: &mut Decoder) -> Result<String, SphinxError> {
    decoder.finish().map(Option::unwrap_or_default)
}

/// Decodes until the sound ends or nobody waits any more.
///
/// The second pass takes about a thirtieth of the utterance's length, too long after the end of a
/// turn. So it is made in a pause and its text is left in `ahead`; sound that comes nevertheless
/// begins the utterance anew, several times faster than it was spoken, and the next pause must be
/// twice as long: on a machine that is late, sound stays away in the middle of words.
fn feed(
    decoder: &mut Decoder,
    job: &mut Job,
    waiting: &Runtime,
    ahead: &mut Option<String>,
) -> Result<(), SphinxError> {
    let mut partial = String::new();
    let mut sound: Vec<Frame> = Vec::new();
    let mut pauses = PAUSES.iter();
    let mut pause = pauses.next();
    loop {
        let pause_after = pause.filter(|_| ahead.is_none() && !sound.is_empty());
        let text = match waiting.block_on(next(job, pause_after.copied())) {
            Next::End => return Ok(()),
            Next::Pause => {
                partial.clone_from(ahead.insert(finish(decoder)?));
                let text = partial.clone();
                let _ = job.events.try_send(Ok(SpeechEvent::Pause { text }));
                continue;
            }
            Next::Sound(frame) => {
                if ahead.take().is_some() {
                    pause = pauses.next();
                    decoder.start()?;
                    sound.iter().try_for_each(|frame| decoder.process(frame.samples()))?;
                }
                decoder.process(frame.samples())?;
                sound.push(frame);
                // While sound waits, a partial would be of the past.
                if !job.audio.is_empty() {
                    continue;
                }
                decoder.hypothesis().unwrap_or_default()
            }
        };
        if !text.is_empty() && text != partial {
            partial.clone_from(&text);
            // A partial that does not fit is superseded by the next.
            let _ = job.events.try_send(Ok(SpeechEvent::Partial { text }));
        }
    }
}

/// What becomes of an utterance next.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// It goes on.
    Sound(Frame),
    /// No sound has come for long enough.
    Pause,
    /// It is over, or nobody waits for it any more.
    End,
}

/// Waits for sound, at most `pause_after`.
async fn next(job: &mut Job, pause_after: Option<Duration>) -> Next {
    let sound = async {
        tokio::select! {
            biased;
            () = job.events.closed() => Next::End,
            frame = job.audio.recv() => frame.map_or(Next::End, Next::Sound),
        }
    };
    match pause_after {
        Some(pause_after) => timeout(pause_after, sound).await.unwrap_or(Next::Pause),
        None => sound.await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::SampleRate;

    #[tokio::test(start_paused = true)]
    async fn sound_that_stays_away_is_a_pause_once() {
        let (sound, audio) = mpsc::channel(4);
        let (events, heard) = mpsc::channel(4);
        let mut job = Job { audio, events };
        let frame = Frame::padded(&[1; 320], SampleRate::HZ_16000);
        sound.try_send(frame.clone()).unwrap();
        let pause = Some(PAUSES[0]);
        assert_eq!(next(&mut job, pause).await, Next::Sound(frame.clone()));
        assert_eq!(next(&mut job, pause).await, Next::Pause);
        let long = timeout(PAUSES[0] * 100, next(&mut job, None)).await;
        assert!(long.is_err(), "{long:?}: the pause is known already");
        sound.try_send(frame.clone()).unwrap();
        assert_eq!(next(&mut job, None).await, Next::Sound(frame));
        drop(sound);
        assert_eq!(next(&mut job, pause).await, Next::End);
        drop(heard);
        assert_eq!(next(&mut job, pause).await, Next::End);
    }
}
