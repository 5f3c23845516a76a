//! A style in words -> an emotion of the service.
//!
//! Entry function: [`emotion`].

/// As the service's own client lists them.
const EMOTIONS: &str = "neutral happy excited enthusiastic elated euphoric triumphant amazed \
                        surprised flirtatious curious content peaceful serene calm grateful \
                        affectionate trust sympathetic anticipation mysterious angry mad \
                        outraged frustrated agitated threatened disgusted contempt envious \
                        sarcastic ironic sad dejected melancholic disappointed hurt guilty bored \
                        tired rejected nostalgic wistful apologetic hesitant insecure confused \
                        resigned anxious panicked alarmed scared proud confident distant \
                        skeptical contemplative determined";

/// The emotion with which a style begins, alone before its first punctuation mark or line break;
/// `None`: it begins with anything else ("You are not angry.").
pub fn emotion(style: &str) -> Option<&'static str> {
    let is_mark = |c: char| c.is_ascii_punctuation() || c == '\n';
    let first = style.split(is_mark).next().unwrap_or_default().trim();
    EMOTIONS.split(' ').find(|emotion| emotion.eq_ignore_ascii_case(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emotion_stands_alone_at_the_start() {
        let told = [
            ("Angry. You secretly owe Anna money.", Some("angry")),
            ("sad", Some("sad")),
            (" Calm, but in a hurry", Some("calm")),
            ("You are not angry.", None),
            ("Angry with Anna.", None),
            ("You are brief. Angry.", None),
            ("Wütend", None),
            ("", None),
        ];
        for (style, expected) in told {
            assert_eq!(emotion(style), expected, "{style}");
        }
    }
}
