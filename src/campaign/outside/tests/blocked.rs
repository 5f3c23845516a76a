//! A table whose task blocks.

use std::{
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};

use super::{BOUND, Evening, Program, next_line};
use crate::{
    audio::Frame,
    campaign::Tables,
    memory::{LineFilter, Viewer},
    session::{
        BLOCKED_AFTER, Pace, TableEvent, VoiceOut,
        tests::stage::{ELARA, THORIN},
    },
};

/// Blocks the table's task at the first sound, until the sender of `held` is dropped.
struct Stuck {
    begun: Option<oneshot::Sender<()>>,
    held: Receiver<()>,
}

impl VoiceOut for Stuck {
    fn play(&mut self, _: &str, _: Frame) {
        if let Some(begun) = self.begun.take() {
            _ = begun.send(());
            _ = self.held.recv();
        }
    }

    fn ramp(&mut self, _: f32, _: Duration) {}

    fn stop(&mut self) -> usize {
        0
    }
}

/// In real time: in paused time nothing else runs beside a blocked task.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocked_table_ends_and_keeps_transcript() {
    let (begun, is_stuck) = oneshot::channel();
    let (free, held) = channel();
    let out = Stuck { begun: Some(begun), held };
    let evening = Program::start().plays(Box::new(out), Pace::Free).await;
    let mut told = evening.link().events().unwrap();
    evening.types(THORIN, "I hate spiders").await;
    next_line(&mut told, |_| true).await;
    evening.types(ELARA, "Bartok, good evening").await;
    timeout(BOUND, is_stuck).await.expect("it speaks").unwrap();
    let tables = Tables::default();
    let events = evening.link().events.upgrade().expect("it is open");
    tables.add(&events);
    drop(events);
    assert_eq!(tables.blocked(), 0, "a moment is not too long");
    let late = Instant::now() + BLOCKED_AFTER;
    assert_eq!(tables.blocked_at(late), 1);
    tables.end_blocked_at(late);
    let Evening { program, session, table, writes } = evening;
    timeout(BOUND, writes).await.expect("all is written").expect("no panic");
    let mut notices = Vec::new();
    while let Some(event) = timeout(BOUND, told.recv()).await.expect("the events end") {
        if let TableEvent::Notice(text) = event {
            notices.push(text);
        }
    }
    assert!(notices.iter().any(|it| it.contains("does not respond")), "{notices:?}");
    let sessions = &program.handles.sessions;
    let (_, transcript) = sessions.paid(&session).expect("it runs");
    sessions.keep(&session, None).await.expect("it is saved");
    sessions.caught_up().await.expect("the store is there");
    let store = sessions.transcripts().store();
    let lines = store.lines(&transcript.scope, LineFilter::default(), Viewer::Dm).await.unwrap();
    let texts: Vec<&str> = lines.iter().map(|line| line.said.text.as_str()).collect();
    assert_eq!(texts, ["I hate spiders", "Bartok, good evening"]);
    assert_eq!(tables.blocked_at(late), 1, "it still takes a thread");
    table.task.abort();
    drop(free);
    assert!(timeout(BOUND, table.task).await.expect("it ends").is_err());
    assert_eq!(tables.blocked_at(late), 0);
    program.handles.workflows.close().await;
}
