//! Speech-to-text on this machine: PocketSphinx, tuned to the campaign. English only.
//!
//! Entry type: [`Local`]. A general language model is mixed with one made of the campaign's names
//! and table talk; words the stock dictionary lacks get their sound from flite.
//! **Never**: the network, files but the installed models and private temporary ones.

mod corpus;
mod failure;
mod ffi;
mod language_model;
mod lexicon;
mod pool;
mod scratch;
mod template;

pub use corpus::{Name, Vocabulary};

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use futures::{
    FutureExt, TryFutureExt,
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, timeout},
};

use self::{
    failure::{INSTALL, SphinxError},
    ffi::{Decoder, Recipe, Sphinx},
    language_model::Trigrams,
    lexicon::{Lexicon, flite_phones},
    pool::{Job, Pool},
    scratch::ScratchFile,
};
use crate::{
    audio::Frame,
    provider::{Attempts, Error, Kind, SpeechEvent, SpeechToText, SttAbilities},
};

/// Its name in files and reports.
pub const NAME: &str = "local";

/// Share of the campaign's language model in the mixture, its weight against the sound, the factor
/// for every word begun, and settings of the search, as measured with `tests/recogniser_error_rates.rs`.
const CAMPAIGN_SHARE: f32 = 0.6;
/// How much the language model counts beside the sound; see [`CAMPAIGN_SHARE`].
const LANGUAGE_WEIGHT: f32 = 6.5;
/// How readily one more word is heard; see [`CAMPAIGN_SHARE`].
const WORD_INSERTION: f32 = 0.4;
/// Words that the general model expects more rarely than this and the campaign does not use are not
/// listened for: they would be heard by mistake more often than they are said. A common logarithm:
/// a word in a million.
const RAREST: f64 = -6.0;
/// The second pass, which `pool.rs` has made by the end of a turn, and how much the language models
/// count in it.
const SETTINGS: [(&str, &str); 2] = [("-fwdflat", "yes"), ("-fwdflatlw", "7.0")];

/// Longest wait for flite to say how the campaign's names sound; a second is usual.
const SPELLING: Duration = Duration::from_secs(30);
/// Longest wait for the models; two seconds are usual.
const LOADING: Duration = Duration::from_secs(120);

/// What a decoder has to say of one utterance, waiting to be read; a partial that does not fit is
/// dropped, the final waits.
const EVENT_CAPACITY: usize = 16;

/// The general language model in the folder of models.
const GENERAL: &str = "en-us.lm.bin";

/// How this machine hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Most decoders, one a speaker at the same time; each takes about 120 MB.
    pub decoders: usize,
    /// Folder of Debian's `pocketsphinx-en-us`.
    pub models: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self { decoders: 2, models: PathBuf::from("/usr/share/pocketsphinx/model/en-us") }
    }
}

/// Hears with PocketSphinx.
pub struct Local {
    /// Its models and how many decoders it may have.
    options: Options,
    /// What is special to the campaign.
    vocabulary: Arc<Vocabulary>,
    /// Set by the first who asks; holds the outcome when there is one.
    loading: OnceLock<watch::Receiver<Option<Loaded>>>,
}

/// What loading came to.
type Loaded = Result<Arc<Pool>, Error>;

impl Local {
    /// Nothing is loaded before [`SpeechToText::ready`].
    pub fn new(options: Options, vocabulary: Vocabulary) -> Self {
        Self { options, vocabulary: Arc::new(vocabulary), loading: OnceLock::new() }
    }

    /// Starts loading once, on a thread of its own, and waits for it.
    fn pool(&self) -> BoxFuture<'static, Loaded> {
        let loading = self.loading.get_or_init(|| {
            let (sender, receiver) = watch::channel(None);
            let (options, vocabulary) = (self.options.clone(), Arc::clone(&self.vocabulary));
            let load = move || {
                let loaded = load(&options, &vocabulary).map(Arc::new);
                sender.send_replace(Some(loaded));
            };
            if let Err(error) = thread::Builder::new().name("hearing".to_owned()).spawn(load) {
                tracing::error!(%error, "no thread to load the local recogniser");
            }
            receiver
        });
        let mut loading = loading.clone();
        async move {
            let Ok(loaded) = timeout(LOADING, loading.wait_for(Option::is_some)).await else {
                let seconds = LOADING.as_secs();
                let text = format!(
                    "the local recogniser is not loaded after {seconds} s (see what keeps this \
                     machine busy, and start again)"
                );
                return Err(Error::new(Kind::Timeout, text));
            };
            let loaded = loaded.ok().and_then(|seen| seen.clone());
            loaded.unwrap_or_else(|| {
                let text = "loading the local recogniser stopped (start again)";
                Err(Error::new(Kind::Unavailable, text))
            })
        }
        .boxed()
    }
}

impl SpeechToText for Local {
    fn name(&self) -> &'static str {
        NAME
    }

    fn priced_as(&self) -> Option<&str> {
        None
    }

    fn abilities(&self) -> SttAbilities {
        SttAbilities { partials: true, ..SttAbilities::default() }
    }

    // Its names are in what was loaded.
    fn expect(&self, _: &dyn Fn() -> Vec<String>) {}

    fn ready(&self) -> BoxFuture<'static, Result<(), Error>> {
        self.pool().map(|loaded| loaded.map(drop)).boxed()
    }

    fn listen(
        &self,
        audio: mpsc::Receiver<Frame>,
        _: Attempts,
    ) -> BoxStream<'static, Result<SpeechEvent, Error>> {
        let pool = self.pool();
        async move {
            // Dropping the stream drops the receiver, which stops the decoder.
            let (events, heard) = mpsc::channel(EVENT_CAPACITY);
            pool.await?.submit(Job { audio, events })?;
            Ok(until_final(heard))
        }
        .try_flatten_stream()
        .boxed()
    }
}

/// What comes from a decoder; one that stops before its final has failed.
fn until_final(
    heard: mpsc::Receiver<Result<SpeechEvent, Error>>,
) -> impl futures::Stream<Item = Result<SpeechEvent, Error>> {
    stream::unfold(Some(heard), |heard| async move {
        let mut heard = heard?;
        let event = heard.recv().await.unwrap_or_else(|| {
            Err(Error::new(Kind::Interrupted, "the local recogniser stopped (speak again)"))
        });
        let goes_on = matches!(event, Ok(SpeechEvent::Partial { .. } | SpeechEvent::Pause { .. }));
        Some((event, goes_on.then_some(heard)))
    })
}

/// Makes the campaign's models and the first decoder.
fn load(options: &Options, vocabulary: &Vocabulary) -> Result<Pool, Error> {
    let started = Instant::now();
    let missing = |error: SphinxError| Error::new(Kind::Missing, error.to_string());
    let sphinx = Sphinx::load().map_err(missing)?;
    let dictionary_file = options.models.join("cmudict-en-us.dict");
    let dictionary = std::fs::read_to_string(&dictionary_file).map_err(|error| {
        let file = dictionary_file.display();
        let text = format!("cannot read the dictionary \"{file}\": {error} ({INSTALL})");
        Error::new(Kind::Missing, text)
    })?;
    let mut trigrams = Trigrams::default();
    for sentence in corpus::sentences(vocabulary) {
        trigrams.add(&sentence);
    }
    let names: Vec<&Name> =
        vocabulary.names.iter().chain(&vocabulary.people).chain(&vocabulary.places).collect();
    let lexicon = Lexicon::parse(&dictionary);
    let until = Instant::now() + SPELLING;
    let phones = |texts: &[String]| flite_phones(texts, until);
    let added = lexicon.additions(trigrams.vocabulary(), &names, phones);
    let models = options.models.clone();
    let general = models.join(GENERAL);
    let dictionary =
        dictionary_of(&sphinx, &general, &lexicon, &trigrams, &added).map_err(missing)?;
    let arpa = trigrams.to_arpa();
    let words = dictionary.lines().count();
    let added = added.len();
    let make = move || decoder(&sphinx, &models, &arpa, &dictionary);
    let pool = Pool::new(options.decoders.max(1), Box::new(make)).map_err(missing)?;
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::debug!(milliseconds, words, added, "local recogniser ready");
    Ok(pool)
}

/// What is listened for: common words, those of the campaign, and what was `added` to the stock.
fn dictionary_of(
    sphinx: &Sphinx,
    general: &Path,
    lexicon: &Lexicon,
    campaign: &Trigrams,
    added: &[(String, String)],
) -> Result<String, SphinxError> {
    let stock: Vec<&str> = lexicon.words().collect();
    let frequencies = sphinx.frequencies(general, stock.iter().copied())?;
    let common = stock.into_iter().zip(frequencies);
    let common = common.filter(|(_, frequency)| frequency.is_some_and(|f| f > RAREST));
    let kept: HashSet<&str> = common.map(|(word, _)| word).chain(campaign.vocabulary()).collect();
    Ok(lexicon.dictionary(added, |word| kept.contains(word)))
}

/// One more decoder of the same models.
fn decoder(
    sphinx: &Arc<Sphinx>,
    models: &Path,
    arpa: &str,
    dictionary: &str,
) -> Result<Decoder, SphinxError> {
    let campaign = ScratchFile::new(arpa.as_bytes())?;
    let dictionary = ScratchFile::new(dictionary.as_bytes())?;
    Decoder::new(
        sphinx,
        &Recipe {
            acoustic: &models.join("en-us"),
            dictionary: dictionary.path(),
            general: &models.join(GENERAL),
            campaign: campaign.path(),
            campaign_share: CAMPAIGN_SHARE,
            language_weight: LANGUAGE_WEIGHT,
            word_insertion: WORD_INSERTION,
            settings: &SETTINGS,
        },
    )
}
