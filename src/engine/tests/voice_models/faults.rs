//! Answers that are slow, silent, or cut off before the first word plays: the cascade answers.

use std::collections::BTreeMap;

use super::*;
use crate::{
    engine::Failure,
    logic::budget::{BudgetOptions, Price},
};

/// Why the cascade answered.
#[track_caller]
fn why(answered: &Answered) -> &str {
    assert_eq!(answered.sentences.last().map(String::as_str), Some("Well met."));
    let (engine, why) = by(&answered.report);
    assert_eq!((engine, &answered.report.failure), (EngineKind::Cascaded, &None));
    why.expect("a reason")
}

/// A turn and its duration.
async fn timed(seat: &mut Seat) -> (Answered, Duration) {
    let begun = Instant::now();
    let answered = seat.unsettled(whole, &CancellationToken::new()).await;
    (answered, begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn dripping_model_gives_way_after_two_seconds() {
    let mut seat = Seat::new();
    seat.answers(&[Drip]);
    let (answered, took) = timed(&mut seat).await;
    assert!(why(&answered).contains("more slowly than it is played"), "{}", why(&answered));
    assert!((ms(2_000)..ms(4_000)).contains(&took), "{took:?}");
    assert_eq!(answered.report.news.len(), 1, "it counts as a failure");
}

#[tokio::test(start_paused = true)]
async fn speech_that_stops_gives_way_when_played() {
    let mut seat = Seat::new();
    seat.answers(&[Say("The caravan left by the", 900), Stall]);
    let (answered, took) = timed(&mut seat).await;
    assert!(why(&answered).contains("more slowly than it is played"), "{}", why(&answered));
    assert!((ms(2_900)..ms(4_500)).contains(&took), "{took:?}");
    assert!(seat.bench.model.read(0).contains("Go on from there"), "what was said stands");
}

#[tokio::test(start_paused = true)]
async fn call_takes_its_time_beside_speech() {
    let mut seat = Seat::new();
    seat.answers(&[Say("Let me look.", 900), Flood(1), Wait(6_000), Call("roll", ROLL)]);
    seat.answers(&[Say("Eleven.", 500)]);
    let answered = seat.turn(whole).await;
    assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    assert_eq!(answered.sentences, ["Let me look.", "Eleven."]);
}

#[tokio::test(start_paused = true)]
async fn silence_is_no_answer() {
    for (length, reason) in [(10_000, "nothing but silence"), (1_000, "words but no sound")] {
        let mut seat = Seat::new();
        seat.answers(&[Blank(length)]);
        let answered = seat.turn(whole).await;
        assert!(why(&answered).contains(reason), "{}", why(&answered));
        assert!(!seat.bench.model.read(0).contains("Go on from there"), "nothing was heard");
    }
}

/// Money used up within the first syllable: a free cascade still answers.
#[tokio::test(start_paused = true)]
async fn answer_cut_before_a_word_is_the_cascades() {
    for (length, is_heard) in [(200, false), (3_000, true)] {
        let price = Price { audio_output: 1e6, ..Price::default() };
        let prices = BTreeMap::from([("dear".to_owned(), price)]);
        let mut bench = Bench::new();
        bench.budget = BudgetOptions { session_max: Some(1_000.0), month_max: None, prices };
        let mut seat = Seat::of(bench, Talker::priced("dear"));
        seat.answers(&[Say("Aye.", length), Chatter(1_000), Stall]);
        let answered = seat.turn(whole).await;
        if is_heard {
            assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
            let failure = &answered.report.failure;
            assert!(
                matches!(failure, Some(Failure::Model(why)) if why.contains("money set aside")),
                "{failure:?}"
            );
        } else {
            assert!(why(&answered).contains("money set aside"), "{}", why(&answered));
            assert!(!seat.bench.model.read(0).contains("Go on from there"), "no word was heard");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn short_answers_are_asked_for_in_few_tokens() {
    for (seconds, tokens) in [(5, 200), (30, 700)] {
        let mut bench = Bench::new();
        bench.npc.s2s.max_answer = Duration::from_secs(seconds);
        let mut seat = Seat::of(bench, Talker::default());
        seat.turn(whole).await;
        let told = seat.talker.told.lock().unwrap();
        assert_eq!(told.setups[0].max_tokens, tokens);
    }
}
