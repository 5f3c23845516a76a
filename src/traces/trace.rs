//! One turn, from the end of speech to the end of its answer. Entry types: [`Traces`], [`Trace`].

use std::{sync::Arc, time::SystemTime};

use tokio::time::Instant;

use super::{
    message::{Ended, Value},
    names::{self, Operation},
    queue::{Queue, Shared},
    recording::{Recording, span_id},
    span::Span,
};

/// Begins the traces of a program; the default records nothing.
#[derive(Clone, Default)]
pub struct Traces(Option<Arc<Shared>>);

impl Traces {
    /// `has_content`: words are recorded too. `wall` tells the time.
    pub fn open(has_content: bool, wall: fn() -> SystemTime) -> (Self, Queue) {
        let (shared, queue) = Queue::open(has_content, wall);
        (Self(Some(shared)), queue)
    }

    /// A trace for the next turn of `session`.
    pub fn begin(&self, session: &str) -> Trace {
        Trace(self.0.as_ref().map(|shared| Arc::new(Recording::new(shared, session))))
    }
}

/// The trace of one turn; dropped unfinished, it leaves nothing. The default records nothing.
#[derive(Clone, Default)]
pub struct Trace(Option<Arc<Recording>>);

/// A turn as its root span shows it.
pub struct Root {
    pub agent: String,
    pub began: Instant,
    pub ended: Instant,
    pub stages: Vec<Stage>,
    pub attributes: Vec<(&'static str, Value)>,
    /// Kind of error.
    pub error: Option<String>,
}

/// A part of a turn's time.
#[derive(Debug, PartialEq, Eq)]
pub struct Stage {
    pub name: &'static str,
    /// Operation and service that did all of it.
    pub by: Option<(Operation, String)>,
    pub from: Instant,
    pub to: Instant,
}

impl Trace {
    pub const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// True if words may be recorded.
    pub fn has_content(&self) -> bool {
        self.0.as_ref().is_some_and(|recording| recording.shared.has_content)
    }

    /// In hexadecimal digits.
    pub fn id(&self) -> Option<String> {
        self.0.as_ref().map(|recording| format!("{:032x}", recording.id))
    }

    /// Begins `operation` with `target`, a service or a tool.
    pub fn begin(&self, operation: Operation, target: impl FnOnce() -> String) -> Span {
        match &self.0 {
            Some(recording) => Span::begin(recording, operation, &target()),
            None => Span::default(),
        }
    }

    /// Sends the trace off; later spans are lost.
    pub fn finish(&self, root: Root) {
        let Some(recording) = &self.0 else { return };
        let Some(mut spans) = recording.take() else { return };
        let stages = root.stages.into_iter().map(|stage| ended_stage(recording, stage));
        spans.extend(stages.map(|stage| stage.of(recording.id)));
        let own: [(&str, Value); 3] = [
            (names::OPERATION_NAME, names::INVOKE_AGENT.into()),
            (names::AGENT_NAME, root.agent.as_str().into()),
            (names::CONVERSATION_ID, recording.session.as_str().into()),
        ];
        let whole = Ended {
            id: recording.root,
            parent: None,
            name: format!("{} {}", names::INVOKE_AGENT, root.agent),
            is_client: false,
            from: recording.unix(root.began),
            to: recording.unix(root.ended),
            attributes: own.into_iter().chain(root.attributes).collect(),
            error: root.error,
        };
        spans.push(whole.of(recording.id));
        recording.shared.send(spans);
    }
}

fn ended_stage(recording: &Recording, stage: Stage) -> Ended {
    let mut attributes: Vec<(&'static str, Value)> = vec![(names::STAGE, stage.name.into())];
    let name = match &stage.by {
        Some((operation, target)) => {
            attributes.push((names::OPERATION_NAME, operation.name().into()));
            attributes.push((operation.target(), target.as_str().into()));
            format!("{} {target}", operation.name())
        }
        None => stage.name.to_owned(),
    };
    Ended {
        id: span_id(),
        parent: Some(recording.root),
        name,
        is_client: stage.by.is_some_and(|(operation, _)| operation.is_client()),
        from: recording.unix(stage.from),
        to: recording.unix(stage.to),
        attributes,
        error: None,
    }
}
