//! What follows a session: its recap, and facts for the game master to decide about.
//!
//! **Never**: asks a model that nobody wants to pay.

use futures::{FutureExt, future::BoxFuture};

use super::{Books, Residence};
use crate::{
    app::{campaign_key, recap_writer},
    campaign::{
        self, Fact, FactId, Transcript, Verdict, WaitingFacts, WantedFacts, consolidate, key_of,
        recap, settle,
    },
    discord::Wish,
    domain::SessionId,
    engine::Purse,
    memory::{CampaignKey, Error, SessionEntry, SessionFilter, Viewer},
};

/// Said where no model proposes anything.
const NO_MODEL: &str = "Nothing is proposed here without a chat model (providers.llm in \
                        glyphoxa.yaml).";
/// Said where nothing is proposed of itself.
const OFF: &str = "They are proposed when a game master uses /session recap (memory.consolidate \
                   is off in glyphoxa.yaml).";
/// Said where they are.
const ON: &str = "They are proposed when a session ends, and when a game master uses /session \
                  recap.";

impl Residence {
    /// Consolidates a session that is being kept.
    pub fn consolidated(
        &self,
        session: &SessionId,
    ) -> BoxFuture<'static, Result<Vec<Fact>, String>> {
        let paid = |books: &Books| (books.purse.clone(), books.written.clone());
        let paid = self.books().get(session).map(paid);
        let house = self.clone();
        async move {
            match paid {
                Some((purse, written)) if house.config.load().memory.consolidate => {
                    house.go_through(purse, &written).await
                }
                _ => Ok(Vec::new()),
            }
        }
        .boxed()
    }

    async fn go_through(self, purse: Purse, written: &Transcript) -> Result<Vec<Fact>, String> {
        let writer = recap_writer(&self.tools.services, &self.config.load(), purse)
            .map_err(|error| error.to_string())?;
        let Some(writer) = writer else { return Ok(Vec::new()) };
        self.caught_up().await?;
        let at = (&*self.store, &written.campaign);
        consolidate(at, &written.session, &writer).await
    }

    /// What happened in a session, as text.
    pub async fn retell(self, wish: Wish) -> Result<String, String> {
        let said = |error: Error| error.to_string();
        self.caught_up().await?;
        let config = self.config.load_full();
        let Some((campaign, SessionEntry { session, .. })) =
            self.last_session(&wish).await.map_err(said)?
        else {
            return Err(match wish.session {
                Some(id) => format!("there is no session '{id}' of this server"),
                None => "nothing was played on this server yet (/session start)".to_owned(),
            });
        };
        // Of a session that runs it would soon be old.
        if let (Some(summary), Some(_), false) = (&session.summary, session.ended, wish.paid) {
            return Ok(summary.clone());
        }
        let own = self.books().get(&SessionId(session.id.clone())).map(|it| it.purse.clone());
        let purse = own.unwrap_or_else(|| self.aside.purse(&config));
        let writer = match wish.paid {
            true => recap_writer(&self.tools.services, &config, purse)
                .map_err(|error| error.to_string())?,
            false => None,
        };
        let viewer = if wish.for_dm { Viewer::Dm } else { Viewer::Everyone };
        let told = recap((&*self.store, &campaign), &session.id, viewer, writer.as_ref()).await;
        let Some(told) = told.map_err(said)? else {
            return Err(format!("the session '{}' was deleted just now", session.id));
        };
        let mut text = told.text();
        if wish.for_dm && told.proposed > 0 {
            text.push_str(&format!(
                "{} facts wait for your word (/session facts)\n",
                told.proposed
            ));
        }
        Ok(text)
    }

    /// The session that is meant, and its campaign: guilds may have played several.
    async fn last_session(
        &self,
        wish: &Wish,
    ) -> Result<Option<(CampaignKey, SessionEntry)>, Error> {
        let (id, guild) = (wish.session.clone(), Some(wish.guild));
        let filter = SessionFilter { id, guild, limit: 1 };
        let mut latest: Option<(CampaignKey, SessionEntry)> = None;
        for campaign in self.store.campaigns().await? {
            let found = self.store.sessions(&campaign, filter.clone()).await?.pop();
            let began = |it: &SessionEntry| it.session.started;
            if let Some(found) = found
                && latest.as_ref().is_none_or(|(_, other)| began(other) < began(&found))
            {
                latest = Some((campaign, found));
            }
        }
        Ok(latest)
    }

    /// Facts that wait.
    pub async fn waiting_facts(self, wanted: WantedFacts) -> Result<WaitingFacts, String> {
        let config = self.config.load_full();
        let played = wanted.played.as_ref();
        let campaign = played.map_or_else(|| campaign_key(&config), |it| key_of(&it.name));
        let found = campaign::waiting((&*self.store, &campaign), &wanted).await;
        let mut found = found.map_err(|error| error.to_string())?;
        let writer =
            recap_writer(&self.tools.services, &config, self.aside.purse(&config)).ok().flatten();
        found.note = Some(match writer {
            None => NO_MODEL,
            Some(_) if config.memory.consolidate => ON,
            Some(_) => OFF,
        });
        Ok(found)
    }

    /// Decides about a fact, one verdict after the other.
    pub async fn settled(self, id: FactId, verdict: Verdict) -> Result<(Fact, bool), String> {
        let _turn = self.deciding.lock().await;
        settle(&*self.store, id, verdict).await
    }
}
