//! Ranked search of lines in PostgreSQL.
//!
//! Entry: `Postgres::find_lines`. **Never**: ranks by a word that most lines hold while there are
//! others, because every such line would have to be read.

use std::{collections::HashMap, time::Duration};

use deadpool_postgres::Client;
use tokio::time::Instant;

use super::{
    Common, Postgres,
    sql::{Sql, any_of, asked, campaign_word, fold_of, lexeme, plain},
    transcript::{LINE, line},
};
use crate::memory::{CampaignKey, Error, Hit, LineQuery, Viewer};

/// A word in a larger share of lines is common.
const COMMON: f32 = 0.05;
/// In fewer lines than these no word is worth leaving out.
const FEW: i64 = 200;
/// For so long the server's sample of words is taken as it was.
const SAMPLE: Duration = Duration::from_secs(600);

/// The server's sample of words in lines, where it has one.
const SHARES: &str = "SELECT most_common_elems::text::text[], most_common_elem_freqs FROM pg_stats \
     WHERE schemaname = current_schema() AND tablename = 'utterance' AND attname = 'words' \
     AND most_common_elems IS NOT NULL";

impl Postgres {
    /// Lines that hold words of the question, the best first and of equals the latest.
    pub(super) async fn find_lines(
        &self,
        campaign: &CampaignKey,
        query: LineQuery,
        viewer: Viewer,
    ) -> Result<Vec<Hit>, Error> {
        let client = self.client().await?;
        let words = self.telling(&client, campaign, asked(&query.text)).await?;
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = any_of(&words);
        let inside = format!("{} & ({wanted})", lexeme(&campaign_word(campaign)));
        let mut sql = Sql::new(&format!("SELECT {LINE}, ts_rank(u.words, "));
        sql.bind(wanted)
            .push("::text::tsquery)::float8 AS score FROM utterance u WHERE u.words @@ ");
        sql.bind(inside).push("::text::tsquery AND u.campaign = ").bind(plain(&campaign.0));
        sql.push(" AND NOT u.withdrawn").lines_for(&viewer);
        if let Some(session) = &query.session {
            sql.push(" AND u.session = ").bind(plain(session));
        }
        if let Some(from) = query.from {
            sql.push(" AND u.at >= ").bind(from);
        }
        if let Some(to) = query.to {
            sql.push(" AND u.at < ").bind(to);
        }
        if let Some(speaker) = &query.speaker {
            sql.push(" AND u.said_by @> ").bind(vec![fold_of(speaker)]);
        }
        sql.push(" ORDER BY score DESC, u.at DESC, u.seq DESC").limit(query.limit);
        let rows = sql.query(&client).await?;
        rows.iter().map(|row| Ok(Hit { line: line(row)?, score: row.try_get("score")? })).collect()
    }

    /// Those of `words` that few lines hold; all, where there are no such.
    async fn telling(
        &self,
        client: &Client,
        campaign: &CampaignKey,
        words: Vec<String>,
    ) -> Result<Vec<String>, Error> {
        if words.len() < 2 {
            return Ok(words);
        }
        let common = match self.sampled(client, &words).await? {
            Some(common) => common,
            None => counted(client, campaign, &words).await?,
        };
        if common.iter().all(|it| *it) {
            return Ok(words);
        }
        let few = words.into_iter().zip(common).filter(|(_, common)| !common);
        Ok(few.map(|(word, _)| word).collect())
    }

    /// Which words are common by the server's sample; `None`: it has none yet.
    async fn sampled(&self, client: &Client, words: &[String]) -> Result<Option<Vec<bool>>, Error> {
        let judge = |common: &Common| {
            let share = |word: &String| common.shares.get(word).is_some_and(|it| *it > COMMON);
            words.iter().map(share).collect()
        };
        if let Some(common) =
            &*self.common.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
            && common.read.elapsed() < SAMPLE
        {
            return Ok(Some(judge(common)));
        }
        let statement = client.prepare_cached(SHARES).await?;
        let Some(row) = client.query_opt(&statement, &[]).await? else { return Ok(None) };
        let (elements, shares): (Vec<String>, Vec<f32>) = (row.try_get(0)?, row.try_get(1)?);
        // More shares follow that are of no word.
        let shares: HashMap<String, f32> = elements.into_iter().zip(shares).collect();
        let common = Common { shares, read: Instant::now() };
        let judged = judge(&common);
        *self.common.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(common);
        Ok(Some(judged))
    }
}

/// Which words are common, counted. Only a campaign so new that the server has not sampled it yet is
/// small enough for that.
async fn counted(
    client: &Client,
    campaign: &CampaignKey,
    words: &[String],
) -> Result<Vec<bool>, Error> {
    let own = lexeme(&campaign_word(campaign));
    let queries = words.iter().map(|word| format!("{own} & {}", lexeme(word)));
    let mut sql = Sql::new("SELECT (SELECT count(*) FROM utterance WHERE campaign = ");
    sql.bind(plain(&campaign.0)).push("), (SELECT count(*) FROM utterance u WHERE u.words @@ ");
    sql.push("q.query::tsquery) FROM unnest(").bind(queries.collect::<Vec<_>>());
    sql.push("::text[]) WITH ORDINALITY AS q (query, place) ORDER BY q.place");
    let judge = |row: &tokio_postgres::Row| {
        let (all, held): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        // One in twenty is COMMON.
        Ok(all >= FEW && held > all / 20)
    };
    sql.query(client).await?.iter().map(judge).collect()
}
