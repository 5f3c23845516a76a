//! The transcript of a recogniser, in one or many pieces.
//!
//! Entry type: [`Transcript`]. Taking a piece costs time in its length.

use super::event::Event;

/// Longest text of an utterance, in bytes.
const MAX_TEXT: usize = 64 << 10;

#[derive(Debug, Default)]
pub struct Transcript {
    pieces: String,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    /// Not about the text.
    Nothing,
    /// More text, in [`Transcript::so_far`].
    More,
    All(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTranscript {
    #[error("a transcript without text")]
    NoText,
    #[error("a transcript of more than \"{MAX_TEXT}\" bytes")]
    Long,
}

impl Transcript {
    /// Reads `event`; ignores events about other things.
    pub fn read(&mut self, event: &Event) -> Result<Written, NoTranscript> {
        let text = || event.text("text").ok_or(NoTranscript::NoText);
        Ok(match event.kind.as_str() {
            "transcript" => {
                let text = text()?;
                if text.len() > MAX_TEXT {
                    return Err(NoTranscript::Long);
                }
                Written::All(text.trim().to_owned())
            }
            "transcript-start" => {
                self.pieces.clear();
                Written::Nothing
            }
            "transcript-chunk" => {
                let text = text()?;
                if self.pieces.len() + text.len() > MAX_TEXT {
                    return Err(NoTranscript::Long);
                }
                let is_first = self.pieces.is_empty();
                self.pieces.push_str(if is_first { text.trim_start() } else { text });
                if text.trim().is_empty() { Written::Nothing } else { Written::More }
            }
            "transcript-stop" => Written::All(self.so_far().to_owned()),
            _ => Written::Nothing,
        })
    }

    pub fn so_far(&self) -> &str {
        self.pieces.trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[(&str, Option<&str>)]) -> Result<Vec<Written>, NoTranscript> {
        read_into(&mut Transcript::default(), events)
    }

    fn read_into(
        transcript: &mut Transcript,
        events: &[(&str, Option<&str>)],
    ) -> Result<Vec<Written>, NoTranscript> {
        let read = |(kind, text): &(&str, Option<&str>)| {
            let event = Event::new(kind);
            transcript.read(&text.map_or(event.clone(), |text| event.with("text", text)))
        };
        events.iter().map(read).collect()
    }

    #[test]
    fn pieces_become_a_whole() {
        let all = |text: &str| Written::All(text.to_owned());
        let pieces = [
            ("transcript-start", None),
            ("transcript-chunk", Some(" well")),
            ("transcript-chunk", Some("  ")),
            ("transcript-chunk", Some("met")),
            ("voice-started", Some("x")),
        ];
        let expected =
            [Written::Nothing, Written::More, Written::Nothing, Written::More, Written::Nothing];
        let mut transcript = Transcript::default();
        assert_eq!(read_into(&mut transcript, &pieces).unwrap(), expected);
        assert_eq!(transcript.so_far(), "well  met");
        let stopped = [&pieces[..], &[("transcript-stop", None)]].concat();
        assert_eq!(read(&stopped).unwrap().last(), Some(&all("well  met")));
        let told = [&pieces[..], &[("transcript", Some(" Well met. "))]].concat();
        assert_eq!(read(&told).unwrap().last(), Some(&all("Well met.")));
        assert_eq!(read(&[("transcript-stop", None)]).unwrap(), [all("")]);
    }

    #[test]
    fn overlong_or_textless_transcripts_are_refused() {
        let long = "x".repeat(MAX_TEXT + 1);
        assert_eq!(read(&[("transcript", Some(&long))]), Err(NoTranscript::Long));
        let half = "x".repeat(MAX_TEXT / 2 + 1);
        let twice = [("transcript-chunk", Some(half.as_str())); 2];
        assert_eq!(read(&twice), Err(NoTranscript::Long));
        assert_eq!(read(&[("transcript", None)]), Err(NoTranscript::NoText));
    }
}
