//! Billed tokens of an answer.
//!
//! Entry function: [`read`]. Missing, negative and invalid counts are 0; a part never exceeds its
//! whole.

use serde_json::Value;

use crate::provider::SpeechUsage;

/// Larger counts are cut, so that sums and prices stay finite.
const MOST: u64 = 1 << 40;

pub fn read(usage: &Value) -> Option<SpeechUsage> {
    usage.as_object()?;
    let count = |pointer| usage.pointer(pointer).and_then(number).unwrap_or_default();
    let audio_in = count("/input_token_details/audio_tokens");
    let audio_out = count("/output_token_details/audio_tokens");
    // Tokens of unknown kinds count as text.
    let text_in = count("/input_token_details/text_tokens")
        .max(count("/input_tokens").saturating_sub(audio_in));
    let text_out = count("/output_token_details/text_tokens")
        .max(count("/output_tokens").saturating_sub(audio_out));
    let split = "/input_token_details/cached_tokens_details";
    let (text_cached, audio_cached) = if usage.pointer(split).is_some_and(Value::is_object) {
        (
            count("/input_token_details/cached_tokens_details/text_tokens"),
            count("/input_token_details/cached_tokens_details/audio_tokens"),
        )
    } else {
        // Attributed to text first, whose discount is smaller.
        let cached = count("/input_token_details/cached_tokens");
        (cached, cached.saturating_sub(text_in))
    };
    Some(SpeechUsage {
        text_in,
        text_cached: text_cached.min(text_in),
        audio_in,
        audio_cached: audio_cached.min(audio_in),
        text_out,
        audio_out,
    })
}

/// Accepts counts written as floats.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to integer casts saturate"
)]
fn number(value: &Value) -> Option<u64> {
    if let Some(whole) = value.as_u64() {
        return Some(whole.min(MOST));
    }
    let float = value.as_f64().filter(|float| float.is_finite())?;
    Some((float.round() as u64).min(MOST))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn usage_of_a_response_is_read_by_kind() {
        let usage = json!({"total_tokens": 900, "input_tokens": 700, "output_tokens": 200,
            "input_token_details": {"text_tokens": 500, "audio_tokens": 200, "image_tokens": 0,
                "cached_tokens": 384, "cached_tokens_details": {"text_tokens": 320,
                "audio_tokens": 64}},
            "output_token_details": {"text_tokens": 40, "audio_tokens": 160}});
        let wanted = SpeechUsage {
            text_in: 500,
            text_cached: 320,
            audio_in: 200,
            audio_cached: 64,
            text_out: 40,
            audio_out: 160,
        };
        assert_eq!(read(&usage), Some(wanted));
    }

    #[test]
    fn odd_counts_are_zero_or_cut() {
        assert_eq!(read(&json!(null)), None);
        assert_eq!(read(&json!([7])), None);
        assert_eq!(read(&json!({})), Some(SpeechUsage::default()));
        let usage = json!({
            "input_token_details": {"text_tokens": -5, "audio_tokens": 12.6, "cached_tokens": "9",
                "cached_tokens_details": {"text_tokens": 3, "audio_tokens": 1e300}},
            "output_token_details": {"text_tokens": null, "audio_tokens": u64::MAX}});
        let wanted = SpeechUsage {
            audio_in: 13,
            audio_cached: 13,
            audio_out: MOST,
            ..SpeechUsage::default()
        };
        assert_eq!(read(&usage), Some(wanted));
    }

    #[test]
    fn cached_total_counts_for_text_first() {
        let usage = json!({"input_token_details": {"text_tokens": 100, "audio_tokens": 50,
            "cached_tokens": 120}});
        let read = read(&usage).unwrap();
        assert_eq!((read.text_cached, read.audio_cached), (100, 20));
    }
}
