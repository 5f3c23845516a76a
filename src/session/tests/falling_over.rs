//! An utterance that one recogniser fails goes to the next, whole.

use std::{collections::BTreeMap, time::Duration};

use super::{
    super::{Outcome, TableEvent, TurnLine},
    stage::{Setup, Stage, THORIN},
    voices::{FAILS, REFUSES, Said},
};
use crate::{
    engine::tests::props::{count, ms},
    logic::budget::{BudgetOptions, Price},
    provider::{Kind, SttAbilities},
};

const TABLE_ENDS: SttAbilities = SttAbilities { partials: true, endpointing: false };
const SERVICE_ENDS: SttAbilities = SttAbilities { partials: true, endpointing: true };

/// A table with two recognisers.
async fn heard_by(first: SttAbilities, second: SttAbilities) -> Stage {
    let both = Setup { abilities: first, second: Some(second), ..Setup::of(&["Bartok"]) };
    both.open().await
}

/// A stream that breaks after these partials.
fn breaks(partials: &[(usize, &'static str)]) -> Said {
    Said { partials: partials.to_vec(), text: None, takes: Duration::ZERO }
}

/// A stream that fails after its sound has ended.
fn ends_badly(kind: Kind) -> Said {
    Said { partials: Vec::new(), text: Some(Err(kind)), takes: ms(50) }
}

fn understands(text: &'static str) -> Said {
    Said { partials: Vec::new(), text: Some(Ok(text)), takes: ms(50) }
}

impl Stage {
    fn second_hears(&self, said: Said) {
        self.second.script.lock().unwrap().push_back(said);
    }

    /// Lines and notices since the last call.
    async fn lines_and_notices(&mut self) -> (Vec<TurnLine>, Vec<String>) {
        self.settle().await;
        let (mut lines, mut notices) = (Vec::new(), Vec::new());
        for event in self.events() {
            match event {
                TableEvent::Line(line) => lines.push((*line).clone()),
                TableEvent::Notice(text) => notices.push(text),
                _ => {}
            }
        }
        (lines, notices)
    }
}

/// One line was answered, and the second recogniser gave its words.
#[track_caller]
fn assert_second(lines: &[TurnLine]) {
    let [line] = lines else { panic!("one utterance: {lines:?}") };
    assert_eq!((line.understood.as_str(), line.outcome), ("Bartok hello", Outcome::Spoken));
    let made_by = line.made_by.as_ref().map(|it| it.understood.as_str());
    assert_eq!((line.stt.as_str(), made_by), ("second", Some("second")));
}

#[tokio::test(start_paused = true)]
async fn second_recogniser_hears_the_whole() {
    // In the middle, and after the end.
    for fails in [breaks(&[(10, "Bartok wrong"), (30, FAILS)]), ends_badly(Kind::Interrupted)] {
        let mut stage = heard_by(TABLE_ENDS, TABLE_ENDS).await;
        stage.hears_so(fails);
        stage.second_hears(understands("Bartok hello"));
        stage.says(THORIN).await;
        let (lines, notices) = stage.lines_and_notices().await;
        assert_second(&lines);
        assert_eq!(notices, [""; 0]);
        let frames = count(&stage.second.frames);
        assert!((52..=62).contains(&frames), "{frames}: a second, and 120 ms after it");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn breaker_sends_the_next_straight_on() {
    let mut stage = heard_by(TABLE_ENDS, TABLE_ENDS).await;
    stage.hears_so(breaks(&[(30, REFUSES)]));
    for _ in 0..2 {
        stage.second_hears(understands("Bartok hello"));
    }
    stage.says(THORIN).await;
    let (lines, notices) = stage.lines_and_notices().await;
    assert_second(&lines);
    let refused = "first is disabled until its settings change: secret hearing error";
    assert_eq!(notices, [refused]);
    let before = count(&stage.stt.frames);
    stage.says(THORIN).await;
    let (lines, notices) = stage.lines_and_notices().await;
    assert_second(&lines);
    assert_eq!((count(&stage.stt.frames), notices.len()), (before, 0), "it rests");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn crowded_recogniser_is_asked_again() {
    let mut stage = heard_by(TABLE_ENDS, TABLE_ENDS).await;
    for _ in 0..5 {
        stage.hears_so(ends_badly(Kind::Crowded { retry_after: None }));
        stage.second_hears(understands("Bartok hello"));
        stage.says(THORIN).await;
        assert_second(&stage.lines_and_notices().await.0);
        assert!(stage.stt.script.lock().unwrap().is_empty(), "it was asked");
    }
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn wrong_request_is_not_sent_to_another() {
    let mut stage = heard_by(TABLE_ENDS, TABLE_ENDS).await;
    stage.hears_so(ends_badly(Kind::InvalidRequest));
    stage.says(THORIN).await;
    let (lines, _) = stage.lines_and_notices().await;
    assert_eq!((lines.len(), lines[0].outcome), (1, Outcome::HearingError));
    assert_eq!(count(&stage.second.frames), 0);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn deaf_table_says_so_once() {
    let mut stage = heard_by(TABLE_ENDS, TABLE_ENDS).await;
    for times_told in [1, 0] {
        stage.hears_so(breaks(&[(30, FAILS)]));
        stage.second_hears(ends_badly(Kind::Unavailable));
        stage.says(THORIN).await;
        let (lines, notices) = stage.lines_and_notices().await;
        assert_eq!((lines.len(), lines[0].outcome), (1, Outcome::HearingError));
        assert_eq!(lines[0].stt, "second");
        let why = "first: secret hearing error; second: secret hearing error";
        assert_eq!(lines[0].detail.as_deref(), Some(why));
        assert_eq!(notices.len(), times_told, "{notices:?}");
        assert!(notices.iter().all(|it| it.ends_with(why)), "{notices:?}");
    }
    stage.hears_so(understands("Bartok hello"));
    stage.says(THORIN).await;
    let (lines, notices) = stage.lines_and_notices().await;
    assert_eq!((lines.len(), lines[0].outcome), (1, Outcome::Spoken));
    assert_eq!(notices, ["players are understood again"]);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn failure_of_a_lone_recogniser_is_told() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let deaf = "players are not understood for now: secret hearing error";
    for told in [&[deaf][..], &[]] {
        stage.hears_so(ends_badly(Kind::Unavailable));
        stage.says(THORIN).await;
        let (lines, notices) = stage.lines_and_notices().await;
        assert_eq!((lines.len(), lines[0].outcome), (1, Outcome::HearingError));
        assert_eq!(notices, told);
    }
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn each_recogniser_has_its_own_price() {
    // A second costs 0.1 at the first, and 0.2 at the second.
    let price = |minute| Price { minute, ..Price::default() };
    let prices =
        BTreeMap::from([("ears".to_owned(), price(6.0)), ("other ears".to_owned(), price(12.0))]);
    for (kind, first) in [(Kind::Unreachable, 0.0), (Kind::Interrupted, 0.5)] {
        let budget = BudgetOptions { prices: prices.clone(), ..BudgetOptions::default() };
        let both = Setup { budget, second: Some(TABLE_ENDS), ..Setup::of(&["Bartok"]) };
        let mut stage = both.open().await;
        stage.hears_so(ends_badly(kind));
        stage.second_hears(understands("Bartok hello"));
        stage.says(THORIN).await;
        assert_second(&stage.lines_and_notices().await.0);
        let second = stage.budget.spent() / (1.0 + first);
        assert!((0.2..0.35).contains(&second), "{kind:?}: {second}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn end_is_found_by_whom_the_recogniser_wants() {
    for (first, second, fails) in [
        (SERVICE_ENDS, TABLE_ENDS, breaks(&[(20, "Bartok"), (30, FAILS)])),
        (TABLE_ENDS, SERVICE_ENDS, breaks(&[(20, "Bartok"), (30, FAILS)])),
        (TABLE_ENDS, SERVICE_ENDS, ends_badly(Kind::Unavailable)),
        (SERVICE_ENDS, SERVICE_ENDS, breaks(&[(30, FAILS)])),
    ] {
        let mut stage = heard_by(first, second).await;
        stage.hears_so(fails.clone());
        stage.second_hears(understands("Bartok hello"));
        stage.says(THORIN).await;
        assert_second(&stage.lines_and_notices().await.0);
        // The first one works again.
        stage.quiet(THORIN, ms(21_000)).await;
        stage.hears_so(understands("Bartok hello again"));
        stage.says(THORIN).await;
        let (lines, _) = stage.lines_and_notices().await;
        let said: Vec<_> = lines.iter().map(|it| (&*it.understood, &*it.stt)).collect();
        assert_eq!(said, [("Bartok hello again", "first")], "{first:?} {second:?} {fails:?}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn failure_between_utterances_loses_nothing() {
    let mut stage = heard_by(SERVICE_ENDS, TABLE_ENDS).await;
    let partials = vec![(120, FAILS)];
    stage.hears_so(Said { partials, ..understands("Bartok hello") });
    stage.hears_so(understands("Bartok hello again"));
    for said in ["Bartok hello", "Bartok hello again"] {
        stage.voice(THORIN, ms(1_000)).await;
        stage.quiet(THORIN, ms(2_000)).await;
        let (lines, _) = stage.lines_and_notices().await;
        let [line] = &lines[..] else { panic!("one utterance: {lines:?}") };
        assert_eq!((&*line.understood, line.outcome), (said, Outcome::Spoken));
    }
    assert_eq!(count(&stage.second.frames), 0);
    stage.close().await;
}
