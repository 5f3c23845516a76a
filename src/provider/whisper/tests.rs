//! The crew and the listening, with a transcription that reports its input.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use futures::{FutureExt, StreamExt};
use tokio::{sync::mpsc, time::timeout};

use super::{
    crew::{Crew, RecognisedText, Sound, Urgency},
    listening::listening,
};
use crate::{
    audio::{Frame, SampleRate},
    provider::SpeechEvent,
};

/// Longest wait in these tests.
const BOUND: Duration = Duration::from_secs(120);

/// Fails after [`BOUND`].
async fn soon<T>(awaited: impl Future<Output = T>) -> T {
    timeout(BOUND, awaited).await.expect("in time")
}

/// Starts and ends transcriptions one by one.
#[derive(Default)]
struct Door {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    begun: Vec<String>,
    stopped: Vec<String>,
    may_end: usize,
}

impl Door {
    /// A crew of `size` whose tasks wait for [`Self::let_out`] and return their prompt.
    fn crew(self: &Arc<Self>, size: usize) -> Crew {
        self.counting(size, &Arc::default())
    }

    /// Like [`Self::crew`], with each task's number of threads in `counts`.
    fn counting(self: &Arc<Self>, size: usize, counts: &Arc<Mutex<Vec<usize>>>) -> Crew {
        let (door, counts) = (Arc::clone(self), Arc::clone(counts));
        Crew::new(
            size,
            Box::new(move |_, sound, threads, stops| {
                counts.lock().unwrap().push(threads);
                let prompt = sound.prompt.to_string();
                assert_ne!(prompt, "breaks down");
                let mut state = door.state.lock().unwrap();
                state.begun.push(prompt.clone());
                door.changed.notify_all();
                loop {
                    if stops() {
                        state.stopped.push(prompt);
                        door.changed.notify_all();
                        return Ok(None);
                    }
                    if state.may_end > 0 {
                        state.may_end -= 1;
                        return Ok(Some(RecognisedText { text: prompt, is_unclear: false }));
                    }
                    let wait = door.changed.wait_timeout(state, Duration::from_millis(1));
                    state = wait.unwrap().0;
                }
            }),
        )
    }

    fn let_out(&self, hearings: usize) {
        self.state.lock().unwrap().may_end += hearings;
        self.changed.notify_all();
    }

    fn until(&self, is_so: impl Fn(&State) -> bool) {
        let state = self.state.lock().unwrap();
        let (_state, waited) =
            self.changed.wait_timeout_while(state, BOUND, |state| !is_so(state)).unwrap();
        assert!(!waited.timed_out());
    }
}

fn sound(prompt: &str) -> Sound {
    Sound { frames: vec![frame()], prompt: prompt.into(), is_sought: false }
}

fn frame() -> Frame {
    Frame::padded(&[1; 320], SampleRate::HZ_16000)
}

#[tokio::test]
async fn partials_give_way_to_what_was_said() {
    let door = Arc::<Door>::default();
    let crew = door.crew(1);
    let partial = crew.ask(sound("partial"), Urgency::Partial).unwrap();
    door.until(|state| state.begun == ["partial"]);
    let waits = crew.ask(sound("waits"), Urgency::Partial).unwrap();
    let last = crew.ask(sound("final"), Urgency::Final).unwrap();
    door.until(|state| state.stopped == ["partial"] && state.begun == ["partial", "final"]);
    door.let_out(2);
    assert!(soon(partial).await.is_err(), "it gave way");
    assert_eq!(soon(last).await.unwrap().unwrap().text, "final");
    assert_eq!(soon(waits).await.unwrap().unwrap().text, "waits");
}

#[tokio::test]
async fn requests_run_in_order_on_limited_threads() {
    let door = Arc::<Door>::default();
    let crew = door.crew(2);
    let speakers = ["a", "b", "c", "d", "e"];
    let mut answers: Vec<_> = speakers
        .iter()
        .map(|speaker| crew.ask(sound(speaker), Urgency::Partial).unwrap())
        .collect();
    door.until(|state| state.begun.len() == 2);
    // The answer to "c" is no longer wanted.
    drop(answers.remove(2));
    door.let_out(4);
    for (answer, speaker) in answers.into_iter().zip(["a", "b", "d", "e"]) {
        assert_eq!(soon(answer).await.unwrap().unwrap().text, speaker);
    }
    // Two threads take them in order and arrive at the door in any.
    let state = door.state.lock().unwrap();
    let begun = |places: Range<usize>| state.begun[places].iter().collect::<BTreeSet<_>>();
    assert_eq!(state.begun.len(), 4, "{:?}", state.begun);
    assert!(begun(0..2).into_iter().eq(["a", "b"]) && begun(2..4).into_iter().eq(["d", "e"]));
}

#[tokio::test]
async fn first_final_has_all_threads() {
    for (urgency, expected) in [(Urgency::Final, "3"), (Urgency::Partial, "1")] {
        let crew = Crew::new(
            3,
            Box::new(|_, _, threads, _| {
                Ok(Some(RecognisedText { text: threads.to_string(), is_unclear: false }))
            }),
        );
        let answer = crew.ask(sound("first"), urgency).unwrap();
        assert_eq!(soon(answer).await.unwrap().unwrap().text, expected, "{urgency:?}");
    }
    // A thread that works is not idle.
    let (door, counts) = (Arc::<Door>::default(), Arc::<Mutex<Vec<usize>>>::default());
    let crew = door.counting(3, &counts);
    let partial = crew.ask(sound("partial"), Urgency::Partial).unwrap();
    door.until(|state| state.begun == ["partial"]);
    let last = crew.ask(sound("final"), Urgency::Final).unwrap();
    door.until(|state| state.begun == ["partial", "final"]);
    door.let_out(2);
    soon(partial).await.unwrap().unwrap();
    soon(last).await.unwrap().unwrap();
    assert_eq!(*counts.lock().unwrap(), [1, 2]);
}

#[tokio::test]
async fn panicking_recognition_does_not_affect_others() {
    let door = Arc::<Door>::default();
    let crew = door.crew(1);
    let broken = crew.ask(sound("breaks down"), Urgency::Final).unwrap();
    let next = crew.ask(sound("next"), Urgency::Final).unwrap();
    door.let_out(1);
    assert!(soon(broken).await.is_err());
    assert_eq!(soon(next).await.unwrap().unwrap().text, "next");
}

#[tokio::test]
async fn excess_utterances_refused_partials_dropped() {
    let door = Arc::<Door>::default();
    let crew = door.crew(1);
    let first = crew.ask(sound("first"), Urgency::Final).unwrap();
    door.until(|state| state.begun == ["first"]);
    let ask = |urgency| crew.ask(sound("more"), urgency);
    let waiting: Vec<_> = (0..64).map(|_| ask(Urgency::Final).unwrap()).collect();
    let refused = ask(Urgency::Final).unwrap_err().to_string();
    assert!(refused.contains("64") && refused.contains("speak again"), "{refused}");
    let partials: Vec<_> = (0..65).map(|_| ask(Urgency::Partial).unwrap()).collect();
    let dropped = partials.into_iter().next_back().unwrap();
    assert!(soon(dropped).await.is_err(), "there was no room");
    drop(waiting);
    ask(Urgency::Final).expect("who has gone makes room");
    drop(first);
}

/// Returns the number of frames.
fn counting() -> Arc<Crew> {
    let heard =
        |sound: &Sound| RecognisedText { text: sound.frames.len().to_string(), is_unclear: false };
    Arc::new(Crew::new(1, Box::new(move |_, sound, _, _| Ok(Some(heard(sound))))))
}

fn pause(text: &str) -> SpeechEvent {
    SpeechEvent::Pause { text: text.to_owned() }
}

#[tokio::test]
async fn pause_is_heard_early_and_again_after_speech() {
    let (to, audio) = mpsc::channel(64);
    let mut events = Box::pin(listening(counting(), "".into(), audio));
    for _ in 0..10 {
        to.send(frame()).await.unwrap();
    }
    let next = soon(events.next()).await.unwrap().unwrap();
    assert_eq!(next, pause("10"), "the whole, although nobody has said that it is");
    for _ in 0..5 {
        to.send(frame()).await.unwrap();
    }
    let next = soon(events.next()).await.unwrap().unwrap();
    assert_eq!(next, pause("15"));
    drop(to);
    let last = soon(events.next()).await.unwrap().unwrap();
    assert_eq!(last, SpeechEvent::Final { text: "15".to_owned() });
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn pause_words_come_before_the_likelier_text() {
    let crew = Crew::new(
        1,
        Box::new(|_, sound, _, _| {
            let text = if sound.is_sought { "Bartok!" } else { "Bar talk!" };
            Ok(Some(RecognisedText { text: text.to_owned(), is_unclear: !sound.is_sought }))
        }),
    );
    let (to, audio) = mpsc::channel(64);
    let mut events = Box::pin(listening(Arc::new(crew), "".into(), audio));
    to.send(frame()).await.unwrap();
    for text in ["Bar talk!", "Bartok!"] {
        assert_eq!(soon(events.next()).await.unwrap().unwrap(), pause(text));
    }
    to.send(frame()).await.unwrap();
    assert_eq!(soon(events.next()).await.unwrap().unwrap(), pause("Bar talk!"));
    drop(to);
    let mut last = soon(events.next()).await.unwrap().unwrap();
    if last == pause("Bartok!") {
        // The pause was still being transcribed when the utterance ended.
        last = soon(events.next()).await.unwrap().unwrap();
    }
    assert_eq!(last, SpeechEvent::Final { text: "Bartok!".to_owned() });
}

#[tokio::test(start_paused = true)]
async fn quiet_pause_is_noticed_sooner_than_noisy_one() {
    let noticed = async |last: i16| {
        let (to, audio) = mpsc::channel(64);
        let mut events = Box::pin(listening(counting(), "".into(), audio));
        for number in 0..16 {
            let level = if number < 10 { 1_000 } else { last };
            let frame = Frame::padded(&[level; 320], SampleRate::HZ_16000);
            to.send(frame).await.unwrap();
        }
        let begun = tokio::time::Instant::now();
        assert_eq!(events.next().await.unwrap().unwrap(), pause("16"));
        begun.elapsed()
    };
    let [quiet, noisy] = [noticed(90).await, noticed(200).await];
    assert!(quiet < Duration::from_millis(80) && noisy >= Duration::from_millis(80));
}

#[tokio::test(start_paused = true)]
async fn partials_arrive_during_speech() {
    // Blocking work keeps paused time from advancing while the crew's thread works.
    let (_frozen, until_dropped) = std::sync::mpsc::channel::<()>();
    tokio::task::spawn_blocking(move || until_dropped.recv());
    let (to, audio) = mpsc::channel(64);
    let mut events = Box::pin(listening(counting(), "".into(), audio));
    let mut told = Vec::new();
    // The first partial is due at 500 ms of speech, the second one 400 ms later.
    for (frames, partials) in [(26, 1), (25, 2)] {
        for _ in 0..frames {
            to.send(frame()).await.unwrap();
            told.extend(events.next().now_or_never());
            tokio::time::advance(Duration::from_millis(20)).await;
        }
        if told.len() < partials {
            told.push(events.next().await);
        }
    }
    let heard = told.into_iter().map(|event| match event {
        Some(Ok(SpeechEvent::Partial { text })) => text.parse::<usize>().unwrap(),
        other => panic!("no partial: {other:?}"),
    });
    let heard: Vec<usize> = heard.collect();
    assert!(heard.len() == 2 && heard[0] >= 25 && heard[1] > heard[0], "{heard:?}");
}

#[tokio::test]
async fn dropped_stream_stops_the_recognition() {
    let door = Arc::<Door>::default();
    let crew = Arc::new(door.crew(1));
    let (to, audio) = mpsc::channel(64);
    drop(to);
    let events: Vec<_> = soon(listening(Arc::clone(&crew), "x".into(), audio).collect()).await;
    assert_eq!(
        events.into_iter().next().unwrap().unwrap(),
        SpeechEvent::Final { text: String::new() }
    );
    let (to, audio) = mpsc::channel(64);
    to.send(frame()).await.unwrap();
    drop(to);
    let mut events = Box::pin(listening(crew, "dropped".into(), audio));
    let asked = timeout(Duration::from_millis(1), events.next()).await;
    assert!(asked.is_err());
    door.until(|state| state.begun == ["dropped"]);
    drop(events);
    door.until(|state| state.stopped == ["dropped"]);
}
