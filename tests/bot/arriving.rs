//! Into a channel, and out of it.

use discord_loopback::{Message, Options, Overwrite, Slash, permission};

use super::hall::Hall;

#[tokio::test(flavor = "multi_thread")]
async fn refused_session_start_says_how_to_fix_it() {
    let mut hall = Hall::new(Options::default(), "").await;
    hall.start().await;
    let start = || Slash::new("session start");
    let anna = hall.inn.add_member("Anna", &[]);
    let stage = hall.inn.add_stage("Arena");
    let room = hall.inn.add_voice("Back room", 0);
    let told = |text: String, part: &str| assert!(text.contains(part), "{text}");

    told(hall.asks(&anna, start()).await.text(), "only game masters");
    told(hall.asks(&hall.dm, Slash::new("session stop")).await.text(), "/session start");
    told(hall.asks(&hall.dm, start()).await.text(), "join a voice channel first");
    let on_stage = start().option("channel", stage.to_string());
    told(hall.asks(&hall.dm, on_stage).await.text(), "ordinary voice channel");
    hall.inn.set_overwrite(room, Overwrite::Role(hall.inn.bot_role), 0, permission::CONNECT);
    let in_room = || start().option("channel", room.to_string());
    told(hall.asks(&hall.dm, in_room()).await.text(), "I lack Connect");

    let _dora = hall.discord.join_voice(&hall.dm, hall.inn.voice).await.unwrap();
    hall.inn.set_seats(hall.inn.voice, 1);
    told(hall.asks(&hall.dm, start()).await.text(), "is full");
    hall.inn.set_seats(hall.inn.voice, 0);
    told(hall.asks(&hall.dm, start()).await.text(), "I listen");
    told(hall.asks(&hall.dm, start()).await.text(), "a session is already running");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn moved_bot_follows_and_disconnected_bot_leaves() {
    let (hall, dora) = Hall::in_session(Options::default(), "").await;
    // The bot hears players only after the consent notice, which does not count as an answer.
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    let cellar = hall.inn.add_voice("Cellar", 0);
    let bot = hall.inn.member(hall.discord.bot());
    bot.move_to(cellar);
    let alone = |it: &Message| it.content().contains("Heard: no one");
    hall.reads(|it| alone(it) && it.text().contains("connected, encrypted")).await;
    if let Some(seat) = hall.dm.move_to(cellar) {
        dora.take_seat(seat).await.unwrap();
    }
    dora.in_call_with(&[bot.id], super::hall::BOUND).await.unwrap();
    hall.listens_to("Dora").await;
    hall.rolls_for(&dora).await;
    bot.disconnect();
    hall.reads(|it| it.content().contains("disconnected me from the channel")).await;
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn bot_without_discord_still_terminates() {
    let (mut hall, dora) = Hall::in_session(Options::default(), "").await;
    drop(dora);
    let gone = hall.discord.api_base();
    hall.discord = discord_loopback::Discord::start(Options::default()).await.unwrap();
    assert_ne!(gone, hall.discord.api_base());
    let program = hall.program.take().unwrap();
    assert_eq!(program.terminate(), 0);
}
