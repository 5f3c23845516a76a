//! English words for addressing a person, and for speaking of one.

use super::super::lists::Turning;

#[rustfmt::skip]
pub(super) static TURNING: Turning = Turning {
    direct: &[
        "ask", "asks", "asking", "tell", "tells", "telling", "greet", "greets", "address",
        "addresses", "addressing", "approach", "approaches", "call", "calls", "calling", "hail",
        "hails", "beckon", "beckons", "wave", "waves", "question", "questions", "interrogate",
        "interrogates", "thank", "thanks", "warn", "warns", "beg", "begs", "show", "shows", "give",
        "gives", "giving", "hand", "hands", "offer", "offers", "offering", "pay", "pays", "promise",
        "answer", "answers", "tap", "taps", "pat", "pats", "nudge", "nudges", "hug", "hugs",
    ],
    towards_somebody: &[
        "talk", "talks", "talking", "speak", "speaks", "speaking", "turn", "turns", "turning",
        "say", "says", "saying", "whisper", "whispers", "whispering", "shout", "shouts", "shouting",
        "yell", "yells", "call", "calls", "calling", "mutter", "mutters", "mumble", "murmur", "chat",
        "chats", "chatting", "go", "goes", "going", "walk", "walks", "walking", "step", "steps",
        "lean", "leans", "nod", "nods", "bow", "bows", "wave", "waves", "smile", "smiles", "give",
        "gives", "hand", "hands", "show", "offer", "apologise", "apologize", "introduce", "explain",
    ],
    towards: &["to", "with", "at", "for"],
    with_their_own: &[],
    particles: &["over", "up", "in", "back", "quietly", "politely", "softly", "just"],
    adverbs: &["actually", "really", "now", "even", "just"],
    doers: &["i", "we", "ill", "im", "id"],
    characters: &["character"],
    lead_in: &[
        "to", "want", "would", "like", "will", "am", "are", "gonna", "going", "now", "first",
        "start", "begin", "try", "just", "simply", "then", "also", "wanna", "please", "well",
    ],
    going_on: &["and", "then", "so", "now"],
    allowing: &["let me"],
    wishes: &[],
    behind: &[],
    before_name: &["the", "that", "this", "our", "your"],
    spoils: &[
        "not", "never", "dont", "wont", "cant", "cannot", "no", "nobody", "didnt", "should", "could",
        "might", "maybe", "perhaps", "if", "when", "whenever", "unless", "whether", "yesterday",
        "ago", "tomorrow", "later", "last", "before", "without", "instead", "about", "away", "that",
        "of", "did", "from",
    ],
    spoils_behind: &[],
    fellows: &[
        "others", "group", "party", "friends", "companions", "comrades", "myself", "dm", "gm",
        "game master", "dungeon master", "table", "team", "my friends", "my companions",
        "my comrades", "my party", "my group", "my team",
    ],
    asides: &["out of character", "ooc", "out of game", "off game"],
    whispers: &["whisper", "whispering"],
    mentions: &[
        "a", "an", "to", "at", "for", "from", "by", "on", "like", "behind", "past", "near", "without", "beside",
        "into", "towards", "toward", "between", "ask", "asks",
        "asked", "asking", "tell", "tells", "told", "telling", "call", "called", "greet", "greeted",
        "thanked", "warned",
    ],
    acted_on: &[
        "trust", "trusts", "trusted", "met", "meet", "see", "saw", "seen", "know", "knew", "hate",
        "like", "love", "follow", "followed", "kill", "killed", "fight", "find", "found", "miss",
        "missed", "believe", "fear", "need", "want", "remember", "heard", "watch", "watched",
    ],
    listeners: &["you", "your", "youre", "yourself"],
    addressed: &["you", "yourself"],
    denying: &["not"],
    denying_doers: &["dont", "didnt", "wasnt", "havent", "arent", "werent"],
    meaning: &[
        "mean", "talk", "talking", "talked", "speak", "speaking", "spoke", "ask", "asking", "asked",
        "address", "addressing", "addressed", "call", "calling", "called",
    ],
    meant: &["meant"],
    beside_meaning: &["am", "was", "are", "were", "do", "did", "have", "to", "with", "want", "wanted"],
    dismissing: &[
        "not now", "not yet", "later", "wait", "hold on", "hang on", "one moment", "just a moment", "a moment",
        "one second", "just a second", "give me a moment", "give us a moment", "never mind", "enough", "thats enough",
        "that enough", "that is enough", "quiet", "be quiet", "hush", "shut up", "excuse us", "thank you", "thanks",
    ],
    told_of: &[
        "said", "says", "told", "tells", "looks", "looked", "seems", "seemed", "wants", "wanted",
        "lied", "lies", "knew", "knows", "thinks", "thought", "asked", "asks", "gave", "gives",
        "went", "came", "turns", "talks", "hates", "loves",
    ],
    being: &[
        "is", "was", "has", "had", "can", "cant", "will", "wont", "isnt", "wasnt", "doesnt", "didnt",
    ],
    asked: &[
        "i", "we", "you", "he", "she", "it", "they", "the", "there", "that", "this", "your", "my", "any",
        "anyone", "anybody", "anything", "someone", "somebody", "everyone", "everything", "all", "one",
    ],
};
