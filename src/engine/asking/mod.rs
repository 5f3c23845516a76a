//! One request to the chat models of an NPC: the first that answers it.
//!
//! Entry types: [`Asking`]; [`Answering`], which is being answered. Each candidate is paid for by itself,
//! before it is asked. **Never**: asks another once something of an answer was given on, or about a
//! request that is wrong.

mod answering;
mod payer;
mod spare;
#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::time::timeout;

pub use self::{answering::Answering, payer::Payer};

use self::spare::Spare;
use super::budget::Reservation;
use crate::provider::{Asked, Candidate, Chain, ChatModel, ChatRequest, Error, Kind, Queue};

/// A request that is about to be made.
pub struct Asking<'m> {
    models: &'m Chain<dyn ChatModel>,
    payer: Payer,
    /// The request to send.
    request: ChatRequest,
    /// Size of the request, in bytes.
    bytes: u64,
    queue: Queue<dyn ChatModel>,
    /// Candidates that failed, each with the reason.
    failed: Vec<String>,
}

/// The first of two candidates to begin an answer.
enum Begun {
    First(Result<(), Error>),
    Second(Result<(), Error>),
}

impl<'m> Asking<'m> {
    /// `request` of so many bytes to `models`, paid for by `payer`.
    pub fn new(
        models: &'m Chain<dyn ChatModel>,
        payer: Payer,
        request: ChatRequest,
        bytes: u64,
    ) -> Self {
        Self { models, payer, request, bytes, queue: models.queue(), failed: Vec::new() }
    }

    /// Asks one after the other until an answer begins. Cancel safe: dropping the future ends the
    /// requests.
    ///
    /// # Errors
    /// No candidate answers, the request is wrong, or a spending cap would be passed.
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

    /// Waits for the beginning of an answer to `first`, and of `spare` too where that is late.
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
        // In this order: what is paid for is asked.
        let paid = candidate.ask().and_then(|asked| Some((asked, spare.pay()?)));
        let Some((asked, reserved)) = paid else {
            // Somebody has found out meanwhile that it does not answer either, or the store is slow.
            self.queue.put_back(candidate);
            return self.alone(first).await;
        };
        let (late, asks, after) = (first.name(), candidate.name(), spare.after);
        tracing::debug!(late = &**late, asks = &**asks, ?after, "the next is asked too");
        let second = self.send(&candidate, asked, reserved, !self.queue.has_more());
        self.race(first, second).await
    }

    /// The one of two that speaks first; the other is cancelled.
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

    /// Sends the request; only the last who can be asked is asked again when it fails.
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

    /// The candidate that is asked beside `first`, and its wait; both are paid for before one is asked.
    fn spare(&mut self, first: &Candidate<dyn ChatModel>) -> Option<Spare> {
        let after: Duration = first.usual_wait().filter(|_| self.models.is_hedged())?;
        let candidate = self.queue.spare()?;
        match self.reserve(&candidate) {
            Ok(reserved) => Some(Spare::new(candidate, reserved, after)),
            Err(_) => {
                // The budget does not cover two.
                self.queue.put_back(candidate);
                None
            }
        }
    }

    fn reserve(&self, candidate: &Candidate<dyn ChatModel>) -> Result<Reservation, Error> {
        let service = &**candidate.service();
        self.payer.reserve(service, self.bytes, self.request.max_tokens)
    }

    /// `failed` was not answered.
    fn note(&mut self, failed: Answering, error: Error) -> Error {
        let name = failed.name().clone();
        if !self.models.is_alone() {
            tracing::warn!(service = &*name, %error, "a chat model did not answer");
        }
        self.failed.push(format!("{name}: {error}"));
        failed.failed(error.kind());
        error
    }

    /// Error of a request that no model answered; `last` is that of the last model asked.
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
