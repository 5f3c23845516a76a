//! Players talk into what NPCs say.

use std::time::Duration;

use discord_loopback::{AUDIBLE, Options, Player, laughter};

use super::hall::{BOUND, Hall, answers_of, said};
use crate::support::deepgram::DeepgramServer;

/// Said into an answer.
const ANOTHER_QUESTION: &str = "Bartok, wait, I have another question";
const NOISES: [&str; 2] = ["mm-hm", "okay"];
/// A question with a long answer, and his answers to it.
const QUESTION: &str = "Bartok, what happened to the caravan";
const ANSWERS: [&str; 2] = [
    "Four wagons, eleven people, out by the north gate a week ago. Not one came back. Well, not by \
     the gate.",
    "Salt, grain and a sealed strongbox. You do not lose four wagons by accident.",
];

/// Packets of more than the second for which the recogniser takes voice for the rest of an utterance.
const HEARD: usize = 60;

/// `line` as it is spoken without the pauses of its commas, which on a busy machine may end an utterance.
fn in_one_breath(line: &str) -> Vec<i16> {
    said("rms", &line.replace(',', ""))
}

impl Hall {
    /// Asks Bartok, and hears him long enough that more voice is another utterance.
    async fn has_him_talk(&self, player: &Player) {
        let bot = self.discord.bot();
        player.wait_for_silence(bot, Duration::from_millis(600), BOUND).await.unwrap();
        player.forget();
        player.say(&in_one_breath(QUESTION)).await.unwrap();
        self.is_heard_for(player, HEARD).await;
    }

    /// `player` interrupts Bartok.
    async fn stops_at(&self, player: &Player, line: &str) {
        self.has_him_talk(player).await;
        let spoken = player.start_saying(in_one_breath(line));
        let (bot, quiet) = (self.discord.bot(), Duration::from_millis(500));
        player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
        spoken.finished().await.unwrap();
    }
}

/// A hall whose players say `texts`, each understood while it is said, and its recogniser. Whisper is later
/// than that on a machine with other work, so its tests are for `./dev proof`.
async fn heard_at_once(texts: &[&str]) -> (Hall, [Player; 2], DeepgramServer) {
    let server = DeepgramServer::start("k");
    server.says_each(texts);
    let providers = format!("providers:\n{}", server.entry());
    let (hall, players) = Hall::with_player(Options::default(), &providers, "Anna").await;
    (hall, players, server)
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_answers_store_only_what_was_heard() {
    let texts = [QUESTION, ANOTHER_QUESTION, QUESTION, "stop"];
    let (hall, [_dora, anna], _server) = heard_at_once(&texts).await;
    assert_silenced(hall, &anna).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stop_words_and_questions_are_heard_by_whisper() {
    let Some((hall, [_dora, anna])) = Hall::heard_by_whisper("Anna").await else { return };
    assert_silenced(hall, &anna).await;
}

/// A question and a stop word end his answers.
async fn assert_silenced(hall: Hall, player: &Player) {
    hall.stops_at(player, ANOTHER_QUESTION).await;
    // He answers it, and ends before he is asked again.
    player.wait_for_voice(hall.discord.bot(), AUDIBLE, BOUND).await.unwrap();
    hall.stops_at(player, "stop").await;
    let said = answers_of("Bartok", &hall.ends_keeping());
    let cut: Vec<&str> = said.iter().filter_map(|text| text.strip_suffix('…')).collect();
    let answers = cut
        .iter()
        .filter_map(|text| Some((text, ANSWERS.iter().find(|answer| answer.starts_with(*text))?)));
    let answers: Vec<_> = answers.collect();
    assert!(answers.len() >= 2, "two answers were cut short: {said:#?}");
    for (text, whole) in answers {
        let last = whole.trim_end_matches('.').rsplit(". ").next().unwrap();
        assert!(!text.contains(last), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn listening_noises_and_laughter_let_him_finish() {
    let texts = [QUESTION, NOISES[0], QUESTION, NOISES[1], QUESTION, ""];
    let (hall, [_dora, anna], _server) = heard_at_once(&texts).await;
    assert_goes_on(hall, &anna).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listening_noises_are_heard_by_whisper() {
    let Some((hall, [_dora, anna])) = Hall::heard_by_whisper("Anna").await else { return };
    assert_goes_on(hall, &anna).await;
}

/// Listening noises and laughter do not end his answers.
async fn assert_goes_on(hall: Hall, player: &Player) {
    // None of them is a second of voice, after which no words are waited for.
    for noise in [said("rms", NOISES[0]), said("slt", NOISES[1]), laughter()] {
        hall.has_him_talk(player).await;
        player.say(&noise).await.unwrap();
    }
    let quiet = Duration::from_secs(2);
    player.wait_for_silence(hall.discord.bot(), quiet, BOUND).await.unwrap();
    let said = answers_of("Bartok", &hall.ends_keeping());
    assert!(said.iter().all(|text| !text.ends_with('…')), "{said:?}");
    let whole = said.iter().filter(|text| ANSWERS.contains(&text.as_str()));
    assert!(whole.count() >= 3, "{said:?}");
}
