//! Several players and several NPCs.

use tokio::time::sleep;

use super::{
    super::{Outcome, Pace, SpeakerId, TableEvent},
    stage::{DM, ELARA, MIRA, Setup, Stage, THORIN},
    voices::Said,
};
use crate::{
    domain::Tier,
    engine::tests::props::{Step::*, ms},
};

/// 300 ms ± 50, in whole frames of the schedule.
fn is_gap(gap: std::time::Duration) -> bool {
    (ms(250)..=ms(371)).contains(&gap)
}

#[tokio::test(start_paused = true)]
async fn npcs_answer_in_order_of_end_of_speech() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    let slow = Said { partials: vec![], text: Some(Ok("Bartok, hello")), takes: ms(400) };
    stage.hears_so(slow);
    stage.hears(&[], "Gundren, hello");
    // Gundren's question is understood 200 ms before Bartok's, though it ended 100 ms later.
    stage.models[0].then(&[Wait(200), Text("First.")]);
    stage.models[1].then(&[Wait(500), Text("Second.")]);
    let later = async {
        sleep(ms(100)).await;
        stage.says(ELARA).await;
    };
    tokio::join!(stage.says(THORIN), later);
    let told = stage.told().await;
    assert!(told.iter().all(|line| line.outcome == Outcome::Spoken), "{told:?}");
    let (first, second) = (stage.heard("Bartok").unwrap(), stage.heard("Gundren").unwrap());
    assert!(first.last < second.first, "{first:?} {second:?}");
    assert!(is_gap(second.first - first.last), "{:?}", second.first - first.last);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn ready_answer_overtakes_a_slow_earlier_one() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.models[0].then(&[Wait(6_000), Text("Late.")]);
    stage.types(THORIN, "Bartok, hello").await;
    stage.types(ELARA, "Gundren, hello").await;
    stage.settle().await;
    assert_eq!(stage.heard("Gundren").unwrap().first, ms(2_000));
    assert_eq!(stage.heard("Bartok").unwrap().first, ms(6_000));
    assert_eq!(stage.lines().len(), 2);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn same_npc_answers_in_order_of_end_of_speech() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("Hear me. Ha. Well. "), Wait(500), Text("So.")]);
    stage.types(MIRA, "Bartok, hello").await;
    stage.hears_so(Said { partials: vec![], text: Some(Ok("Bartok, one")), takes: ms(900) });
    stage.hears(&[], "Bartok, two");
    stage.models[0].then(&[Text("One.")]).then(&[Text("Two.")]);
    // Both end while Bartok still answers Mira, and Elara's final is there first.
    let later = async {
        sleep(ms(300)).await;
        stage.says(ELARA).await;
    };
    tokio::join!(stage.says(THORIN), later);
    let told = stage.told().await;
    let who: Vec<_> =
        told.iter().map(|line| (line.speaker.as_str(), line.reply.as_str())).collect();
    assert_eq!(who, [("Mira", "Hear me. Ha. Well. So."), ("Thorin", "One."), ("Elara", "Two.")]);
    let left = stage.left();
    let gaps: Vec<_> = left.windows(2).map(|w| w[1].at - w[0].at).filter(|g| *g > ms(20)).collect();
    assert!(gaps.len() == 2 && gaps.iter().all(|gap| is_gap(*gap)), "{gaps:?}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn reply_after_idleness_starts_without_gap() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    sleep(ms(400)).await;
    let asked = stage.opened.elapsed();
    stage.types(THORIN, "Bartok, hello").await;
    assert!(stage.until_heard().await - asked <= ms(1));
    stage.settle().await;
    assert_eq!(stage.lines().len(), 2);
    stage.close().await;
}

/// Answers in order, of a table whose output loses its connection after `leaves` frames.
async fn in_an_outage(leaves: usize) -> Stage {
    let setup = Setup::of(&["Bartok", "Gundren"]);
    let stage = Setup { leaves, pace: Pace::Ahead(ms(40)), ..setup }.open().await;
    stage.models[0].then(&[Text("A marmot bites deep. Two marmots bite deeper.")]);
    stage.models[0].then(&[Text("Again?")]);
    stage.types(THORIN, "Bartok, hello").await;
    stage.types(ELARA, "Gundren, hello").await;
    stage
}

#[tokio::test(start_paused = true)]
async fn answers_in_an_outage_end_unheard() {
    let mut stage = in_an_outage(0).await;
    stage.settle().await;
    let (mut lines, mut notices) = (vec![], vec![]);
    for event in stage.events() {
        match event {
            TableEvent::Line(line) => lines.push(line),
            TableEvent::Notice(text) => notices.push(text),
            _ => {}
        }
    }
    assert_eq!(lines.len(), 2, "{lines:?}");
    for line in &lines {
        assert_eq!((line.outcome, line.reply.as_str()), (Outcome::Cancelled, ""));
        assert_eq!((line.audio_ms, line.circumstances.answered_at), (0, None));
    }
    assert!(stage.left().is_empty());
    assert_eq!(notices.len(), 1, "once an outage: {notices:?}");
    assert!(stage.opened.elapsed() < ms(6_000));
    // Unplayed text was never spoken.
    stage.types(THORIN, "Bartok, once more").await;
    stage.settle().await;
    let read = stage.models[0].read(1);
    assert!(!read.contains("marmot"), "{read}");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn answer_is_cut_where_the_connection_broke() {
    let mut stage = in_an_outage(30).await;
    stage.settle().await;
    let lines = stage.lines();
    assert_eq!((lines[0].outcome, lines[0].audio_ms), (Outcome::CutShort, 600), "{lines:?}");
    assert!(lines[0].reply.ends_with('…'), "{}", lines[0].reply);
    assert_eq!((lines[1].outcome, lines[1].audio_ms), (Outcome::Cancelled, 0));
    assert_eq!(stage.left().len(), 30);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn with_three_waiting_answers_are_fast() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    for id in 1..=4 {
        stage.types(SpeakerId(id), "Bartok, remember the rules").await;
    }
    stage.settle().await;
    let lines = stage.lines();
    let tiers: Vec<_> = lines.iter().map(|line| line.tier.as_ref().unwrap().effective).collect();
    assert_eq!(tiers, [Tier::Standard, Tier::Standard, Tier::Standard, Tier::Fast]);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn stop_by_others_withdraws_only_their_question() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.types(THORIN, "Bartok, one").await;
    stage.types(ELARA, "Bartok, two").await;
    stage.types(MIRA, "Bartok, three").await;
    stage.until_heard().await;
    stage.types(ELARA, "stop").await;
    let told = stage.told().await;
    let of = |name: &str| told.iter().find(|line| line.speaker == name).unwrap().outcome;
    assert_eq!((of("Thorin"), of("Mira")), (Outcome::Spoken, Outcome::Spoken));
    assert_eq!(of("Elara"), Outcome::Cancelled);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn settling_waits_for_all_that_was_said_before() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.settle().await;
    assert_eq!(stage.opened.elapsed(), ms(0), "nothing to wait for");
    stage.types(THORIN, "Bartok, hello").await;
    stage.types(ELARA, "Bartok, hello").await;
    stage.hears(&[], "a word to nobody");
    stage.voice(DM, ms(500)).await;
    let told = stage.told().await;
    assert_eq!(told.len(), 3, "{told:?}");
    let last = stage.left().last().unwrap().at;
    assert!(stage.opened.elapsed() - last <= ms(21));
    // An unfinished speaker does not block the queue.
    stage.hears(&[], "Bartok, hello");
    stage.voice(THORIN, ms(300)).await;
    let before = stage.opened.elapsed();
    stage.settle().await;
    assert!(stage.opened.elapsed() - before <= ms(5));
    stage.close().await;
}
