//! Word match between an utterance and tools: BM25 over an inverted index. The crate `bm25`
//! computes a word's weight in a tool; our lists by word are several times faster than its scorer.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use bm25::{Embedder, EmbedderBuilder, Tokenizer};

/// Tools up to which an index is built when it is first used: a millisecond. Few tables need it, and at the
/// start each source of tools would have it built again. More tools are indexed at once, so that no turn waits.
const FEW: usize = 40;

/// Word hash -> tools that contain it, by index, with the word's weight.
type Postings = HashMap<u64, Vec<(usize, f32)>>;

#[derive(Debug, Default)]
pub struct Lexical {
    /// Words of each tool, separated by spaces.
    tools: Vec<Arc<str>>,
    postings: OnceLock<Postings>,
}

/// Splits at spaces: words are stemmed already.
#[derive(Default)]
struct Spaces;

impl Tokenizer for Spaces {
    fn tokenize(&self, text: &str) -> Vec<String> {
        text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }
}

impl Lexical {
    /// An index of tools, each given as space-separated words.
    pub fn of(tools: Vec<Arc<str>>) -> Self {
        let index = Self { tools, postings: OnceLock::new() };
        if index.tools.len() > FEW {
            index.postings();
        }
        index
    }

    fn postings(&self) -> &Postings {
        self.postings.get_or_init(|| postings(&self.tools))
    }

    pub fn scores(&self, words: &[String]) -> Vec<f32> {
        let (mut scores, postings) = (vec![0.0; self.tools.len()], self.postings());
        let mut seen = HashSet::new();
        let key = <u64 as bm25::TokenEmbedder>::embed;
        for key in words.iter().map(|word| key(word)).filter(|key| seen.insert(*key)) {
            for (place, weight) in postings.get(&key).into_iter().flatten() {
                if let Some(score) = scores.get_mut(*place) {
                    *score += weight;
                }
            }
        }
        scores
    }
}

fn postings(tools: &[Arc<str>]) -> Postings {
    let tools: Vec<&str> = tools.iter().map(|words| &**words).collect();
    let embedder: Embedder<u64, Spaces> =
        EmbedderBuilder::with_tokenizer_and_fit_to_corpus(Spaces, &tools).build();
    let mut postings = Postings::new();
    for (place, words) in tools.iter().enumerate() {
        // The weight of a repeated word includes its repeats.
        let mut seen = HashSet::new();
        for word in embedder.embed(words).0 {
            if seen.insert(word.index) {
                postings.entry(word.index).or_default().push((place, word.value));
            }
        }
    }
    for tools_with in postings.values_mut() {
        let rarity = rarity(tools.len(), tools_with.len());
        tools_with.iter_mut().for_each(|(_, weight)| *weight *= rarity);
    }
    postings
}

/// BM25's inverse document frequency of a word in `with` of `all` tools.
fn rarity(all: usize, with: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "there are not millions of tools")]
    let (all, with) = (all as f32, with as f32);
    ((all - with + 0.5) / (with + 0.5)).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(tools: &[&str]) -> Lexical {
        Lexical::of(tools.iter().copied().map(Arc::from).collect())
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn rare_words_and_short_texts_score_higher() {
        let index = index(&[
            "get weather",
            "get file",
            "get weather of place and day with all wind and rain",
            "",
        ]);
        let scores = index.scores(&words("get weather"));
        assert!(scores[0] > scores[2] && scores[2] > scores[1] && scores[1] > 0.0, "{scores:?}");
        assert_eq!(scores[3], 0.0);
        assert_eq!(index.scores(&words("dragon")), [0.0; 4]);
        assert_eq!(index.scores(&words("weather weather")), index.scores(&words("weather")));
    }

    #[test]
    fn weights_are_those_of_the_crate() {
        let texts = ["roll dice dice", "roll on table", "read file"];
        let index = index(&texts);
        let embedder: Embedder<u64, Spaces> =
            EmbedderBuilder::with_tokenizer_and_fit_to_corpus(Spaces, &texts).build();
        let mut scorer = bm25::Scorer::<usize, u64>::new();
        for (place, text) in texts.iter().enumerate() {
            scorer.upsert(&place, embedder.embed(text));
        }
        let ours = index.scores(&words("roll dice"));
        for (place, ours) in ours.iter().enumerate() {
            let theirs = scorer.score(&place, &embedder.embed("roll dice")).unwrap();
            assert!((ours - theirs).abs() < 1e-5, "{place}: {ours} against {theirs}");
        }
    }

    #[test]
    fn few_tools_are_indexed_when_first_looked_for() {
        let few = index(&["roll dice"; FEW]);
        assert!(few.postings.get().is_none());
        assert!(few.scores(&words("dice"))[0] > 0.0 && few.postings.get().is_some());
        assert!(index(&["roll dice"; FEW + 1]).postings.get().is_some());
    }
}
