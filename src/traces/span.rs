//! Work within a turn, while it goes on. Entry type: [`Span`].

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

use super::{
    message::{Ended, Value},
    names::{OPERATION_NAME, Operation},
    recording::{Recording, span_id},
};

/// A span of a trace. It ends with [`Self::end`], or when its last copy is dropped. The default
/// records nothing.
#[derive(Clone, Default)]
pub struct Span(Option<Arc<Open>>);

struct Open {
    recording: Arc<Recording>,
    id: u64,
    began: Instant,
    operation: Operation,
    /// `None` once it has ended.
    draft: Mutex<Option<Draft>>,
}

struct Draft {
    name: String,
    attributes: Vec<(&'static str, Value)>,
    error: Option<String>,
}

impl Span {
    pub(super) fn begin(recording: &Arc<Recording>, operation: Operation, target: &str) -> Self {
        let attributes =
            vec![(OPERATION_NAME, operation.name().into()), (operation.target(), target.into())];
        let name = format!("{} {target}", operation.name());
        Self(Some(Arc::new(Open {
            recording: Arc::clone(recording),
            id: span_id(),
            began: Instant::now(),
            operation,
            draft: Mutex::new(Some(Draft { name, attributes, error: None })),
        })))
    }

    pub const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// True if words may be recorded.
    pub fn has_content(&self) -> bool {
        self.0.as_ref().is_some_and(|open| open.recording.shared.has_content)
    }

    pub fn set(&self, key: &'static str, value: impl Into<Value>) {
        self.change(|draft| draft.attributes.push((key, value.into())));
    }

    /// Records words, if they are wanted.
    pub fn content(&self, key: &'static str, words: impl FnOnce() -> String) {
        if self.has_content() {
            self.set(key, words());
        }
    }

    /// Sets the target, once it is known.
    pub fn of(&self, target: &str) {
        let Some(open) = &self.0 else { return };
        self.change(|draft| {
            draft.name = format!("{} {target}", open.operation.name());
            let key = open.operation.target();
            draft.attributes.retain(|(other, _)| *other != key);
            draft.attributes.push((key, target.into()));
        });
    }

    /// Records the time from its start to now, in seconds, unless it has been.
    pub fn reached(&self, key: &'static str) {
        let Some(open) = &self.0 else { return };
        self.change(|draft| {
            if draft.attributes.iter().all(|(other, _)| *other != key) {
                draft.attributes.push((key, open.began.elapsed().as_secs_f64().into()));
            }
        });
    }

    /// Marks it as failed; `kind` is one of a closed set.
    pub fn failed(&self, kind: &str) {
        self.change(|draft| draft.error = Some(kind.to_owned()));
    }

    /// Value of `traceparent` (W3C Trace Context) for requests within it.
    pub fn traceparent(&self) -> Option<String> {
        let open = self.0.as_ref()?;
        Some(format!("00-{:032x}-{:016x}-01", open.recording.id, open.id))
    }

    /// Ends it now, even if there are copies.
    pub fn end(self) {
        if let Some(open) = &self.0 {
            open.end();
        }
    }

    fn change(&self, change: impl FnOnce(&mut Draft)) {
        let Some(open) = &self.0 else { return };
        if let Some(draft) = &mut *open.draft.lock().unwrap_or_else(PoisonError::into_inner) {
            change(draft);
        }
    }
}

impl Open {
    fn end(&self) {
        let draft = self.draft.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Draft { name, attributes, error }) = draft else { return };
        let recording = &self.recording;
        recording.add(Ended {
            id: self.id,
            parent: Some(recording.root),
            name,
            is_client: self.operation.is_client(),
            from: recording.unix(self.began),
            to: recording.unix(Instant::now()),
            attributes,
            error,
        });
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.end();
    }
}
