//! Orders of the game master by voice.

use tokio::time::sleep;

use super::{
    super::Outcome,
    stage::{DM, ELARA, Setup, THORIN},
};
use crate::{
    domain::{Campaign, Scene, Tier},
    engine::tests::props::{Step::*, ms},
};

#[tokio::test(start_paused = true)]
async fn mute_cuts_speech_and_clears_the_queue() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.models[0].then(&[Text("One. Two. Three.")]);
    stage.types(THORIN, "Bartok, count").await;
    stage.types(ELARA, "Bartok, hello").await;
    stage.until_heard().await;
    sleep(ms(510)).await;
    let ordered = stage.opened.elapsed();
    stage.types(DM, "Mute Bartok!").await;
    let told = stage.told().await;
    let outcomes: Vec<_> = told.iter().map(|line| (line.speaker.as_str(), line.outcome)).collect();
    assert!(outcomes.contains(&("Thorin", Outcome::Interrupted)), "{outcomes:?}");
    assert!(outcomes.contains(&("Elara", Outcome::Cancelled)), "{outcomes:?}");
    assert!(outcomes.contains(&("Max", Outcome::Command)), "{outcomes:?}");
    assert!(stage.heard("Bartok").unwrap().last <= ordered);
    stage.types(THORIN, "Bartok, hello").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::NobodyAddressed);
    stage.types(DM, "unmute Bartok").await;
    stage.types(THORIN, "Bartok, hello").await;
    assert_eq!(stage.told().await[1].outcome, Outcome::Spoken);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn orders_are_the_game_masters_alone() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "mute Bartok").await;
    stage.types(THORIN, "everyone be quiet").await;
    stage.types(ELARA, "Bartok, hello").await;
    let told = stage.told().await;
    assert!(told.iter().all(|line| line.outcome != Outcome::Command), "{told:?}");
    assert_eq!(told.last().unwrap().outcome, Outcome::Spoken);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn everyone_stops_and_continues() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.types(ELARA, "Gundren, hello").await;
    stage.until_heard().await;
    sleep(ms(100)).await;
    stage.types(DM, "everyone stop").await;
    let told = stage.told().await;
    let of = |name: &str| told.iter().find(|line| line.speaker == name).unwrap().outcome;
    assert_eq!((of("Thorin"), of("Elara")), (Outcome::Interrupted, Outcome::Cancelled));
    stage.types(DM, "everyone continue").await;
    stage.types(THORIN, "Gundren, hello").await;
    assert_eq!(stage.told().await[1].outcome, Outcome::Spoken);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn words_put_into_an_npcs_mouth_go_first() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.models[0].then(&[Text("One. Two. Three.")]);
    stage.types(THORIN, "Bartok, count").await;
    stage.until_heard().await;
    sleep(ms(510)).await;
    let ordered = stage.opened.elapsed();
    stage.types(DM, "Gundren say Silence, all of you").await;
    let told = stage.told().await;
    assert_eq!(stage.models[1].asked(), 0, "no model is asked");
    assert!(stage.heard("Bartok").unwrap().last <= ordered);
    assert!(stage.heard("Gundren").unwrap().first - ordered <= ms(21));
    let said = told.iter().find(|line| line.npc == "Gundren").unwrap();
    assert_eq!((said.outcome, said.reply.as_str()), (Outcome::Spoken, "Silence, all of you"));
    // A puppet's line starts no conversation: the game master's next words have no addressee.
    stage.types(DM, "and the night falls").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::NobodyAddressed);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn careful_lasts_one_turn_and_faster_some_time() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.types(DM, "think carefully Bartok").await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.types(THORIN, "Bartok, tell me about the rules").await;
    stage.settle().await;
    stage.types(DM, "go faster").await;
    stage.types(THORIN, "Bartok, tell me about the rules").await;
    stage.settle().await;
    sleep(ms(301_000)).await;
    stage.types(THORIN, "Bartok, tell me about the rules").await;
    stage.settle().await;
    let tiers: Vec<_> =
        stage.lines().into_iter().filter_map(|line| line.tier).map(|tier| tier.effective).collect();
    assert_eq!(tiers, [Tier::Deep, Tier::Standard, Tier::Fast, Tier::Standard]);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn npcs_out_of_scene_neither_speak_nor_hear() {
    let scene =
        |name: &str, npc: &str| Scene { name: name.into(), npcs: vec![npc.into()], music: None };
    let scenes = vec![scene("Tavern", "Bartok"), scene("Mine", "Gundren")];
    let campaign = Campaign { scenes, ..Campaign::default() };
    let mut stage = Setup { campaign, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
    stage.types(THORIN, "Gundren, hello").await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.until_heard().await;
    sleep(ms(100)).await;
    stage.types(DM, "next scene mine").await;
    let told = stage.told().await;
    let outcomes: Vec<_> = told.iter().map(|line| line.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::NobodyAddressed, Outcome::Interrupted, Outcome::Command],
        "{told:?}"
    );
    stage.types(THORIN, "Gundren, where am I").await;
    stage.settle().await;
    let read = stage.models[1].read(0);
    assert!(read.contains("Mine") && !read.contains("Bartok, hello"), "{read}");
    stage.close().await;
}
