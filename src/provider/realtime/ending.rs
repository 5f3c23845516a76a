//! Maps the service's ending of an answer.
//!
//! Entry function: [`ending`]. **Never**: takes an unknown word for success.

use super::{failure::briefly, wire::Ended};
use crate::provider::{SpeechEnding, speech_to_speech::peer::Peer};

pub fn ending(ended: &Ended, peer: &Peer) -> SpeechEnding {
    match (ended.status.as_str(), ended.reason.as_str()) {
        ("completed", _) => SpeechEnding::Completed,
        ("cancelled", _) => SpeechEnding::Cancelled,
        ("incomplete", "max_output_tokens") => SpeechEnding::TooLong,
        ("incomplete", "content_filter") => SpeechEnding::Withheld,
        ("failed", _) => SpeechEnding::Failed(briefly(peer, &ended.error).to_string()),
        (status, reason) => {
            let reason = if reason.is_empty() { "no reason" } else { reason };
            SpeechEnding::Failed(peer.quote(&format!("the answer ended as {status}: {reason}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::realtime::{Options, failure::closed, wire::Complaint};

    fn peer() -> Peer {
        Peer::new(&Options::of_tests("http://127.0.0.1:9"), closed)
    }

    fn ended(status: &str, reason: &str) -> Ended {
        let (status, reason) = (status.to_owned(), reason.to_owned());
        Ended { status, reason, ..Ended::default() }
    }

    #[test]
    fn status_and_reason_make_the_ending() {
        let of = |status, reason| ending(&ended(status, reason), &peer());
        assert_eq!(of("completed", ""), SpeechEnding::Completed);
        assert_eq!(of("cancelled", "client_cancelled"), SpeechEnding::Cancelled);
        assert_eq!(of("incomplete", "max_output_tokens"), SpeechEnding::TooLong);
        assert_eq!(of("incomplete", "content_filter"), SpeechEnding::Withheld);
        let unknown = SpeechEnding::Failed("the answer ended as dreaming: no reason".to_owned());
        assert_eq!(of("dreaming", ""), unknown);
        let error = Complaint { kind: "server_error".to_owned(), ..Complaint::default() };
        let failed = ending(&Ended { error, ..ended("failed", "") }, &peer());
        let SpeechEnding::Failed(why) = failed else { panic!("{failed:?}") };
        assert!(why.contains("the service failed with \"server_error\""), "{why}");
    }
}
