//! Results of `/v1/listen` -> the words of one utterance.
//!
//! Entry type: [`Transcript`]. **Never**: decides that an utterance is over.

use super::wire::Results;

/// The words of an utterance: what is settled, and what may still change behind it.
#[derive(Debug, Default)]
pub struct Transcript {
    settled: String,
    open: String,
    /// Sound that is heard by now, in seconds of the socket.
    pub until: f64,
}

impl Transcript {
    /// Nothing yet, of a socket that has heard sound until then.
    pub fn after(until: f64) -> Self {
        Self { until, ..Self::default() }
    }

    /// Takes in more of it; whether it reads otherwise now.
    pub fn take(&mut self, results: &Results) -> bool {
        let before = self.text();
        self.until = self.until.max(results.until);
        if results.is_final {
            self.open.clear();
            append(&mut self.settled, &results.transcript);
        } else {
            self.open.clone_from(&results.transcript);
        }
        self.text() != before
    }

    /// Nothing has been said for some time: what is there stays.
    pub fn settle(&mut self) {
        let open = std::mem::take(&mut self.open);
        append(&mut self.settled, &open);
    }

    /// All of it.
    pub fn text(&self) -> String {
        let mut text = self.settled.clone();
        append(&mut text, &self.open);
        text
    }
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
        assert!(transcript.take(&results("well", false, 0.5)));
        assert!(transcript.take(&results("well met", false, 1.0)));
        assert!(!transcript.take(&results("well met", true, 1.0)));
        assert!(transcript.take(&results("Bart", false, 1.5)));
        assert!(transcript.take(&results("Bartok", false, 1.4)));
        assert_eq!((transcript.text().as_str(), transcript.until), ("well met Bartok", 1.5));
        transcript.settle();
        assert!(!transcript.take(&results("", true, 2.0)));
        assert!(transcript.take(&results("hello", true, 2.5)));
        assert_eq!(transcript.text(), "well met Bartok hello");
    }
}
