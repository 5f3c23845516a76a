//! Threads that transcribe, at most one per core, and their queue.
//!
//! Entry type: [`Crew`]. Finals come before partials; otherwise the first task comes first.
//! **Never**: transcribes on the async runtime; keeps sound or text after the answer.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use tokio::sync::oneshot;
use whisper_thin::Scratch;

use crate::{
    audio::Frame,
    provider::{Error, Kind},
};

/// Queued finals, and queued partials; more finals are refused, more partials dropped. No table has
/// this many speakers.
const WAITING: usize = 64;
/// Niceness of these threads: the runtime's threads come first.
const NICENESS: i32 = 5;

#[derive(Clone, Debug)]
pub struct Sound {
    /// 16 kHz, mono.
    pub frames: Vec<Frame>,
    /// Text that the model takes for what was said before.
    pub prompt: Arc<str>,
    /// The first text was unclear: search for a likelier one.
    pub is_sought: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognisedText {
    /// Empty without words.
    pub text: String,
    /// True if a likelier text is worth searching for.
    pub is_unclear: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// The speaker has fallen silent.
    Final,
    /// The speaker goes on; yields to finals.
    Partial,
}

/// Transcribes a sound with these buffers and this many threads; `None`: the callback stopped it.
pub type Recognise = dyn Fn(
        &mut Scratch,
        &Sound,
        usize,
        &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<RecognisedText>, Error>
    + Send
    + Sync;

/// A transcript to come. Dropping it stops the task; it fails when the task yielded or panicked.
pub type Answer = oneshot::Receiver<Result<RecognisedText, Error>>;

/// Transcribes for all tables; dropping it ends its threads.
pub struct Crew(Arc<Shared>);

struct Shared {
    recognise: Box<Recognise>,
    size: usize,
    queue: Mutex<Queue>,
    more: Condvar,
}

#[derive(Default)]
struct Queue {
    finals: VecDeque<Task>,
    partials: VecDeque<Task>,
    /// Flags of running partials; setting one makes it yield.
    gives_way: Vec<Arc<AtomicBool>>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

struct Task {
    sound: Sound,
    urgency: Urgency,
    answer: oneshot::Sender<Result<RecognisedText, Error>>,
}

struct Taken {
    task: Task,
    gives_way: Arc<AtomicBool>,
    threads: usize,
}

impl Crew {
    /// At most `size` threads, started on demand.
    pub fn new(size: usize, recognise: Box<Recognise>) -> Self {
        let (queue, more) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { recognise, size: size.max(1), queue, more }))
    }

    /// Queues `sound`. A partial without room is dropped; too many finals are an error.
    pub fn ask(&self, sound: Sound, urgency: Urgency) -> Result<Answer, Error> {
        let (answer, answered) = oneshot::channel();
        self.0.queue().put(Task { sound, urgency, answer }, self.0.size)?;
        staff(&self.0);
        self.0.more.notify_one();
        Ok(answered)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.0.queue().is_closed = true;
        self.0.more.notify_all();
    }
}

impl Task {
    fn is_wanted(&self) -> bool {
        !self.answer.is_closed()
    }
}

impl Queue {
    /// A final makes a partial yield when all threads are busy.
    fn put(&mut self, task: Task, size: usize) -> Result<(), Error> {
        let is_final = task.urgency == Urgency::Final;
        let all = match task.urgency {
            Urgency::Final => &mut self.finals,
            Urgency::Partial => &mut self.partials,
        };
        all.retain(Task::is_wanted);
        match (task.urgency, all.len() < WAITING) {
            (_, true) => all.push_back(task),
            (Urgency::Partial, false) => return Ok(()),
            (Urgency::Final, false) => {
                let text = format!(
                    "\"{WAITING}\" utterances are already waiting to be heard \
                                    (speak again)"
                );
                return Err(Error::new(Kind::Unavailable, text));
            }
        }
        if is_final && self.idle == 0 && self.threads == size {
            self.make_way();
        }
        Ok(())
    }

    /// Stops the newest partial: it loses the least.
    fn make_way(&mut self) {
        self.gives_way.retain(|partial| Arc::strong_count(partial) > 1);
        if let Some(partial) = self.gives_way.pop() {
            partial.store(true, Ordering::Relaxed);
        }
    }

    /// The next task that is still wanted, finals first.
    fn take(&mut self, size: usize) -> Option<Taken> {
        loop {
            let task = self.finals.pop_front().or_else(|| self.partials.pop_front())?;
            if !task.is_wanted() {
                continue;
            }
            let gives_way = Arc::default();
            let mut threads = 1;
            match task.urgency {
                // Threads that are not started yet are idle too.
                Urgency::Final => threads += (self.idle + size - self.threads).min(size - 1),
                Urgency::Partial => self.gives_way.push(Arc::clone(&gives_way)),
            }
            return Some(Taken { task, gives_way, threads });
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a task; `None` at shutdown.
    fn next(&self) -> Option<Taken> {
        let mut queue = self.queue();
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some(taken) = queue.take(self.size) {
                return Some(taken);
            }
            queue.idle += 1;
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}

/// Starts one more thread if all are busy and the limit allows it.
fn staff(shared: &Arc<Shared>) {
    let mut queue = shared.queue();
    let waiting = queue.finals.len() + queue.partials.len();
    if queue.is_closed || queue.idle >= waiting || queue.threads >= shared.size {
        return;
    }
    queue.threads += 1;
    drop(queue);
    let alive = Alive(Arc::clone(shared));
    // If no thread starts, dropping `alive` removes it from the list.
    let spawned = thread::Builder::new().name("hearing".to_owned()).spawn(move || work(&alive));
    if let Err(error) = spawned {
        tracing::error!(%error, "cannot start a thread to hear with");
    }
}

struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.queue().threads -= 1;
        // Replaces a thread that panicked, so that other utterances are heard.
        if thread::panicking() {
            staff(&self.0);
        }
    }
}

/// Transcribes until shutdown.
fn work(alive: &Alive) {
    // Frames must not wait for transcription. If the system refuses, all compete as equals.
    let _ = rustix::process::nice(NICENESS);
    let mut scratch = Scratch::new();
    while let Some(Taken { task, gives_way, threads }) = alive.0.next() {
        let stops = || task.answer.is_closed() || gives_way.load(Ordering::Relaxed);
        let answer = (alive.0.recognise)(&mut scratch, &task.sound, threads, &stops);
        if let Some(answer) = answer.transpose() {
            // The receiver may have been dropped.
            let _ = task.answer.send(answer);
        }
    }
}
