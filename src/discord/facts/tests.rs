//! What Discord would refuse, and what a list holds.

use serde_json::Value;

use super::*;

fn fact(number: usize) -> Fact {
    Fact {
        // As long as keys of campaigns get, see `campaign::key_of`.
        id: FactId { campaign: CampaignKey("k".repeat(64)), fact: format!("fact-{number:016x}") },
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
fn ids_of_buttons_are_not_too_long_and_say_which_fact() {
    for place in [Place::Message, Place::List] {
        for what in ["accept", "edit", "edited", "reject"] {
            let id = fact(7).id.button(place, what);
            assert!(id.chars().count() <= 100, "{id}");
            let (kind, rest) = id.split_once(':').unwrap();
            assert_eq!(kind, place.kind());
            let (_, rest) = rest.split_once(':').unwrap();
            assert_eq!(FactId::read(rest).unwrap(), fact(7).id);
        }
    }
    assert!(FactId::read("nothing").is_err());
}

#[test]
fn a_page_has_a_row_for_each_fact_and_one_to_turn_it() {
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
    let last = page(&WaitingFacts { facts: vec![fact(8)], before: 8, all: 9, note: None }, None);
    assert_eq!(labels(&last.rows()[1]), ["Back"]);
    let none =
        page(&WaitingFacts { note: Some("Nobody thinks."), ..WaitingFacts::default() }, None);
    assert_eq!((none.text(), none.rows().len()), ("No fact waits for you. Nobody thinks.", 0));
}

#[test]
fn who_came_second_reads_what_was_decided() {
    let mut decided = fact(1);
    decided.status = FactStatus::Rejected;
    assert!(decided.closed(false, "Accepted", "Dora").ends_with("**Was rejected before**"));
    assert!(decided.closed(true, "Rejected", "Dora").ends_with("**Rejected by Dora**"));
}
