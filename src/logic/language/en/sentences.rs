//! Beginnings of English answers, endings of utterances.

use super::super::lists::{Beginnings, Endings};

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

#[rustfmt::skip]
pub(super) static ENDINGS: Endings = Endings {
    unfinished: &[
        "and", "but", "or", "nor", "the", "a", "an", "to", "of", "into", "onto", "if", "because",
        "than", "very", "my", "your", "our", "their", "its", "whose", "plus", "minus", "times", "um",
        "umm", "uh", "uhh", "uhm", "er", "erm", "hmm", "hm", "eh", "d", "every", "another", "towards",
        "whether", "unless", "until", "while", "although", "i", "we", "gonna", "wanna", "i'm", "im",
        "ive", "id", "ill", "were", "weve", "youre", "theyre",
    ],
    prepositions: &[
        "from", "with", "for", "at", "by", "about", "against", "between", "without", "under",
        "through", "behind", "like", "during", "upon", "across", "beside", "who", "which", "where",
        "when", "what", "how", "as", "so",
    ],
    open: &[
        "is", "are", "was", "am", "be", "been", "being", "has", "have", "had", "would", "could",
        "should", "can", "will", "may", "might", "must", "do", "does", "did", "in", "on", "off", "up",
        "over", "out", "you", "he", "she", "they", "it", "this", "these", "those", "that", "some",
        "any", "no", "not", "just", "maybe", "probably", "really", "also", "then", "know", "think",
        "mean", "say", "says", "said", "tell", "see", "seen", "hear", "heard", "want", "need", "go",
        "going", "get", "give", "take", "me", "first", "only", "yes", "well", "okay", "ok", "wait",
        "listen", "look", "believe", "guess", "remember", "wonder", "one", "two", "three", "twenty",
        "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred",
    ],
    particles: &["in", "on", "off", "up", "over", "out"],
    calling: &["hey", "oh", "ah", "o", "so", "okay", "ok", "um", "uh"],
    asking: &[
        "who", "whom", "whose", "what", "where", "when", "why", "how", "which",
    ],
    verbs: &[
        "can", "could", "would", "will", "do", "does", "did", "is", "are", "was", "were", "have", "has", "had", "am",
        "may", "shall", "should", "isnt", "arent", "wasnt", "dont", "doesnt", "didnt", "cant",
        "couldnt", "wont", "wouldnt", "havent", "hasnt",
    ],
    subjects: &["i", "we", "he", "she", "they", "it", "you"],
    leading: &[
        "if", "when", "before", "after", "because", "while", "although", "though", "once", "unless",
        "until", "since", "as", "whenever",
    ],
    articles: &["a", "an", "the", "some", "two", "three", "four", "five", "ten", "my", "this"],
    closing: &[
        "please", "thanks", "thank you", "thank you very much", "thanks a lot", "goodbye", "bye",
        "farewell", "good night", "see you", "see you tomorrow", "never mind", "forget it", "of course",
        "i dont know", "thats all", "that is all", "that was all", "you are welcome",
    ],
};
