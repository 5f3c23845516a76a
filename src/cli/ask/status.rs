//! The state of a table on a terminal. Entry function: [`lines`].

use std::fmt::Write as _;

use crate::{
    domain::{EngineKind, Tier},
    session::{Quantiles, SeatStatus, Status},
};

/// Counts, scene, music, NPCs and times, one per line.
pub fn lines(status: &Status) -> Vec<String> {
    let seats = status.seats.iter().map(everything);
    let before = [counts(status), scene(status)].into_iter();
    before.chain(music(status)).chain(seats).chain([latencies(status)]).collect()
}

fn counts(status: &Status) -> String {
    let Status { state, utterances, answered, silent, errors, spent, unwritten, .. } = status;
    let memory =
        if unwritten.is_troubled() { format!("; memory: {unwritten}") } else { String::new() };
    format!(
        "{state}; {utterances} utterances: {answered} answered, {silent} needed no answer, \
         {errors} failed; \
         spent {spent:.4}{memory}"
    )
}

fn scene(status: &Status) -> String {
    let scene = &status.scene;
    let place = scene.location.as_deref().unwrap_or("nowhere in particular");
    let time = scene.time_of_day.as_deref().map(|time| format!(", {time}")).unwrap_or_default();
    let here =
        if scene.present.is_empty() { "nobody".to_owned() } else { scene.present.join(", ") };
    format!("scene: {place}{time}; present: {here}")
}

/// Titles that play and their volume; `None`: silence.
fn music(status: &Status) -> Option<String> {
    let titles: Vec<&str> = status.music.playing.iter().map(|(_, title)| title.as_str()).collect();
    let volume = status.music.volume;
    (!titles.is_empty()).then(|| format!("music: {} at {volume} percent", titles.join(", ")))
}

fn tiers(seat: &SeatStatus) -> String {
    let mut text = format!("{}: up to {}", seat.name, seat.ceiling);
    match seat.override_ {
        Some((tier, Some(left))) => {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "; game master's {tier} for {} s", left.as_secs());
        }
        Some((tier, None)) => text.push_str(&until_cleared(tier)),
        None => {}
    }
    if let Some(last) = &seat.last_selection {
        let _ = write!(text, "; last {} ({})", last.effective, last.reason);
    }
    text
}

fn until_cleared(tier: Tier) -> String {
    format!("; game master's {tier}")
}

fn everything(seat: &SeatStatus) -> String {
    let mut text = tiers(seat);
    let _ = write!(text, "; {} and {}", seat.brain, seat.tts);
    if seat.engine == EngineKind::SpeechToSpeech {
        text.push_str("; engine s2s, which hears own voices");
    }
    if seat.muted {
        text.push_str("; muted");
    }
    if !seat.present {
        text.push_str("; not in the scene");
    }
    if seat.waiting > 0 {
        let _ = write!(text, "; {} waiting", seat.waiting);
    }
    if !seat.pinned_by.is_empty() {
        let _ = write!(text, "; hears {}", seat.pinned_by.join(", "));
    }
    match seat.note_turns_left {
        None => {}
        Some(None) => text.push_str("; has a note"),
        Some(Some(turns)) => {
            let _ = write!(text, "; has a note for {turns} turns");
        }
    }
    text
}

fn latencies(status: &Status) -> String {
    let ms = |of: Option<Quantiles>| {
        of.map_or_else(|| "-".to_owned(), |it| format!("{:.0}/{:.0}", it.p50, it.p95))
    };
    let it = &status.latency;
    format!(
        "ms, median/95th percentile: hearing {}, thinking {}, voice {}, whole {}",
        ms(it.speech_end_to_final),
        ms(it.final_to_first_text),
        ms(it.first_text_to_first_audio),
        ms(it.speech_end_to_first_audio)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        commands::stand_in::{seat, status},
        logic::music::{Layer, MusicStatus},
    };

    #[test]
    fn music_is_shown_while_it_plays() {
        let silent = status(vec![seat("Bartok")]);
        assert!(lines(&silent).iter().all(|line| !line.starts_with("music")));
        let playing = [(Layer::Music, "Inn"), (Layer::Ambience, "Rain")];
        let playing = playing.map(|(layer, title)| (layer, title.to_owned())).to_vec();
        let heard = Status { music: MusicStatus { playing, volume: 80 }, ..silent };
        assert!(lines(&heard).contains(&"music: Inn, Rain at 80 percent".to_owned()));
    }
}
