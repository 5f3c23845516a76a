//! Recaps on request and after a session. Entry type: [`Recaps`].
//! **Never**: calls a model without permission to pay.

use super::{
    model::Writer,
    session::{RecapError, recap},
};
use crate::{
    campaign::{
        AccountFor, Accounts, Fact, Scoped, Sessions, SharedSettings, Transcript, consolidate,
    },
    domain::{Owner, Scope, SessionId},
    engine::Budget,
    memory::{self, SessionEntry, SessionFilter, Viewer},
};

/// Latest sessions of a campaign among which one with lines is looked for.
const RECENT: usize = 50;

#[derive(Clone, Debug)]
pub struct RecapRequest {
    /// Owner of the session, in any of their campaigns.
    pub owner: Owner,
    /// `None`: their last session in which something was said.
    pub session: Option<String>,
    /// Includes the game master's secrets.
    pub for_dm: bool,
    /// May pay for a model; otherwise returns a stored summary or an extract.
    pub paid: bool,
}

#[derive(Clone)]
pub struct Recaps {
    pub settings: SharedSettings,
    /// Running sessions pay for their own recaps.
    pub sessions: Sessions,
    /// Pay for other recaps.
    pub accounts: Accounts,
}

impl Recaps {
    /// After `session`: writes its summary and proposes facts; returns the waiting facts. Call it
    /// before the session is saved, which closes its budget; it calls the model when polled. Does
    /// nothing if consolidation is off. Cancel safe.
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

    pub fn recap(
        &self,
        request: RecapRequest,
    ) -> impl Future<Output = Result<String, RecapError>> + Send + use<> {
        let recaps = self.clone();
        async move { recaps.retell(request).await }
    }

    async fn retell(&self, request: RecapRequest) -> Result<String, RecapError> {
        self.sessions.caught_up().await?;
        let found = self.session(request.owner, request.session.as_deref()).await?;
        let Some((scope, SessionEntry { session, .. })) = found else {
            return Err(request.session.map_or(RecapError::Nothing, RecapError::Unknown));
        };
        // A running session's summary would soon be outdated.
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

    /// The session of this id, in any campaign of `owner`; without one, the last in which something
    /// was said: one that has just begun tells nothing. If there is none, the last.
    pub async fn session(
        &self,
        owner: Owner,
        id: Option<&str>,
    ) -> Result<Option<(Scope, SessionEntry)>, memory::Error> {
        let filter = SessionFilter { id: id.map(str::to_owned), limit: RECENT };
        let store = self.sessions.transcripts().store();
        let mut latest: Option<(Scope, SessionEntry)> = None;
        let rank = |it: &SessionEntry| (it.lines > 0, it.session.started);
        for scope in store.scopes().await?.into_iter().filter(|scope| scope.owner == owner) {
            let found = store.sessions(&scope, filter.clone()).await?;
            let at = found.iter().position(|it| it.lines > 0).unwrap_or_default();
            if let Some(found) = found.into_iter().nth(at)
                && latest.as_ref().is_none_or(|(_, other)| rank(other) < rank(&found))
            {
                latest = Some((scope, found));
            }
        }
        Ok(latest)
    }
}
