//! English words of requests: dice, music, the X-card, more of the same, turning away from a person.

use super::super::{
    lists::{DiceTalk, MusicTalk},
    vocabulary::{CardTalk, ListenerTalk, MoreTalk, TurningAway},
};

#[rustfmt::skip]
pub(super) static DICE: DiceTalk = DiceTalk {
    rolling: &["roll", "rolls", "rolling", "throw", "throws", "throwing", "toss", "cast", "reroll"],
    rolled: &["rolled", "threw", "thrown", "tossed", "did", "was", "were"],
    withheld: &[
        "dont", "do not", "does not", "doesnt", "not", "never", "no need", "wont", "will not",
        "without",
    ],
    over: &["yesterday", "earlier", "last week", "last time", "last session", "ago"],
    asking: &[
        "how many", "how much", "how do", "how does", "what is", "whats", "what does", "what are",
        "which", "when do", "when does", "when should", "where is", "where are", "wheres",
        "should i", "should we", "do i", "do we", "if i", "if you", "if we", "why",
    ],
    whose: &["a", "my", "your", "his", "her", "their", "our", "this", "that", "the", "new"],
    subjects: &[],
    handled: &[
        "have", "had", "lost", "lose", "bought", "buy", "own", "borrow", "lend", "fell", "dropped",
        "is", "was", "hates", "loves", "likes", "are", "were", "meet",
    ],
    requests: &["can", "could", "would", "will", "may"],
    instead: &["i mean", "i meant", "no wait", "wait no", "no", "rather", "sorry", "make that"],
    chances: &["odds", "chance", "chances", "likely", "probability", "likelihood", "probable"],
    wondering: &["what", "whats", "how", "tell", "odds on", "odds of", "give me", "calculate"],
    last: &["last roll", "last throw", "that roll again", "previous roll", "that roll"],
    did: &["did i", "have i"],
    at_most: &["or less", "or lower", "or fewer", "or below", "or under", "at most"],
    meant: &["roll", "rolls", "rolling", "reroll"],
    throws: &[
        "roll", "rolls", "rolling", "reroll", "rolled", "throw", "throws", "throwing", "threw", "thrown",
    ],
    death_saves: &["death save", "death saving throw"],
    beside_death_save: &[
        "death", "save", "saving", "throw", "im", "i", "am", "down", "dying", "unconscious", "out", "so", "please", "roll",
        "rolling", "make", "making", "a", "my", "another", "first", "second", "third", "next", "for", "me", "need", "to",
        "want", "id", "ill", "lets", "let", "can", "could", "you", "okay", "ok", "then", "now", "and", "time", "its",
        "thats", "here", "comes", "oh", "well", "um", "uh", "right", "hey", "thanks", "like",
    ],
    if_it_hits: &["if i hit", "if it hits", "if that hits", "if we hit", "if he hits", "if she hits", "on a hit"],
    increase: &["more", "fewer", "less", "extra", "additional"],
    another_die: &["another"],
    dice_nouns: &["die", "dice"],
    turns: &["time", "times", "go", "try", "shot", "of", "like"],
    before_keeping: &["and", "then", "but", "only", "just", "i", "ill", "we", "you", "please"],
    keeping: &[
        "keep", "keeping", "kept", "drop", "dropping", "dropped", "take", "taking", "count", "counting", "discard",
        "ignore", "remove", "only", "just", "leave", "minus",
    ],
    heights: &["highest", "lowest", "best", "worst", "top", "bottom"],
    vague: &[
        "few", "some", "several", "many", "couple", "bunch", "dozen", "dozens", "hundreds", "thousands", "million",
        "millions", "billion", "billions",
    ],
    again: &[
        "again", "the same", "same dice", "same roll", "repeat", "redo", "reroll", "re roll", "once more",
        "one more time", "another time", "another roll", "another throw", "one more roll", "one more throw",
    ],
    another: &["same", "another", "one more", "once more", "more of"],
    beside_repeating: &[
        "do", "that", "it", "this", "those", "these", "them", "the", "one", "ones", "of", "a", "go", "try", "shot",
        "give", "gimme", "get", "have", "take", "lets", "let", "us", "me", "we", "i", "id", "ill", "like", "want",
        "need", "would", "could", "can", "will", "may", "shall", "you", "please", "and", "but", "then", "now",
        "just", "for", "more", "with", "at", "on", "exactly", "right", "ok", "okay", "yes", "yeah", "yep", "hey",
        "oh", "well", "so", "um", "uh", "thanks", "thank", "if", "make", "quickly", "quick", "as", "before", "too",
        "my", "last", "friend", "mate", "ahead", "actually", "also",
    ],
    asking_shown: &["what", "whats", "whatd", "how", "which", "was"],
    shown: &[
        "result", "total", "number", "sum", "score", "outcome", "was", "were", "got", "get", "gotten", "had", "came",
        "landed", "showed", "shown", "show",
    ],
    telling_again: &["tell", "say", "remind"],
    beside_shown: &[
        "much", "many", "high", "and", "so", "but", "wait", "sorry", "um", "uh", "hm", "oh", "ok", "okay", "hey",
        "well", "please", "again", "i", "we", "me", "us", "my", "our", "that", "it", "this", "the", "there", "just",
        "now", "then", "right", "out", "up", "with", "as", "in", "all", "one", "time", "last", "a", "moment",
        "second", "ago", "exactly", "actually", "once", "more", "did", "is", "of", "they", "dice", "can", "could",
        "you", "friend", "before",
    ],
    telling: &["tell", "remind", "result", "total"],
    before: &["before that", "before this", "before the last", "before my last", "one before", "second to last"],
    suggesting: &["how about", "what about", "why not", "why dont you", "why dont we"],
    doubles: &["doubles", "double", "a pair", "the same number"],
    of_what: &["of", "on", "for", "at"],
    adds: &["plus", "add"],
    takes: &["minus", "subtract"],
    coming: &["thats", "theres", "get", "comes"],
    bonuses: &["bonus", "modifier", "mod"],
    penalties: &["penalty"],
    beside_bonus: &["a", "an", "my", "the", "of", "is", "another", "with", "i", "have"],
    beside_told: &[
        "i", "ive", "have", "got", "get", "gets", "with", "a", "an", "the", "my", "its", "thats", "that", "this",
        "is", "it", "me", "and", "also", "still", "too", "another", "please", "then", "oh", "ah", "um", "uh",
        "well", "so", "there", "theres", "here", "forgot", "forget", "of", "course", "actually", "make", "say",
        "should", "be", "would", "but", "ok", "okay", "yes", "yeah", "hey", "sorry", "wait", "can", "could", "you",
        "just", "now", "top", "as", "comes", "im", "damage", "points", "proficiency", "total",
        "applies", "counts",
    ],
    own: &["i", "ive", "my", "im"],
    sources: &[
        "for", "from", "to", "on", "in", "at", "because", "thanks", "with", "through", "due", "against",
    ],
    checks: &[
        "check", "checks", "save", "saves", "saving", "initiative", "perception", "stealth", "insight",
        "persuasion", "deception", "intimidation", "athletics", "acrobatics", "investigation", "arcana",
        "history", "nature", "religion", "survival", "medicine", "performance", "handling", "sleight",
        "strength", "dexterity", "constitution", "intelligence", "wisdom", "charisma",
    ],
    attacks: &["attack", "attacks", "attacking", "hit", "strike", "swing"],
    no_advantage: &[
        "the", "an", "any", "no", "take", "takes", "taking", "our", "your", "their", "his", "her",
        "without", "to", "of", "big", "great", "more",
    ],
    more: &["more than", "higher than", "over", "above", "exceed"],
    less: &["less than", "lower than", "under", "below", "fewer than"],
    exactly: &["exactly", "precisely"],
};

#[rustfmt::skip]
pub(super) static MUSIC: MusicTalk = MusicTalk {
    nouns: &["music", "song", "songs", "track", "tracks", "tune", "tunes", "melody", "ambience"],
    softer: &["softer", "quieter", "down", "lower", "softly", "quietly"],
    louder: &["louder", "up"],
    alone: &["softer", "quieter", "louder"],
    turning: &["turn"],
    loud: &["loud"],
    soft: &["quiet", "soft", "low"],
    next: &["next", "another", "different", "change", "skip", "switch", "other", "else"],
    stop: &["stop", "off", "silence", "enough", "end", "no", "away", "kill", "cut", "pause", "rid"],
    play: &["play", "start", "put"],
    performing: &["play"],
    weary: &["tired", "sick", "bored", "fed", "had"],
    asking: &["what", "which", "whats"],
    running: &["playing"],
    excess: &["too"],
    meant: &["it", "its", "that", "thats", "this"],
    changing: &["change", "switch"],
    choosing: &[
        "something", "anything", "sounds", "sound", "by", "at", "from", "around", "near", "fit", "fits", "fitting",
        "like", "mood", "more",
    ],
    needing: &["need", "want"],
    apart: &["and", "then", "also", "but"],
    beside: &[
        "turn", "make", "set", "bring", "put", "keep", "play", "the", "a", "bit", "little", "please", "can",
        "could", "would", "will", "you", "it", "its", "that", "this", "to", "us", "me", "we", "i", "want", "id",
        "like", "have", "for", "lets", "let", "go", "now", "again", "some", "of", "just", "hey", "ok", "okay",
        "and", "then", "volume", "on", "more", "much", "so", "is", "are", "may", "need", "do", "here", "one",
        "background", "our", "called", "name", "right", "thanks", "be", "slightly", "hear", "im", "ive", "were",
        "weve", "getting", "got", "something", "with", "all", "really", "well", "think", "sorry", "about",
        "way", "far", "in", "get", "take", "must", "should", "any", "anymore", "pls", "plz",
    ],
    listener: ListenerTalk {
        skipping: &["skip"],
        pointing: &["one"],
        pains: &["headache", "headaches", "migraine", "nerves"],
        hurting: &["hurt", "hurts", "hurting"],
        hurt: &["ears", "ear", "head"],
        beside_pain: &[
            "ugh", "ow", "oh", "argh", "man", "god", "those", "these", "giving", "gives", "give", "getting", "gets",
            "my", "our", "splitting", "terrible", "starting", "from", "ears", "ear", "head",
        ],
        reasons: &["i", "we", "nobody", "because", "cause"],
        hearing: &["hear", "understand"],
        little: &["barely", "hardly", "scarcely", "nobody"],
        beside_reason: &[
            "i", "we", "can", "could", "myself", "ourselves", "think", "each", "other", "a", "thing", "word", "own",
            "my", "our", "over", "it", "that", "the", "anything", "at", "all", "even", "here", "else", "any", "more",
            "anymore", "this", "those", "talk", "talking",
        ],
    },
};

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
        "a better one", "any better ones",
    ],
    beside: &[
        "got", "have", "do", "know", "you", "tell", "give", "get", "bring", "pour", "make", "us", "me", "him", "her",
        "for", "everyone", "everybody", "all", "whole", "table", "party", "the", "of", "them", "please", "and", "one",
        "ones", "id", "ill", "well", "like", "take", "can", "could", "may", "will", "would", "we", "i", "just", "yes",
        "yeah", "ok", "okay", "oh", "ha", "haha", "good", "great", "nice", "then", "now", "that", "was", "so",
        "hear", "lets", "let", "my", "friends", "friend", "hey", "thanks", "thank", "again", "once", "quickly", "go",
        "on", "come", "as", "before", "with", "it", "bad", "terrible", "awful", "lame", "weak", "worst",
        "funny", "pretty", "very", "really", "boo", "ugh",
    ],
};

// Skipped: one word a line would hide the lists' shape.
#[rustfmt::skip]
pub(super) static AWAY: TurningAway = TurningAway {
    beginnings: &[
        "not you", "no not you", "sorry not you", "i wasnt talking to", "i was not talking to", "im not talking to",
        "i am not talking to", "i wasnt asking", "i was not asking", "im not asking", "i am not asking",
        "i didnt mean", "i did not mean", "i dont mean", "i do not mean",
    ],
    phrases: &["nothing to do with", "anything to do with"],
    asking: &["why"],
};
