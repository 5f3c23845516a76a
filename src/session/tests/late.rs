//! Results of calls that come after their turn.

use serde_json::json;
use tokio::sync::oneshot;

use super::{
    super::{Command, Conversations, Outcome, Speaker, TableEvent},
    stage::{ELARA, Setup, Stage, THORIN, Told},
};
use crate::{
    domain::{Person, PersonId, Tier},
    engine::tests::props::{Step::*, count, ms},
    tools::{Declared, Definition, SourceKind},
};

/// Duration of a call of `far`; it never ends within its turn.
const TAKES: u64 = 9_000;

/// Thorin has asked Bartok for the result of a late tool, and Elara has asked him something since.
async fn asked() -> Stage {
    let stage = Setup::of(&["Bartok"]).open().await;
    let far = Definition {
        name: "far".to_owned(),
        description: String::new(),
        input: json!({ "type": "object" }),
        output: None,
        declared: Declared {
            estimated: Some(ms(TAKES)),
            max: Some(ms(15_000)),
            follow_up: Some(true),
            ..Declared::default()
        },
        handler: stage.tools.stub(TAKES, &stage.tools.long),
    };
    assert_eq!(stage.host.offer("stub2", SourceKind::BuiltIn, vec![far]), []);
    stage.order(Command::SetTier { seat: None, tier: Some(Tier::Deep), until: None }).await;
    let call = r#"{"expression":"wombat"}"#;
    stage.models[0].then(&[Call("far", call)]).then(&[Text("I look.")]);
    stage.types(THORIN, "Bartok, my wombat").await;
    stage.at(4_000).await;
    stage.types(ELARA, "Bartok, my mule").await;
    stage.at(7_000).await;
    stage
}

/// Deletes the words of this person, and waits for it.
async fn erase(stage: &Stage, name: &str) {
    let (done, erased) = oneshot::channel();
    let person = Person { id: PersonId(name.to_owned()), names: Vec::new() };
    stage.order(Command::Erase(person, done)).await;
    assert_eq!(erased.await, Ok(()));
}

fn words(kept: &Conversations) -> String {
    format!("{:?}", kept.histories)
}

#[tokio::test(start_paused = true)]
async fn late_result_is_told_as_its_askers() {
    let mut stage = asked().await;
    stage.models[0].then(&[Text("The wombat is well.")]);
    stage.order(Command::Leave(THORIN)).await;
    let told = stage.told().await;
    let of = |speaker: &str, reply: &str| Told::of(speaker, "Bartok", Outcome::Spoken, reply);
    assert_eq!(
        told,
        [of("Thorin", "I look."), of("Elara", "Well met."), of("Thorin", "The wombat is well."),]
    );
    erase(&stage, "Elara").await;
    let kept = words(&stage.close().await);
    assert!(kept.contains("wombat is well") && !kept.contains("mule"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn late_result_is_forgotten_with_its_asker() {
    let mut stage = asked().await;
    stage.models[0].then(&[Text("The wombat is well.")]);
    assert_eq!(stage.told().await.len(), 3);
    erase(&stage, "Thorin").await;
    let kept = words(&stage.close().await);
    assert!(kept.contains("mule") && !kept.contains("wombat"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn late_result_of_a_stranger_is_a_notice() {
    let mut stage = asked().await;
    // The person at the seat has changed.
    let other = Speaker { id: THORIN, name: "Balin".to_owned(), is_dm: false };
    stage.order(Command::Join(other)).await;
    stage.settle().await;
    let events = stage.events();
    let is_told = |event: &TableEvent| matches!(event, TableEvent::Notice(text) if text.contains("stub2.far"));
    assert!(events.iter().any(is_told), "{events:?}");
    assert_eq!(stage.models[0].asked(), 3, "nobody tells it");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn withdrawal_ends_late_calls() {
    for how in ["deletion", "opt-out", "X-card"] {
        let stage = asked().await;
        match how {
            "deletion" => erase(&stage, "Thorin").await,
            "opt-out" => stage.order(Command::Forget(THORIN)).await,
            _ => stage.order(Command::Halt).await,
        }
        stage.settle().await;
        assert!(stage.opened.elapsed() < ms(TAKES), "{how}: it ends at once");
        assert_eq!((stage.models[0].asked(), count(&stage.tools.long)), (3, 0), "{how}");
        let kept = words(&stage.close().await);
        assert_eq!(kept.contains("wombat"), how == "X-card", "{how}: {kept}");
        assert_eq!(kept.contains("mule"), how != "X-card", "{how}: {kept}");
    }
}

#[tokio::test(start_paused = true)]
async fn answer_to_a_deleted_person_ends() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("The wombat is well. The wombat sleeps.")]);
    stage.types(THORIN, "Bartok, my wombat").await;
    stage.until_heard().await;
    erase(&stage, "Thorin").await;
    let left = stage.left().len();
    stage.settle().await;
    assert_eq!(stage.left().len(), left, "nothing more is heard");
    assert!(stage.lines().is_empty());
    let kept = words(&stage.close().await);
    assert!(!kept.contains("wombat"), "{kept}");
}
