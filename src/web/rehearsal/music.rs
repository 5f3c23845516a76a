//! A table's music on its pages, beside speech. Entry function: [`play_music`].
//!
//! While something sounds, a clock takes 20 ms of it at a time and sends them to all open pages,
//! which report nothing of it; without a page the music moves on all the same, as on Discord. A page
//! that is behind misses music, never speech. Pages play it about 200 ms later, and drop that rest
//! when the X-card silences the table.

use std::sync::Arc;

use tokio::{
    sync::Notify,
    time::{MissedTickBehavior, interval},
};

use super::{
    audience::Audience,
    table::RehearsalTable,
    wire::{self, ToPage},
};
use crate::{
    audio::{FRAME, FRAME_SAMPLES_48K},
    session::MusicPlayer,
};

/// Plays the music of `table` on its pages. Never returns while the table runs; cancel safe.
pub async fn play_music(table: Arc<RehearsalTable>) {
    play(&table.audience, &table.music, &table.changed).await;
}

/// Wakes `changed` when music begins and ends.
async fn play(audience: &Audience, player: &MusicPlayer, changed: &Notify) {
    let mut sounds = player.sounds();
    while sounds.wait_for(|sounds| *sounds).await.is_ok() {
        changed.notify_one();
        if !has_played_out(audience, player).await {
            audience.tell(&ToPage::MusicFlush);
        }
        changed.notify_one();
    }
}

/// Plays until nothing sounds; false if the music was silenced before its end.
async fn has_played_out(audience: &Audience, player: &MusicPlayer) -> bool {
    let sounds = player.sounds();
    let mut clock = interval(FRAME);
    // Late frames follow at once: pages play on meanwhile, and would run dry sooner after each
    // hold-up.
    clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut frame = [0; FRAME_SAMPLES_48K];
    loop {
        clock.tick().await;
        if !player.next(&mut frame) {
            return false;
        }
        audience.play_music(&wire::music(&frame));
        if !*sounds.borrow() {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::{task::JoinHandle, time::sleep};
    use tokio_tungstenite::tungstenite::Message;

    use super::{
        super::{pages::PageQueue, stand_in::opened},
        *,
    };
    use crate::{
        audio::{Clip, SampleRate, write_wav},
        logic::music::{MusicOrder, Track},
        session::TableEvents,
    };

    const LEVEL: i16 = 16_384;

    struct Stage {
        folder: tempfile::TempDir,
        audience: Audience,
        player: MusicPlayer,
        task: JoinHandle<()>,
    }

    impl Stage {
        fn open() -> Self {
            let audience = Audience::default();
            let player = MusicPlayer::new(TableEvents::new(1).downgrade());
            let (to, from) = (audience.clone(), player.clone());
            let task = tokio::spawn(async move { play(&to, &from, &Notify::new()).await });
            Self { folder: tempfile::tempdir().unwrap(), audience, player, task }
        }

        /// Plays a tone of 100 ms, again and again if it is looped, without its first frame.
        fn begins(&self, is_looped: bool) {
            let file = self.folder.path().join("tone.wav");
            let clip = Clip { samples: vec![LEVEL; 4_800], rate: SampleRate::HZ_48000 };
            std::fs::write(&file, write_wav(&clip)).unwrap();
            let track = Track { file, is_looped, ..Track::plain("Tone") };
            self.player.order(MusicOrder::Play(Arc::new(track)));
            // It waits for the decoder, which knows no paused time.
            self.player.next_whole(&mut [0; FRAME_SAMPLES_48K]);
        }
    }

    /// Events and frames that a page was sent.
    fn sent(queue: &mut PageQueue) -> (Vec<Message>, Vec<Message>) {
        let all = std::iter::from_fn(|| queue.messages.now());
        all.partition(|it| matches!(it, Message::Text(_)))
    }

    #[tokio::test(start_paused = true)]
    async fn music_reaches_all_pages_until_silenced() {
        let stage = Stage::open();
        let [(_ada, mut one), (_ben, mut other)] = opened(&stage.audience).await;
        sleep(FRAME * 5).await;
        assert_eq!(sent(&mut one), (Vec::new(), Vec::new()), "nothing sounds");
        stage.begins(true);
        sleep(FRAME * 10 + FRAME / 2).await;
        let whole = Message::Binary(wire::music(&[LEVEL; FRAME_SAMPLES_48K]));
        assert_eq!(whole.len(), wire::MUSIC_BYTES);
        for queue in [&mut one, &mut other] {
            assert_eq!(sent(queue), (Vec::new(), vec![whole.clone(); 11]));
        }
        stage.player.silence();
        sleep(FRAME * 5).await;
        let flush = Message::text(r#"{"type":"music_flush"}"#);
        for queue in [&mut one, &mut other] {
            assert_eq!(sent(queue), (vec![flush.clone()], Vec::new()));
        }
        assert!(!stage.task.is_finished(), "more may follow");
    }

    #[tokio::test(start_paused = true)]
    async fn track_is_played_to_its_end() {
        let stage = Stage::open();
        let [(_page, mut queue)] = opened(&stage.audience).await;
        stage.begins(false);
        sleep(FRAME * 20).await;
        let (events, frames) = sent(&mut queue);
        assert_eq!((events.len(), frames.len()), (0, 4));
    }

    #[tokio::test(start_paused = true)]
    async fn music_moves_on_without_a_page() {
        let stage = Stage::open();
        stage.begins(false);
        sleep(FRAME * 2).await;
        assert!(*stage.player.sounds().borrow());
        sleep(FRAME * 10).await;
        assert!(!*stage.player.sounds().borrow());
    }
}
