//! A table's music in songbird: one track beside speech, while music plays.
//!
//! Entry function: [`play_music`]. songbird keeps tracks over a lost connection without reading
//! them, so music resumes where it was.

use std::{sync::Arc, time::Duration};

use songbird::Call;
use tokio::{
    sync::{Mutex, watch},
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::source::{self, Frames};
use crate::{discord::tenure::Tenure, logic::music::MusicFrame, session::MusicPlayer};

/// Delay before a track that songbird dropped or could not play is restarted.
const AGAIN: Duration = Duration::from_millis(200);
/// Longest wait for a stopped track: without a connection songbird does not drop it.
const STOPS: Duration = Duration::from_secs(1);

struct Pulled {
    player: MusicPlayer,
    /// Signals that songbird has dropped the track.
    _dropped: DropGuard,
}

impl Frames for Pulled {
    fn next(&self, into: &mut MusicFrame) -> bool {
        self.player.next(into)
    }
}

/// Plays the music of `player` through songbird until `tenure` is over. Never returns; cancel safe.
pub async fn play_music(call: Arc<Mutex<Call>>, player: MusicPlayer, tenure: Tenure) {
    let mut sounds = player.sounds();
    while becomes(&mut sounds, true).await {
        let dropped = CancellationToken::new();
        let guard = dropped.clone().drop_guard();
        let frames = Pulled { player: player.clone(), _dropped: guard };
        let track = source::start(&call, Box::new(frames), &tenure).await;
        let is_silent = tokio::select! {
            biased;
            is_silent = becomes(&mut sounds, false) => is_silent,
            () = dropped.cancelled() => false,
        };
        if is_silent {
            // Drops the sound songbird has read ahead. The track may have ended by itself.
            _ = track.map(|track| track.stop());
            // Only one track at a time may read frames.
            _ = timeout(STOPS, dropped.cancelled()).await;
        } else {
            sleep(AGAIN).await;
        }
    }
}

/// Waits until `sounds` is `wanted`; false if its sender is gone.
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
        let mut source = Source::new(Box::new(frames), Tenure::endless());
        let mut bytes = [0; FRAME_SAMPLES_48K * SAMPLE_BYTES];
        assert_eq!(source.read(&mut bytes).unwrap(), 0, "nothing sounds");
        let mut sounds = player.sounds();
        player.order(MusicOrder::Play(Arc::new(Track { file, ..Track::plain("Tone") })));
        assert!(becomes(&mut sounds, true).await);
        // The first frame waits for the decoder.
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
