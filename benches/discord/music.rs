//! Music that tables play beside speech, and the cost of encoding it alone.
//!
//! Entry functions: [`file`], [`track`] and [`encoding`].

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use glyphoxa::measure::{Layer, MusicOrder, MusicPlayer, TableEvents, Track};
use opus2::{Application, Bitrate, Channels, Encoder};

use crate::support::process::cpu_of_thread;

/// Samples of a frame.
const FRAME: usize = 960;
/// Frames that are encoded: 60 s.
const FRAMES: u32 = 3_000;
/// Rate that songbird sets for its encoder, in bits a second.
const BITRATE: i32 = 128_000;
/// Bytes of the longest packet.
const LONGEST: usize = 1_275;

/// A shipped loop, which is Opus itself.
pub fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/music/drums.opus")
}

/// The track of a file, for ever.
pub fn track(file: PathBuf) -> Arc<Track> {
    Arc::new(Track {
        file,
        title: "Music".to_owned(),
        moods: Vec::new(),
        layer: Layer::Music,
        is_looped: true,
        gain_db: 0.0,
        credits: None,
    })
}

/// Share of a core that encoding the music takes, as songbird does it, in %.
pub fn encoding() -> f64 {
    let player = MusicPlayer::new(TableEvents::new(1).downgrade());
    player.order(MusicOrder::Play(track(file())));
    let frames = (0..FRAMES).map(|_| {
        let mut frame = [0; FRAME];
        assert!(player.next_whole(&mut frame), "the music sounds");
        frame.map(|sample| f32::from(sample) / 32_768.0)
    });
    let frames: Vec<[f32; FRAME]> = frames.collect();
    player.silence();
    let encoder = Encoder::new(48_000, Channels::Mono, Application::Audio);
    let mut encoder = encoder.expect("a rate that Opus knows");
    encoder.set_bitrate(Bitrate::Bits(BITRATE)).expect("a rate that Opus knows");
    let (before, mut packet) = (cpu_of_thread(), [0; LONGEST]);
    for frame in &frames {
        encoder.encode_float(frame, &mut packet).expect("a frame");
    }
    let seconds = f64::from(FRAMES) / 50.0;
    (cpu_of_thread() - before).as_secs_f64() * 100.0 / seconds
}
