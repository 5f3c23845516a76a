//! Players talk into what NPCs say.

use std::time::{Duration, Instant};

use discord_loopback::{AUDIBLE, Options, Player};

use super::hall::{BOUND, Hall, said};

/// A question with a long answer.
const QUESTION: &str = "Bartok, tell me about the caravan";

impl Hall {
    /// Bartok is asked and has been heard for a second; since when.
    async fn has_him_talk(&self, player: &Player) -> Instant {
        let bot = self.discord.bot();
        player.wait_for_silence(bot, Duration::from_millis(600), BOUND).await.unwrap();
        player.forget();
        player.say(&said("slt", QUESTION)).await.unwrap();
        let began = player.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        began
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_word_silences_and_a_mumble_does_not() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let anna = hall.inn.add_member("Anna", &[]);
    let player = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    hall.listens_to("Anna").await;
    let bot = hall.discord.bot();

    hall.has_him_talk(&player).await;
    let mumble = player.say(&said("slt", "okay")).await.unwrap();
    let after = mumble.last_voiced + Duration::from_millis(700);
    tokio::time::sleep_until((after + Duration::from_millis(300)).into()).await;
    assert!(player.first_audible_after(bot, after).is_some(), "he goes on after an okay");

    hall.has_him_talk(&player).await;
    let stop = player.say(&said("slt", "stop")).await.unwrap();
    let silent = player.wait_for_silence(bot, Duration::from_millis(500), BOUND).await.unwrap();
    let took = silent.saturating_duration_since(stop.first_voiced);
    eprintln!("from the first sound of stop to silence: {took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    hall.ends();
}
