//! A table's music to songbird: one track beside speech, while anything sounds.
//!
//! Entry function: [`play_music`]. songbird keeps its tracks over a lost connection and pulls nothing
//! meanwhile, so that music goes on where it was. **Never**: mixes, or knows a track of the library.

use std::{sync::Arc, time::Duration};

use songbird::Call;
use tokio::{
    sync::{Mutex, watch},
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::source::{self, Frames};
use crate::{logic::music::MusicFrame, session::MusicPlayer};

/// A track that songbird drops, or cannot play, is started again after so long.
const AGAIN: Duration = Duration::from_millis(200);
/// A track that was stopped is waited for no longer: without a connection songbird lets it lie.
const STOPS: Duration = Duration::from_secs(1);

/// The player as songbird pulls from it.
struct Pulled {
    player: MusicPlayer,
    /// Tells that songbird has dropped it.
    _dropped: DropGuard,
}

impl Frames for Pulled {
    fn next(&self, into: &mut MusicFrame) -> bool {
        self.player.next(into)
    }
}

/// Has songbird play the music of `player` whenever anything sounds. Never ends; cancel safe.
pub async fn play_music(call: Arc<Mutex<Call>>, player: MusicPlayer) {
    let mut sounds = player.sounds();
    while becomes(&mut sounds, true).await {
        let dropped = CancellationToken::new();
        let guard = dropped.clone().drop_guard();
        let frames = Pulled { player: player.clone(), _dropped: guard };
        let track = source::start(&call, Box::new(frames)).await;
        let is_silent = tokio::select! {
            biased;
            is_silent = becomes(&mut sounds, false) => is_silent,
            () = dropped.cancelled() => false,
        };
        if is_silent {
            // Drops the sound that songbird has read ahead. The track may have ended by itself.
            _ = track.map(|track| track.stop());
            // One track at a time pulls frames.
            _ = timeout(STOPS, dropped.cancelled()).await;
        } else {
            sleep(AGAIN).await;
        }
    }
}

/// Waits until something sounds, or nothing; false when nothing ever will again.
async fn becomes(sounds: &mut watch::Receiver<bool>, wanted: bool) -> bool {
    sounds.wait_for(|sounds| *sounds == wanted).await.is_ok()
}

#[cfg(test)]
mod tests {
    use std::{io::Read, sync::Arc};

    use super::*;
    use crate::{
        audio::{Clip, FRAME_SAMPLES_48K, SampleRate, write_wav},
        discord::voice::source::{SAMPLE_BYTES, Source},
        logic::music::{MusicOrder, Track},
        session::TableEvents,
    };

    #[tokio::test]
    async fn track_sounds_until_silenced_and_is_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tone.wav");
        let clip = Clip { samples: vec![16_384; 48_000], rate: SampleRate::HZ_48000 };
        std::fs::write(&file, write_wav(&clip)).unwrap();
        let player = MusicPlayer::new(TableEvents::new(1).downgrade());
        let dropped = CancellationToken::new();
        let guard = dropped.clone().drop_guard();
        let frames = Pulled { player: player.clone(), _dropped: guard };
        let mut source = Source::new(Box::new(frames));
        let mut bytes = [0; FRAME_SAMPLES_48K * SAMPLE_BYTES];
        assert_eq!(source.read(&mut bytes).unwrap(), 0, "nothing sounds");
        let mut sounds = player.sounds();
        player.order(MusicOrder::Play(Arc::new(Track { file, ..Track::plain("Tone") })));
        assert!(becomes(&mut sounds, true).await);
        // A first frame that waits for the decoder.
        player.next_whole(&mut [0; FRAME_SAMPLES_48K]);
        assert_eq!(source.read(&mut bytes).unwrap(), bytes.len());
        assert_eq!(bytes[..SAMPLE_BYTES], 0.5_f32.to_le_bytes());
        player.silence();
        assert_eq!(source.read(&mut bytes).unwrap(), 0);
        assert!(becomes(&mut sounds, false).await);
        drop(source);
        dropped.cancelled().await;
    }
}
