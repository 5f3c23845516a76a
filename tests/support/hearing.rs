//! A recording through the recogniser of this machine, frame by frame.
//!
//! Entry functions: [`hear`], [`frames`].

use futures::StreamExt;
use glyphoxa::measure::{Attempts, Frame, SampleRate, SpeechEvent, SpeechToText};
use tokio::sync::mpsc;

/// Text that `local` understands of `samples`, 16 kHz mono.
pub async fn hear(local: &dyn SpeechToText, samples: &[i16]) -> String {
    let (audio, queue) = mpsc::channel(64);
    let mut events = local.listen(queue, Attempts::default());
    let feeding = async {
        for frame in frames(samples) {
            audio.send(frame).await.expect("somebody listens");
        }
        drop(audio);
    };
    let reading = async {
        let mut last = None;
        while let Some(event) = events.next().await {
            if let SpeechEvent::Final { text } = event.expect("it hears") {
                last = Some(text);
            }
        }
        last.expect("a final")
    };
    let ((), text) = tokio::join!(feeding, reading);
    text
}

/// `samples` in frames of 20 ms; the last one is filled up with silence.
pub fn frames(samples: &[i16]) -> impl Iterator<Item = Frame> {
    samples.chunks(320).map(|chunk| Frame::padded(chunk, SampleRate::HZ_16000))
}
