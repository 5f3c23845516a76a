//! Endless answers, and their cost.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use super::*;
use crate::{
    engine::Failure,
    logic::budget::{BudgetOptions, Price},
};

/// A pause that never comes.
const NEVER: u64 = u64::MAX;

/// A seat whose service takes 1 per token of speech, with a cap of 1,000; an answer may use 700.
fn dear() -> Seat {
    let price = Price { audio_output: 1e6, ..Price::default() };
    let prices = BTreeMap::from([("dear".to_owned(), price)]);
    let mut bench = Bench::new();
    bench.budget = BudgetOptions { session_max: Some(1_000.0), month_max: None, prices };
    Seat::of(bench, Talker::priced("dear"))
}

fn billed(seat: &Seat) -> u64 {
    seat.talker.billed.load(Ordering::Relaxed)
}

/// Why an answer was cut off.
fn cut(answered: &Answered) -> &str {
    match &answered.report.failure {
        Some(Failure::Model(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn answer_without_end_is_cut_at_30_s() {
    let mut seat = Seat::new();
    seat.answers(&[Talk(NEVER, NEVER)]);
    let answered = seat.turn(whole).await;
    assert!((1_490..=1_502).contains(&answered.frames), "{}", answered.frames);
    assert!(cut(&answered).contains("after 30 s of speech"), "{}", cut(&answered));
    assert!(!cut(&answered).contains("raise"), "it is as long as one may be");
    assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    assert!(seat.talker.ordered().contains(&"cancel".to_owned()));
    assert!(billed(&seat) <= 610, "{}", billed(&seat));
    assert_eq!(seat.turn(whole).await.report.failure, None, "the next one is whole");
}

/// Pauses end at 3.9 s, 7.9 s and so on: the last before the cut at 27.9 s.
#[tokio::test(start_paused = true)]
async fn long_answer_ends_between_two_sentences() {
    let mut seat = Seat::new();
    seat.answers(&[Talk(NEVER, 4_000)]);
    let answered = seat.turn(whole).await;
    assert!((1_390..=1_400).contains(&answered.frames), "{}", answered.frames);
    assert!(cut(&answered).contains("after 30 s of speech"), "{}", cut(&answered));
}

#[tokio::test(start_paused = true)]
async fn whole_answer_of_29_s_is_heard_to_its_end() {
    for pause in [NEVER, 4_000] {
        let mut seat = Seat::new();
        seat.answers(&[Talk(29_000, pause)]);
        let answered = seat.turn(whole).await;
        assert!((1_448..=1_453).contains(&answered.frames), "{}", answered.frames);
        assert_eq!(answered.report.failure, None);
    }
}

#[tokio::test(start_paused = true)]
async fn longest_answer_is_the_npcs() {
    let mut bench = Bench::new();
    bench.npc.s2s.max_answer = Duration::from_secs(10);
    let mut seat = Seat::of(bench, Talker::default());
    // All at once, or in real time.
    for answer in [Say("On and on.", 20_000), Talk(NEVER, NEVER)] {
        seat.answers(&[answer]);
        let answered = seat.turn(whole).await;
        assert!((490..=502).contains(&answered.frames), "{answer:?}: {}", answered.frames);
        assert!(cut(&answered).contains("after 10 s of speech"), "{}", cut(&answered));
        assert!(cut(&answered).contains("raise s2s.max_answer_s up to 30"), "{}", cut(&answered));
    }
}

#[tokio::test(start_paused = true)]
async fn answers_without_end_stay_below_the_cap() {
    let mut seat = dear();
    for _ in 0..4 {
        seat.answers(&[Talk(NEVER, NEVER)]);
        seat.turn(whole).await;
    }
    assert!((600..=1_000).contains(&billed(&seat)), "{}", billed(&seat));
}

#[tokio::test(start_paused = true)]
async fn session_that_talks_on_when_cancelled_is_lost() {
    let mut seat = dear();
    seat.answers(&[TalkOn]);
    let answered = seat.turn(whole).await;
    assert!(cut(&answered).contains("after 30 s of speech"), "{}", cut(&answered));
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!((600..=700).contains(&billed(&seat)), "{}", billed(&seat));
}

#[tokio::test(start_paused = true)]
async fn call_without_end_is_answered_by_the_cascade() {
    for (step, wanted) in [(Dawdle, "not over after 40 s"), (Flood(5_000), "4096 events")] {
        let mut seat = Seat::new();
        seat.answers(&[step]);
        let answered = seat.turn(whole).await;
        assert_eq!(answered.sentences, ["Well met."]);
        let (engine, why) = by(&answered.report);
        assert_eq!(engine, EngineKind::Cascaded);
        assert!(why.unwrap().contains(wanted), "{why:?}");
    }
}
