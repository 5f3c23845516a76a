//! The table's speech on pages, and how much of it was really played.
//!
//! Entry type: [`PageSound`]. The table hands over frames 100 ms early ([`LEAD`]); every page gets
//! each of them, at most 300 ms ahead of what is acknowledged ([`WINDOW`]), and reports about every
//! 100 ms how many samples of a turn it has played. The furthest page counts, since a person who
//! heard the words has heard them. Frames beyond the window wait here, and the table, which asks
//! how many wait, gives up a turn whose sound stays. Without a page, a clock plays; and so it does
//! once all pages have reported nothing for 1 s ([`DEAF`]) while they had sound to play, until one
//! reports again, from where it then is. The rest of a stopped turn was not heard. A sample of a
//! voice goes to one page while the table is quiet, and ends when it speaks.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::body::Bytes;
use tokio::time::Instant;

use super::{
    audience::Audience,
    pages::Page,
    wire::{self, ToPage},
};
use crate::{
    audio::{FRAME_SAMPLES_48K, Frame, Gain, SampleRate},
    domain::TurnId,
    session::VoiceOut,
};

/// How early the table's frames are due: the time of a report, so that pages rarely run dry.
pub const LEAD: Duration = Duration::from_millis(100);
/// Samples that pages may have beyond what was acknowledged: 300 ms.
const WINDOW: u64 = 14_400;
/// Pages that have sound and acknowledge nothing for this long do not play it.
const DEAF: Duration = Duration::from_secs(1);
/// Turns whose sound may still be in pages; a turn lasts longer than the window.
const TURNS_MAX: usize = 4;
/// Number under which a page gets samples of voices; turns begin at 1.
const ASIDE: u64 = 0;
const RATE: SampleRate = SampleRate::HZ_48000;
/// Samples in a frame.
const FRAME: u64 = FRAME_SAMPLES_48K as u64;

/// A table's output. Cloning shares it.
#[derive(Clone)]
pub struct PageSound {
    audience: Audience,
    state: Arc<Mutex<Playing>>,
}

struct Playing {
    /// The oldest first; the last one is playing.
    turns: VecDeque<TurnSound>,
    /// Frames not sent yet.
    queue: VecDeque<(TurnId, Frame)>,
    gain: Gain,
    /// The turn whose frames pages expect.
    told: Option<TurnId>,
    /// Ids of pages that hear a voice's sample meanwhile.
    asides: Vec<u64>,
    /// No page reports what it plays: the clock counts.
    is_deaf: bool,
}

/// Sound of one turn, in samples.
struct TurnSound {
    turn: TurnId,
    npc: String,
    taken: u64,
    sent: u64,
    /// Played by `since`.
    acknowledged: u64,
    /// When the last report came, or, if later, when pages got sound again after they had played all.
    since: Option<Instant>,
    /// Ids of pages that opened in its middle, and how much had been sent before.
    late: Vec<(u64, u64)>,
}

impl TurnSound {
    fn new(turn: TurnId) -> Self {
        Self {
            turn,
            npc: String::new(),
            taken: 0,
            sent: 0,
            acknowledged: 0,
            since: None,
            late: Vec::new(),
        }
    }

    /// Samples played by now; `by_pages`: as pages report it, else by the clock.
    fn played(&self, now: Instant, by_pages: bool) -> u64 {
        let Some(since) = self.since.filter(|_| !by_pages) else { return self.acknowledged };
        let passed = now.saturating_duration_since(since);
        let by_clock = u64::try_from(RATE.samples_in(passed)).unwrap_or(u64::MAX);
        self.acknowledged.saturating_add(by_clock).min(self.sent)
    }

    /// True if pages have had sound for too long without a report.
    fn is_overdue(&self, now: Instant) -> bool {
        let waits = self.since.filter(|_| self.acknowledged < self.sent);
        waits.is_some_and(|since| now.saturating_duration_since(since) >= DEAF)
    }

    /// Counts a frame that pages get now.
    fn send(&mut self, now: Instant, by_pages: bool) {
        if self.played(now, by_pages) == self.sent {
            (self.acknowledged, self.since) = (self.sent, Some(now));
        }
        self.sent += FRAME;
    }

    /// Nothing follows: only what was played counts as taken.
    fn stop(&mut self, now: Instant, by_pages: bool) {
        let played = self.played(now, by_pages);
        (self.taken, self.sent, self.acknowledged) = (played, played, played);
    }
}

impl Playing {
    /// True while pages report what they play.
    fn is_reported(&mut self, audience: &Audience, now: Instant) -> bool {
        // A page need not report the end of an earlier turn.
        if self.turns.back().is_some_and(|turn| turn.is_overdue(now)) {
            self.is_deaf = true;
        }
        !self.is_deaf && !audience.is_empty()
    }

    /// Lets the reports of pages count from `now` on; true if those of open pages did not.
    fn count_pages(&mut self, audience: &Audience, now: Instant) -> bool {
        let is_reported = self.is_reported(audience, now);
        self.is_deaf = false;
        if let Some(turn) = self.turns.back_mut().filter(|turn| !is_reported && turn.sent > 0) {
            // The clock has played until now.
            turn.acknowledged = turn.played(now, false);
            turn.since = Some(now);
        }
        !is_reported && !audience.is_empty()
    }

    /// Samples that pages have and have not played.
    fn outstanding(&self, now: Instant, by_pages: bool) -> u64 {
        let last = self.turns.len().saturating_sub(1);
        let ahead = self.turns.iter().enumerate().map(|(index, turn)| {
            // A page need not report the end of an earlier turn.
            turn.sent - turn.played(now, by_pages && index == last)
        });
        ahead.sum()
    }

    /// True while an NPC's speech is on its way to pages.
    fn is_speaking(&self, now: Instant, by_pages: bool) -> bool {
        !self.queue.is_empty() || self.outstanding(now, by_pages) > 0
    }

    /// Sends what pages may have by now.
    fn pump(&mut self, audience: &Audience, now: Instant) {
        let by_pages = self.is_reported(audience, now);
        let mut ahead = self.outstanding(now, by_pages);
        while !self.queue.is_empty() && (!by_pages || ahead + FRAME <= WINDOW) {
            let Some((of, frame)) = self.queue.pop_front() else { return };
            let Some(turn) = self.turns.iter_mut().find(|it| it.turn == of) else { continue };
            if self.told != Some(of) {
                self.told = Some(of);
                self.asides.clear();
                audience.tell(&ToPage::Speech { turn: of.0, npc: turn.npc.clone() });
            }
            let mut samples = frame.samples().to_vec();
            self.gain.apply(&mut samples);
            audience.play(&wire::sound(&samples));
            turn.send(now, by_pages);
            ahead += FRAME;
        }
    }
}

impl PageSound {
    pub fn new(audience: Audience) -> Self {
        let state = Playing {
            turns: VecDeque::new(),
            queue: VecDeque::new(),
            gain: Gain::new(RATE),
            told: None,
            asides: Vec::new(),
            is_deaf: false,
        };
        Self { audience, state: Arc::new(Mutex::new(state)) }
    }

    /// Opens a page of the audience, which gets what is sent from now on: no frame may come between
    /// the two.
    pub fn open(&self, page: &Page) {
        let (mut state, now) = (self.state(), Instant::now());
        let told = state.told;
        state.count_pages(&self.audience, now);
        if let Some(turn) = state.turns.back_mut() {
            turn.late.push((page.id, turn.sent));
            if told == Some(turn.turn) {
                page.send(&ToPage::Speech { turn: turn.turn.0, npc: turn.npc.clone() });
            }
        }
        self.audience.open(page.id);
    }

    /// Begins a sample of the voice of `npc` on this page alone; false while an NPC speaks at the
    /// table.
    pub fn begin_aside(&self, page: &Page, npc: &str) -> bool {
        let (mut state, now) = (self.state(), Instant::now());
        let by_pages = state.is_reported(&self.audience, now);
        if state.is_speaking(now, by_pages) {
            return false;
        }
        // A turn that only pauses is announced again before its next frame.
        state.told = None;
        state.asides.retain(|it| *it != page.id);
        state.asides.push(page.id);
        // Drops the rest of an earlier sample.
        page.send(&ToPage::Flush { turn: ASIDE });
        page.send(&ToPage::Speech { turn: ASIDE, npc: npc.to_owned() })
    }

    /// Sends more of the sample that `page` hears; false if the table has spoken since it began, or
    /// the page is gone.
    pub fn aside(&self, page: &Page, sound: Bytes) -> bool {
        self.state().asides.contains(&page.id) && page.sound(sound)
    }

    /// Ends the sample that `page` hears; one that was cut off is dropped there too.
    pub fn end_aside(&self, page: &Page, is_whole: bool) {
        let mut state = self.state();
        state.asides.retain(|it| *it != page.id);
        if !is_whole {
            page.send(&ToPage::Flush { turn: ASIDE });
        }
    }

    /// A page reports the samples of `turn` that it has played.
    pub fn played(&self, page: u64, turn: u64, samples: u64) {
        let (mut state, now) = (self.state(), Instant::now());
        let Some(at) = state.turns.iter().position(|it| it.turn.0 == turn) else { return };
        let is_back = state.count_pages(&self.audience, now);
        let sound = &mut state.turns[at];
        let before = sound.late.iter().find(|(id, _)| *id == page).map_or(0, |(_, sent)| *sent);
        let played = before.saturating_add(samples).min(sound.sent);
        // The clock was ahead of a page that is back.
        let known = if is_back { 0 } else { sound.acknowledged };
        sound.acknowledged = known.max(played);
        sound.since = Some(now);
        state.pump(&self.audience, now);
    }

    /// Never held across an await.
    fn state(&self) -> MutexGuard<'_, Playing> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VoiceOut for PageSound {
    fn begin(&mut self, turn: TurnId) {
        let mut state = self.state();
        if state.turns.len() == TURNS_MAX {
            state.turns.pop_front();
        }
        state.turns.push_back(TurnSound::new(turn));
    }

    fn play(&mut self, npc: &str, frame: Frame) {
        let (mut state, now) = (self.state(), Instant::now());
        let Some(sound) = state.turns.back_mut() else { return };
        if sound.npc.is_empty() {
            npc.clone_into(&mut sound.npc);
        }
        sound.taken += FRAME;
        let turn = sound.turn;
        state.queue.push_back((turn, frame));
        state.pump(&self.audience, now);
    }

    fn ramp(&mut self, db: f32, over: Duration) {
        self.state().gain.ramp_to(db, over);
    }

    fn waiting(&self) -> usize {
        let mut state = self.state();
        state.pump(&self.audience, Instant::now());
        state.queue.len()
    }

    fn stop(&mut self) -> usize {
        let (mut state, now) = (self.state(), Instant::now());
        let by_pages = state.is_reported(&self.audience, now);
        let unheard = state.turns.back().map_or(0, |it| it.taken - it.played(now, by_pages));
        state.queue.clear();
        // The X-card stops samples too.
        state.asides.clear();
        state.told = None;
        for turn in &mut state.turns {
            if turn.sent > turn.played(now, by_pages) {
                self.audience.tell(&ToPage::Flush { turn: turn.turn.0 });
            }
            turn.stop(now, by_pages);
        }
        usize::try_from(unheard.div_ceil(FRAME)).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, sleep};
    use tokio_tungstenite::tungstenite::Message;

    use super::{
        super::{pages::PageQueue, stand_in::opened},
        *,
    };
    use crate::session::{
        Command, Pace,
        tests::stage::{Setup, THORIN},
    };

    const TURN: TurnId = TurnId(3);

    /// Numbers of events and of frames that a page was sent.
    fn sent(queue: &mut PageQueue) -> (usize, usize) {
        let all: Vec<_> = std::iter::from_fn(|| queue.messages.now()).collect();
        let frames = all.iter().filter(|it| matches!(it, Message::Binary(_))).count();
        (all.len() - frames, frames)
    }

    fn speaks(sound: &mut PageSound, frames: usize) {
        for _ in 0..frames {
            sound.play("Bartok", Frame::silence(RATE));
        }
    }

    fn begun() -> (Audience, PageSound) {
        let audience = Audience::default();
        let mut sound = PageSound::new(audience.clone());
        sound.begin(TURN);
        (audience, sound)
    }

    #[tokio::test(start_paused = true)]
    async fn pages_get_sound_up_to_the_window() {
        let (audience, mut sound) = begun();
        let [(page, mut queue)] = opened(&audience).await;
        speaks(&mut sound, 20);
        assert_eq!((sent(&mut queue), sound.waiting()), ((1, 15), 5));
        sound.played(page.id, TURN.0, 3 * FRAME);
        assert_eq!((sent(&mut queue), sound.waiting()), ((0, 3), 2));
        sound.played(page.id, TURN.0, u64::MAX);
        assert_eq!((sent(&mut queue), sound.waiting()), ((0, 2), 0));
        sound.played(page.id, 99, u64::MAX);
        assert!(!sound.begin_aside(&page, "Bartok"), "only what was sent can have been played");
    }

    #[tokio::test(start_paused = true)]
    async fn unacknowledged_sound_was_not_heard() {
        let (audience, mut sound) = begun();
        let [(page, mut queue)] = opened(&audience).await;
        speaks(&mut sound, 20);
        sound.played(page.id, TURN.0, 12_345);
        // The thirteenth frame was not played to its end.
        assert_eq!(sound.stop(), 8);
        assert_eq!(sent(&mut queue), (2, 20), "it is told to drop the rest");
        sound.played(page.id, TURN.0, 19_200);
        assert_eq!((sound.stop(), sent(&mut queue)), (0, (0, 0)), "its last report is late");
    }

    #[tokio::test(start_paused = true)]
    async fn furthest_page_counts() {
        let (audience, mut sound) = begun();
        let [(one, _first), (other, _second)] = opened(&audience).await;
        speaks(&mut sound, 10);
        sound.played(other.id, TURN.0, 6 * FRAME);
        sound.played(one.id, TURN.0, 2 * FRAME);
        assert_eq!(sound.stop(), 4);
    }

    #[tokio::test(start_paused = true)]
    async fn clock_plays_without_a_page() {
        let (audience, mut sound) = begun();
        speaks(&mut sound, 10);
        assert_eq!(sound.waiting(), 0);
        advance(Duration::from_millis(100)).await;
        // A page that opens now gets the rest only.
        let [(page, mut queue)] = opened(&Audience::default()).await;
        audience.call(&page, "Ada");
        sound.open(&page);
        speaks(&mut sound, 5);
        sound.played(page.id, TURN.0, 2 * FRAME);
        assert_eq!(sent(&mut queue), (1, 5));
        assert_eq!(sound.stop(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn silent_page_does_not_stall_the_turn() {
        let (audience, mut sound) = begun();
        let [(_page, mut queue)] = opened(&audience).await;
        speaks(&mut sound, 20);
        advance(DEAF).await;
        assert_eq!((sound.waiting(), sent(&mut queue)), (0, (1, 20)));
        sound.begin(TurnId(4));
        speaks(&mut sound, 1);
        assert_eq!(sent(&mut queue), (1, 1), "the end of an earlier turn is past by the clock");
    }

    #[tokio::test(start_paused = true)]
    async fn page_that_falls_silent_stalls_no_turn() {
        let (audience, mut sound) = begun();
        let [(page, mut queue)] = opened(&audience).await;
        speaks(&mut sound, 20);
        sound.played(page.id, TURN.0, 5 * FRAME);
        assert_eq!((sound.waiting(), sent(&mut queue)), (0, (1, 20)));
        speaks(&mut sound, 10);
        assert_eq!(sound.waiting(), 10, "it has the window");
        advance(DEAF).await;
        assert_eq!((sound.waiting(), sent(&mut queue)), (0, (0, 10)));
        speaks(&mut sound, 30);
        assert_eq!((sound.waiting(), sent(&mut queue)), (0, (0, 30)), "no one waits for it again");
        sound.begin(TurnId(4));
        speaks(&mut sound, 20);
        assert_eq!(sound.waiting(), 0, "nor in the next turn");
        // It wakes up, and is waited for from where it is.
        sound.played(page.id, 4, FRAME);
        speaks(&mut sound, 3);
        assert_eq!(sound.waiting(), 3);
        assert_eq!(sound.stop(), 22);
    }

    #[tokio::test(start_paused = true)]
    async fn other_page_counts_when_one_falls_silent() {
        let (audience, mut sound) = begun();
        let [(asleep, _first), (other, _second)] = opened(&audience).await;
        speaks(&mut sound, 15);
        sound.played(asleep.id, TURN.0, 5 * FRAME);
        for played in 1..=15 {
            advance(Duration::from_millis(100)).await;
            sound.played(other.id, TURN.0, played * FRAME);
        }
        speaks(&mut sound, 20);
        assert_eq!(sound.waiting(), 5, "the clock does not play");
        sound.played(other.id, TURN.0, 20 * FRAME);
        assert_eq!((sound.waiting(), sound.stop()), (0, 15));
    }

    #[tokio::test(start_paused = true)]
    async fn pause_of_the_npc_is_no_silence_of_pages() {
        let (audience, mut sound) = begun();
        let [(page, _queue)] = opened(&audience).await;
        speaks(&mut sound, 5);
        sound.played(page.id, TURN.0, 5 * FRAME);
        advance(5 * DEAF).await;
        speaks(&mut sound, 20);
        assert_eq!((sound.waiting(), sound.stop()), (5, 20));
    }

    #[tokio::test(start_paused = true)]
    async fn speech_ends_a_sample_and_is_announced_again() {
        let (audience, mut sound) = begun();
        let [(page, mut queue)] = opened(&audience).await;
        let more = |sound: &PageSound| sound.aside(&page, wire::sound(&[0; 960]));
        assert!(!more(&sound), "none has begun");
        speaks(&mut sound, 2);
        assert!(!sound.begin_aside(&page, "Elara"), "Bartok is speaking");
        sound.played(page.id, TURN.0, 2 * FRAME);
        assert_eq!(sent(&mut queue), (1, 2));
        // He takes a breath.
        assert!(sound.begin_aside(&page, "Elara") && more(&sound) && more(&sound));
        assert_eq!(sent(&mut queue), (2, 2));
        speaks(&mut sound, 1);
        assert!(!more(&sound));
        let told = queue.messages.now().unwrap();
        assert_eq!(told, Message::text(r#"{"type":"speech","turn":3,"npc":"Bartok"}"#));
        assert_eq!(sent(&mut queue), (0, 1));
        _ = sound.stop();
        assert!(!more(&sound), "it does not go on after the table's speech");
        assert!(sound.begin_aside(&page, "Elara") && more(&sound));
        assert_eq!(sound.stop(), 0);
        assert!(!more(&sound), "the X-card stops it");
        sound.end_aside(&page, false);
    }

    #[tokio::test(start_paused = true)]
    async fn line_has_only_what_pages_have_played() {
        let audience = Audience::default();
        let sound = PageSound::new(audience.clone());
        let [(page, mut queue)] = opened(&audience).await;
        let (out, pace): (Box<dyn VoiceOut>, _) = (Box::new(sound.clone()), Pace::Ahead(LEAD));
        let mut stage = Setup { out: Some(out), pace, ..Setup::of(&["Bartok"]) }.open().await;
        stage.answers("The first part is here. The second follows.");
        stage.types(THORIN, "Bartok, tell me").await;
        while !matches!(queue.messages.recv().await, Some(Message::Binary(_))) {}
        // It plays half of the first sentence, which lasts for a second, and then nothing.
        for (wait, samples) in [(300, 14_400), (200, 24_000), (300, 24_000)] {
            sleep(Duration::from_millis(wait)).await;
            sound.played(page.id, 1, samples);
        }
        stage.order(Command::Skip).await;
        stage.settle().await;
        let reply = stage.lines().remove(0).reply;
        assert!(reply.starts_with("The first") && !reply.contains("here"), "{reply}");
        stage.close().await;
    }
}
