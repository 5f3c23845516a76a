use std::{
    sync::{Mutex, PoisonError, mpsc},
    time::Duration,
};

use rand::{SeedableRng, rngs::StdRng};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    domain::{CallId, SessionId, ToolCall, TurnId},
    tools::{Attachment, Authority, Effects, Progress, SourceKind, Taint, ToolHost},
};

fn rule(id: &str, edition: &str, text: &str) -> Rule {
    let name = id.split_once('-').unwrap().1.replace('-', " ");
    let (id, edition, text) = (id.to_owned(), edition.to_owned(), text.to_owned());
    Rule { id, name, edition, category: "house".into(), aliases: Vec::new(), text }
}

fn built_in() -> Vec<Rule> {
    vec![
        rule("spell-fireball", "5e", "Fire everywhere."),
        rule("combat-hide-2014", "5e-2014", "Hide as before."),
        rule("combat-hide-2024", "5e-2024", "Hide as now."),
    ]
}

fn get(book: &RuleBook, id: &str) -> Result<Value, CallError> {
    let arguments = Map::from_iter([("id".to_owned(), json!(id))]);
    book.get(&arguments).map(|output| output.value())
}

#[test]
fn own_rules_replace_built_in_ones() {
    let own =
        vec![rule("spell-fireball", "5e", "Only embers."), rule("house-luck", "pf2e", "Luck.")];
    let book = RuleBook::new(own, None, built_in);
    assert_eq!(get(&book, "spell-fireball").unwrap()["text"], "Only embers.");
    assert_eq!(get(&book, " Spell Fireball ").unwrap()["id"], "spell-fireball");
    let found = book.find("fireball", None).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(book.find("luck", Some("PF2E")).unwrap()[0].id, "house-luck");
    assert!(book.find("luck", Some("5e")).unwrap().is_empty());
}

#[test]
fn unknown_rule_id_error_suggests_nearest_ids() {
    let book = RuleBook::new(Vec::new(), None, built_in);
    let error = get(&book, "spell-firebal").unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Tool);
    assert!(error.message.contains("nearest: spell-fireball"), "{error}");
    let error = get(&book, "combat-hide").unwrap_err();
    assert!(error.message.contains("combat-hide-2014, combat-hide-2024"), "{error}");
}

#[test]
fn edition_played_needs_no_year() {
    let book = RuleBook::new(Vec::new(), Some("5e-2024".into()), built_in);
    assert_eq!(get(&book, "combat-hide").unwrap()["text"], "Hide as now.");
    assert!(get(&book, "combat-hide-2014").is_err());
}

#[test]
fn nothing_found_says_what_to_do() {
    let book = RuleBook::new(Vec::new(), None, built_in);
    let arguments = Map::from_iter([("query".to_owned(), json!("the weather in spring"))]);
    let value = book.search(&arguments).unwrap().value();
    assert_eq!(value["results"], json!([]));
    assert!(value["note"].as_str().unwrap().contains("by its name"));
}

/// Signal that the rules wait for in [`late`].
static KEY: Mutex<Option<mpsc::Receiver<()>>> = Mutex::new(None);

/// The rules, once the test releases them; none after a timeout.
fn late() -> Vec<Rule> {
    let key = KEY.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap();
    key.recv_timeout(Duration::from_secs(20)).map(|()| built_in()).unwrap_or_default()
}

struct Unseen;

impl Effects for Unseen {
    fn show(&self, _: &str) {}
    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn first_rule_lookup_waits_without_blocking() {
    let (open, key) = mpsc::channel();
    *KEY.lock().unwrap() = Some(key);
    let host = ToolHost::new(StdRng::seed_from_u64(1));
    let book = Arc::new(RuleBook::new(Vec::new(), None, late));
    assert_eq!(host.offer("rules-lookup", SourceKind::BuiltIn, tools(Arc::clone(&book))), []);
    assert!(book.index.get().is_none(), "offering the tools reads no rules");
    let context = CallContext {
        scope: crate::domain::Scope::local(crate::domain::CampaignKey("c".to_owned())),
        session: SessionId("s".to_owned()),
        turn: TurnId(1),
        authority: Authority::Operator,
        speaker: Arc::from("Anna"),
        by: None,
        deadline: Instant::now() + Duration::from_secs(30),
        fresh: false,
        taint: Taint::default(),
        progress: Progress::default(),
        span: Default::default(),
        cancel: CancellationToken::new(),
        effects: Arc::new(Unseen),
    };
    let call = ToolCall {
        id: CallId("c".to_owned()),
        name: "rules-lookup.get_rule".to_owned(),
        arguments: json!({"id": "spell-fireball"}).to_string(),
        extra: Map::new(),
    };
    // The call may take 20 ms; the rules take longer, and nothing tells the call's clock so.
    let other = async {
        // The paused clock does not move during work.
        let begun = std::time::Instant::now();
        while KEY.lock().unwrap().is_some() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nobody reads the rules");
            tokio::task::yield_now().await;
        }
        tokio::time::advance(Duration::from_millis(500)).await;
        open.send(()).unwrap();
    };
    let (record, ()) = tokio::join!(host.execute(&context, &call), other);
    let rule = record.result.expect("the rules were read meanwhile").value();
    assert_eq!(rule["text"], "Fire everywhere.");
    assert!(record.took < Duration::from_millis(20), "{:?}", record.took);
}
