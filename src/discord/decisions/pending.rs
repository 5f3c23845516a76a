//! Waiting requests: tool calls and servers' questions.
//!
//! Entry type: [`PendingDecisions`]. **Never**: waits itself; the caller holds the other end of a
//! channel.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::question::{FieldError, Question, QuestionError};
use crate::{
    campaign::{Callback, CallbackChoice},
    domain::{PersonId, SessionId},
    tools::{ApprovalRequest, Decision, Form},
};

#[derive(Default)]
pub struct PendingDecisions {
    open: BTreeMap<String, Request>,
    /// Keys of requests that were open when an X-card halted their table.
    halted: BTreeSet<String>,
    count: u64,
}

/// A waiting request. Dropping `answer` tells the asker that no decision comes.
pub enum Request {
    Call {
        asked: ApprovalRequest,
        answer: oneshot::Sender<Decision>,
        /// Lets the notified system decide too, until the request is over.
        callback: Option<Callback>,
    },
    Question {
        /// The question, and the next page.
        asked: AskedQuestion,
        filled: Map<String, Value>,
        answer: oneshot::Sender<Map<String, Value>>,
    },
}

#[derive(Clone, Debug)]
pub enum Asked {
    Call(ApprovalRequest),
    Question(AskedQuestion),
}

#[derive(Clone, Debug)]
pub struct AskedQuestion {
    pub server: String,
    pub message: String,
    pub question: Question,
    /// The next page to fill in, from 0.
    pub page: usize,
}

#[derive(Clone, Debug)]
pub enum Choice {
    Approve,
    /// Approves this call and later ones of the tool until its definition changes.
    Always,
    Deny,
    Edit(Map<String, Value>),
    /// The notified system's, not a game master's.
    Notified(CallbackChoice),
    /// Accepts the question with the fields filled in so far.
    Accept,
    Decline,
    Fill {
        page: usize,
        values: Vec<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Approved,
    AlwaysApproved,
    Denied,
    Edited,
    /// The call was not made; it has a result from outside.
    Completed,
    Answered,
    Declined,
    /// The caller no longer waits.
    Expired,
    /// Withdrawn by an X-card.
    Withdrawn,
}

#[derive(Debug)]
pub enum DecisionProgress {
    Decided(Asked, Outcome),
    Continues(Asked),
}

/// Reason a choice was not taken; an open request keeps waiting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecisionError {
    #[error("this request was already decided, or it expired")]
    Over,
    #[error(transparent)]
    Field(#[from] FieldError),
}

impl PendingDecisions {
    /// Adds a request of `session`. Keys are unique across sessions and runs of the program.
    pub fn add(&mut self, session: &SessionId, request: Request) -> String {
        self.count += 1;
        let key = format!("{session}.{}", self.count);
        self.open.insert(key.clone(), request);
        key
    }

    /// Adds a request of an earlier run under its old key.
    pub fn restore(&mut self, key: String, request: Request) {
        self.open.insert(key, request);
    }

    /// Lets the notified system decide the call `key` until it is over.
    pub fn attach(&mut self, key: &str, opened: Callback) {
        if let Some(Request::Call { callback, .. }) = self.open.get_mut(key) {
            *callback = Some(opened);
        }
    }

    pub fn get(&self, key: &str) -> Option<&Request> {
        self.open.get(key)
    }

    /// Removes a request; its caller finds the channel closed.
    pub fn withdraw(&mut self, key: &str) {
        self.open.remove(key);
    }

    /// Marks the open requests of `session` as withdrawn by an X-card.
    pub fn halt(&mut self, session: &SessionId) {
        self.halted.extend(self.open.keys().filter(|key| is_of(key, session)).cloned());
    }

    /// Outcome of the request `key` once its caller no longer waits.
    pub fn over(&self, key: &str) -> Outcome {
        match self.halted.contains(key) {
            true => Outcome::Withdrawn,
            false => Outcome::Expired,
        }
    }

    /// Removes requests whose callers no longer wait.
    pub fn take_expired(&mut self) -> Vec<(String, Asked, Outcome)> {
        let expired: Vec<_> = self.open.extract_if(.., |_, request| request.is_over()).collect();
        let asked = expired.into_iter().map(|(key, request)| {
            let outcome = self.over(&key);
            (key, request.asked(), outcome)
        });
        let expired = asked.collect();
        self.halted.retain(|key| self.open.contains_key(key));
        expired
    }

    /// Removes the calls for `person`.
    pub fn take_for(&mut self, person: &PersonId) -> Vec<(String, Asked)> {
        let is_theirs = |_: &String, request: &mut Request| match request {
            Request::Call { asked, .. } => asked.by.as_ref() == Some(person),
            Request::Question { .. } => false,
        };
        let theirs = self.open.extract_if(.., is_theirs);
        theirs.map(|(key, request)| (key, request.asked())).collect()
    }

    /// Removes all requests of `session`.
    pub fn take_of(&mut self, session: &SessionId) -> Vec<(String, Asked)> {
        let all = self.open.extract_if(.., |key, _| is_of(key, session));
        all.map(|(key, request)| (key, request.asked())).collect()
    }

    /// Applies a choice of a game master or the notified system.
    pub fn decide(&mut self, key: &str, choice: Choice) -> Result<DecisionProgress, DecisionError> {
        let request = self.open.remove(key).ok_or(DecisionError::Over)?;
        let (request, continues) = match request.decide(choice) {
            Step::Decided(asked, Outcome::Expired) => {
                return Ok(DecisionProgress::Decided(asked, self.over(key)));
            }
            Step::Decided(asked, outcome) => return Ok(DecisionProgress::Decided(asked, outcome)),
            Step::Waits(request, continues) => (request, continues),
        };
        let asked = request.asked();
        self.open.insert(key.to_owned(), request);
        continues.map(|()| DecisionProgress::Continues(asked))
    }
}

/// True if `key` belongs to `session`. Session names may contain dots.
fn is_of(key: &str, session: &SessionId) -> bool {
    key.rsplit_once('.').is_some_and(|(of, _)| of == session.0)
}

enum Step {
    Decided(Asked, Outcome),
    Waits(Request, Result<(), DecisionError>),
}

impl Request {
    /// Fails if the schema asks for more than a form can show.
    pub fn question(
        form: Form,
        answer: oneshot::Sender<Map<String, Value>>,
    ) -> Result<Self, QuestionError> {
        let Form { server, message, schema } = form;
        let question = Question::of(&schema)?;
        let asked = AskedQuestion { server: server.to_string(), message, question, page: 0 };
        Ok(Self::Question { asked, filled: Map::new(), answer })
    }

    pub fn asked(&self) -> Asked {
        match self {
            Self::Call { asked, .. } => Asked::Call(asked.clone()),
            Self::Question { asked, .. } => Asked::Question(asked.clone()),
        }
    }

    /// True if the caller no longer waits.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Call { answer, .. } => answer.is_closed(),
            Self::Question { answer, .. } => answer.is_closed(),
        }
    }

    fn decide(self, choice: Choice) -> Step {
        let asked = self.asked();
        if self.is_over() {
            return Step::Decided(asked, Outcome::Expired);
        }
        let decided = |is_late, outcome| {
            Step::Decided(asked, if is_late { Outcome::Expired } else { outcome })
        };
        match (self, choice) {
            (Self::Call { answer, .. }, Choice::Approve) => {
                decided(answer.send(Decision::Approve).is_err(), Outcome::Approved)
            }
            (
                Self::Call { answer, asked: ApprovalRequest { may_be_waived: true, .. }, .. },
                Choice::Always,
            ) => decided(answer.send(Decision::Always).is_err(), Outcome::AlwaysApproved),
            (Self::Call { answer, .. }, Choice::Deny) => {
                let denied = Decision::Deny("the game master said no".to_owned());
                decided(answer.send(denied).is_err(), Outcome::Denied)
            }
            (Self::Call { answer, .. }, Choice::Edit(arguments)) => {
                decided(answer.send(Decision::Edit(arguments)).is_err(), Outcome::Edited)
            }
            (Self::Call { answer, .. }, Choice::Notified(choice)) => {
                let (decision, outcome) = notified(choice);
                decided(answer.send(decision).is_err(), outcome)
            }
            (Self::Question { .. }, Choice::Decline) => decided(false, Outcome::Declined),
            (Self::Question { filled, answer, .. }, Choice::Accept) => {
                decided(answer.send(filled).is_err(), Outcome::Answered)
            }
            (Self::Question { mut asked, mut filled, answer }, Choice::Fill { page, values })
                if page == asked.page =>
            {
                let read = asked.question.read(page, &values, &mut filled);
                if read.is_ok() {
                    asked.page += 1;
                }
                if asked.page >= asked.question.pages() {
                    return decided(answer.send(filled).is_err(), Outcome::Answered);
                }
                Step::Waits(Self::Question { asked, filled, answer }, read.map_err(Into::into))
            }
            // Another page, or a choice that this request does not offer.
            (
                request,
                Choice::Approve
                | Choice::Always
                | Choice::Deny
                | Choice::Edit(_)
                | Choice::Notified(_)
                | Choice::Accept
                | Choice::Decline
                | Choice::Fill { .. },
            ) => Step::Waits(request, Err(DecisionError::Over)),
        }
    }
}

fn notified(choice: CallbackChoice) -> (Decision, Outcome) {
    match choice {
        CallbackChoice::Allow => (Decision::Approve, Outcome::Approved),
        CallbackChoice::Refuse => {
            (Decision::Deny("the notified system refused it".to_owned()), Outcome::Denied)
        }
        CallbackChoice::Complete(result) => (Decision::Complete(result), Outcome::Completed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_has_its_own_requests_alone() {
        let mut pending = PendingDecisions::default();
        let session = |name: &str| SessionId(name.to_owned());
        let mut add = |name: &str| {
            let asked = AskedQuestion {
                server: "home".to_owned(),
                message: name.to_owned(),
                question: Question::of(&serde_json::json!({"type": "object"})).unwrap(),
                page: 0,
            };
            let answer = oneshot::channel().0;
            pending.add(&session(name), Request::Question { asked, filled: Map::new(), answer })
        };
        let (one, other) = (add("a"), add("a.b"));
        pending.halt(&session("a"));
        assert_eq!(pending.over(&one), Outcome::Withdrawn);
        assert_eq!(pending.over(&other), Outcome::Expired);
        let taken: Vec<_> = pending.take_of(&session("a")).into_iter().map(|it| it.0).collect();
        assert_eq!(taken, [one]);
        assert!(pending.get(&other).is_some());
    }
}
