//! Explanations of answers, and when they are forgotten.

use std::{collections::BTreeMap, sync::Arc};

use tempfile::TempDir;
use tokio::time::sleep;

use super::{
    super::{Command, Explanation, Explanations, Memory, Options, Pace, SeatId},
    stage::{DM, ELARA, Setup, Stage, THORIN},
};
use crate::{
    domain::redact::SECRET,
    engine::tests::props::{Step::*, ms},
    memory::{CampaignKey, Change, Entity, EntityKind, Graph, Scope, Sqlite, Visibility},
};

const ROLL: &str = r#"{"expression":"2d6"}"#;

/// Bartok's table, which explains its answers.
fn explaining() -> Setup {
    let options = Options { explains: true, recall_timeout: ms(60_000), ..Options::default() };
    Setup { options, ..Setup::of(&["Bartok"]) }
}

fn explanations(stage: &Stage) -> Explanations {
    stage.table.explanations.clone().expect("the table explains its answers")
}

/// The text of a part; empty if there is no such part.
fn part<'e>(explanation: &'e Explanation, name: &str) -> &'e str {
    let part = explanation.parts.iter().find(|part| part.name == name);
    part.map(|part| part.text.as_str()).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn answer_is_explained_by_prompt_and_calls() {
    let mut stage = explaining().open().await;
    let explanations = explanations(&stage);
    stage.order(Command::Mute { seat: None, muted: true }).await;
    stage.types(ELARA, "Bartok, good evening").await;
    stage.settle().await;
    stage.order(Command::Mute { seat: None, muted: false }).await;
    assert!(explanations.last().is_none(), "an unanswered line has no explanation");
    stage.models[0].then(&[Call("roll", ROLL)]).then(&[Text("Eleven.")]);
    stage.types(THORIN, "Bartok, roll for me").await;
    stage.settle().await;
    let answered = stage.lines().last().map(|line| line.turn).expect("a line");
    let made = explanations.of(answered).expect("the answer is explained");
    assert_eq!((made.npc.as_str(), made.reply.as_str()), ("Bartok", "Eleven."));
    assert_eq!(made.models, ["stand-in"]);
    assert!(part(&made, "Role").starts_with("You are Bartok"));
    assert!(part(&made, "This turn").ends_with("roll for me"), "{}", part(&made, "This turn"));
    assert!(part(&made, "Calls and results").contains("Bartok used roll"));
    assert!(part(&made, "Tools offered").contains("roll"));
    assert_eq!((made.tools.len(), made.tools[0].ok), (1, true));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn words_of_the_game_master_have_no_prompt() {
    let stage = explaining().open().await;
    let explanations = explanations(&stage);
    let text = "I rule here.".to_owned();
    stage.order(Command::Puppet { speaker: DM, seat: SeatId(0), text }).await;
    stage.settle().await;
    let made = explanations.last().expect("the line is explained");
    assert_eq!((made.reply.as_str(), made.parts.len()), ("I rule here.", 0));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn table_explains_only_where_asked_for() {
    let stage = Setup::of(&["Bartok"]).open().await;
    assert!(stage.table.explanations.is_none());
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn card_removes_explanation_of_its_exchange() {
    let stage = explaining().open().await;
    let explanations = explanations(&stage);
    stage.types(THORIN, "Bartok, the flowers").await;
    stage.settle().await;
    stage.types(THORIN, "Bartok, the horror").await;
    stage.settle().await;
    assert!(explanations.of(2).is_some());
    stage.order(Command::Halt).await;
    stage.settle().await;
    assert!(explanations.of(2).is_none());
    assert!(explanations.of(1).is_some(), "that exchange stands");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn deletion_removes_all_explanations() {
    let mut stage = explaining().open().await;
    let explanations = explanations(&stage);
    stage.types(THORIN, "Bartok, my wombat").await;
    stage.settle().await;
    assert!(explanations.last().is_some());
    // The prompt of this turn quotes him.
    stage.models[0].then(&[Wait(500), Text("Aye.")]);
    stage.types(ELARA, "Bartok, hello").await;
    sleep(ms(100)).await;
    assert!(stage.models[0].read(1).contains("wombat"));
    stage.order(Command::Forget(THORIN)).await;
    let told = stage.told().await;
    assert_eq!(told.last().map(|line| line.reply.as_str()), Some("Aye."), "{told:?}");
    assert!(explanations.last().is_none());
    stage.types(ELARA, "Bartok, and now").await;
    stage.settle().await;
    assert!(explanations.last().is_some());
    stage.close().await;
}

/// A memory with one person, who has a password.
async fn memory() -> (Memory, TempDir) {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(&folder.path().join("memory.db")).unwrap();
    let scope = Scope::local(CampaignKey("c".to_owned()));
    let nessa = Entity {
        id: "nessa".to_owned(),
        kind: EntityKind::Npc,
        name: "Old Nessa".to_owned(),
        aliases: Vec::new(),
        description: "her word is ghp_0123456789abcdefghij0123456789abcdef".to_owned(),
        attributes: BTreeMap::new(),
        tags: Vec::new(),
        knowledge: Vec::new(),
        visibility: Visibility::Everyone,
        source: None,
    };
    store.apply(&scope, vec![Change::Put(nessa)]).await.unwrap();
    (Memory { store: Arc::new(store), scope, now: || 1_800_000_000_000 }, folder)
}

#[tokio::test]
async fn memories_are_shown_without_credentials() {
    let (memory, _folder) = memory().await;
    let setup = Setup { memory: Some(memory), pace: Pace::Free, ..explaining() };
    let stage = setup.open().await;
    let explanations = explanations(&stage);
    stage.types(THORIN, "Bartok, who is Old Nessa?").await;
    stage.settle().await;
    let made = explanations.last().expect("the answer is explained");
    assert_eq!(made.recalled, [format!("Old Nessa: her word is {SECRET}")]);
    let this_turn = part(&made, "This turn");
    assert!(this_turn.contains("Old Nessa") && !this_turn.contains("ghp_"), "{this_turn}");
    stage.let_go().await;
}
