//! From typed words to played and stored answers.

use std::collections::BTreeMap;

use tokio::time::{advance, sleep};

use super::{
    super::{Command, Outcome, Pace, SeatId},
    stage::{DM, ELARA, Setup, THORIN, Told},
};
use crate::{
    domain::{Message, Tier},
    engine::tests::props::{Hum, Step::*, count, ms},
    logic::budget::{BudgetOptions, Price},
    provider::Kind,
};

const ROLL: &str = r#"{"expression":"2d6"}"#;

#[tokio::test(start_paused = true)]
async fn frames_leave_every_20_ms_from_the_first_on() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.at(7).await;
    stage.models[0].then(&[Wait(13), Text("One. Two. Three.")]);
    stage.types(THORIN, "Bartok, count").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    let left = stage.left();
    assert_eq!(left.len(), 150);
    assert_eq!(left[0].at, ms(20));
    for (index, frame) in left.iter().enumerate() {
        assert_eq!(frame.at, ms(20 + 20 * index as u64), "frame {index}");
    }
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn slow_voice_is_heard_whole() {
    let voice = Hum { length: ms(600), each_chunk: ms(250), ..Hum::default() };
    let mut stage = Setup { voice, ..Setup::of(&["Bartok"]) }.open().await;
    stage.models[0].then(&[Text("A tale.")]);
    stage.types(THORIN, "Bartok, tell").await;
    let told = stage.told().await;
    assert_eq!((told[0].outcome, told[0].reply.as_str()), (Outcome::Spoken, "A tale."));
    let left = stage.left();
    assert_eq!(left.len(), 30);
    // Nothing is caught up: after each wait frames are 20 ms apart again.
    assert!(left.windows(2).all(|pair| pair[1].at - pair[0].at >= ms(20)));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn voice_without_a_sound_has_said_nothing() {
    let voice = Hum { level: 0, ..Hum::default() };
    let mut stage = Setup { voice, ..Setup::of(&["Bartok"]) }.open().await;
    stage.types(THORIN, "Bartok, tell").await;
    stage.settle().await;
    let lines = stage.lines();
    assert_eq!((lines[0].outcome, lines[0].reply.as_str()), (Outcome::VoiceError, ""));
    assert!(lines[0].detail.as_ref().is_some_and(|it| it.contains("nothing but silence")));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_listener_everything_leaves_at_once() {
    let mut stage = Setup { pace: Pace::Free, ..Setup::of(&["Bartok"]) }.open().await;
    stage.types(THORIN, "Bartok, hello").await;
    assert_eq!(stage.told().await[0].reply, "Well met.");
    assert_eq!((stage.left().len(), stage.opened.elapsed()), (50, ms(0)));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn clocked_outputs_get_a_short_lead() {
    let lead = ms(100);
    let mut stage = Setup { pace: Pace::Ahead(lead), ..Setup::of(&["Bartok"]) }.open().await;
    stage.types(THORIN, "Bartok, hello").await;
    let told = stage.told().await;
    assert_eq!((told[0].reply.as_str(), stage.left().len()), ("Well met.", 50));
    let first = stage.left()[0].at;
    for (nth, frame) in (0_u32..).zip(stage.left()) {
        let early = (first + ms(20) * nth).saturating_sub(frame.at);
        assert!(early <= lead, "frame {nth} is {early:?} early");
    }
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn model_failures_are_recorded_and_not_spoken() {
    let cases: [(&[_], Outcome, &str); 4] = [
        (&[Fail(Kind::Unreachable)], Outcome::ModelError, ""),
        (&[Text("Welcome. Sit d"), Fail(Kind::Interrupted)], Outcome::CutShort, "Welcome."),
        (&[], Outcome::EmptyReply, ""),
        (&[Stall], Outcome::Timeout, ""),
    ];
    let mut stage = Setup::of(&["Bartok"]).open().await;
    for (script, outcome, reply) in cases {
        stage.models[0].then(script);
        stage.types(THORIN, "Bartok, hello").await;
        let told = stage.told().await;
        assert_eq!(told, [Told::of("Thorin", "Bartok", outcome, reply)]);
    }
    assert!(stage.voice.said().iter().all(|said| !said.contains("secret")));
    stage.types(THORIN, "Bartok, and now").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken, "the table goes on");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn stalled_model_is_cut_after_first_sentence() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("One. "), Stall]);
    stage.types(THORIN, "Bartok, hello").await;
    let told = stage.told().await;
    assert_eq!((told[0].outcome, told[0].reply.as_str()), (Outcome::CutShort, "One."));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn panicking_model_leaves_a_line_and_frees_seat() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("One. "), Wait(500), Panic]);
    stage.types(THORIN, "Bartok, hello").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::ModelError);
    stage.types(THORIN, "Bartok, and now").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn queued_answers_do_not_time_out() {
    let voice = Hum { length: ms(40_000), ..Hum::default() };
    let mut stage = Setup { voice, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
    stage.models[1].then(&[Text("First part. Second part.")]);
    stage.types(THORIN, "Bartok, a saga").await;
    stage.types(ELARA, "Gundren, another").await;
    let told = stage.told().await;
    assert!(told.iter().all(|line| line.outcome == Outcome::Spoken), "{told:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn playback_catches_up_after_stall_without_burst() {
    let stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("One is long. Two is too.")]);
    stage.types(THORIN, "Bartok, count").await;
    stage.until_heard().await;
    let first = stage.left()[0].at;
    sleep(ms(205)).await;
    let before = stage.left().len();
    advance(ms(90)).await;
    stage.settle().await;
    let left = stage.left();
    let after: Vec<u128> = left[before..].iter().map(|l| (l.at - first).as_millis()).collect();
    let at_once = |at: &&u128| after.iter().filter(|other| other == at).count();
    assert_eq!(after.iter().map(|at| at_once(&at)).max(), Some(2), "{after:?}");
    // On schedule again after as many frames as were missing.
    let (index, at) = (before + 12, (before as u128 + 12) * 20);
    assert_eq!((left[index].at - first).as_millis(), at, "{after:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn voice_that_fails_is_a_voice_error() {
    let voice = Hum { fails_at: Some(1), ..Hum::default() };
    let mut stage = Setup { voice, ..Setup::of(&["Bartok"]) }.open().await;
    // The filler, prepared in advance, is the voice's sentence 0.
    stage.at(1).await;
    stage.types(THORIN, "Bartok, hello").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::VoiceError);
    stage.close().await;
}

/// A local voice takes memory, which a table without listeners does not need before its first
/// answer.
#[tokio::test(start_paused = true)]
async fn unheard_table_prepares_voices_when_asked() {
    for is_heard in [true, false] {
        let mut stage = Setup { is_heard, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
        stage.at(1_000).await;
        assert_eq!(stage.voice.said().is_empty(), !is_heard, "{:?}", stage.voice.said());
        stage.models[0].then(&[Text("Good evening.")]);
        stage.types(THORIN, "Bartok, hello").await;
        assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
        let said = stage.voice.said();
        assert!(said.iter().any(|it| it == "Good evening.") && said.len() > 1, "{said:?}");
        stage.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_was_heard_is_remembered() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Call("roll", ROLL)]).then(&[Text("One is here. Two is there. Three.")]);
    stage.types(THORIN, "Bartok, count").await;
    stage.until_heard().await;
    tokio::time::sleep(ms(1_490)).await;
    stage.types(THORIN, "stop").await;
    let told = stage.told().await;
    assert_eq!(
        (told[0].outcome, told[0].reply.as_str()),
        (Outcome::Interrupted, "One is here. Two…")
    );
    assert_eq!(told[1].outcome, Outcome::Stopped);
    stage.types(THORIN, "Bartok, go on").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    let read = stage.models[0].read(2);
    assert!(read.contains("One is here. Two…") && read.contains("total"), "{read}");
    assert!(!read.contains("Three") && !read.contains("there"), "{read}");
    assert_eq!(count(&stage.tools.roll), 1, "never run again");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn interrupted_turn_is_remembered_by_the_next() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("A long one. Very long.")]);
    stage.types(THORIN, "Bartok, tell").await;
    stage.until_heard().await;
    tokio::time::sleep(ms(1_100)).await;
    stage.types(THORIN, "stop").await;
    stage.types(THORIN, "Bartok, what else").await;
    stage.settle().await;
    assert!(stage.models[0].read(1).contains("A long one."), "{}", stage.models[0].read(1));
    stage.lines();
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn conversation_goes_on_for_30_seconds() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    tokio::time::sleep(ms(29_000)).await;
    stage.types(THORIN, "and how are you").await;
    stage.types(ELARA, "and how are you").await;
    stage.settle().await;
    tokio::time::sleep(ms(31_000)).await;
    stage.types(THORIN, "anything else").await;
    let told = stage.told().await;
    let who: Vec<_> = told.iter().map(|line| (line.speaker.as_str(), line.npc.as_str())).collect();
    assert_eq!(who, [("Thorin", "Bartok"), ("Elara", ""), ("Thorin", "Bartok"), ("Thorin", "")]);
    assert_eq!(told[3].outcome, Outcome::NobodyAddressed);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn everybody_hears_what_is_said_to_others() {
    let stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "the moon is green").await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    stage.types(THORIN, "Gundren, hello").await;
    stage.settle().await;
    let read = stage.models[1].read(0);
    assert!(read.contains("moon is green") && read.contains("Well met."), "{read}");
    assert_eq!(read.matches("Bartok, hello").count(), 1, "{read}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn exhausted_budget_stops_hearing_with_a_line() {
    let price = Price { minute: 60.0, ..Price::default() };
    let prices = BTreeMap::from([("ears".to_owned(), price)]);
    let budget = BudgetOptions { session_max: Some(5.0), month_max: None, prices };
    let mut stage = Setup { budget, ..Setup::of(&["Bartok"]) }.open().await;
    stage.says(THORIN).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::OverBudget);
    assert_eq!(stage.stt.live.count(), 0);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn pin_to_unknown_seat_is_ignored() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.order(Command::Pin { seat: Some(SeatId(7)), player: None }).await;
    stage.types(THORIN, "hello there").await;
    stage.order(Command::Pin { seat: Some(SeatId(1)), player: None }).await;
    stage.order(Command::SetTier { seat: None, tier: Some(Tier::Deep), until: None }).await;
    stage.types(THORIN, "hello there").await;
    stage.settle().await;
    let lines = stage.lines();
    assert_eq!((lines[0].npc.as_deref(), lines[1].npc.as_deref()), (None, Some("Gundren")));
    assert_eq!(lines[1].tier.as_ref().unwrap().effective, Tier::Deep);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn closing_keeps_what_was_heard() {
    let stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("One is here. Two."), Stall]);
    stage.types(DM, "Bartok, count").await;
    stage.until_heard().await;
    tokio::time::sleep(ms(1_010)).await;
    let kept = stage.close().await;
    let (npc, history) = &kept.histories[0];
    let said = Message::spoken("One is here.".to_owned());
    assert_eq!((npc.as_str(), history.last()), ("Bartok", Some(&said)));
}
