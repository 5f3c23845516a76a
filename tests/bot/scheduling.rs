//! Schedules of a server: lines said at the table, or reported as missed where players do not read.

use discord_loopback::{AUDIBLE, Options, Slash};

use super::{
    consolidating::log_channel,
    hall::{BOUND, Hall},
};

#[tokio::test(flavor = "multi_thread")]
async fn scheduled_line_is_said_or_told_as_missed() {
    let mut hall = Hall::new(Options::default(), "").await;
    hall.start().await;
    let log = log_channel(&hall).await;
    let create = |when: &str| {
        let create = Slash::new("schedule create").option("when", when);
        create.option("npc", "Bartok").option("text", "Last orders!")
    };
    let anna = hall.inn.add_member("Anna", &[]);
    assert!(hall.told(&anna, create("in 1s")).await.contains("only game masters"));
    let made = hall.asks(&hall.dm, create("in 1s")).await;
    assert!(made.ephemeral() && made.text().contains("Last orders!"), "{}", made.text());
    let missed = |it: &discord_loopback::Message| it.content().contains("no session is running");
    hall.discord.wait_for_message(log, BOUND, missed).await.unwrap();
    let dora = hall.discord.join_voice(&hall.dm, hall.inn.voice).await.unwrap();
    hall.asks(&hall.dm, Slash::new("session start")).await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    dora.forget();
    hall.asks(&hall.dm, create("in 1s")).await;
    dora.wait_for_voice(hall.discord.bot(), AUDIBLE, BOUND).await.unwrap();
    hall.asks(&hall.dm, create("every 2h")).await;
    let typing = Slash::new("schedule cancel").option("id", "every");
    let found = hall.discord.autocomplete(&hall.dm, hall.inn.text, typing, "id").await.unwrap();
    let found = found.wait_first(BOUND).await.unwrap().choices();
    let id = found[0].1.as_str().expect("a text").to_owned();
    let cancelled = hall.told(&hall.dm, Slash::new("schedule cancel").option("id", id)).await;
    assert!(cancelled.contains("is cancelled"), "{cancelled}");
    let list = hall.told(&hall.dm, Slash::new("schedule list")).await;
    assert!(list.contains("Nothing is scheduled"), "{list}");
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
}
