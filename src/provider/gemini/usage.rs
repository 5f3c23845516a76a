//! Billed tokens of an answer.
//!
//! Entry function: [`read`]. Totals are billed; their split into text and sound is an estimate,
//! because it does not always add up.

use serde_json::Value;

use crate::provider::SpeechUsage;

/// Larger counts are cut, so that sums and prices stay finite.
const MOST: u64 = 1 << 40;

pub fn read(usage: &Value) -> Option<SpeechUsage> {
    usage.as_object()?;
    let count = |name| usage.get(name).and_then(number);
    let named = |name| count(name).unwrap_or_default();
    let prompt = named("promptTokenCount");
    let answer = named("responseTokenCount").max(named("candidatesTokenCount"));
    let thoughts = named("thoughtsTokenCount");
    let parts = prompt.saturating_add(answer).saturating_add(thoughts);
    // Tokens counted only in the total are input, such as results of tools.
    let read = prompt.saturating_add(named("totalTokenCount").saturating_sub(parts));
    let cached = named("cachedContentTokenCount").min(read);
    let audio_in = sound(usage, "promptTokensDetails").unwrap_or_default().min(read);
    // Answers count as sound unless the service says otherwise.
    let audio_out = sound(usage, "responseTokensDetails").unwrap_or(answer).min(answer);
    let text_in = read - audio_in;
    Some(SpeechUsage {
        text_in,
        text_cached: cached.min(text_in),
        audio_in,
        audio_cached: cached.saturating_sub(text_in).min(audio_in),
        text_out: (answer - audio_out).saturating_add(thoughts),
        audio_out,
    })
}

fn sound(usage: &Value, name: &str) -> Option<u64> {
    let list = usage.get(name)?.as_array().filter(|list| !list.is_empty())?;
    let is_sound = |part: &&Value| part.get("modality").and_then(Value::as_str) == Some("AUDIO");
    let counts = list.iter().filter(is_sound).filter_map(|part| number(part.get("tokenCount")?));
    Some(counts.fold(0, u64::saturating_add))
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().map(|count| count.min(MOST))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn usage_total_is_billed_and_split_by_modality() {
        let usage = json!({"promptTokenCount": 700, "responseTokenCount": 200,
            "thoughtsTokenCount": 30, "totalTokenCount": 930,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 400},
                {"modality": "AUDIO", "tokenCount": 250}],
            "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 190}]});
        let wanted = SpeechUsage {
            text_in: 450,
            text_cached: 0,
            audio_in: 250,
            audio_cached: 0,
            text_out: 40,
            audio_out: 190,
        };
        assert_eq!(read(&usage), Some(wanted));
    }

    #[test]
    fn odd_counts_are_zero_or_cut() {
        assert_eq!(read(&json!(null)), None);
        assert_eq!(read(&json!({})), Some(SpeechUsage::default()));
        let usage = json!({"promptTokenCount": -5, "responseTokenCount": u64::MAX,
            "totalTokenCount": "9", "promptTokensDetails": [{"modality": "AUDIO",
            "tokenCount": 900}], "cachedContentTokenCount": 7});
        let wanted = SpeechUsage { audio_out: MOST, ..SpeechUsage::default() };
        assert_eq!(read(&usage), Some(wanted));
    }

    #[test]
    fn total_above_its_parts_was_read() {
        let usage = json!({"promptTokenCount": 100, "responseTokenCount": 10,
            "totalTokenCount": 150});
        let read = read(&usage).unwrap();
        assert_eq!((read.text_in, read.audio_out), (140, 10));
    }
}
