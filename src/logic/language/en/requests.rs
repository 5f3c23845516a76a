//! English words around the X-card, and around requests for more of the same.

use super::super::requests::{CardTalk, MoreTalk};

// Skipped: one word a line would hide the lists' shape.
#[rustfmt::skip]
pub(super) static CARD: CardTalk = CardTalk {
    using: &[
        "use", "uses", "used", "using", "play", "plays", "played", "playing", "need", "needs", "needed", "needing",
        "pull", "pulled", "pulling", "call", "called", "hold", "raise", "raised", "tap", "tapped", "throw", "thrown",
        "invoke", "invoked", "necessary", "required",
    ],
    beside: &[
        "to", "really", "going", "gonna", "be", "been", "have", "has", "want", "wanted", "do", "does", "did", "is",
        "was", "a", "an", "the", "any", "our", "your", "for", "today", "now", "here", "yet", "actually", "even",
        "i", "we", "you", "anyone", "anybody", "think", "will", "would", "should", "it", "there", "its", "mind",
    ],
    denying: &[
        "not", "no", "never", "nobody", "without", "dont", "doesnt", "didnt", "isnt", "wasnt", "wont", "wouldnt",
        "havent", "hasnt", "neednt", "cant", "cannot",
    ],
    denying_last: &[],
    outcries: &["no"],
    asking: &["whats", "whos", "hows"],
    about: &[
        "explain", "explains", "describe", "about", "mean", "means", "work", "works", "rule", "rules", "question",
        "remind",
    ],
    articles: &["the", "a", "an", "our", "your", "any"],
    allowing: &[
        "you can", "you may", "anyone can", "anyone may", "anybody can", "anybody may", "everyone can",
        "everyone may", "everybody can", "everybody may", "players can", "players may",
    ],
    wishes: &["want", "would", "need", "like", "wanna", "must", "have", "will"],
};

// Skipped: one word a line would hide the lists' shape.
#[rustfmt::skip]
pub(super) static MORE: MoreTalk = MoreTalk {
    phrases: &[
        "another", "another one", "one more", "same again", "the same", "same for", "same as before", "any more",
        "any others", "any other", "more of those", "more of that", "more of them", "a second one",
    ],
    beside: &[
        "got", "have", "do", "know", "you", "tell", "give", "get", "bring", "pour", "make", "us", "me", "him", "her",
        "for", "everyone", "everybody", "all", "whole", "table", "party", "the", "of", "them", "please", "and", "one",
        "ones", "id", "ill", "well", "like", "take", "can", "could", "may", "will", "would", "we", "i", "just", "yes",
        "yeah", "ok", "okay", "oh", "ha", "haha", "good", "great", "nice", "then", "now", "that", "was", "so",
        "hear", "lets", "let", "my", "friends", "friend", "hey", "thanks", "thank", "again", "once", "quickly", "go",
        "on", "come", "as", "before", "with", "it",
    ],
};
