//! `/session facts`: accepts, rewords or rejects facts proposed by a model.
//!
//! Entry functions: [`list`], [`press`], [`turn_page`]. **Never**: shows a proposal to players.

use std::time::Duration;

use tokio::time::timeout;

use crate::{
    campaign::{Decided, FactError, FactId, FactStatus, FactsPage, Verdict, WaitingFacts},
    discord::{
        commands::answer::{Answer, Refusal},
        guild::Guild,
        ui::{
            action::{ButtonPress, FactPlace, FactStep},
            facts,
            reply::Reply,
        },
    },
    domain::Scope,
};

/// Longest wait for the memory: Discord waits three seconds.
const PATIENCE: Duration = Duration::from_secs(2);

pub struct FactPress {
    pub place: FactPlace,
    pub id: FactId,
    pub step: FactStep,
}

/// The proposed facts, visible to the asker only.
pub fn list(guild: &Guild) -> Answer {
    let waiting = waiting(guild, 0);
    Answer::later(async move {
        match waiting.await {
            Ok(waiting) => facts::page(&waiting, None),
            Err(why) => Reply::private(why.to_string()),
        }
    })
}

/// The page of proposed facts after the first `after`.
fn waiting(
    guild: &Guild,
    after: usize,
) -> impl Future<Output = Result<WaitingFacts, FactError>> + Send + use<> {
    let page = FactsPage { after, count: facts::PAGE };
    guild.shared.handles.facts.clone().waiting(guild.scope(), page)
}

/// Scope of the fact `id`, which may belong to another campaign than the current one.
fn scope_of(guild: &Guild, id: &FactId) -> Scope {
    Scope { campaign: id.campaign.clone(), ..guild.scope() }
}

/// Shows the page after the first `after` facts; game masters only.
pub fn turn_page(guild: &Guild, press: &ButtonPress, after: usize) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    Ok(soon(waiting(guild, after), |waiting| Ok(Answer::Replace(facts::page(&waiting, None)))))
}

/// Handles a button of a fact, or its form; game masters only.
pub fn press(guild: &Guild, press: &ButtonPress, fact: FactPress) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let FactPress { place, id, step } = fact;
    let (kept, scope) = (guild.shared.handles.facts.clone(), scope_of(guild, &id));
    let (verdict, word) = match step {
        FactStep::Accept => (Verdict::Accept, "Accepted"),
        FactStep::Reject => (Verdict::Reject, "Rejected"),
        FactStep::Edited => (Verdict::Edit(edited(press)?), "Accepted in other words"),
        FactStep::Edit => {
            return Ok(soon(kept.fact(scope, id.fact), move |fact| {
                if fact.status != FactStatus::Proposed {
                    return Ok(Reply::private(facts::decided_before(&fact)).into());
                }
                let form = facts::form(&fact, place);
                let form =
                    form.ok_or("this fact is too long to edit here (accept or reject it)")?;
                Ok(Answer::Form(form))
            }));
        }
    };
    let (decided, name) = (kept.decide(scope, id.fact, verdict), press.name.clone());
    let decided = async move {
        let Decided { fact, had_waited } = decided.await?;
        Ok::<_, FactError>(match had_waited {
            true => facts::decided(&fact, word, &name),
            false => facts::decided_before(&fact),
        })
    };
    Ok(match place {
        FactPlace::Message => soon(decided, |text| Ok(Answer::Replace(Reply::public(text)))),
        FactPlace::List => {
            let rest = waiting(guild, 0);
            let both = async move { Ok((decided.await?, rest.await?)) };
            soon(both, |(lead, rest)| Ok(Answer::Replace(facts::page(&rest, Some(lead)))))
        }
    })
}

/// Answer of `then` to the result of `work`, which the memory finishes before Discord gives up.
fn soon<T: Send + 'static>(
    work: impl Future<Output = Result<T, FactError>> + Send + 'static,
    then: impl FnOnce(T) -> Result<Answer, Refusal> + Send + 'static,
) -> Answer {
    Answer::soon(timeout(PATIENCE, work), |_, found| {
        then(found.map_err(|_| "the memory takes too long (check with /session facts)")??)
    })
}

/// The fact as edited by the game master.
fn edited(press: &ButtonPress) -> Result<String, Refusal> {
    let text = press.values.first().map(|text| text.trim()).unwrap_or_default();
    match text.is_empty() {
        true => Err("the fact is empty (write it, or press Reject)".into()),
        false => Ok(text.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}
