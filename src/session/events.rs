//! Events of a table, sent to any number of listeners.
//!
//! Entry types: [`TableEvents`], which tells, and [`EventReader`], one listener.
//! **Never**: waits for a listener; one that is too slow loses the oldest events and learns how many.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{
    broadcast::{
        self,
        error::{RecvError, TryRecvError},
    },
    oneshot,
};

use super::{continuation::Continuation, line::TurnLine, status::State};

/// An event that a table sends to its listeners.
#[derive(Clone, Debug)]
pub enum TableEvent {
    /// An utterance and what came of it.
    Line(Arc<TurnLine>),
    /// Something the game master should know.
    Notice(String),
    /// Something the game master alone should know: a place or a title that players would learn from.
    Private(String),
    /// Somebody has stopped the game; who is not told.
    Halted {
        /// Turns that were told of before and are taken back, by their numbers.
        taken_back: Vec<u64>,
    },
    /// The table's new state, when it changes.
    State(State),
    /// State to continue from later, when somebody has been muted or the scene has changed.
    Stands(Arc<Continuation>),
    /// Somebody waits until what was told before this is written down.
    Mark(Arc<Mark>),
    /// This listener was too slow: so many events before the next are lost to it.
    Missed(u64),
}

/// A place among the events. Dropping it is reaching it.
#[derive(Debug)]
pub struct Mark(Mutex<Option<oneshot::Sender<()>>>);

impl Mark {
    /// A place, and what resolves once it is reached, or will never be.
    fn new() -> (Self, oneshot::Receiver<()>) {
        let (reached, wait) = oneshot::channel();
        (Self(Mutex::new(Some(reached))), wait)
    }

    /// Everything before it has been dealt with.
    pub fn reach(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Tells every listener of one table. Cloning it shares the listeners, who see the end when the last
/// clone is gone.
#[derive(Clone, Debug)]
pub struct TableEvents(broadcast::Sender<TableEvent>);

impl TableEvents {
    /// Events of a table; each listener may lag behind by `capacity` of them.
    pub fn new(capacity: usize) -> Self {
        Self(broadcast::Sender::new(capacity))
    }

    /// Subscribes to all events from now on.
    pub fn subscribe(&self) -> EventReader {
        EventReader(self.0.subscribe())
    }

    /// Tells all listeners, if there are any.
    pub fn tell(&self, event: TableEvent) {
        // Nobody has to listen.
        let _ = self.0.send(event);
    }

    /// Marks this place for the one listener that writes down; waits until it is reached, or the
    /// listeners have seen the end. Cancel safe.
    pub fn mark(&self) -> impl Future<Output = ()> + Send + use<> {
        let (mark, reached) = Mark::new();
        self.tell(TableEvent::Mark(Arc::new(mark)));
        async move {
            // It is dropped where it is reached: an error is the answer.
            _ = reached.await;
        }
    }

    /// A weak sender, which does not keep listeners from seeing the end.
    pub fn downgrade(&self) -> WeakTableEvents {
        WeakTableEvents(self.0.downgrade())
    }
}

/// Reaches the listeners of a table for as long as it is open.
#[derive(Clone, Debug)]
pub struct WeakTableEvents(broadcast::WeakSender<TableEvent>);

impl WeakTableEvents {
    /// The sender, unless the table is gone.
    pub fn upgrade(&self) -> Option<TableEvents> {
        self.0.upgrade().map(TableEvents)
    }
}

/// One listener, with a place of its own among the events.
#[derive(Debug)]
pub struct EventReader(broadcast::Receiver<TableEvent>);

impl EventReader {
    /// The next event; `None`: the table is gone, and everything it told has been read. Cancel safe.
    pub async fn recv(&mut self) -> Option<TableEvent> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(missed_some(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// The next event, if it is there.
    pub fn try_recv(&mut self) -> Option<TableEvent> {
        match self.0.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Lagged(missed)) => Some(missed_some(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
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
