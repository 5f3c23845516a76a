//! Turns with a service that cannot change its tools or truncate.

use std::collections::BTreeMap;

use tokio::time::sleep_until;

use super::*;
use crate::{
    domain::ToolChoice,
    logic::budget::{BudgetOptions, Price},
    provider::SpeechService,
};

fn fixed() -> Seat {
    Seat::of(Bench::new(), Talker::fixed())
}

/// The tools that session `index` was opened with.
fn tools(seat: &Seat, index: usize) -> Vec<String> {
    let told = seat.talker.told.lock().unwrap();
    told.setups[index].tools.iter().map(|it| it.name.to_string()).collect()
}

/// Checks that it received no impossible order.
fn is_spared(seat: &Seat) -> bool {
    let refused = ["tools", "clear", "truncate"];
    !seat.talker.ordered().iter().any(|it| refused.iter().any(|word| it.starts_with(word)))
}

#[tokio::test(start_paused = true)]
async fn session_opens_with_tools_of_first_turn() {
    let mut seat = fixed();
    // The most frequent tier.
    seat.bench.tier = Tier::default();
    seat.warm().await;
    let answered = seat.turn(whole).await;
    assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    assert_eq!(seat.talker.sessions(), 1, "the tools of the first turn were known");
    assert_eq!(tools(&seat, 0), ["look", "roll", "slow"]);
    assert!(is_spared(&seat) && !seat.engine.receives_ahead());
}

#[tokio::test(start_paused = true)]
async fn other_tools_need_another_session() {
    let mut seat = fixed();
    seat.answers(&[Say("Ale?", 500)]);
    for tier in [Tier::Standard, Tier::Standard, Tier::Fast, Tier::Fast] {
        seat.bench.tier = tier;
        let answered = seat.turn(whole).await;
        assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    }
    assert_eq!(seat.talker.sessions(), 2);
    assert_eq!(tools(&seat, 1), ["look", "roll", "slow"]);
    assert!(format!("{:?}", seat.talker.before(1)).contains("Ale?"), "it knows what was said");
    assert!(is_spared(&seat));
}

#[tokio::test(start_paused = true)]
async fn interruption_needs_another_session() {
    let mut seat = fixed();
    seat.answers(&[Say("The caravan never came in.", 3_000)]);
    let position = Some(Position { sentence: 0, into: ms(1_240) });
    let heard = PlayedPart {
        text: "The caravan…".to_owned(),
        audio: ms(1_240),
        position,
        ..PlayedPart::default()
    };
    seat.turn(|_| heard).await;
    assert_eq!(seat.talker.sessions(), 2, "before anybody speaks again");
    let before = format!("{:?}", seat.talker.before(1));
    assert!(before.contains("The caravan…") && !before.contains("never came"), "{before}");
    assert!(is_spared(&seat));
}

#[tokio::test(start_paused = true)]
async fn session_that_ends_soon_is_replaced_by_warm() {
    let mut seat = fixed();
    seat.answers(&[GoAway(0, 50_000), Say("Ale?", 500)]).answers(&[Say("Beer?", 500)]);
    seat.turn(whole).await;
    seat.warm().await;
    assert_eq!(seat.talker.sessions(), 2, "before anybody speaks again");
    assert_eq!(seat.turn(whole).await.sentences, ["Beer?"]);
    assert_eq!(seat.talker.sessions(), 2);
}

/// The service warns after 10 minutes, unless its session was replaced before.
#[tokio::test(start_paused = true)]
async fn warning_at_10_minutes_replaces_the_session() {
    let mut seat = fixed();
    let begun = Instant::now();
    seat.answers(&[GoAway(600_000, 60_000), Say("Ale?", 500)]).answers(&[Say("Beer?", 500)]);
    seat.turn(whole).await;
    sleep_until(begun + ms(590_000)).await;
    assert_eq!(seat.turn(whole).await.sentences, ["Beer?"]);
    assert_eq!(seat.talker.sessions(), 1, "nothing has been said of an end");
    sleep_until(begun + ms(601_000)).await;
    seat.warm().await;
    assert_eq!(seat.talker.sessions(), 2, "before it ends, and before anybody speaks again");
    let before = format!("{:?}", seat.talker.before(1));
    assert!(before.contains("Ale?") && before.contains("Beer?"), "{before}");
    let answered = seat.turn(whole).await;
    assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    assert_eq!((answered.report.news.len(), seat.talker.sessions()), (0, 2));
}

/// Gemini's sessions are replaced by age before the warning.
#[tokio::test(start_paused = true)]
async fn session_of_9_minutes_is_replaced_unwarned() {
    let mut seat = fixed();
    let limits = SessionLimits { max_age: SpeechService::Gemini.max_age(), ..LIMITS };
    let service = Arc::clone(&seat.talker) as _;
    seat.engine = SpeechToSpeech::new(service, seat.bench.engine(), limits, false);
    let begun = Instant::now();
    for (at, sessions) in [(0, 1), (530_000, 1), (541_000, 2), (1_070_000, 2)] {
        sleep_until(begun + ms(at)).await;
        let answered = seat.turn(whole).await;
        assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None), "at {at} ms");
        assert_eq!(seat.talker.sessions(), sessions, "at {at} ms");
    }
}

/// The connection ends between two turns without a warning.
#[tokio::test(start_paused = true)]
async fn close_without_a_warning_costs_no_turn() {
    let mut seat = fixed();
    seat.answers(&[Say("Ale?", 500), Close(20_000)]).answers(&[Say("Beer?", 500)]);
    seat.turn(whole).await;
    tokio::time::sleep(ms(30_000)).await;
    let answered = seat.turn(whole).await;
    assert_eq!(answered.sentences, ["Beer?"]);
    assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    assert_eq!((answered.report.news.len(), seat.talker.sessions()), (0, 2));
    assert!(format!("{:?}", seat.talker.before(1)).contains("Ale?"), "it knows what was said");
}

#[tokio::test(start_paused = true)]
async fn turn_does_not_wait_for_another_session() {
    for (left, has_time) in [(50_000, true), (1_000, false)] {
        let mut seat = fixed();
        // The warning comes after the session was checked.
        seat.answers(&[Say("Ale?", 500), GoAway(2_000, left)]).answers(&[Say("Beer?", 500)]);
        seat.turn(whole).await;
        assert_eq!(seat.talker.sessions(), 1);
        assert_eq!(seat.turn(whole).await.sentences, ["Beer?"]);
        assert_eq!(seat.talker.sessions(), 2, "it is replaced in any case");
        let before = format!("{:?}", seat.talker.before(1));
        assert!(before.contains("Ale?"), "{before}");
        assert_eq!(before.contains("Beer?"), has_time, "{before}");
    }
}

#[tokio::test(start_paused = true)]
async fn cancelled_calls_end_and_are_kept() {
    let mut seat = fixed();
    seat.answers(&[Call("long", ROLL), CancelCalls]);
    let begun = Instant::now();
    let answered = seat.turn(whole).await;
    assert!(begun.elapsed() < ms(10_000), "{:?}", begun.elapsed());
    let (engine, why) = by(&answered.report);
    assert_eq!(engine, EngineKind::Cascaded);
    assert!(why.unwrap().contains("wants no results"), "{why:?}");
    assert_eq!(answered.sentences, ["[Let me think.]", "Well met."]);
    assert_eq!((answered.report.calls.len(), answered.report.exchange.len()), (1, 2));
    assert!(!seat.talker.ordered().iter().any(|it| it.starts_with("result")), "never sent late");
}

#[tokio::test(start_paused = true)]
async fn demanded_calls_are_the_cascades() {
    let mut bench = Bench::new();
    bench.npc.policy.tool_choice = ToolChoice::Required;
    let mut seat = Seat::of(bench, Talker::fixed());
    let report = seat.turn(whole).await.report;
    let why = "tool_choice asks for a call, and the voice model decides by itself";
    assert_eq!(by(&report), (EngineKind::Cascaded, Some(why)));
}

#[tokio::test(start_paused = true)]
async fn answer_without_count_is_booked_as_usual() {
    // A token of speech costs 1; an answer may use 700.
    let price = Price { audio_output: 1e6, ..Price::default() };
    let prices = BTreeMap::from([("dear".to_owned(), price)]);
    let mut bench = Bench::new();
    bench.budget = BudgetOptions { session_max: Some(1_000.0), month_max: None, prices };
    let mut talker = Talker::fixed();
    talker.price = Some("dear");
    let mut seat = Seat::of(bench, talker);
    for _ in 0..3 {
        seat.answers(&[Say("Ale?", 1_000), NoCount]);
        assert_eq!(by(&seat.turn(whole).await.report), (EngineKind::SpeechToSpeech, None));
    }
    seat.answers(&[Say("Ale?", 20_000), NoCount]);
    assert_eq!(by(&seat.turn(whole).await.report), (EngineKind::SpeechToSpeech, None));
    let report = seat.turn(whole).await.report;
    let (engine, why) = by(&report);
    assert_eq!(engine, EngineKind::Cascaded, "sound without a count is not free");
    assert!(why.unwrap().contains("budget"), "{why:?}");
}

#[tokio::test(start_paused = true)]
async fn result_may_wait_for_the_end_of_speech() {
    let mut seat = fixed();
    seat.answers(&[Say("Let me look, which takes a moment.", 6_000), Call("roll", ROLL)]);
    seat.answers(&[Wait(7_000), Say("Eleven.", 500)]);
    let answered = seat.turn(whole).await;
    assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    assert_eq!(answered.sentences.last().unwrap(), "Eleven.");
}
