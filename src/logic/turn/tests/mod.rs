mod table;

use proptest::prelude::*;

use super::*;
use crate::logic::command::{NpcNames, tests_npc};

/// The machine, its clock and its outputs other than `Feed`, with the time in ms.
struct Rig {
    machine: Endpointer,
    start: Instant,
    now: Instant,
    said: Vec<(u128, Output)>,
    fed: usize,
}

impl Rig {
    fn new(patience: Patience) -> Self {
        Self::with(EndOfTurn { patience, detector: Detector::Text })
    }

    fn with(ends: EndOfTurn) -> Self {
        let start = Instant::now();
        Self { machine: Endpointer::new(ends), start, now: start, said: Vec::new(), fed: 0 }
    }

    fn give(&mut self, input: Input) {
        match self.machine.handle(self.now, input) {
            Some(Output::Feed) => self.fed += 1,
            Some(output) => self.said.push(((self.now - self.start).as_millis(), output)),
            None => {}
        }
    }

    fn frames(&mut self, ms: u64, voiced: bool) {
        for _ in 0..ms / 20 {
            self.give(Input::Frame { voiced });
            self.now += FRAME;
        }
    }

    fn nothing(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        while let Some(at) = self.machine.wake_at().filter(|at| *at <= end) {
            self.now = at;
            self.give(Input::Tick);
        }
        self.now = end;
    }

    fn partial(&mut self, reading: Reading) {
        self.give(Input::Partial { reading, stable_since: self.now });
    }

    fn at(&self, ms: u64) -> Instant {
        self.start + Duration::from_millis(ms)
    }

    fn close(&self, reason: CloseReason, last_voiced: u64) -> Output {
        Output::Close { reason, last_voiced_at: self.at(last_voiced) }
    }
}

const OPEN: Output = Output::Open { continues: false };
const ON: Output = Output::Open { continues: true };

#[test]
fn segment_of_others_ends_like_an_own_one() {
    let mut rig = Rig::new(Patience::Normal);
    rig.now += Duration::from_millis(1_000);
    rig.machine.take_over(rig.start, rig.now, Duration::from_millis(800));
    rig.frames(200, true);
    rig.nothing(2_000);
    assert_eq!(rig.said, [(1_680, rig.close(CloseReason::Silence, 1_180))]);
    // Voice that is long over ends at once; what was left to others never does.
    let mut rig = Rig::new(Patience::Normal);
    rig.now += Duration::from_millis(4_000);
    rig.machine.take_over(rig.start, rig.at(500), Duration::from_millis(500));
    rig.give(Input::Tick);
    assert_eq!(rig.said, [(4_000, rig.close(CloseReason::Silence, 500))]);
    rig.frames(200, true);
    rig.machine.leave();
    rig.nothing(2_000);
    assert_eq!(rig.said.len(), 2, "it was opened again, and no more: {:?}", rig.said);
}

#[test]
fn released_button_closes_at_once() {
    let mut rig = Rig::new(Patience::Patient);
    rig.give(Input::Released);
    rig.frames(500, true);
    rig.give(Input::Released);
    rig.give(Input::Released);
    rig.nothing(2_000);
    rig.frames(40, true);
    rig.give(Input::Released);
    let click = (2_540, rig.close(CloseReason::Blip, 2_520));
    let said = (500, rig.close(CloseReason::Silence, 480));
    assert_eq!(rig.said, [(0, OPEN), said, (2_500, OPEN), click]);
}

#[test]
fn silence_counts_from_the_last_voiced_frame() {
    for (patience, wait) in
        [(Patience::Snappy, 300), (Patience::Normal, 500), (Patience::Patient, 900)]
    {
        let mut rig = Rig::new(patience);
        rig.frames(200, false);
        rig.frames(400, true);
        rig.frames(2_000, false);
        let close = rig.close(CloseReason::Silence, 580);
        assert_eq!(rig.said, [(200, OPEN), (580 + wait, close)]);
        // All frames after the opening one up to the one that closed.
        assert_eq!(u128::try_from(rig.fed).unwrap(), (380 + wait) / 20 - 1);
    }
}

#[test]
fn packets_that_stop_are_silence() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.nothing(5_000);
    assert_eq!(rig.said, [(0, OPEN), (880, rig.close(CloseReason::Silence, 380))]);
    assert_eq!(rig.machine.wake_at(), None);
}

#[test]
fn pause_below_patience_ends_nothing() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.nothing(300);
    rig.frames(100, true);
    rig.frames(400, false);
    rig.frames(100, true);
    assert_eq!(rig.said, [(0, OPEN)]);
}

#[test]
fn late_timer_still_ends_what_was_over() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.now += Duration::from_secs(3);
    rig.frames(60, true);
    let close = rig.close(CloseReason::Silence, 380);
    assert_eq!(rig.said, [(0, OPEN), (3_400, close), (3_420, OPEN)]);
}

#[test]
fn segments_within_600_ms_continue() {
    for (pause, opened) in [(580, ON), (600, OPEN)] {
        let mut rig = Rig::new(Patience::Normal);
        rig.frames(400, true);
        rig.nothing(pause);
        rig.frames(100, true);
        // The last voiced frame is 20 ms older than the pause.
        assert_eq!(rig.said[2].1, opened, "{pause}");
    }
}

#[test]
fn finished_partial_shortens_wait_once_settled() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(300, true);
    rig.partial(Reading::Finished);
    rig.frames(100, true);
    rig.nothing(1_000);
    assert_eq!(rig.said[1], (740, rig.close(CloseReason::Silence, 380)));

    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.frames(260, false);
    rig.partial(Reading::Finished);
    rig.nothing(1_000);
    assert_eq!(rig.said[1].0, 810, "settled 150 ms after it came");

    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.frames(440, false);
    rig.partial(Reading::Finished);
    rig.nothing(1_000);
    assert_eq!(rig.said[1].0, 880, "never later than without it");
}

#[test]
fn words_are_finished_until_voice_outlives_them() {
    let mut rig = Rig::new(Patience::Normal);
    rig.partial(Reading::Finished);
    assert!(!rig.machine.is_finished(), "nothing is said");
    rig.frames(400, true);
    rig.partial(Reading::Open);
    assert!(!rig.machine.is_finished());
    rig.partial(Reading::Finished);
    rig.frames(300, true);
    assert!(rig.machine.is_finished());
    rig.frames(100, true);
    assert!(!rig.machine.is_finished());
    for (detector, sounds, finished) in [
        (Detector::Off, 0.9, false),
        (Detector::Model, 0.9, true),
        (Detector::Both, 0.9, true),
        (Detector::Both, 0.0, false),
    ] {
        let mut rig = Rig::with(EndOfTurn { patience: Patience::Normal, detector });
        rig.frames(400, true);
        rig.partial(Reading::Finished);
        rig.give(Input::Judged(Judgement(sounds)));
        assert_eq!(rig.machine.is_finished(), finished, "{detector:?}");
    }
}

#[test]
fn trailing_off_lengthens() {
    for (patience, wait) in
        [(Patience::Snappy, 900), (Patience::Normal, 1_040), (Patience::Patient, 1_040)]
    {
        let mut rig = Rig::new(patience);
        rig.frames(400, true);
        rig.partial(Reading::TrailsOff);
        rig.frames(3_000, false);
        assert_eq!(rig.said[1].0, 380 + wait);
    }
}

#[test]
fn new_partial_ends_the_long_wait() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.partial(Reading::TrailsOff);
    rig.frames(600, false);
    rig.partial(Reading::Open);
    assert_eq!(rig.said[1], (1_000, rig.close(CloseReason::Silence, 380)));
    rig.partial(Reading::Finished);
    rig.frames(100, true);
    rig.nothing(2_000);
    assert_eq!(rig.said[3].0, 1_080 + 500, "a segment begins without words");
}

#[test]
fn pause_reading_counts_only_in_its_own_pause() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.frames(240, false);
    rig.give(Input::Pause { reading: Reading::Finished });
    rig.nothing(1_000);
    assert_eq!(rig.said[1], (740, rig.close(CloseReason::Silence, 380)));

    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.frames(380, false);
    rig.give(Input::Pause { reading: Reading::Finished });
    assert_eq!(rig.said[1], (780, rig.close(CloseReason::Silence, 380)), "it came late");

    // "I attack the goblin | with my": the words of the first pause do not count for the second.
    for reading in [Reading::Finished, Reading::TrailsOff] {
        let mut rig = Rig::new(Patience::Normal);
        rig.frames(400, true);
        rig.frames(240, false);
        rig.give(Input::Pause { reading });
        rig.frames(200, true);
        rig.nothing(2_000);
        assert_eq!(rig.said[1], (820 + 500, rig.close(CloseReason::Silence, 820)), "{reading:?}");
    }
}

#[test]
fn partial_long_before_pause_does_not_count() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(400, true);
    rig.partial(Reading::Finished);
    rig.frames(400, true);
    rig.nothing(2_000);
    assert_eq!(rig.said[1].0, 780 + 500);
}

#[test]
fn without_a_detector_nothing_but_silence_counts() {
    let ends = EndOfTurn { patience: Patience::Normal, detector: Detector::Off };
    for reading in [Reading::Finished, Reading::TrailsOff] {
        let mut rig = Rig::with(ends);
        rig.frames(400, true);
        rig.partial(reading);
        rig.give(Input::Judged(Judgement(0.9)));
        rig.nothing(2_000);
        assert_eq!(rig.said[1].0, 380 + 500);
    }
}

#[test]
fn words_and_sound_are_held_against_each_other() {
    use Reading::{Finished, Open, TrailsOff};
    for (says, said, model, both) in [
        (0.5, Finished, 360, 360),
        (0.5, Open, 360, 360),
        (0.5, TrailsOff, 360, 500),
        (0.49, Finished, 500, 360),
        (0.1, Open, 500, 500),
        (0.1, TrailsOff, 500, 1_040),
        (0.09, Finished, 1_040, 500),
        (0.09, Open, 1_040, 1_040),
        (f32::NAN, Open, 500, 500),
    ] {
        for (detector, wait) in [(Detector::Model, model), (Detector::Both, both)] {
            let mut rig = Rig::with(EndOfTurn { patience: Patience::Normal, detector });
            rig.frames(400, true);
            rig.frames(220, false);
            rig.give(Input::Pause { reading: said });
            rig.give(Input::Judged(Judgement(says)));
            rig.nothing(2_000);
            assert_eq!(rig.said[1].0, 380 + wait, "{detector:?} {says} {said:?}");
        }
    }
}

#[test]
fn short_patience_waits_for_the_judgement() {
    let ends = EndOfTurn { patience: Patience::Snappy, detector: Detector::Model };
    for (judged, end) in [(Some((310, 0.05)), 900), (Some((310, 0.3)), 310), (None, 400)] {
        let mut rig = Rig::with(ends);
        rig.frames(400, true);
        rig.now = rig.at(380);
        if let Some((after, says)) = judged {
            rig.nothing(after);
            rig.give(Input::Judged(Judgement(says)));
        }
        rig.nothing(5_000);
        assert_eq!(rig.said[1].0, 380 + end, "{judged:?}");
    }
}

#[test]
fn pause_reading_overrides_earlier_partial() {
    for (reading, end) in
        [(Reading::Finished, 360), (Reading::Open, 500), (Reading::TrailsOff, 1_040)]
    {
        let mut rig = Rig::new(Patience::Normal);
        rig.frames(400, true);
        let (finished, stable_since) = (Reading::Finished, rig.at(300));
        rig.give(Input::Partial { reading: finished, stable_since });
        rig.now = rig.at(380);
        // Whisper takes up to 340 ms during speech.
        rig.nothing(340);
        rig.give(Input::Pause { reading });
        rig.nothing(5_000);
        assert_eq!(rig.said[1].0, 380 + end, "{reading:?}");
    }
}

#[test]
fn thirty_seconds_are_enough() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(30_200, true);
    let close = rig.close(CloseReason::TooLong, 29_980);
    assert_eq!(rig.said, [(0, OPEN), (30_000, close), (30_020, ON)]);
}

#[test]
fn clicks_are_no_utterance() {
    let mut rig = Rig::new(Patience::Normal);
    rig.frames(40, true);
    rig.frames(1_000, false);
    rig.frames(60, true);
    rig.nothing(1_000);
    assert_eq!(rig.said[1], (520, rig.close(CloseReason::Blip, 20)));
    assert_eq!(rig.said[3].1, rig.close(CloseReason::Silence, 1_080));
}

#[test]
fn utterance_after_click_is_no_continuation() {
    let mut rig = Rig::new(Patience::Snappy);
    rig.frames(20, true);
    rig.nothing(400);
    rig.frames(100, true);
    assert_eq!(rig.said[2].1, OPEN);
}

const READINGS: &[(&str, Reading)] = &[
    ("What is it?", Reading::Finished),
    ("Give me an ale.", Reading::Finished),
    ("\"To the gate!\"", Reading::Finished),
    ("stop", Reading::Finished),
    ("Bartok stop", Reading::Finished),
    ("mute bartok", Reading::Finished),
    ("everyone continue", Reading::Finished),
    ("who with?", Reading::Finished),
    ("", Reading::Open),
    ("...", Reading::Open),
    ("give me an ale", Reading::Open),
    ("Bartok say hello", Reading::Open),
    ("next scene harbour", Reading::Open),
    ("we brought sand", Reading::Open),
    ("I have two swords and", Reading::TrailsOff),
    ("I want to go to the.", Reading::TrailsOff),
    ("roll two d six plus", Reading::TrailsOff),
    ("Well...", Reading::TrailsOff),
    ("Bartok,", Reading::TrailsOff),
    ("Ich glaube, ähm", Reading::TrailsOff),
    ("ja, weil", Reading::TrailsOff),
    ("Bartok", Reading::TrailsOff),
    ("Hey grey mantle.", Reading::TrailsOff),
    ("the Barkeep", Reading::Open),
    ("hello Bartok", Reading::Open),
    // Without marks, as from a recogniser without punctuation.
    ("bartok what do you sell", Reading::Finished),
    ("where do you come from", Reading::Finished),
    ("why should i believe you", Reading::Finished),
    ("kannst du meine rüstung reparieren", Reading::Finished),
    ("was willst du dafür", Reading::Finished),
    ("are we still on", Reading::Finished),
    ("hast du noch auf", Reading::Finished),
    ("can we go over", Reading::Finished),
    ("is it in", Reading::Open),
    ("kommst du mit", Reading::Open),
    ("we go out", Reading::Open),
    ("thank you bartok", Reading::Finished),
    ("bis morgen", Reading::Finished),
    ("roll two d six plus three", Reading::Finished),
    ("i open the door slowly", Reading::Finished),
    ("ich öffne langsam die tür", Reading::Finished),
    ("can you tell me", Reading::Open),
    ("what i do is", Reading::Open),
    ("if we leave now", Reading::Open),
    ("wenn wir jetzt aufbrechen", Reading::Open),
    ("please", Reading::Open),
    ("seventeen", Reading::Open),
    ("roll two d six", Reading::Open),
    ("we come from", Reading::TrailsOff),
    ("i would like to buy a", Reading::TrailsOff),
    ("ich hätte gern ein", Reading::TrailsOff),
    ("roll two", Reading::TrailsOff),
    ("würfle drei", Reading::TrailsOff),
    ("das ist eine zweiund", Reading::TrailsOff),
    // With a full stop that means nothing.
    ("We need, um.", Reading::TrailsOff),
    ("What kind of?", Reading::TrailsOff),
    ("I'll take the rope, the lantern.", Reading::TrailsOff),
    ("Ich nehme das Seil, die Laterne.", Reading::TrailsOff),
    ("I'll take the rope, the lantern and ten torches.", Reading::Finished),
    ("He said \"leave him", Reading::TrailsOff),
    ("Er sagte: „Lass ihn.", Reading::TrailsOff),
    ("Er sagte: „Lass ihn in Ruhe.“", Reading::Finished),
    ("Ich greife den Goblin mit meinem Langschwert an.", Reading::Open),
    ("Bartok.", Reading::TrailsOff),
    ("Bartok?", Reading::Open),
];

#[test]
fn words_tell_whether_more_is_to_come() {
    let (mut bartok, mut grey) = (tests_npc(), tests_npc());
    bartok.name = "Bartok the Barkeep".into();
    grey.name = "Greymantle the Sage".into();
    let names = NpcNames::of([&bartok, &grey]);
    for (text, reading) in READINGS {
        assert_eq!(reads(text, &names), *reading, "{text:?}");
    }
}

fn any_input() -> impl Strategy<Value = (u64, u8)> {
    (prop_oneof![6 => Just(20u64), 2 => 0u64..400, 1 => 400u64..40_000], 0u8..10)
}

proptest! {
    #[test]
    fn every_opening_is_closed_once_and_soon(
        steps in prop::collection::vec(any_input(), 0..400),
        patience in prop_oneof![
            Just(Patience::Snappy), Just(Patience::Normal), Just(Patience::Patient)
        ],
        timely: bool,
    ) {
        let mut rig = Rig::new(patience);
        let mut opened_at: Option<Instant> = None;
        let mut last_voiced: Option<Instant> = None;
        for (ms, kind) in steps {
            let said = rig.said.len();
            if timely {
                rig.nothing(ms);
            } else {
                rig.now += Duration::from_millis(ms);
            }
            let readings = [Reading::Finished, Reading::Open, Reading::TrailsOff];
            let (fed, told) = (rig.fed, rig.said.len());
            let voiced = kind < 5;
            match kind {
                0..=6 => rig.give(Input::Frame { voiced }),
                7 => rig.partial(readings[usize::try_from(ms % 3).unwrap()]),
                8 => {
                    let reading = readings[usize::try_from(ms % 3).unwrap()];
                    rig.give(Input::Pause { reading });
                }
                _ => rig.give(Input::Tick),
            }
            prop_assert!(rig.said.len() - told + rig.fed - fed <= 1);
            for (_, output) in &rig.said[said..] {
                if let Output::Close { last_voiced_at, .. } = output {
                    prop_assert_eq!(Some(*last_voiced_at), last_voiced);
                }
            }
            if voiced && rig.machine.open.is_some() {
                last_voiced = Some(rig.now);
            }
            if let Some(at) = rig.machine.wake_at() {
                prop_assert!(at > rig.now, "overdue");
                prop_assert!(at - rig.now <= Duration::from_millis(1_040));
            }
        }
        rig.nothing(60_000);
        prop_assert!(rig.machine.open.is_none());
        for (ms, output) in &rig.said {
            let now = rig.start + Duration::from_millis(u64::try_from(*ms).unwrap());
            match *output {
                Output::Open { .. } => prop_assert!(opened_at.replace(now).is_none()),
                Output::Close { reason, last_voiced_at } => {
                    let opened = opened_at.take();
                    prop_assert!(opened.is_some_and(|opened| last_voiced_at >= opened));
                    let silent = now - last_voiced_at;
                    if reason == CloseReason::Silence {
                        prop_assert!(silent >= Duration::from_millis(300));
                    }
                    if timely {
                        prop_assert!(silent <= Duration::from_millis(1_040));
                        prop_assert!(now - opened.unwrap() <= LONGEST);
                    }
                }
                Output::Feed => unreachable!(),
            }
        }
        prop_assert!(opened_at.is_none());
    }
}
