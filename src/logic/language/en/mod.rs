//! English.

use std::{collections::HashSet, sync::LazyLock};

mod forms;
mod requests;
mod sentences;
mod turning;
mod wording;

use self::{
    requests::{AWAY, CARD, DICE, MORE, MUSIC},
    sentences::{ENDINGS, OPENING},
    turning::TURNING,
    wording::WORDING,
};
use super::{
    lists::{Language, List, folded},
    vocabulary::Vocabulary,
};
use crate::{domain::EntityKind, logic::command::order::Order};

/// Words too common to be a misheard name.
static ORDINARY: LazyLock<HashSet<String>> = LazyLock::new(|| folded(include_str!("ordinary.txt")));

static VOCABULARY: Vocabulary = Vocabulary::new(include_str!("../../../../assets/words/en.txt"));

/// Words that identify the language.
static TELLING: LazyLock<HashSet<String>> = LazyLock::new(|| folded(include_str!("telling.txt")));

#[rustfmt::skip]
pub(super) static ENGLISH: Language = Language {
    code: "en",
    ordinary: &ORDINARY,
    telling: &TELLING,
    vocabulary: &VOCABULARY,
    word_endings: &["ing", "ness", "ful", "ly", "tion"],
    letters: "",
    die: "",
    small_numbers: &[
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
        "nineteen",
    ],
    tens: &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"],
    kind,
    fillers: &[
        "mhm", "mm", "mmm", "mmhm", "hm", "hmm", "uh", "um", "uhm", "er", "erm", "ah", "aha", "oh",
        "ooh", "huh", "okay", "ok", "so", "well", "haha", "hahaha", "ha", "lol", "eh", "hehe",
        "wow",
    ],
    objects: &[
        "about", "of", "is", "was", "are", "were", "with", "than", "named", "called", "against",
        "and", "or",
    ],
    joining: &["and", "or"],
    openers: &[
        "hey", "hi", "hello", "oh", "o", "ah", "uh", "um", "er", "so", "well", "okay", "ok",
        "alright", "right", "yes", "no", "yeah", "and", "but", "now", "please", "listen", "look",
        "say", "excuse", "me", "sorry", "thanks", "thank", "you", "dear", "good", "morning",
        "evening", "day", "my", "friend", "greetings", "welcome", "then", "bye", "goodbye", "farewell",
        "night",
    ],
    tails: &["please", "now", "then", "thanks", "thank", "you", "okay", "ok", "right"],
    calls: &["hey", "hi", "hello", "oh", "o", "greetings"],
    introducing: &["i am", "i'm", "my name is", "call me"],
    greetings: &[
        "hello there", "hello again", "hello", "hi there", "hi", "hey there", "hey", "greetings",
        "good evening", "good morning", "good afternoon", "good day", "evening", "morning", "well met",
    ],
    function_words: &[
        "the", "a", "an", "of", "and", "or", "in", "on", "at", "to", "for", "from", "by", "with",
        "is", "it", "he", "she", "we", "you", "they", "who", "what", "his", "her", "my", "your",
        "our",
    ],
    roles: &[
        "barkeep", "barkeeper", "bartender", "innkeeper", "sage", "king", "queen", "prince",
        "princess", "duke", "duchess", "baron", "baroness", "count", "countess", "lord", "lady",
        "sir", "dame", "master", "mistress", "captain", "sergeant", "guard", "guardian",
        "merchant", "trader", "smith", "blacksmith", "baker", "miller", "farmer", "hunter",
        "wizard", "witch", "sorcerer", "warlock", "mage", "priest", "priestess", "cleric", "druid",
        "ranger", "rogue", "bard", "monk", "paladin", "knight", "elder", "old", "young", "great",
        "grand", "big", "little", "mad", "wise", "brave", "brother", "sister", "father", "mother",
        "uncle", "aunt", "doctor", "mister", "saint", "thief", "pickpocket", "seer",
    ],
    short_words: &[
        "act", "add", "age", "aid", "aim", "air", "ale", "ant", "ark", "arm", "art", "ash", "axe",
        "bag", "ban", "bar", "bat", "bay", "bed", "bee", "bet", "bid", "big", "bit", "bow", "box",
        "boy", "bug", "bun", "cap", "cat", "cow", "cub", "cup", "cut", "day", "den", "dew", "dig",
        "dog", "dry", "due", "dye", "ear", "eat", "egg", "elf", "end", "era", "eve", "eye", "fan",
        "far", "fat", "fee", "fig", "fin", "fit", "fix", "fly", "foe", "fog", "fox", "fun", "fur",
        "gap", "gem", "gin", "god", "gum", "gun", "hat", "hay", "hen", "hex", "hit", "hoe", "hut",
        "ice", "imp", "ink", "inn", "ivy", "jam", "jar", "jaw", "job", "joy", "jug", "keg", "key",
        "kid", "kin", "kit", "lad", "lap", "law", "lay", "leg", "lid", "lie", "lip", "log", "lot",
        "low", "mad", "man", "map", "mat", "mob", "mud", "mug", "nap", "net", "new", "nut", "oak",
        "oar", "oat", "odd", "oil", "one", "ore", "owl", "pan", "pay", "pea", "peg", "pen", "per",
        "pet", "pie", "pig", "pin", "pit", "pot", "pub", "put", "rag", "ram", "rat", "ray", "red",
        "rib", "rod", "rot", "row", "rug", "rum", "rye", "sea", "set", "shy", "sin", "sit", "sky",
        "sly", "son", "spy", "sun", "tab", "tag", "tap", "tar", "tax", "tea", "tip", "toe", "tub",
        "urn", "use", "vat", "vow", "war", "wax", "way", "web", "wig", "wit", "woe", "yew", "zoo",
    ],
    name_fillers: &[
        "the", "of", "and", "sir", "lord", "lady", "king", "queen", "master", "mistress", "old",
        "young", "big", "little", "great", "black", "white", "red", "brother", "sister", "father",
        "mother",
    ],
    before_command: &["please", "hey", "okay", "ok"],
    after_command: &["please", "now"],
    commands: &[
        ("mute @", Order::Mute),
        ("silence @", Order::Mute),
        ("@ be quiet", Order::Mute),
        ("be quiet @", Order::Mute),
        ("unmute @", Order::Unmute),
        ("@ speak again", Order::Unmute),
        ("everyone stop", Order::MuteAll),
        ("everybody stop", Order::MuteAll),
        ("everyone be quiet", Order::MuteAll),
        ("everybody be quiet", Order::MuteAll),
        ("mute everyone", Order::MuteAll),
        ("mute everybody", Order::MuteAll),
        ("mute all", Order::MuteAll),
        ("everyone continue", Order::UnmuteAll),
        ("everybody continue", Order::UnmuteAll),
        ("everyone go on", Order::UnmuteAll),
        ("unmute everyone", Order::UnmuteAll),
        ("unmute everybody", Order::UnmuteAll),
        ("unmute all", Order::UnmuteAll),
        ("think carefully @", Order::Think),
        ("@ think carefully", Order::Think),
        ("go faster", Order::Faster),
        ("@ say *", Order::Say),
        ("next scene *", Order::Scene),
    ],
    go_on: &[
        "continue", "resume", "proceed", "unmute", "go on", "carry on", "move on", "play on",
        "keep going", "keep playing", "go ahead", "speak again", "talk again", "play again",
    ],
    beside_go_on: &[
        "everyone", "everybody", "all", "of", "you", "we", "us", "i", "let", "lets", "may", "can",
        "could", "will", "please", "now", "then", "again", "and", "so", "okay", "ok", "alright",
        "right", "yes", "yeah", "good", "well", "fine", "thanks", "thank", "it", "is", "im", "am",
        "ready", "to", "with", "the", "game", "scene", "story", "npcs", "characters", "just",
        "i want", "we want", "i would like", "we would like", "id like", "wed like",
    ],
    asks_to_go_on: &[
        "can i", "can we", "could i", "could we", "may i", "may we", "shall i", "shall we",
        "will we", "is it",
    ],
    stops: &[
        "stop talking", "stop it", "stop that", "stop", "wait a minute", "wait a second",
        "wait a moment", "wait", "halt", "hold on a second", "hold on", "hold it", "hang on",
        "be quiet", "quiet", "shut up", "one moment", "one second",
    ],
    beside_stop: &["please", "now", "hey", "oh", "no", "ok", "okay"],
    backchannels: &[
        "mm", "mmm", "mhm", "mmhm", "mhmm", "hm", "hmm", "hmmm", "mh", "uh", "huh", "um", "uhm",
        "er", "ah", "aha", "ahh", "oh", "ooh", "ohh", "wow", "ok", "okay", "kay", "yeah", "yea",
        "yep", "yup", "ya", "yes", "right", "sure", "alright", "all", "cool", "nice", "true",
        "exactly", "indeed", "i", "see", "of", "course", "so", "hah", "heh", "lol", "he",
    ],
    little: &[
        "a", "an", "and", "am", "are", "as", "at", "be", "been", "both", "but", "by", "can",
        "could", "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "here",
        "him", "his", "i'm", "if", "in", "into", "is", "it", "its", "it's", "may", "me", "might",
        "must", "my", "of", "on", "or", "our", "shall", "she", "should", "than", "that", "the",
        "their", "them", "then", "there", "these", "they", "this", "those", "though", "to", "was",
        "we", "were", "will", "with", "would", "you", "your",
    ],
    in_every_request: &[
        "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but",
        "by", "can", "could", "did", "do", "does", "for", "from", "get", "got", "had", "has",
        "have", "he", "her", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its",
        "just", "let", "like", "may", "me", "my", "no", "not", "now", "of", "oh", "ok", "okay",
        "on", "one", "or", "our", "please", "she", "should", "so", "some", "than", "that", "the",
        "their", "them", "then", "there", "they", "this", "to", "up", "us", "want", "was", "we",
        "well", "were", "what", "when", "where", "which", "who", "will", "with", "would", "you",
        "your",
    ],
    in_every_rule_question: &[
        "a", "about", "actually", "again", "all", "also", "am", "an", "and", "any", "are", "as",
        "at", "be", "been", "but", "by", "can", "cant", "could", "did", "do", "does", "doesnt",
        "dont", "for", "from", "get", "give", "go", "got", "happen", "happens", "has", "have",
        "he", "her", "him", "his", "how", "i", "if", "im", "in", "into", "is", "it", "its", "just",
        "know", "let", "like", "make", "many", "may", "me", "mean", "means", "much", "must", "my",
        "need", "needs", "of", "on", "or", "our", "please", "remind", "rule", "rules", "say",
        "shall", "she", "should", "so", "some", "somebody", "someone", "something", "still",
        "tell", "than", "that", "the", "their", "them", "then", "there", "they", "thing", "this",
        "to", "us", "use", "using", "want", "was", "we", "were", "what", "whats", "when", "where",
        "which", "while", "who", "will", "with", "work", "works", "would", "you", "your", "hey",
        "really", "exactly", "out", "off", "over", "past",
    ],
    in_any_question: &[
        "gotta", "gonna", "wanna", "easy", "easier", "easily", "hard", "harder", "better", "worse",
        "right", "rightly", "properly", "normally", "simply", "anyone", "anybody", "anything",
        "everyone", "everybody", "everything", "nobody", "nothing", "each", "every", "ever", "even",
        "only", "already", "yet", "here", "too", "very", "most", "less", "first", "second", "third",
        "last", "time", "times", "way", "ways", "kind", "sort", "bit", "lot", "why", "because",
        "until", "till", "before", "after", "during", "without", "within", "between", "under",
        "through", "down", "back", "away", "another", "other", "others", "both", "same", "such",
        "never", "none", "yes", "sure", "maybe", "perhaps", "try", "trying", "tried", "take",
        "takes", "taking", "took", "put", "keep", "keeps", "come", "comes", "came", "see", "look",
        "looks", "think", "thinks", "thought", "believe", "guess", "wonder", "wondering", "ask",
        "asking", "asked", "question", "explain", "show", "remember", "forget", "forgot", "friend",
        "guy", "guys", "dude", "person", "people", "character", "player", "game", "table", "dm",
        "gm", "quick", "quickly", "suddenly", "turn", "turns", "lose", "loses", "losing", "lost",
        "reach", "reaches", "reaching", "enemy", "enemies", "foe", "foes", "creature", "creatures",
        "hit", "hits", "attack", "attacks", "attacking", "feet", "foot", "metres", "meters",
        "miles", "level", "levels", "doing", "done", "did", "didnt", "isnt", "arent", "wont",
        "wouldnt", "couldnt", "havent", "hasnt", "having", "being", "gets", "getting", "went",
        "going", "start", "starts", "stop", "stops", "affect", "affects", "effect", "effects",
        "cause", "causes", "happening", "happened", "supposed", "able", "allowed", "possible",
        "exact", "official", "officially", "basically", "again", "anyway", "though", "although",
        "whenever", "wherever", "however", "goblin",
        "goblins", "orc", "orcs", "ogre", "ogres", "troll", "trolls", "dragon", "dragons", "monster",
        "monsters", "bandit", "bandits", "guards",
    ],
    in_english: &[],
    plain: &[
        "about", "again", "and", "any", "are", "but", "can", "could", "did", "does", "dont", "for",
        "from", "has", "have", "hello", "her", "him", "his", "how", "know", "last", "let", "like",
        "may", "more", "not", "now", "our", "out", "please", "remember", "said", "say", "she",
        "should", "some", "tell", "than", "thank", "thanks", "that", "the", "their", "them",
        "then", "there", "they", "thing", "this", "time", "told", "was", "were", "what", "when",
        "where", "which", "who", "why", "will", "with", "would", "yes", "you", "your",
    ],
    last_session: &[
        "last session", "last time", "last evening", "last night", "last week", "previous session",
        "yesterday", "when we last met",
    ],
    connecting: &[
        "the", "and", "for", "from", "with", "about", "around", "near", "his", "her", "its",
        "their", "our", "local", "general", "knowledge",
    ],
    everything: "everything",
    titles: &[
        "dr", "mr", "mrs", "ms", "mx", "st", "prof", "sgt", "capt", "lt", "col", "gen", "cmdr",
        "rev", "hon", "gov", "sen", "messrs", "mme", "mlle", "vs", "cf", "approx", "mt", "ca",
        "max", "incl",
    ],
    either: &[
        "etc", "jr", "sr", "str", "ft", "lb", "lbs", "oz", "ave", "blvd", "al", "jan", "feb",
        "aug", "sept", "oct", "nov", "dec", "min",
    ],
    dotted: &["e.g", "i.e"],
    before_ordinal: &[],
    ordinal_months: &[],
    before_initial: &["by", "and", "with", "from", "to", "for", "of"],
    shows: &["show us", "show me"],
    deep: &[
        "think carefully", "take your time", "deep search", "generate image", "draw me", "draw us",
        "search the web", "explain everything", "tell me everything", "in detail",
    ],
    standard: &[
        "remember", "last time", "do you recall", "previously", "what happened", "search",
        "look up", "rule(s)", "how does", "quest(s)", "who is", "who was", "tell me about",
        "history of", "promise(s)", "promised", "swear(s)", "swore", "sworn", "owe(s)", "owed",
        "hit points", "failed save(s)", "spells back", "if I fall", "when I fall",
        "lying on the ground", "agree(s)", "agreed", "told you", "told me", "told us", "yesterday", "last week",
    ],
    between: &[
        "a", "an", "the", "this", "that", "my", "our", "your", "some", "me", "us", "for", "on",
        "in", "please", "just", "very", "more", "really",
    ],
    articles: &["the", "a", "an"],
    definite: &["the"],
    nouns_have_capitals: false,
    endings: &ENDINGS,
    wording: &WORDING,
    turning: &TURNING,
    opening: &OPENING,
    no_actions: &[
        "as", "is", "was", "has", "his", "its", "this", "us", "yes", "thus", "plus", "always",
        "perhaps", "unless", "besides", "less", "does", "these", "those", "minus", "sometimes",
        "towards", "afterwards", "anything", "everything", "nothing", "something", "king", "thing",
        "during", "according", "including", "being", "ring", "wing", "string", "spring", "evening",
        "morning", "only", "probably", "possibly", "really", "hardly", "nearly", "early", "family",
        "likely", "truly", "exactly", "mostly", "usually", "actually", "especially", "supposedly",
        "allegedly", "roughly", "finally",
    ],
    actions: &[],
    short_actions: &[
        "sigh", "laugh", "nod", "shrug", "pause", "beat", "silence", "gasp", "cough", "wink",
        "aside",
    ],
    actors: &["he", "she", "they", "it"],
    dice: &DICE,
    music: &MUSIC,
    card: &CARD,
    more: &MORE,
    turning_away: &AWAY,
    short_forms: &[],
    dice_cues: &[
        "roll", "rolls", "rolled", "rolling", "throw", "dice", "die", "check", "save", "saving",
        "attack", "damage", "hit", "initiative", "plus", "minus", "advantage", "disadvantage",
        "heal",
    ],
    lettered: &[
        "vitamin", "section", "grade", "plan", "option", "room", "cell", "level", "row", "block",
        "chapter", "gate", "page", "appendix",
    ],
    like_d: &["day", "days", "the", "these", "de", "di", "t", "b"],
};

fn kind(kind: EntityKind) -> List {
    match kind {
        EntityKind::Npc => &["person", "people", "persons", "npc", "npcs"],
        EntityKind::Player => &["adventurer", "adventurers", "hero", "heroes"],
        EntityKind::Location => &["place", "places", "location", "locations", "geography"],
        EntityKind::Item => &["item", "items", "things", "artefacts", "artifacts"],
        EntityKind::Faction => &["group", "groups", "faction", "factions"],
        EntityKind::Quest => &["task", "tasks", "quest", "quests"],
        EntityKind::Event => &["event", "events", "news"],
        EntityKind::Concept => &["idea", "ideas", "concept", "concepts"],
        EntityKind::Lore => &["lore", "legends", "history"],
    }
}
