//! PocketSphinx through `dlopen`: the only file that talks to the C libraries.
//!
//! Entry types: [`Sphinx`] (the loaded libraries) and [`Decoder`] (one recogniser).
//! **Never**: linking at build time, threads, deciding what a word means.
#![expect(unsafe_code, reason = "a C library is called through looked-up symbols")]

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    path::Path,
    ptr::{self, NonNull},
    sync::Arc,
};

use libloading::Library;

use super::failure::{SphinxError, failed};

/// Where the models and sound functions are.
const BASE_NAMES: [&str; 2] = ["libsphinxbase.so.3", "libsphinxbase.so"];
/// Where the decoder is.
const SPHINX_NAMES: [&str; 2] = ["libpocketsphinx.so.3", "libpocketsphinx.so"];

/// Base of the library's own logarithms.
const LOG_BASE: f64 = 1.0001;
/// "Look at the file to see its format."
const NGRAM_AUTO: c_int = 0;

/// Cepstral coefficients of one frame in the stock acoustic model.
const CEPSTRA: usize = 13;
/// Frames of 10 ms that the model's own mean counts as when an utterance begins.
const FIRST_MEAN_FRAMES: i16 = 40;
/// Samples after which the mean follows the speaker: 50 ms.
const FOLLOW_SAMPLES: usize = 800;

/// Name of the search that holds both language models.
const SEARCH: &CStr = c"table";

/// A thing of the library's own.
type Object = *mut c_void;

/// Declares the looked-up functions of one library and how they are found.
macro_rules! functions {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        struct $name {
            $(
                /// As in the headers.
                $field: $type,
            )*
        }

        impl $name {
            /// Looks every function up.
            ///
            /// # Safety
            /// `library` must export the named symbols with these signatures.
            unsafe fn find(library: &Library, file: &'static str) -> Result<Self, SphinxError> {
                Ok(Self { $(
                    // SAFETY: the signatures are those of the headers of 0.8+5prealpha, whose
                    // soname was asked for.
                    $field: *unsafe { library.get::<$type>(stringify!($field)) }.map_err(|_| {
                        SphinxError::Symbol { library: file, symbol: stringify!($field) }
                    })?,
                )* })
            }
        }
    };
}

functions! {
/// Functions of sphinxbase.
Base {
    err_set_logfp: unsafe extern "C" fn(Object),
    cmd_ln_parse_r: unsafe extern "C" fn(Object, *const c_void, c_int, *const *const c_char, c_int) -> Object,
    cmd_ln_free_r: unsafe extern "C" fn(Object) -> c_int,
    logmath_init: unsafe extern "C" fn(f64, c_int, c_int) -> Object,
    logmath_retain: unsafe extern "C" fn(Object) -> Object,
    logmath_free: unsafe extern "C" fn(Object) -> c_int,
    ngram_model_read: unsafe extern "C" fn(Object, *const c_char, c_int, Object) -> Object,
    ngram_model_set_init: unsafe extern "C" fn(Object, *mut Object, *mut *mut c_char, *const f32, i32) -> Object,
    ngram_model_apply_weights: unsafe extern "C" fn(Object, f32, f32, f32) -> c_int,
    cmn_live_update: unsafe extern "C" fn(*mut Cmn),
    ngram_wid: unsafe extern "C" fn(Object, *const c_char) -> i32,
    ngram_ng_score: unsafe extern "C" fn(Object, i32, *mut i32, i32, *mut i32) -> i32,
    ngram_model_free: unsafe extern "C" fn(Object) -> c_int,
} }

functions! {
/// Functions of pocketsphinx.
Pocket {
    ps_args: unsafe extern "C" fn() -> *const c_void,
    ps_init: unsafe extern "C" fn(Object) -> Object,
    ps_free: unsafe extern "C" fn(Object) -> c_int,
    ps_get_feat: unsafe extern "C" fn(Object) -> *const Feat,
    ps_set_lm: unsafe extern "C" fn(Object, *const c_char, Object) -> c_int,
    ps_set_search: unsafe extern "C" fn(Object, *const c_char) -> c_int,
    ps_start_utt: unsafe extern "C" fn(Object) -> c_int,
    ps_process_raw: unsafe extern "C" fn(Object, *const i16, usize, c_int, c_int) -> c_int,
    ps_end_utt: unsafe extern "C" fn(Object) -> c_int,
    ps_get_hyp: unsafe extern "C" fn(Object, *mut i32) -> *const c_char,
} }

/// Beginning of `feat_t` in sphinxbase's feat.h, on machines whose pointers have 8 bytes.
#[repr(C)]
struct Feat {
    /// References and the name.
    head: [u64; 2],
    /// Coefficients of a frame.
    cepsize: i32,
    /// Streams of a frame.
    n_stream: i32,
    /// Lengths, the window, subvectors, kinds of normalisation and a function.
    middle: [u64; 8],
    /// What is subtracted from every frame.
    cmn_struct: *mut Cmn,
}

/// `cmn_t` in sphinxbase's cmn.h.
#[repr(C)]
struct Cmn {
    /// The mean that is subtracted now.
    cmn_mean: *mut [f32; CEPSTRA],
    /// Variances, which this program does not use.
    cmn_var: *mut f32,
    /// Of all frames.
    sum: *mut [f32; CEPSTRA],
    /// How many frames are in the sum.
    nframe: i32,
    /// Coefficients of a frame.
    veclen: i32,
}

/// The mean of the sound, which the library subtracts from it.
///
/// Left alone it changes only between utterances, so that a stranger's first one is misheard
/// (12 % of the words instead of 9) and the next speaker hears with the last one's ears. Here every
/// utterance begins with the model's own mean and follows its speaker.
struct Mean {
    /// Where the decoder keeps it.
    kept: NonNull<Cmn>,
    /// The model's own.
    first: [f32; CEPSTRA],
    /// Samples since it followed.
    fresh: usize,
}

impl Mean {
    /// Finds it in a decoder; `None` when lengths show another layout.
    ///
    /// # Safety
    /// `decoder` must be valid and outlive the value.
    unsafe fn find(pocket: &Pocket, decoder: Object) -> Option<Self> {
        let length = i32::try_from(CEPSTRA).ok()?;
        if size_of::<usize>() != size_of::<u64>() {
            return None;
        }
        // SAFETY: the layouts are those of the headers of the soname that was asked for, and the
        // lengths on both sides of the pointers are checked before these are followed.
        unsafe {
            let features = (pocket.ps_get_feat)(decoder).as_ref()?;
            let kept = NonNull::new(features.cmn_struct).filter(|_| features.cepsize == length)?;
            let mean = kept.as_ref();
            let whole = mean.veclen == length && !mean.cmn_mean.is_null() && !mean.sum.is_null();
            whole.then(|| Self { kept, first: *mean.cmn_mean, fresh: 0 })
        }
    }

    /// Back to the model's own mean, counted as so many frames of speech.
    fn reset(&mut self) {
        self.fresh = 0;
        // SAFETY: checked in `find`; the decoder is used by one thread.
        unsafe {
            let mean = self.kept.as_ptr();
            *(*mean).cmn_mean = self.first;
            *(*mean).sum = self.first.map(|value| value * f32::from(FIRST_MEAN_FRAMES));
            (*mean).nframe = i32::from(FIRST_MEAN_FRAMES);
        }
    }

    /// Takes over what was heard, now and then.
    fn follow(&mut self, base: &Base, samples: usize) {
        self.fresh += samples;
        if self.fresh >= FOLLOW_SAMPLES {
            self.fresh = 0;
            // SAFETY: as in `reset`; the library divides its sum by its number of frames.
            unsafe { (base.cmn_live_update)(self.kept.as_ptr()) };
        }
    }
}

/// The loaded libraries.
pub struct Sphinx {
    /// Functions of sphinxbase.
    base: Base,
    /// Functions of pocketsphinx.
    pocket: Pocket,
    /// Unloaded last: the functions above live in them.
    _libraries: [Library; 2],
}

/// What a decoder is made of.
pub struct Recipe<'a> {
    /// Folder of the acoustic model.
    pub acoustic: &'a Path,
    /// How words sound.
    pub dictionary: &'a Path,
    /// General language model, binary form.
    pub general: &'a Path,
    /// Generated language model, ARPA text.
    pub campaign: &'a Path,
    /// Share of the generated model, 0 to 1.
    pub campaign_share: f32,
    /// How much the language models count against the sound.
    pub language_weight: f32,
    /// Factor for every word begun.
    pub word_insertion: f32,
    /// Further settings of the C library, name then value.
    pub settings: &'a [(&'a str, &'a str)],
}

impl Sphinx {
    /// Loads the libraries and silences their logs.
    ///
    /// # Errors
    /// A library or one of its functions is missing.
    pub fn load() -> Result<Arc<Self>, SphinxError> {
        let base_library = open(&BASE_NAMES)?;
        let pocket_library = open(&SPHINX_NAMES)?;
        // SAFETY: the libraries' own soname says that they export these functions.
        let base = unsafe { Base::find(&base_library, BASE_NAMES[0]) }?;
        // SAFETY: as above.
        let pocket = unsafe { Pocket::find(&pocket_library, SPHINX_NAMES[0]) }?;
        // SAFETY: a null stream means no log; called before any other function.
        unsafe { (base.err_set_logfp)(ptr::null_mut()) };
        Ok(Arc::new(Self { base, pocket, _libraries: [pocket_library, base_library] }))
    }

    /// How often a language model expects each word wherever it stands, as common logarithms;
    /// `None`: it does not know the word. Reading takes about a tenth of a second.
    ///
    /// # Errors
    /// The model is missing or the library refused it.
    pub fn frequencies<'w>(
        &self,
        model: &Path,
        words: impl Iterator<Item = &'w str>,
    ) -> Result<Vec<Option<f64>>, SphinxError> {
        let logarithm = self.logarithm(LOG_BASE)?;
        let read = self.read_model(model, logarithm);
        // SAFETY: the model holds a reference of its own.
        unsafe { (self.base.logmath_free)(logarithm) };
        let model = read?;
        let frequency = |word: &str| {
            let (word, mut used) = (CString::new(word)?, 0);
            // SAFETY: model and string are valid; no history is read when its length is zero.
            let score = unsafe {
                let id = (self.base.ngram_wid)(model, word.as_ptr());
                let score =
                    || (self.base.ngram_ng_score)(model, id, ptr::null_mut(), 0, &raw mut used);
                (id >= 0).then(score)
            };
            Ok(score.map(|score| f64::from(score) * LOG_BASE.log10()))
        };
        let frequencies = words.map(frequency).collect();
        // SAFETY: the model is owned here and used by nobody else.
        unsafe { (self.base.ngram_model_free)(model) };
        frequencies
    }

    /// Logarithms of a base; the caller frees it.
    fn logarithm(&self, log_base: f64) -> Result<Object, SphinxError> {
        // SAFETY: plain values in, an owned object out.
        let logarithm = unsafe { (self.base.logmath_init)(log_base, 0, 1) };
        if logarithm.is_null() { Err(failed("logmath_init", log_base)) } else { Ok(logarithm) }
    }

    /// A language model; the caller frees it.
    fn read_model(&self, path: &Path, logarithm: Object) -> Result<Object, SphinxError> {
        let c_path = CString::new(path.as_os_str().as_encoded_bytes())?;
        // SAFETY: no configuration is allowed; the model takes over one reference to the
        // logarithm, so one is made for it.
        let model = unsafe {
            let own = (self.base.logmath_retain)(logarithm);
            (self.base.ngram_model_read)(ptr::null_mut(), c_path.as_ptr(), NGRAM_AUTO, own)
        };
        if model.is_null() { Err(failed("ngram_model_read", path.display())) } else { Ok(model) }
    }
}

/// The first of `names` that is installed.
fn open(names: &[&'static str]) -> Result<Library, SphinxError> {
    let mut reason = String::new();
    for name in names {
        // SAFETY: the libraries have no start-up code of their own.
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok(library),
            Err(error) if reason.is_empty() => reason = error.to_string(),
            Err(_) => {}
        }
    }
    Err(SphinxError::Library { library: names.first().copied().unwrap_or_default(), reason })
}

/// One recogniser: decodes one utterance at a time.
pub struct Decoder {
    /// Outlives the decoder.
    sphinx: Arc<Sphinx>,
    /// Owned; freed on drop.
    decoder: NonNull<c_void>,
    /// The mean that is subtracted from the sound; `None`: it is not where it is expected.
    mean: Option<Mean>,
}

// SAFETY: a decoder owns everything it points to (nothing is shared with other decoders) and the
// library keeps no thread-local state, so it may move between threads. It is not `Sync`.
unsafe impl Send for Decoder {}

impl Decoder {
    /// Loads models and words; takes about a second.
    ///
    /// # Errors
    /// A file is missing or the library refused it.
    pub fn new(sphinx: &Arc<Sphinx>, recipe: &Recipe<'_>) -> Result<Self, SphinxError> {
        let config = Config::new(sphinx, recipe)?;
        // SAFETY: `config` is a valid configuration; the decoder keeps its own reference.
        let decoder = unsafe { (sphinx.pocket.ps_init)(config.raw.as_ptr()) };
        let decoder =
            NonNull::new(decoder).ok_or_else(|| failed("ps_init", recipe.acoustic.display()))?;
        let mut decoder = Self { sphinx: Arc::clone(sphinx), decoder, mean: None };
        // SAFETY: the decoder is valid and lives as long as the mean.
        decoder.mean = unsafe { Mean::find(&sphinx.pocket, decoder.raw()) };
        decoder.set_language_model(recipe)?;
        Ok(decoder)
    }

    /// Installs both language models, mixed word by word.
    ///
    /// The library adds up *weighted* scores of a set's members, which is nearly a maximum. Read
    /// with a logarithm whose base is the language weight's root, weighted scores are plain
    /// logarithms and the sum is a true mixture.
    fn set_language_model(&self, recipe: &Recipe<'_>) -> Result<(), SphinxError> {
        let (base, pocket) = (&self.sphinx.base, &self.sphinx.pocket);
        let weight = f64::from(recipe.language_weight);
        let logarithm = self.sphinx.logarithm(LOG_BASE.powf(1.0 / weight))?;
        // The binary model holds logarithms of the stock base, the text is converted as it is read.
        let members = self
            .read_model(recipe.general, recipe.language_weight, recipe, logarithm)
            .and_then(|general| {
                match self.read_model(recipe.campaign, 1.0, recipe, logarithm) {
                    Ok(campaign) => Ok([general, campaign]),
                    Err(error) => {
                        // SAFETY: `general` is owned here and used by nobody else.
                        unsafe { (base.ngram_model_free)(general) };
                        Err(error)
                    }
                }
            });
        // SAFETY: each model holds a reference of its own.
        unsafe { (base.logmath_free)(logarithm) };
        let mut members = members?;
        let mut names = [c"general".as_ptr().cast_mut(), c"campaign".as_ptr().cast_mut()];
        let shares = [1.0 - recipe.campaign_share, recipe.campaign_share];
        // SAFETY: three arrays of two; names are copied, models are taken over by the set.
        let set = unsafe {
            (base.ngram_model_set_init)(
                ptr::null_mut(),
                members.as_mut_ptr(),
                names.as_mut_ptr(),
                shares.as_ptr(),
                2,
            )
        };
        if set.is_null() {
            return Err(failed("ngram_model_set_init", recipe.campaign.display()));
        }
        // SAFETY: decoder, name and set are valid; the search keeps its own reference to the set.
        let done = unsafe {
            let set_lm = (pocket.ps_set_lm)(self.raw(), SEARCH.as_ptr(), set);
            (base.ngram_model_free)(set);
            set_lm == 0 && (pocket.ps_set_search)(self.raw(), SEARCH.as_ptr()) == 0
        };
        if done { Ok(()) } else { Err(failed("ps_set_lm", recipe.campaign.display())) }
    }

    /// One language model, its scores weighted.
    fn read_model(
        &self,
        path: &Path,
        weight: f32,
        recipe: &Recipe<'_>,
        logarithm: Object,
    ) -> Result<Object, SphinxError> {
        let model = self.sphinx.read_model(path, logarithm)?;
        let insertion = recipe.word_insertion.powf(1.0 / recipe.language_weight);
        // SAFETY: the model is valid and owned.
        unsafe { (self.sphinx.base.ngram_model_apply_weights)(model, weight, insertion, 1.0) };
        Ok(model)
    }

    /// The library's own pointer.
    const fn raw(&self) -> Object {
        self.decoder.as_ptr()
    }

    /// Begins an utterance.
    ///
    /// # Errors
    /// One is going on already.
    pub fn start(&mut self) -> Result<(), SphinxError> {
        if let Some(mean) = &mut self.mean {
            mean.reset();
        }
        // SAFETY: the decoder is valid and used by one thread.
        let code = unsafe { (self.sphinx.pocket.ps_start_utt)(self.raw()) };
        if code == 0 { Ok(()) } else { Err(failed("ps_start_utt", code)) }
    }

    /// Decodes 16 kHz mono samples of the utterance.
    ///
    /// # Errors
    /// No utterance has begun.
    pub fn process(&mut self, samples: &[i16]) -> Result<(), SphinxError> {
        // SAFETY: pointer and length are those of a live slice, which is only read.
        let frames = unsafe {
            (self.sphinx.pocket.ps_process_raw)(self.raw(), samples.as_ptr(), samples.len(), 0, 0)
        };
        if let Some(mean) = &mut self.mean {
            mean.follow(&self.sphinx.base, samples.len());
        }
        if frames < 0 { Err(failed("ps_process_raw", frames)) } else { Ok(()) }
    }

    /// What is understood so far; `None`: nothing yet.
    pub fn hypothesis(&mut self) -> Option<String> {
        let mut score = 0;
        // SAFETY: the decoder is valid; the text is copied before the next call can change it.
        unsafe {
            let text = (self.sphinx.pocket.ps_get_hyp)(self.raw(), &raw mut score);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }

    /// Ends the utterance; `None`: nothing was understood.
    ///
    /// # Errors
    /// No utterance has begun.
    pub fn finish(&mut self) -> Result<Option<String>, SphinxError> {
        // SAFETY: the decoder is valid and used by one thread.
        let code = unsafe { (self.sphinx.pocket.ps_end_utt)(self.raw()) };
        if code < 0 { Err(failed("ps_end_utt", code)) } else { Ok(self.hypothesis()) }
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: the decoder is owned and not used again; its libraries are still loaded.
        unsafe { (self.sphinx.pocket.ps_free)(self.raw()) };
    }
}

/// A parsed configuration of the C library.
struct Config<'a> {
    /// Kept loaded for as long as this lives.
    sphinx: &'a Sphinx,
    /// Owned; freed on drop.
    raw: NonNull<c_void>,
}

impl<'a> Config<'a> {
    /// Parses the recipe's settings.
    fn new(sphinx: &'a Sphinx, recipe: &Recipe<'_>) -> Result<Self, SphinxError> {
        let path = |path: &Path| CString::new(path.as_os_str().as_encoded_bytes());
        let mut words = vec![CString::new("glyphoxa")?];
        words.extend([CString::new("-hmm")?, path(recipe.acoustic)?]);
        words.extend([CString::new("-dict")?, path(recipe.dictionary)?]);
        for (name, value) in recipe.settings {
            words.extend([CString::new(*name)?, CString::new(*value)?]);
        }
        let pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: the definitions are the library's own; the strings outlive the call, which
        // copies them.
        let raw = unsafe {
            let definitions = (sphinx.pocket.ps_args)();
            (sphinx.base.cmd_ln_parse_r)(ptr::null_mut(), definitions, count, pointers.as_ptr(), 0)
        };
        let raw = NonNull::new(raw)
            .ok_or_else(|| failed("cmd_ln_parse_r", format_args!("{:?}", recipe.settings)))?;
        Ok(Self { sphinx, raw })
    }
}

impl Drop for Config<'_> {
    fn drop(&mut self) {
        // SAFETY: gives back the one reference this value owns.
        unsafe { (self.sphinx.base.cmd_ln_free_r)(self.raw.as_ptr()) };
    }
}
