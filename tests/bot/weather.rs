//! Faults of networks and of Discord: the session goes on.

use std::time::Duration;

use discord_loopback::{Faults, Options, Scope, Slash, VoiceOptions};
use tokio::time::sleep;

use super::hall::{BOUND, Hall, answers_of, said};

#[tokio::test(flavor = "multi_thread")]
async fn unencrypted_session_survives_packet_loss() {
    let voice = VoiceOptions { dave: false, ..VoiceOptions::default() };
    let options = Options { voice, ..Options::default() };
    let (hall, [_dora, player]) = Hall::with_player(options, "", "Anna").await;
    hall.rolls_for(&player).await;
    let faults = Faults { loss: 0.05, jitter: Duration::from_millis(60), ..Faults::default() };
    let whom = Scope::User { guild: hall.inn.id, user: player.user() };
    hall.discord.voice().set_faults(whom, faults);
    hall.rolls_for(&player).await;
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn session_survives_epochs_migrations_and_cuts() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let [anna, ben] = ["Anna", "Ben"].map(|name| hall.inn.add_member(name, &[]));
    let player = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    let other = hall.discord.join_voice(&ben, hall.inn.voice).await.unwrap();
    hall.listens_to("Anna").await;
    hall.listens_to("Ben").await;
    let (voice, bot) = (hall.discord.voice(), hall.discord.bot());
    let everybody = Scope::Guild(hall.inn.id);
    hall.rolls_for(&player).await;

    // Five in a hundred packets lost, and late by up to 60 ms.
    let bad = Faults { loss: 0.05, jitter: Duration::from_millis(60), ..Faults::default() };
    voice.set_faults(Scope::User { guild: hall.inn.id, user: anna.id }, bad);
    hall.rolls_for(&player).await;
    voice.set_faults(Scope::User { guild: hall.inn.id, user: anna.id }, Faults::default());

    // A member leaves: a new epoch.
    let epoch = voice.group(hall.inn.id, hall.inn.voice).epoch;
    hall.discord.leave_voice(&ben);
    other.leave();
    drop(other);
    hall.reads(|it| it.content().contains("Heard: ") && !it.content().contains("Ben")).await;
    player.in_call_without(ben.id, BOUND).await.unwrap();
    assert!(voice.group(hall.inn.id, hall.inn.voice).epoch > epoch);
    hall.rolls_for(&player).await;

    // Another voice server.
    for seat in hall.discord.migrate_voice(hall.inn.id) {
        if seat.user == anna.id {
            player.server_update(&seat.endpoint, &seat.token).await.unwrap();
        }
    }
    player.in_call_with(&[bot], BOUND).await.unwrap();
    hall.rolls_for(&player).await;

    // The gateway breaks off and is resumed.
    let resumes = hall.discord.resumes(bot);
    hall.discord.cut_gateway(bot);
    hall.discord.wait_resumed(bot, resumes + 1, BOUND).await.unwrap();
    hall.rolls_for(&player).await;

    // Ten seconds without a network.
    voice.cut(everybody, Duration::from_secs(10));
    sleep(Duration::from_secs(10)).await;
    player.in_call_with(&[bot], BOUND).await.unwrap();
    hall.rolls_for(&player).await;
    hall.ends();
}

/// Both of Bartok's answers have wagons in them.
const QUESTION: &str = "Bartok, what happened to the caravan";

#[tokio::test(flavor = "multi_thread")]
async fn answer_in_an_outage_is_not_said_later() {
    let (hall, dora) = Hall::in_session(Options::default(), "").await;
    hall.has_greeted(&dora).await;
    let (bot, voice) = (hall.discord.bot(), hall.discord.voice());
    // The server closes the bot's session and does not let it in again until the answer has ended unheard.
    let whom = Scope::User { guild: hall.inn.id, user: bot };
    voice.cut(whom, 2 * BOUND);
    voice.close(hall.inn.id, bot, Some(4006));
    hall.program.as_ref().expect("it runs").says("the voice connection is lost");
    dora.forget();
    hall.asks(&hall.dm, Slash::new("say").option("text", QUESTION)).await;
    hall.reads(|it| it.text().contains("could not be heard")).await;
    voice.cut(whom, Duration::ZERO);
    hall.reads(|it| it.text().contains("the voice connection is back")).await;
    dora.in_call_with(&[bot], BOUND).await.unwrap();
    dora.wait_for_silence(bot, Duration::from_secs(1), BOUND).await.unwrap();
    assert_eq!(hall.audible(&dora), 0, "nothing is said later");
    hall.rolls_for(&dora).await;
    let kept = hall.ends_keeping();
    let answers = answers_of("Bartok", &kept);
    assert!(!answers.iter().any(|it| it.contains("wagons")), "{answers:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bot_without_the_keys_of_a_player_says_so() {
    let (hall, dora) = Hall::in_session(Options::default(), "").await;
    // The bot hears players only after the consent notice.
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    let (bot, voice) = (hall.discord.bot(), hall.discord.voice());
    // Silence frames are not encrypted, and still arrive.
    let whom = Scope::User { guild: hall.inn.id, user: dora.user() };
    voice.set_faults(whom, Faults { wrong_dave_key: true, ..Faults::default() });
    dora.say(&said("slt", "Bartok, hello")).await.unwrap();
    hall.program.as_ref().expect("it runs").says("a player speaks, but no sound arrives");
    voice.set_faults(whom, Faults::default());
    hall.reads(|it| it.text().contains("the voice connection is back")).await;
    dora.in_call_with(&[bot], BOUND).await.unwrap();
    hall.rolls_for(&dora).await;
    hall.ends();
}
