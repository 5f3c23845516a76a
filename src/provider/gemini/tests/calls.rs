//! Awaited calls: the parts of their round, and what follows it.

use std::time::Duration;

use tokio::time::{Instant, advance};

use super::*;

const SECOND: usize = 24_000;

/// Calls of a round, and the text tokens read for it.
type Round = (Vec<String>, Option<u64>);

fn round(calls: &[&str], read: Option<u64>) -> Round {
    (calls.iter().map(|id| (*id).to_owned()).collect(), read)
}

fn rounds(bench: &mut Bench) -> Vec<Round> {
    let (mut rounds, mut calls) = (Vec::new(), Vec::new());
    for event in bench.told() {
        match event {
            SpeechSessionEvent::Call(call) => calls.push(call.id.0),
            SpeechSessionEvent::Done(done) => {
                let read = done.usage.map(|usage| usage.text_in);
                rounds.push((std::mem::take(&mut calls), read));
            }
            _ => {}
        }
    }
    assert_eq!(calls, [""; 0], "calls without an end");
    rounds
}

/// A call before any token count.
fn unbilled(id: &str) -> Value {
    json!({"toolCall": {"functionCalls": [{"id": id, "name": "roll", "args": {}}]}})
}

/// The end of a turn with this many input tokens.
fn over(read: u64) -> Value {
    json!({"serverContent": {"turnComplete": true}, "usageMetadata": {"promptTokenCount": read}})
}

/// Sends the results of these calls and asks for the next answer.
fn answer_to(bench: &mut Bench, calls: &[&str]) {
    calls.iter().for_each(|id| bench.order(result(id)));
    bench.order(answer());
    assert_eq!(bench.sent(), ["toolResponse"]);
}

#[tokio::test]
async fn tokens_after_a_call_are_of_its_round() {
    let mut bench = Bench::answering();
    bench.says(&unbilled("c1"));
    assert!(rounds(&mut bench).is_empty(), "its tokens may follow");
    bench.says(&words("", true));
    bench.says(&json!({"serverContent": {"generationComplete": true}}));
    bench.says(&over(700));
    assert_eq!(rounds(&mut bench), [round(&["c1"], Some(700))]);
    answer_to(&mut bench, &["c1"]);
    bench.says(&audio(480));
    bench.says(&over(900));
    assert_eq!(rounds(&mut bench), [round(&[], Some(900))]);
}

/// A token count by itself.
fn counted(read: u64) -> Value {
    json!({"usageMetadata": {"promptTokenCount": read}})
}

#[tokio::test]
async fn later_smaller_counts_change_nothing() {
    let mut bench = Bench::answering();
    bench.says(&audio(SECOND / 2));
    bench.says(&counted(900));
    bench.says(&over(0));
    assert_eq!(rounds(&mut bench), [round(&[], Some(900))]);
    // Also for calls that arrive after their round.
    let mut bench = Bench::answering();
    bench.says(&call("c1", "roll"));
    assert_eq!(rounds(&mut bench), [round(&["c1"], Some(5))]);
    bench.says(&unbilled("c2"));
    [700, 0].iter().for_each(|read| bench.says(&counted(*read)));
    answer_to(&mut bench, &["c1"]);
    assert_eq!(rounds(&mut bench), [round(&["c2"], Some(700))]);
}

#[tokio::test(start_paused = true)]
async fn late_tokens_are_of_no_other_round() {
    let mut bench = Bench::answering();
    bench.says(&unbilled("c1"));
    let wait = bench.talk.due().unwrap() - Instant::now();
    assert!(wait <= Duration::from_millis(150), "{wait:?}");
    advance(wait).await;
    bench.talk.overdue().unwrap();
    assert_eq!(rounds(&mut bench), [round(&["c1"], None)]);
    answer_to(&mut bench, &["c1"]);
    bench.says(&over(700));
    assert!(rounds(&mut bench).is_empty(), "it was the end of the turn before");
    bench.says(&audio(480));
    bench.says(&over(300));
    assert_eq!(rounds(&mut bench), [round(&[], Some(300))]);
}

#[tokio::test]
async fn calls_of_two_messages_are_one_round() {
    let mut bench = Bench::answering();
    bench.says(&unbilled("c1"));
    bench.says(&audio(480));
    bench.says(&call("c2", "roll"));
    assert_eq!(rounds(&mut bench), [round(&["c1", "c2"], Some(5))]);
    answer_to(&mut bench, &["c1", "c2"]);
    bench.says(&audio(SECOND / 2));
    bench.says(&over(900));
    assert_eq!(rounds(&mut bench), [round(&[], Some(900))]);
}

#[tokio::test]
async fn call_after_its_round_is_of_the_next() {
    let mut bench = Bench::answering();
    bench.says(&call("c1", "roll"));
    assert_eq!(rounds(&mut bench), [round(&["c1"], Some(5))]);
    bench.says(&call("c2", "roll"));
    assert!(rounds(&mut bench).is_empty(), "nobody has asked for more");
    answer_to(&mut bench, &["c1"]);
    assert_eq!(rounds(&mut bench), [round(&["c2"], Some(5))]);
    answer_to(&mut bench, &["c2"]);
    bench.says(&audio(SECOND / 2));
    bench.says(&over(900));
    assert_eq!(rounds(&mut bench), [round(&[], Some(900))]);
}

#[tokio::test]
async fn late_call_that_is_taken_back_never_runs() {
    let mut bench = Bench::answering();
    bench.says(&call("c1", "roll"));
    bench.says(&call("c2", "roll"));
    bench.says(&cancelled("c2"));
    assert_eq!(rounds(&mut bench), [round(&["c1"], Some(5))]);
    answer_to(&mut bench, &["c1"]);
    assert!(rounds(&mut bench).is_empty(), "the answer comes");
    bench.says(&audio(SECOND / 2));
    bench.says(&over(900));
    assert_eq!(rounds(&mut bench), [round(&[], Some(900))]);
}

#[tokio::test]
async fn late_call_ends_with_its_turn() {
    let mut bench = Bench::answering();
    bench.says(&call("c1", "roll"));
    bench.says(&call("c2", "roll"));
    bench.order(text());
    bench.order(answer());
    assert_eq!(bench.sent(), ["clientContent", "clientContent"]);
    assert_eq!(rounds(&mut bench), [round(&["c1"], Some(5))], "the words have interrupted it");
}

/// An answer spoke and called `c1`; the answer to its result is requested.
fn awaiting_result() -> Bench {
    let mut bench = Bench::answering();
    bench.says(&audio(SECOND));
    bench.says(&call("c1", "roll"));
    assert_eq!(bench.endings(), [SpeechEnding::Completed]);
    answer_to(&mut bench, &["c1"]);
    bench
}

fn generated() -> Value {
    json!({"serverContent": {"generationComplete": true}})
}

#[tokio::test]
async fn late_words_do_not_begin_the_next_answer() {
    let mut bench = awaiting_result();
    bench.says(&words("Let me roll.", true));
    bench.says(&generated());
    bench.turn_over();
    assert!(bench.endings().is_empty(), "it was the end of the turn before");
    bench.says(&audio(480));
    bench.turn_over();
    assert!(bench.endings().is_empty(), "the last words of the answer may still come");
    bench.says(&words("Seven!", true));
    assert_eq!(bench.endings(), [SpeechEnding::Completed]);
}

#[tokio::test]
async fn late_sound_is_not_the_next_answer() {
    for end in [generated(), json!({"serverContent": {"interrupted": true}})] {
        let mut bench = awaiting_result();
        bench.says(&audio(480));
        bench.says(&words("", true));
        bench.says(&end);
        bench.says(&over(700));
        assert!(rounds(&mut bench).is_empty(), "it was the end of the turn before");
        bench.says(&audio(SECOND / 2));
        bench.says(&words("Seven!", true));
        bench.says(&over(900));
        assert_eq!(rounds(&mut bench), [round(&[], Some(900))], "{end}");
    }
}

#[tokio::test(start_paused = true)]
async fn short_answer_ends_when_nothing_follows() {
    let mut bench = awaiting_result();
    bench.says(&audio(480));
    bench.turn_over();
    bench.says(&words("Seven!", true));
    let wait = bench.talk.due().unwrap() - Instant::now();
    assert!(wait <= Duration::from_secs(2), "{wait:?}");
    advance(wait).await;
    bench.talk.overdue().unwrap();
    assert_eq!(bench.endings(), [SpeechEnding::Completed]);
    // Its turn is over: later sound belongs to another one.
    bench.says(&audio(480));
    assert_eq!(bench.sent(), ["clientContent"]);
}

#[tokio::test]
async fn short_answer_with_a_call_is_an_answer() {
    let mut bench = awaiting_result();
    bench.says(&call("c2", "note"));
    bench.says(&audio(480));
    bench.says(&over(900));
    assert_eq!(rounds(&mut bench), [round(&["c2"], Some(900))]);
}

#[tokio::test]
async fn short_answer_that_is_broken_off_ends() {
    for reason in ["SAFETY", "MAX_TOKENS"] {
        let mut bench = awaiting_result();
        bench.says(&audio(480));
        bench.says(&json!({"usageMetadata": {"promptTokenCount": 9},
            "serverContent": {"turnComplete": true, "turnCompleteReason": reason}}));
        let wait = bench.talk.due().unwrap() - Instant::now();
        assert!(wait <= Duration::from_millis(300), "{reason}: {wait:?}");
    }
    let mut bench = awaiting_result();
    bench.says(&audio(480));
    bench.order(SpeechOrder::Cancel);
    bench.says(&json!({"serverContent": {"interrupted": true}}));
    bench.turn_over();
    assert_eq!(bench.endings(), [SpeechEnding::Cancelled]);
}
