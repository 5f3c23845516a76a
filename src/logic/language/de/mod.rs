//! German.

use std::{collections::HashSet, sync::LazyLock};

mod forms;
mod requests;
mod sentences;
mod turning;
mod wording;

use self::{
    requests::{CARD, DICE, MORE, MUSIC, SHORT_FORMS},
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

static VOCABULARY: Vocabulary = Vocabulary::new(include_str!("../../../../assets/words/de.txt"));

/// Words that identify the language.
static TELLING: LazyLock<HashSet<String>> = LazyLock::new(|| folded(include_str!("telling.txt")));

#[rustfmt::skip]
pub(super) static GERMAN: Language = Language {
    code: "de",
    ordinary: &ORDINARY,
    telling: &TELLING,
    vocabulary: &VOCABULARY,
    word_endings: &["ung", "heit", "keit", "schaft", "lich", "isch", "ierst", "iert"],
    letters: "äöüß",
    die: "w",
    small_numbers: &[
        "null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn",
        "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn",
        "neunzehn",
    ],
    tens: &["zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"],
    kind,
    fillers: &["ahm", "tja", "naja", "na"],
    objects: &[
        "uber", "von", "mit", "ist", "war", "sind", "gegen", "namens", "heisst", "und", "oder",
    ],
    joining: &["und", "oder"],
    openers: &[
        "hallo", "na", "also", "tja", "ah", "ah", "he", "du", "ja", "nein", "und", "aber", "nun",
        "bitte", "hor", "mal", "sag", "entschuldigung", "danke", "guten", "tag", "morgen", "abend",
        "servus", "moin", "gut", "lieber", "liebe", "tschuss", "tschus", "tschau", "ciao", "ade",
        "gruss", "gegrusst", "vielen", "besten", "dank", "gute", "nacht", "leb", "lebt", "wohl",
    ],
    tails: &["bitte", "jetzt", "danke", "ja", "oder"],
    calls: &["hallo", "moin", "servus"],
    introducing: &[
        "ich bin", "ich bin der", "ich bin die", "ich heiße", "ich heisse", "mein name ist",
        "nenn mich", "nennt mich",
    ],
    greetings: &[
        "hallo", "hallochen", "servus", "moin", "gegrusst", "seid gegrusst", "sei gegrusst",
        "gruss dich", "gruss euch", "gruss gott", "guten abend", "guten morgen", "guten tag",
        "schonen abend", "schonen guten abend", "schonen guten tag", "abend", "mahlzeit",
    ],
    function_words: &[
        "der", "die", "das", "des", "dem", "den", "von", "vom", "zu", "zum", "zur", "und", "oder",
        "im", "am", "mit", "ein", "eine", "le", "la", "les", "el", "de", "du", "da", "van", "al",
    ],
    roles: &[
        "herr", "frau", "konig", "konigin", "prinz", "herzog", "graf", "ritter", "wirt", "wirtin",
        "schmied", "bauer", "handler", "zauberer", "hexe", "meister", "hauptmann", "alte", "alter",
        "weise", "diebin", "taschendiebin", "seherin",
    ],
    short_words: &[
        "aal", "aas", "ab", "abt", "akt", "alm", "alt", "amt", "arm", "art", "ast", "axt", "bad",
        "bar", "bau", "bon", "bub", "bug", "ehe", "ei", "eid", "eis", "erz", "fee", "gas", "gin",
        "hai", "hof", "hub", "huf", "hut", "inn", "jux", "kap", "kot", "kuh", "kur", "lob", "los",
        "mai", "mal", "mob", "mus", "mut", "not", "ohr", "ol", "ort", "pik", "pol", "pub", "rad",
        "rat", "reh", "rot", "ruf", "rum", "see", "sei", "sog", "sud", "tag", "tal", "tat", "tau",
        "tee", "tip", "tod", "ton", "tor", "tur", "typ", "uhr", "ulk", "weg", "weh", "wut", "zar",
        "zug",
    ],
    name_fillers: &[
        "von", "vom", "van", "der", "die", "das", "dem", "den", "des", "und", "herr", "frau",
    ],
    before_command: &["bitte"],
    after_command: &["bitte", "jetzt"],
    commands: &[
        ("@ stumm", Order::Mute),
        ("stumm @", Order::Mute),
        ("@ sei still", Order::Mute),
        ("sei still @", Order::Mute),
        ("@ sei ruhig", Order::Mute),
        ("@ nicht mehr stumm", Order::Unmute),
        ("@ darf wieder reden", Order::Unmute),
        ("@ darf wieder sprechen", Order::Unmute),
        ("alle still", Order::MuteAll),
        ("alle stop", Order::MuteAll),
        ("alle stopp", Order::MuteAll),
        ("alle stumm", Order::MuteAll),
        ("alle ruhig", Order::MuteAll),
        ("alle weiter", Order::UnmuteAll),
        ("denk gut nach @", Order::Think),
        ("@ denk gut nach", Order::Think),
        ("denke gut nach @", Order::Think),
        ("@ denke gut nach", Order::Think),
        ("uberleg gut @", Order::Think),
        ("@ uberleg gut", Order::Think),
        ("schneller", Order::Faster),
        ("@ sag *", Order::Say),
        ("@ sage *", Order::Say),
        ("nachste szene *", Order::Scene),
        ("naechste szene *", Order::Scene),
        ("nachster szene *", Order::Scene),
    ],
    go_on: &[
        "weiter", "weitergeht", "weitergehen", "weitermachen", "weiterspielen", "weiterreden",
        "weitersprechen", "weitererzahlen", "weiter geht", "weiter gehts", "es geht weiter",
        "geht es weiter",
        "fortfahren", "fortsetzen", "fahrt fort", "fahr fort", "setzt fort", "setzen fort",
        "wieder reden", "wieder sprechen", "wieder spielen", "wieder mitspielen",
    ],
    beside_go_on: &[
        "alle", "alles", "ihr", "wir", "uns", "ich", "es", "ihm", "spiel", "das", "die", "der",
        "dem", "mit", "szene", "geschichte", "kann", "konnt", "konnen", "durft", "durfen", "darf",
        "lass", "lasst", "bitte", "danke", "jetzt", "nun", "dann", "also", "und", "so", "okay",
        "ok", "gut", "ja", "in ordnung", "ist", "bin", "bereit", "von mir aus", "gern", "gerne",
        "einfach", "mal", "mach", "macht", "machen", "spielt", "spielen", "red", "rede", "redet",
        "reden", "sprich", "sprecht", "sprechen", "erzahl", "erzahlt", "ich will", "wir wollen",
        "ich mochte", "wir mochten", "figuren", "nscs",
    ],
    asks_to_go_on: &[
        "kann ich", "kann es", "konnen wir", "darf ich", "darf es", "durfen wir", "ist es",
        "geht es",
    ],
    stops: &["warte", "wartet", "einen moment", "moment", "hor auf", "sei still", "ruhe", "stopp"],
    beside_stop: &["bitte", "jetzt", "nein", "mal"],
    backchannels: &[
        "ja", "jaja", "jo", "jep", "genau", "klar", "na", "stimmt", "richtig", "gut", "ach",
        "achso", "ahm", "ehm",
    ],
    little: &[
        "aber", "als", "auf", "da", "dann", "das", "dem", "den", "der", "des", "die", "dich",
        "dir", "du", "ein", "eine", "er", "es", "habe", "hat", "im", "ist", "kann", "mich", "mir",
        "mit", "sie", "sind", "und", "uns", "von", "war", "wir", "wird", "zu",
    ],
    in_every_request: &[
        "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "bin", "bist", "bitte", "da",
        "dann", "das", "dass", "dein", "dem", "den", "der", "des", "dich", "die", "dir", "doch",
        "du", "ein", "eine", "einen", "einer", "er", "es", "fur", "gibt", "habe", "haben", "hat",
        "ich", "ihm", "ihn", "ihr", "im", "ist", "ja", "jetzt", "kann", "kannst", "mal", "man",
        "mein", "mich", "mir", "mit", "nach", "nicht", "noch", "nun", "nur", "oder", "sein",
        "sich", "sie", "sind", "um", "und", "uns", "vom", "von", "vor", "war", "was", "wenn",
        "wer", "wie", "wir", "wird", "wo", "zu", "zum", "zur",
    ],
    in_every_rule_question: &[
        "aber", "als", "am", "an", "auch", "auf", "aus", "bei", "bin", "bist", "brauche",
        "braucht", "das", "dass", "dem", "den", "denn", "der", "des", "die", "doch", "du", "ein",
        "eine", "einem", "einen", "einer", "er", "es", "fur", "funktioniert", "hat", "habe",
        "haben", "ich", "ihm", "ihn", "ihr", "im", "in", "ist", "jemand", "jemanden", "kann",
        "kannst", "konnen", "machen", "macht", "man", "mein", "meine", "meinen", "mich", "mir",
        "mit", "muss", "noch", "oder", "passiert", "regel", "regeln", "sein", "sich", "sie",
        "sind", "so", "tun", "um", "und", "uns", "von", "vor", "was", "welche", "wenn", "werde",
        "werden", "wer", "wie", "wir", "wird", "wurde", "zu", "zum", "zur", "zustand",
        "bekomme", "bekommen", "bekommt", "bringt", "bedeutet", "bedeuten", "heisst", "gibt", "viel",
        "viele", "welcher", "welches", "welchen", "bewirkt", "bewirken", "gilt", "genau", "kriege",
        "erhalte", "beim", "eigentlich", "gerade", "gegen", "dabei",
    ],
    in_english: &[
        ("wurf", "roll dice"), ("wirf", "roll dice"), ("probe", "check roll"), ("tabelle", "table"),
        ("zufall", "random"), ("begegnung", "encounter"), ("schatz", "treasure hoard"),
        ("magie", "magic"), ("zauber", "spell magic"), ("spruch", "spell"), ("regel", "rule"),
        ("zustand", "condition"), ("kampf", "combat fight"), ("waffe", "weapon"),
        ("rustung", "armor"), ("gegner", "enemy monster"), ("trank", "potion"), ("heilung", "heal"),
        ("rast", "rest"), ("inventar", "inventory item"), ("preis", "price"), ("kauf", "buy shop"),
        ("laden", "shop"), ("erinner", "remember memory"), ("gedacht", "memory"),
        ("geschicht", "history story"), ("sitzung", "session"), ("letzte", "last previous"),
        ("zusammenfass", "summary"), ("passiert", "happened history"), ("gerucht", "rumor"),
        ("auftrag", "quest"), ("fakt", "fact"), ("person", "person entity"),
        ("stadt", "town city place"), ("ort", "place location"), ("karte", "map card"),
        ("suche", "search find"), ("suchst", "search find"), ("finde", "find search"),
        ("nachschlag", "look lookup search"), ("schlag", "look lookup"), ("netz", "web"),
        ("seite", "page"), ("datei", "file"), ("lese", "read"), ("schreib", "write"),
        ("notiz", "note"), ("aufschreib", "note write"), ("bild", "image picture"),
        ("zeichn", "draw image"), ("musik", "music"), ("spiel", "play game"), ("stopp", "stop"),
        ("stimmung", "mood ambiance"), ("gerausch", "sound"), ("licht", "light"),
        ("lampe", "lamp light"), ("dunkel", "dark light"), ("temperatur", "temperature"),
        ("heizung", "heating temperature"), ("warm", "warm temperature"),
        ("kalt", "cold temperature"), ("wetter", "weather"), ("regnet", "rain weather"),
        ("zeit", "time"), ("uhr", "time clock"), ("spat", "late time"), ("datum", "date"),
        ("kalender", "calendar"), ("nachricht", "message"), ("rechne", "calculate"),
        ("ubersetz", "translate"), ("sprache", "language"), ("offne", "open"), ("tur", "door"),
    ],
    plain: &[
        "aber", "auch", "das", "dass", "dem", "den", "denn", "der", "die", "doch", "ein", "eine",
        "einen", "einer", "hast", "hat", "ich", "ihr", "ist", "kannst", "mal", "mein", "mich",
        "mir", "mit", "nicht", "noch", "oder", "sag", "sind", "und", "uns", "von", "war", "warum",
        "was", "weisst", "wer", "wie", "wir", "wird", "wo",
    ],
    last_session: &[
        "gestern", "letztes mal", "das letzte mal", "letzten mal", "letzte sitzung",
        "letzten sitzung", "letzten abend", "letzte woche", "neulich",
    ],
    connecting: &["und", "der", "die", "das", "den", "dem", "des", "von", "vom", "uber", "mit"],
    everything: "alles",
    titles: &[
        "nr", "hr", "fr", "frl", "bzw", "evtl", "ggf", "inkl", "bspw", "vgl", "sog", "geb", "gest",
        "abs", "bes", "mind", "lat", "engl", "dt",
    ],
    either: &["usw", "jh", "jhd", "dez", "okt", "tel", "std"],
    dotted: &["z.b", "d.h", "u.a", "o.ä", "s.o", "u.u", "v.a", "i.d.r"],
    before_ordinal: &[
        "am", "der", "die", "das", "dem", "den", "des", "vom", "zum", "zur", "im", "beim", "bis",
        "ab", "seit", "mein", "meine", "meinen", "dein", "deine", "sein", "seine", "ihr", "ihre",
        "unser", "ein", "eine", "einen", "einem", "jeder", "jede", "jedes", "jeden", "und",
    ],
    ordinal_months: &[
        "januar", "jänner", "februar", "märz", "april", "mai", "juni", "juli", "august",
        "september", "oktober", "november", "dezember",
    ],
    before_initial: &["von", "und", "mit", "bei", "an"],
    shows: &["zeig uns", "zeig mir", "zeige uns", "zeige mir"],
    deep: &[
        "denk gut nach", "überleg gut", "lass dir Zeit", "erzähl mir alles", "im Detail",
        "such im Netz", "zeichne mir", "zeichne uns",
    ],
    standard: &[
        "erinnerst du dich", "letztes Mal", "das letzte Mal", "was ist passiert", "was geschah",
        "such nach", "such mal", "schlag nach", "Regel(n)", "wie funktioniert", "was macht", "was bewirkt",
        "was bedeutet", "wie weit kann ich", "wie hoch kann ich", "Rüstungsklasse", "Rüstung(en)",
        "Deckung", "Gelegenheitsangriff(e)", "Rettungswurf", "Rettungswürfe", "Konzentration",
        "Bonusaktion(en)", "kurze Rast", "lange Rast", "kurzen Rast", "langen Rast", "Trefferpunkte",
        "Auftrag", "Quest",
        "wer ist", "wer war", "erzähl mir von", "Geschichte von", "verspreche(n)", "versprichst",
        "verspricht", "versprochen", "versprach", "schwöre", "schwörst", "schwört", "geschworen",
        "schwor", "schulde(n)", "schuldest", "schuldet",
        "vereinbart", "abgemacht", "dir gesagt", "mir gesagt", "uns gesagt", "dir erzählt",
        "mir erzählt", "gestern", "letzte Woche", "vorige Woche",
    ],
    between: &[
        "ein", "eine", "einen", "einem", "einer", "der", "die", "das", "den", "dem", "mir", "uns",
        "mal", "doch", "bitte", "einmal", "noch", "ganz", "jetzt", "nun", "kurz", "dazu",
    ],
    articles: &["der", "die", "das"],
    definite: &[
        "der", "die", "das", "den", "dem", "des", "im", "ins", "am", "ans", "zum", "zur", "vom",
        "beim", "aufs",
    ],
    nouns_have_capitals: true,
    endings: &ENDINGS,
    wording: &WORDING,
    turning: &TURNING,
    opening: &OPENING,
    no_actions: &[
        "nicht", "ist", "hat", "mit", "gut", "seit", "erst", "fast", "sonst", "selbst", "jetzt",
        "oft", "weit", "echt",
    ],
    actions: &[
        "seufzt", "lacht", "lächelt", "grinst", "flüstert", "nickt", "hustet", "räuspert", "zuckt",
        "schüttelt", "knurrt", "brummt", "murmelt", "zwinkert", "runzelt", "schaut", "blickt",
        "lehnt", "beugt", "geht", "dreht", "kichert", "schweigt", "leise", "flüsternd", "lachend",
        "lächelnd", "seufzend", "grinsend", "nickend", "murmelnd",
    ],
    short_actions: &[],
    actors: &["er", "sie"],
    dice: &DICE,
    music: &MUSIC,
    card: &CARD,
    more: &MORE,
    short_forms: SHORT_FORMS,
    dice_cues: &["würfle", "würfel", "wirf"],
    lettered: &[],
    like_d: &[],
};

fn kind(kind: EntityKind) -> List {
    match kind {
        EntityKind::Npc => &["leute", "personen"],
        EntityKind::Player => &["helden"],
        EntityKind::Location => &["ort", "orte", "gegend"],
        EntityKind::Item => &["gegenstande"],
        EntityKind::Faction => &["gruppen", "bunde"],
        EntityKind::Quest => &["auftrage"],
        EntityKind::Event => &["ereignisse", "neuigkeiten"],
        EntityKind::Concept => &["ideen", "begriffe"],
        EntityKind::Lore => &["sagen", "geschichte"],
    }
}
