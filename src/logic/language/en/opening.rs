//! Beginnings of English answers.

use super::super::lists::Beginnings;

#[rustfmt::skip]
pub(super) static OPENING: Beginnings = Beginnings {
    interjections: &[
        "ah", "oh", "aha", "well", "so", "right", "hm", "hmm",
    ],
    greetings: &[
        "hello", "hi", "hey", "hail", "greetings", "welcome", "well met", "good day",
        "good morning", "good afternoon", "good evening", "how do you do", "how are you",
        "nice to meet you", "pleased to meet you", "good to see you", "nice to see you",
    ],
    farewells: &[
        "bye", "bye bye", "goodbye", "good bye", "farewell", "good night", "see you",
        "see you later", "see you soon", "see you tomorrow", "until next time", "until tomorrow",
        "take care", "safe travels", "so long",
    ],
    beside: &[
        "there", "again", "friend", "friends", "traveller", "travellers", "traveler", "travelers",
        "stranger", "strangers", "adventurer", "adventurers", "my", "dear", "good", "old", "sir",
        "lad", "lass", "all", "everyone", "folks", "to", "you", "and", "now", "then",
        "back", "home", "today",
    ],
    starting_over: &[
        "let me start over", "let me start again", "let me begin again", "let me try again",
        "let me rephrase", "scratch that", "forget what i said", "forget that",
        "i take that back", "wait no", "no wait", "actually no", "correction",
        "on second thought", "that was wrong", "i was wrong", "i misspoke",
    ],
    asking_back: &[
        "you ask", "you asked", "you are asking", "youre asking", "you want to know",
        "you wish to know", "you would like to know", "you wonder",
    ],
    quantities: &[
        "much", "many", "why",
    ],
    no: &[
        "no", "nay", "nope", "never",
    ],
};
