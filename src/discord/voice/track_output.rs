//! NPCs' speech to songbird: one track per stretch of speech, fed through a ring.
//!
//! Entry type: [`TrackOutput`]; [`start_tracks`] is the task that starts its tracks. The table
//! pushes 20 ms frames about 40 ms early; a ring that runs empty plays silence. Without a
//! connection songbird keeps its tracks unread, and once back reads them all at once. So the table
//! asks how many frames wait and ends an unread turn, and a ring left unread for 3 s ends at the
//! next read. **Never**: blocks songbird's thread, or plays frames from before a stop.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use songbird::{Call, tracks::TrackHandle};
use tokio::{sync::mpsc, time::Instant};

use super::source::{self, Frames};
use crate::{
    audio::{Frame, Gain, SampleRate},
    discord::tenure::Tenure,
    logic::music::MusicFrame,
    session::{MusicPlayer, Under, VoiceOut},
};

/// How early the table's frames are due: the cost of one late wake-up.
pub const LEAD: Duration = Duration::from_millis(40);
/// Tracks waiting to be started; usually one.
pub const TRACK_CAPACITY: usize = 16;
/// Speech left unread for this long is dropped. Longer than the table's own wait, after which it
/// counts as not played.
const UNREAD_MAX: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct Ring {
    state: Mutex<RingState>,
    track: OnceLock<TrackHandle>,
}

#[derive(Debug)]
struct RingState {
    frames: VecDeque<Frame>,
    gain: Gain,
    /// No more frames follow: it ends when empty.
    closed: bool,
    /// Last read, or first frame after it was empty.
    read_at: Instant,
    /// A notice may play late: everyone must hear it.
    keeps: bool,
}

impl RingState {
    fn push(&mut self, frame: Frame) {
        if self.frames.is_empty() {
            self.read_at = Instant::now();
        }
        self.frames.push_back(frame);
    }

    /// True if its frames waited too long to be played.
    fn is_stale(&self, now: Instant) -> bool {
        let unread = now.saturating_duration_since(self.read_at);
        !self.keeps && !self.frames.is_empty() && unread > UNREAD_MAX
    }
}

impl Ring {
    fn new() -> Self {
        let gain = Gain::new(SampleRate::HZ_48000);
        let frames = VecDeque::new();
        let read_at = Instant::now();
        let state = RingState { frames, gain, closed: false, read_at, keeps: false };
        Self { state: Mutex::new(state), track: OnceLock::new() }
    }

    /// Held to copy a frame, never across an await.
    fn state(&self) -> MutexGuard<'_, RingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it now; returns the number of unread frames.
    fn cut(&self) -> usize {
        let mut state = self.state();
        state.closed = true;
        let unplayed = state.frames.len();
        state.frames.clear();
        drop(state);
        if let Some(track) = self.track.get() {
            // The track may have ended by itself.
            let _ = track.stop();
        }
        unplayed
    }
}

impl Frames for Arc<Ring> {
    fn next(&self, into: &mut MusicFrame) -> bool {
        let mut state = self.state();
        let now = Instant::now();
        if state.is_stale(now) {
            // Its frames stay and count as not played.
            return false;
        }
        state.read_at = now;
        match state.frames.pop_front() {
            Some(frame) => into.iter_mut().zip(frame.samples()).for_each(|(to, from)| *to = *from),
            None if state.closed => return false,
            None => into.fill(0),
        }
        state.gain.apply(into);
        true
    }
}

pub struct TrackOutput {
    tracks: mpsc::Sender<Arc<Ring>>,
    ring: Option<Arc<Ring>>,
    /// Closed, but perhaps not fully read: songbird may be late or disconnected.
    closed: Vec<Arc<Ring>>,
    speaker: Option<String>,
}

impl TrackOutput {
    /// The reader of `tracks` starts its tracks.
    pub fn new(tracks: mpsc::Sender<Arc<Ring>>) -> Self {
        Self { tracks, ring: None, closed: Vec::new(), speaker: None }
    }

    /// The open ring; opens one if necessary.
    fn ring(&mut self) -> &Arc<Ring> {
        let tracks = &self.tracks;
        self.ring.get_or_insert_with(|| {
            let ring = Arc::new(Ring::new());
            if tracks.try_send(Arc::clone(&ring)).is_err() {
                tracing::warn!("no voice connection for speech");
            }
            ring
        })
    }

    fn close(&mut self) {
        self.speaker = None;
        if let Some(ring) = self.ring.take() {
            ring.state().closed = true;
            let now = Instant::now();
            self.closed.retain(|ring| {
                let state = ring.state();
                !state.frames.is_empty() && !state.is_stale(now)
            });
            self.closed.push(ring);
        }
    }
}

impl VoiceOut for TrackOutput {
    fn prepare(&mut self) {
        // A running mixer responds 25 ms sooner.
        self.ring();
    }

    fn play(&mut self, npc: &str, frame: Frame) {
        // Each NPC has its own track.
        if self.speaker.as_deref().is_some_and(|speaker| speaker != npc) {
            self.close();
        }
        if self.speaker.is_none() {
            self.speaker = Some(npc.to_owned());
        }
        // Replaces a stale ring: its track has ended, or ends at the next read.
        let now = Instant::now();
        _ = self.ring.take_if(|ring| ring.state().is_stale(now));
        self.ring().state().push(frame);
    }

    fn ramp(&mut self, db: f32, over: Duration) {
        if let Some(ring) = &self.ring {
            ring.state().gain.ramp_to(db, over);
        }
    }

    fn rest(&mut self) {
        self.close();
    }

    fn waiting(&self) -> usize {
        self.ring.as_ref().map_or(0, |ring| ring.state().frames.len())
    }

    fn stop(&mut self) -> usize {
        self.speaker = None;
        for ring in self.closed.drain(..) {
            // From a turn already counted as played.
            _ = ring.cut();
        }
        self.ring.take().map_or(0, |ring| ring.cut())
    }
}

impl Drop for TrackOutput {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts tracks until all senders are gone.
pub async fn start_tracks(
    call: Arc<tokio::sync::Mutex<Call>>,
    mut tracks: mpsc::Receiver<Arc<Ring>>,
    tenure: Tenure,
) {
    while let Some(ring) = tracks.recv().await {
        start(&call, &ring, &tenure).await;
    }
}

struct Notice {
    ring: Arc<Ring>,
    music: MusicPlayer,
}

impl Notice {
    fn new(frames: Vec<Frame>, music: MusicPlayer) -> Self {
        let ring = Arc::new(Ring::new());
        {
            let mut state = ring.state();
            state.frames.extend(frames);
            state.closed = true;
            state.keeps = true;
        }
        music.duck(Under::Notice, true);
        Self { ring, music }
    }
}

impl Frames for Notice {
    fn next(&self, into: &mut MusicFrame) -> bool {
        self.ring.next(into)
    }
}

impl Drop for Notice {
    fn drop(&mut self) {
        self.music.duck(Under::Notice, false);
    }
}

/// Plays the bot's own sound beside any speech; lowers `music` for it.
pub async fn play(
    call: &tokio::sync::Mutex<Call>,
    frames: Vec<Frame>,
    music: MusicPlayer,
    tenure: &Tenure,
) {
    // The track ends by itself.
    _ = source::start(call, Box::new(Notice::new(frames, music)), tenure).await;
}

async fn start(call: &tokio::sync::Mutex<Call>, ring: &Arc<Ring>, tenure: &Tenure) {
    let started = source::start(call, Box::new(Arc::clone(ring)), tenure).await;
    let Some(track) = started else { return };
    // A ring is started only once.
    let _ = ring.track.set(track.clone());
    let over = {
        let state = ring.state();
        state.closed && state.frames.is_empty()
    };
    if over {
        // It may have ended already.
        let _ = track.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::{
        audio::{Clip, FRAME_SAMPLES_48K, write_wav},
        discord::voice::source::{SAMPLE_BYTES, Source},
        logic::music::{MusicOrder, Track},
        session::TableEvents,
    };

    fn source(ring: Arc<Ring>) -> Source {
        Source::new(Box::new(ring), Tenure::endless())
    }

    fn frame(level: i16) -> Frame {
        Frame::new(vec![level; FRAME_SAMPLES_48K], SampleRate::HZ_48000).unwrap()
    }

    fn read_all(source: &mut Source, up_to: usize) -> Vec<f32> {
        let mut out = Vec::new();
        let mut bytes = [0_u8; 10_000];
        while out.len() < up_to {
            let count = source.read(&mut bytes).unwrap();
            assert!(count <= FRAME_SAMPLES_48K * SAMPLE_BYTES, "a frame at most");
            if count == 0 {
                break;
            }
            let samples = bytes[..count].chunks_exact(4);
            out.extend(samples.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        }
        out
    }

    fn output() -> (TrackOutput, mpsc::Receiver<Arc<Ring>>) {
        let (tracks, started) = mpsc::channel(TRACK_CAPACITY);
        (TrackOutput::new(tracks), started)
    }

    #[test]
    fn track_is_silent_before_speech_and_ends_after() {
        let (mut output, mut started) = output();
        output.prepare();
        let mut source = source(started.try_recv().unwrap());
        assert_eq!(read_all(&mut source, FRAME_SAMPLES_48K), [0.0; FRAME_SAMPLES_48K]);
        output.play("Bartok", frame(16_384));
        output.rest();
        let rest = read_all(&mut source, usize::MAX);
        assert_eq!(rest, [0.5; FRAME_SAMPLES_48K]);
    }

    #[test]
    fn stop_returns_unheard_frames_and_ends_track() {
        let (mut output, mut started) = output();
        for _ in 0..3 {
            output.play("Bartok", frame(100));
        }
        let mut source = source(started.try_recv().unwrap());
        read_all(&mut source, FRAME_SAMPLES_48K);
        assert_eq!(output.stop(), 2);
        assert_eq!(read_all(&mut source, usize::MAX).len(), 0);
        assert_eq!(output.stop(), 0, "nothing is left to stop");
    }

    #[test]
    fn stop_cuts_closed_tracks_that_are_read_late() {
        let (mut output, mut started) = output();
        output.play("Bartok", frame(100));
        output.rest();
        output.play("Greymantle", frame(100));
        output.rest();
        let sources = [(); 2].map(|()| source(started.try_recv().unwrap()));
        assert_eq!(output.stop(), 0, "they were played to their ends");
        for mut source in sources {
            assert_eq!(read_all(&mut source, usize::MAX).len(), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn unread_speech_is_not_said_later() {
        let (mut output, mut started) = output();
        let (early, late) = (Duration::from_secs(2), Duration::from_secs(4));
        for wait in [early, late] {
            for _ in 0..3 {
                output.play("Bartok", frame(16_384));
            }
            assert_eq!(output.waiting(), 3);
            tokio::time::advance(wait).await;
            let mut source = source(started.try_recv().unwrap());
            let said = read_all(&mut source, FRAME_SAMPLES_48K).len();
            let heard = if wait == early { FRAME_SAMPLES_48K } else { 0 };
            assert_eq!(said, heard, "{wait:?}");
            // Unread frames count as unheard.
            assert_eq!(output.stop(), if wait == early { 2 } else { 3 }, "{wait:?}");
            assert_eq!(output.waiting(), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn speech_after_an_outage_has_a_track_of_its_own() {
        let (mut output, mut started) = output();
        output.play("Bartok", frame(1));
        tokio::time::advance(Duration::from_secs(4)).await;
        output.play("Bartok", frame(16_384));
        let [mut old, mut new] = [(); 2].map(|()| source(started.try_recv().unwrap()));
        assert_eq!(read_all(&mut old, usize::MAX).len(), 0);
        assert_eq!(read_all(&mut new, FRAME_SAMPLES_48K), [0.5; FRAME_SAMPLES_48K]);
    }

    #[tokio::test(start_paused = true)]
    async fn notice_waits_for_the_connection() {
        let music = MusicPlayer::new(TableEvents::new(1).downgrade());
        let notice = Notice::new(vec![frame(16_384)], music);
        let mut source = Source::new(Box::new(notice), Tenure::endless());
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(read_all(&mut source, usize::MAX), [0.5; FRAME_SAMPLES_48K]);
    }

    #[test]
    fn music_makes_room_until_a_notice_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tone.wav");
        let clip = Clip { samples: vec![16_384; 48_000], rate: SampleRate::HZ_48000 };
        std::fs::write(&file, write_wav(&clip)).unwrap();
        let music = MusicPlayer::new(TableEvents::new(1).downgrade());
        music.order(MusicOrder::Play(Arc::new(Track { file, ..Track::plain("Tone") })));
        let level = |frames| {
            let mut frame = [0; FRAME_SAMPLES_48K];
            (0..frames).for_each(|_| _ = music.next_whole(&mut frame));
            frame[FRAME_SAMPLES_48K - 1]
        };
        assert_eq!(level(1), 16_384);
        let notice = Notice::new(vec![frame(16_384)], music.clone());
        let mut source = Source::new(Box::new(notice), Tenure::endless());
        assert_eq!(read_all(&mut source, usize::MAX), [0.5; FRAME_SAMPLES_48K]);
        assert!(level(10) < 4_200, "12 dB less");
        drop(source);
        assert_eq!(level(40), 16_384);
    }

    #[test]
    fn ducking_applies_to_frames_already_queued() {
        let (mut output, mut started) = output();
        output.play("Bartok", frame(16_384));
        output.ramp(-20.0, Duration::ZERO);
        let mut source = source(started.try_recv().unwrap());
        let heard = read_all(&mut source, FRAME_SAMPLES_48K);
        assert!((heard[10] - 0.05).abs() < 0.001, "{}", heard[10]);
        output.play("Greymantle", frame(1));
        assert!(started.try_recv().is_ok(), "a second track");
        assert_eq!(read_all(&mut source, usize::MAX).len(), 0);
    }
}
