//! Lists of words around two requests that are made in any words: the X-card, and more of the same.
//!
//! Entry types: [`CardTalk`], [`MoreTalk`].

/// Words or phrases.
type List = &'static [&'static str];

/// Words beside the X-card that tell whether it is played or only spoken of; folded.
#[derive(Debug)]
pub struct CardTalk {
    /// Verbs of playing it, or needing it.
    pub using: List,
    /// Further words between such a verb, a negation and the card.
    pub beside: List,
    /// Words that deny it: "not".
    pub denying: List,
    /// Of these, those that deny it as the last word of a clause: "nicht".
    pub denying_last: List,
    /// Of these, those that may be an outcry with the card right behind: "no, X card".
    pub outcries: List,
    /// First words of questions about it, beside those of every question.
    pub asking: List,
    /// Words of telling, asking or explaining something about it.
    pub about: List,
    /// Articles before the card.
    pub articles: List,
    /// Phrases that tell others that they may play it.
    pub allowing: List,
    /// Words with which the speaker wishes to play it.
    pub wishes: List,
}

/// Words of requests for more of what was asked for before: "another one", "the same for everyone"; folded.
#[derive(Debug)]
pub struct MoreTalk {
    /// Phrases that make such a request.
    pub phrases: List,
    /// Further words of it.
    pub beside: List,
}
