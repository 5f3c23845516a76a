//! A program that is killed in the middle of a session, and started again.

use discord_loopback::{Message, Options, Slash};
use rusqlite::Connection;

use super::hall::{BOUND, Hall};

const LONG: &str = "Once upon a time, when the river was young and the mill had no wheel, an old \
     ferryman lived here. He rowed by day and he rowed by night, in rain and in snow, and he never \
     asked for a coin. Then one evening a stranger came down to the water, and she had no shadow at \
     all. And that, my friends, is where the story of this house begins.";

/// The first column of the first row.
fn one(kept: &Connection, asked: &str) -> String {
    kept.query_row(asked, [], |row| row.get(0)).unwrap()
}

fn runs(it: &Message) -> bool {
    it.content().contains("Heard: Dora") && !it.content().contains("The session is over")
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_session_goes_on_without_a_command() {
    let (mut hall, dora) = Hall::in_session(Options::default(), "").await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    let panel = hall.reads(runs).await.id;
    dora.forget();
    let speak = Slash::new("npc speak").option("name", "Bartok").option("text", LONG);
    assert!(hall.told(&hall.dm, speak).await.contains("says it"));
    let kept = Connection::open(hall.place.path("data/memory.db")).unwrap();
    let mut packets = 0;
    while !one(&kept, "SELECT settings FROM guild").contains(r#""answering": "Bartok"#) {
        packets += 10;
        hall.is_heard_for(&dora, packets).await;
    }
    hall.program.take().unwrap().kill();
    dora.forget();
    hall.start().await;
    hall.reads(|it| it.content().contains("I was interrupted; the session in")).await;
    dora.wait_until_heard(hall.discord.bot(), BOUND).await.expect("he asks for a moment");
    hall.reads(|it| it.id > panel && runs(it)).await;
    hall.rolls_for(&dora).await;
    let messages = hall.discord.messages(hall.inn.text);
    assert!(messages.iter().all(|it| it.id != panel), "the old panel is gone");
    let notices = messages.iter().filter(|it| it.content().contains("of this game listen in"));
    assert_eq!(notices.count(), 1, "she was notified before");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
    let sessions = "SELECT count(*) || ' ' || count(ended) FROM session";
    assert_eq!(one(&kept, sessions), "1 1", "it was one session, which is over");
    let moments = "SELECT count(*) || '' FROM line WHERE text = 'Give me a moment, friend.'";
    assert_eq!(one(&kept, moments), "1");
    // A session that was ended on command does not go on.
    hall.start().await;
    let status = hall.told(&hall.dm, Slash::new("session status")).await;
    assert!(status.contains("no session is running"), "{status}");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
}
