//! Turns of an NPC whose model takes and makes sound, with a stand-in of its service, in paused
//! time.

use std::{ops::Range, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Asked, Bench,
    props::{count, ms},
    read,
    talker::{
        Does::{self, *},
        Talker,
    },
};
use crate::{
    audio::{FRAME, Frame, SampleRate},
    domain::{EngineKind, Tier, TurnId},
    engine::{
        Conversation, Gate, PlayedPart, Position, PromptRecord, ReplyPort, SessionLimits,
        SpeechToSpeech, TurnReport, VoiceEngine, said,
    },
    logic::prompt::PromptPart,
    provider::SpeechItem,
};

mod faults;
mod fixed;
mod length;

const ROLL: &str = r#"{"expression":"2d6"}"#;
const LIMITS: SessionLimits =
    SessionLimits { max_age: Duration::from_secs(3_300), idle: Duration::from_secs(60) };

/// An NPC at a table, turn after turn.
struct Seat {
    bench: Bench,
    talker: Arc<Talker>,
    engine: SpeechToSpeech,
    conversation: Conversation,
    turns: u64,
    /// Speech of the next turn.
    said: Vec<Frame>,
    /// Words of the final transcript, if they differ.
    final_words: Option<&'static str>,
}

/// Result of a turn.
struct Answered {
    report: TurnReport,
    /// Sentences in order; fillers in brackets.
    sentences: Vec<String>,
    frames: usize,
    /// Its recorded prompt.
    parts: Vec<PromptPart>,
}

impl Seat {
    fn of(bench: Bench, talker: Talker) -> Self {
        let talker = Arc::new(talker);
        let service = Arc::clone(&talker) as _;
        let engine = SpeechToSpeech::new(service, bench.engine(), LIMITS, false);
        let (conversation, said) = (bench.conversation(), frames(0..50));
        Self { conversation, bench, talker, engine, turns: 0, said, final_words: None }
    }

    fn new() -> Self {
        Self::of(Bench::new(), Talker::default())
    }

    /// One turn, played as far as `heard` decides.
    async fn turn(&mut self, heard: impl FnOnce(&Answered) -> PlayedPart) -> Answered {
        self.turn_until(heard, &CancellationToken::new()).await
    }

    async fn turn_until(
        &mut self,
        heard: impl FnOnce(&Answered) -> PlayedPart,
        cancel: &CancellationToken,
    ) -> Answered {
        let answered = self.unsettled(heard, cancel).await;
        self.warm().await;
        answered
    }

    /// Like [`Self::turn_until`], on a machine that has not prepared the next turn yet.
    async fn unsettled(
        &mut self,
        heard: impl FnOnce(&Answered) -> PlayedPart,
        cancel: &CancellationToken,
    ) -> Answered {
        self.turns += 1;
        let (_keep, gate) = watch::channel(Gate { confirmed: true, playing: usize::MAX });
        let excerpt = self.conversation.excerpt(&self.bench.host());
        let Asked { turn, .. } = self.bench.turn(gate, cancel);
        let audio = self.said.clone().into();
        let turn = Arc::new(super::Turn { conversation: excerpt, audio, ..turn });
        let (to, mut replies) = mpsc::channel(512);
        let making = self.engine.start(Arc::clone(&turn), ReplyPort::new(TurnId(self.turns), to));
        let reading = read(&mut replies);
        let both = async { tokio::join!(making, reading) };
        let (mut report, (sentences, frames)) = timeout(ms(60_000), both).await.expect("it ends");
        if let Some(words) = self.final_words {
            // Like a table after a complete answer.
            turn.final_words.set(words.to_owned()).unwrap();
            report.said = said(&turn);
        }
        let parts = turn.prompt.as_ref().and_then(PromptRecord::take).unwrap_or_default();
        let answered = Answered { report, sentences, frames, parts };
        let heard = heard(&answered);
        self.engine.played(&heard);
        self.conversation.add(&answered.report, &heard.text);
        answered
    }

    /// Prepares the next turn as a table does, without the wait for the session's end.
    async fn warm(&self) {
        let warming = self.engine.warm(self.conversation.excerpt(&self.bench.host()));
        let _ = timeout(ms(5_000), warming).await;
    }

    fn answers(&self, script: &[Does]) -> &Self {
        self.talker.then(script);
        self
    }

    /// Passes on the speech so far; returns the orders that the service receives.
    async fn hears(&mut self, said: &[Frame]) -> Vec<String> {
        let before = self.talker.ordered().len();
        self.engine.receive(&said.iter().cloned().collect());
        tokio::time::sleep(ms(1)).await;
        self.talker.ordered().split_off(before)
    }
}

/// Frames of an utterance, different from all others.
pub fn frames(samples: Range<i16>) -> Vec<Frame> {
    let rate = SampleRate::HZ_16000;
    samples.map(|it| Frame::new(vec![it; rate.frame_len()], rate).unwrap()).collect()
}

/// All of it was played.
fn whole(answered: &Answered) -> PlayedPart {
    let sentence = answered.sentences.len().saturating_sub(1);
    let audio = FRAME * u32::try_from(answered.frames).unwrap();
    let spoken = answered.sentences.iter().filter(|it| !it.starts_with('['));
    let text = spoken.cloned().collect::<Vec<_>>().join(" ");
    PlayedPart {
        text,
        audio,
        position: Some(Position { sentence, into: audio }),
        ..PlayedPart::default()
    }
}

fn by(report: &TurnReport) -> (EngineKind, Option<&str>) {
    (report.engine.kind, report.engine.because.as_deref())
}

#[tokio::test(start_paused = true)]
async fn speech_of_a_model_is_passed_on() {
    let mut seat = Seat::new();
    seat.answers(&[Say("Wipe your boots.", 1_000)]);
    let answered = seat.turn(whole).await;
    assert_eq!(answered.sentences, ["Wipe your boots."]);
    assert!((50..=52).contains(&answered.frames), "{}", answered.frames);
    assert_eq!(by(&answered.report), (EngineKind::SpeechToSpeech, None));
    assert_eq!(answered.report.failure, None);
    let ordered = seat.talker.ordered();
    assert!(ordered[0] == "tools long look roll slow", "{ordered:?}");
    assert!(ordered[1].contains("Thorin: (you hear the words themselves)"), "{ordered:?}");
    assert_eq!(ordered.iter().filter(|it| *it == "sound").count(), 50);
    assert_eq!(ordered[52..], ["commit", "answer"]);
    let prompt = answered.parts.last().expect("its prompt is recorded");
    assert!(prompt.text.ends_with("Thorin: (you hear the words themselves)"), "{prompt:?}");
}

#[tokio::test(start_paused = true)]
async fn sound_is_sent_while_it_is_said() {
    let mut seat = Seat::new();
    seat.warm().await;
    let said = frames(0..50);
    assert_eq!(seat.hears(&said[..20]).await, ["sound"; 20]);
    assert_eq!(seat.hears(&said[..20]).await, [""; 0]);
    assert_eq!(seat.hears(&said[..35]).await, ["sound"; 15]);
    let before = seat.talker.ordered().len();
    seat.turn(whole).await;
    let turn = seat.talker.ordered().split_off(before);
    assert!(turn[0].starts_with("tools") && turn[1].starts_with("said"), "{turn:?}");
    assert_eq!(turn[2..17], ["sound"; 15]);
    assert_eq!(turn[17..], ["commit", "answer"]);
    // The next one differs.
    assert_eq!(seat.hears(&said[..3]).await, ["sound"; 3]);
}

#[tokio::test(start_paused = true)]
async fn sound_for_others_is_taken_back() {
    let mut seat = Seat::new();
    seat.warm().await;
    seat.hears(&frames(100..130)).await;
    assert_eq!(seat.hears(&[]).await, ["clear"]);
    assert_eq!(seat.hears(&[]).await, [""; 0]);
    seat.hears(&frames(100..130)).await;
    let before = seat.talker.ordered().len();
    seat.turn(whole).await;
    let turn = seat.talker.ordered().split_off(before);
    assert_eq!(turn[2], "clear", "somebody else has said something: {turn:?}");
    assert_eq!(turn[3..53], ["sound"; 50]);
    assert_eq!(turn[53..], ["commit", "answer"]);
}

#[tokio::test(start_paused = true)]
async fn sound_without_end_is_not_sent_ahead() {
    let mut seat = Seat::new();
    seat.warm().await;
    assert_eq!(seat.hears(&frames(0..1_500)).await.len(), 1_500);
    assert_eq!(seat.hears(&frames(0..1_501)).await, [""; 0]);
    assert_eq!(seat.hears(&frames(1..1_601)).await, [""; 0], "only the newest 32 s are kept");
    seat.said = frames(1..1_601);
    let before = seat.talker.ordered().len();
    seat.turn(whole).await;
    let turn = seat.talker.ordered().split_off(before);
    assert_eq!(turn.iter().filter(|it| *it == "sound").count(), 1_600);
    assert!(turn.contains(&"clear".to_owned()), "{turn:?}");
}

#[tokio::test(start_paused = true)]
async fn session_is_not_closed_while_it_hears() {
    let mut seat = Seat::new();
    let warming = seat.engine.warm(seat.conversation.excerpt(&seat.bench.host()));
    let closing = tokio::spawn(warming);
    tokio::time::sleep(ms(59_990)).await;
    seat.hears(&frames(0..50)).await;
    closing.await.unwrap();
    seat.turn(whole).await;
    assert_eq!(seat.talker.sessions(), 1);
}

#[tokio::test(start_paused = true)]
async fn same_tools_are_declared_once() {
    let mut seat = Seat::new();
    for tier in [Tier::Standard, Tier::Standard, Tier::Fast, Tier::Fast] {
        seat.bench.tier = tier;
        seat.turn(whole).await;
    }
    let declared = seat.talker.ordered();
    let declared = declared.iter().filter(|it| it.starts_with("tools")).collect::<Vec<_>>();
    assert_eq!(declared, ["tools long look roll slow", "tools look roll slow"]);
    assert_eq!(seat.talker.sessions(), 1);
}

#[tokio::test(start_paused = true)]
async fn call_of_a_model_runs_and_its_result_goes_back() {
    let mut seat = Seat::new();
    seat.answers(&[Call("roll", ROLL)]).answers(&[Say("Eleven.", 500)]);
    let answered = seat.turn(whole).await;
    assert_eq!((count(&seat.bench.tools.roll), answered.report.calls.len()), (1, 1));
    assert_eq!(answered.sentences, ["Eleven."]);
    let ordered = seat.talker.ordered();
    assert_eq!(ordered[53..], ["answer", "result call-101", "answer"]);
    let messages = format!("{:?}", seat.conversation.messages());
    assert!(messages.contains("total") && messages.contains("Eleven."), "{messages}");
}

#[tokio::test(start_paused = true)]
async fn answer_is_truncated_where_it_was_heard() {
    let mut seat = Seat::new();
    seat.answers(&[Say("The caravan never came in.", 3_000)]);
    seat.turn(|_| PlayedPart {
        text: "The caravan…".to_owned(),
        audio: ms(1_240),
        position: Some(Position { sentence: 0, into: ms(1_240) }),
        ..PlayedPart::default()
    })
    .await;
    assert_eq!(seat.talker.ordered().last().unwrap(), "truncate item-101 1240");
    seat.turn(whole).await;
    assert_eq!(seat.talker.sessions(), 1, "it knows what was heard");
}

#[tokio::test(start_paused = true)]
async fn other_words_for_its_sound_keep_the_session() {
    let mut seat = Seat::new();
    seat.final_words = Some("bowl for me");
    seat.turn(whole).await;
    seat.final_words = None;
    seat.turn(whole).await;
    assert_eq!(seat.talker.sessions(), 1, "it heard the sound itself");
    let messages = format!("{:?}", seat.conversation.messages());
    assert!(messages.contains("Thorin: bowl for me"), "{messages}");
}

#[tokio::test(start_paused = true)]
async fn only_a_model_that_hears_answers_the_sound() {
    let mut seat = Seat::new();
    seat.turn(whole).await;
    assert!(seat.engine.answers_sound());
    seat.answers(&[Stall]);
    assert_eq!(by(&seat.turn(whole).await.report).0, EngineKind::Cascaded);
    assert!(!seat.engine.answers_sound(), "the cascade goes by the words");
    seat.turn(whole).await;
    assert!(seat.engine.answers_sound());
    seat.said = Vec::new();
    seat.turn(whole).await;
    assert!(!seat.engine.answers_sound(), "it was typed");
}

#[tokio::test(start_paused = true)]
async fn interrupted_answer_is_cancelled_first() {
    let mut seat = Seat::new();
    seat.answers(&[Say("The caravan never came in.", 2_000), Stall]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(ms(400)).await;
        stop.cancel();
    });
    let heard = PlayedPart {
        text: "The…".to_owned(),
        audio: ms(400),
        position: Some(Position { sentence: 0, into: ms(400) }),
        ..PlayedPart::default()
    };
    seat.turn_until(|_| heard, &cancel).await;
    let ordered = seat.talker.ordered();
    assert_eq!(ordered[ordered.len() - 2..], ["cancel", "truncate item-101 400"]);
    seat.turn(whole).await;
    assert_eq!(seat.talker.sessions(), 1);
}

#[tokio::test(start_paused = true)]
async fn session_lost_in_a_barge_in_is_replaced() {
    let mut seat = Seat::new();
    seat.answers(&[Say("The caravan never came in.", 2_000), Vanish]);
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(ms(400)).await;
        stop.cancel();
    });
    let position = Some(Position { sentence: 0, into: ms(400) });
    let heard =
        PlayedPart { text: "The…".to_owned(), audio: ms(400), position, ..PlayedPart::default() };
    seat.turn_until(|_| heard, &cancel).await;
    let report = seat.turn(whole).await.report;
    assert_eq!(by(&report), (EngineKind::SpeechToSpeech, None));
    assert!(format!("{:?}", seat.talker.before(1)).contains("The…"), "it knows what was heard");
}

#[tokio::test(start_paused = true)]
async fn preparing_late_leaves_the_session_open() {
    let mut seat = Seat::new();
    seat.turn(whole).await;
    let late = seat.engine.warm(seat.conversation.excerpt(&seat.bench.host()));
    seat.turn(whole).await;
    let _ = timeout(ms(5_000), late).await;
    seat.turn(whole).await;
    assert_eq!(seat.talker.sessions(), 1);
}

#[tokio::test(start_paused = true)]
async fn answer_before_the_cascades_is_truncated() {
    let mut bench = Bench::new();
    bench.npc.s2s.slow_tool = ms(500);
    let mut seat = Seat::of(bench, Talker::default());
    seat.answers(&[Say("The caravan never came in.", 3_000)]);
    let first = |_: &Answered| PlayedPart {
        text: "The caravan…".to_owned(),
        audio: ms(1_240),
        position: Some(Position { sentence: 0, into: ms(1_240) }),
        ..PlayedPart::default()
    };
    seat.unsettled(first, &CancellationToken::new()).await;
    seat.bench.asked = true;
    let report = seat.turn(whole).await.report;
    assert_eq!(by(&report).0, EngineKind::Cascaded);
    let ordered = seat.talker.ordered();
    assert!(ordered.contains(&"truncate item-101 1240".to_owned()), "{ordered:?}");
}

#[tokio::test(start_paused = true)]
async fn retracted_turn_starts_fresh_session() {
    let mut seat = Seat::new();
    seat.turn(whole).await;
    seat.conversation.retract();
    seat.warm().await;
    assert_eq!(seat.talker.sessions(), 2, "the words that it may know are gone");
}

#[tokio::test(start_paused = true)]
async fn unheard_answer_leaves_a_fresh_session() {
    let mut seat = Seat::new();
    seat.turn(|_| PlayedPart::default()).await;
    assert_eq!(seat.talker.sessions(), 2, "nothing of it is in our conversation");
    assert_eq!(seat.talker.before(1), []);
}

#[tokio::test(start_paused = true)]
async fn silent_model_is_answered_for_by_the_cascade() {
    let mut seat = Seat::new();
    seat.answers(&[Stall]);
    let begun = Instant::now();
    let answered = seat.turn(whole).await;
    assert_eq!(answered.sentences, ["Well met."]);
    let (engine, why) = by(&answered.report);
    assert_eq!(engine, EngineKind::Cascaded);
    assert!(why.unwrap().contains("says nothing"), "{why:?}");
    assert!((ms(3_000)..ms(9_000)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    assert_eq!(answered.report.news.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn cascaded_reply_reaches_next_s2s_session() {
    let mut seat = Seat::new();
    seat.answers(&[Say("Ale?", 500)]);
    seat.turn(whole).await;
    seat.bench.npc.s2s.slow_tool = ms(500);
    seat.engine =
        SpeechToSpeech::new(Arc::clone(&seat.talker) as _, seat.bench.engine(), LIMITS, true);
    let answered = seat.turn(whole).await;
    assert_eq!(by(&answered.report).0, EngineKind::Cascaded);
    seat.engine =
        SpeechToSpeech::new(Arc::clone(&seat.talker) as _, seat.bench.engine(), LIMITS, false);
    seat.turn(whole).await;
    let before = seat.talker.before(1);
    let texts = format!("{before:?}");
    assert!(matches!(before[0], SpeechItem::Said(_)), "{texts}");
    assert!(texts.contains("Ale?") && texts.contains("Well met."), "{texts}");
}

#[tokio::test(start_paused = true)]
async fn call_that_ran_does_not_run_again() {
    let mut seat = Seat::new();
    seat.answers(&[Call("roll", ROLL)]).answers(&[Cut]);
    seat.bench.model.then(&[super::props::Step::Text("It is eleven.")]);
    let answered = seat.turn(whole).await;
    assert_eq!(answered.sentences, ["It is eleven."]);
    assert_eq!((count(&seat.bench.tools.roll), answered.report.calls.len()), (1, 1));
    assert!(seat.bench.model.read(0).contains(r#"{\"total\":11}"#), "it reads what came of it");
    assert_eq!(answered.report.exchange.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn cascade_goes_on_after_what_was_said() {
    let mut seat = Seat::new();
    seat.answers(&[Say("The caravan left by the", 900), Cut]);
    seat.bench.model.then(&[super::props::Step::Text("north gate.")]);
    let answered = seat.turn(whole).await;
    assert_eq!(answered.sentences, ["The caravan left by the", "north gate."]);
    assert!(seat.bench.model.read(0).contains("Go on from there"), "{}", seat.bench.model.read(0));
    assert!(answered.frames > 90, "{}", answered.frames);
}

#[tokio::test(start_paused = true)]
async fn model_that_fails_three_times_rests() {
    let mut seat = Seat::of(Bench::new(), Talker::refusing(Duration::ZERO));
    let mut news = Vec::new();
    for _ in 0..5 {
        news.extend(seat.turn(whole).await.report.news);
    }
    assert_eq!(news.len(), 2, "{news:?}");
    assert!(news[1].contains("10 minutes"), "{news:?}");
    let tried = seat.talker.sessions();
    tokio::time::advance(Duration::from_secs(601)).await;
    seat.turn(whole).await;
    assert!(seat.talker.sessions() > tried, "it is tried again");
}

#[tokio::test(start_paused = true)]
async fn requested_slow_tool_goes_to_cascade() {
    let mut bench = Bench::new();
    bench.npc.s2s.slow_tool = ms(500);
    let mut seat = Seat::of(bench, Talker::default());
    assert_eq!(by(&seat.turn(whole).await.report).0, EngineKind::SpeechToSpeech);
    seat.bench.asked = true;
    let report = seat.turn(whole).await.report;
    assert_eq!(
        by(&report),
        (EngineKind::Cascaded, Some("stub.long takes 900 ms, and slow_tool_ms is 500"))
    );
}

#[tokio::test(start_paused = true)]
async fn speaker_needing_slow_tools_gets_cascade() {
    let mut bench = Bench::new();
    bench.npc.s2s.slow_tool = ms(500);
    let mut seat = Seat::of(bench, Talker::default());
    for _ in 0..2 {
        seat.answers(&[Call("long", "{}")]).answers(&[Say("Done.", 500)]);
        assert_eq!(by(&seat.turn(whole).await.report), (EngineKind::SpeechToSpeech, None));
    }
    let why = "the last 2 turns of Thorin needed tools as slow as stub.long";
    assert_eq!(by(&seat.turn(whole).await.report), (EngineKind::Cascaded, Some(why)));
    let report = seat.turn(whole).await.report;
    assert_eq!(by(&report), (EngineKind::SpeechToSpeech, None), "it called none");
}

#[tokio::test(start_paused = true)]
async fn turn_does_not_wait_for_two_failures() {
    let seat = &mut Seat::of(Bench::new(), Talker::refusing(ms(3_000)));
    let warming = seat.engine.warm(seat.conversation.excerpt(&seat.bench.host()));
    tokio::spawn(warming);
    tokio::task::yield_now().await;
    let begun = Instant::now();
    let report = seat.turn(whole).await.report;
    assert_eq!(by(&report).0, EngineKind::Cascaded);
    let first = report.first_text_at.expect("the cascade answers") - begun;
    assert!((ms(3_000)..ms(4_000)).contains(&first), "{first:?}");
}

#[tokio::test(start_paused = true)]
async fn old_session_is_replaced() {
    let mut seat = Seat::new();
    seat.turn(whole).await;
    tokio::time::advance(Duration::from_secs(3_400)).await;
    seat.turn(whole).await;
    assert_eq!(seat.talker.sessions(), 2);
    assert!(format!("{:?}", seat.talker.before(1)).contains("Well met."));
}
