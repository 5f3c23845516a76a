//! Recaps of sessions that game masters and players ask for, and the one that follows a session.
//!
//! Entry type: [`Recaps`]. **Never**: asks a model that nobody wants to pay.

use super::{error::RecapError, session::recap, writer::Writer};
use crate::{
    campaign::{
        AccountFor, Accounts, Fact, Scoped, Sessions, SharedSettings, Transcript, consolidate,
    },
    domain::{Owner, Scope, SessionId},
    engine::Budget,
    memory::{self, SessionEntry, SessionFilter, Viewer},
};

/// Request for a recap.
#[derive(Clone, Debug)]
pub struct RecapRequest {
    /// Owner of the session; it may be of any campaign of theirs.
    pub owner: Owner,
    /// The session; `None`: their last one.
    pub session: Option<String>,
    /// With what only game masters may see.
    pub for_dm: bool,
    /// A model may be paid for it; otherwise what is there already, or an extract.
    pub paid: bool,
}

/// Recaps of sessions. Cloning shares them.
#[derive(Clone)]
pub struct Recaps {
    /// The configuration.
    pub settings: SharedSettings,
    /// Those that run pay for themselves.
    pub sessions: Sessions,
    /// Pays for the others.
    pub accounts: Accounts,
}

impl Recaps {
    /// Work that follows `session` when it is kept: its summary, and the facts that are proposed of it and
    /// wait now. Taken before the session is kept, which closes its budget; asks a model when it is awaited.
    /// Nothing where nothing is to be proposed. Cancel safe.
    pub fn consolidate(
        &self,
        session: &SessionId,
    ) -> impl Future<Output = Result<Vec<Fact>, RecapError>> + Send + use<> {
        let (recaps, paid) = (self.clone(), self.sessions.paid(session));
        async move {
            match paid {
                Some((budget, transcript)) if recaps.settings.load().consolidate => {
                    recaps.go_through(budget, &transcript).await
                }
                _ => Ok(Vec::new()),
            }
        }
    }

    async fn go_through(
        &self,
        budget: Budget,
        transcript: &Transcript,
    ) -> Result<Vec<Fact>, RecapError> {
        let Some(writer) = Writer::new(&self.settings.load().assistant, budget)? else {
            return Ok(Vec::new());
        };
        self.sessions.caught_up().await?;
        let store = self.sessions.transcripts().store();
        let at = Scoped::new(&*store, &transcript.scope);
        consolidate(at, &transcript.session.0, &writer).await
    }

    /// Recap of a session, as text. Cancel safe.
    pub fn recap(
        &self,
        request: RecapRequest,
    ) -> impl Future<Output = Result<String, RecapError>> + Send + use<> {
        let recaps = self.clone();
        async move { recaps.retell(request).await }
    }

    async fn retell(&self, request: RecapRequest) -> Result<String, RecapError> {
        self.sessions.caught_up().await?;
        let Some((scope, SessionEntry { session, .. })) = self.last_session(&request).await? else {
            return Err(request.session.map_or(RecapError::Nothing, RecapError::Unknown));
        };
        // Of a session that runs it would soon be old.
        if let (Some(summary), Some(_), false) = (&session.summary, session.ended, request.paid) {
            return Ok(summary.clone());
        }
        let own = self.sessions.paid(&SessionId(session.id.clone())).map(|(budget, _)| budget);
        let settings = self.settings.load_full();
        let writer = match (request.paid, own) {
            (true, Some(budget)) => Writer::new(&settings.assistant, budget)?,
            (true, None) => {
                let budget = self.accounts.open(&scope, AccountFor::Outside, &settings.budget);
                Writer::new(&settings.assistant, budget.await?)?
            }
            (false, _) => None,
        };
        let viewer = if request.for_dm { Viewer::Dm } else { Viewer::Everyone };
        let store = self.sessions.transcripts().store();
        let told =
            recap(Scoped::new(&*store, &scope), &session.id, viewer, writer.as_ref()).await?;
        let Some(told) = told else { return Err(RecapError::Deleted(session.id)) };
        let mut text = told.text();
        if request.for_dm && told.proposed > 0 {
            text.push_str(&format!(
                "{} facts wait for your decision (/session facts)\n",
                told.proposed
            ));
        }
        Ok(text)
    }

    /// The session that is meant, and whose it is: its owner may have played several.
    async fn last_session(
        &self,
        request: &RecapRequest,
    ) -> Result<Option<(Scope, SessionEntry)>, memory::Error> {
        let filter = SessionFilter { id: request.session.clone(), limit: 1 };
        let store = self.sessions.transcripts().store();
        let mut latest: Option<(Scope, SessionEntry)> = None;
        let all = store.scopes().await?.into_iter();
        for scope in all.filter(|scope| scope.owner == request.owner) {
            let found = store.sessions(&scope, filter.clone()).await?.pop();
            let began = |it: &SessionEntry| it.session.started;
            if let Some(found) = found
                && latest.as_ref().is_none_or(|(_, other)| began(other) < began(&found))
            {
                latest = Some((scope, found));
            }
        }
        Ok(latest)
    }
}
