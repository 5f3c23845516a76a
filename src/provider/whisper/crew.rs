//! Threads that hear, no more than there are cores, and what waits for them.
//!
//! Entry type: [`Crew`]. Finals come before partials, and among equals the first task comes first.
//! **Never**: hearing on the async runtime, keeping sound or text of what was answered.

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

/// Utterances that wait to be heard, and partials; of the first more are refused, of the second
/// dropped. No table has so many speakers.
const WAITING: usize = 64;
/// Niceness that these threads add: the runtime's run more readily.
const NICENESS: i32 = 5;

/// Sound to hear.
#[derive(Clone, Debug)]
pub struct Sound {
    /// 16 kHz, mono.
    pub frames: Vec<Frame>,
    /// Text that the model takes to have been said before.
    pub prompt: Arc<str>,
    /// The first text was unclear: a likelier one is sought.
    pub is_sought: bool,
}

/// Transcript of a sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecognisedText {
    /// The words; empty where there are none.
    pub text: String,
    /// True if a likelier text is worth seeking.
    pub is_unclear: bool,
}

/// Reason for which sound is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// The speaker has fallen silent.
    Final,
    /// The speaker goes on; gives way to finals.
    Partial,
}

/// Hears a sound with these buffers and so many threads; `None`: stopped, because the callback said so.
pub type Recognise = dyn Fn(
        &mut Scratch,
        &Sound,
        usize,
        &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<RecognisedText>, Error>
    + Send
    + Sync;

/// A transcript to come. Dropping it stops the hearing; it fails when the hearing gave way or broke
/// down.
pub type Answer = oneshot::Receiver<Result<RecognisedText, Error>>;

/// Hears for all tables. Its threads end with it.
pub struct Crew(Arc<Shared>);

struct Shared {
    recognise: Box<Recognise>,
    /// Largest number of threads.
    size: usize,
    queue: Mutex<Queue>,
    more: Condvar,
}

#[derive(Default)]
struct Queue {
    finals: VecDeque<Task>,
    partials: VecDeque<Task>,
    /// Of the partials that are being heard; set, it makes one give way.
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

/// A task that a thread has taken.
struct Taken {
    task: Task,
    gives_way: Arc<AtomicBool>,
    /// Threads it may use.
    threads: usize,
}

impl Crew {
    /// At most `size` threads, which begin when they are needed.
    pub fn new(size: usize, recognise: Box<Recognise>) -> Self {
        let (queue, more) = (Mutex::default(), Condvar::new());
        Self(Arc::new(Shared { recognise, size: size.max(1), queue, more }))
    }

    /// Has `sound` heard. A partial for which there is no room is not heard.
    ///
    /// # Errors
    /// Too many utterances wait already.
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
    /// Its receiver still waits.
    fn is_wanted(&self) -> bool {
        !self.answer.is_closed()
    }
}

impl Queue {
    /// A final makes way for itself when all threads are busy.
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

    /// The partial that was begun last stops: it has the least to lose.
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
                Urgency::Final => threads += self.idle.min(size - 1),
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

    /// Waits for a task; `None`: nobody will have one.
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

/// One more thread where all are busy and there may be more.
fn staff(shared: &Arc<Shared>) {
    let mut queue = shared.queue();
    let waiting = queue.finals.len() + queue.partials.len();
    if queue.is_closed || queue.idle >= waiting || queue.threads >= shared.size {
        return;
    }
    queue.threads += 1;
    drop(queue);
    let alive = Alive(Arc::clone(shared));
    // Where there is no thread, dropping `alive` takes it off the list.
    let spawned = thread::Builder::new().name("hearing".to_owned()).spawn(move || work(&alive));
    if let Err(error) = spawned {
        tracing::error!(%error, "cannot start a thread to hear with");
    }
}

/// A thread on the list.
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.queue().threads -= 1;
        // A thread that has panicked is replaced, so that other utterances are heard.
        if thread::panicking() {
            staff(&self.0);
        }
    }
}

/// Hears until nobody asks any more.
fn work(alive: &Alive) {
    // Frames must not wait for hearing. Where the system refuses, they compete as equals.
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
