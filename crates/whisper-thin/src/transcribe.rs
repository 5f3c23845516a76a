//! Decoding, greedy first, and the guards that keep a small model from running away.
//!
//! Source: section 4.5 of the paper (arXiv 2212.04356) and `whisper/decoding.py` of openai/whisper.
//! The prompt comes before the start token; the scores after the start token give the probability
//! of no speech.

use crate::error::TranscribeError;
use crate::kernels::log_sum;
use crate::mel::RATE;
use crate::model::{Model, Scratch};
use crate::options::{Guard, Options, Transcript};
use crate::window::Window;
use crate::work::{Cancelled, Crew, Stop};

/// Tokens allowed for any sound, and how many more per second. Fast talk has six to eight.
const TOKENS_AT_LEAST: usize = 8;
const TOKENS_A_SECOND: usize = 10;
/// `no_speech` above which a second try would not find speech either.
const NOBODY_SPEAKS: f32 = 0.6;

pub(crate) struct Run<'a> {
    pub(crate) model: &'a Model,
    options: &'a Options<'a>,
    pub(crate) scratch: &'a mut Scratch,
    crew: Crew<'a>,
    /// Tokens before the start token.
    prompt: Vec<u32>,
    samples: usize,
}

pub(crate) struct Read {
    /// Without the end token.
    pub(crate) tokens: Vec<u32>,
    /// Mean log-probability of its tokens and its end.
    pub(crate) mean: f32,
    pub(crate) cut_by_guard: Option<Guard>,
}

impl Model {
    /// Transcribes mono sound at 16 kHz, -1 to 1, of at most [`Model::max_samples`].
    ///
    /// `cancelled` is called every few milliseconds, on any of the threads; after it returns true
    /// the call ends within about 10 ms. This blocks: async code should call it on a thread of its
    /// own.
    ///
    /// # Errors
    /// [`TranscribeError::TooLong`], [`TranscribeError::Language`] or
    /// [`TranscribeError::Cancelled`]. `scratch` stays usable.
    pub fn transcribe(
        &self,
        scratch: &mut Scratch,
        samples: &[f32],
        options: &Options,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Transcript, TranscribeError> {
        let most = self.max_samples();
        if samples.len() > most {
            return Err(TranscribeError::TooLong { samples: samples.len(), most });
        }
        let language = options.language.map(|code| self.language(code)).transpose()?;
        let stop = Stop::new(cancelled);
        let crew = Crew { threads: options.threads.max(1), stop: &stop };
        let frames = 2 * self.encoder.positions;
        self.frontend.run(samples, frames, &mut scratch.mel, &stop)?;
        let mut prompt = self.prompt(options.prompt);
        prompt.drain(..prompt.len().saturating_sub(self.max_prompt()));
        if !prompt.is_empty() {
            prompt.insert(0, self.tokens.special.previous);
        }
        let mut run = Run { model: self, options, scratch, crew, prompt, samples: samples.len() };
        let first = run.attempt(options.window, language)?;
        if options.window == Window::Full || !fails(&first, options) {
            return Ok(first);
        }
        Ok(Transcript { fell_back: true, ..run.attempt(Window::Full, language)? })
    }

    fn language(&self, asked: &str) -> Result<usize, TranscribeError> {
        if !self.is_multilingual() && asked == "en" {
            return Ok(0);
        }
        let known = || match self.is_multilingual() {
            true => format!("it has {}", self.languages().collect::<Vec<_>>().join(", ")),
            false => "it has only \"en\"; take a model without \".en\" in its name".to_owned(),
        };
        let found = self.tokens.languages.iter().position(|(code, _)| code == asked);
        found.ok_or_else(|| TranscribeError::Language { asked: asked.to_owned(), known: known() })
    }
}

fn fails(heard: &Transcript, options: &Options) -> bool {
    let poor = |least| heard.cut_by_guard.is_some() || heard.mean_log_probability < least;
    heard.no_speech <= NOBODY_SPEAKS && options.fall_back_below.is_some_and(poor)
}

impl Run<'_> {
    fn attempt(
        &mut self,
        window: Window,
        language: Option<usize>,
    ) -> Result<Transcript, Cancelled> {
        let model = self.model;
        let encoder = &model.encoder;
        let frames = self.scratch.mel.rows.len() / encoder.bands;
        let plan = window.plan(frames.div_ceil(2), encoder.positions);
        encoder.run(&self.scratch.mel, &plan, &mut self.scratch.encoder, self.crew)?;
        let Scratch { encoder: encoded, decoder: room, .. } = &mut *self.scratch;
        model.decoder.hear(&encoded.rows, &plan.bias, room, self.crew)?;

        let (no_speech, language) = self.begin(language)?;
        let (read, searched) = self.text(language, no_speech)?;
        let Read { tokens, mean, cut_by_guard } = read;
        let code = model.tokens.languages.get(language).map_or("en", |(code, _)| code);
        Ok(Transcript {
            text: model.tokens.decode(&tokens),
            tokens,
            no_speech,
            mean_log_probability: mean,
            cut_by_guard,
            language: code.to_owned(),
            fell_back: false,
            searched,
        })
    }

    pub(crate) fn feed(&mut self, tokens: &[u32]) -> Result<(), Cancelled> {
        self.model.decoder.feed(tokens, &mut self.scratch.decoder, self.crew)
    }

    /// Feeds prompt and start; returns the probability of no speech, and the language.
    fn begin(&mut self, asked: Option<usize>) -> Result<(f32, usize), Cancelled> {
        let tokens = &self.model.tokens;
        let start = tokens.special.start;
        let mut found = asked;
        if found.is_none() && !tokens.languages.is_empty() && !self.prompt.is_empty() {
            // a prompt would be taken for the spoken language
            self.feed(&[start])?;
            found = Some(self.likeliest_language());
            self.scratch.decoder.forget_tokens();
        }
        let mut prefix = self.prompt.clone();
        prefix.push(start);
        self.feed(&prefix)?;
        let scores = &self.scratch.decoder.scores;
        let (_, all) = log_sum(scores);
        let no_speech = (scores[tokens.special.no_speech as usize] - all).exp();
        Ok((no_speech, found.unwrap_or_else(|| self.likeliest_language())))
    }

    /// Index of the language with the best score; 0 if the list is empty.
    fn likeliest_language(&self) -> usize {
        let score = |id: u32| self.scratch.decoder.scores[id as usize];
        let languages = self.model.tokens.languages.iter().enumerate();
        let best = languages.max_by(|(_, a), (_, b)| score(a.1).total_cmp(&score(b.1)));
        best.map_or(0, |(place, _)| place)
    }

    /// Decodes the text, and searches for a likelier one if it is unsure; true if it did.
    fn text(&mut self, language: usize, no_speech: f32) -> Result<(Read, bool), Cancelled> {
        let tokens = &self.model.tokens;
        let mut first = vec![tokens.special.no_times];
        if let Some((_, language)) = tokens.languages.get(language) {
            first.splice(..0, [*language, tokens.special.transcribe]);
        }
        let before = self.prompt.len() + 1 + first.len();
        let room = self.model.decoder.context.saturating_sub(before);
        let most = self.options.max_tokens.min(room);
        let most = most.min(TOKENS_AT_LEAST + self.samples * TOKENS_A_SECOND / RATE);
        let Some(search) = self.options.search else {
            return Ok((self.read(first, most)?, false));
        };
        let begun = self.scratch.decoder.said.clone();
        let read = self.read(first.clone(), most)?;
        if !search.is_wanted(read.mean, read.cut_by_guard) || no_speech > NOBODY_SPEAKS {
            return Ok((read, false));
        }
        self.scratch.decoder.said = begun;
        Ok((self.search(&first, most, search.beams.max(1))?, true))
    }

    /// Decodes greedily after `next`, up to `most` tokens.
    fn read(&mut self, mut next: Vec<u32>, most: usize) -> Result<Read, Cancelled> {
        let end = self.model.tokens.special.end;
        let (mut said, mut sum, mut steps) = (Vec::new(), 0.0, 0.0f32);
        let guard = loop {
            if said.len() >= most {
                break Some(Guard::Length);
            }
            self.feed(&next)?;
            let (token, log_probability) = self.choose(said.is_empty());
            sum += log_probability;
            steps += 1.0;
            if token == end {
                break None;
            }
            said.push(token);
            if let Some(once) = looped(&said) {
                said.truncate(once);
                break Some(Guard::Loop);
            }
            next.clear();
            next.push(token);
        };
        Ok(Read { tokens: said, mean: sum / steps.max(1.0), cut_by_guard: guard })
    }

    /// Suppresses the tokens not allowed here; returns the best score left, and the logarithm of
    /// the sum of exponentials.
    pub(crate) fn allow(&mut self, first: bool) -> (f32, f32) {
        let tokens = &self.model.tokens;
        let scores = &mut self.scratch.decoder.scores;
        let begin = if first { tokens.suppressed_first.as_slice() } else { &[] };
        for &token in tokens.suppressed.iter().chain(begin) {
            scores[token as usize] = f32::MIN;
        }
        scores[tokens.special.end as usize + 1..].fill(f32::MIN);
        log_sum(scores)
    }

    /// The allowed token with the best score, and its log-probability among those allowed.
    fn choose(&mut self, first: bool) -> (u32, f32) {
        let (top, all) = self.allow(first);
        let end = self.model.tokens.special.end;
        let best = (0..=end).zip(&self.scratch.decoder.scores).find(|(_, score)| **score == top);
        (best.map_or(end, |(token, _)| token), top - all)
    }
}

/// Length of `said` up to the end of a repeated block's first occurrence, if it ends with three in
/// a row (five for blocks of one or two tokens).
pub(crate) fn looped(said: &[u32]) -> Option<usize> {
    (1..=12).find_map(|length| {
        let times = if length <= 2 { 5 } else { 3 };
        let begin = said.len().checked_sub(length * times)?;
        let tail = &said[begin..];
        (tail[length..] == tail[..tail.len() - length]).then_some(begin + length)
    })
}

#[cfg(test)]
mod tests {
    use super::looped;

    #[test]
    fn loops_are_found_and_nothing_else() {
        assert_eq!(looped(&[1, 2, 3, 4, 5]), None);
        assert_eq!(looped(&[9, 1, 2, 3, 1, 2, 3]), None);
        assert_eq!(looped(&[9, 1, 2, 3, 1, 2, 3, 1, 2, 3]), Some(4));
        assert_eq!(looped(&[7, 5, 5, 5, 5, 5]), Some(2));
        assert_eq!(looped(&[5, 5, 5, 5]), None, "no, no, no, no");
    }
}
