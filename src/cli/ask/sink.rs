//! Replies as one recording, and as live sound. Entry type: [`WavSink`].

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Context;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::player::{Player, Sound};
use crate::{
    audio::{Clip, FRAME, FRAME_SAMPLES_48K, Frame, Gain, SampleRate, write_wav},
    files,
    session::{MusicPlayer, Outlets, Pace, TableEvents, VoiceOut},
    tools::Effects,
};

/// Frames of music after the last answer: 5 s.
const TAIL: usize = 250;
/// The last of them fade out: 2 s.
const FADING: usize = 100;
const FADE: Duration = Duration::from_secs(2);
/// Frames of music sent to the player at once during silence: 2 s.
const PIECE: usize = 100;
/// Longest time for making them.
const PIECE_PATIENCE: Duration = Duration::from_millis(200);

/// Collects the NPCs' speech and the music, as heard together. Cloning shares it.
#[derive(Clone)]
pub struct WavSink(Arc<Mutex<Collected>>);

struct Collected {
    samples: Vec<i16>,
    gain: Gain,
    /// Plays in step with the speech.
    music: MusicPlayer,
    /// `None`: only collects.
    player: Option<Player>,
    /// Speech is on its way.
    speaks: bool,
    /// The player plays only music, and more of it follows.
    is_between: bool,
}

impl VoiceOut for WavSink {
    fn play(&mut self, _npc: &str, frame: Frame) {
        let mut collected = self.collected();
        collected.speaks = true;
        let mut samples = frame.samples().to_vec();
        collected.gain.apply(&mut samples);
        let mut music = [0; FRAME_SAMPLES_48K];
        if collected.music.next_whole(&mut music) {
            for (sample, beside) in samples.iter_mut().zip(music) {
                *sample = sample.saturating_add(beside);
            }
        }
        collected.take(samples);
    }

    fn ramp(&mut self, db: f32, over: Duration) {
        self.collected().gain.ramp_to(db, over);
    }

    fn rest(&mut self) {
        let mut collected = self.collected();
        collected.speaks = false;
        collected.tell(Sound::Rest);
    }

    fn stop(&mut self) -> usize {
        self.collected().tell(Sound::Stop);
        // A recording plays nothing ahead.
        0
    }
}

impl Collected {
    fn take(&mut self, samples: Vec<i16>) {
        self.cut_music();
        self.samples.extend_from_slice(&samples);
        self.tell(Sound::Samples(samples));
    }

    /// Drops music sent ahead to the player.
    fn cut_music(&mut self) {
        if std::mem::take(&mut self.is_between) {
            self.tell(Sound::Stop);
        }
    }

    /// Sends a piece of music to a player with an empty queue. Silenced music ends at once.
    fn go_on(&mut self) {
        if !self.music_sounds() {
            self.cut_music();
            return;
        }
        let is_free = |it: &&Player| !self.speaks && it.is_idle();
        let Some(player) = self.player.as_ref().filter(is_free) else { return };
        let mut piece = Vec::new();
        let mut music = [0; FRAME_SAMPLES_48K];
        let begun = Instant::now();
        // A disk that does not answer ends the piece.
        while piece.len() < PIECE * FRAME_SAMPLES_48K
            && begun.elapsed() < PIECE_PATIENCE
            && self.music.next_whole(&mut music)
        {
            piece.extend_from_slice(&music);
        }
        player.tell(Sound::Samples(piece));
        player.tell(Sound::Rest);
        // The end of a fade is played.
        self.is_between = self.music_sounds();
    }

    fn music_sounds(&self) -> bool {
        *self.music.sounds().borrow()
    }

    fn tell(&self, sound: Sound) {
        if let Some(player) = &self.player {
            player.tell(sound);
        }
    }
}

impl WavSink {
    /// Collects sound mixed with `music`, and plays it with `player`.
    pub fn new(player: Option<Player>, music: MusicPlayer) -> Self {
        let gain = Gain::new(SampleRate::HZ_48000);
        let (samples, speaks, is_between) = (Vec::new(), false, false);
        let collected = Collected { samples, gain, music, player, speaks, is_between };
        Self(Arc::new(Mutex::new(collected)))
    }

    /// True if a player plays the sound.
    pub fn is_played(&self) -> bool {
        self.collected().player.is_some()
    }

    /// Outlets of a table into this sink; real time if `clock_runs`.
    pub fn outlets(
        &self,
        clock_runs: bool,
        effects: Arc<dyn Effects>,
        events: TableEvents,
    ) -> Outlets {
        Outlets {
            out: Box::new(self.clone()),
            pace: if clock_runs { Pace::RealTime } else { Pace::Free },
            music: self.collected().music.clone(),
            effects,
            halts: Arc::default(),
            events,
        }
    }

    /// Plays the music between speech, without collecting it; ends only when dropped.
    pub async fn play_between(&self) {
        let mut ticks = interval(FRAME);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.collected().go_on();
        }
    }

    /// Continues the music of a recording for some seconds, and fades it out.
    pub fn fade_music_out(&self) {
        let mut collected = self.collected();
        let mut fade = Gain::new(SampleRate::HZ_48000);
        for left in (1..=TAIL).rev() {
            if left == FADING {
                fade.ramp_to(f32::NEG_INFINITY, FADE);
            }
            let mut music = [0; FRAME_SAMPLES_48K];
            if !collected.music.next_whole(&mut music) {
                break;
            }
            fade.apply(&mut music);
            collected.take(music.to_vec());
        }
        collected.tell(Sound::Rest);
    }

    /// Waits until everything was heard. Ctrl-C drops the rest; so does a run that was not `whole`.
    pub async fn played_out(&self, whole: bool) {
        let player = {
            let mut collected = self.collected();
            collected.cut_music();
            collected.player.take()
        };
        if let Some(player) = player {
            player.finish(whole).await;
        }
    }

    fn collected(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes everything collected, whole or not at all; nothing without speech.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let samples = std::mem::take(&mut self.collected().samples);
        if samples.is_empty() {
            super::super::complain(&format!("'{}' not written: no NPC spoke", path.display()));
            return Ok(());
        }
        let wav = write_wav(&Clip { samples, rate: SampleRate::HZ_48000 });
        files::replace(path, &wav).with_context(|| format!("cannot write '{}'", path.display()))
    }
}

/// Why a recording cannot be written, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// A folder has this name.
    #[error("--out '{}' is a folder (name a file in it)", .0.display())]
    Folder(PathBuf),
    /// The extension is not `.wav`.
    #[error(
        "--out '{}' is not a .wav file (replies are written as WAV: 48 kHz mono, 16-bit PCM; name \
         it '{}')",
        .0.display(), .0.with_extension("wav").display()
    )]
    Format(PathBuf),
    /// Its folder does not exist.
    #[error("--out '{}': missing folder '{}' (create it first)", .path.display(), .folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("--out '{}' cannot be written: {error} (name another file)", .path.display())]
    Disk { path: PathBuf, error: io::Error },
}

/// Checks that `path` can be written later.
pub fn check(path: &Path) -> Result<(), SinkError> {
    let path = path.to_owned();
    if path.is_dir() {
        return Err(SinkError::Folder(path));
    }
    if path.extension().is_some_and(|end| !end.eq_ignore_ascii_case("wav")) {
        return Err(SinkError::Format(path));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        let folder = folder.to_owned();
        return Err(SinkError::NoFolder { path, folder });
    }
    files::replaceable(&path).map_err(|error| SinkError::Disk { path, error })
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;
    use crate::logic::music::{MusicOrder, Track};

    /// A sink beside a loop that counts to 1,000, without a gap.
    fn beside_music(folder: &Path, player: Option<Player>) -> (WavSink, MusicPlayer) {
        let file = folder.join("count.wav");
        let clip = Clip { samples: (0..1_000).collect(), rate: SampleRate::HZ_48000 };
        files::replace(&file, &write_wav(&clip)).unwrap();
        let music = MusicPlayer::new(TableEvents::new(1).downgrade());
        music.order(MusicOrder::Play(Arc::new(Track { file, ..Track::plain("Count") })));
        (WavSink::new(player, music.clone()), music)
    }

    fn speech(level: i16) -> Frame {
        Frame::padded(&[level; FRAME_SAMPLES_48K], SampleRate::HZ_48000)
    }

    #[test]
    fn music_is_mixed_in_without_a_gap_and_fades() {
        let folder = tempfile::tempdir().unwrap();
        let (mut sink, _music) = beside_music(folder.path(), None);
        for _ in 0..100 {
            sink.play("Bartok", speech(5_000));
        }
        sink.fade_music_out();
        let samples = std::mem::take(&mut sink.collected().samples);
        assert_eq!(samples.len(), (100 + TAIL) * FRAME_SAMPLES_48K);
        let (spoken, tail) = samples.split_at(96_000);
        let mut count = (0..1_000).cycle();
        assert!(spoken.iter().all(|&it| Some(it - 5_000) == count.next()));
        let (whole, fading) = tail.split_at(144_000);
        assert!(whole.iter().all(|&it| Some(it) == count.next()));
        assert!(fading.iter().rev().take(1_000).all(|&it| it < 20));
    }

    /// Samples, and how often what had not been heard was dropped.
    fn heard(sounds: Vec<Sound>) -> (Vec<i16>, usize) {
        sounds.into_iter().fold((Vec::new(), 0), |(mut samples, stops), sound| match sound {
            Sound::Samples(more) => {
                samples.extend(more);
                (samples, stops)
            }
            Sound::Stop => (samples, stops + 1),
            Sound::Rest | Sound::End => (samples, stops),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn music_plays_only_between_speech() {
        let folder = tempfile::tempdir().unwrap();
        let (player, told, _done) = Player::new();
        let (mut sink, music) = beside_music(folder.path(), Some(player));
        let other = sink.clone();
        let second = async || {
            // It never ends by itself.
            _ = timeout(Duration::from_secs(1), other.play_between()).await;
            heard(told.played())
        };
        let mut count = (0..1_000).cycle();
        for _ in 0..2 {
            let (samples, stops) = second().await;
            assert_eq!((samples.len(), stops), (PIECE * FRAME_SAMPLES_48K, 0), "a piece at a time");
            assert!(samples.iter().all(|&it| Some(it) == count.next()));
        }
        assert!(sink.collected().samples.is_empty(), "no time passes in a recording");
        sink.play("Bartok", speech(5_000));
        assert_eq!(heard(told.played()).1, 1, "speech does not wait for music");
        assert!(second().await.0.is_empty(), "music waits for speech");
        sink.rest();
        _ = told.played();
        assert_eq!(second().await.0.len(), PIECE * FRAME_SAMPLES_48K);
        music.silence();
        assert_eq!(second().await, (Vec::new(), 1), "silence is at once");
        assert_eq!(second().await, (Vec::new(), 0));
    }

    #[test]
    fn without_music_nothing_follows_the_speech() {
        let music = MusicPlayer::new(TableEvents::new(1).downgrade());
        let mut sink = WavSink::new(None, music);
        sink.play("Bartok", speech(5_000));
        sink.fade_music_out();
        assert_eq!(sink.collected().samples, [5_000; FRAME_SAMPLES_48K]);
    }
}
