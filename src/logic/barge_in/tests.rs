use proptest::prelude::*;

use super::*;
use crate::domain::Npc;

/// The machine, its clock and its outputs.
struct Rig {
    machine: BargeIn,
    start: Instant,
    now: Instant,
    said: Vec<(u128, Output)>,
}

impl Rig {
    /// Starts at 1,000 ms with an NPC that has been audible for a second.
    fn armed() -> Self {
        let mut rig = Self::fresh();
        rig.give(Input::Audible);
        rig.now += Duration::from_secs(1);
        rig
    }

    fn fresh() -> Self {
        let start = Instant::now();
        Self { machine: BargeIn::new(false), start, now: start, said: Vec::new() }
    }

    fn give(&mut self, input: Input<'_>) {
        if let Some(output) = self.machine.handle(self.now, input) {
            self.said.push(((self.now - self.start).as_millis(), output));
        }
    }

    fn frames(&mut self, ms: u64, voiced: bool) {
        for _ in 0..ms / 20 {
            self.give(Input::Voice(Voicing { probable: voiced, voiced }));
            self.now += FRAME;
        }
    }

    /// Lets time pass without packets.
    fn nothing(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        while let Some(at) = self.machine.wake_at().filter(|at| *at <= end) {
            self.now = at;
            self.give(Input::Tick);
        }
        self.now = end;
    }

    fn outputs(&self) -> Vec<Output> {
        self.said.iter().map(|(_, output)| *output).collect()
    }
}

const fn stop(reason: StopReason) -> Output {
    Output::Stop { reason }
}

#[test]
fn voice_is_ignored_until_npc_heard_for_250_ms() {
    let mut rig = Rig::fresh();
    rig.frames(400, true);
    rig.give(Input::Audible);
    rig.frames(240, true);
    rig.give(Input::Partial("stop"));
    assert_eq!(rig.said, []);
    rig.frames(20, true);
    rig.frames(20, true);
    assert_eq!(rig.said, [(660, Output::Duck)]);
}

#[test]
fn voice_ducks_at_once_silence_swells_at_400_ms() {
    let mut rig = Rig::armed();
    rig.give(Input::Voice(Voicing { probable: true, voiced: false }));
    rig.now += FRAME;
    rig.frames(600, false);
    assert_eq!(rig.said, [(1_000, Output::Duck), (1_400, Output::Swell)]);
    rig.frames(100, true);
    rig.nothing(1_000);
    assert_eq!(rig.said[2..], [(1_620, Output::Duck), (2_100, Output::Swell)]);
    assert_eq!(rig.machine.wake_at(), None);
}

#[test]
fn stop_word_stops_at_once_and_once() {
    for text in ["Stop!", "wait, what?", "Hold on", "no, wait", "Stopp", "Warte mal", "hör auf"] {
        let mut rig = Rig::armed();
        rig.frames(60, true);
        rig.give(Input::Partial(text));
        rig.give(Input::Partial(text));
        rig.frames(1_000, true);
        rig.give(Input::SpeechEnded);
        assert_eq!(rig.outputs(), [Output::Duck, stop(StopReason::StopWord)], "{text}");
        assert_eq!(rig.machine.wake_at(), None);
    }
}

#[test]
fn later_stop_word_counts_as_ordinary_word() {
    let mut rig = Rig::armed();
    rig.frames(200, true);
    rig.give(Input::Partial("the bus stop"));
    assert_eq!(rig.outputs(), [Output::Duck]);
    rig.frames(140, true);
    assert_eq!(rig.said[1..], [(1_300, stop(StopReason::Words))], "it has stood for 100 ms");
}

#[test]
fn listening_noises_and_laughter_never_confirm() {
    for text in [
        "mm-hm",
        "Uh-huh, okay.",
        "yeah yeah right",
        "yes?",
        "ja genau",
        "hahaha ha ha",
        "[laughter]",
        "(lacht) haha",
        "I see, of course",
    ] {
        let mut rig = Rig::armed();
        rig.frames(120, true);
        rig.give(Input::Partial(text));
        rig.frames(3_000, true);
        rig.give(Input::Partial(text));
        rig.nothing(1_000);
        assert_eq!(rig.outputs(), [Output::Duck, Output::Swell], "{text}");
    }
}

#[test]
fn word_needs_300_ms_of_voice() {
    let mut rig = Rig::armed();
    rig.frames(160, true);
    rig.give(Input::Partial("yeah but the duke"));
    rig.frames(200, false);
    rig.frames(100, true);
    assert_eq!(rig.outputs(), [Output::Duck]);
    rig.frames(40, true);
    assert_eq!(rig.outputs(), [Output::Duck, stop(StopReason::Words)]);
}

#[test]
fn words_that_come_late_confirm_what_was_heard() {
    let mut rig = Rig::armed();
    rig.frames(400, true);
    rig.nothing(500);
    rig.give(Input::Partial("what was that"));
    rig.nothing(120);
    assert_eq!(rig.outputs(), [Output::Duck, Output::Swell, stop(StopReason::Words)]);
}

#[test]
fn first_guess_needs_second_or_final_to_confirm() {
    let guessed = || {
        let mut rig = Rig::armed();
        rig.frames(320, true);
        rig.give(Input::Partial("and hand"));
        assert_eq!(rig.outputs(), [Output::Duck]);
        rig
    };
    let mut noise = guessed();
    noise.frames(60, true);
    noise.give(Input::Partial("mhm"));
    noise.give(Input::Final("mhm"));
    noise.nothing(1_000);
    assert_eq!(noise.outputs(), [Output::Duck, Output::Swell]);
    for sure in [Input::Partial("and hand me"), Input::Final("and hand")] {
        let mut rig = guessed();
        rig.give(sure);
        assert_eq!(rig.outputs(), [Output::Duck, stop(StopReason::Words)]);
    }
}

#[test]
fn little_words_say_nothing_by_themselves() {
    let mut noise = Rig::armed();
    noise.frames(320, true);
    for guess in ["the", "i'm", "and an", "and an h m", "then"] {
        noise.give(Input::Partial(guess));
        noise.frames(60, true);
    }
    noise.give(Input::Final("then"));
    noise.nothing(1_000);
    assert_eq!(noise.outputs(), [Output::Duck, Output::Swell]);
    let mut rig = Rig::armed();
    rig.frames(320, true);
    rig.give(Input::Partial("but you"));
    rig.give(Input::Partial("but you said"));
    rig.give(Input::Partial("but you said so"));
    assert_eq!(rig.outputs(), [Output::Duck, stop(StopReason::Words)]);
}

#[test]
fn partial_taken_back_does_not_confirm() {
    let mut rig = Rig::armed();
    rig.frames(200, true);
    rig.give(Input::Partial("the ham"));
    rig.give(Input::Partial("mhm"));
    rig.frames(600, true);
    assert_eq!(rig.outputs(), [Output::Duck]);
}

#[test]
fn wordless_voice_waits_for_partials_that_come() {
    let mut rig = Rig { machine: BargeIn::new(true), ..Rig::fresh() };
    rig.give(Input::Audible);
    rig.now += Duration::from_secs(1);
    rig.frames(900, true);
    rig.give(Input::Partial("mmhm"));
    rig.frames(400, true);
    assert_eq!(rig.said, [(1_000, Output::Duck)]);
    let mut rig = Rig { machine: BargeIn::new(true), ..Rig::fresh() };
    rig.give(Input::Audible);
    rig.now += Duration::from_secs(1);
    rig.frames(1_100, true);
    assert!(matches!(rig.said[1], (1_960..2_100, Output::Stop { reason: StopReason::Voice })));
}

#[test]
fn textless_voice_confirms_after_700_ms() {
    let mut rig = Rig::armed();
    for _ in 0..4 {
        rig.frames(180, true);
        rig.frames(40, false);
    }
    assert_eq!(rig.outputs(), [Output::Duck, stop(StopReason::Voice)]);
    // Four syllables of 180 ms with gaps of 40 ms.
    assert!((1_700..1_860).contains(&rig.said[1].0), "{:?}", rig.said);
}

#[test]
fn bursts_without_text_are_laughter() {
    for (voiced, gap) in [(100, 140), (200, 140), (120, 100), (80, 60), (60, 120), (100, 40)] {
        let mut rig = Rig::armed();
        for _ in 0..20 {
            rig.frames(voiced, true);
            rig.frames(gap, false);
        }
        rig.nothing(1_000);
        assert_eq!(rig.outputs(), [Output::Duck, Output::Swell], "{voiced}/{gap}");
    }
}

#[test]
fn unconfirmed_utterance_ends_as_false_alarm() {
    let mut rig = Rig::armed();
    rig.give(Input::SpeechEnded);
    rig.frames(100, true);
    rig.frames(100, false);
    rig.give(Input::Partial("okay"));
    rig.give(Input::SpeechEnded);
    rig.give(Input::SpeechEnded);
    rig.nothing(1_000);
    assert_eq!(rig.said, [(1_000, Output::Duck), (1_200, Output::Swell)]);
}

#[test]
fn simultaneous_frames_count_once() {
    let mut rig = Rig::armed();
    rig.give(Input::Partial("so the duke said"));
    let voice = Input::Voice(Voicing { probable: true, voiced: true });
    for _ in 0..10 {
        rig.give(voice);
        rig.give(voice);
        rig.give(Input::Partial("so the duke said"));
        rig.now += FRAME;
    }
    assert_eq!(rig.outputs(), [Output::Duck], "200 ms");
    rig.frames(120, true);
    assert_eq!(rig.outputs(), [Output::Duck, stop(StopReason::Words)]);
}

#[test]
fn whole_utterances_that_need_no_answer() {
    let mut npc = crate::logic::command::tests_npc();
    npc.name = "Bartok the Barkeep".into();
    let names = NpcNames::of([&npc] as [&Npc; 1]);
    for text in [
        "stop",
        "Bartok, stop!",
        "wait wait",
        "Hey Bartok, hold on please",
        "no, stop it",
        "Stopp, Bartok",
        "Warte mal",
        "Einen Moment bitte",
        "Halt!",
        "wait... stop",
    ] {
        assert!(is_stop_word(text, &names), "{text}");
    }
    for text in [
        "",
        "Bartok",
        "please",
        "stop the cart",
        "don't stop",
        "the bus stop",
        "wait for me Bartok",
        "Greymantle stop",
        "quiet place",
        "no",
    ] {
        assert!(!is_stop_word(text, &names), "{text}");
    }
}

proptest! {
    #[test]
    fn ducks_and_swells_alternate_until_stop(
        steps in prop::collection::vec((0u64..300, 0usize..9), 0..200)
    ) {
        let mut rig = Rig::fresh();
        for (ms, kind) in steps {
            rig.now += Duration::from_millis(ms);
            rig.give([
                Input::Audible,
                Input::Voice(Voicing { probable: true, voiced: true }),
                Input::Voice(Voicing { probable: true, voiced: false }),
                Input::Voice(Voicing { probable: false, voiced: true }),
                Input::Voice(Voicing::default()),
                Input::Partial("mhm"),
                Input::Partial("tell me more"),
                Input::Tick,
                Input::SpeechEnded,
            ][kind]);
        }
        rig.nothing(10_000);
        let mut ducked = false;
        for (index, output) in rig.outputs().iter().enumerate() {
            match output {
                Output::Duck => prop_assert!(!std::mem::replace(&mut ducked, true)),
                Output::Swell => prop_assert!(std::mem::replace(&mut ducked, false)),
                Output::Stop { .. } => {
                    prop_assert_eq!(index + 1, rig.said.len());
                    ducked = false;
                }
            }
        }
        prop_assert!(!ducked, "left ducked");
        prop_assert_eq!(rig.machine.wake_at(), None);
    }
}
