//! One request to an NPC's chat models, in order, until one answers.
//!
//! Entry types: [`Asking`], and [`Answering`] once it is being answered. Each candidate is paid for
//! separately, before it is asked. None is asked after part of an answer was passed on, or if the
//! request itself is wrong.

mod answering;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

pub use self::answering::Answering;

use super::budget::{Budget, Reservation, expected};
use crate::{
    domain::Npc,
    provider::{Asked, Candidate, Chain, ChatModel, ChatRequest, Error, Kind, Queue},
};

pub struct Asking<'m> {
    models: &'m Chain<dyn ChatModel>,
    payer: Payer,
    request: ChatRequest,
    bytes: u64,
    queue: Queue<dyn ChatModel>,
    /// Failed candidates, with reasons.
    failed: Vec<String>,
}

/// The candidate that answered first.
enum Begun {
    First(Result<(), Error>),
    Second(Result<(), Error>),
}

impl<'m> Asking<'m> {
    /// `payer` pays; `bytes` is the size of `request`.
    pub fn new(
        models: &'m Chain<dyn ChatModel>,
        payer: Payer,
        request: ChatRequest,
        bytes: u64,
    ) -> Self {
        Self { models, payer, request, bytes, queue: models.queue(), failed: Vec::new() }
    }

    /// Asks the models in order until one answers. Fails if none does, if the request is wrong, or
    /// at a spending cap. Cancel safe: dropping the future ends the requests.
    pub async fn answer(mut self) -> Result<Answering, Error> {
        let mut last = None;
        while let Some((candidate, asked)) = self.queue.take() {
            let reserved = self.reserve(&candidate)?;
            let spare = self.spare(&candidate);
            reserved.ready().await?;
            let is_last = spare.is_none() && !self.queue.has_more();
            let first = self.send(&candidate, asked, reserved, is_last);
            match self.begins(first, spare).await {
                Ok(answering) => return Ok(answering),
                Err(error) if error.kind().falls_over() => last = Some(error),
                Err(error) => return Err(self.unanswered(Some(error))),
            }
        }
        Err(self.unanswered(last))
    }

    /// Waits for an answer to `first`, and after a delay to its spare too.
    async fn begins(
        &mut self,
        mut first: Answering,
        spare: Option<Spare>,
    ) -> Result<Answering, Error> {
        let Some(mut spare) = spare else { return self.alone(first).await };
        let candidate = spare.candidate().clone();
        if let Ok(begun) = timeout(spare.after, first.begin()).await {
            self.queue.put_back(candidate);
            return match begun {
                Ok(()) => Ok(first),
                Err(error) => Err(self.note(first, error)),
            };
        }
        // Pay before asking.
        let paid = candidate.ask().and_then(|asked| Some((asked, spare.pay()?)));
        let Some((asked, reserved)) = paid else {
            // The spare has failed elsewhere in the meantime, or the store is slow.
            self.queue.put_back(candidate);
            return self.alone(first).await;
        };
        let (late, asks, after) = (first.name(), candidate.name(), spare.after);
        tracing::debug!(late = &**late, asks = &**asks, ?after, "the next is asked too");
        let second = self.send(&candidate, asked, reserved, !self.queue.has_more());
        self.race(first, second).await
    }

    /// Returns the first to answer, and cancels the other.
    async fn race(
        &mut self,
        mut first: Answering,
        mut second: Answering,
    ) -> Result<Answering, Error> {
        let begun = tokio::select! {
            biased;
            begun = first.begin() => Begun::First(begun),
            begun = second.begin() => Begun::Second(begun),
        };
        let (error, failed, other) = match begun {
            Begun::First(Ok(())) => return Ok(first),
            Begun::Second(Ok(())) => return Ok(second),
            Begun::First(Err(error)) => (error, first, second),
            Begun::Second(Err(error)) => (error, second, first),
        };
        let error = self.note(failed, error);
        if error.kind().falls_over() { self.alone(other).await } else { Err(error) }
    }

    async fn alone(&mut self, mut answering: Answering) -> Result<Answering, Error> {
        match answering.begin().await {
            Ok(()) => Ok(answering),
            Err(error) => Err(self.note(answering, error)),
        }
    }

    /// Only the last candidate is retried by its own client.
    fn send(
        &self,
        candidate: &Candidate<dyn ChatModel>,
        asked: Asked,
        reserved: Reservation,
        is_last: bool,
    ) -> Answering {
        let attempts = reserved.attempts();
        let attempts = if is_last { attempts } else { attempts.once() };
        let request = ChatRequest { attempts, ..self.request.clone() };
        let stream = candidate.service().stream(request);
        Answering::new(candidate.name(), asked, (reserved, self.bytes), stream)
    }

    fn spare(&mut self, first: &Candidate<dyn ChatModel>) -> Option<Spare> {
        let after: Duration = first.usual_wait().filter(|_| self.models.is_hedged())?;
        let candidate = self.queue.spare()?;
        match self.reserve(&candidate) {
            Ok(reserved) => Some(Spare::new(candidate, reserved, after)),
            Err(_) => {
                // The budget does not cover both.
                self.queue.put_back(candidate);
                None
            }
        }
    }

    fn reserve(&self, candidate: &Candidate<dyn ChatModel>) -> Result<Reservation, Error> {
        let service = &**candidate.service();
        self.payer.reserve(service, self.bytes, self.request.max_tokens)
    }

    fn note(&mut self, failed: Answering, error: Error) -> Error {
        let name = failed.name().clone();
        if !self.models.is_alone() {
            tracing::warn!(service = &*name, %error, "a chat model did not answer");
        }
        self.failed.push(format!("{name}: {error}"));
        failed.failed(error.kind());
        error
    }

    /// Error of a request without an answer; `last` is that of the last model.
    fn unanswered(self, last: Option<Error>) -> Error {
        let none = || Error::new(Kind::Unavailable, "no chat model was asked (set providers.llm)");
        let last = last.unwrap_or_else(none);
        if self.models.is_alone() {
            return last;
        }
        let rests = |it: &Candidate<dyn ChatModel>| format!("{}: skipped for now", it.name());
        let all: Vec<String> = self.queue.resting().map(rests).chain(self.failed).collect();
        Error::new(last.kind(), all.join("; "))
    }
}

/// An NPC whose policy may have a cap, and the session's budget.
pub struct Payer {
    pub npc: Arc<Npc>,
    pub budget: Budget,
}

impl Payer {
    /// Reserves the most that a request may cost at `model`; await [`Reservation::ready`] before
    /// sending it. Fails at a spending cap.
    pub fn reserve(
        &self,
        model: &dyn ChatModel,
        bytes: u64,
        max_tokens: u32,
    ) -> Result<Reservation, Error> {
        let (payer, cap) = (&self.npc.name, self.npc.policy.max_cost);
        let longest = max_tokens.saturating_add(model.thinks());
        let mut expected = expected(bytes, longest);
        if model.writes_cache() {
            expected.written_tokens = expected.input_tokens;
        }
        self.budget.reserve_now(model.priced_as(), payer, cap, expected)
    }
}

/// A second candidate for a request whose first answer is late. Its money is returned if it is
/// never asked.
pub struct Spare {
    candidate: Candidate<dyn ChatModel>,
    reserved: Option<Reservation>,
    pub after: Duration,
}

impl Spare {
    pub const fn new(
        candidate: Candidate<dyn ChatModel>,
        reserved: Reservation,
        after: Duration,
    ) -> Self {
        Self { candidate, reserved: Some(reserved), after }
    }

    pub const fn candidate(&self) -> &Candidate<dyn ChatModel> {
        &self.candidate
    }

    /// Takes the reserved money if it is granted by now; the candidate is then asked.
    pub fn pay(&mut self) -> Option<Reservation> {
        self.reserved.take_if(|reserved| reserved.is_ready())
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if let Some(reserved) = self.reserved.take() {
            reserved.unused();
        }
    }
}
