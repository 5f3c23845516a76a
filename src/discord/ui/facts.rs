//! Proposed facts, one per message or several on a page, with their buttons.
//!
//! Entry functions: [`message`], [`page`].

use serenity::all::{ButtonStyle, CreateActionRow, CreateButton, CreateMessage, CreateModal};

use crate::{
    campaign::{Fact, FactStatus, WaitingFacts},
    discord::ui::{
        action::{Action, FactPlace, FactStep},
        forms::{self, TextForm},
        message::ChannelMessage,
        names::escaped,
        reply::Reply,
    },
};

/// Facts on a page: each has a row of buttons, and Discord allows five rows.
pub const PAGE: usize = 4;

pub fn message(fact: &Fact) -> CreateMessage {
    let message = ChannelMessage::text(shown(fact)).message();
    message.components(vec![row(fact, FactPlace::Message, "")])
}

/// A page of the list, below `lead`.
pub fn page(waiting: &WaitingFacts, lead: Option<String>) -> Reply {
    let WaitingFacts { facts, before, all, note } = waiting;
    let mut parts: Vec<String> = lead.into_iter().collect();
    if facts.is_empty() {
        let none = "No fact waits for you.".to_owned();
        parts.push(note.map_or_else(|| none.clone(), |note| format!("{none} {note}")));
    }
    let numbered = facts.iter().zip(before + 1..);
    parts.extend(numbered.clone().map(|(fact, number)| format!("{number}. {}", shown(fact))));
    let mut rows: Vec<CreateActionRow> =
        numbered.map(|(fact, number)| row(fact, FactPlace::List, &format!(" {number}"))).collect();
    let turn = |label: &str, after: usize| {
        CreateButton::new(Action::FactsPage(after).id()).label(label).style(ButtonStyle::Secondary)
    };
    let back = (*before > 0).then(|| turn("Back", before.saturating_sub(PAGE)));
    let on = before + facts.len();
    let on = (on < *all && !facts.is_empty()).then(|| turn("On", on));
    let turns: Vec<CreateButton> = back.into_iter().chain(on).collect();
    if !turns.is_empty() {
        rows.push(CreateActionRow::Buttons(turns));
    }
    Reply::private(parts.join("\n\n")).titled(format!("Facts waiting: {all}")).with_rows(rows)
}

/// A form with the fact's words; `None`: they are too long.
pub fn form(fact: &Fact, place: FactPlace) -> Option<CreateModal> {
    forms::text(TextForm {
        id: Action::Fact { place, id: fact.id.clone(), step: FactStep::Edited }.id(),
        title: "Accept it in other words",
        label: "Fact",
        field: "text",
        text: fact.text.clone(),
    })
}

/// Text of a decided fact: `word` by `name`.
pub fn decided(fact: &Fact, word: &str, name: &str) -> String {
    format!("{}\n**{word} by {}**", shown(fact), escaped(name))
}

/// Text for a user who presses after the decision.
pub fn decided_before(fact: &Fact) -> String {
    let how = match fact.status {
        FactStatus::Accepted => "Was accepted before",
        FactStatus::Rejected => "Was rejected before",
        // Changed a moment ago by another press.
        FactStatus::Proposed => "Nothing was decided",
    };
    format!("{}\n**{how}**", shown(fact))
}

fn shown(fact: &Fact) -> String {
    let proof: String = fact.proof.iter().map(|line| format!("> {line}\n")).collect();
    let whose = match fact.dm_only {
        true => "only game masters see it, even once accepted",
        false => "once accepted, the NPCs who were there know it",
    };
    format!("**{}**\n{proof}{} · {whose}", fact.text, fact.when)
}

/// Accept, Edit and Reject; `number` labels them in a list.
fn row(fact: &Fact, place: FactPlace, number: &str) -> CreateActionRow {
    let button = |step, label: &str, style| {
        let action = Action::Fact { place, id: fact.id.clone(), step };
        CreateButton::new(action.id()).label(format!("{label}{number}")).style(style)
    };
    CreateActionRow::Buttons(vec![
        button(FactStep::Accept, "Accept", ButtonStyle::Success),
        button(FactStep::Edit, "Edit", ButtonStyle::Secondary),
        button(FactStep::Reject, "Reject", ButtonStyle::Danger),
    ])
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::{campaign::FactId, domain::CampaignKey};

    fn fact(number: usize) -> Fact {
        Fact {
            // The longest key of a campaign, see `campaign::key_of`.
            id: FactId {
                campaign: CampaignKey("k".repeat(64)),
                fact: format!("fact-{number:016x}"),
            },
            text: format!("Fact {number}."),
            proof: vec!["#1 Anna: “Aye.”".to_owned()],
            when: "2026-11-22 20:00".to_owned(),
            dm_only: false,
            status: FactStatus::Proposed,
        }
    }

    fn buttons(row: &CreateActionRow) -> Vec<(String, String)> {
        let row = serde_json::to_value(row).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = row["components"].as_array().unwrap().iter();
        all.map(|it| (text(&it["label"]), text(&it["custom_id"]))).collect()
    }

    #[test]
    fn button_ids_fit_limit_and_identify_fact() {
        for place in [FactPlace::Message, FactPlace::List] {
            for step in [FactStep::Accept, FactStep::Edit, FactStep::Edited, FactStep::Reject] {
                let action = Action::Fact { place, id: fact(7).id, step };
                let id = action.id();
                assert!(id.chars().count() <= 100, "{id}");
                assert_eq!(Action::read(&id), Some(action));
            }
        }
        assert!(Action::read("fact:accept:nothing").is_none());
    }

    #[test]
    fn page_has_one_row_per_fact_and_one_for_paging() {
        let facts = (4..8).map(fact).collect();
        let middle =
            page(&WaitingFacts { facts, before: 4, all: 9, note: None }, Some("Done.".to_owned()));
        assert!(middle.text().starts_with("Done.\n\n5. **Fact 4.**"), "{}", middle.text());
        assert_eq!(middle.rows().len(), 5);
        let labels = |row: &CreateActionRow| -> Vec<String> {
            buttons(row).into_iter().map(|(label, _)| label).collect()
        };
        assert_eq!(labels(&middle.rows()[0]), ["Accept 5", "Edit 5", "Reject 5"]);
        assert_eq!(
            buttons(&middle.rows()[4]),
            [("Back".to_owned(), "facts:page:0".to_owned()), ("On".into(), "facts:page:8".into())]
        );
        let last =
            page(&WaitingFacts { facts: vec![fact(8)], before: 8, all: 9, note: None }, None);
        assert_eq!(labels(&last.rows()[1]), ["Back"]);
        let none =
            page(&WaitingFacts { note: Some("Nobody thinks."), ..WaitingFacts::default() }, None);
        assert_eq!((none.text(), none.rows().len()), ("No fact waits for you. Nobody thinks.", 0));
    }

    #[test]
    fn late_decider_sees_earlier_decision() {
        let mut rejected = fact(1);
        rejected.status = FactStatus::Rejected;
        assert!(decided_before(&rejected).ends_with("**Was rejected before**"));
        assert!(decided(&rejected, "Rejected", "Dora").ends_with("**Rejected by Dora**"));
    }
}
