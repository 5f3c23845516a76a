//! Turns with a service that can neither change its tools nor take anything back.

use super::*;
use crate::domain::ToolChoice;

fn fixed() -> Seat {
    Seat::of(Bench::new(), Talker::fixed())
}

/// The tools that session `index` was opened with.
fn tools(seat: &Seat, index: usize) -> Vec<String> {
    let told = seat.talker.told.lock().unwrap();
    told.setups[index].tools.iter().map(|it| it.name.to_string()).collect()
}

/// It was told nothing that it cannot do.
fn is_spared(seat: &Seat) -> bool {
    let refused = ["tools", "clear", "truncate"];
    !seat.talker.ordered().iter().any(|it| refused.iter().any(|word| it.starts_with(word)))
}

#[tokio::test(start_paused = true)]
async fn tools_are_told_with_the_session() {
    let mut seat = fixed();
    // The tier that most turns have.
    seat.bench.tier = Tier::default();
    seat.warm().await;
    let answered = seat.turn(whole).await;
    assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    assert_eq!(seat.talker.sessions(), 1, "the tools of the first turn were known");
    assert_eq!(tools(&seat, 0), ["look", "roll", "slow"]);
    assert!(is_spared(&seat) && !seat.engine.hears_ahead());
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
    let heard = HeardAloud { text: "The caravan…".to_owned(), audio: ms(1_240), position };
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

#[tokio::test(start_paused = true)]
async fn turn_does_not_wait_for_another_session() {
    for (left, has_time) in [(50_000, true), (1_000, false)] {
        let mut seat = fixed();
        // It is said after the session was looked at.
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
