//! Playback of a table's NPCs, and a record of the played part.
//!
//! Entry type: [`Playback`]. Frames arrive sentence by sentence and leave one every 20 ms; the
//! table calls [`Playback::poll`]. One NPC speaks at a time: turns play in the order their
//! utterances ended, with about 300 ms of silence between them, and the game master's own words cut
//! in. A ready turn waits up to 2 s for an earlier one without sound. A schedule that is over 100
//! ms late restarts; below that, frames catch up two at a time. Sound counts as played when it is
//! handed over; [`Playback::close`] subtracts the frames that the output still holds, and
//! `segment.rs` derives the spoken text. An output that holds more than ten frames (200 ms) gets no
//! more, and a turn that is stuck for 2 s is given up: its rest is never spoken later.

use std::time::Duration;

use rand::{RngExt, rngs::StdRng};
use tokio::time::Instant;

use super::{
    music::{MusicPlayer, Under},
    segment::{QueuePosition, Segment, Sentence},
};
use crate::{
    audio::{FRAME, Frame},
    domain::TurnId,
    engine::PlayedPart,
    provider::WordEnd,
};

/// Output for frames. Calls come at the pace of playback and must not block.
pub trait VoiceOut: Send {
    /// Prepares for speech, for outputs that need time to start.
    fn prepare(&mut self) {}

    /// The next frames belong to this turn.
    fn begin(&mut self, turn: TurnId) {
        _ = turn;
    }

    /// Takes 20 ms of the NPC's speech: 48 kHz mono.
    fn play(&mut self, npc: &str, frame: Frame);

    /// Fades to `db` (0: unchanged) within `over`. Includes frames that have not left yet.
    fn ramp(&mut self, db: f32, over: Duration);

    fn rest(&mut self) {}

    /// Frames taken but not yet sent. An output without a connection keeps them.
    fn waiting(&self) -> usize {
        0
    }

    /// Drops frames that have not left yet; returns their number.
    fn stop(&mut self) -> usize;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One frame every 20 ms.
    RealTime,
    /// One frame every 20 ms, handed over this long before it is due, to an output with its own
    /// clock.
    Ahead(Duration),
    Free,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Played {
    Began(TurnId),
    /// A sentence's first frame left; `usize` sentences have begun.
    Sentence(TurnId, usize),
    Finished(TurnId),
    /// The turn's sound has not left for [`UNREAD_MAX`]; the table must end the turn.
    Stuck {
        turn: TurnId,
        /// False if the previous turn was stuck too.
        is_first: bool,
    },
}

/// Mean silence between turns; it varies.
const GAP: Duration = Duration::from_millis(300);
const GAP_SPREAD_MS: u64 = 50;
/// Longest wait of a ready turn for an earlier one.
const ORDER_PATIENCE: Duration = Duration::from_secs(2);
/// Beyond this delay the schedule restarts; up to it, frames leave in pairs until it has caught up.
const LATE_MAX: Duration = Duration::from_millis(100);
/// Frames that the output may hold: 200 ms, longer than a track takes to start.
const WAITING_MAX: usize = 10;
/// Frames that an output usually holds: a lead of 40 ms, and the frame being read.
const WAITING_FEW: usize = 3;
/// An output that does not catch up within this time has lost its connection.
const UNREAD_MAX: Duration = Duration::from_secs(2);
const DUCK_DB: f32 = -15.0;
const DUCK_RAMP: Duration = Duration::from_millis(40);
const SWELL_RAMP: Duration = Duration::from_millis(150);

pub struct Playback {
    out: Box<dyn VoiceOut>,
    music: MusicPlayer,
    /// End of the last speech; `None` during speech, and once the music is back.
    played_until: Option<Instant>,
    pace: Pace,
    rng: StdRng,
    segments: Vec<Segment>,
    current: Option<TurnId>,
    next_at: Option<Instant>,
    /// After a pair of frames, none leaves before this.
    held_until: Option<Instant>,
    quiet_since: Option<Instant>,
    gap: Duration,
    ducked: bool,
    stall: Option<Stall>,
    is_stuck: bool,
}

/// A wait for an output that holds too many frames.
#[derive(Clone, Copy)]
struct Stall {
    since: Instant,
    look_at: Instant,
}

impl Playback {
    pub fn new(out: Box<dyn VoiceOut>, music: MusicPlayer, pace: Pace, rng: StdRng) -> Self {
        Self {
            out,
            music,
            played_until: None,
            pace,
            rng,
            segments: Vec::new(),
            current: None,
            next_at: None,
            held_until: None,
            quiet_since: None,
            gap: GAP,
            ducked: false,
            stall: None,
            is_stuck: false,
        }
    }

    /// Adds a turn; it is held until [`Self::release`].
    pub fn open(&mut self, turn: TurnId, npc: &str, place: QueuePosition) {
        self.out.prepare();
        self.segments.push(Segment::new(turn, npc, place));
    }

    pub fn release(&mut self, turn: TurnId) {
        if let Some(segment) = self.segment(turn) {
            segment.released = true;
        }
    }

    pub fn sentence(&mut self, turn: TurnId, text: String, filler: bool) {
        if let Some(segment) = self.segment(turn) {
            segment.sentences.push(Sentence { text, filler, ..Sentence::default() });
        }
    }

    /// Begins a line of `turn` in place of an answer.
    pub fn instead(&mut self, turn: TurnId, text: String) {
        if let Some(segment) = self.segment(turn) {
            segment.sentences.push(Sentence { text, instead: true, ..Sentence::default() });
        }
    }

    pub fn words(&mut self, turn: TurnId, index: usize, text: &str) {
        if let Some(sentence) = self.segment(turn).and_then(|s| s.sentences.get_mut(index)) {
            sentence.text.push_str(text);
        }
    }

    pub fn word(&mut self, turn: TurnId, index: usize, word: WordEnd) {
        if let Some(sentence) = self.segment(turn).and_then(|s| s.sentences.get_mut(index)) {
            sentence.word_ends.push(word);
        }
    }

    pub fn push(&mut self, now: Instant, turn: TurnId, index: usize, frame: Frame) {
        if let Some(segment) = self.segment(turn)
            && let Some(sentence) = segment.sentences.get_mut(index)
        {
            sentence.take(&frame);
            segment.ready_at.get_or_insert(now);
            segment.frames.push_back((index, frame));
        }
    }

    pub fn sentence_done(&mut self, turn: TurnId, index: usize) {
        if let Some(sentence) = self.segment(turn).and_then(|s| s.sentences.get_mut(index)) {
            sentence.whole = true;
        }
    }

    pub fn whole(&mut self, now: Instant, turn: TurnId) {
        if let Some(segment) = self.segment(turn) {
            segment.whole = true;
            segment.ready_at.get_or_insert(now);
        }
    }

    /// Removes a turn and stops its sound; returns the played part.
    pub fn close(&mut self, now: Instant, turn: TurnId) -> PlayedPart {
        let mut unplayed = 0;
        if self.current == Some(turn) {
            unplayed = self.out.stop();
            self.end_current(now);
            self.played_until = Some(now);
            self.swell_music(now);
        }
        let Some(index) = self.segments.iter().position(|s| s.turn == turn) else {
            return PlayedPart::default();
        };
        let mut segment = self.segments.remove(index);
        segment.take_back(unplayed);
        if self.segments.is_empty() {
            self.out.rest();
        }
        segment.played_part()
    }

    /// Drops the sound that the output still holds, of ended turns too.
    pub fn hush(&mut self) {
        _ = self.out.stop();
    }

    pub fn current(&self) -> Option<TurnId> {
        self.current
    }

    /// True if no released turn plays or waits.
    pub fn is_idle(&self) -> bool {
        self.segments.iter().all(|segment| !segment.released)
    }

    /// The turn being played, if the game master's own words are ready to replace it.
    pub fn in_the_way(&self) -> Option<TurnId> {
        let ready = |s: &Segment| s.place.urgent && s.released && s.ready_at.is_some() && !s.done;
        let current = self.segments.iter().find(|segment| Some(segment.turn) == self.current)?;
        let gives_way = !current.place.urgent && self.segments.iter().any(ready);
        gives_way.then_some(current.turn)
    }

    /// Time at which the last frame of `turn` left, if it has run out of frames and is incomplete;
    /// `Some(None)`: no frame has left.
    pub fn hungry_since(&self, turn: TurnId) -> Option<Option<Instant>> {
        let segment = self.segments.iter().find(|segment| segment.turn == turn)?;
        (segment.frames.is_empty() && !segment.whole).then_some(segment.played_at)
    }

    pub fn duck(&mut self) {
        self.ducked = true;
        self.out.ramp(DUCK_DB, DUCK_RAMP);
    }

    pub fn swell(&mut self) {
        self.out.ramp(0.0, SWELL_RAMP);
    }

    /// Next time at which [`Self::poll`] has work without new input.
    pub fn wake_at(&self) -> Option<Instant> {
        [self.next_due(), self.played_until].into_iter().flatten().min()
    }

    fn next_due(&self) -> Option<Instant> {
        if let Some(stall) = self.stall {
            return Some(stall.look_at);
        }
        match self.current {
            Some(turn) => self.next_at.and_then(|at| match self.pace {
                Pace::Ahead(_) if self.hungry_since(turn).is_some() => None,
                Pace::Ahead(lead) => Some(at.checked_sub(lead).unwrap_or(at)),
                _ => Some(self.held_until.map_or(at, |held| held.max(at))),
            }),
            None => self.next_start().map(|(at, _)| at),
        }
    }

    /// Next turn and its earliest start: the first in order or, if that has no sound yet, one that
    /// has been ready for [`ORDER_PATIENCE`].
    fn next_start(&self) -> Option<(Instant, TurnId)> {
        let released = || self.segments.iter().filter(|segment| segment.released && !segment.done);
        let first = released().min_by_key(|segment| segment.order())?;
        let (at, next) = match first.ready_at {
            Some(at) => (at, first),
            None => {
                let ready = released().filter_map(|s| Some((s.ready_at? + ORDER_PATIENCE, s)));
                ready.min_by_key(|(at, segment)| (*at, segment.order()))?
            }
        };
        let gap_over = match self.pace {
            Pace::Free => None,
            _ if next.place.urgent => None,
            Pace::RealTime => self.quiet_since.map(|since| since + self.gap),
            Pace::Ahead(lead) => self.quiet_since.map(|since| since + lead + self.gap),
        };
        Some((gap_over.map_or(at, |over| over.max(at)), next.turn))
    }

    pub fn poll(&mut self, now: Instant) -> Vec<Played> {
        let played = self.hand_over(now);
        self.swell_music(now);
        played
    }

    fn swell_music(&mut self, now: Instant) {
        if self.played_until.take_if(|until| *until <= now).is_some() {
            self.music.duck(Under::Npc, false);
        }
    }

    fn hand_over(&mut self, now: Instant) -> Vec<Played> {
        let mut played = Vec::new();
        let mut left = 0;
        loop {
            if self.current.is_none() && !self.begin_next(now) {
                return played;
            }
            if !self.is_due(now, left) || self.is_stalled(now, &mut played) {
                return played;
            }
            if !self.play_frame(now, &mut played) {
                return played;
            }
            left += 1;
        }
    }

    /// True if a frame is due after `left` frames left just now. At most two leave at once, because
    /// outputs without a clock of their own cannot take bursts.
    fn is_due(&mut self, now: Instant, left: usize) -> bool {
        let Some(due) = self.next_at else { return true };
        match self.pace {
            Pace::Free => return true,
            Pace::Ahead(lead) => return due <= now + lead,
            Pace::RealTime => {}
        }
        if now < due || self.held_until.is_some_and(|held| now < held) {
            return false;
        }
        self.held_until = None;
        if left == 1 {
            self.held_until = Some(now + FRAME);
        }
        true
    }

    /// True while the output is stalled. Frames count as played when handed over, so none are until
    /// it has caught up.
    fn is_stalled(&mut self, now: Instant, played: &mut Vec<Played>) -> bool {
        let Some(turn) = self.current else { return false };
        let has_more = self.segments.iter().any(|it| it.turn == turn && !it.frames.is_empty());
        let most = if has_more && self.stall.is_none() { WAITING_MAX } else { WAITING_FEW };
        if self.out.waiting() <= most {
            self.stall = None;
            return false;
        }
        let since = self.stall.map_or(now, |stall| stall.since);
        self.stall = Some(Stall { since, look_at: now + FRAME });
        if now >= since + UNREAD_MAX {
            let is_first = !std::mem::replace(&mut self.is_stuck, true);
            played.push(Played::Stuck { turn, is_first });
        }
        true
    }

    fn begin_next(&mut self, now: Instant) -> bool {
        let Some((_, turn)) = self.next_start().filter(|(at, _)| *at <= now) else { return false };
        self.current = Some(turn);
        self.out.begin(turn);
        self.next_at = Some(now);
        self.held_until = None;
        if std::mem::take(&mut self.ducked) {
            self.out.ramp(0.0, Duration::ZERO);
        }
        true
    }

    /// Hands over one frame of the current turn; false without one.
    fn play_frame(&mut self, now: Instant, played: &mut Vec<Played>) -> bool {
        let Some(turn) = self.current else { return false };
        let Some(position) = self.segments.iter().position(|s| s.turn == turn) else {
            self.end_current(now);
            return true;
        };
        let segment = &mut self.segments[position];
        let Some((index, frame)) = segment.frames.pop_front() else {
            if segment.whole {
                segment.done = true;
                let silent = segment.played == 0;
                let quiet_since = self.quiet_since;
                played.push(Played::Finished(turn));
                self.end_current(now);
                match silent {
                    true => self.quiet_since = quiet_since,
                    false => self.is_stuck = false,
                }
                return true;
            }
            // The voice is late: its next frame plays on arrival. With a lead it may only be early.
            if !matches!(self.pace, Pace::Ahead(_)) {
                self.next_at = None;
            }
            return false;
        };
        if segment.played == 0 {
            played.push(Played::Began(turn));
            self.music.duck(Under::Npc, true);
            self.played_until = None;
        }
        segment.played += 1;
        segment.played_at = Some(now);
        if let Some(sentence) = segment.sentences.get_mut(index) {
            if sentence.played == 0 {
                played.push(Played::Sentence(turn, index + 1));
            }
            sentence.played += 1;
        }
        self.out.play(&segment.npc, frame);
        let due = self.next_at.unwrap_or(now);
        let due = match self.pace {
            Pace::Ahead(_) => due.max(now),
            _ if now > due + LATE_MAX => now,
            _ => due,
        };
        self.next_at = Some(due + FRAME);
        true
    }

    fn end_current(&mut self, now: Instant) {
        self.current = None;
        self.next_at = None;
        self.stall = None;
        self.quiet_since = Some(now);
        self.played_until = Some(match self.pace {
            Pace::Ahead(lead) => now + lead,
            Pace::RealTime | Pace::Free => now,
        });
        let spread = Duration::from_millis(self.rng.random_range(0..=2 * GAP_SPREAD_MS));
        self.gap = GAP - Duration::from_millis(GAP_SPREAD_MS) + spread;
    }

    fn segment(&mut self, turn: TurnId) -> Option<&mut Segment> {
        self.segments.iter_mut().find(|segment| segment.turn == turn)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use rand::SeedableRng;

    use super::*;
    use crate::{audio::SampleRate, engine::Position, session::TableEvents};

    struct Nowhere;

    impl VoiceOut for Nowhere {
        fn play(&mut self, _: &str, _: Frame) {}

        fn ramp(&mut self, _: f32, _: Duration) {}

        fn stop(&mut self) -> usize {
            2
        }
    }

    #[test]
    fn closed_turn_reports_where_playback_ended() {
        let (now, turn) = (Instant::now(), TurnId(1));
        let rng = StdRng::seed_from_u64(1);
        let music = MusicPlayer::new(TableEvents::new(1).downgrade());
        let mut playback = Playback::new(Box::new(Nowhere), music, Pace::Free, rng);
        playback.open(turn, "Bartok", QueuePosition { urgent: false, said_at: now });
        playback.release(turn);
        let silence = vec![0; SampleRate::HZ_48000.frame_len()];
        let frame = Frame::new(silence, SampleRate::HZ_48000).unwrap();
        for (sentence, filler) in [(0, true), (1, false)] {
            playback.sentence(turn, "Well met.".to_owned(), filler);
            for _ in 0..5 {
                playback.push(now, turn, sentence, frame.clone());
            }
        }
        playback.poll(now);
        let heard = playback.close(now, turn);
        // Two frames had not left when it was cut off.
        assert_eq!(heard.position, Some(Position { sentence: 1, into: FRAME * 3 }));
        assert_eq!(heard.audio, FRAME * 8);
        assert_eq!(playback.close(now, turn).position, None);
    }

    /// Holds its frames until the test takes them.
    struct Silent {
        taken: Arc<AtomicUsize>,
    }

    impl VoiceOut for Silent {
        fn play(&mut self, _: &str, _: Frame) {
            self.taken.fetch_add(1, Ordering::Relaxed);
        }

        fn ramp(&mut self, _: f32, _: Duration) {}

        fn waiting(&self) -> usize {
            self.taken.load(Ordering::Relaxed)
        }

        fn stop(&mut self) -> usize {
            self.taken.swap(0, Ordering::Relaxed)
        }
    }

    /// A turn of `frames` frames that began at `now`, and the number of frames its output holds.
    fn into_silence(now: Instant, frames: usize) -> (Playback, Arc<AtomicUsize>) {
        let (turn, taken) = (TurnId(1), Arc::<AtomicUsize>::default());
        let music = MusicPlayer::new(TableEvents::new(1).downgrade());
        let out = Box::new(Silent { taken: Arc::clone(&taken) });
        let rng = StdRng::seed_from_u64(1);
        let mut playback = Playback::new(out, music, Pace::Ahead(FRAME * 2), rng);
        playback.open(turn, "Bartok", QueuePosition { urgent: false, said_at: now });
        playback.release(turn);
        playback.sentence(turn, "Well met.".to_owned(), false);
        for _ in 0..frames {
            playback.push(now, turn, 0, Frame::silence(SampleRate::HZ_48000));
        }
        playback.sentence_done(turn, 0);
        playback.whole(now, turn);
        (playback, taken)
    }

    /// Polls from `from` on whenever playback asks for it, for `time` or until the turn is given
    /// up; returns the last event and its time.
    fn poll_for(
        playback: &mut Playback,
        from: Instant,
        time: Duration,
    ) -> Option<(Played, Duration)> {
        let (mut now, mut last) = (from, None);
        while now <= from + time {
            last = playback.poll(now).pop().map(|played| (played, now - from)).or(last);
            if let Some((Played::Stuck { .. }, _)) = last {
                break;
            }
            now = playback.wake_at()?.max(now + Duration::from_millis(1));
        }
        last
    }

    #[test]
    fn turn_is_given_up_when_its_sound_stays() {
        let (now, turn) = (Instant::now(), TurnId(1));
        // A word, and more than an output without a connection may hold.
        for frames in [5, 100] {
            let (mut playback, taken) = into_silence(now, frames);
            let last = poll_for(&mut playback, now, Duration::from_millis(2_250));
            let (played, at) = last.expect("an event");
            assert_eq!(played, Played::Stuck { turn, is_first: true }, "{frames}");
            assert!(at >= UNREAD_MAX, "{at:?}");
            assert!(taken.load(Ordering::Relaxed) <= WAITING_MAX + 1);
            assert_eq!(playback.close(now + at, turn), PlayedPart::default());
            assert_eq!(taken.load(Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn turn_goes_on_after_a_short_outage() {
        let (now, turn) = (Instant::now(), TurnId(1));
        let (mut playback, taken) = into_silence(now, 30);
        let outage = Duration::from_millis(1_500);
        let last = poll_for(&mut playback, now, outage);
        assert_eq!(last.map(|(played, _)| played), Some(Played::Sentence(turn, 1)));
        let mut heard = taken.swap(0, Ordering::Relaxed);
        assert!(heard > WAITING_FEW, "{heard}");
        let mut later = now + outage;
        loop {
            let played = playback.poll(later);
            heard += taken.swap(0, Ordering::Relaxed);
            if played.contains(&Played::Finished(turn)) {
                break;
            }
            later = playback.wake_at().expect("it goes on");
        }
        assert_eq!(heard, 30);
        assert!(later - now < outage + Duration::from_secs(1));
    }

    #[test]
    fn speech_handed_over_ahead_ends_after_its_lead() {
        let (now, turn, lead) = (Instant::now(), TurnId(1), FRAME * 2);
        let music = MusicPlayer::new(TableEvents::new(1).downgrade());
        let (out, rng) = (Box::new(Nowhere), StdRng::seed_from_u64(1));
        let mut playback = Playback::new(out, music, Pace::Ahead(lead), rng);
        playback.open(turn, "Bartok", QueuePosition { urgent: false, said_at: now });
        playback.release(turn);
        playback.sentence(turn, "Well met.".to_owned(), false);
        playback.push(now, turn, 0, Frame::silence(SampleRate::HZ_48000));
        playback.whole(now, turn);
        assert_eq!(playback.poll(now).last(), Some(&Played::Finished(turn)));
        assert_eq!(playback.wake_at(), Some(now + lead), "music swells back then");
        playback.poll(now + lead);
        assert_eq!(playback.wake_at(), None);
    }
}
