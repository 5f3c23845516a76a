//! Workflows at a table in Discord.

use discord_loopback::{AUDIBLE, Options, Slash};

use super::hall::{BOUND, Hall};

const BELLS: &str = "
name: the-bells
description: The guard calls the hour.
inputs: { type: object, properties: { hour: { type: string } } }
steps:
  - say: { npc: Captain Hale, text: \"It is ${inputs.hour}, and all is well.\" }
  - wait: 600
";

fn run() -> Slash {
    Slash::new("workflow run").option("name", "the-bells").option("inputs", "hour=midnight")
}

#[tokio::test(flavor = "multi_thread")]
async fn game_master_runs_and_stops_a_workflow() {
    let mut hall = Hall::new(Options::default(), "").await;
    hall.place.write("workflows/the-bells.yaml", BELLS);
    let dora = hall.listens().await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    dora.forget();
    let anna = hall.inn.add_member("Anna", &[]);
    assert!(hall.told(&anna, run()).await.contains("only game masters"));
    let typing = Slash::new("workflow run").option("name", "bell");
    let completed = hall.discord.autocomplete(&hall.dm, hall.inn.text, typing, "name").await;
    let completed = completed.unwrap().wait_first(BOUND).await.unwrap().choices();
    assert_eq!(completed[0].0, "the-bells");
    let begun = hall.told(&hall.dm, run()).await;
    assert!(begun.contains(r"**the\-bells** is running ("), "{begun}");
    dora.wait_for_voice(hall.discord.bot(), AUDIBLE, BOUND).await.unwrap();
    let listed = hall.told(&hall.dm, Slash::new("workflow list")).await;
    assert!(listed.contains(r"**the\-bells** is running ("), "{listed}");
    let stopped = hall.told(&hall.dm, Slash::new("workflow stop").option("run", "the-bells")).await;
    assert_eq!(stopped, r"Stopped: **the\-bells**.");
    let wanted = |told: &str| told.contains(r"was stopped \(by request\)");
    hall.until_told(&hall.dm, Slash::new("workflow list"), wanted).await;
    let again = hall.told(&hall.dm, Slash::new("workflow stop")).await;
    assert!(again.contains("no workflow is running"), "{again}");
    hall.ends();
}
