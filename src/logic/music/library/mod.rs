//! Finds a track by a model's or a person's words, English or German: [`Library::find`].

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::{Layer, Library, Track, moods};
use crate::logic::{
    language::is_any,
    words::{Words, fold},
};

/// Most words of a request that are read.
const WORDS_MAX: usize = 64;
/// Score of a word that is or means a track's mood.
const WORD: i32 = 4;
/// Score of a word that only the title has.
const TITLE_WORD: i32 = 3;
const TITLE: i32 = 2;
const LAYER: i32 = 1;
/// Score of an effect that was not requested.
const UNASKED: i32 = -2;
/// Shortest word that may be misspelt, in bytes.
const NEAR_MIN: usize = 5;

struct Asked<'w> {
    words: Vec<Word<'w>>,
    layer: Option<Layer>,
}

struct Word<'w> {
    text: &'w str,
    stem: &'w str,
    /// Moods of a compound's first and second part.
    moods: (u64, u64),
    /// An everyday word, which does not count if only a title has it.
    is_plain: bool,
}

impl Library {
    /// The tracks that fit `words` best, all equally, in the library's order; empty if none does.
    /// Words match whole, in other forms, and by mood ("crypt" finds a dungeon); an exact title
    /// wins. Misspelt words are tried only if nothing else fits.
    pub fn find(&self, words: &str) -> Vec<Arc<Track>> {
        let said = Words::of(words);
        let title = said.iter().collect::<Vec<_>>().join(" ");
        let exact: Vec<_> =
            self.tracks.iter().filter(|track| fold(&track.title) == title).cloned().collect();
        if !exact.is_empty() && !title.is_empty() {
            return exact;
        }
        let mut asked = Asked::of(&said);
        let found = self.best(&asked, &said, is_same);
        if !found.is_empty() {
            return found;
        }
        asked.words.retain(|word| word.text.len() >= NEAR_MIN && !word.is_plain);
        for word in &mut asked.words {
            word.moods.0 |= moods::near_mask(word.text);
        }
        self.best(&asked, &said, is_nearly_same)
    }

    /// A random track of those that fit `words` best; not `playing`, if there is another.
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

    pub fn only(&self, is_wanted: fn(Layer) -> bool) -> Self {
        Self { tracks: self.tracks.iter().filter(|it| is_wanted(it.layer)).cloned().collect() }
    }

    pub fn titles(&self) -> Vec<&str> {
        self.tracks.iter().map(|track| track.title.as_str()).collect()
    }

    /// All moods, each once, in order.
    pub fn moods(&self) -> Vec<&str> {
        let mut moods: Vec<&str> = Vec::new();
        for mood in self.tracks.iter().flat_map(|track| &track.moods) {
            if !moods.contains(&mood.as_str()) {
                moods.push(mood);
            }
        }
        moods
    }

    fn best(&self, asked: &Asked<'_>, said: &Words, is_same: IsSame) -> Vec<Arc<Track>> {
        let mut best = (0, Vec::new());
        for track in &self.tracks {
            let score = score(track, asked, said, is_same);
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

type IsSame = fn(&Word<'_>, &str) -> bool;

fn is_same(word: &Word<'_>, own: &str) -> bool {
    let is_same = word.text == own
        || word.stem == moods::stem(own)
        || (own.len() >= NEAR_MIN && word.text.starts_with(own));
    is_same && !word.is_plain
}

fn is_nearly_same(word: &Word<'_>, own: &str) -> bool {
    moods::is_near(word.text, own) || is_same(word, own)
}

/// The score of `track`; it fits if positive.
fn score(track: &Track, asked: &Asked<'_>, said: &Words, is_same: IsSame) -> i32 {
    let title = Words::of(&track.title);
    let moods = Words::of(&track.moods.join(" "));
    let mask = title.iter().chain(moods.iter()).fold(0, |mask, own| mask | moods::mask(own));
    let counts = |word: &Word<'_>| {
        let is_in = |words: &Words| words.iter().any(|own| is_same(word, own));
        let parts = [word.moods.0, word.moods.1].into_iter().filter(|part| part & mask != 0);
        match parts.map(|_| WORD).sum::<i32>() {
            0 if is_in(&moods) => WORD,
            0 if is_in(&title) => TITLE_WORD,
            parts => parts,
        }
    };
    let words: i32 = asked.words.iter().map(counts).sum();
    if words == 0 {
        return 0;
    }
    let titled = if is_titled(&title, said) { TITLE } else { 0 };
    let layer = match asked.layer {
        Some(layer) if layer == track.layer => LAYER,
        _ if track.layer == Layer::Effect => UNASKED,
        _ => 0,
    };
    words + titled + layer
}

fn is_titled(title: &Words, said: &Words) -> bool {
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
