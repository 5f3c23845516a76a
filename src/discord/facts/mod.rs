//! Facts that a model proposes, put before the game master: accepted, said in other words, or
//! rejected.
//!
//! Entry functions: [`list`], [`pressed`], [`pressed_in_list`]. The id of a button holds all that it needs, so that it outlives a restart.
//! **Never**: shows a proposal to players, or takes one for true unasked.

use std::time::Duration;

use futures::FutureExt;
use serenity::all::{
    ButtonStyle, ChannelId, CreateActionRow, CreateButton, CreateInputText, CreateModal,
    InputTextStyle,
};
use tokio::time::timeout;

use super::{
    buttons::ButtonPress,
    commands::{Answer, Next, Refusal, Then},
    guild::outbox::ChannelMessage,
    guild::task::Guild,
    ui::reply::Reply,
};
use crate::{
    campaign::{
        Decided, Fact, FactError, FactId, FactStatus, FactsPage, RecapError, Verdict, WaitingFacts,
    },
    domain::{CampaignKey, Scope},
};

/// Messages of one session at most; the others are listed by the command.
const MESSAGES_MAX: usize = 5;
/// Facts of a page: each has a row of buttons, and Discord takes five rows.
const PAGE: usize = 4;
/// Longest fact that can be edited in a form.
const EDITED_MAX: u16 = 4_000;
/// The memory is waited for no longer: Discord waits three seconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// Said to whoever presses what says nothing.
const USELESS: &str = "this button is of no use any more (/session facts)";

impl Verdict {
    fn done(&self) -> &'static str {
        match self {
            Self::Accept => "Accepted",
            Self::Edit(_) => "Accepted in other words",
            Self::Reject => "Rejected",
        }
    }
}

impl FactId {
    fn read(text: &str) -> Result<Self, Refusal> {
        let (fact, campaign) = text.split_once(':').ok_or(USELESS)?;
        Ok(Self { campaign: CampaignKey(campaign.to_owned()), fact: fact.to_owned() })
    }

    fn button(&self, place: Place, what: &str) -> String {
        format!("{}:{what}:{}:{}", place.kind(), self.fact, self.campaign.0)
    }
}

/// Where a fact is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a message of its own.
    Message,
    /// In a list.
    List,
}

impl Place {
    /// The word its buttons begin with.
    const fn kind(self) -> &'static str {
        match self {
            Self::Message => "fact",
            Self::List => "facts",
        }
    }
}

impl Fact {
    fn shown(&self) -> String {
        let proof: String = self.proof.iter().map(|line| format!("> {line}\n")).collect();
        let whose = match self.dm_only {
            true => "only you know of it, accepted or not",
            false => "accepted, the NPCs who were there know it",
        };
        format!("**{}**\n{proof}{} · {whose}", self.text, self.when)
    }

    /// Accept, Edit and Reject; `number` tells them from others of a list.
    fn row(&self, place: Place, number: &str) -> CreateActionRow {
        let button = |what: &str, label: &str, style| {
            CreateButton::new(self.id.button(place, what))
                .label(format!("{label}{number}"))
                .style(style)
        };
        CreateActionRow::Buttons(vec![
            button("accept", "Accept", ButtonStyle::Success),
            button("edit", "Edit", ButtonStyle::Secondary),
            button("reject", "Reject", ButtonStyle::Danger),
        ])
    }

    /// What is to be read once somebody has decided, or tried to.
    fn closed(&self, done: bool, word: &str, name: &str) -> String {
        let how = match (done, self.status) {
            (true, _) => format!("{word} by {name}"),
            (false, FactStatus::Accepted) => "Was accepted before".to_owned(),
            (false, FactStatus::Rejected) => "Was rejected before".to_owned(),
            // Somebody has changed it this moment.
            (false, FactStatus::Proposed) => "Nothing was decided".to_owned(),
        };
        format!("{}\n**{how}**", self.shown())
    }
}

impl Guild {
    /// Puts what a session has led to before the game master: in the log channel, else by a word in
    /// `panel`, which players read.
    pub fn propose(&mut self, panel: ChannelId, found: Result<Vec<Fact>, RecapError>) {
        let log = self.settings.log_channel.map(ChannelId::new);
        let facts = match found {
            Ok(facts) if facts.is_empty() => return,
            Ok(facts) => facts,
            Err(why) => {
                let text = format!(
                    "I could not look for facts worth keeping in this session: {why} (a game \
                     master's /session recap tries again)"
                );
                let message = ChannelMessage::text(text).message();
                let (http, channel) = (self.shared.http.clone(), log.unwrap_or(panel));
                return self.send(async move {
                    if let Err(error) = channel.send_message(&http, message).await {
                        tracing::warn!(%error, "a message could not be sent");
                    }
                });
            }
        };
        let http = self.shared.http.clone();
        self.send(async move {
            let mut why = String::new();
            if let Some(log) = log {
                match put(&http, log, &facts).await {
                    Ok(()) => return,
                    Err(error) => why = format!(" I cannot write in <#{log}>: {error}."),
                }
            }
            let count = facts.len();
            let text = format!("{count} facts wait for the game master (/session facts).{why}");
            if let Err(error) =
                panel.send_message(&http, ChannelMessage::text(text).message()).await
            {
                tracing::warn!(%error, "facts wait, and the game master was not told");
            }
        });
    }

    /// A page of the facts that wait, after so many.
    fn waiting(
        &self,
        after: usize,
    ) -> impl Future<Output = Result<WaitingFacts, FactError>> + Send + use<> {
        let page = FactsPage { after, count: PAGE };
        self.shared.handles.facts.clone().waiting(self.scope(), page)
    }

    /// Where the fact `id` is kept: it may be of another campaign than the one that is played now.
    fn scope_of(&self, id: &FactId) -> Scope {
        Scope { campaign: id.campaign.clone(), ..self.scope() }
    }
}

/// A message for each fact, and a word about those for which there would be too many.
async fn put(
    http: &serenity::http::Http,
    channel: ChannelId,
    facts: &[Fact],
) -> serenity::Result<()> {
    for fact in facts.iter().take(MESSAGES_MAX) {
        let message = ChannelMessage::text(fact.shown()).message();
        let row = fact.row(Place::Message, "");
        channel.send_message(http, message.components(vec![row])).await?;
    }
    if let Some(more) = facts.len().checked_sub(MESSAGES_MAX).filter(|&more| more > 0) {
        let text = format!("… and {more} more facts wait for you (/session facts)");
        channel.send_message(http, ChannelMessage::text(text).message()).await?;
    }
    Ok(())
}

/// The facts that wait, for a game master alone.
pub fn list(guild: &Guild) -> Answer {
    let waiting = guild.waiting(0);
    let work = async move {
        let reply = match waiting.await {
            Ok(waiting) => page(&waiting, None),
            Err(why) => Reply::private(why.to_string()),
        };
        Box::new(move |_: &mut Guild| reply) as Then
    };
    Answer::Later { public: false, work: work.boxed() }
}

/// A page of the list, below `lead`.
fn page(waiting: &WaitingFacts, lead: Option<String>) -> Reply {
    let WaitingFacts { facts, before, all, note } = waiting;
    let mut parts: Vec<String> = lead.into_iter().collect();
    if facts.is_empty() {
        let none = "No fact waits for you.".to_owned();
        parts.push(note.map_or_else(|| none.clone(), |note| format!("{none} {note}")));
    }
    let numbered = facts.iter().zip(before + 1..);
    parts.extend(numbered.clone().map(|(fact, number)| format!("{number}. {}", fact.shown())));
    let mut rows: Vec<CreateActionRow> =
        numbered.map(|(fact, number)| fact.row(Place::List, &format!(" {number}"))).collect();
    let turn = |label: &str, after: usize| {
        let id = format!("{}:page:{after}", Place::List.kind());
        CreateButton::new(id).label(label).style(ButtonStyle::Secondary)
    };
    let back = (*before > 0).then(|| turn("Back", before.saturating_sub(PAGE)));
    let on = before + facts.len();
    let on = (on < *all && !facts.is_empty()).then(|| turn("On", on));
    let turns: Vec<CreateButton> = back.into_iter().chain(on).collect();
    if !turns.is_empty() {
        rows.push(CreateActionRow::Buttons(turns));
    }
    Reply::private(parts.join("\n\n")).titled(format!("Facts that wait: {all}")).with_rows(rows)
}

/// A button below a fact's own message, or its form.
///
/// # Errors
/// It is a game master's to press, or of no use.
pub fn pressed(guild: &mut Guild, press: &ButtonPress, which: &str) -> Result<Answer, Refusal> {
    press_at(Place::Message, guild, press, which)
}

/// A button of the list, or a form that one has opened.
///
/// # Errors
/// It is a game master's to press, or of no use.
pub fn pressed_in_list(
    guild: &mut Guild,
    press: &ButtonPress,
    which: &str,
) -> Result<Answer, Refusal> {
    press_at(Place::List, guild, press, which)
}

fn press_at(
    place: Place,
    guild: &Guild,
    press: &ButtonPress,
    which: &str,
) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let (what, rest) = which.split_once(':').ok_or(USELESS)?;
    let verdict = match what {
        "accept" => Verdict::Accept,
        "reject" => Verdict::Reject,
        "edited" => Verdict::Edit(edited(press)?),
        "edit" => {
            let id = FactId::read(rest)?;
            let asked = guild.shared.handles.facts.clone().fact(guild.scope_of(&id), id.fact);
            return Ok(soon(asked, move |fact| form(place, &fact)));
        }
        "page" => {
            let after = rest.parse().map_err(|_| USELESS)?;
            let waiting = guild.waiting(after);
            return Ok(soon(waiting, |waiting| Ok(Answer::Replace(page(&waiting, None)))));
        }
        _ => return Err(USELESS.into()),
    };
    let (done, name) = (verdict.done(), press.name.clone());
    let id = FactId::read(rest)?;
    let facts = guild.shared.handles.facts.clone();
    let decided = facts.decide(guild.scope_of(&id), id.fact, verdict);
    if place == Place::Message {
        return Ok(soon(decided, move |Decided { fact, had_waited }| {
            Ok(Answer::Replace(Reply::public(fact.closed(had_waited, done, &name))))
        }));
    }
    let rest = guild.waiting(0);
    let both = async move {
        let Decided { fact, had_waited } = decided.await?;
        Ok::<_, FactError>((fact.closed(had_waited, done, &name), rest.await?))
    };
    Ok(soon(both, |(lead, waiting)| Ok(Answer::Replace(page(&waiting, Some(lead))))))
}

/// Answers with what `then` makes of `work`, which the memory does in less time than Discord waits.
fn soon<T: Send + 'static>(
    work: impl Future<Output = Result<T, FactError>> + Send + 'static,
    then: impl FnOnce(T) -> Result<Answer, Refusal> + Send + 'static,
) -> Answer {
    let work = async move {
        let late = || Err("the memory takes too long (look again: /session facts)".to_owned());
        let found = match timeout(PATIENCE, work).await {
            Ok(found) => found.map_err(|why| why.to_string()),
            Err(_) => late(),
        };
        Box::new(move |_: &mut Guild| found.map_err(Refusal).and_then(then)) as Next
    };
    Answer::Soon(work.boxed())
}

/// The fact in the words of whoever has edited it.
fn edited(press: &ButtonPress) -> Result<String, Refusal> {
    let text = press.values.first().map(|text| text.trim()).unwrap_or_default();
    match text.is_empty() {
        true => Err("it says nothing (write the fact, or press Reject)".into()),
        false => Ok(text.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

/// A form with the fact's words.
fn form(place: Place, fact: &Fact) -> Result<Answer, Refusal> {
    if fact.status != FactStatus::Proposed {
        let text = fact.closed(false, "", "");
        return Ok(Answer::Now(Reply::private(text)));
    }
    if fact.text.chars().count() > usize::from(EDITED_MAX) {
        return Err("it is too long to be edited here (accept or reject it)".into());
    }
    let input = CreateInputText::new(InputTextStyle::Paragraph, "What is so", "text")
        .value(fact.text.clone())
        .max_length(EDITED_MAX);
    let form = CreateModal::new(fact.id.button(place, "edited"), "Accept it in other words");
    Ok(Answer::Form(form.components(vec![CreateActionRow::InputText(input)])))
}

#[cfg(test)]
mod tests;
