//! Events of a table, sent to any number of listeners.
//!
//! Entry types: [`TableEvents`] sends, [`EventReader`] receives. A slow listener loses the oldest
//! events and learns how many. All listeners see the end once the table is gone, or once
//! [`TableEvents::end`] gives up a table whose task is blocked. A [`LiveEvent`], which changes many
//! times within an utterance or a turn, has a channel of its own, so that it never costs a line of
//! the transcript; without a [`LiveReader`] it is not even made.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::{
    sync::{
        broadcast::{
            self,
            error::{RecvError, TryRecvError},
        },
        oneshot,
    },
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    continuation::Continuation,
    line::TurnLine,
    pulse::{Pulse, release_woken},
    status::State,
};
use crate::domain::{Message, PersonId, TurnId};

#[derive(Clone, Debug)]
pub enum TableEvent {
    Line(Arc<TurnLine>),
    /// Words that an NPC is about to answer, and that nothing but an X-card, an opt-out or a
    /// deletion takes back: a line without an answer, to be stored at once. The line that settles
    /// it has the same `asked`, and no words if they are taken back.
    Asked(Arc<TurnLine>),
    /// An understood utterance of a person; its line follows with the answer.
    Said(Arc<UnderstoodLine>),
    /// This person's words and the answers to them are forgotten.
    Forgotten(PersonId),
    Notice(String),
    /// Notice for the game master alone: it names a place or a title that players must not see yet.
    Private(String),
    /// An X-card was used, by an unnamed person.
    Halted {
        taken_back: Vec<u64>,
    },
    State(State),
    /// State to continue from after a restart; sent with each change of it.
    Stands(Arc<Continuation>),
    /// Conversations that have changed, by NPC: by an answer as heard, or by what was forgotten.
    Conversed(Arc<[(String, Vec<Message>)]>),
    /// Resolved once the writing listener has stored all previous events.
    Mark(Arc<Mark>),
    Missed(u64),
}

/// A change within an utterance or a turn. One that is lost is harmless: the next replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveEvent {
    /// Words of an unfinished utterance so far.
    Partial {
        speaker: String,
        text: String,
    },
    Turn {
        turn: TurnId,
        npc: String,
        stage: TurnStage,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnStage {
    Thinking,
    Speaking,
    /// Ended, or never begun: a guess that was wrong.
    Idle,
}

/// Live events that a reader may lag behind: some seconds of a full table.
const LIVE_CAPACITY: usize = 256;

/// A spoken or typed utterance before it is answered.
#[derive(Debug)]
pub struct UnderstoodLine {
    pub speaker: String,
    pub by: PersonId,
    pub text: String,
    /// Time of its first voice; the whole of a continued utterance follows with the same time.
    pub began: Instant,
}

/// A place among the events. Dropping it counts as reaching it.
#[derive(Debug)]
pub struct Mark(Mutex<Option<oneshot::Sender<()>>>);

impl Mark {
    /// Also returns a receiver that resolves when the place is reached or dropped.
    fn new() -> (Self, oneshot::Receiver<()>) {
        let (reached, wait) = oneshot::channel();
        (Self(Mutex::new(Some(reached))), wait)
    }

    pub fn reach(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Sends to every listener of one table. Clones share the listeners, which see the end once the
/// last clone is dropped.
#[derive(Clone, Debug)]
pub struct TableEvents {
    all: broadcast::Sender<TableEvent>,
    live: broadcast::Sender<LiveEvent>,
    pulse: Pulse,
    /// Cancelled: listeners see the end although the table's task still holds a clone.
    ended: CancellationToken,
}

impl TableEvents {
    /// Each listener may lag by up to `capacity` events.
    pub fn new(capacity: usize) -> Self {
        let (all, live) = (broadcast::Sender::new(capacity), broadcast::Sender::new(LIVE_CAPACITY));
        Self { all, live, pulse: Pulse::default(), ended: CancellationToken::new() }
    }

    pub fn subscribe(&self) -> EventReader {
        EventReader { all: self.all.subscribe(), ended: self.ended.clone() }
    }

    pub fn follow_live(&self) -> LiveReader {
        LiveReader { live: self.live.subscribe(), ended: self.ended.clone() }
    }

    /// The pulse of the table's task.
    pub fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    /// Ends the events for all listeners once they have read those so far.
    pub fn end(&self) {
        self.ended.cancel();
    }

    /// Tells readers of live events, if any.
    pub fn tell_live(&self, event: impl FnOnce() -> LiveEvent) {
        if self.live.receiver_count() > 0 {
            // The last one may have gone meanwhile.
            _ = self.live.send(event());
            release_woken();
        }
    }

    pub fn tell(&self, event: TableEvent) {
        if self.ended.is_cancelled() {
            return;
        }
        // Listeners are optional.
        let _ = self.all.send(event);
        // The transcript must get it even if the table blocks right now.
        release_woken();
    }

    /// Marks this place for the listener that stores events; waits until it is reached or the
    /// listeners have ended. Cancel safe.
    pub fn mark(&self) -> impl Future<Output = ()> + Send + use<> {
        let (mark, reached) = Mark::new();
        self.tell(TableEvent::Mark(Arc::new(mark)));
        async move {
            // An error means it was dropped, which counts as reached.
            _ = reached.await;
        }
    }

    /// A weak sender, which does not keep the channel open.
    pub fn downgrade(&self) -> WeakTableEvents {
        WeakTableEvents {
            all: self.all.downgrade(),
            live: self.live.downgrade(),
            pulse: self.pulse.clone(),
            ended: self.ended.clone(),
        }
    }
}

/// A sender that does not keep the table's channel open.
#[derive(Clone, Debug)]
pub struct WeakTableEvents {
    all: broadcast::WeakSender<TableEvent>,
    live: broadcast::WeakSender<LiveEvent>,
    pulse: Pulse,
    ended: CancellationToken,
}

impl WeakTableEvents {
    /// `None`: the table is gone, or its events have ended.
    pub fn upgrade(&self) -> Option<TableEvents> {
        if self.ended.is_cancelled() {
            return None;
        }
        let (all, live) = (self.all.upgrade()?, self.live.upgrade()?);
        Some(TableEvents { all, live, pulse: self.pulse.clone(), ended: self.ended.clone() })
    }

    /// True if the table's task is blocked at `now`, also after its events have ended.
    pub fn is_blocked(&self, now: Instant) -> bool {
        self.pulse.is_blocked(now)
    }
}

#[derive(Debug)]
pub struct EventReader {
    all: broadcast::Receiver<TableEvent>,
    ended: CancellationToken,
}

impl EventReader {
    /// The next event; `None` once the table is gone and all its events are read. Cancel safe.
    pub async fn recv(&mut self) -> Option<TableEvent> {
        let received = tokio::select! {
            biased;
            received = self.all.recv() => received,
            () = self.ended.cancelled() => return self.try_recv(),
        };
        match received {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(missed_some(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    pub fn try_recv(&mut self) -> Option<TableEvent> {
        match self.all.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Lagged(missed)) => Some(missed_some(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

/// Receives events published from now on; lost events are skipped.
#[derive(Debug)]
pub struct LiveReader {
    live: broadcast::Receiver<LiveEvent>,
    ended: CancellationToken,
}

impl LiveReader {
    /// The next event; `None` once the table is gone. Cancel safe.
    pub async fn recv(&mut self) -> Option<LiveEvent> {
        loop {
            let received = tokio::select! {
                biased;
                received = self.live.recv() => received,
                () = self.ended.cancelled() => return None,
            };
            match received {
                Ok(event) => return Some(event),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

fn missed_some(missed: u64) -> TableEvent {
    tracing::warn!(missed, "a listener is too slow for its table");
    TableEvent::Missed(missed)
}

#[cfg(test)]
mod tests {
    use futures::poll;

    use super::*;

    fn notice(text: &str) -> TableEvent {
        TableEvent::Notice(text.to_owned())
    }

    #[tokio::test]
    async fn slow_listeners_lose_the_oldest_events() {
        let events = TableEvents::new(2);
        let (mut slow, mut quick) = (events.subscribe(), events.subscribe());
        for text in ["one", "two", "three", "four", "five"] {
            events.tell(notice(text));
            assert!(matches!(quick.recv().await, Some(TableEvent::Notice(it)) if it == text));
        }
        drop(events);
        assert!(matches!(slow.recv().await, Some(TableEvent::Missed(3))));
        assert!(matches!(slow.recv().await, Some(TableEvent::Notice(it)) if it == "four"));
        assert!(matches!(slow.try_recv(), Some(TableEvent::Notice(it)) if it == "five"));
        assert!(slow.try_recv().is_none() && slow.recv().await.is_none());
        assert!(quick.recv().await.is_none());
    }

    #[tokio::test]
    async fn mark_waits_for_listeners_still_connected() {
        let events = TableEvents::new(2);
        events.mark().await;
        let mut reader = events.subscribe();
        events.tell(notice("hello"));
        let mut marked = Box::pin(events.mark());
        assert!(matches!(reader.recv().await, Some(TableEvent::Notice(_))));
        assert!(poll!(&mut marked).is_pending());
        let Some(TableEvent::Mark(mark)) = reader.recv().await else { panic!("it was told") };
        assert!(poll!(&mut marked).is_pending());
        mark.reach();
        assert!(poll!(marked).is_ready());
        let left = events.mark();
        drop((reader, events));
        left.await;
    }

    #[tokio::test]
    async fn live_events_are_made_for_readers_only() {
        let events = TableEvents::new(2);
        let partial =
            || LiveEvent::Partial { speaker: "Thorin".to_owned(), text: "Bar".to_owned() };
        events.tell_live(|| panic!("no one follows"));
        let (mut live, mut reader) = (events.follow_live(), events.subscribe());
        events.tell_live(partial);
        assert_eq!(live.recv().await, Some(partial()));
        let weak = events.downgrade();
        drop(events);
        assert!(live.recv().await.is_none() && reader.recv().await.is_none());
        assert!(weak.upgrade().is_none());
    }

    #[tokio::test]
    async fn given_up_table_ends_its_listeners() {
        let events = TableEvents::new(2);
        let (weak, mut reader, mut live) =
            (events.downgrade(), events.subscribe(), events.follow_live());
        events.tell(notice("hello"));
        events.end();
        events.tell(notice("too late"));
        assert!(matches!(reader.recv().await, Some(TableEvent::Notice(it)) if it == "hello"));
        assert!(reader.recv().await.is_none() && live.recv().await.is_none());
        assert!(weak.upgrade().is_none());
        events.mark().await;
    }

    #[test]
    fn weak_handles_let_listeners_end() {
        let events = TableEvents::new(2);
        let (weak, mut reader) = (events.downgrade(), events.subscribe());
        weak.upgrade().expect("it is open").tell(notice("hello"));
        drop(events);
        assert!(weak.upgrade().is_none());
        assert!(matches!(reader.try_recv(), Some(TableEvent::Notice(_))));
    }
}
