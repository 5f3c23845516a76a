//! The speech of one turn over a socket.
//!
//! Entry type: [`Turn`]. All sending and reading happens in [`Synthesis::next`], so that unread
//! sound waits at the service. A turn that ends or is dropped leaves its socket to a task, which
//! finishes or cancels it and keeps the socket once it is free. **Never**: repeats a sentence of
//! which sound has come.

use std::{collections::VecDeque, future::pending, mem, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use tokio::{
    runtime::Handle,
    time::{Instant, timeout_at},
};
use tokio_tungstenite::tungstenite::Message;

use super::{
    dialect::{LineEvent, SocketFailure},
    link::Link,
    sentence::Sent,
    service::{Opened, Service},
    stream::SocketEnd,
};
use crate::provider::{
    Attempts, Error, Kind, Pcm, Sentence, Spoken, Synthesis, SynthesisSetup,
    bounds::{Count, EVENTS},
};

pub struct Turn {
    service: Arc<Service>,
    setup: SynthesisSetup,
    /// Sentences that the service does not have yet.
    unsent: VecDeque<Sentence>,
    /// Those that it has and has not spoken.
    sent: VecDeque<Sent>,
    opening: Option<BoxFuture<'static, Result<Opened, Error>>>,
    link: Option<Link>,
    /// Read and not yet given on.
    ready: VecDeque<Result<Spoken, Error>>,
    deadline: Option<Deadline>,
    /// No sentence is added any more.
    is_finished: bool,
    is_over: bool,
}

/// Of the next sound.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    /// It is the pace of speech, not the service's timeout.
    is_pace: bool,
}

impl Turn {
    pub fn new(service: Arc<Service>, setup: SynthesisSetup) -> Self {
        Self {
            service,
            setup,
            unsent: VecDeque::new(),
            sent: VecDeque::new(),
            opening: None,
            link: None,
            ready: VecDeque::new(),
            deadline: None,
            is_finished: false,
            is_over: false,
        }
    }

    async fn read(&mut self) -> Option<Result<Spoken, Error>> {
        while !self.is_over {
            if let Some(said) = piece(&mut self.ready) {
                self.deadline = None;
                if let Err(error) = &said {
                    self.fail(error.kind());
                }
                return Some(said);
            }
            match self.step().await {
                Ok(true) => {}
                Ok(false) => {
                    self.is_over = true;
                    self.part();
                }
                Err(error) => self.ready.push_back(Err(error)),
            }
        }
        None
    }

    /// Reads a message; false if all sentences are spoken. Cancel safe.
    async fn step(&mut self) -> Result<bool, Error> {
        if self.sent.is_empty() && self.unsent.is_empty() {
            if self.is_finished {
                return Ok(false);
            }
            pending::<()>().await;
        }
        if self.sent.is_empty() {
            // One that has ended meanwhile has not got the sentence, which costs nothing yet.
            drop(self.link.take_if(|link| !link.catch_up()));
        }
        if self.link.is_none() {
            self.connect().await?;
        }
        self.send();
        let Deadline { at, .. } = self.deadline();
        let Some(link) = &mut self.link else { return Ok(true) };
        // The clock first: messages without sound would starve it.
        let read = match at <= Instant::now() {
            true => None,
            false => timeout_at(at, link.socket.next()).await.ok(),
        };
        match read {
            Some(Ok(message)) => self.take(&message)?,
            Some(Err(end)) => self.reconnect(&end)?,
            None => return Err(self.late()),
        }
        Ok(true)
    }

    /// Takes an idle socket, or opens one. Cancel safe.
    async fn connect(&mut self) -> Result<(), Error> {
        if self.opening.is_none() {
            let address = self.service.dialect.address(&self.setup)?;
            let is_only = self.unsent.front().is_some_and(|it| !it.attempts.are_several());
            self.opening = Some(Arc::clone(&self.service).take(address, is_only).boxed());
        }
        let Some(opening) = &mut self.opening else { return Ok(()) };
        let opened = opening.await;
        self.opening = None;
        let Opened { address, socket, is_kept } = opened?;
        let line = self.service.dialect.line(&self.setup);
        self.link = Some(Link::new(address, socket, line, is_kept));
        Ok(())
    }

    /// Queues the messages of all sentences that the service does not have.
    fn send(&mut self) {
        let dialect = &self.service.dialect;
        let Some(link) = &mut self.link else { return };
        if link.is_free && !self.unsent.is_empty() {
            link.renew(dialect.line(&self.setup));
        }
        let voice = &self.setup.voice;
        for sentence in mem::take(&mut self.unsent) {
            link.socket.send(link.line.say(&sentence));
            self.sent.push_back(Sent::new(dialect.name(), voice, dialect.speed(voice), sentence));
        }
        if self.is_finished && !link.is_finished && !link.is_free {
            link.is_finished = true;
            link.socket.send(link.line.finish());
        }
    }

    /// Of the sound that is awaited, from when it first was.
    fn deadline(&mut self) -> Deadline {
        if let Some(deadline) = self.deadline {
            return deadline;
        }
        let (now, limits) = (Instant::now(), self.service.dialect.limits());
        let heard = self.sent.front_mut().filter(|sent| sent.is_heard);
        let idle = if heard.is_some() { limits.idle_timeout } else { limits.first_byte_timeout };
        let (idle, pace) = (now + idle, heard.and_then(|sent| sent.watch.until(now)));
        let deadline = match pace.filter(|pace| *pace < idle) {
            Some(at) => Deadline { at, is_pace: true },
            None => Deadline { at: idle, is_pace: false },
        };
        self.deadline = Some(deadline);
        deadline
    }

    fn late(&self) -> Error {
        let is_pace = self.deadline.is_some_and(|it| it.is_pace);
        match self.sent.front().filter(|sent| sent.is_heard) {
            Some(sent) if is_pace => sent.watch.slow(),
            Some(_) => self.service.dialect.failure(SocketFailure::Silent),
            None => self.service.dialect.failure(SocketFailure::Slow),
        }
    }

    fn take(&mut self, message: &Message) -> Result<(), Error> {
        let Some(link) = &mut self.link else { return Ok(()) };
        link.may_be_stale = false;
        let counted = link.messages.add(1);
        counted.map_err(|it| self.service.dialect.failure(SocketFailure::Flooding(it)))?;
        for event in link.line.read(message)? {
            match event {
                LineEvent::Sound(pcm) => self.sound(&pcm),
                LineEvent::Word(word) => {
                    let word = self.sent.front().map(|sent| Spoken::Word(sent.word(word)));
                    self.ready.extend(word.map(Ok));
                }
                LineEvent::Done => self.done(),
                LineEvent::Free => self.free(),
            }
        }
        Ok(())
    }

    /// Sound behind the last sentence is its echo, and dropped.
    fn sound(&mut self, pcm: &Pcm) {
        let Some(sent) = self.sent.front_mut() else { return };
        let (sound, ended) = sent.sound(pcm);
        self.ready.extend(sound.map(|pcm| Ok(Spoken::Sound(pcm))));
        self.ready.extend(ended.err().map(Err));
    }

    fn done(&mut self) {
        let Some(sent) = self.sent.front_mut() else { return };
        if !sent.is_audible && sent.has_words() {
            let error = self.service.dialect.failure(SocketFailure::NoSound);
            return self.ready.push_back(Err(error));
        }
        self.ready.extend(sent.rest().map(|pcm| Ok(Spoken::Sound(pcm))));
        self.ready.push_back(Ok(Spoken::Done));
        self.sent.pop_front();
        if let Some(link) = &mut self.link {
            link.messages = Count::within(EVENTS);
            link.may_be_stale = self.sent.is_empty();
        }
    }

    fn free(&mut self) {
        if let Some(link) = &mut self.link {
            link.is_free = true;
        }
        if !self.sent.is_empty() {
            let error = self.service.dialect.failure(SocketFailure::Closed(None));
            self.ready.push_back(Err(error));
        }
    }

    /// Opens another socket in place of one that the service closed while it was idle, and says its
    /// sentences again, even where another voice could say them: this one has not failed. Fails with
    /// the reason for its end otherwise.
    fn reconnect(&mut self, end: &SocketEnd) -> Result<(), Error> {
        let error = self.service.dialect.failure(end.failure());
        let stale = self.link.take_if(|link| link.may_be_stale);
        let Some(Link { address, .. }) = stale else { return Err(error) };
        let sent = mem::take(&mut self.sent);
        let paying: Vec<Attempts> = sent.iter().map(|it| it.sentence.attempts.clone()).collect();
        self.unsent = sent.into_iter().map(|it| it.sentence).chain(self.unsent.drain(..)).collect();
        self.deadline = None;
        let (service, kind) = (Arc::clone(&self.service), error.kind());
        let opening = async move {
            for attempts in paying {
                attempts.again(kind).await?;
            }
            service.open(address, true).await
        };
        self.opening = Some(opening.boxed());
        Ok(())
    }

    /// Ends the turn after an error of this kind.
    fn fail(&mut self, kind: Kind) {
        self.is_over = true;
        self.opening = None;
        self.ready.clear();
        self.drop_unsent();
        // The caller reports the failure of the first one.
        let others = mem::take(&mut self.sent).into_iter().skip(1);
        others.for_each(|sent| sent.sentence.attempts.failed(kind));
        if let (Some(link), Ok(runtime)) = (self.link.take(), Handle::try_current()) {
            runtime.spawn(link.socket.close());
        }
    }

    fn drop_unsent(&mut self) {
        mem::take(&mut self.unsent).iter().for_each(|sentence| sentence.attempts.unsent());
    }

    /// Lets a task finish or cancel the turn at the service and keep its socket.
    fn part(&mut self) {
        let Some(mut link) = self.link.take() else { return };
        let messages = match () {
            () if link.is_free => Some(Vec::new()),
            () if !self.sent.is_empty() => link.line.cancel(),
            () if link.is_finished => Some(Vec::new()),
            () => Some(link.line.finish()),
        };
        // Without a runtime, dropping the socket closes it.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(Arc::clone(&self.service).part(link, messages));
        }
    }
}

/// The next piece to pass on. Words wait for the piece after them: they do not show that sound is
/// coming, and each piece renews the deadline.
fn piece(ready: &mut VecDeque<Result<Spoken, Error>>) -> Option<Result<Spoken, Error>> {
    let are_words = ready.iter().all(|said| matches!(said, Ok(Spoken::Word(_))));
    if are_words { None } else { ready.pop_front() }
}

impl Synthesis for Turn {
    fn say(&mut self, sentence: Sentence) {
        self.unsent.push_back(sentence);
    }

    fn finish(&mut self) {
        self.is_finished = true;
    }

    fn next(&mut self) -> BoxFuture<'_, Option<Result<Spoken, Error>>> {
        self.read().boxed()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.drop_unsent();
        self.part();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::provider::WordEnd;

    #[test]
    fn words_wait_for_what_follows_them() {
        let word = |part| Ok(Spoken::Word(WordEnd { at: Duration::ZERO, part }));
        let mut ready = VecDeque::from([word(0.5), word(1.0)]);
        assert!(piece(&mut ready).is_none());
        ready.push_back(Ok(Spoken::Done));
        assert_eq!(piece(&mut ready).unwrap().unwrap(), word(0.5).unwrap());
        assert_eq!(piece(&mut ready).unwrap().unwrap(), word(1.0).unwrap());
        assert_eq!(piece(&mut ready).unwrap().unwrap(), Spoken::Done);
        assert!(piece(&mut ready).is_none());
    }
}
