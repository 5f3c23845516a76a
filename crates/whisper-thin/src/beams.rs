//! Beam search: at each token the likeliest continuations of several texts survive, so that a word
//! that looks good alone but fits nothing after it does not win.
//!
//! Source: section 4.5 of the paper (arXiv 2212.04356); the text with the best mean log-probability wins.

use crate::decoder::Said;
use crate::options::Guard;
use crate::transcribe::{Read, Run, looped};
use crate::work::Cancelled;

struct Beam {
    tokens: Vec<u32>,
    /// Sum of the log-probabilities.
    sum: f32,
    /// The decoder's memory of the prompt and all tokens but the last.
    said: Said,
}

struct Next {
    beam: usize,
    token: u32,
    sum: f32,
}

/// Mean log-probability of a text's tokens and its end.
fn mean(sum: f32, tokens: usize) -> f32 {
    sum / (tokens + 1) as f32
}

impl Run<'_> {
    /// The likeliest text of at most `most` tokens, with `count` beams; feeds `first` before.
    pub(crate) fn search(
        &mut self,
        first: &[u32],
        most: usize,
        count: usize,
    ) -> Result<Read, Cancelled> {
        let end = self.model.tokens.special.end;
        let mut live =
            vec![Beam { tokens: Vec::new(), sum: 0.0, said: self.scratch.decoder.said.clone() }];
        let mut done: Vec<Read> = Vec::new();
        for _ in 0..=most {
            let found = self.continuations(&mut live, first, count)?;
            let mut next = Vec::new();
            for Next { beam, token, sum } in found {
                let tokens = &live[beam].tokens;
                if token == end {
                    let tokens = tokens.clone();
                    let mean = mean(sum, tokens.len());
                    done.push(Read { tokens, mean, cut_by_guard: None });
                } else if next.len() < count {
                    let tokens: Vec<u32> = tokens.iter().copied().chain([token]).collect();
                    // A text that repeats itself is dropped.
                    if looped(&tokens).is_none() {
                        next.push(Beam { tokens, sum, said: live[beam].said.clone() });
                    }
                }
                if next.len() == count || done.len() >= count {
                    break;
                }
            }
            if done.len() >= count || next.is_empty() {
                break;
            }
            live = next;
        }
        let best = done.into_iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
        Ok(best.unwrap_or_else(|| {
            let Beam { mut tokens, sum, .. } = live.swap_remove(0);
            tokens.truncate(most);
            Read { mean: mean(sum, tokens.len()), tokens, cut_by_guard: Some(Guard::Length) }
        }))
    }

    /// The likeliest next tokens of all texts, best first; feeds `first` while no text has tokens.
    fn continuations(
        &mut self,
        live: &mut [Beam],
        first: &[u32],
        count: usize,
    ) -> Result<Vec<Next>, Cancelled> {
        let mut found = Vec::new();
        for (beam, it) in live.iter_mut().enumerate() {
            self.put_said(&mut it.said);
            let last = it.tokens.last().copied();
            self.feed(last.as_ref().map_or(first, std::slice::from_ref))?;
            let best = self.best(last.is_none(), count + 1);
            let sum = it.sum;
            let next = |(token, probability)| Next { beam, token, sum: sum + probability };
            found.extend(best.into_iter().map(next));
            self.put_said(&mut it.said);
        }
        found.sort_by(|a, b| b.sum.total_cmp(&a.sum));
        Ok(found)
    }

    /// Swaps the decoder's memory with `said`.
    fn put_said(&mut self, said: &mut Said) {
        std::mem::swap(&mut self.scratch.decoder.said, said);
    }

    /// The likeliest tokens allowed here, with their log-probabilities.
    fn best(&mut self, first: bool, count: usize) -> Vec<(u32, f32)> {
        let all = self.allow(first).1;
        let scores = self.scratch.decoder.scores.iter().copied();
        let mut best: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
        for (token, score) in (0..=self.model.tokens.special.end).zip(scores) {
            if best.len() < count || best.last().is_some_and(|(_, least)| score > *least) {
                let at = best.partition_point(|(_, other)| *other >= score);
                best.insert(at, (token, score));
                best.truncate(count);
            }
        }
        best.iter().map(|(token, score)| (*token, score - all)).collect()
    }
}
