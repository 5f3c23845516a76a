//! How long the sound of a text may last.
//!
//! Entry function: [`longest_sound`]. It bounds what a voice service may send for a sentence, and
//! what is reserved for a voice priced by the minute.

use std::time::Duration;

/// Longest time to speak a byte of text at normal speed: twice that of slow readers. Counts bytes,
/// because a letter of three bytes may be a syllable.
const BYTE: Duration = Duration::from_millis(150);
/// Added for each figure: "777" takes as long as a clause.
const FIGURE: Duration = Duration::from_secs(1);
/// Added to a sentence for its pauses.
const BESIDE: Duration = Duration::from_secs(5);
/// Slowest speed that a voice may have.
const SLOWEST: f32 = 0.5;

/// Longest plausible sound of `text`, spoken at a `speed` of 1 for normal.
pub fn longest_sound(text: &str, speed: f32) -> Duration {
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let figures = text.chars().filter(|it| it.is_numeric()).count();
    let words = BYTE.saturating_mul(count(text.len()));
    let words = words.saturating_add(FIGURE.saturating_mul(count(figures)));
    // Some services speak no faster than normal, and pauses stay as long.
    let speed = f64::from(speed.max(SLOWEST)).min(1.0);
    words.saturating_add(BESIDE).div_f64(speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_sound_is_that_of_a_slow_reader() {
        let seconds = Duration::from_secs;
        assert_eq!(longest_sound(&"a".repeat(100), 1.0), seconds(20));
        assert_eq!(longest_sound(&"a".repeat(100), 0.5), seconds(40));
        assert_eq!(longest_sound(&"a".repeat(100), 0.0), seconds(40));
        assert_eq!(longest_sound(&"語".repeat(20), 1.0), seconds(14));
        let faster = longest_sound(&"a".repeat(100), 2.0);
        assert_eq!(faster, seconds(20), "a service may know no speed");
        let rolls = longest_sound("777 777 777 777 777 777 777 777.", 1.0);
        assert!(rolls > seconds(30), "{rolls:?}");
    }
}
