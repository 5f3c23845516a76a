//! The first word of each voice, spoken ahead.
//!
//! Entry type: [`Warmed`]. A network is slower the first time it runs, and so is espeak-ng; the
//! first sentence must not wait for that.

use std::{future::ready, sync::Arc};

use futures::{TryStreamExt, stream::BoxStream};

use super::cores::Kept;
use crate::{
    domain::Voice,
    provider::{Attempts, Error, Pcm, SpeakRequest},
};

/// Short, and a word to espeak-ng in every language.
const WORD: &str = "Ah.";

/// Voices that have spoken, by id.
#[derive(Default)]
pub struct Warmed(Kept<String, ()>);

/// The word in `voice`.
pub fn word(voice: &Voice) -> SpeakRequest {
    SpeakRequest {
        text: WORD.to_owned(),
        voice: voice.clone(),
        foreign: None,
        pronunciation: Arc::from([]),
        style: None,
        attempts: Attempts::default(),
    }
}

impl Warmed {
    /// Makes `sound`, a word in the voice `id`, on the first call for it, and drops it. Cancel
    /// safe. After an error the next call retries.
    pub async fn once(
        &self,
        id: String,
        sound: BoxStream<'static, Result<Pcm, Error>>,
    ) -> Result<(), Error> {
        let made = || sound.try_for_each(|_| ready(Ok(())));
        self.0.get_or_load(&id, made).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::{StreamExt, stream};

    use super::*;
    use crate::{audio::SampleRate, provider::Kind};

    #[tokio::test]
    async fn voice_speaks_one_word_ahead_and_no_more() {
        let (warmed, made) = (Warmed::default(), Arc::<AtomicUsize>::default());
        let piece = || Ok(Pcm { samples: vec![1], rate: SampleRate::HZ_24000 });
        let sound = |pieces: Vec<Result<Pcm, Error>>| {
            let made = Arc::clone(&made);
            let count = move |_: &Result<Pcm, Error>| {
                made.fetch_add(1, Ordering::Relaxed);
            };
            stream::iter(pieces).inspect(count).boxed()
        };
        let (joe, anna) = (|| "joe".to_owned(), || "anna".to_owned());
        let away = Err(Error::new(Kind::Missing, "no espeak-ng"));
        warmed.once(joe(), sound(vec![piece(), away])).await.unwrap_err();
        warmed.once(joe(), sound(vec![piece(), piece()])).await.unwrap();
        assert_eq!(made.load(Ordering::Relaxed), 4, "all of it is made, and again after an error");
        warmed.once(joe(), sound(vec![piece()])).await.unwrap();
        assert_eq!(made.load(Ordering::Relaxed), 4);
        warmed.once(anna(), sound(vec![piece()])).await.unwrap();
        assert_eq!(made.load(Ordering::Relaxed), 5);
    }
}
