//! Recognisers that panic.

use std::time::Duration;

use tokio::time::sleep;

use super::{
    super::{Outcome, TableEvent, TurnLine},
    stage::{ELARA, Setup, THORIN},
    voices::{PANICS, Said},
};
use crate::{engine::tests::props::ms, provider::SttAbilities};

/// A table's notices, sorted.
#[derive(Default)]
struct Sorted {
    lines: Vec<TurnLine>,
    /// Notices about panics.
    faults: Vec<String>,
}

impl Sorted {
    fn of(events: Vec<TableEvent>) -> Self {
        let mut sorted = Self::default();
        for event in events {
            match event {
                TableEvent::Line(line) => sorted.lines.push((*line).clone()),
                TableEvent::Notice(text) if text.contains("a fault of the") => {
                    sorted.faults.push(text);
                }
                _ => {}
            }
        }
        sorted
    }

    fn outcomes(&self, speaker: &str) -> Vec<Outcome> {
        let theirs = self.lines.iter().filter(|line| line.speaker == speaker);
        theirs.map(|line| line.outcome).collect()
    }
}

fn opens() -> Said {
    Said { partials: vec![(0, PANICS)], text: None, takes: Duration::ZERO }
}

fn polls() -> Said {
    Said { partials: vec![(20, PANICS)], ..opens() }
}

fn ends() -> Said {
    Said { partials: vec![], text: Some(Ok(PANICS)), takes: Duration::ZERO }
}

#[tokio::test(start_paused = true)]
async fn panicking_recogniser_costs_one_utterance() {
    for broken in [opens(), polls(), ends()] {
        let mut stage = Setup::of(&["Bartok"]).open().await;
        stage.hears(&[], "Bartok, what is the news?");
        stage.hears_so(broken.clone());
        let thorin = async {
            sleep(ms(10)).await;
            stage.says(THORIN).await;
        };
        tokio::join!(stage.says(ELARA), thorin);
        stage.settle().await;
        let sorted = Sorted::of(stage.events());
        assert_eq!(sorted.outcomes("Elara"), [Outcome::Spoken], "{broken:?}");
        let lost = sorted.outcomes("Thorin");
        assert_eq!(lost.first(), Some(&Outcome::HearingError), "{broken:?}: {lost:?}");
        let [told] = sorted.faults.as_slice() else { panic!("one notice: {:?}", sorted.faults) };
        assert!(told.contains("is heard again") && told.contains("src/"), "{told}");
        stage.hears(&[], "Bartok, hello");
        stage.says(THORIN).await;
        stage.settle().await;
        let sorted = Sorted::of(stage.events());
        assert_eq!(sorted.outcomes("Thorin"), [Outcome::Spoken], "{broken:?}");
        assert_eq!(sorted.faults, Vec::<String>::new());
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn panic_drops_answer_begun_ahead() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let said = Said { partials: vec![(10, "Bartok, hello")], ..ends() };
    stage.hears_so(said);
    stage.says(THORIN).await;
    stage.settle().await;
    let sorted = Sorted::of(stage.events());
    assert_eq!(sorted.outcomes("Thorin"), [Outcome::HearingError]);
    assert_eq!((stage.models[0].asked(), stage.left().len()), (1, 0), "asked, and not heard");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn endless_stream_is_replaced_after_a_panic() {
    let abilities = SttAbilities { partials: true, endpointing: true };
    let mut stage = Setup { abilities, ..Setup::of(&["Bartok"]) }.open().await;
    stage.hears_so(Said { text: Some(Ok("Bartok, hello")), ..polls() });
    stage.hears(&[], "Bartok, hello");
    stage.says(THORIN).await;
    stage.settle().await;
    let sorted = Sorted::of(stage.events());
    assert_eq!(sorted.outcomes("Thorin"), [Outcome::HearingError, Outcome::Spoken]);
    assert_eq!(sorted.faults.len(), 1);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn recogniser_that_keeps_panicking_closes_table() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    for _ in 0..3 {
        stage.hears_so(ends());
        stage.voice(THORIN, ms(1_000)).await;
        sleep(ms(2_000)).await;
    }
    let told = Sorted::of(stage.events()).faults;
    assert!(told.len() == 3 && told[2].contains("the table closes"), "{told:?}");
    let kept = stage.ended().await;
    assert_eq!(kept.histories[0].0, "Bartok");
}
