//! Finding a track by free words of a model or a person, English or German: [`Library::find`].
//!
//! **Never**: plays it.

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::{Layer, Library, Track, moods};
use crate::logic::{
    language::is_any,
    words::{Words, fold},
};

/// Most words of a request that are read.
const WORDS_MAX: usize = 64;
/// What each word counts that fits a track.
const WORD: i32 = 4;
/// What a title counts that is among the words.
const TITLE: i32 = 2;
/// What the layer counts that was asked for.
const LAYER: i32 = 1;
/// What is taken from effects that were not asked for.
const UNASKED: i32 = -2;
/// Shortest word that may be misspelt, in bytes.
const NEAR_MIN: usize = 5;

/// Words of a request that say what is meant.
struct Asked<'w> {
    words: Vec<Word<'w>>,
    layer: Option<Layer>,
}

/// One word, folded.
struct Word<'w> {
    text: &'w str,
    stem: &'w str,
    /// Of a compound's first part, and of its second.
    moods: (u64, u64),
    /// Everyday words do not count where only a title has them.
    is_plain: bool,
}

impl Library {
    /// The tracks that fit `words` best, all that fit equally, in the library's order; empty: none is
    /// near. Words count whole, in their forms and by mood ("crypt" finds a dungeon); a title said
    /// exactly goes before everything. Misspelt words are looked at only if nothing else fits.
    pub fn find(&self, words: &str) -> Vec<Arc<Track>> {
        let said = Words::of(words);
        let title = said.iter().collect::<Vec<_>>().join(" ");
        let exact: Vec<_> =
            self.tracks.iter().filter(|track| fold(&track.title) == title).cloned().collect();
        if !exact.is_empty() && !title.is_empty() {
            return exact;
        }
        let mut asked = Asked::of(&said);
        let found = self.best(&asked, &said, fits);
        if !found.is_empty() {
            return found;
        }
        asked.words.retain(|word| word.text.len() >= NEAR_MIN && !word.is_plain);
        for word in &mut asked.words {
            word.moods.0 |= moods::near_mask(word.text);
        }
        self.best(&asked, &said, nearly_fits)
    }

    /// One of the tracks that fit `words` best, by chance, but not the one called `playing` where there
    /// is another.
    pub fn choose(
        &self,
        words: &str,
        playing: Option<&str>,
        rng: &mut impl Rng,
    ) -> Option<Arc<Track>> {
        let mut found = self.find(words);
        if found.len() > 1 {
            found.retain(|track| Some(track.title.as_str()) != playing);
        }
        let index = if found.len() > 1 { rng.random_range(0..found.len()) } else { 0 };
        found.get(index).cloned()
    }

    /// All moods, each once, in the library's order.
    pub fn moods(&self) -> Vec<&str> {
        let mut moods: Vec<&str> = Vec::new();
        for mood in self.tracks.iter().flat_map(|track| &track.moods) {
            if !moods.contains(&mood.as_str()) {
                moods.push(mood);
            }
        }
        moods
    }

    /// The tracks of the highest score above nothing.
    fn best(&self, asked: &Asked<'_>, said: &Words, fits: Fits) -> Vec<Arc<Track>> {
        let mut best = (0, Vec::new());
        for track in &self.tracks {
            let score = score(track, asked, said, fits);
            if score > best.0 {
                best = (score, Vec::new());
            }
            if score > 0 && score == best.0 {
                best.1.push(Arc::clone(track));
            }
        }
        best.1
    }
}

/// How many parts of a word of a request mean one of a track's own.
type Fits = fn(&Word<'_>, &str) -> i32;

fn fits(word: &Word<'_>, own: &str) -> i32 {
    let is_same = word.text == own
        || word.stem == moods::stem(own)
        || (own.len() >= NEAR_MIN && word.text.starts_with(own));
    let mask = moods::mask(own);
    let parts = [word.moods.0, word.moods.1].iter().filter(|part| *part & mask != 0).map(|_| 1);
    let direct = if is_same && !word.is_plain { 1 } else { 0 };
    direct.max(parts.sum())
}

fn nearly_fits(word: &Word<'_>, own: &str) -> i32 {
    if moods::is_near(word.text, own) { 1 } else { fits(word, own) }
}

/// How well `track` fits, 0 or less: not at all.
fn score(track: &Track, asked: &Asked<'_>, said: &Words, fits: Fits) -> i32 {
    let mut own = track.title.clone();
    for mood in &track.moods {
        own.push(' ');
        own.push_str(mood);
    }
    let own = Words::of(&own);
    let most = |word: &Word<'_>| own.iter().map(|own| fits(word, own)).max().unwrap_or_default();
    let words = WORD * asked.words.iter().map(most).sum::<i32>();
    if words == 0 {
        return 0;
    }
    let title = if is_titled(track, said) { TITLE } else { 0 };
    let layer = match asked.layer {
        Some(layer) if layer == track.layer => LAYER,
        _ if track.layer == Layer::Effect => UNASKED,
        _ => 0,
    };
    words + title + layer
}

/// Whether the whole title is among what was `said`.
fn is_titled(track: &Track, said: &Words) -> bool {
    let title = Words::of(&track.title);
    let (n_title, n_said) = (title.len(), said.len().min(WORDS_MAX));
    let is_at = |at: usize| (0..n_title).all(|i| said.get(at + i) == title.get(i));
    n_title > 0 && n_said >= n_title && (0..=n_said - n_title).any(is_at)
}

impl<'w> Asked<'w> {
    fn of(said: &'w Words) -> Self {
        let mut asked = Self { words: Vec::new(), layer: None };
        for text in said.iter().take(WORDS_MAX) {
            asked.layer = asked.layer.or_else(|| moods::layer(text));
            let word = Word {
                text,
                stem: moods::stem(text),
                moods: moods::parts(text),
                is_plain: moods::is_layer(text) || text.len() < 3 || is_any(|it| it.plain, text),
            };
            let is_new = !asked.words.iter().any(|it| it.text == text);
            if is_new && !(word.is_plain && word.moods == (0, 0)) {
                asked.words.push(word);
            }
        }
        asked
    }
}

#[cfg(test)]
mod tests;
