//! Results of `/v1/listen` -> the words of one utterance.
//!
//! Entry type: [`Transcript`]. **Never**: decides that an utterance is over.

use super::wire::Results;
use crate::provider::bounds::{Bound, TURN_TEXT};

/// Final words of an utterance, then the ones that may still change.
#[derive(Debug, Default)]
pub struct Transcript {
    settled: String,
    open: String,
    /// Sound heard so far, in seconds since the socket was opened.
    pub until: f64,
}

impl Transcript {
    /// An empty transcript of a socket that has heard `until` seconds.
    pub fn after(until: f64) -> Self {
        Self { until, ..Self::default() }
    }

    /// Adds results; true if the text changed. Costs time in the length of `results`.
    pub fn take(&mut self, results: &Results) -> Result<bool, Bound> {
        TURN_TEXT.check(joined(&self.settled, &results.transcript))?;
        self.until = self.until.max(results.until);
        // The final words grow only by the open ones.
        let is_other = self.open != results.transcript;
        if results.is_final {
            self.open.clear();
            append(&mut self.settled, &results.transcript);
        } else {
            self.open.clone_from(&results.transcript);
        }
        Ok(is_other)
    }

    /// The service heard a pause: the open words become final.
    pub fn settle(&mut self) {
        let open = std::mem::take(&mut self.open);
        append(&mut self.settled, &open);
    }

    pub fn size(&self) -> usize {
        joined(&self.settled, &self.open)
    }

    pub fn text(&self) -> String {
        let mut text = self.settled.clone();
        append(&mut text, &self.open);
        text
    }
}

fn joined(text: &str, more: &str) -> usize {
    text.len() + more.len() + usize::from(!text.is_empty() && !more.is_empty())
}

fn append(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(transcript: &str, is_final: bool, until: f64) -> Results {
        Results { transcript: transcript.to_owned(), is_final, until, ..Results::default() }
    }

    #[test]
    fn settled_text_comes_before_interim_text() {
        let mut transcript = Transcript::default();
        let mut take =
            |text, is_final, until| transcript.take(&results(text, is_final, until)).unwrap();
        assert!(take("well", false, 0.5));
        assert!(take("well met", false, 1.0));
        assert!(!take("well met", true, 1.0));
        assert!(take("Bart", false, 1.5));
        assert!(take("Bartok", false, 1.4));
        assert_eq!((transcript.text().as_str(), transcript.until), ("well met Bartok", 1.5));
        transcript.settle();
        assert_eq!(transcript.take(&results("", true, 2.0)), Ok(false));
        assert_eq!(transcript.take(&results("hello", true, 2.5)), Ok(true));
        assert_eq!(transcript.text(), "well met Bartok hello");
        assert_eq!(transcript.size(), transcript.text().len());
    }

    #[test]
    fn text_without_end_is_refused() {
        let (mut transcript, piece) = (Transcript::default(), "x".repeat(1 << 10));
        let finals = (0..).take_while(|_| transcript.take(&results(&piece, true, 0.0)).is_ok());
        assert_eq!(finals.count(), 63, "with the spaces between");
        let long = "x".repeat(2 << 10);
        assert_eq!(transcript.take(&results(&long, false, 0.0)), Err(TURN_TEXT));
        assert!(transcript.size() <= TURN_TEXT.most());
    }
}
